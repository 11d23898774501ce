//! The engine against the brute-force oracle, on programs that are data.

use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::{Model, Options, Program, Random, enumerate};

fn compare(program: &Program, spurious: bool) -> Option<String> {
    let options = Options { models: Model::ALL.to_vec(), spurious, keys: true, ..Options::default() };
    let truths = enumerate(program, &options).ok()?;
    for (model, truth) in truths {
        let settings = Settings { spurious, ..Settings::exact(model.name()) };
        let found = explore(program, settings);
        let counts = (found.complete, found.blocked, found.deadlock, found.racy, found.duplicates);
        let wanted = (truth.complete, truth.blocked, truth.deadlock, truth.racy, 0);
        if counts != wanted || found.keys != truth.keys {
            let missing: Vec<String> = truth.keys.difference(&found.keys).map(|k| k.to_string()).collect();
            let extra: Vec<String> = found.keys.difference(&truth.keys).map(|k| k.to_string()).collect();
            return Some(format!(
                "{model}: {program}\n found {counts:?}, wanted {wanted:?}\n missing {missing:#?}\n extra {extra:#?}"
            ));
        }
    }
    None
}

#[test]
fn random_programs_have_exactly_the_graphs_of_the_oracle() {
    let mut failures = 0;
    for profile in Profile::ALL {
        let mut random = Random::new(1);
        for n in 0..6000 {
            let program = generate(profile, &mut random);
            if let Some(report) = compare(&program, n % 2 == 0) {
                eprintln!("{profile:?} {n}: {report}");
                failures += 1;
                if failures > 3 { break }
            }
        }
    }
    assert_eq!(failures, 0);
}
