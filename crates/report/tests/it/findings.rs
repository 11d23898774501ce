//! Hand-made findings.

use unpick_core::op::Mode;
use unpick_core::trace::{
    Action, Finding, Frame, Object, Place, Seen, Source, Stack, Step, Trace, TraceThread,
};

/// Index of an object in [`finding`]'s list is the order given.
fn finding(
    title: &str,
    message: &[&str],
    place: Place,
    threads: &[&str],
    objects: &[(&str, &str)],
) -> Finding {
    let threads = threads.iter().map(|name| TraceThread { name: (*name).into(), spawned: None });
    let objects = objects.iter().map(|(kind, name)| Object { kind: (*kind).into(), name: (*name).into() });
    Finding {
        title: title.into(),
        message: message.iter().map(|m| (*m).into()).collect(),
        line: unpick_report::source::line(&place),
        place: Some(place),
        trace: Trace { threads: threads.collect(), objects: objects.collect(), ..Trace::default() },
        token: "1.7f2a-0c3".into(),
        model: "cpp20".into(),
        strategy: "optimal".into(),
        execution: 17,
    }
}

fn at(file: &str, line: u32, column: u32) -> Place {
    Place { file: file.into(), line, column }
}

fn step(thread: usize, place: Place, action: Action) -> Step {
    Step { thread, place: Some(place), action, deciding: false }
}

fn deciding(thread: usize, place: Place, action: Action) -> Step {
    Step { deciding: true, ..step(thread, place, action) }
}

fn end(thread: usize) -> Step {
    Step { thread, place: None, action: Action::End, deciding: false }
}

fn from(value: u64, source: Source) -> Seen {
    Seen { value, source, stale: false, why: None }
}

fn load(object: usize, mode: Mode, seen: Seen) -> Action {
    Action::Read { name: "load".into(), object, mode, seen, expected: None }
}

fn store(object: usize, mode: Mode, value: u64) -> Action {
    Action::Write { name: "store".into(), object, mode, value, before: None }
}

fn lock(object: usize, source: Source) -> Action {
    Action::Update { name: "lock".into(), object, mode: Mode::Acquire, seen: from(0, source), value: 1 }
}

fn unlock(object: usize) -> Action {
    Action::Write { name: "unlock".into(), object, mode: Mode::Release, value: 0, before: None }
}

fn waits(reason: &str) -> Action {
    Action::Waits { reason: reason.into() }
}

/// The reader sees the flag, and yet not the data that was written before it.
pub(crate) fn message_passing() -> Finding {
    let file = "crates/report/tests/programs/message_passing.rs";
    let message = ["main panicked: assertion `left == right` failed", "  left: 0", " right: 1"];
    let objects = [("AtomicUsize", "data"), ("AtomicBool", "flag")];
    let mut finding = finding("panic", &message, at(file, 15, 9), &["main", "T1"], &objects);
    let why = "the load of `flag` acquires, but the store it saw, #3, is Relaxed and publishes nothing, \
               so nothing orders #2 before this load";
    let stale = Seen { value: 0, source: Source::Initial, stale: true, why: Some(why.into()) };
    finding.trace.threads[1].spawned = Some(at(file, 10, 18));
    finding.trace.steps = vec![
        step(0, at(file, 10, 18), Action::Spawn { thread: 1 }),
        step(1, at(file, 11, 11), store(0, Mode::Relaxed, 1)),
        deciding(1, at(file, 12, 11), store(1, Mode::Relaxed, 1)),
        end(1),
        deciding(0, at(file, 14, 13), load(1, Mode::Acquire, from(1, Source::Step(2)))),
        deciding(0, at(file, 15, 25), load(0, Mode::Relaxed, stale)),
        deciding(
            0,
            at(file, 15, 9),
            Action::Panic { message: "assertion `left == right` failed\n  left: 0\n right: 1".into() },
        ),
    ];
    finding
}

/// Two threads in one cell.
pub(crate) fn data_race() -> Finding {
    let file = "demo/src/queue.rs";
    let message = ["T1 writes `self.slot` while T2 reads it; nothing orders the two."];
    let objects = [("UnsafeCell", "self.slot"), ("AtomicUsize", "self.tail")];
    let threads = ["main", "T1", "T2"];
    let mut finding = finding("data race", &message, at(file, 41, 22), &threads, &objects);
    let bump = |seen, value| Action::Update {
        name: "fetch_add".into(),
        object: 1,
        mode: Mode::Relaxed,
        seen: from(seen, if seen == 0 { Source::Initial } else { Source::Step(2) }),
        value,
    };
    finding.trace.steps = vec![
        step(0, at("demo/tests/queue.rs", 8, 14), Action::Spawn { thread: 1 }),
        step(0, at("demo/tests/queue.rs", 9, 14), Action::Spawn { thread: 2 }),
        step(1, at(file, 30, 19), bump(0, 1)),
        deciding(1, at(file, 33, 19), Action::Access { object: 0, writes: true }),
        step(2, at(file, 39, 19), bump(1, 2)),
        step(2, at(file, 40, 9), Action::Fence { mode: Mode::Acquire }),
        deciding(2, at(file, 41, 22), Action::Access { object: 0, writes: false }),
    ];
    let frame = |function: &str, place| Frame { function: function.into(), place };
    let stack = |title: &str, function: &str, line| Stack {
        title: title.into(),
        frames: vec![
            frame("unpick::cell::UnsafeCell<T>::with", Some(at("/home/me/unpick/src/cell.rs", 88, 9))),
            frame(function, Some(at(file, line, 19))),
            frame("queue_test::two_threads::{{closure}}", Some(at("demo/tests/queue.rs", 8, 30))),
            frame("core::ops::function::FnOnce::call_once", None),
            frame("unpick_runtime::fiber::start", Some(at("/home/me/unpick/src/fiber.rs", 12, 9))),
        ],
    };
    let popped = "<queue::bounded::Queue<T> as queue::Consumer<T>>::pop";
    finding.trace.stacks = vec![
        stack("T1 writes `self.slot` (#4)", "queue::bounded::Queue<T>::push", 33),
        stack("T2 reads `self.slot` (#7)", popped, 41),
    ];
    finding
}

