//! `random`: at each step any thread that can move, each alike.

use std::hint::select_unpredictable;

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
    const COMPARES_OPS: bool = false;

    fn name(&self) -> &'static str {
        "random"
    }

    fn begin(&mut self, _: &Coverage, _: &mut Draw) {}

    #[inline(always)]
    fn pick(&mut self, _: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        any(ready, draw)
    }

    fn end(&mut self, _: &Graph, _: &Coverage, _: bool, _: u64) {}
}

/// Any thread that is ready, each alike.
#[inline(always)]
pub(crate) fn any(ready: &Ready, draw: &mut Draw) -> ThreadId {
    if let Some(mut word) = ready.others.word_with(&ready.reads) {
        let rest = word & (word - 1);
        if rest != 0 && rest & (rest - 1) == 0 {
            word = if draw.coin() { rest } else { word };
        } else if rest != 0 {
            let count = word.count_ones() as usize;
            let number = draw.index(count);
            // Nobody can foresee the number, so no branch depends on it.
            for before in 0..count - 1 {
                word = select_unpredictable(before < number, word & (word - 1), word);
            }
        }
        return ThreadId(word.trailing_zeros());
    }
    any_of_many(ready, draw)
}

#[cold]
#[inline(never)]
fn any_of_many(ready: &Ready, draw: &mut Draw) -> ThreadId {
    let number = draw.index(ready.others.len() + ready.reads.len());
    ready.threads().nth(number).expect("a thread is asked for when one is ready")
}
