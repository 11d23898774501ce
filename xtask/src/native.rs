//! C and C++ programs by each compiler at each level: `cargo xtask native-matrix`.
//!
//! First the programs of `tests/c`, by the test that runs them; then the litmus tests.
//!
//! Each litmus test becomes a source, is built by `unpick cc` with each compiler at each level, and explored by `unpick run` under each
//! memory model. What comes out must be what the file of the test says, to the number: executions, blocked ones, and whether
//! the outcome shows. Of tests with a race or a deadlock only that is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_testkit::fibers::{flushed, has_seqcst_stores};
use unpick_testkit::litmus::{Expect, Litmus, load};
use unpick_testkit::source::{Language, source};
use unpick_testkit::{Model, Options, enumerate, family};

use crate::Problem;
use crate::shell::{cargo, exists, root, run, target, unpick};

#[derive(clap::Args)]
pub(crate) struct NativeMatrix {
    /// C compilers; the one for C++ is found by its name.
    #[arg(long, value_delimiter = ',', default_value = "gcc,clang")]
    compilers: Vec<String>,
    /// Levels of optimisation.
    #[arg(long, value_delimiter = ',', default_value = "O0,O1,O2")]
    levels: Vec<String>,
    /// Languages.
    #[arg(long, value_delimiter = ',', default_value = "c,cpp")]
    languages: Vec<String>,
    /// Memory models; all unless some are named.
    #[arg(long, value_delimiter = ',')]
    models: Vec<String>,
    /// Only tests with this in their names.
    #[arg(long, default_value = "")]
    filter: String,
    /// Tests with more executions are left out.
    #[arg(long, default_value_t = 40_000)]
    most: u64,
    /// Only the programs of `tests/c`.
    #[arg(long)]
    only_programs: bool,
    /// Members of families to run besides, such as fib-5.
    #[arg(long, value_delimiter = ',')]
    members: Vec<String>,
}

impl NativeMatrix {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        if let Some(missing) = self.compilers.iter().find(|compiler| !exists(compiler)) {
            return Err(format!("there is no `{missing}`; install it, or name others with --compilers"));
        }
        let failed = if self.only_programs || self.filter.is_empty() { self.programs() } else { Vec::new() };
        if !self.only_programs {
            self.litmus()?;
        }
        match failed.len() {
            0 => Ok(()),
            _ => Err(format!("programs of tests/c do not do what they say with {}", failed.join(", "))),
        }
    }

    /// The programs of `tests/c`; returns with which compilers and levels some fail.
    fn programs(&self) -> Vec<String> {
        let mut failed = Vec::new();
        for compiler in &self.compilers {
            for level in &self.levels {
                let mut command = cargo(["test", "--quiet", "--package", "unpick-native", "--test", "it"]);
                command.arg("each_program_does_what_it_says").env("NATIVE_TEST_COMPILERS", compiler);
                command
                    .env("NATIVE_TEST_FLAGS", format!("-{level}"))
                    .env("NATIVE_TEST_PROGRAM", &self.filter);
                command.env("RUST_BACKTRACE", "0");
                let column = format!("{compiler} -{level}");
                println!("programs of tests/c with {column}");
                if run(&mut command).is_err() {
                    failed.push(column);
                }
            }
        }
        failed
    }

    fn litmus(&self) -> Result<(), Problem> {
        let unpick = unpick()?;
        let folder = target().join("native-matrix");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let tests = load(&root().join("litmus")).map_err(|error| error.to_string())?;
        let mut tests: Vec<(String, Litmus)> =
            tests.into_iter().map(|(path, test)| (stem(&path), test)).collect();
        tests.retain(|(_, test)| test.name.contains(&self.filter));
        for name in &self.members {
            tests.push((format!("member-{name}"), member(name)?));
        }
        let mut wrong = Vec::new();
        let mut right = 0;
        for compiler in &self.compilers {
            for level in &self.levels {
                for language in &self.languages {
                    let (good, bad) = self.column(&unpick, &folder, &tests, [compiler, level, language])?;
                    println!("{compiler} -{level} {language}: {good} as the files say, {} not", bad.len());
                    bad.iter().for_each(|line| println!("  {line}"));
                    right += good;
                    wrong.extend(bad);
                }
            }
        }
        match (right, wrong.len()) {
            (0, 0) => Err(String::from("no test was run")),
            (_, 0) => Ok(()),
            (_, count) => Err(format!("{count} results are not what the files say")),
        }
    }

    /// All tests with one compiler, level and language: how many are right, and what is wrong.
    fn column(
        &self,
        unpick: &Path,
        folder: &Path,
        tests: &[(String, Litmus)],
        [compiler, level, language]: [&String; 3],
    ) -> Result<(usize, Vec<String>), Problem> {
        let language = match language.as_str() {
            "c" => Language::C,
            "cpp" => Language::Cxx,
            other => return Err(format!("there is no language `{other}`; c and cpp are known")),
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let part = |first: usize| -> Result<(usize, Vec<String>), Problem> {
            let (mut right, mut wrong) = (0, Vec::new());
            for (stem, test) in tests.iter().skip(first).step_by(workers) {
                let expected = self.expected(test);
                if expected.is_empty() {
                    continue;
                }
                let program = built(unpick, folder, stem, test, compiler, level, language)?;
                for (model, expect) in expected {
                    let problems = looked_at(unpick, &program, model, &expect)?;
                    right += usize::from(problems.is_empty());
                    let told =
                        problems.into_iter().map(|problem| format!("{} under {model}: {problem}", test.name));
                    wrong.extend(told);
                }
            }
            Ok((right, wrong))
        };
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..workers).map(|first| scope.spawn(move || part(first))).collect();
            let mut all = (0, Vec::new());
            for worker in running {
                let (right, wrong) = worker.join().map_err(|_| String::from("a worker panicked"))??;
                all.0 += right;
                all.1.extend(wrong);
            }
            Ok(all)
        })
    }

    /// What is expected of a test under each of the models.
    fn expected(&self, test: &Litmus) -> BTreeMap<Model, Expect> {
        let named = |model: &Model| self.models.is_empty() || self.models.contains(&model.to_string());
        let mut expected = test.expect.clone();
        // For programs in C a SeqCst store is followed by a fence under tso, as compilers for x86 do it.
        if has_seqcst_stores(&test.program) && expected.remove(&Model::Tso).is_some() {
            let options = Options { models: vec![Model::Tso], ..Options::default() };
            let truth = enumerate(&flushed(&test.program), &options).ok();
            let truth = truth.and_then(|mut truths| truths.remove(&Model::Tso));
            expected.extend(truth.map(|truth| (Model::Tso, test.summary(&truth))));
        }
        expected.retain(|model, expect| named(model) && expect.complete + expect.blocked <= self.most);
        expected
    }
}

