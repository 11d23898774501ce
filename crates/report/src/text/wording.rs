//! What a step did, in words: close to how the program spells it, with the values that were seen.

use unpick_core::op::Mode;
use unpick_core::trace::{Action, Object, Seen, Source, Trace};

use super::wrap::clean;

/// The operation of a step and what there is to say about it.
pub(super) struct Wording {
    /// The operation; not to be broken into lines unless `prose`.
    pub(super) op: String,
    /// What it gave, to be read right after the operation; or nothing.
    pub(super) result: String,
    /// Remarks that may each stand on a line of its own.
    pub(super) details: Vec<String>,
    /// Whether the operation is a text of the program, of any length.
    pub(super) prose: bool,
    /// Why the step may see what it saw, for a note.
    pub(super) why: Option<String>,
}

impl Wording {
    fn new(op: String) -> Wording {
        Wording { op, result: String::new(), details: Vec::new(), prose: false, why: None }
    }

    fn prose(op: String) -> Wording {
        Wording { prose: true, ..Wording::new(op) }
    }

    fn result(self, result: impl Into<String>) -> Wording {
        Wording { result: result.into(), ..self }
    }

    fn detail(mut self, detail: Option<String>) -> Wording {
        self.details.extend(detail);
        self
    }
}

/// What the step with this index did. Threads go by the given names.
pub(super) fn wording(trace: &Trace, names: &[String], index: usize) -> Wording {
    let thread = |t: usize| names.get(t).map_or("?", String::as_str);
    match &trace.steps[index].action {
        Action::Read { .. } | Action::Write { .. } | Action::Update { .. } => memory(trace, index),
        Action::Call { call, part, after, .. } => Wording::new(clean(call))
            .result(part.clone())
            .detail(after.map(|step| format!("after {}", number(step)))),
        Action::Fence { mode } => Wording::new(format!("fence({})", mode.name())),
        Action::Spawn { thread: t } => Wording::new(format!("spawn {}", thread(*t))),
        Action::Join { thread: t } => Wording::new(format!("join {}", thread(*t))),
        Action::End => Wording::new("end".into()),
        Action::Choice { value, bound } => Wording::new(format!("choose {value} of 0..{bound}")),
        Action::Label { text } => Wording::prose(format!("\"{}\"", clean(text))),
        Action::Access { object, writes } => {
            let name = object_name(trace, *object);
            Wording::new(format!("{name} {}", if *writes { "write" } else { "read" }))
        }
        Action::Allocation { size } => {
            let plural = if *size == 1 { "" } else { "s" };
            Wording::new(format!("allocate {size} byte{plural}"))
        }
        Action::Free => Wording::new("free the block".into()),
        Action::Crash { problem } => Wording::prose(format!("crash: {}", clean(problem))),
        // The message as a whole stands above the table.
        Action::Panic { message } => {
            Wording::prose(format!("panic: {}", clean(message.lines().next().unwrap_or_default())))
        }
        Action::Failure { message } => Wording::prose(clean(message.lines().next().unwrap_or_default())),
        Action::Waits { reason } => {
            let fluent = ["for ", "until ", "on "].iter().any(|start| reason.starts_with(start));
            Wording::prose(format!("waits{} {}", if fluent { "" } else { ":" }, clean(reason)))
        }
    }
}

fn memory(trace: &Trace, index: usize) -> Wording {
    let (name, object) = match &trace.steps[index].action {
        Action::Read { name, object, .. }
        | Action::Write { name, object, .. }
        | Action::Update { name, object, .. } => (&**name, *object),
        _ => unreachable!("the caller saw to it"),
    };
    let kind = trace.objects.get(object).map_or("", |o: &Object| o.kind.as_str());
    let call = format!("{}.{name}", object_name(trace, object));
    if is_lock(name, kind) {
        return lock(trace, index, name, &call);
    }
    let value = |v: u64| value(kind, v);
    match &trace.steps[index].action {
        Action::Read { mode, seen, expected, .. } => {
            let failed = expected.map(|e| match e == seen.value {
                true => "failed for no reason".to_owned(),
                false => format!("expected {}", value(e)),
            });
            let read = Wording::new(format!("{call}({})", arguments(None, *mode)));
            saw(trace, index, read.result(format!("= {}", value(seen.value))).detail(failed), seen)
        }
        Action::Update { mode, seen, value: new, .. } => {
            let update = Wording::new(format!("{call}({})", arguments(None, *mode)));
            let change = format!("{} -> {}", value(seen.value), value(*new));
            saw(trace, index, update.result(change), seen)
        }
        Action::Write { mode, value: new, before, .. } => {
            Wording::new(format!("{call}({})", arguments(Some(value(*new)), *mode)))
                .detail(before.map(|b| format!("placed before {}", number(b))))
        }
        _ => unreachable!("the caller saw to it"),
    }
}

/// A lock is told without values: who had it before matters, and whether it was free.
fn lock(trace: &Trace, index: usize, name: &str, call: &str) -> Wording {
    let told = |seen: &Seen, words: [&str; 2]| {
        let result = if name == "try_lock" { words[0] } else { "" };
        let since = match seen.source {
            Source::Initial => None,
            Source::Step(s) => Some(format!("{} {}", words[1], number(s))),
        };
        Wording::new(format!("{call}()")).result(result).detail(since)
    };
    match &trace.steps[index].action {
        Action::Read { seen, .. } => told(seen, ["failed", "taken in"]),
        Action::Update { seen, .. } => told(seen, ["succeeded", "after"]),
        _ => Wording::new(format!("{call}()")),
    }
}

