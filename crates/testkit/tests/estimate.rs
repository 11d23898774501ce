//! Estimates of the size of a search, against searches whose size is known.

use unpick_core::execution::{Execution, Outcome};
use unpick_core::strategy::{Estimate, Path};
use unpick_strategies::optimal::{Optimal, Probe};
use unpick_strategies::research::trace::{Method, Trace};
use unpick_testkit::Machine;
use unpick_testkit::Model;
use unpick_testkit::Random;
use unpick_testkit::drive::run;
use unpick_testkit::family::member;
use unpick_testkit::generate::{Profile, crowd, generate};
use unpick_testkit::interleave::orders;
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

/// The size that random descents tell beside a search that has come along `path`: so many descents, in so
/// many runs at most.
fn probe(program: &Program, path: Path, descents: u64, runs: u64, seed: u64) -> f64 {
    let strategy = Box::new(Probe::new(false, seed, descents).beside(path));
    let mut execution = Execution::new(unpick_models::by_name("cpp20").unwrap(), strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    loop {
        run(&mut execution, program, &mut machines);
        if !execution.advance() || execution.stats().runs >= runs {
            return execution.strategy().estimate(0).map_or(f64::NAN, |estimate| estimate.total);
        }
    }
}

/// A search that has run so many executions, or all, and how many.
fn search(program: &Program, most: u64) -> (Execution, u64) {
    let strategy = Box::new(Optimal::new(false));
    let mut execution = Execution::new(unpick_models::by_name("cpp20").unwrap(), strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    let mut executions = 0;
    while executions < most {
        run(&mut execution, program, &mut machines);
        executions += 1;
        if !execution.advance() {
            break;
        }
    }
    (execution, executions)
}

/// The path of a search that has run so many executions.
fn path(program: &Program, executions: u64) -> Path {
    let (execution, _) = search(program, executions);
    execution.strategy().path().expect("the search goes through a tree")
}

/// The number of executions, if it is below `most`.
fn size(program: &Program, most: u64) -> Option<u64> {
    Some(search(program, most).1).filter(|&executions| executions < most)
}

#[test]
fn random_descents_tell_the_size_of_the_search() {
    for number in 0..40 {
        let profile = Profile::ALL[number as usize % Profile::ALL.len()];
        let program = generate(profile, &mut Random::new(1000 + number));
        let all = estimates(&program, "cpp20").len() as f64;
        for share in [0.0, 0.1, 0.5, 0.9] {
            let path = path(&program, (all * share) as u64);
            let means: Vec<f64> =
                (0..20).map(|seed| probe(&program, path.clone(), 200, u64::MAX, seed)).collect();
            let mean = means.iter().sum::<f64>() / 20.0;
            let variance = means.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / 19.0;
            let error = (variance / 20.0).sqrt();
            assert!(
                (mean - all).abs() <= 5.0 * error + 1e-9,
                "{program}: after {share}, {mean} and not {all}, error {error}"
            );
        }
    }
}

/// What is told after a tenth of the search: after a twentieth of its executions, and descents for as long
/// again. A run of theirs takes about twice as long as an execution of the search. As long as there are no
/// descents, it is what weighted backtrack tells.
fn after_a_tenth(program: &Program, size: u64, seed: u64) -> f64 {
    let searched = size / 20;
    let told = probe(program, path(program, searched), u64::MAX, size / 40, seed);
    if told.is_nan() { estimates(program, "cpp20")[searched as usize].total } else { told }
}

fn is_within_three(estimate: f64, size: u64) -> bool {
    estimate <= 3.0 * size as f64 && size as f64 <= 3.0 * estimate
}

#[test]
fn after_a_tenth_of_the_search_most_estimates_are_within_a_factor_of_three() {
    let (mut backtrack, mut recursive, mut descents) = (0, 0, [0; 5]);
    for (family, size) in NAMED {
        let member = member(family, size).expect("a known family");
        let estimates = estimates(&member.program, "cpp20");
        let all = estimates.len() as u64;
        assert_eq!(Some(all), member.complete(Model::Cpp20), "{family} {size}");
        let after = estimates[estimates.len() / 10];
        backtrack += u32::from(is_within_three(after.total, all));
        recursive += u32::from(is_within_three(after.recursive, all));
        for (seed, good) in descents.iter_mut().enumerate() {
            *good += u32::from(is_within_three(after_a_tenth(&member.program, all, seed as u64), all));
        }
    }
    // The first two say what the documentation says of them, and nothing good.
    assert_eq!((backtrack, recursive), (10, 5));
    assert!(descents.into_iter().all(|good| good >= 15), "{descents:?}");
    assert!(descents.into_iter().sum::<u32>() >= 17 * 5, "{descents:?}");
}

/// Drawn programs, those of 300 executions or more.
#[test]
fn so_are_most_estimates_for_programs_that_nobody_chose() {
    let (mut good, mut all) = (0, 0);
    for number in 0..150 {
        let mut random = Random::new(number);
        let events = 8 + random.below(5);
        let program = crowd(events, &mut random);
        let Some(size) = size(&program, 20_000).filter(|&size| size >= 300) else { continue };
        all += 1;
        good += u32::from(is_within_three(after_a_tenth(&program, size, number), size));
    }
    assert!(all >= 50 && good * 100 >= all * 80, "{good} of {all}");
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

/// Follows the estimates of a strategy over traces to the end.
fn follow(program: &Program, method: Method, bound: Option<u32>, spurious: bool) {
    let strategy = Box::new(Trace::new(method, bound, spurious));
    let mut execution = Execution::new(unpick_models::by_name("cpp20").unwrap(), strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    let tell = |what: &str| format!("{} {bound:?}: {program}: {what}", method.name());
    assert_eq!(execution.strategy().estimate(0), None);
    let mut executions = 0;
    let mut goes_on = true;
    while goes_on {
        let outcome = run(&mut execution, program, &mut machines);
        executions += u64::from(!matches!(outcome, Outcome::Ended));
        let within = execution.strategy().traces().and_then(|traces| traces.bound);
        let before = execution.strategy().estimate(executions).expect("an estimate");
        goes_on = execution.advance();
        let next = execution.strategy().traces().and_then(|traces| traces.bound);
        let last = !goes_on || next != within;
        let done = executions as f64;
        assert!(before.progress > 0.0 && before.progress <= 1.0, "{}", tell(&format!("{before:?}")));
        assert_eq!(close(before.progress, 1.0), last, "{}", tell(&format!("{before:?}, {done}")));
        assert!(close(before.total, done / before.progress), "{}", tell(&format!("{before:?}, {done}")));
        if last {
            let exact = close(before.total, done) && close(before.recursive, done);
            assert!(exact, "{}", tell(&format!("{before:?}, {done}")));
        }
        match execution.strategy().estimate(executions) {
            // To say what comes next adds nothing to what is known.
            Some(after) => {
                let same = close(after.progress, before.progress)
                    && close(after.total, before.total)
                    && close(after.recursive, before.recursive);
                assert!(same, "{}", tell(&format!("{before:?} became {after:?}")));
            }
            None => assert!(last && goes_on, "{}", tell("no estimate")),
        }
    }
}

#[test]
fn searches_over_traces_end_when_the_estimates_say_so() {
    for number in 0..60 {
        let profile = Profile::ALL[number as usize % Profile::ALL.len()];
        let program = generate(profile, &mut Random::new(number));
        if orders(&program, number % 2 == 0, 2000).is_err() {
            continue;
        }
        for method in Method::ALL {
            follow(&program, method, None, number % 2 == 0);
            if method.is_bounded() {
                follow(&program, method, Some(1), number % 2 == 0);
            }
        }
    }
}
