//! What must come before what, where all but loads takes effect in order.

use std::ops::Range;

use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Op, Rmw, ThreadId, Value};
use unpick_core::strategy::Ready;

/// Whether the location was written in the meantime.
pub(super) fn is_written(graph: &Graph, addr: Addr, stamps: Range<u32>) -> bool {
    graph.writes(addr).iter().any(|&write| stamps.contains(&graph.event(write).stamp))
}

/// Whether something took place in the meantime that a change of the location must come after.
pub(super) fn is_changed(graph: &Graph, addr: Addr, seqcst: bool, stamps: Range<u32>) -> bool {
    let changes = |event: &Event| event.rmw != Rmw::None || (seqcst && event.mode.is_seqcst());
    let fences = |event: &Event| event.kind == Kind::Fence && event.mode.is_seqcst();
    let mut reads = graph.reads(addr).iter().map(|&id| graph.event(id));
    reads.any(|event| stamps.contains(&event.stamp) && changes(event))
        || (seqcst && between(graph, &stamps).any(fences))
        || is_written(graph, addr, stamps)
}

/// Whether something took place in the meantime that a fence must come after.
pub(super) fn is_fenced(graph: &Graph, stamps: Range<u32>) -> bool {
    between(graph, &stamps).any(|event| event.mode.is_seqcst())
}

/// The events with these stamps.
fn between<'a>(graph: &'a Graph, stamps: &Range<u32>) -> impl Iterator<Item = &'a Event> {
    let end = graph.len().min(stamps.end as usize);
    graph.order()[stamps.start as usize..end].iter().map(|&id| graph.event(id))
}

/// The sequentially consistent fences of a thread.
fn fences(graph: &Graph, thread: ThreadId) -> impl DoubleEndedIterator<Item = &Event> {
    fences_among(graph, thread, graph.seqcst_of(thread).len())
}

/// Those among the first sequentially consistent events of a thread, so many of them.
fn fences_among(graph: &Graph, thread: ThreadId, count: usize) -> impl DoubleEndedIterator<Item = &Event> {
    let events = graph.seqcst_of(thread)[..count].iter();
    let events = events.map(move |&index| graph.event(EventId { thread, index }));
    events.filter(|event| event.kind == Kind::Fence)
}

/// The oldest place that a load may see, if what is sequentially consistent takes effect in order: such
/// writes, and writes before a fence, are known to such a load, or to one after a fence, that comes later.
pub(super) fn seqcst_floor(graph: &Graph, load: EventId, floor: usize) -> usize {
    let event = graph.event(load);
    let own = event.mode.is_seqcst().then_some(event.stamp);
    let Some(own) = own.or_else(|| fences(graph, load.thread).next_back().map(|fence| fence.stamp)) else {
        return floor;
    };
    let known = |&id: &EventId| {
        let write = graph.event(id);
        let is_after = |fence: &&Event| fence.stamp > write.stamp;
        let fence = || fences(graph, id.thread).find(is_after);
        (write.mode.is_seqcst() && write.stamp < own) || fence().is_some_and(|fence| fence.stamp < own)
    };
    graph.writes(event.addr)[floor..].iter().rposition(known).map_or(floor, |place| floor + place + 1)
}

/// Whether a load sees all that was written before the fences that happen before it; it may itself be one of the
/// accesses that must be in order, and then sees the newest.
pub(super) fn sees_before_fences(graph: &Graph, load: EventId, view: &mut Vec<u32>) -> bool {
    let event = graph.event(load);
    let next = graph.position(event.addr, event.rf) + 1;
    if next > graph.writes(event.addr).len() {
        return true;
    }
    if event.mode.is_seqcst() {
        return false;
    }
    graph.hb_into(load, view);
    let overwritten = graph.event(graph.write_at(event.addr, next)).stamp;
    (0..graph.thread_count() as u32).map(ThreadId).all(|thread| {
        let known = view[thread.index()];
        let events = graph.seqcst_of(thread).partition_point(|&index| index < known);
        fences_among(graph, thread, events).next_back().is_none_or(|fence| fence.stamp < overwritten)
    })
}

/// What the op writes where this value is the newest.
pub(super) fn writes(op: &Op, value: Value) -> Option<Value> {
    match op.kind {
        Kind::Write => Some(op.operand),
        Kind::Read if op.rmw != Rmw::None => op.apply(value),
        _ => None,
    }
}

/// The threads that wait for a lock or a signal.
pub(super) fn waiting(ready: &Ready, graph: &Graph) -> impl Iterator<Item = ThreadId> {
    let threads = (0..graph.thread_count() as u32).map(ThreadId);
    threads.filter(|&thread| {
        let lives = graph.exists(thread) && !graph.is_finished(thread) && !ready.contains(thread);
        let waits = |op: &Op| op.kind == Kind::Read && op.rmw.may_wait();
        lives && ready.op(thread).is_some_and(waits)
    })
}

/// How many threads wait for a location.
pub(super) fn waiters(ready: &Ready, graph: &Graph, addr: Addr) -> u32 {
    let here = |thread: &ThreadId| ready.op(*thread).is_some_and(|op| op.addr == addr);
    waiting(ready, graph).filter(here).count() as u32
}
