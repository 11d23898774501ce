//! The litmus folder against the oracle. With `BLESS=1` the counts are rewritten instead.

use std::path::{Path, PathBuf};
use std::{env, fs};

use unpick_testkit::family;
use unpick_testkit::litmus::{self, Litmus};
use unpick_testkit::{Model, Options, enumerate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus")
}

fn all() -> Vec<(PathBuf, Litmus)> {
    litmus::load(&folder()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_oracle_confirms_every_file() {
    let options = Options { keys: false, budget: 50_000_000, ..Options::default() };
    let mut wrong = Vec::new();
    for (path, mut test) in all().into_iter().filter(|(_, test)| test.by_oracle) {
        let truths =
            enumerate(&test.program, &options).unwrap_or_else(|error| panic!("{}: {error}", test.name));
        let found = truths.iter().map(|(model, truth)| (*model, test.summary(truth))).collect();
        if test.expect != found {
            wrong.push(format!("{}: the file says {:?}, the oracle {found:?}", test.name, test.expect));
            test.expect = found;
            if env::var_os("BLESS").is_some() {
                fs::write(&path, test.to_string()).expect("the litmus folder can be written");
            }
        }
    }
    assert!(wrong.is_empty() || env::var_os("BLESS").is_some(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_is_in_its_printed_form() {
    for (path, test) in all() {
        let text = fs::read_to_string(&path).expect("it was readable a moment ago");
        assert_eq!(text, test.to_string(), "{}", path.display());
    }
}

#[test]
fn files_by_the_oracle_name_every_model() {
    for (path, test) in all() {
        assert!(!test.expect.is_empty(), "{}", path.display());
        assert!(!test.by_oracle || test.expect.len() == Model::ALL.len(), "{}", path.display());
    }
}

#[test]
fn files_of_families_hold_the_programs_of_the_families() {
    let mut seen = 0;
    for (path, test) in all() {
        let Some((name, size)) = test.name.split_once(' ') else { continue };
        let Some(member) = size.parse().ok().and_then(|size| family::member(name, size)) else { continue };
        seen += 1;
        assert_eq!(test.program, member.program, "{}", path.display());
        for (model, expect) in &test.expect {
            assert_eq!(Some(expect.complete), member.complete(*model), "{}", path.display());
        }
    }
    assert!(seen > 50, "the folder holds the families");
}

#[test]
fn broken_files_are_refused() {
    let good = "name: a\nby: oracle\nthread: Wrlx x 1\nsc: 1 complete\n";
    assert!(Litmus::parse(good).is_ok());
    for bad in [
        "by: oracle\nthread: Wrlx x 1\n",
        "name: a\nthread: Wrlx x 1\n",
        "name: a\nby: guess\nthread: Wrlx x 1\n",
        "name: a\nname: b\nby: oracle\nthread: Wrlx x 1\n",
        "name: a\nby: oracle\nthread: Wrlx x 1 || Wrlx x 2\n",
        "name: a\nby: oracle\nthread: Wrlx x 1\nsc: many complete\n",
        "name: a\nby: oracle\nthread: Wrlx x 1\nsc: 1 complete, allowed\n",
        "name: a\nby: oracle\nthread: Wrlx x 1\noutcome: q==1\nsc: 1 complete, allowed\n",
        "name: a\nby: oracle\nthread: Wrlx x 1\nearth: 1 complete\n",
        "name: a\nby: oracle\nthread: Wrlx x 1\nnonsense\n",
    ] {
        assert!(Litmus::parse(bad).is_err(), "accepted: {bad}");
    }
}
