//! The command line as its users see it.

mod cc;
mod headers;
mod migrate;
mod native;
mod options;
mod readme;
mod suppressions;
#[cfg(unix)]
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Once;

/// Runs `unpick` with arguments; gives its exit code, standard output and standard error.
fn unpick(arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended = Command::new(env!("CARGO_BIN_EXE_unpick")).args(arguments).output();
    let Output { status, stdout, stderr } = ended.expect("unpick can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("unpick writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// `unpick` with the runtime that is its own. It is built first, if it has to be: what cargo says then belongs to no test.
fn native(cache: &str) -> Command {
    static BUILT: Once = Once::new();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let command = |cache: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.env("UNPICK_CACHE", folder.join(cache)).env_remove("UNPICK_RUNTIME");
        command
    };
    BUILT.call_once(|| {
        let (source, object) = (folder.join("empty.c"), folder.join("empty.o"));
        std::fs::write(&source, "").expect("a file can be written");
        let status = command("first-cache").args(["cc", "-c"]).arg(source).arg("-o").arg(object).status();
        assert!(status.is_ok_and(|status| status.success()));
    });
    command(cache)
}

/// Writes a script that can be started. Another process does so: a file that this one has open for writing, a child that another
/// test starts meanwhile has open too, and the system refuses to start it.
#[cfg(unix)]
fn script(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).expect("a file can be written");
    for words in [&["cp"][..], &["chmod", "+x"]] {
        let files = if words.len() == 1 { &[draft.as_path(), path][..] } else { &[path] };
        let status = Command::new(words[0]).args(&words[1..]).args(files).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

/// Asserts that a command is refused with exit code 2, and a message that says this.
fn refused(arguments: &[&str], message: &str) {
    let (code, out, err) = unpick(arguments);
    assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
    assert_eq!(out, "", "{arguments:?}");
    assert!(err.contains(message), "{arguments:?}: {err}");
}

#[test]
fn models_are_listed_the_default_first() {
    let (code, out, _) = unpick(&["models"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("cpp20 "), "{out}");
    assert!(["rc11 ", "sc ", "tso ", "ra ", "assumes: "].iter().all(|word| out.contains(word)), "{out}");
}

#[test]
fn strategies_are_listed_the_default_first() {
    let (code, out, _) = unpick(&["strategies"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("auto "), "{out}");
    let (usual, research) = out.split_once("For research").expect("those for research stand apart");
    assert!(
        ["optimal ", "in-order:N ", "pct:N ", "random "].iter().all(|word| usual.contains(word)),
        "{out}"
    );
    assert!(["source-dpor ", "cb-dpor:N ", "chess "].iter().all(|word| research.contains(word)), "{out}");
    let (_, help, _) = unpick(&["help", "test"]);
    assert!(help.contains("auto, optimal, in-order, pct, random") && !help.contains("chess"), "{help}");
}

#[test]
fn settings_are_listed() {
    let (code, out, _) = unpick(&["settings"]);
    assert_eq!(code, Some(0));
    for name in ["UNPICK_MODEL", "UNPICK_TIME", "UNPICK_REPLAY"] {
        assert!(out.contains(name), "{out}");
    }
}

/// Comparing needs a build of the bench, optimised; what comes of it is tested there.
#[test]
fn comparing_is_explained() {
    let (code, out, _) = unpick(&["help", "compare"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("bench of bugs") && out.contains("--strategies optimal,cb-dpor"), "{out}");
}

#[test]
fn a_report_is_explained() {
    let (code, out, err) = unpick(&["explain", &sample("report.json").display().to_string()]);
    assert_eq!(code, Some(0), "{err}");
    let expected = std::fs::read_to_string(sample("report.txt")).expect("the sample can be read");
    assert_eq!(out, expected);
}

#[test]
fn a_file_that_is_no_report_is_refused() {
    refused(&["explain", "no/such/file.json"], "cannot be read");
    let text = sample("report.txt").display().to_string();
    refused(&["explain", &text], "is not a report of unpick");
}

#[test]
fn a_variable_that_is_no_setting_is_refused() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_unpick")).arg("test").env("UNPICK_STRATEGIES", "sc").output();
    let output = output.expect("unpick can be started");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("UNPICK_STRATEGIES") && err.contains("did you mean `UNPICK_STRATEGY`?"), "{err}");
}

#[test]
fn wrong_settings_are_refused_before_anything_is_built() {
    refused(&["test", "--model", "arm"], "there is no memory model `arm`");
    refused(&["test", "--strategy", "dfs"], "there is no strategy `dfs`");
    refused(&["test", "--time", "soon"], "UNPICK_TIME");
    refused(&["test", "--max-executions", "many"], "UNPICK_MAX_EXECUTIONS");
    refused(&["test", "--reuse"], "unexpected argument");
    refused(&["run", "--hang", "0s", "/bin/true"], "from 1ms to 8760h");
    refused(&["test", "--inconclusive", "shrug"], "pass");
    refused(&["replay", ""], "the token is empty");
    refused(&["replay", "no/such/file.schedule"], "cannot be read");
    refused(&["dance"], "unrecognized subcommand");
}

#[test]
fn cargo_unpick_is_unpick() {
    let (_, expected, _) = unpick(&["models"]);
    let ended = Command::new(env!("CARGO_BIN_EXE_cargo-unpick")).args(["unpick", "models"]).output();
    let ended = ended.expect("cargo-unpick can be started");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), expected);
}

#[test]
fn what_a_crate_uses_of_other_tools_is_told() {
    let folder = std::env::temp_dir().join(format!("unpick-migrate-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("src")).expect("a folder can be made");
    let check = |text: &str| {
        std::fs::write(folder.join("src/lib.rs"), text).expect("a file can be written");
        unpick(&["migrate", "--check", &folder.display().to_string()])
    };
    let (code, out, err) = check("use loom::sync::Notify;\nuse shuttle::{check_pct, thread::park};\n");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("all 1 items are covered") && out.contains("all 2 items are covered"), "{out}");
    let (code, out, _) = check("use shuttle::sync::mpmc::channel;\n");
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("NOT COVERED") && out.contains("src/lib.rs:1"), "{out}");
    let (code, out, _) = check("fn main( {}");
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("not understood: src/lib.rs"), "{out}");
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    refused(&["migrate"], "--check");
    refused(&["migrate", "--check", "no/such/folder"], "cannot be read");
}

