//! Channels: what programs see is what a specification allows, and nothing is tried twice.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use unpick::{Check, thread};

use crate::support::*;

const SOON: Duration = Duration::from_millis(1);

/// What a thread does with a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Send(u64),
    TrySend(u64),
    Recv,
    TryRecv,
    RecvTimeout,
}
use Step::*;

/// A digit for each result.
const SENT: u64 = 1;
const REFUSED: u64 = 2;
const FULL: u64 = 3;
const EMPTY: u64 = 4;
const CLOSED: u64 = 5;
/// A message is its number, from here on.
const MESSAGE: u64 = 6;

/// A channel, and threads; the last one receives.
type Program = (Option<usize>, &'static [&'static [Step]]);

/// Puts the results of all threads into one number.
fn outcome(results: &[Vec<u64>]) -> u64 {
    results.iter().flatten().fold(0, |outcome, digit| outcome * 10 + digit)
}

// ---------------------------------------------------------------- the specification

/// A channel as a queue, and how far the threads are.
#[derive(Clone)]
struct State {
    capacity: usize,
    queue: VecDeque<(u64, usize)>,
    senders: usize,
    receives: bool,
    next: Vec<usize>,
    /// Whether the thread has offered a message that nobody has taken.
    offers: Vec<bool>,
    results: Vec<Vec<u64>>,
}

fn specified((capacity, threads): Program) -> BTreeSet<u64> {
    let mut outcomes = BTreeSet::new();
    let state = State {
        capacity: capacity.unwrap_or(usize::MAX),
        queue: VecDeque::new(),
        senders: threads.len() - 1,
        receives: true,
        next: vec![0; threads.len()],
        offers: vec![false; threads.len()],
        results: vec![Vec::new(); threads.len()],
    };
    explore(&state, threads, &mut outcomes);
    outcomes
}

fn explore(state: &State, threads: &[&[Step]], outcomes: &mut BTreeSet<u64>) {
    let mut ended = true;
    for thread in 0..threads.len() {
        if state.next[thread] > threads[thread].len() {
            continue;
        }
        ended = false;
        for next in steps(state, thread, threads) {
            explore(&next, threads, outcomes);
        }
    }
    if ended {
        outcomes.insert(outcome(&state.results));
    }
}

/// What may come of the next step of a thread.
fn steps(state: &State, thread: usize, threads: &[&[Step]]) -> Vec<State> {
    let mut after = state.clone();
    let mut done = |result: u64| {
        after.results[thread].push(result);
        after.next[thread] += 1;
    };
    let Some(&step) = threads[thread].get(state.next[thread]) else {
        // The thread ends, and what it has of the channel goes.
        after.next[thread] += 1;
        if thread + 1 == threads.len() {
            after.receives = false;
        } else {
            after.senders -= 1;
        }
        return vec![after];
    };
    let first = state.queue.front().copied();
    match step {
        Send(_) if state.offers[thread] => {
            if state.queue.iter().all(|&(_, by)| by != thread) {
                done(SENT);
            } else if !state.receives {
                done(REFUSED);
            } else {
                return Vec::new();
            }
            after.offers[thread] = false;
        }
        Send(_) | TrySend(_) if !state.receives => done(REFUSED),
        Send(value) if state.capacity == 0 => {
            after.queue.push_back((value, thread));
            after.offers[thread] = true;
        }
        Send(value) => {
            if state.queue.len() == state.capacity {
                return Vec::new();
            }
            done(SENT);
            after.queue.push_back((value, thread));
        }
        TrySend(value) if state.capacity == 0 => {
            done(FULL);
            let receiver = threads.len() - 1;
            let waits = matches!(threads[receiver].get(state.next[receiver]), Some(Recv | RecvTimeout));
            if waits && state.queue.is_empty() {
                let mut met = state.clone();
                met.results[thread].push(SENT);
                met.next[thread] += 1;
                met.results[receiver].push(MESSAGE + value);
                met.next[receiver] += 1;
                return vec![after, met];
            }
        }
        TrySend(value) => {
            if state.queue.len() == state.capacity {
                done(FULL);
            } else {
                done(SENT);
                after.queue.push_back((value, thread));
            }
        }
        Recv | TryRecv | RecvTimeout => match first {
            Some((value, _)) => {
                done(MESSAGE + value);
                after.queue.pop_front();
            }
            None if state.senders == 0 => done(CLOSED),
            None if step == Recv => return Vec::new(),
            None => done(EMPTY),
        },
    }
    vec![after]
}

// ---------------------------------------------------------------- the same programs, checked

#[derive(Clone)]
enum Sending {
    Unbounded(Sender<u64>),
    Bounded(SyncSender<u64>),
}

