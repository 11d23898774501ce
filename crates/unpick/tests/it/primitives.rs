//! The primitives do what `spec` says, in as many executions as there are different ones.

use unpick::Check;

use crate::spec::Op::*;
use crate::spec::{Maker, Program};

const READER: &[crate::spec::Op] = &[Read, Release];
const WRITER: &[crate::spec::Op] = &[Write, Release];

#[test]
fn readers_commute() {
    Program::new([READER, READER, READER]).agrees(1, 0);
    Program::new([READER, READER, READER, READER, READER]).agrees(1, 0);
}

#[test]
fn each_reader_is_before_or_after_a_writer() {
    Program::new([READER, READER, READER, WRITER]).agrees(8, 0);
    Program::new([WRITER, READER, READER, READER]).agrees(8, 0);
    // Two orders of the writers, and three places for each reader.
    Program::new([WRITER, WRITER, READER]).agrees(2 * 3, 0);
    Program::new([WRITER, WRITER, READER, READER]).agrees(2 * 3 * 3, 0);
    // Three steps of one thread, between which there are four places for each reader.
    Program::new([&[Write, Release, Write, Release, Write, Release], READER, READER]).agrees(4 * 4, 0);
    Program::new([WRITER, WRITER, WRITER]).agrees(6, 0);
}

#[test]
fn a_lock_is_tried() {
    // Before, meanwhile, after.
    Program::new([&[TryRead, Release], WRITER]).agrees(3, 0);
    Program::new([&[TryWrite, Release], READER]).agrees(3, 0);
    // Both orders, and either fails.
    Program::new([&[TryWrite, Release], &[TryWrite, Release]]).agrees(4, 0);
    Program::new([&[TryRead, Release], &[TryRead, Release]]).agrees(1, 0);
    // Four ways to succeed, and two reasons to fail. Guessed wrong: that both are free when the first
    // is taken, or the second (two places of the first), or that one is taken, which is free
    // before or after.
    Program::new([&[TryWrite, Release], READER, READER]).agrees(4 + 2, 1 + 2 + 2 + 2);
}

/// A `try_write` that fails is not seen by others.
#[test]
fn a_lock_is_tried_by_all() {
    let program = Program::new([&[TryWrite, Release], &[TryRead, Release], READER]);
    // As above; and `try_read` fails while the other thread writes, before or after the reader.
    program.agrees(4 + 2 + 2, 7);
    let real = Program::new([&[TryWrite, Release], &[TryWrite, Release], &[TryRead, Release], READER]);
    let (seen, _) = crate::support::outcomes_in(&Check::new(), real.real());
    assert_eq!(Some(seen), real.specified());
}

#[test]
fn a_writer_goes_on_reading() {
    // Nobody writes between the two, so nothing changes in how threads can be ordered.
    Program::new([&[Write, Downgrade, Release], WRITER]).agrees(2, 0);
    Program::new([&[Write, Downgrade, Release], WRITER, READER]).agrees(6, 0);
    // Before, meanwhile, after: but not while the first only reads.
    Program::new([&[Write, Downgrade, Release], &[TryRead, Release]]).agrees(3, 0);
}

#[test]
fn a_reader_that_writes_deadlocks() {
    Program::new([&[Read, Write, Release]]).deadlocks();
}

#[test]
fn a_waiter_is_notified() {
    // The waiter comes first, or finds the condition fulfilled.
    Program::new([&[Lock, WaitWhileZero, Unlock], &[Lock, Set(1), Unlock, NotifyOne]]).agrees(2, 0);
    Program::new([&[Lock, WaitWhileZero, Unlock], &[Lock, Set(1), NotifyOne, Unlock]]).agrees(2, 0);
    Program::new([&[Lock, Wait, Unlock], &[NotifyOne]]).deadlocks();
    Program::new([&[Lock, WaitWhileZero, Unlock], &[Lock, Set(1), Unlock]]).deadlocks();
}

#[test]
fn two_waiters_are_notified() {
    let waiter = &[Lock, WaitWhileZero, Get, Unlock];
    // Nobody waits: two orders of the others. One waits: either, and the other takes the mutex before
    // or after it wakes. Both wait: two orders to come, two to go.
    Program::new([waiter, waiter, &[Lock, Set(1), Unlock, NotifyAll]]).agrees(2 + 4 + 4, 0);
    // The same, but when both wait either is woken first. Wrong guesses: see `Condvar::notify_one`.
    Program::new([waiter, waiter, &[Lock, Set(1), Unlock, NotifyOne, NotifyOne]]).agrees(2 + 4 + 8, 14);
    Program::new([waiter, waiter, &[Lock, Set(1), Unlock, NotifyOne]]).deadlocks();
}

#[test]
fn notifying_nobody_is_no_write() {
    Program::new([&[NotifyOne], &[NotifyOne, NotifyAll], &[NotifyAll], &[NotifyOne]]).agrees(1, 0);
}

#[test]
fn a_wait_ends_by_itself() {
    // The other comes first: notified before, during or after the wait. The waiter comes first:
    // notified during the wait, or after it, and then the other has the mutex before it, or not.
    Program::new([&[Lock, WaitTimeout, Get, Unlock], &[Lock, Set(1), Unlock, NotifyOne]]).agrees(3 + 3, 0);
    Program::new([&[Lock, WaitTimeout, Unlock]]).agrees(1, 0);
    Program::new([&[Lock, WaitTimeout, Unlock], &[NotifyAll]]).agrees(3, 0);
    let two = Program::new([&[Lock, WaitTimeout, Unlock], &[Lock, WaitTimeout, Unlock], &[NotifyOne]]);
    let (seen, _) = crate::support::outcomes_in(&Check::new(), two.real());
    assert_eq!(Some(seen), two.specified());
}

