//! Executions that are so long that the graph lets go of older events.

use unpick_core::execution::{Execution, Outcome};
use unpick_core::op::{Addr, Mode, Op, Rmw, Site, ThreadId, Value};
use unpick_core::schedule::Schedule;
use unpick_core::strategy::Strategy;
use unpick_strategies::replay::{Replay, fits};
use unpick_strategies::sample::names::{self, Settings};

/// Rounds of each thread; several times what a graph holds.
const ROUNDS: u64 = 12_000;

/// A thread: its op in each round, given the answers so far.
type Thread = fn(&mut [Value; 4], u64) -> Op;

/// Runs threads until each has taken so many ops. Answers are in their registers, newest first, and shown to `law`.
fn run(
    strategy: Box<dyn Strategy>,
    model: &str,
    threads: &[Thread],
    mut law: impl FnMut(usize, &[Value; 4]),
) -> Execution {
    let model = unpick_models::by_name(model).expect("a known memory model");
    let mut execution = Execution::new(model, strategy, usize::MAX);
    execution.begin();
    for _ in 0..3 {
        execution.graph_mut().add_location(0);
    }
    let mut registers = vec![[0; 4]; threads.len()];
    let mut rounds = vec![0; threads.len()];
    let mut spawned = 0;
    while let Some(thread) = execution.next_thread() {
        if thread == ThreadId::MAIN {
            while spawned < threads.len() && execution.op(thread, &Op::spawn(Site(0))).is_some() {
                spawned += 1;
            }
            if spawned == threads.len() {
                execution.op(thread, &Op::finish());
            }
            continue;
        }
        let t = thread.index() - 1;
        loop {
            let over = rounds[t] == ROUNDS;
            let op = if over { Op::finish() } else { threads[t](&mut registers[t], rounds[t]) };
            let Some(value) = execution.op(thread, &op) else { break };
            if over {
                break;
            }
            registers[t].rotate_right(1);
            registers[t][0] = value;
            rounds[t] += 1;
            law(t, &registers[t]);
        }
    }
    assert!(matches!(execution.end(), Outcome::Complete));
    execution
}

const DATA: Addr = Addr(0);
const FLAG: Addr = Addr(1);
const COUNT: Addr = Addr(2);

/// Writes a message, then says so.
fn writer(_: &mut [Value; 4], round: u64) -> Op {
    match round % 2 {
        0 => Op::store(DATA, Mode::Relaxed, round / 2 + 1, Site(1)),
        _ => Op::store(FLAG, Mode::Release, round / 2 + 1, Site(2)),
    }
}

/// The same with fences.
fn fencing_writer(_: &mut [Value; 4], round: u64) -> Op {
    match round % 3 {
        0 => Op::store(DATA, Mode::Relaxed, round / 3 + 1, Site(1)),
        1 => Op::fence(Mode::Release, Site(7)),
        _ => Op::store(FLAG, Mode::Relaxed, round / 3 + 1, Site(2)),
    }
}

/// Looks what was said, then reads the message.
fn reader(_: &mut [Value; 4], round: u64) -> Op {
    match round % 2 {
        0 => Op::load(FLAG, Mode::Acquire, Site(3)),
        _ => Op::load(DATA, Mode::Relaxed, Site(4)),
    }
}

/// The same with fences.
fn fencing_reader(_: &mut [Value; 4], round: u64) -> Op {
    match round % 3 {
        0 => Op::load(FLAG, Mode::Relaxed, Site(3)),
        1 => Op::fence(Mode::Acquire, Site(8)),
        _ => Op::load(DATA, Mode::Relaxed, Site(4)),
    }
}

fn counter(_: &mut [Value; 4], _: u64) -> Op {
    Op::rmw(COUNT, Rmw::Add, Mode::SeqCst, 1, Site(5))
}

fn settings(seed: u64) -> Settings {
    Settings { seed, spurious: false }
}

#[test]
fn messages_arrive_whole_across_lines() {
    for model in ["cpp20", "rc11", "ra"] {
        for seed in 0..3 {
            let (mut rounds, mut last) = (0, 0);
            let execution = run(names::random(settings(seed)), model, &[writer, reader], |thread, seen| {
                if thread == 1 {
                    rounds += 1;
                    if rounds % 2 == 1 {
                        assert!(seen[0] >= last, "a later read sees something older");
                        last = seen[0];
                    } else {
                        assert!(seen[0] >= seen[1], "message {} of round {}", seen[0], seen[1]);
                    }
                }
            });
            assert!(execution.graph().is_compacted() && execution.graph().total() as u64 > 2 * ROUNDS);
        }
    }
}

#[test]
fn fences_hold_across_lines() {
    for model in ["cpp20", "rc11"] {
        let mut rounds = 0;
        let execution =
            run(names::random(settings(1)), model, &[fencing_writer, fencing_reader], |thread, seen| {
                if thread == 1 {
                    rounds += 1;
                    assert!(
                        rounds % 3 != 0 || seen[0] >= seen[2],
                        "message {} of round {}",
                        seen[0],
                        seen[2]
                    );
                }
            });
        assert!(execution.graph().is_compacted());
    }
}

#[test]
fn no_addition_is_lost_across_lines() {
    for model in ["cpp20", "rc11", "rc11g", "sc", "tso"] {
        let execution = run(names::random(settings(2)), model, &[counter, counter], |_, _| {});
        let graph = execution.graph();
        assert!(graph.is_compacted(), "{model}");
        assert_eq!(graph.value(COUNT, graph.newest(COUNT)), 2 * ROUNDS, "{model}");
        assert!(graph.len() < graph.total());
    }
}

#[test]
fn long_executions_replay_to_themselves() {
    for seed in 0..2 {
        let mut answers = Vec::new();
        let threads: [Thread; 3] = [writer, reader, counter];
        let execution = run(names::pos(settings(seed)), "cpp20", &threads, |thread, seen| {
            answers.push((thread, seen[0]))
        });
        let schedule = Schedule::of_compacted(execution.graph(), 0);
        assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
        let mut again = Vec::new();
        let replayed = run(Box::new(Replay::new(schedule.clone())), "cpp20", &threads, |thread, seen| {
            again.push((thread, seen[0]));
        });
        assert!(fits(&schedule, &replayed));
        assert!(answers == again);
    }
}
