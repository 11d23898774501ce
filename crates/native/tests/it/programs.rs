//! The programs of `tests/c`, each with its bug and without.

use super::*;

/// What a program says of one of its cases.
#[derive(Default)]
struct Case {
    name: Option<String>,
    bug: Option<String>,
    bugs: Option<String>,
    fixed: Option<String>,
    refused: Option<String>,
    warns: Option<String>,
    says: Vec<String>,
}

/// What a program says of itself.
#[derive(Default)]
pub(super) struct Head {
    cases: Vec<Case>,
    settings: Vec<(String, String)>,
    pub(super) flags: Vec<String>,
    compiler: Option<String>,
    by: Option<String>,
}

impl Head {
    fn case(&mut self, name: Option<&str>) -> &mut Case {
        let known = self.cases.iter().position(|case| case.name.as_deref() == name);
        let index = known.unwrap_or_else(|| {
            self.cases.push(Case { name: name.map(str::to_string), ..Case::default() });
            self.cases.len() - 1
        });
        &mut self.cases[index]
    }

    pub(super) fn of(name: &str) -> Head {
        let text = std::fs::read_to_string(source(name)).expect("the source is there");
        let mut head = Head::default();
        for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
            let (what, value) = line.split_once(": ").expect("a line of the head says what it is");
            let value = value.trim().to_string();
            let (what, case) = what.split_once(' ').map_or((what, None), |(what, case)| (what, Some(case)));
            match what {
                "bug" => head.case(case).bug = Some(value),
                "bugs" => head.case(case).bugs = Some(value),
                "fixed" => head.case(case).fixed = Some(value),
                "refused" => head.case(case).refused = Some(value),
                "warns" => head.case(case).warns = Some(value),
                "says" => head.case(case).says.push(value),
                "by" => head.by = Some(value),
                "compiler" => head.compiler = Some(value),
                "flags" => head.flags = value.split(' ').map(str::to_string).collect(),
                "settings" => {
                    let pairs = value.split(' ').map(|pair| pair.split_once('=').expect("NAME=value"));
                    head.settings =
                        pairs.map(|(name, value)| (name.to_string(), value.to_string())).collect();
                }
                other => panic!("{name}: what is `{other}`?"),
            }
        }
        let expects = |case: &Case| {
            case.bug.is_some() || case.bugs.is_some() || case.fixed.is_some() || case.refused.is_some()
        };
        assert!(head.by.is_some() != head.cases.iter().any(expects), "{name} expects nothing");
        assert!(head.cases.iter().all(expects), "{name}: a case expects nothing");
        head
    }

    /// The titles of the violations that a case shows which has a fixed twin.
    pub(super) fn twins(&self) -> Vec<String> {
        let twins = self.cases.iter().filter(|case| case.fixed.is_some());
        twins.filter_map(|case| case.bug.clone()).collect()
    }

    /// The arguments of the cases that have a fixed program.
    pub(super) fn fixed(&self) -> impl Iterator<Item = Option<&str>> {
        self.cases.iter().filter(|case| case.fixed.is_some()).map(|case| case.name.as_deref())
    }

    /// Whether the program is run here, by this compiler.
    pub(super) fn fits(&self, compiler: &Compiler) -> bool {
        self.by.is_none() && self.compiler.as_ref().is_none_or(|only| only == compiler.family)
    }
}

/// A program, built for one of its cases.
struct Trial<'a> {
    case: &'a Case,
    settings: &'a [(&'a str, &'a str)],
    /// The program with the bug, and without.
    bad: PathBuf,
    good: PathBuf,
}

