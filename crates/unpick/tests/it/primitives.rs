//! The primitives do what `spec` says, in as many executions as there are different ones.

use crate::spec::Op::*;
use crate::spec::Program;

#[test]
fn readers_commute() {
    Program::new([&[Read, Release], &[Read, Release], &[Read, Release]]).agrees(1, 0);
}

#[test]
fn each_reader_is_before_or_after_the_writer() {
    let reader = &[Read, Release];
    Program::new([reader, reader, reader, &[Write, Release]]).agrees(8, 0);
}

#[test]
fn p() {
    let r: &[_] = &[Read, Release];
    let w: &[_] = &[Write, Release];
    for p in [
        Program::new([w, w]),
        Program::new([w, w, r]),
        Program::new([w, w, r, r]),
        Program::new([&[TryRead, Release], w]),
        Program::new([&[TryWrite, Release], r]),
        Program::new([&[TryWrite, Release], &[TryWrite, Release]]),
        Program::new([&[TryWrite, Release], r, r]),
        Program::new([&[TryWrite, Release], &[TryRead, Release], r]),
        Program::new([&[Write, Downgrade, Release], w, r]),
        Program::new([&[Lock, WaitWhileZero, Unlock], &[Lock, Set(1), Unlock, NotifyOne]]),
        Program::new([&[Lock, WaitWhileZero, Unlock], &[Lock, Set(1), NotifyOne, Unlock]]),
        Program::new([
            &[Lock, WaitWhileZero, Get, Unlock],
            &[Lock, WaitWhileZero, Get, Unlock],
            &[Lock, Set(1), Unlock, NotifyAll],
        ]),
        Program::new([
            &[Lock, WaitWhileZero, Get, Unlock],
            &[Lock, WaitWhileZero, Get, Unlock],
            &[Lock, Set(1), Unlock, NotifyOne, NotifyOne],
        ]),
        Program::new([&[NotifyOne], &[NotifyOne, NotifyAll], &[NotifyAll]]),
        Program::new([&[Lock, WaitTimeout, Get, Unlock], &[Lock, Set(1), Unlock, NotifyOne]]),
        Program::new([&[Lock, WaitTimeout, Get, Unlock], &[Lock, WaitTimeout, Get, Unlock], &[NotifyOne]]),
        Program::new([&[Park], &[Unpark(0)]]),
        Program::new([&[Park], &[Unpark(0)], &[Unpark(0)]]),
        Program::new([&[ParkTimeout], &[Unpark(0)]]),
        Program::new([&[ParkTimeout, Park], &[Unpark(0)], &[Unpark(0)]]),
        Program::new([&[Arrive], &[Arrive]]),
        Program::new([&[Arrive], &[Arrive], &[Arrive]]).parties(3),
        Program::new([&[Arrive, Arrive], &[Arrive, Arrive]]),
        Program::new([&[Arrive, Arrive], &[Arrive], &[Arrive]]),
        Program::new([&[Init(1)], &[Init(2)]]),
        Program::new([&[Init(1)], &[Init(2)], &[Init(3)]]),
        Program::new([&[Init(1)], &[Peek]]),
        Program::new([&[Init(1)], &[Await]]),
        Program::new([&[Lock, Wait, Unlock], &[NotifyOne]]),
    ] {
        let s = p.specified();
        let v = unpick::Check::new();
        let q = p.clone();
        let r = std::panic::catch_unwind(move || crate::support::outcomes_in(&v, q.real()));
        match r {
            Ok((seen, verdict)) => println!(
                "{p:?}\n   {} {} {} same={}  {:?} {:?}",
                verdict,
                verdict.stats().executions,
                verdict.stats().blocked,
                s.as_ref() == Some(&seen),
                s,
                seen
            ),
            Err(_) => println!("{p:?}\n  panicked {s:?}"),
        }
    }
}
