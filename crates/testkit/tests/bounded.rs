//! The search under a bound on preemptions, against brute force.

use std::collections::{BTreeMap, BTreeSet};
use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::{Key, Program, Random, preempt, Model, Options, enumerate};

fn crowd(random: &mut Random) -> Program {
    let threads = 3 + random.weighted(&[3, 4, 2]);
    let most = 11 - random.below(2);
    let places = 1 + random.below(2);
    let kind = random.below(3);
    let mut left = most;
    let text: Vec<String> = (0..threads).map(|t| {
        let len = (1 + random.weighted(&[3, 5, 2])).min(left.saturating_sub(threads - 1 - t)).max(1);
        left -= len.min(left);
        let mut locked = false;
        let mut ops: Vec<String> = (0..len).map(|i| {
            let x = ["x", "y"][random.below(places)];
            let v = 7 * t + i + 1;
            match (kind, random.below(10)) {
                (1, 0..3) => format!("FADDrlx {x} {v}"),
                (1, 3) => format!("CASrlx {x} 0 {v}"),
                (2, 0..3) if !locked => { locked = true; "lock l".to_string() }
                (_, 4..7) => format!("Rrlx {x}"),
                _ => format!("Wrlx {x} {v}"),
            }
        }).collect();
        if locked { ops.push("unlock l".into()); }
        ops.join("; ")
    }).collect();
    Program::parse(&text.join(" || ")).unwrap()
}

#[test]
fn experiment() {
    let mut lost: BTreeMap<(String, String, usize, u32, u32), u32> = BTreeMap::new();
    let n: u64 = std::env::var("N").map_or(100, |n| n.parse().unwrap());
    let seed: u64 = std::env::var("SEED").map_or(11, |n| n.parse().unwrap());
    let weak = std::env::var("WEAK").map_or(vec![], |n| n.split(',').map(|m| Model::from_name(m).unwrap()).collect::<Vec<_>>());
    let nosc = std::env::var("NOSC").is_ok();
    let maxs: u32 = std::env::var("MAXS").map_or(3, |n| n.parse().unwrap());
    let (mut checks, mut skipped) = (0, 0);
    for p in 0..8 {
        let mut random = Random::new(seed);
        for _ in 0..n {
            let (profile, program) = if p == 7 { (String::from("Crowd"), crowd(&mut random)) } else { (format!("{:?}", Profile::ALL[p]), generate(Profile::ALL[p], &mut random)) };
            let mut truths = vec![];
            if !nosc {
            let Some(truth) = preempt::schedules(&program, 60_000) else { skipped += 1; continue };
            truths.push((Model::Sc, truth));
            }
            if !weak.is_empty() {
                let Ok(all) = enumerate(&program, &Options { models: weak.clone(), budget: 300_000, ..Options::default() }) else { skipped += 1; continue };
                for (model, truth) in all {
                    if truth.keys.len() > 500 { skipped += 1; continue }
                    truths.push((model, truth.keys.into_iter().map(|k| { let c = preempt::fewest(&program, &k, false); (k, c) }).collect()));
                }
            }
            for (model, truth) in truths {
            for bound in 0..4 {
                let want: BTreeSet<Key> = truth.iter().filter(|(_, c)| **c <= bound).map(|(k, _)| k.clone()).collect();
                for slack in 0..maxs {
                    let found = explore(&program, Settings { bound: Some(bound), ..Settings::exact(model.name()) });
                    checks += 1;
                    assert_eq!(found.duplicates, 0);
                    let extra: Vec<_> = found.keys.difference(&want).collect();
                    assert!(extra.is_empty(), "{model} {profile} {bound} {program}\n{}: brute {:?}", extra[0], truth.get(extra[0]));
                    if found.keys != want {
                        let e = lost.entry((model.name().to_string(), profile.clone(), program.threads.len(), bound, slack)).or_default();
                        if *e == 0 { let k = want.difference(&found.keys).next().unwrap(); println!("{model} {profile} b={bound} s={slack} {program}\n  {k} {}", truth[k]); }
                        *e += 1;
                    }
                }
            }
            }
        }
    }
    println!("{checks} checks {skipped} skipped");
    for (k, v) in lost { println!("{k:?} {v}"); }
}
