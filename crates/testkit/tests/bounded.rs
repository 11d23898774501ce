//! The search under a bound on preemptions, against brute force.

use std::collections::BTreeMap;
use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::{Key, Program, Random, preempt};

#[test]
fn experiment() {
    let mut lost: BTreeMap<(Profile2, usize, u32, u32), u32> = BTreeMap::new();
    type Profile2 = String;
    let n: u64 = std::env::var("N").map_or(100, |n| n.parse().unwrap());
    let (mut checks, mut skipped) = (0, 0);
    for profile in Profile::ALL {
        let mut random = Random::new(11);
        for _ in 0..n {
            let program = generate(profile, &mut random);
            let Some(truth) = preempt::schedules(&program, 60_000) else { skipped += 1; continue };
            for bound in 0..4 {
                let want: std::collections::BTreeSet<Key> = truth.iter().filter(|(_, c)| **c <= bound).map(|(k, _)| k.clone()).collect();
                for slack in 0..3 {
                    let found = explore(&program, Settings { bound: Some(bound), slack: Some(slack), ..Settings::exact("sc") });
                    checks += 1;
                    assert_eq!(found.duplicates, 0);
                    let extra: Vec<_> = found.keys.difference(&want).collect();
                    assert!(extra.is_empty(), "{profile:?} {bound} {program}\n{}: count {} brute {:?}", extra[0], preempt::fewest(&program, extra[0], true), truth.get(extra[0]));
                    if found.keys != want {
                        let e = lost.entry((format!("{profile:?}"), program.threads.len(), bound, slack)).or_default();
                        if *e == 0 { let k = want.difference(&found.keys).next().unwrap(); println!("{profile:?} b={bound} s={slack} {program}\n  {k} {}", preempt::fewest(&program, k, true)); }
                        *e += 1;
                    }
                }
            }
        }
    }
    println!("{checks} checks {skipped} skipped\n{lost:#?}");
}
