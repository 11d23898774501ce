//! What the primitives are to do, as a machine that takes one step at a time, and all its
//! interleavings; and the same programs on the real primitives.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use unpick::Check;
use unpick::sync::{
    Barrier, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use unpick::thread::{self, Thread};

use crate::support::*;

/// A step of a program. There is one object of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Takes the mutex.
    Lock,
    /// Gives it back.
    Unlock,
    /// Writes what the mutex guards.
    Set(u8),
    /// Notes what the mutex guards.
    Get,
    /// Waits for the condition.
    Wait,
    /// Waits for the condition while the number is 0.
    WaitWhileZero,
    /// Waits for the condition or for time; notes 1 when the time was over.
    WaitTimeout,
    NotifyOne,
    NotifyAll,
    /// Takes the other lock for reading, and notes the number.
    Read,
    /// Takes it for writing, and adds one to the number.
    Write,
    /// As `Read`, but notes 9 when somebody writes.
    TryRead,
    /// As `Write`, but notes 9 when somebody has it, and else 0.
    TryWrite,
    /// Goes on reading after writing.
    Downgrade,
    /// Gives the other lock back, if it was taken.
    Release,
    Park,
    ParkTimeout,
    /// Unparks a thread that was started before.
    Unpark(usize),
    /// Arrives at a barrier for as many threads as the program says; notes 1 for the leader.
    Arrive,
    /// Makes the value unless it is there, and notes it.
    Init(u8),
    /// Notes the value, 9 if there is none.
    Peek,
    /// Waits for the value, and notes it.
    Await,
}
use Op::*;

/// How far a thread is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Progress {
    at: usize,
    phase: u8,
    noted: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    threads: Vec<Progress>,
    owner: Option<usize>,
    number: u8,
    waiting: BTreeSet<usize>,
    readers: BTreeSet<usize>,
    writer: Option<usize>,
    written: u8,
    tokens: BTreeSet<usize>,
    arrived: BTreeSet<usize>,
    running: Option<usize>,
    value: Option<u8>,
}

impl State {
    fn done(mut self, thread: usize) -> Vec<State> {
        self.threads[thread].at += 1;
        self.threads[thread].phase = 0;
        vec![self]
    }

    fn note(mut self, thread: usize, digit: u8) -> State {
        let noted = &mut self.threads[thread].noted;
        *noted = *noted * 10 + u64::from(digit);
        self
    }

    fn enter(mut self, thread: usize, phase: u8) -> Vec<State> {
        self.threads[thread].phase = phase;
        vec![self]
    }

    /// All states that a step of the thread may lead to; none if it must wait.
    fn step(mut self, t: usize, op: Op, parties: usize) -> Vec<State> {
        let phase = self.threads[t].phase;
        match op {
            Lock if self.owner.is_none() => {
                self.owner = Some(t);
                self.done(t)
            }
            Unlock => {
                self.owner = None;
                self.done(t)
            }
            Set(number) => {
                self.number = number;
                self.done(t)
            }
            Get => {
                let number = self.number;
                self.note(t, number).done(t)
            }
            WaitWhileZero if phase == 0 && self.number != 0 => self.done(t),
            Wait | WaitWhileZero | WaitTimeout if phase == 0 => {
                self.owner = None;
                self.waiting.insert(t);
                self.enter(t, 1)
            }
            Wait | WaitWhileZero | WaitTimeout if phase == 1 => {
                if !self.waiting.contains(&t) {
                    return self.enter(t, 2);
                }
                if op != WaitTimeout {
                    return Vec::new();
                }
                self.waiting.remove(&t);
                self.enter(t, 3)
            }
            Wait | WaitWhileZero | WaitTimeout if self.owner.is_none() => {
                self.owner = Some(t);
                match op {
                    Wait => self.done(t),
                    WaitTimeout => self.note(t, phase - 2).done(t),
                    _ => self.enter(t, 0),
                }
            }
            NotifyOne if !self.waiting.is_empty() => {
                let without = |woken: &usize| {
                    let mut next = self.clone();
                    next.waiting.remove(woken);
                    next.done(t)
                };
                self.waiting.iter().flat_map(without).collect()
            }
            NotifyOne | NotifyAll => {
                self.waiting.clear();
                self.done(t)
            }
            Read | TryRead if self.writer.is_none() => {
                self.readers.insert(t);
                let written = self.written;
                self.note(t, written).done(t)
            }
            Write | TryWrite if self.writer.is_none() && self.readers.is_empty() => {
                self.writer = Some(t);
                self.written += 1;
                if op == TryWrite { self.note(t, 0).done(t) } else { self.done(t) }
            }
            TryRead | TryWrite => self.note(t, 9).done(t),
            Downgrade => {
                self.writer = None;
                self.readers.insert(t);
                self.done(t)
            }
            Release => {
                self.readers.remove(&t);
                self.writer = self.writer.filter(|&writer| writer != t);
                self.done(t)
            }
            Park if self.tokens.remove(&t) => self.done(t),
            ParkTimeout => {
                self.tokens.remove(&t);
                self.done(t)
            }
            Unpark(thread) => {
                self.tokens.insert(thread);
                self.done(t)
            }
            Arrive if phase == 0 && self.arrived.len() + 1 == parties => {
                self.arrived.clear();
                self.note(t, 1).done(t)
            }
            Arrive if phase == 0 => {
                self.arrived.insert(t);
                self.enter(t, 1)
            }
            Arrive if !self.arrived.contains(&t) => self.note(t, 0).done(t),
            Init(value) if phase == 0 && self.value.is_none() && self.running.is_none() => {
                self.running = Some(t);
                let _ = value;
                self.enter(t, 1)
            }
            Init(value) if self.running == Some(t) => {
                self.running = None;
                self.value = Some(value);
                self.note(t, value).done(t)
            }
            Init(_) | Await if self.value.is_some() => {
                let value = self.value.unwrap_or(9);
                self.note(t, value).done(t)
            }
            Peek => {
                let value = self.value.unwrap_or(9);
                self.note(t, value).done(t)
            }
            _ => Vec::new(),
        }
    }
}

