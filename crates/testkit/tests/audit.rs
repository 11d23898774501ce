//! Executions whose graphs are looked at from scratch, by all strategies: `--features audit`.
#![cfg(feature = "audit")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use unpick_core::execution::Execution;
use unpick_core::op::{Addr, Mode, Op, Site, ThreadId};
use unpick_strategies::optimal::Optimal;
use unpick_strategies::research::trace::Method;
use unpick_strategies::sample::names::Settings as Sampling;
use unpick_testkit::drive::{Settings, each_execution, explore, replay, sample};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::samples::{NAMES, by_name};
use unpick_testkit::{Program, Random, fibers, litmus, traces, waiting};

/// Random programs per profile.
const PROGRAMS: u64 = 150;

/// Calls `check` on random programs of every profile, with their numbers.
fn on_random_programs(seed: u64, mut check: impl FnMut(u64, &Program)) {
    for profile in Profile::ALL {
        let mut random = Random::new(seed);
        (0..PROGRAMS).for_each(|number| check(number, &generate(profile, &mut random)));
    }
}

/// A model for each number, all in turn.
fn model(number: u64) -> &'static str {
    unpick_models::NAMES[number as usize % unpick_models::NAMES.len()]
}

#[test]
fn optimal_searches_are_sound() {
    on_random_programs(1, |number, program| {
        for model in unpick_models::NAMES {
            explore(program, Settings { spurious: number % 2 == 0, ..Settings::counting(model) });
        }
    });
}

#[test]
fn searches_of_litmus_tests_are_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    for (_, test) in litmus::load(&folder).expect("the litmus folder can be read") {
        for (model, expect) in test.expect {
            if expect.complete <= 2000 {
                explore(&test.program, Settings::counting(model.name()));
            }
        }
    }
}

#[test]
fn searches_within_a_bound_are_sound() {
    on_random_programs(2, |number, program| {
        let settings = Settings { spurious: number % 3 == 0, ..Settings::counting(model(number)) };
        explore(program, Settings { bound: Some(1), ..settings });
        let in_order = Settings { in_order: true, keeps_order: number % 2 == 0, ..settings };
        explore(program, in_order);
        explore(program, Settings { bound: Some(1), ..in_order });
    });
}

#[test]
fn searches_of_loops_that_wait_are_sound() {
    let mut random = Random::new(3);
    for number in 0..PROGRAMS {
        let program = waiting::generate(&mut random);
        // What goes on for ever grows past any size.
        let counting = Settings::counting(model(number));
        let settings = Settings { most_events: 40, most_executions: 200, ..counting };
        explore(&program, settings);
        explore(&program, Settings { in_order: true, ..settings });
    }
}

#[test]
fn searches_over_traces_are_sound() {
    on_random_programs(4, |number, program| {
        if number < PROGRAMS / 10 {
            for method in Method::ALL {
                traces::explore(program, method, method.is_bounded().then_some(1), number % 2 == 0);
            }
        }
    });
}

#[test]
fn samples_are_sound() {
    on_random_programs(5, |number, program| {
        for name in NAMES {
            let strategy = by_name(name, Sampling { seed: number, spurious: number % 2 == 0 });
            sample(program, model(number), strategy, 20, |_, _, _| ());
        }
    });
}

#[test]
fn replays_are_sound() {
    on_random_programs(6, |number, program| {
        let mut schedules = Vec::new();
        each_execution(program, model(number), |graph, order| {
            if schedules.len() < 20 {
                schedules.push(unpick_core::schedule::Schedule::new(graph, order, 0));
            }
        });
        schedules.iter().for_each(|schedule| assert!(replay(program, model(number), schedule).is_some()));
    });
}

#[test]
fn checks_on_fibers_are_sound() {
    on_random_programs(7, |number, program| {
        if number < PROGRAMS / 10 && !fibers::has_plain_accesses(program) {
            for strategy in ["optimal", "in-order"] {
                fibers::explore_by(program, Settings::counting("cpp20"), strategy);
            }
        }
    });
}

/// One thread writes and reads a location; the graph is changed before it ends.
fn run(damage: impl FnOnce(&mut Execution)) {
    let model = unpick_models::by_name("cpp20").expect("a known memory model");
    let mut execution = Execution::new(model, Box::new(Optimal::new(false)), usize::MAX);
    execution.begin();
    let addr = execution.graph_mut().add_location(0);
    let ops =
        [Op::store(addr, Mode::Relaxed, 1, Site(1)), Op::load(addr, Mode::Relaxed, Site(2)), Op::finish()];
    for op in ops {
        while execution.op(ThreadId::MAIN, &op).is_none() {
            assert_eq!(execution.next_thread(), Some(ThreadId::MAIN));
        }
    }
    assert_eq!(execution.next_thread(), None);
    damage(&mut execution);
    execution.end();
}

#[test]
fn a_graph_that_is_damaged_stops_the_search() {
    run(|_| ());
    let damaged = catch_unwind(AssertUnwindSafe(|| {
        run(|execution| {
            let write = execution.graph().writes(Addr(0))[0];
            execution.graph_mut().remove_write(Addr(0), write);
        });
    }));
    let payload = damaged.expect_err("the read sees a write that its location does not know");
    let said = payload.downcast_ref::<String>().map_or("", String::as_str);
    assert!(said.contains("the writes of") && said.contains("by optimal"), "{said}");
}
