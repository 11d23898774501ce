//! Strategies are compared on the bench, from the arguments to tables and plots.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs the comparison; gives its exit code, standard output and standard error.
fn compare(arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended = Command::new(env!("CARGO_BIN_EXE_unpick-compare")).args(arguments).output();
    let Output { status, stdout, stderr } = ended.expect("the comparison can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// The rows of a table in Markdown, without the names of its columns.
fn rows<'a>(text: &'a str, title: &str) -> Vec<Vec<&'a str>> {
    let (_, table) =
        text.split_once(title).unwrap_or_else(|| panic!("there is a table `{title}` in\n{text}"));
    let lines =
        table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    lines.skip(2).map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn two_programs_under_three_strategies() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compare");
    let (code, out, err) = compare(&[
        "--programs",
        "peterson,spsc_queue",
        "--strategies",
        "optimal,cb-dpor,random",
        "--tables",
        "bugs,searches,ends",
        "--time",
        "100ms",
        "--repeat",
        "2",
        "--markdown",
        "--svg",
        folder.to_str().expect("the path is UTF-8"),
    ]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    // `spsc_queue` is a group of two.
    let found = rows(&out, "Bugs found");
    assert_eq!(
        found.iter().map(|row| row[0]).collect::<Vec<_>>(),
        ["peterson", "spsc_queue", "all, SC", "all, weak", "all"]
    );
    assert_eq!(found[4], ["all", "3/3", "3/3", "3/3"]);
    let times = rows(&out, "Time and executions to the bug");
    assert_eq!(times.len(), 3);
    for cell in times.iter().flat_map(|row| &row[1..]) {
        assert!(cell.contains("s, "), "a time and executions: {cell}");
    }
    assert!(times.iter().all(|row| row[3].ends_with("(2 of 2)")), "{times:?}");
    assert_eq!(rows(&out, "Distinct executions over time").len(), 3);
    assert_eq!(rows(&out, "Inefficiency").len(), 3);
    assert_eq!(rows(&out, "Preemptions explored").len(), 1, "only one of the three counts them");
    assert_eq!(rows(&out, "Executions to coverage").len(), 3);
    let ends = rows(&out, "Executions until exhausted");
    for row in &ends {
        assert!(row[1].parse::<u64>().is_ok(), "optimal comes to its end: {row:?}");
        assert!(row[3].starts_with("> "), "random does not: {row:?}");
    }
    for name in ["times-to-bugs", "inefficiency", "curve-peterson", "curve-spsc_queue_wakeup"] {
        let svg = std::fs::read_to_string(folder.join(format!("{name}.svg"))).expect("the plot was written");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
        assert!(["optimal", "cb-dpor", "random"].iter().all(|s| svg.contains(&format!(">{s}<"))), "{name}");
    }
}

#[test]
fn other_formats_have_the_same_tables() {
    let asked =
        ["--programs", "transfer", "--strategies", "optimal,chess", "--tables", "bugs", "--time", "1s"];
    let (code, csv, _) = compare(&[&asked[..], &["--csv"]].concat());
    assert_eq!(code, Some(0));
    assert!(csv.contains("\nprogram,optimal,chess\n") && csv.contains("\ntransfer,1/1,1/1\n"), "{csv}");
    let (code, json, _) = compare(&[&asked[..], &["--json"]].concat());
    assert_eq!(code, Some(0));
    let value: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(value["tables"][0]["rows"][0], serde_json::json!(["transfer", "1/1", "1/1"]));
    let cells = value["cells"].as_array().expect("the cells are a list");
    assert_eq!(cells.len(), 2);
    assert!(cells.iter().all(|cell| cell["end"] == "found" && cell["text"] == "deadlock"), "{json}");
}

/// What a child of a process was started with, if it has one.
#[cfg(target_os = "linux")]
fn child_of(process: u32) -> Option<String> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    let child = children.split_whitespace().next()?.to_string();
    std::fs::read_to_string(format!("/proc/{child}/cmdline")).ok()
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_shows_what_it_has() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let asked =
        ["--programs", "bakery,boost_fifo", "--strategies", "optimal", "--tables", "bugs", "--time", "60s"];
    // What runs these tests in the background may let them ignore the signal.
    let child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_unpick-compare")])
        .args(asked)
        .arg("--markdown")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the comparison can be started");
    let until = Instant::now() + Duration::from_secs(600);
    while !child_of(child.id()).is_some_and(|line| line.contains("\"boost_fifo\"")) {
        assert!(Instant::now() < until, "the second program is never run");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let Output { status, stdout, .. } = child.wait_with_output().expect("it ends");
    let out = String::from_utf8_lossy(&stdout);
    assert_eq!(status.code(), Some(3), "{out}");
    assert!(out.contains("Interrupted after 1 cell,"), "{out}");
    assert_eq!(rows(&out, "Bugs found")[..2], [["bakery", "1/1"], ["boost_fifo", "not run"]], "{out}");
    let times = rows(&out, "Time and executions to the bug");
    assert_eq!(times[1], ["boost_fifo", "not run"], "{out}");
}

#[test]
fn what_does_not_exist_is_refused() {
    for (arguments, message) in [
        (["--strategies", "optimal,tea-leaves"], "there is no strategy `tea-leaves`; there are"),
        (["--programs", "hello_world"], "there is no program `hello_world`; there are"),
        (["--model", "arm"], "there is no memory model `arm`"),
        (["--strategies", "dpor,dpor"], "is named twice"),
        (["--time", "soon"], "not a time"),
        (["--repeat", "0"], "0 is not in 1.."),
        (["--tables", "chairs"], "invalid value"),
    ] {
        let (code, out, err) = compare(&arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}
