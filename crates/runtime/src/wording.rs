//! Ops in words, for errors.

use unpick_core::op::{Kind, Op, Rmw, Site, ThreadId, Value};

use crate::site;

/// An op as a user would write it, on an object of a type of this name.
pub(crate) fn call(op: &Op, kind: &str) -> String {
    let (name, mode) = (op.name(), op.mode.name());
    let value = |value| value_of(kind, op.width, value);
    match (op.kind, op.rmw) {
        (Kind::Join, _) => format!("{name} {}", site::thread_name(ThreadId(op.operand as u32))),
        (Kind::Choice, _) => format!("{name}({})", op.operand),
        (Kind::Spawn | Kind::Finish, _) | (_, Rmw::Lock | Rmw::TryLock) => name.to_string(),
        (Kind::Fence, _) | (Kind::Read, Rmw::None) => format!("{name}({mode})"),
        (_, Rmw::Cas | Rmw::WeakCas) => {
            format!("{name}({}, {}, {mode})", value(op.expected), value(op.operand))
        }
        _ => format!("{name}({}, {mode})", value(op.operand)),
    }
}

/// A value as its type shows it.
fn value_of(kind: &str, width: u8, value: Value) -> String {
    let unused = 64 - 8 * u32::from(width);
    match kind {
        "AtomicBool" => (value != 0).to_string(),
        "AtomicPtr" => format!("{value:#x}"),
        _ if kind.starts_with("AtomicI") => (((value << unused) as i64) >> unused).to_string(),
        _ => value.to_string(),
    }
}

/// Where in the source, to be put after an op.
pub(crate) fn at(site: Site) -> String {
    site::place(site)
        .map_or_else(String::new, |place| format!(" at {}:{}:{}", place.file, place.line, place.column))
}
