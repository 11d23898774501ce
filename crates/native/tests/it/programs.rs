//! The programs of `tests/c`, each with its bug and without.

use super::*;

/// What a program says of itself.
#[derive(Default)]
struct Expected {
    bug: Option<String>,
    refused: Option<String>,
    warns: Option<String>,
    fixed: Option<String>,
    settings: Vec<(String, String)>,
    flags: Vec<String>,
    says: Vec<String>,
}

fn expected(name: &str) -> Expected {
    let text = std::fs::read_to_string(source(name)).expect("the source is there");
    let mut expected = Expected::default();
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        let (what, value) = line.split_once(": ").expect("a line of the head says what it is");
        let value = value.trim();
        match what {
            "warns" => expected.warns = Some(value.to_string()),
            "refused" => expected.refused = Some(value.to_string()),
            "bug" => expected.bug = Some(value.to_string()),
            "fixed" => expected.fixed = Some(value.to_string()),
            "flags" => expected.flags = value.split(' ').map(str::to_string).collect(),
            "says" => expected.says.push(value.to_string()),
            "settings" => {
                let pairs = value.split(' ').map(|pair| pair.split_once('=').expect("NAME=value"));
                expected.settings =
                    pairs.map(|(name, value)| (name.to_string(), value.to_string())).collect();
            }
            other => panic!("{name}: what is `{other}`?"),
        }
    }
    let any = expected.bug.is_some() || expected.refused.is_some() || expected.fixed.is_some();
    assert!(any, "{name} expects nothing");
    expected
}

fn try_program(name: &str) -> Result<(), String> {
    let expected = expected(name);
    let settings: Vec<(&str, &str)> =
        expected.settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let include = include();
    let flags = expected.flags.iter().map(String::as_str).chain([include.as_str()]);
    let flags: Vec<&str> = flags.collect();
    if let Some(bug) = &expected.bug {
        let program = compile(name, &[&flags[..], &["-DBUG"]].concat());
        let said = check(&program, &settings);
        let found = said.finding.as_ref().map_or("nothing", |finding| &finding.title);
        if found != bug {
            return Err(format!("{name}: found {found}, not {bug}; {:?} {:?}", said.verdict, said.failed));
        }
        let finding = said.finding.expect("it was found");
        let report = serde_json::to_string(&finding).expect("it was a message");
        if let Some(missing) = expected.says.iter().find(|text| !report.contains(*text)) {
            return Err(format!("{name}: the report does not say `{missing}`: {report}"));
        }
        let again = check(&program, &[&settings[..], &[("UNPICK_REPLAY", &finding.token)]].concat());
        if again.finding.map(|again| again.title).as_deref() != Some(bug) {
            return Err(format!("{name}: the token does not bring it back: {:?}", again.failed));
        }
    }
    if let Some(refused) = &expected.refused {
        let said = check(&compile(name, &[&flags[..], &["-DBUG"]].concat()), &settings);
        if !said.failed.as_ref().is_some_and(|problem| problem.contains(refused.as_str())) {
            return Err(format!("{name}: not refused: {:?} {:?}", said.failed, said.verdict));
        }
    }
    if let Some(warning) = &expected.warns {
        let said = check(&compile(name, &[&flags[..], &["-DBUG"]].concat()), &settings);
        let warns =
            |verdict: &Verdict| verdict.warnings.iter().any(|known| known.text.contains(warning.as_str()));
        if !said.verdict.as_ref().is_some_and(|verdict| verdict.ending == Ending::Holds && warns(verdict)) {
            return Err(format!("{name}: no warning: {:?} {:?}", said.failed, said.verdict));
        }
    }
    if let Some(fixed) = &expected.fixed {
        let said = check(&compile(name, &flags), &settings);
        if said.verdict.as_ref().is_some_and(|verdict| !verdict.warnings.is_empty()) {
            return Err(format!("{name} fixed: warnings: {:?}", said.verdict));
        }
        let told = match &said.verdict {
            Some(verdict) if verdict.ending == Ending::Holds && verdict.blocked > 0 => {
                format!("{} executions, {} blocked", verdict.executions, verdict.blocked)
            }
            Some(verdict) if verdict.ending == Ending::Holds => format!("{} executions", verdict.executions),
            _ => format!("{:?} {:?} {:?}", said.verdict, said.finding, said.failed),
        };
        if told != *fixed {
            return Err(format!("{name} fixed: {told}, not {fixed}"));
        }
    }
    Ok(())
}

#[test]
fn each_program_does_what_it_says() {
    let folder = std::fs::read_dir(source("")).expect("there are programs");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let only = std::env::var("UNPICK_TEST_PROGRAM").ok();
    names.retain(|name| only.as_ref().is_none_or(|only| name.contains(only.as_str())));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |worker: usize| {
        let own = names.iter().skip(worker).step_by(workers);
        own.filter_map(|name| try_program(name).err()).collect::<Vec<String>>()
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let share = &share;
        let started: Vec<_> = (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        started.into_iter().flat_map(|worker| worker.join().expect("programs are tried")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
