//! Estimates of the size of a search, against searches whose size is known.

use unpick_core::execution::Execution;
use unpick_core::strategy::Estimate;
use unpick_strategies::optimal::{Optimal, Probe};
use unpick_testkit::Machine;
use unpick_testkit::Model;
use unpick_testkit::Random;
use unpick_testkit::drive::run;
use unpick_testkit::family::member;
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::program::Program;

/// The estimates after each execution.
fn estimates(program: &Program, model: &str) -> Vec<Estimate> {
    let strategy = Box::new(Optimal::new(false));
    let mut execution = Execution::new(unpick_models::by_name(model).unwrap(), strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    let mut estimates = Vec::new();
    loop {
        run(&mut execution, program, &mut machines);
        let leaves = estimates.len() as u64 + 1;
        estimates.push(execution.strategy().estimate(leaves).expect("an estimate"));
        if !execution.advance() {
            return estimates;
        }
    }
}

/// Programs chosen before anything was measured.
const NAMED: [(&str, usize); 20] = [
    ("ainc", 6),
    ("ainc", 7),
    ("binc", 4),
    ("casrot", 8),
    ("casrot", 9),
    ("casw", 4),
    ("wcas", 10),
    ("readers", 10),
    ("readers", 12),
    ("inc", 4),
    ("nw", 5),
    ("nw", 6),
    ("wn", 6),
    ("wrw", 4),
    ("lockinc", 5),
    ("lockinc", 6),
    ("lastzero", 10),
    ("lastzero", 12),
    ("indexer", 14),
    ("fib", 4),
];

/// The size that random descents tell, and its standard error: so many descents, in so many runs at most.
fn probe(program: &Program, model: &str, descents: u64, runs: u64, seed: u64) -> f64 {
    let strategy = Box::new(Probe::new(false, seed, descents));
    let mut execution = Execution::new(unpick_models::by_name(model).unwrap(), strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    loop {
        run(&mut execution, program, &mut machines);
        if !execution.advance() || execution.stats().runs >= runs {
            return execution.strategy().estimate(0).map_or(f64::NAN, |estimate| estimate.total);
        }
    }
}

#[test]
fn random_descents_tell_the_size_of_the_search() {
    for number in 0..40 {
        let profile = Profile::ALL[number as usize % Profile::ALL.len()];
        let program = generate(profile, &mut Random::new(1000 + number));
        let all = estimates(&program, "cpp20").len() as f64;
        let means: Vec<f64> = (0..20).map(|seed| probe(&program, "cpp20", 200, u64::MAX, seed)).collect();
        let mean = means.iter().sum::<f64>() / 20.0;
        let variance = means.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / 19.0;
        let error = (variance / 20.0).sqrt();
        assert!((mean - all).abs() <= 5.0 * error + 1e-9, "{program}: {mean} and not {all}, error {error}");
    }
}

#[test]
fn after_a_tenth_of_the_search_most_random_descents_are_within_a_factor_of_three() {
    let within = |estimate: f64, size: f64| estimate <= 3.0 * size && size <= 3.0 * estimate;
    let mut good = [0, 0, 0];
    for (family, size) in NAMED {
        let member = member(family, size).expect("a known family");
        let estimates = estimates(&member.program, "cpp20");
        assert_eq!(Some(estimates.len() as u64), member.complete(Model::Cpp20), "{family} {size}");
        let after = estimates[estimates.len() / 10];
        let all = estimates.len() as f64;
        good[0] += u32::from(within(after.total, all));
        good[1] += u32::from(within(after.recursive, all));
        let descents = probe(&member.program, "cpp20", u64::MAX, estimates.len() as u64 / 10, 1);
        good[2] += u32::from(within(descents, all));
        println!(
            "{family} {size}: {all}, after a tenth {:.0} by weighted backtrack, {:.0} by recursion, {:.0} by descents",
            after.total, after.recursive, descents
        );
    }
    println!("within a factor of three: {good:?} of 20 by weighted backtrack, recursion and random descents");
    assert!(good[2] >= 12, "{good:?}");
}

#[test]
fn at_the_end_both_estimates_are_exact() {
    for number in 0..300 {
        let profile = Profile::ALL[number as usize % Profile::ALL.len()];
        let program = generate(profile, &mut Random::new(number));
        for model in ["cpp20", "sc"] {
            let estimates = estimates(&program, model);
            let all = estimates.len() as f64;
            let last = estimates.last().expect("an execution");
            // The last branches of a search may lead nowhere.
            assert!(last.progress <= 1.0 + 1e-9, "{program}: {last:?}");
            assert!(last.recursive >= all * (1.0 - 1e-9), "{program}: {last:?} of {all}");
        }
    }
}
