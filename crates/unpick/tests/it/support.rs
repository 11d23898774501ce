//! What the tests share.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use unpick::trace::Finding;
use unpick::{Check, Verdict};

/// Runs a program with the default settings.
#[track_caller]
pub(crate) fn run(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    match Check::new().run(program) {
        Ok(verdict) => verdict,
        Err(error) => panic!("{error}"),
    }
}

/// Runs a program that must hold; its complete and blocked executions.
#[track_caller]
pub(crate) fn holds(program: impl Fn() + Send + Sync + 'static) -> (u64, u64) {
    counts(&run(program))
}

/// As [`holds`], of a program whose threads may share nothing.
#[track_caller]
pub(crate) fn passes(program: impl Fn() + Send + Sync + 'static) -> (u64, u64) {
    counts(&Check::new().allow_vacuous(true).run(program).expect("it can be checked"))
}

/// The counts of a verdict that must be `Holds`.
#[track_caller]
pub(crate) fn counts(verdict: &Verdict) -> (u64, u64) {
    if let Some(finding) = verdict.violation() {
        panic!("{}", unpick::report::text(finding, &Default::default()));
    }
    assert!(verdict.holds(), "{verdict}");
    (verdict.stats().executions, verdict.stats().blocked)
}

/// Runs a program that must break a property, and says which.
#[track_caller]
pub(crate) fn violated(program: impl Fn() + Send + Sync + 'static) -> Finding {
    let verdict = run(program);
    match verdict.violation() {
        Some(finding) => finding.clone(),
        None => panic!("no violation was found: {verdict}"),
    }
}

/// The report of a finding.
pub(crate) fn told(finding: &Finding) -> String {
    unpick::report::text(finding, &Default::default())
}

/// Compares a text with the golden file of this name; `INSTA_UPDATE=always` writes it, as for other packages. The tool for such
/// files is not used here, since examples would be built with it.
#[track_caller]
pub(crate) fn is_snapshot(source: &str, name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
    let path = folder.join(name).with_extension("snap");
    let header = format!("---\nsource: {source}\n---\n");
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(&path, format!("{header}{}\n", text.trim_end())).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let golden = golden.splitn(3, "---\n").nth(2).unwrap_or_default().trim_end();
    assert!(
        golden == text.trim_end(),
        "{} has\n{golden}\nand not, as INSTA_UPDATE=always would write it,\n{text}",
        path.display()
    );
}

/// What a program gives in all its complete executions, and how many executions there are.
///
/// Nothing is allocated in the closure for the collection: memory of a checked thread does not
/// outlive the execution.
#[track_caller]
pub(crate) fn outcomes_in<T: Into<u64>>(
    check: &Check,
    program: impl Fn() -> T + Send + Sync + 'static,
) -> (BTreeSet<u64>, Verdict) {
    let seen = Arc::new(Mutex::new(Vec::with_capacity(1 << 12)));
    let theirs = Arc::clone(&seen);
    let verdict = check.run(move || {
        let outcome: u64 = program().into();
        let mut seen = theirs.lock().unwrap();
        if !seen.contains(&outcome) {
            assert!(seen.len() < seen.capacity(), "too many outcomes");
            seen.push(outcome);
        }
    });
    let verdict = verdict.unwrap_or_else(|error| panic!("{error}"));
    assert!(verdict.violation().is_none(), "{}", told(verdict.violation().unwrap()));
    let seen = seen.lock().unwrap().iter().copied().collect();
    (seen, verdict)
}

/// What a program gives in all its complete executions under a memory model.
#[track_caller]
pub(crate) fn outcomes(model: &str, program: impl Fn() -> u64 + Send + Sync + 'static) -> BTreeSet<u64> {
    outcomes_in(&Check::new().model(model), program).0
}

/// Digits of an outcome, the first the most significant.
pub(crate) fn digits<const N: usize>(digits: [usize; N]) -> u64 {
    digits.iter().fold(0, |number, &digit| number * 10 + digit as u64)
}

/// Runs one test of this binary in a process of its own.
pub(crate) fn child(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env("CHECKED_IT_CHILD", "1").env("COLUMNS", "100");
    command.envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let id = child.id().to_string();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    receiver.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-9", &id]).status();
        panic!("the process that runs {test} does not end");
    })
}

/// Whether this process was started by [`child`].
pub(crate) fn is_child() -> bool {
    std::env::var_os("CHECKED_IT_CHILD").is_some()
}

/// Both outputs of a process, as text.
pub(crate) fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The full name of a test of the current module, for [`child`].
macro_rules! test_name {
    ($name:ident) => {{
        let module = module_path!();
        let module = module.split_once("::").map_or(module, |(_, rest)| rest);
        format!("{module}::{}", stringify!($name))
    }};
}
pub(crate) use test_name;
