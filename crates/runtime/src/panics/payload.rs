//! What a panic carries, which tells it from other panics when it comes by again.
//!
//! A program may catch a panic, and go on with it later by `resume_unwind`, also in another thread and after other panics. All
//! that comes by then is the payload. The hook sees it before std puts it into its box, so what is known of a box is where
//! it will be: std allocates it next, and no address of an arena is used twice in an execution. On the system heap the
//! allocator says where it was put. Where neither is known, and where the program has put the payload into another box, payloads are compared by
//! type and contents: a `String` is known by its buffer.

use std::alloc::Layout;
use std::any::{Any, TypeId};

use super::Panic;

/// Bytes of a payload that are compared at most.
const COMPARED: usize = 64;

/// What is known of the payload of a panic.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    kind: TypeId,
    /// Its first bytes.
    contents: Vec<u8>,
    /// Where its box is, if that is known.
    pub(crate) address: Option<usize>,
}

impl Payload {
    /// A payload, in its box or before.
    pub(crate) fn of(payload: &(dyn Any + Send)) -> Payload {
        Payload { kind: (*payload).type_id(), contents: contents(payload), address: None }
    }
}

fn contents(payload: &(dyn Any + Send)) -> Vec<u8> {
    let start = (&raw const *payload).cast::<u8>();
    // SAFETY: the bytes of a value; some may be padding, which has some value.
    (0..size_of_val(payload).min(COMPARED)).map(|at| unsafe { start.add(at).read_volatile() }).collect()
}

/// How a payload is allocated when it is put into its box; not at all if it has no size.
pub(crate) fn layout(payload: &(dyn Any + Send)) -> Option<Layout> {
    Some(Layout::for_value(payload)).filter(|layout| layout.size() > 0)
}

/// The panic that had this payload, by its number; the latest one if there are several that cannot be told apart.
pub(super) fn find(panics: &[Panic], mut payload: &(dyn Any + Send)) -> Option<usize> {
    loop {
        let address = (&raw const *payload).cast::<u8>().addr();
        let sized = size_of_val(payload) > 0;
        let boxed = |panic: &Panic| sized && panic.payload.address == Some(address);
        if let Some(found) = panics.iter().rposition(boxed) {
            return Some(found);
        }
        // A box in a box: who forgets to take the value out of the one, and makes another.
        match payload.downcast_ref::<Box<dyn Any + Send>>() {
            Some(inner) => payload = &**inner,
            None => break,
        }
    }
    let (kind, contents) = ((*payload).type_id(), contents(payload));
    panics.iter().rposition(|panic| panic.payload.kind == kind && panic.payload.contents == contents)
}

/// What a payload says.
pub(super) fn text(mut payload: &(dyn Any + Send)) -> String {
    while let Some(inner) = payload.downcast_ref::<Box<dyn Any + Send>>() {
        payload = &**inner;
    }
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| String::from("a value that is no text"))
}
