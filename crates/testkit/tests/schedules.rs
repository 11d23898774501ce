//! Laws of schedules, on every litmus test and on random programs.

use std::path::Path;

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Kind, Rmw, ThreadId};
use unpick_core::schedule::{Choice, Schedule};
use unpick_testkit::drive::{each_execution, key, replay};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::litmus::load;
use unpick_testkit::{Program, Random};

/// Programs to try: all litmus tests that are small, and some random ones.
fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let litmus = load(&folder).expect("the litmus folder can be read").into_iter().map(|(_, litmus)| litmus);
    let small = litmus.filter(|litmus| litmus.expect.values().all(|expect| expect.complete <= 100));
    let mut random = Random::new(11);
    let random = Profile::ALL
        .into_iter()
        .flat_map(|profile| (0..40).map(|_| generate(profile, &mut random)).collect::<Vec<_>>());
    small.map(|litmus| litmus.program).chain(random.collect::<Vec<_>>()).collect()
}

#[test]
fn every_execution_replays_to_itself_from_its_text() {
    for program in programs() {
        for model in ["cpp20", "tso"] {
            each_execution(&program, model, |graph, order| {
                let schedule = Schedule::new(graph, order, 0);
                let read: Schedule = schedule.to_string().parse().expect("a schedule");
                assert_eq!(read, schedule);
                let again = replay(&program, model, &read);
                assert_eq!(again, Some(key(graph, &program)), "{program}: {schedule}");
            });
        }
    }
}

#[test]
fn a_step_that_cannot_be_is_refused() {
    let mut refused = 0;
    for program in programs() {
        each_execution(&program, "cpp20", |graph, order| {
            let schedule = Schedule::new(graph, order, 0);
            for (at, id) in order.iter().enumerate() {
                let event = graph.event(*id);
                let choice = match event.kind {
                    Kind::Read => Choice::Back(1000),
                    Kind::Write => Choice::Before(1000),
                    Kind::Choice if event.rmw == Rmw::None => Choice::Value(1000),
                    _ => continue,
                };
                let mut other = schedule.clone();
                other.steps[at].choice = choice;
                assert_eq!(replay(&program, "cpp20", &other), None, "{program}: {other}");
                refused += 1;
            }
        });
    }
    assert!(refused > 1000, "{refused}");
}

/// Whether two events that follow each other may change places: neither needs the other, and they
/// do not access one location unless both only read.
fn are_independent(graph: &Graph, first: EventId, second: EventId) -> bool {
    let (a, b) = (graph.event(first), graph.event(second));
    let spawned = a.kind == Kind::Spawn && ThreadId(a.value as u32) == second.thread;
    let both_spawn = a.kind == Kind::Spawn && b.kind == Kind::Spawn;
    let accesses = |event: &unpick_core::event::Event| event.is_read() || event.is_write();
    let conflict = accesses(a) && accesses(b) && a.addr == b.addr && (a.is_write() || b.is_write());
    first.thread != second.thread && !spawned && !both_spawn && !conflict
}

#[test]
fn independent_neighbours_commute() {
    let mut swaps = 0;
    for program in programs() {
        each_execution(&program, "cpp20", |graph, order| {
            for at in 1..order.len() {
                if !are_independent(graph, order[at - 1], order[at]) {
                    continue;
                }
                let mut swapped = order.to_vec();
                swapped.swap(at - 1, at);
                let again = replay(&program, "cpp20", &Schedule::new(graph, &swapped, 0));
                assert_eq!(again, Some(key(graph, &program)), "{program}: {at} of {order:?}");
                swaps += 1;
            }
        });
    }
    assert!(swaps > 1000, "only {swaps} swaps were tried");
}