impl Trial<'_> {
    fn check(&self, program: &Path, more: &[(&str, &str)]) -> Said {
        check_case(program, self.case.name.as_deref(), &[self.settings, more].concat())
    }

    fn bug(&self, bug: &str) -> Result<(), String> {
        let said = self.check(&self.bad, &[]);
        let found = said.finding.as_ref().map_or("nothing", |finding| &finding.title);
        if found != bug {
            let message = said.finding.as_ref().map(|finding| &finding.message);
            return Err(format!(
                "found {found}, not {bug}; {message:?} {:?} {:?}",
                said.verdict, said.failed
            ));
        }
        let finding = said.finding.expect("it was found");
        let report = serde_json::to_string(&(&finding, said.output)).expect("it was a message");
        if let Some(missing) = self.case.says.iter().find(|text| !report.contains(*text)) {
            return Err(format!("the report does not say `{missing}`: {report}"));
        }
        let again = self.check(&self.bad, &[("UNPICK_REPLAY", &finding.token)]);
        if again.finding.map(|again| again.title).as_deref() != Some(bug) {
            return Err(format!("the token does not bring it back: {:?}", again.failed));
        }
        Ok(())
    }

    fn bugs(&self, bugs: &str) -> Result<(), String> {
        let said = self.check(&self.bad, &[("UNPICK_KEEP_GOING", "1000")]);
        let title = said.findings.first().map_or("nothing", |(title, _)| title);
        let other = said.findings.iter().find(|(other, _)| other != title);
        let executions = said.verdict.as_ref().map_or(0, |verdict| verdict.executions + verdict.blocked);
        let told = format!("{} {title}, {executions} executions", said.findings.len());
        if told != bugs || other.is_some() {
            return Err(format!("{told} (and {other:?}), not {bugs}; {:?}", said.failed));
        }
        Ok(())
    }

    fn warns(&self, warning: &str) -> Result<(), String> {
        let said = self.check(&self.bad, &[]);
        let warns = |verdict: &Verdict| verdict.warnings.iter().any(|known| known.text.contains(warning));
        match &said.verdict {
            Some(verdict) if verdict.ending == Ending::Holds && warns(verdict) => Ok(()),
            verdict => Err(format!("no warning: {:?} {verdict:?}", said.failed)),
        }
    }

    fn fixed(&self, fixed: &str) -> Result<(), String> {
        let said = self.check(&self.good, &[]);
        if said.verdict.as_ref().is_some_and(|verdict| !verdict.warnings.is_empty()) {
            return Err(format!("fixed: warnings: {:?}", said.verdict));
        }
        let told = match &said.verdict {
            Some(verdict) if verdict.ending == Ending::Holds && fixed == "holds" => String::from("holds"),
            Some(verdict) if verdict.ending == Ending::Holds && verdict.blocked > 0 => {
                format!("{} executions, {} blocked", verdict.executions, verdict.blocked)
            }
            Some(verdict) if verdict.ending == Ending::Holds => format!("{} executions", verdict.executions),
            _ => {
                let finding = said.finding.as_ref().map(|finding| (&finding.title, &finding.message));
                format!("{:?} {finding:?} {:?}", said.verdict, said.failed)
            }
        };
        if told == fixed { Ok(()) } else { Err(format!("fixed: {told}, not {fixed}")) }
    }

    fn refused(&self, refused: &str) -> Result<(), String> {
        let said = self.check(&self.bad, &[]);
        match &said.failed {
            Some(text) if text.contains(refused) => Ok(()),
            text => Err(format!("not refused: {text:?} {:?}", said.verdict)),
        }
    }

    fn all(&self) -> Result<(), String> {
        let Case { bug, bugs, fixed, refused, warns, .. } = self.case;
        warns.as_ref().map_or(Ok(()), |warning| self.warns(warning))?;
        bug.as_ref().map_or(Ok(()), |bug| self.bug(bug))?;
        bugs.as_ref().map_or(Ok(()), |bugs| self.bugs(bugs))?;
        fixed.as_ref().map_or(Ok(()), |fixed| self.fixed(fixed))?;
        refused.as_ref().map_or(Ok(()), |refused| self.refused(refused))
    }
}

/// Tries a program with a compiler; returns what is wrong.
fn try_program(compiler: &Compiler, name: &str) -> Vec<String> {
    let head = Head::of(name);
    if !head.fits(compiler) {
        return Vec::new();
    }
    let settings: Vec<_> = head.settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let include = include();
    let flags = head.flags.iter().map(String::as_str).chain([include.as_str()]);
    let flags: Vec<&str> = flags.collect();
    let bad = compile_with(compiler, name, &[&flags[..], &["-DBUG"]].concat());
    let good = compile_with(compiler, name, &flags);
    let told = |case: &Case| {
        let trial = Trial { case, settings: &settings, bad: bad.clone(), good: good.clone() };
        let case = case.name.as_ref().map_or(String::new(), |case| format!(" {case}"));
        trial.all().err().map(|problem| format!("{} {name}{case}: {problem}", compiler.family))
    };
    head.cases.iter().filter_map(told).collect()
}

#[test]
fn each_program_does_what_it_says() {
    let only = std::env::var("NATIVE_TEST_PROGRAM").ok();
    let names =
        sources().into_iter().filter(|name| only.as_ref().is_none_or(|only| name.contains(only.as_str())));
    let names: Vec<String> = names.collect();
    let compilers = compilers();
    let jobs: Vec<(&Compiler, &String)> =
        names.iter().flat_map(|name| compilers.iter().map(move |compiler| (compiler, name))).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |worker: usize| {
        let own = jobs.iter().skip(worker).step_by(workers);
        own.flat_map(|(compiler, name)| try_program(compiler, name)).collect::<Vec<String>>()
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let share = &share;
        let started: Vec<_> = (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        started.into_iter().flat_map(|worker| worker.join().expect("programs are tried")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