/// The name of a file without its ending.
fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A member of a family, as a test.
fn member(name: &str) -> Result<Litmus, Problem> {
    let parts = name.rsplit_once('-').and_then(|(family, size)| Some((family, size.parse().ok()?)));
    let member = parts.and_then(|(family, size)| family::member(family, size));
    let member = member.ok_or_else(|| format!("there is no member `{name}`; fib-5 is one"))?;
    let counted = Model::ALL.into_iter().filter_map(|model| Some((model, member.complete(model)?)));
    let expect = counted.map(|(model, complete)| (model, Expect { complete, ..Expect::default() })).collect();
    let (comments, program) = (Vec::new(), member.program);
    Ok(Litmus { name: name.to_string(), comments, by_oracle: false, program, outcome: None, expect })
}

/// Builds a test.
fn built(
    unpick: &Path,
    folder: &Path,
    stem: &str,
    test: &Litmus,
    compiler: &str,
    level: &str,
    language: Language,
) -> Result<PathBuf, Problem> {
    let file = folder.join(format!("{stem}.{}", language.ending()));
    std::fs::write(&file, source(test, language)).map_err(|error| format!("{}: {error}", file.display()))?;
    let program = folder.join(format!("{stem}-{compiler}-{level}-{}", language.ending()));
    let (word, name, chosen) = match language {
        Language::C => ("cc", "UNPICK_CC", compiler.to_string()),
        Language::Cxx => ("c++", "UNPICK_CXX", compiler.replace("gcc", "g++").replace("clang", "clang++")),
    };
    let mut command = Command::new(unpick);
    command.arg(word).env(name, chosen).arg(format!("-{level}")).arg(&file).arg("-o").arg(&program);
    let output = command.output().map_err(|error| format!("{}: {error}", unpick.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.is_empty() {
        return Err(format!("{}: {}\n{said}", file.display(), output.status));
    }
    Ok(program)
}

/// What is not as expected under one model.
fn looked_at(unpick: &Path, program: &Path, model: Model, expect: &Expect) -> Result<Vec<String>, Problem> {
    let mut problems = Vec::new();
    let counted = verdict(unpick, program, model, &[])?;
    if expect.racy > 0 || expect.deadlock > 0 {
        let title = counted.strip_prefix("violated: ").unwrap_or_default();
        let race = expect.racy > 0 && title.contains("race");
        let deadlock = expect.deadlock > 0 && title.contains("deadlock");
        if !race && !deadlock {
            problems.push(format!("expected a violation ({expect}), got `{counted}`"));
        }
        return Ok(problems);
    }
    let plural = if expect.complete == 1 { "" } else { "s" };
    let blocked = if expect.blocked > 0 { format!(", {} blocked", expect.blocked) } else { String::new() };
    let wanted = format!("holds ({model} and optimal: {} execution{plural}{blocked})", expect.complete);
    if counted != wanted {
        problems.push(format!("expected `{wanted}`, got `{counted}`"));
    }
    if let Some(allowed) = expect.allowed {
        let asked = verdict(unpick, program, model, &["outcome"])?;
        let shown = asked.starts_with("violated: ");
        if shown != allowed || (!shown && !asked.starts_with("holds ")) {
            let word = if allowed { "allowed" } else { "forbidden" };
            problems.push(format!("the outcome is {word}, got `{asked}`"));
        }
    }
    Ok(problems)
}

/// The first line of a verdict, without what it assumes.
fn verdict(unpick: &Path, program: &Path, model: Model, arguments: &[&str]) -> Result<String, Problem> {
    let mut command = Command::new(unpick);
    command
        .args(["run", "--strategy", "optimal", "--model", &model.to_string(), "--"])
        .arg(program)
        .args(arguments);
    let output = command.output().map_err(|error| format!("{}: {error}", unpick.display()))?;
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let starts = ["holds ", "violated: ", "inconclusive: "];
    let line = said.lines().find(|line| starts.iter().any(|start| line.starts_with(start)));
    let line = line.and_then(|line| line.split("; ").next());
    Ok(line.map_or_else(|| format!("{}: {}", output.status, said.trim()), str::to_string))
}
