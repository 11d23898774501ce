//! An op of a thread, from the call to its answer.

use unpick_core::op::{Kind, Op, ThreadId, Value};

use crate::search::Search;
use crate::watch::{Stand, Watch};

/// A thread of the program that asks for something. It runs on its own stack, and other threads run when it leaves that.
pub trait Caller: Copy {
    /// The thread.
    fn thread(self) -> ThreadId;

    /// The search. Nobody holds a reference to it when the thread is left.
    fn search<'a>(self) -> &'a mut Search;

    /// Lets others run until this thread is named again.
    fn leave(self);

    /// Lets others run; this thread does not go on in this run.
    fn leave_for_good(self) -> ! {
        loop {
            self.leave();
        }
    }
}

/// A caller that asks for an op on an object.
pub trait Asker: Caller {
    /// Gives the op its location, and keeps what is wanted of it; `false`: the thread must leave, and try again.
    fn locate(self, op: &mut Op) -> bool;

    /// Where the thread's registers and its live stack are; 0: nobody looks at them.
    fn frame(self) -> usize;

    /// Looks whether the thread is in a loop that only waits.
    fn watch(self, stand: &Stand<'_>) -> Watch;

    /// The op has been taken.
    fn taken(self, op: &Op, fresh: bool);
}

/// Takes an op on an object.
#[inline(always)]
pub fn take<C: Asker>(caller: C, op: &mut Op) -> Value {
    let mut first = true;
    let (thread, frame) = (caller.thread(), caller.frame());
    loop {
        if !caller.locate(op) {
            caller.leave();
            continue;
        }
        let fresh = caller.search().execution.is_fresh(thread);
        if frame != 0 || (fresh && first && op.kind == Kind::Read) {
            let watch = caller.watch(&Stand { thread, op, fresh, first, frame });
            first = false;
            match watch {
                Watch::Go => {}
                Watch::Leave => {
                    caller.leave();
                    continue;
                }
                Watch::Stop => caller.leave_for_good(),
            }
        }
        if let Some(value) = caller.search().execution.op(thread, op) {
            caller.taken(op, fresh);
            if caller.search().execution.is_stopped() {
                caller.leave_for_good();
            }
            return value;
        }
        caller.leave();
    }
}

/// Takes an op that concerns no object.
#[inline(always)]
pub fn take_other<C: Caller>(caller: C, op: &Op) -> Value {
    loop {
        if let Some(value) = caller.search().execution.op(caller.thread(), op) {
            return value;
        }
        caller.leave();
    }
}