fn send(sender: &Sending, steps: &[Step]) -> Vec<u64> {
    let act = |step: &Step| match (sender, *step) {
        (Sending::Unbounded(sender), Send(value)) => sender.send(value).map_or(REFUSED, |()| SENT),
        (Sending::Bounded(sender), Send(value)) => sender.send(value).map_or(REFUSED, |()| SENT),
        (Sending::Bounded(sender), TrySend(value)) => match sender.try_send(value) {
            Ok(()) => SENT,
            Err(TrySendError::Full(_)) => FULL,
            Err(TrySendError::Disconnected(_)) => REFUSED,
        },
        (_, step) => panic!("{step:?} by a sender"),
    };
    steps.iter().map(act).collect()
}

fn receive(receiver: &Receiver<u64>, steps: &[Step]) -> Vec<u64> {
    let act = |step: &Step| match *step {
        Recv => receiver.recv().map_or(CLOSED, |value| MESSAGE + value),
        TryRecv => match receiver.try_recv() {
            Ok(value) => MESSAGE + value,
            Err(TryRecvError::Empty) => EMPTY,
            Err(TryRecvError::Disconnected) => CLOSED,
        },
        RecvTimeout => match receiver.recv_timeout(SOON) {
            Ok(value) => MESSAGE + value,
            Err(RecvTimeoutError::Timeout) => EMPTY,
            Err(RecvTimeoutError::Disconnected) => CLOSED,
        },
        step => panic!("{step:?} by a receiver"),
    };
    steps.iter().map(act).collect()
}

fn run_checked((capacity, threads): Program) -> u64 {
    let (sender, receiver) = match capacity {
        None => {
            let (sender, receiver) = channel();
            (Sending::Unbounded(sender), receiver)
        }
        Some(capacity) => {
            let (sender, receiver) = sync_channel(capacity);
            (Sending::Bounded(sender), receiver)
        }
    };
    let (last, senders) = threads.split_last().unwrap();
    let mut running: Vec<_> = senders
        .iter()
        .map(|&steps| (sender.clone(), steps))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(sender, steps)| thread::spawn(move || send(&sender, steps)))
        .collect();
    drop(sender);
    running.push(thread::spawn(move || receive(&receiver, last)));
    outcome(&running.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>())
}

/// Compares a program with its specification; the executions that were complete and blocked.
#[track_caller]
fn compare(program: Program) -> (u64, u64) {
    let (seen, verdict) = outcomes_in(&Check::new(), move || run_checked(program));
    let wanted = specified(program);
    let counts = counts(&verdict);
    assert_eq!(seen, wanted, "{program:?}: {counts:?}");
    counts
}

#[test]
fn unbounded_channels_do_what_the_specification_allows() {
    // The order of two sends.
    assert_eq!(compare((None, &[&[Send(0)], &[Send(1)], &[Recv, Recv]])), (2, 0));
    // Closing adds nothing.
    assert_eq!(compare((None, &[&[Send(0)], &[Send(1)], &[Recv, Recv, Recv]])), (2, 0));
    // Four threads and one message: who is first.
    assert_eq!(compare((None, &[&[Send(0)], &[Send(1)], &[Send(2)], &[Recv, Recv, Recv]])), (6, 0));
    // The receiver goes after one message: each other send is before that or after.
    assert_eq!(compare((None, &[&[Send(0), Send(1)], &[Recv]])), (2, 0));
    compare((None, &[&[Send(0)], &[Send(1)], &[Recv]]));
    compare((None, &[&[Send(0), Send(1)], &[TryRecv, TryRecv]]));
    compare((None, &[&[Send(0)], &[Send(1)], &[TryRecv, Recv, TryRecv]]));
    compare((None, &[&[Send(0)], &[], &[RecvTimeout, Recv, Recv]]));
    compare((None, &[&[Send(0), Send(1)], &[RecvTimeout, TryRecv, RecvTimeout]]));
}

#[test]
fn bounded_channels_do_what_the_specification_allows() {
    assert_eq!(compare((Some(1), &[&[Send(0), Send(1)], &[Recv, Recv]])), (1, 0));
    assert_eq!(compare((Some(1), &[&[Send(0)], &[Send(1)], &[Recv, Recv, Recv]])), (2, 0));
    assert_eq!(compare((Some(1), &[&[Send(0), Send(1), Send(2)], &[Recv]])), (3, 0));
    compare((Some(1), &[&[Send(0), Send(1)], &[]]));
    compare((Some(1), &[&[TrySend(0), TrySend(1)], &[Recv]]));
    compare((Some(1), &[&[TrySend(0)], &[TrySend(1)], &[TryRecv, TryRecv]]));
    compare((Some(1), &[&[Send(0)], &[TrySend(1)], &[Recv, TryRecv]]));
    compare((Some(2), &[&[Send(0), Send(1)], &[TrySend(2)], &[Recv, Recv]]));
}

