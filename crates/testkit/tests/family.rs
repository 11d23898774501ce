//! The stated counts of the families against the oracle, where it can reach.

use unpick_testkit::family::{FAMILIES, known, member};
use unpick_testkit::{Model, Options, enumerate};

#[test]
fn the_oracle_confirms_the_counts() {
    let options = Options { keys: false, budget: 400_000, ..Options::default() };
    let mut confirmed = Vec::new();
    for member in known(2500) {
        let Ok(truths) = enumerate(&member.program, &options) else { continue };
        for model in Model::ALL {
            let truth = &truths[&model];
            let Some(expected) = member.complete(model) else { continue };
            let found = (truth.complete, truth.blocked);
            assert_eq!(found, (expected, 0), "{} {} under {model}", member.family, member.size);
        }
        confirmed.push(member.family);
    }
    let reached = |family: &&str| confirmed.iter().filter(|name| *name == family).count() >= 2;
    let unreached: Vec<&&str> = FAMILIES.iter().filter(|family| !reached(family)).collect();
    assert_eq!(unreached, [&"indexer"], "the hash table alone is out of reach");
}

#[test]
fn without_collisions_the_table_has_one_filling() {
    let small = member("indexer", 2).expect("the family exists");
    let truths = enumerate(&small.program, &Options::default()).expect("small");
    assert_eq!(truths[&Model::Rc11].complete, 1);
    assert!(member("indexer", 11).expect("it exists").program.to_string().matches("if(").count() == 0);
    assert!(member("indexer", 12).expect("it exists").program.to_string().matches("if(").count() > 0);
}

#[test]
fn unknown_families_are_refused() {
    assert!(member("nonsense", 3).is_none());
}