/// A program: what each thread does, and for how many the barrier is.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Op>>,
    pub(crate) parties: usize,
    pub(crate) maker: Maker,
}

/// What makes a value once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Maker {
    OnceLock,
    Once,
    LazyLock,
}

unpick::thread_local! {
    /// The value that a thread would make.
    static MINE: Cell<u8> = const { Cell::new(0) };
}

/// What threads have noted, the first the most significant.
fn outcome(noted: impl Iterator<Item = u64>) -> u64 {
    noted.fold(0, |all, noted| all * 1000 + noted)
}

impl Program {
    pub(crate) fn new<const N: usize>(threads: [&[Op]; N]) -> Program {
        Program {
            threads: threads.iter().map(|ops| ops.to_vec()).collect(),
            parties: 2,
            maker: Maker::OnceLock,
        }
    }

    pub(crate) fn parties(mut self, parties: usize) -> Program {
        self.parties = parties;
        self
    }

    pub(crate) fn by(mut self, maker: Maker) -> Program {
        self.maker = maker;
        self
    }

    /// The outcomes of all interleavings; `None` when one of them is stuck.
    pub(crate) fn specified(&self) -> Option<BTreeSet<u64>> {
        let start = State { threads: vec![Progress::default(); self.threads.len()], ..State::default() };
        let mut todo = vec![start.clone()];
        let mut seen = BTreeSet::from([start]);
        let mut outcomes = BTreeSet::new();
        while let Some(state) = todo.pop() {
            let mut stuck = true;
            let mut ended = true;
            for (t, ops) in self.threads.iter().enumerate() {
                let Some(&op) = ops.get(state.threads[t].at) else { continue };
                ended = false;
                for next in state.clone().step(t, op, self.parties) {
                    stuck = false;
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
            }
            if ended {
                outcomes.insert(outcome(state.threads.iter().map(|thread| thread.noted)));
            } else if stuck {
                return None;
            }
        }
        Some(outcomes)
    }

    /// The program on the real primitives.
    pub(crate) fn real(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let program = self.clone();
        move || {
            let world = Arc::new(World::new(program.parties, program.maker));
            let mut started: Vec<Thread> = Vec::new();
            let handles: Vec<_> = program
                .threads
                .iter()
                .map(|ops| {
                    let (world, ops, others) = (world.clone(), ops.clone(), started.clone());
                    let handle = thread::spawn(move || world.run(&ops, &others));
                    started.push(handle.thread().clone());
                    handle
                })
                .collect();
            outcome(handles.into_iter().map(|handle| handle.join().unwrap()))
        }
    }

    /// Checks that the real primitives do what is specified, in so many complete executions, and so
    /// many that are given up.
    #[track_caller]
    pub(crate) fn agrees(&self, executions: u64, blocked: u64) {
        self.agrees_under(&Check::new().allow_vacuous(true), executions, blocked);
    }

    #[track_caller]
    pub(crate) fn agrees_under(&self, check: &Check, executions: u64, blocked: u64) {
        let (seen, verdict) = outcomes_in(check, self.real());
        assert_eq!(Some(seen), self.specified(), "{self:?}");
        assert_eq!(counts(&verdict), (executions, blocked), "{self:?}");
    }

    /// Checks that the program gets stuck, and is found to.
    #[track_caller]
    pub(crate) fn deadlocks(&self) {
        assert_eq!(self.specified(), None, "{self:?}");
        let real = self.real();
        let finding = violated(move || {
            real();
        });
        assert_eq!(finding.title, "deadlock", "{}", told(&finding));
    }
}

/// The real primitives.
struct World {
    mutex: Mutex<u8>,
    condition: Condvar,
    lock: RwLock<u8>,
    barrier: Barrier,
    once: OnceLock<u8>,
    maker: Maker,
    plain_once: Once,
    /// What the `Once` has made; whoever looks knows of it through the `Once`.
    made: AtomicU8,
    lazy: LazyLock<u8>,
}

/// The lock, as a thread holds it.
enum Held<'a> {
    Reading(#[expect(dead_code, reason = "held until it is dropped")] RwLockReadGuard<'a, u8>),
    Writing(RwLockWriteGuard<'a, u8>),
}

impl World {
    fn new(parties: usize, maker: Maker) -> World {
        World {
            mutex: Mutex::new(0),
            condition: Condvar::new(),
            lock: RwLock::new(0),
            barrier: Barrier::new(parties),
            once: OnceLock::new(),
            maker,
            plain_once: Once::new(),
            made: AtomicU8::new(0),
            lazy: LazyLock::new(|| MINE.get()),
        }
    }

    fn make(&self, value: u8) -> u8 {
        match self.maker {
            Maker::OnceLock => *self.once.get_or_init(|| value),
            Maker::Once => {
                self.plain_once.call_once(|| self.made.store(value, Ordering::Relaxed));
                self.made.load(Ordering::Relaxed)
            }
            Maker::LazyLock => {
                MINE.set(value);
                *self.lazy
            }
        }
    }

    /// The value, if it was made; a `LazyLock` does not tell.
    fn peek(&self) -> Option<u8> {
        match self.maker {
            Maker::OnceLock => self.once.get().copied(),
            Maker::Once => self.plain_once.is_completed().then(|| self.made.load(Ordering::Relaxed)),
            Maker::LazyLock => None,
        }
    }

    fn run(&self, ops: &[Op], others: &[Thread]) -> u64 {
        const LIMIT: Duration = Duration::from_secs(1);
        let mut noted = 0;
        let mut note = |digit: u8| noted = noted * 10 + u64::from(digit);
        let mut guard: Option<MutexGuard<'_, u8>> = None;
        let mut held: Option<Held<'_>> = None;
        for &op in ops {
            match op {
                Lock => guard = Some(self.mutex.lock().unwrap()),
                Unlock => guard = None,
                Set(number) => **guard.as_mut().unwrap() = number,
                Get => note(**guard.as_ref().unwrap()),
                Wait => guard = guard.map(|guard| self.condition.wait(guard).unwrap()),
                WaitWhileZero => {
                    let wait = |guard| self.condition.wait_while(guard, |number| *number == 0).unwrap();
                    guard = guard.map(wait);
                }
                WaitTimeout => {
                    let wait = |guard| self.condition.wait_timeout(guard, LIMIT).unwrap();
                    let (back, result) = guard.map(wait).unwrap();
                    note(result.timed_out().into());
                    guard = Some(back);
                }
                NotifyOne => self.condition.notify_one(),
                NotifyAll => self.condition.notify_all(),
                Read => {
                    let reading = self.lock.read().unwrap();
                    note(*reading);
                    held = Some(Held::Reading(reading));
                }
                Write => {
                    let mut writing = self.lock.write().unwrap();
                    *writing += 1;
                    held = Some(Held::Writing(writing));
                }
                TryRead => match self.lock.try_read() {
                    Ok(reading) => {
                        note(*reading);
                        held = Some(Held::Reading(reading));
                    }
                    Err(_) => note(9),
                },
                TryWrite => match self.lock.try_write() {
                    Ok(mut writing) => {
                        *writing += 1;
                        note(0);
                        held = Some(Held::Writing(writing));
                    }
                    Err(_) => note(9),
                },
                Downgrade => {
                    held = held.map(|held| match held {
                        Held::Writing(writing) => Held::Reading(RwLockWriteGuard::downgrade(writing)),
                        reading => reading,
                    });
                }
                Release => held = None,
                Park => thread::park(),
                ParkTimeout => thread::park_timeout(LIMIT),
                Unpark(thread) => others[thread].unpark(),
                Arrive => note(self.barrier.wait().is_leader().into()),
                Init(value) => note(self.make(value)),
                Peek => note(self.peek().unwrap_or(9)),
                Await => note(*self.once.wait()),
            }
        }
        drop((guard, held));
        noted
    }
}