#[test]
fn channels_without_room_do_what_the_specification_allows() {
    assert_eq!(compare((Some(0), &[&[Send(0), Send(1)], &[Recv, Recv]])), (1, 0));
    assert_eq!(compare((Some(0), &[&[Send(0)], &[Send(1)], &[Recv, Recv, Recv]])), (2, 0));
    compare((Some(0), &[&[Send(0)], &[Send(1)], &[Recv]]));
    compare((Some(0), &[&[Send(0)], &[]]));
    compare((Some(0), &[&[Send(0)], &[TryRecv]]));
    compare((Some(0), &[&[TrySend(0)], &[Recv]]));
    compare((Some(0), &[&[TrySend(0)], &[TryRecv]]));
    compare((Some(0), &[&[TrySend(0)], &[RecvTimeout]]));
    compare((Some(0), &[&[Send(0)], &[TrySend(1)], &[Recv, TryRecv]]));
}

// ---------------------------------------------------------------- other properties

#[test]
fn senders_make_as_many_executions_as_orders() {
    for (senders, orders) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let counts = holds(move || {
            let (sender, receiver) = channel();
            for number in 0..senders {
                let sender = sender.clone();
                thread::spawn(move || sender.send(number).unwrap());
            }
            drop(sender);
            assert_eq!(receiver.iter().count(), senders);
        });
        assert_eq!(counts, (orders, 0), "{senders} senders");
    }
}

#[test]
fn many_messages_of_one_sender_are_one_execution() {
    let counts = holds(|| {
        let (sender, receiver) = channel();
        let (back, answers) = sync_channel(3);
        thread::spawn(move || (0..100).for_each(|number| sender.send(Box::new(number)).unwrap()));
        thread::spawn(move || receiver.into_iter().for_each(|number| back.send(*number + 1).unwrap()));
        assert!(answers.iter().eq(1..101));
    });
    assert_eq!(counts, (1, 0));
}

#[test]
fn the_order_of_one_sender_is_kept() {
    let counts = holds(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        thread::spawn(move || [10, 11].into_iter().for_each(|number| other.send(number).unwrap()));
        thread::spawn(move || [20, 21].into_iter().for_each(|number| sender.send(number).unwrap()));
        let all: Vec<i32> = receiver.iter().collect();
        let of = |ten: i32| all.iter().copied().filter(move |number| number / 10 == ten);
        assert!(of(1).eq([10, 11]) && of(2).eq([20, 21]));
    });
    assert_eq!(counts, (6, 0));
}

#[test]
fn clones_of_clones_close_the_channel_too() {
    let counts = holds(|| {
        let (sender, receiver) = channel::<u8>();
        for _ in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || {
                let another = sender.clone();
                drop(sender);
                thread::spawn(move || drop(another.clone()));
            });
        }
        drop(sender);
        assert!(receiver.recv().is_err());
    });
    assert_eq!(counts, (1, 0));
}

#[test]
fn a_sender_that_stays_is_a_deadlock() {
    let finding = violated(|| {
        let (sender, receiver) = channel::<u8>();
        let other = sender.clone();
        thread::spawn(move || drop(other));
        assert!(receiver.recv().is_err());
        drop(sender);
    });
    assert_eq!(finding.title, "deadlock");
    let full = violated(|| {
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(receiver);
    });
    assert_eq!(full.title, "deadlock");
}

#[test]
fn a_receipt_knows_what_the_sender_did() {
    let program = |through: bool| {
        move || {
            struct Shared(UnsafeCell<usize>);
            unsafe impl Sync for Shared {}
            let shared = Arc::new(Shared(UnsafeCell::new(0)));
            let theirs = Arc::clone(&shared);
            let (sender, receiver) = channel();
            let (other, others) = channel();
            thread::spawn(move || {
                theirs.0.with_mut(|value| unsafe { *value = 1 });
                sender.send(()).unwrap();
            });
            thread::spawn(move || other.send(()).unwrap());
            let from = if through { &receiver } else { &others };
            from.recv().unwrap();
            shared.0.with(|value| unsafe { *value });
            drop(receiver);
        }
    };
    assert_eq!(violated(program(false)).title, "data race");
    holds(|| {
        let (sender, receiver) = channel();
        let cell = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&cell);
        thread::spawn(move || {
            theirs.store(1, Relaxed);
            drop(sender);
        });
        assert!(receiver.recv() == Err(std::sync::mpsc::RecvError));
        let _: Result<(), _> = receiver.recv();
        assert_eq!(cell.load(Relaxed), 1);
    });
}

