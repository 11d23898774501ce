//! Lines of JSON: what tests there are, and what a tool did with one.

use crate::programs::TESTS;

/// A line per test: its name, its threads, and the optimal number of executions.
pub(crate) fn list() -> String {
    let lines = TESTS.iter().map(|test| {
        let optimal = test.optimal.map_or("null".to_owned(), |count| count.to_string());
        format!(r#"{{"test":"{}","threads":{},"optimal":{optimal}}}"#, test.name, test.threads)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The line that says what a tool did with a test.
pub(crate) fn line(
    tool: &str,
    test: &str,
    executions: u64,
    cpu_seconds: f64,
    finished: bool,
    note: &str,
) -> String {
    let note = escape(note);
    let measured =
        format!(r#""executions":{executions},"cpu_seconds":{cpu_seconds:.6},"finished":{finished}"#);
    format!(r#"{{"tool":"{tool}","test":"{test}",{measured},"note":"{note}"}}"#)
}

/// The contents of a JSON string.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// CPU time of this process so far, user and kernel together.
pub(crate) fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "no process CPU clock");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_json() {
        let expected = concat!(
            r#"{"tool":"loom","test":"mp_ra","executions":48,"cpu_seconds":0.500000,"#,
            r#""finished":false,"note":"a \"b\"\\\u000a"}"#
        );
        assert_eq!(line("loom", "mp_ra", 48, 0.5, false, "a \"b\"\\\n"), expected);
    }
}