#[test]
fn a_thread_is_unparked() {
    Program::new([&[Park], &[Unpark(0)]]).agrees(1, 0);
    // Two orders of the two, and the thread goes on after one or after both.
    Program::new([&[Park], &[Unpark(0)], &[Unpark(0)]]).agrees(4, 0);
    Program::new([&[Park], &[Unpark(0), Unpark(0)]]).agrees(2, 0);
    Program::new([&[Park, Park], &[Unpark(0), Unpark(0)]]).deadlocks();
    Program::new([&[Park]]).deadlocks();
}

#[test]
fn parking_ends_by_itself() {
    Program::new([&[ParkTimeout]]).agrees(1, 0);
    // The token was there, or not.
    Program::new([&[ParkTimeout], &[Unpark(0)]]).agrees(2, 0);
    // One takes the token, or none does.
    Program::new([&[ParkTimeout, ParkTimeout], &[Unpark(0)]]).agrees(3, 0);
    Program::new([&[ParkTimeout, Park], &[Unpark(0)], &[Unpark(0)]]).deadlocks();
}

#[test]
fn threads_meet_at_a_barrier() {
    Program::new([&[Arrive], &[Arrive]]).agrees(2, 0);
    Program::new([&[Arrive], &[Arrive], &[Arrive]]).parties(3).agrees(6, 0);
    Program::new([&[Arrive, Arrive], &[Arrive, Arrive]]).agrees(4, 0);
    Program::new([&[Arrive, Arrive], &[Arrive]]).parties(1).agrees(1, 0);
    // All orders of four, of which two meet and then the other two.
    Program::new([&[Arrive], &[Arrive], &[Arrive], &[Arrive]]).agrees(24, 0);
}

#[test]
fn a_barrier_for_too_many_deadlocks() {
    Program::new([&[Arrive], &[Arrive]]).parties(3).deadlocks();
    Program::new([&[Arrive, Arrive], &[Arrive], &[Arrive]]).deadlocks();
}

#[test]
fn a_value_is_made_once() {
    Program::new([&[Init(1)], &[Init(2)]]).agrees(2, 0);
    Program::new([&[Init(1)], &[Init(2)], &[Init(3)]]).agrees(3, 0);
    // Before, meanwhile, after; or two looks at the three.
    Program::new([&[Init(1)], &[Peek]]).agrees(3, 0);
    Program::new([&[Init(1)], &[Peek, Peek]]).agrees(6, 0);
}

#[test]
fn a_closure_is_called_once() {
    let by_once = |program: Program| program.by(Maker::Once);
    by_once(Program::new([&[Init(1)], &[Init(2)]])).agrees(2, 0);
    by_once(Program::new([&[Init(1)], &[Init(2)], &[Init(3)]])).agrees(3, 0);
    by_once(Program::new([&[Init(1)], &[Peek]])).agrees(3, 0);
}

#[test]
fn a_lazy_value_is_made_by_whoever_comes_first() {
    let lazily = |program: Program| program.by(Maker::LazyLock);
    lazily(Program::new([&[Init(1)], &[Init(2)]])).agrees(2, 0);
    lazily(Program::new([&[Init(1)], &[Init(2)], &[Init(3)]])).agrees(3, 0);
    lazily(Program::new([&[Init(1), Init(1)], &[Init(2), Init(2)]])).agrees(2, 0);
}

#[test]
fn a_value_is_waited_for() {
    // Two looks come too early.
    Program::new([&[Init(1)], &[Await]]).agrees(1, 2);
    Program::new([&[Init(1)], &[Init(2), Await]]).agrees(2, 0);
}

#[test]
fn all_models_agree() {
    let waiter = &[Lock, WaitWhileZero, Get, Unlock];
    for model in ["sc", "tso", "ra", "rc11"] {
        let check = Check::new().model(model);
        Program::new([READER, READER, READER, WRITER]).agrees_under(&check, 8, 0);
        let notified = Program::new([waiter, waiter, &[Lock, Set(1), Unlock, NotifyAll]]);
        notified.agrees_under(&check, 10, 0);
        Program::new([&[Park], &[Unpark(0)], &[Unpark(0)]]).agrees_under(&check, 4, 0);
        Program::new([&[Arrive], &[Arrive], &[Arrive]]).parties(3).agrees_under(&check, 6, 0);
        Program::new([&[Init(1)], &[Init(2)], &[Peek]]).agrees_under(&check, 6, 0);
    }
}

/// Outside a check the same programs run on OS threads.
#[test]
fn outside_they_do_the_same() {
    let programs = [
        Program::new([WRITER, WRITER, READER]),
        Program::new([&[TryWrite, Release], &[TryRead, Release], &[Write, Downgrade, Release]]),
        Program::new([&[Lock, WaitWhileZero, Get, Unlock], &[Lock, Set(1), Unlock, NotifyAll]]),
        Program::new([&[Park, ParkTimeout], &[Unpark(0)]]),
        Program::new([&[Arrive, Arrive], &[Arrive, Arrive]]),
        Program::new([&[Init(1), Peek], &[Init(2), Await]]),
    ];
    for program in programs {
        let outcome = program.real()();
        assert!(program.specified().is_some_and(|outcomes| outcomes.contains(&outcome)), "{program:?}");
    }
}