#[test]
fn messages_that_nobody_takes_are_dropped() {
    holds(|| {
        struct Counted(std::sync::Arc<AtomicUsize>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_add(1, Relaxed);
            }
        }
        let drops = std::sync::Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = channel();
        let theirs = std::sync::Arc::clone(&drops);
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                drop(sender.send(Counted(std::sync::Arc::clone(&theirs))));
            }
        });
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Two parts of an answer; whoever gives up in between must not take the second for the first.
fn answer(mended: bool) {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        sender.send(1).unwrap();
        // The other side may have given up.
        let _ = sender.send(2);
    });
    let first = receiver.recv().unwrap();
    let second = match receiver.recv_timeout(SOON) {
        Ok(second) => second,
        Err(_) if mended => receiver.recv().unwrap(),
        Err(_) => 0,
    };
    assert_eq!(first + second, 3, "half an answer");
}

#[test]
fn a_time_out_between_two_sends_is_found_and_replays() {
    let finding = violated(|| answer(false));
    assert_eq!(finding.title, "panic");
    if is_child() {
        return;
    }
    let name = test_name!(a_time_out_between_two_sends_is_found_and_replays);
    let again = child(&name, &[("UNPICK_REPLAY", &finding.token)]);
    assert!(again.status.success(), "{}", text_of(&again));
}

#[test]
fn waiting_after_the_time_out_mends_it() {
    assert_eq!(holds(|| answer(true)).1, 0);
}

#[test]
fn a_loop_around_a_time_out_waits() {
    let counts = holds(|| {
        let (sender, receiver) = channel();
        thread::spawn(move || sender.send(5).unwrap());
        let received = loop {
            match receiver.recv_timeout(SOON) {
                Ok(number) => break number,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("it sends before it goes"),
            }
        };
        assert_eq!(received, 5);
    });
    assert!(counts.0 <= 4, "{counts:?}");
}

#[test]
fn an_unhandled_disconnect_replays() {
    let finding = violated(|| {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || sender.send(1).unwrap());
        thread::spawn(move || receiver.try_recv());
        thread.join().unwrap();
    });
    assert_eq!(finding.title, "panic");
    if is_child() {
        return;
    }
    let again = child(&test_name!(an_unhandled_disconnect_replays), &[("UNPICK_REPLAY", &finding.token)]);
    assert!(again.status.success(), "{}", text_of(&again));
}

#[test]
fn outside_a_check_they_are_those_of_std() {
    let (sender, receiver) = sync_channel(1);
    sender.try_send(1).unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
    assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
    drop(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    let (sender, receiver) = channel();
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| results.lock().unwrap().extend(receiver));
        let another = sender.clone();
        scope.spawn(move || another.send(1).unwrap()).join().unwrap();
        scope.spawn(move || sender.send(2).unwrap());
    });
    assert_eq!(*results.lock().unwrap(), [1, 2]);
}

/// Small programs of all kinds, made at random, always the same.
#[test]
fn random_programs_do_what_the_specification_allows() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33) as usize % below
    };
    for _ in 0..1000 {
        let capacity = [None, Some(0), Some(1), Some(2)][random(4)];
        let senders = 1 + random(3);
        let mut message = 0;
        let mut threads: Vec<&'static [Step]> = Vec::new();
        for _ in 0..senders {
            let steps = (0..random(if senders < 3 { 3 } else { 2 })).map(|_| {
                message = (message + 1) % 4;
                if capacity.is_some() && random(3) == 0 { TrySend(message) } else { Send(message) }
            });
            threads.push(Vec::leak(steps.collect()));
        }
        let steps = (0..random(4)).map(|_| [Recv, Recv, TryRecv, RecvTimeout][random(4)]);
        threads.push(Vec::leak(steps.collect()));
        let program: Program = (capacity, Vec::leak(threads));
        let (seen, verdict) = outcomes_in(&Check::new(), move || run_checked(program));
        let (wanted, counts) = (specified(program), counts(&verdict));
        assert!(seen.is_superset(&wanted), "{program:?}: {counts:?}, {seen:?} but not {wanted:?}");
        // Who is told that the channel is full knows of a message, and the receiver need not know of
        // that: the specification, which has one order for all, is stricter there.
        let has = |of: fn(&Step) -> bool| program.1.iter().any(|steps| steps.iter().any(of));
        let polls = has(|step| matches!(step, TryRecv | RecvTimeout));
        if senders == 1 || !(polls && has(|step| matches!(step, TrySend(_)))) {
            assert_eq!(seen, wanted, "{program:?}: {counts:?}");
        }
    }
}