fn is_lock(name: &str, kind: &str) -> bool {
    let kinds = ["Mutex", "Lock", "Condvar", "Barrier", "Once"];
    matches!(name, "lock" | "try_lock" | "unlock") || kinds.iter().any(|k| kind.contains(k))
}

fn saw(trace: &Trace, index: usize, mut wording: Wording, seen: &Seen) -> Wording {
    wording.details.push(match seen.source {
        Source::Initial => "initial value".into(),
        Source::Step(s) => format!("from {}", number(s)),
    });
    if seen.stale {
        wording.details.push(match newest(trace, index, seen.source) {
            Some(n) => format!("stale: {} is newer", number(n)),
            None => "stale".into(),
        });
    }
    wording.why.clone_from(&seen.why);
    wording
}

/// The newest write to the object of a read that stands before it, if newer than what it saw.
///
/// The order of the writes is that of the trace, but for writes that say which one they come
/// before, and updates, which come right after what they saw.
fn newest(trace: &Trace, read: usize, source: Source) -> Option<usize> {
    let of = |index: usize| match trace.steps[index].action {
        Action::Read { object, .. } | Action::Write { object, .. } | Action::Update { object, .. } => {
            Some(object)
        }
        _ => None,
    };
    let mut order: Vec<usize> = Vec::new();
    for index in (0..read).filter(|index| of(*index) == of(read)) {
        let place_of = |step: usize| order.iter().position(|o| *o == step);
        let place = match &trace.steps[index].action {
            Action::Write { before, .. } => before.and_then(place_of),
            Action::Update { seen: Seen { source: Source::Initial, .. }, .. } => Some(0),
            Action::Update { seen: Seen { source: Source::Step(s), .. }, .. } => place_of(*s).map(|p| p + 1),
            _ => continue,
        };
        order.insert(place.unwrap_or(order.len()), index);
    }
    order.last().copied().filter(|n| source != Source::Step(*n))
}

/// How a step is referred to.
pub(super) fn number(index: usize) -> String {
    format!("#{}", index + 1)
}

fn object_name(trace: &Trace, object: usize) -> String {
    trace.objects.get(object).map_or("?".into(), |o| clean(&o.name))
}

fn arguments(value: Option<String>, mode: Mode) -> String {
    let mode = mode.is_atomic().then(|| mode.name().to_owned());
    [value, mode].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A value as its type shows it: small numbers in decimal, others as hexadecimal digits.
fn value(kind: &str, value: u64) -> String {
    let small = 1u64 << 32;
    let signed = match kind.split('<').next().unwrap_or_default() {
        "AtomicBool" => return (value != 0).to_string(),
        "AtomicPtr" if value == 0 => return "null".into(),
        "AtomicPtr" => return format!("{value:#x}"),
        "AtomicI8" => i64::from(value as i8),
        "AtomicI16" => i64::from(value as i16),
        "AtomicI32" => i64::from(value as i32),
        "AtomicI64" | "AtomicIsize" => value as i64,
        _ => 0,
    };
    match value {
        _ if signed < 0 && signed.unsigned_abs() <= small => signed.to_string(),
        v if v < small => v.to_string(),
        v => format!("{v:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::trace::Step;

    use super::*;

    /// Steps of one thread on one object; a read comes last.
    fn trace(actions: Vec<Action>, source: Source) -> Trace {
        let seen = Seen { value: 0, source, stale: true, why: None };
        let read = Action::Read { name: "load".into(), object: 0, mode: Mode::Relaxed, seen, expected: None };
        let step = |action| Step { thread: 0, place: None, action, deciding: false };
        Trace { steps: actions.into_iter().chain([read]).map(step).collect(), ..Trace::default() }
    }

    fn write(object: usize, before: Option<usize>) -> Action {
        Action::Write { name: "store".into(), object, mode: Mode::Relaxed, value: 0, before }
    }

    fn update(source: Source) -> Action {
        let seen = Seen { value: 0, source, stale: false, why: None };
        Action::Update { name: "swap".into(), object: 0, mode: Mode::Relaxed, seen, value: 0 }
    }

    #[test]
    fn the_newest_write_is_the_last_in_the_order_of_the_object() {
        let (initial, step) = (Source::Initial, Source::Step);
        let cases = [
            (vec![], initial, None),
            (vec![write(0, None), write(1, None)], initial, Some(0)),
            (vec![write(0, None), write(0, None)], step(0), Some(1)),
            (vec![write(0, None), write(0, Some(0))], step(1), Some(0)),
            (vec![write(0, None), write(0, Some(0))], step(0), None),
            (vec![write(0, None), update(initial)], step(1), Some(0)),
            (vec![write(0, None), write(0, None), update(step(0))], step(2), Some(1)),
        ];
        for (actions, source, expected) in cases {
            let trace = trace(actions, source);
            assert_eq!(newest(&trace, trace.steps.len() - 1, source), expected, "{trace:?}");
        }
    }

    #[test]
    fn values_look_like_those_of_their_type() {
        let cases = [
            ("AtomicUsize", 42, "42"),
            ("AtomicUsize", 1 << 32, "0x100000000"),
            ("AtomicU32", 0xffff_ffff, "4294967295"),
            ("AtomicI32", 0xffff_ffff, "-1"),
            ("AtomicI8", 0x80, "-128"),
            ("AtomicI64", u64::MAX, "-1"),
            ("AtomicI64", 1 << 63, "0x8000000000000000"),
            ("AtomicBool", 1, "true"),
            ("AtomicPtr<Node>", 0, "null"),
            ("AtomicPtr<Node>", 64, "0x40"),
        ];
        for (kind, v, expected) in cases {
            assert_eq!(value(kind, v), expected, "{kind}");
        }
    }
}
