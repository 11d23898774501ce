//! `random`: at each step any thread that can move, each alike.

use unpick_core::coverage::Coverage;
use unpick_core::graph::Graph;
use unpick_core::op::ThreadId;
use unpick_core::strategy::Ready;

use super::Policy;
use super::draw::Draw;

/// The policy.
#[derive(Debug, Default)]
pub(crate) struct Walk;

impl Policy for Walk {
    fn name(&self) -> &'static str {
        "random"
    }

    fn begin(&mut self, _: &Coverage, _: &mut Draw) {}

    #[inline]
    fn pick(&mut self, _: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        any(ready, draw)
    }

    fn end(&mut self, _: &Graph, _: &Coverage, _: bool, _: u64) {}
}

/// Any thread that is ready, each alike.
#[inline(always)]
pub(super) fn any(ready: &Ready, draw: &mut Draw) -> ThreadId {
    let (others, reads) = (ready.others.len(), ready.reads.len());
    let number = if others + reads == 1 { 0 } else { draw.index(others + reads) };
    let thread = if number < others { ready.others.nth(number) } else { ready.reads.nth(number - others) };
    thread.expect("a thread is asked for when one is ready")
}
