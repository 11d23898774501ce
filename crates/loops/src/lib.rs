//! Loops that wait: recognised by what one more round would do.
//!
//! A round is what a thread does from one arrival at a place to the next. A round may be dropped, and the thread
//! stopped at the second arrival, if two things hold:
//!
//! - **State**: all that the thread can see later is the same at both arrivals. That is decided here.
//! - **Graph**: the execution without the round is an execution too, with the same violations. That is decided by
//!   [`unpick_core::round`].
//!
//! # State
//!
//! A round is a function of what it reads: registers, bytes of memory, and the answers that its ops got. So when a thread
//! has come back to a place, its next round is run once in an [emulator](unpick_emulator), with the answers of the
//! last one, and every byte that it touches is noted: its *footprint*. Nothing of that remains, neither in memory nor
//! in the graph. If the round leads back to the same place, with the same registers, and every byte of the footprint holds what it
//! held before, the round is *idle*, and is kept in [`Rounds`]. The footprint covers whatever the code can reach: stack,
//! heap, statics, thread-local storage, the state of the C library.
//!
//! Whenever a thread arrives at a place where an idle round is known, and registers and footprint hold what they held then, the
//! same answers lead to the same round. So at the next arrival, if the answers were those of the round, it was idle. No
//! state is copied and nothing is repeated. If another thread runs in between, the footprint must be the same before and
//! after that.
//!
//! What decides verdicts is exact. What is a guess is only when to look: a round that is never looked at goes on, until
//! a limit cuts it, and the verdict says so. Where code cannot be emulated (another processor, an instruction or a system
//! call that nobody can foresee) the round goes on too.
//!
//! What is not in memory is compared as a number that front-ends give, *hidden* state: clocks that the program
//! reads, and how many blocks the thread has allocated.

mod frame;
mod index;
mod places;
mod rounds;
mod visits;

pub use frame::Frame;
pub use places::{DRAWN_ROUNDS, Places};
pub use rounds::{Home, Rounds, Run, Settle, Trial, Verdict};
pub use visits::{Ahead, Arrival, Loops, Review, Step};