/// Two locks, taken in both orders, by threads of the same name.
pub(crate) fn deadlock() -> Finding {
    let file = "demo/src/transfer.rs";
    let message = ["Every thread that is left waits for another."];
    let objects = [("Mutex", "from"), ("Mutex", "to"), ("AtomicUsize", "count")];
    let threads = ["main", "clerk", "clerk"];
    let mut finding = finding("deadlock", &message, at(file, 22, 25), &threads, &objects);
    let try_lock = Action::Read {
        name: "try_lock".into(),
        object: 1,
        mode: Mode::Relaxed,
        seen: from(1, Source::Step(4)),
        expected: None,
    };
    let placed =
        Action::Write { name: "store".into(), object: 2, mode: Mode::Relaxed, value: 7, before: Some(7) };
    finding.trace.steps = vec![
        step(0, at(file, 9, 5), Action::Spawn { thread: 1 }),
        step(0, at(file, 13, 5), Action::Spawn { thread: 2 }),
        step(1, at(file, 21, 25), lock(0, Source::Initial)),
        step(1, at(file, 21, 40), unlock(0)),
        deciding(2, at(file, 31, 23), lock(1, Source::Initial)),
        step(1, at(file, 23, 25), try_lock),
        deciding(1, at(file, 25, 25), lock(0, Source::Step(3))),
        step(1, at(file, 26, 25), store(2, Mode::Relaxed, 1)),
        step(2, at(file, 32, 23), placed),
        step(0, at(file, 16, 5), Action::Label { text: "waiting for the clerks".into() }),
        deciding(2, at(file, 33, 25), waits("for `from`, which clerk (T1) took in #7")),
        deciding(1, at(file, 27, 25), waits("for `to`, which clerk (T2) took in #5")),
        step(0, at(file, 17, 5), waits("for the end of clerk (T1)")),
    ];
    finding.strategy = "bounded (2 preemptions)".into();
    finding.token = "transfer schedule.unpick".into();
    finding
}

/// A loop that nobody will ever let go, after several threads have come and gone.
pub(crate) fn livelock() -> Finding {
    let file = "demo/tests/a_spinlock_with_a_long_name.rs";
    let message = ["T4 goes round a loop for ever: it has seen the newest value of `self.state`."];
    let objects = [("AtomicU32", "self.state"), ("AtomicPtr<Node>", "head")];
    let threads = ["main", "T1", "T2", "T3", "T4"];
    let mut finding = finding("livelock", &message, at(file, 12, 20), &threads, &objects);
    let exchange = |name: &'static str, seen, expected| Action::Read {
        name: name.into(),
        object: 0,
        mode: Mode::Relaxed,
        seen,
        expected: Some(expected),
    };
    finding.trace.steps = (1..5).map(|t| step(0, at(file, 30, 9), Action::Spawn { thread: t })).collect();
    finding.trace.steps.extend([
        step(3, at(file, 18, 9), Action::Choice { value: 1, bound: 3 }),
        step(3, at(file, 19, 9), store(1, Mode::Release, 0x7f00_0000_1000)),
        deciding(3, at(file, 20, 9), store(0, Mode::Release, 2)),
    ]);
    finding.trace.steps.extend((1..4).map(end));
    finding
        .trace
        .steps
        .extend((1..4).map(|t| step(0, at(file, 30 + t as u32, 9), Action::Join { thread: t })));
    finding.trace.steps.extend([
        step(4, at(file, 10, 9), load(1, Mode::Acquire, from(0x7f00_0000_1000, Source::Step(5)))),
        step(4, at(file, 11, 9), exchange("compare_exchange_weak", from(2, Source::Step(6)), 2)),
        deciding(4, at(file, 12, 9), exchange("compare_exchange", from(2, Source::Step(6)), 0)),
        deciding(4, at(file, 12, 20), waits("until `self.state` changes; no thread is left to do it")),
        step(0, at(file, 34, 9), waits("for the end of T4")),
    ]);
    finding
}