/// A program that does as cargo does: it runs another one, waits for it, and ends at once after Ctrl-C. That one does as a
/// check does: it says how far it came a moment later, and ends with code 3.
#[cfg(target_os = "linux")]
const CARGO: &str = "#!/bin/sh
# It does not say where it builds.
if [ \"$1\" = metadata ]; then exit 1; fi
if [ \"$1\" = checks ]; then
    trap 'sleep 0.5; echo the verdict so far; exit 3' INT
    echo ready
    i=0
    while [ $i -lt 600 ]; do sleep 1; i=$((i + 1)); done
    exit 1
fi
# In the background a shell would let it ignore the signal.
env --default-signal=INT \"$0\" checks &
wait
";

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_time_for_the_verdict() {
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    let cargo = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupted-cargo");
    script(&cargo, CARGO);
    for command in [&["test"][..], &["compare", "--time", "1s"]] {
        // What runs these tests in the background may let them ignore the signal.
        let mut child = Command::new("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_unpick")])
            .args(command)
            .env("CARGO", &cargo)
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .expect("unpick can be started");
        let mut out = BufReader::new(child.stdout.take().expect("it has an output"));
        let mut text = String::new();
        out.read_line(&mut text).expect("it can be read");
        assert_eq!(text, "ready\n");
        // To all processes of the group, as a terminal does.
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().is_ok_and(|sent| sent.success()));
        let status = child.wait().expect("it ends");
        text.clear();
        out.read_to_string(&mut text).expect("it can be read");
        assert_eq!((status.code(), text.as_str()), (Some(3), "the verdict so far\n"), "{command:?}");
    }
}
