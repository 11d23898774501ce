//! Ctrl-C, and progress in plain lines: what a process shows, and how it ends.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Plain, Ordering::*};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use unpick::sync::atomic::AtomicUsize;
use unpick::{Check, OnInconclusive, Reason, Verdict, thread};

use crate::support::*;

const SIGINT: i32 = 2;

/// Far too many executions: five threads that count to five.
fn large() {
    let number = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..5)
        .map(|_| {
            let number = Arc::clone(&number);
            thread::spawn(move || {
                for _ in 0..5 {
                    number.fetch_add(1, AcqRel);
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// A process that runs tests of this binary.
struct Process {
    child: Child,
    lines: Receiver<String>,
    seen: String,
}

/// Runs the tests with these names, at the same time.
fn start(tests: &[String], variables: &[(&str, &str)]) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(tests).args(["--exact", "--test-threads=2"]).env_remove("CI");
    // Unless a test says how long it takes, it does not end, and is where it was however late the signal comes.
    command.env("CHECKED_IT_CHILD", "1").env("UNPICK_TIME", "1000h").envs(variables.iter().copied());
    // What runs these tests in the background may let them ignore the signal.
    unsafe {
        command.pre_exec(|| {
            signal(SIGINT, 0);
            Ok(())
        });
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    Process { child, lines, seen: String::new() }
}

/// Nothing takes as long as this, however busy the machine is.
const FOR_EVER: Duration = Duration::from_secs(600);

impl Process {
    /// Waits until standard error has a line with this in it.
    fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |line| line.contains(text));
    }

    /// Waits until a line of progress shows that something has been explored.
    fn wait_for_progress(&mut self) {
        self.wait_until("progress", |line| {
            line.contains("s, model ") && !line.starts_with("unpick: 0 executions")
        });
    }

    /// Waits until standard error has such a line.
    fn wait_until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        let until = Instant::now() + FOR_EVER;
        while !self.seen.lines().any(&wanted) {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen += &format!("{line}\n"),
                Err(_) => panic!("no `{what}` in\n{}", self.seen),
            }
        }
    }

    fn interrupt(&self) {
        assert_eq!(unsafe { kill(self.child.id() as i32, SIGINT) }, 0);
    }

    /// Waits until the process has taken note of an interrupt: the second one would end it.
    fn wait_until_noted(&self) {
        let until = Instant::now() + FOR_EVER;
        let path = format!("/proc/{}/status", self.child.id());
        let is_caught = || {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
            mask & 1 << (SIGINT - 1) != 0
        };
        while is_caught() {
            assert!(Instant::now() < until, "the interrupt is not noted: {}", self.seen);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// How it ended, and what it wrote to standard error.
    fn end(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + FOR_EVER;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "no end: {}", self.seen);
            std::thread::sleep(Duration::from_millis(5));
        };
        self.seen.extend(self.lines.iter().map(|line| line + "\n"));
        (status, std::mem::take(&mut self.seen))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines of progress every so often, so that one can see that a check runs.
const SHOWN: (&str, &str) = ("UNPICK_PROGRESS", "200ms");

#[test]
fn the_verdict_so_far_is_told() {
    if is_child() {
        return Check::new().on_inconclusive(OnInconclusive::Pass).check(large);
    }
    let name = test_name!(the_verdict_so_far_is_told);
    for (strategy, model, says) in [
        ("auto", "cpp20", "no bound on preemptions was exhausted"),
        ("optimal", "sc", "the search for all saw about"),
        ("cb-dpor", "cpp20", "every sequentially consistent execution with at most"),
        ("pct:3", "tso", "drawn at random with seed 0"),
    ] {
        let settings = [SHOWN, ("UNPICK_STRATEGY", strategy), ("UNPICK_MODEL", model)];
        let mut process = start(std::slice::from_ref(&name), &settings);
        process.wait_for_progress();
        if strategy == "cb-dpor" {
            // The bound before has been exhausted then.
            process.wait_until("a bound", |line| {
                line.contains(" with at most ") && !line.contains(" with at most 0 ")
            });
        }
        process.interrupt();
        let (status, text) = process.end();
        assert_eq!(status.code(), Some(3), "{text}");
        let verdict =
            format!("unpick: {name}: inconclusive: no violation, but the check was interrupted ({model}");
        assert!(text.contains(&verdict), "{strategy}: {text}");
        assert!(text.contains("\n  not every execution was explored\n"), "{strategy}: {text}");
        assert!(text.contains(says), "{strategy}: {text}");
        assert!(text.contains("run") && !text.contains("  0 executions"), "{strategy}: {text}");
    }
}

#[test]
fn one_of_two() {
    if is_child() {
        Check::new().check(large);
    }
}

#[test]
fn two_of_two() {
    if is_child() {
        Check::new().strategy("random").check(large);
    }
}

/// Starts when another has been interrupted; it must neither run nor fail.
#[test]
fn zzz_after_two() {
    if is_child() {
        Check::new().check(large);
    }
}

#[test]
fn all_checks_that_run_are_told() {
    if is_child() {
        return;
    }
    let names = [test_name!(one_of_two), test_name!(two_of_two), test_name!(zzz_after_two)];
    let mut process = start(&names, &[SHOWN]);
    process.wait_for(&format!("in {}", names[0]));
    process.wait_for(&format!("in {}", names[1]));
    process.interrupt();
    let (status, text) = process.end();
    assert_eq!(status.code(), Some(3), "{text}");
    let told = |name: &String| text.matches(&format!("unpick: {name}: inconclusive")).count();
    assert_eq!(names.each_ref().map(told), [1, 1, 0], "{text}");
}

#[test]
fn one_long_execution_is_left() {
    if is_child() {
        return Check::new().strategy("random").check(|| {
            let number = AtomicUsize::new(0);
            while number.fetch_add(1, Relaxed) < usize::MAX {}
        });
    }
    let mut process = start(&[test_name!(one_long_execution_is_left)], &[SHOWN]);
    process.wait_for("s, model ");
    process.interrupt();
    let (status, text) = process.end();
    assert_eq!(status.code(), Some(3), "{text}");
    assert!(text.contains("\n  0 executions were run"), "{text}");
}

#[test]
fn who_does_nothing_visible_is_not_waited_for() {
    if is_child() {
        return Check::new().check(|| {
            large();
            unpick::outside(|| std::thread::sleep(Duration::from_secs(100)));
        });
    }
    let name = test_name!(who_does_nothing_visible_is_not_waited_for);
    let interrupted = |twice: bool| {
        let mut process = start(std::slice::from_ref(&name), &[SHOWN]);
        process.wait_for("unpick: ");
        process.interrupt();
        if twice {
            process.wait_until_noted();
            process.interrupt();
        }
        process.end()
    };
    let (status, text) = interrupted(false);
    assert_eq!(status.code(), Some(3), "{text}");
    assert!(text.contains("could not check the program") && text.contains("interrupts.rs"), "{text}");
    // The second one ends the process at once, if it comes before the process has ended by itself.
    for attempt in 1.. {
        let (status, text) = interrupted(true);
        if status.code() == Some(3) && attempt < 20 {
            continue;
        }
        assert_eq!(status.signal(), Some(SIGINT), "{text}");
        break;
    }
}

#[test]
fn violations_that_were_found_are_told() {
    if is_child() {
        return Check::new().keep_going(5).check(|| {
            assert_ne!(unpick::choose(2), 0, "the number is wrong");
            large();
        });
    }
    let mut process = start(&[test_name!(violations_that_were_found_are_told)], &[SHOWN]);
    process.wait_for_progress();
    process.interrupt();
    let (status, text) = process.end();
    assert!(text.contains("unpick found a violation") && text.contains("the number is wrong"), "{text}");
    assert_eq!(status.code(), Some(1), "{text}");
}

/// The verdict of `run` is for the program to show, and nothing is begun after it.
#[test]
fn a_verdict_is_returned_and_so_are_later_ones() {
    if is_child() {
        for executions in [1, 0] {
            let verdict = Check::new().run(large).unwrap();
            let Verdict::Inconclusive(Reason::Interrupted, summary) = &verdict else { panic!("{verdict}") };
            let effort = summary.effort.as_ref().expect("how far it came");
            assert_eq!(effort.executions.min(1), executions);
        }
        eprintln!("as expected");
        std::process::exit(7);
    }
    let mut process = start(&[test_name!(a_verdict_is_returned_and_so_are_later_ones)], &[SHOWN]);
    process.wait_for_progress();
    process.interrupt();
    let (status, text) = process.end();
    assert_eq!(status.code(), Some(7), "{text}");
}

static HEARD: Plain = Plain::new(0);

extern "C" fn hear(_: i32) {
    HEARD.fetch_add(1, SeqCst);
}

unsafe extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
}

#[test]
fn a_handler_of_the_program_stays() {
    if is_child() {
        let ours = hear as *const () as usize;
        unsafe { signal(SIGINT, ours) };
        while HEARD.load(SeqCst) == 0 {
            let verdict = Check::new().run(large).unwrap();
            assert!(matches!(verdict, Verdict::Inconclusive(Reason::Time, _)), "{verdict}");
        }
        let before = unsafe { signal(SIGINT, 0) };
        assert_eq!((HEARD.load(SeqCst), before), (1, ours));
        std::process::exit(7);
    }
    let settings = [SHOWN, ("UNPICK_TIME", "2s")];
    let mut process = start(&[test_name!(a_handler_of_the_program_stays)], &settings);
    process.wait_for_progress();
    process.interrupt();
    let (status, text) = process.end();
    assert_eq!(status.code(), Some(7), "{text}");
}

#[test]
fn a_signal_after_the_checks_does_what_it_always_does() {
    if is_child() {
        assert!(Check::new().run(|| {}).unwrap().holds());
        std::io::Write::write_all(&mut std::io::stderr(), b"checked\n").unwrap();
        std::thread::sleep(FOR_EVER);
        return;
    }
    let mut process = start(&[test_name!(a_signal_after_the_checks_does_what_it_always_does)], &[]);
    process.wait_for("checked");
    process.interrupt();
    assert_eq!(process.end().0.signal(), Some(SIGINT));
}

#[test]
fn progress_is_shown_in_plain_lines_where_that_is_asked_for() {
    if is_child() {
        return Check::new().on_inconclusive(OnInconclusive::Pass).check(large);
    }
    let name = test_name!(progress_is_shown_in_plain_lines_where_that_is_asked_for);
    for (settings, expected) in [
        // After 0.1 s, 0.2 s, 0.4 s, 0.8 s and 1.6 s; on a busy machine, some of them.
        (&[("UNPICK_PROGRESS", "100ms"), ("CI", "true")][..], 1..=6),
        (&[("UNPICK_PROGRESS", "0"), ("CI", "true")], 0..=0),
        (&[("CI", "true")], 0..=0),
        (&[], 0..=0),
    ] {
        let settings: Vec<_> = [("UNPICK_TIME", "3s")].into_iter().chain(settings.iter().copied()).collect();
        let (status, text) = start(std::slice::from_ref(&name), &settings).end();
        assert_eq!(status.code(), Some(0), "{settings:?}: {text}");
        let lines =
            text.lines().filter(|line| line.starts_with("unpick: ") && line.contains(" executions, "));
        let lines: Vec<&str> = lines.filter(|line| line.ends_with(&format!(", in {name}"))).collect();
        assert!(expected.contains(&lines.len()), "{settings:?}: {text}");
        assert_eq!(text.matches("unpick: ").count(), lines.len(), "{settings:?}: {text}");
        assert!(!text.contains('\u{1b}'), "{settings:?}: {text}");
    }
}

/// Sets a flag back and forth, for ever.
fn swing(own: &AtomicUsize, other: &AtomicUsize) {
    while other.load(SeqCst) != 2 {
        own.store(1, SeqCst);
        own.store(0, SeqCst);
    }
}

/// Two threads that never end, and never come to rest.
fn endless() {
    let flags = Arc::new([0; 2].map(AtomicUsize::new));
    let theirs = Arc::clone(&flags);
    let other = thread::spawn(move || swing(&theirs[0], &theirs[1]));
    swing(&flags[1], &flags[0]);
    other.join().unwrap();
}

#[test]
fn an_execution_does_not_go_on_when_the_time_is_over() {
    for strategy in ["random", "auto"] {
        let check = Check::new().strategy(strategy).max_events(usize::MAX);
        let verdict = check.time_limit(Duration::from_millis(500)).run(endless).unwrap();
        assert!(matches!(verdict, Verdict::Inconclusive(..)), "{strategy}: {verdict}");
    }
}
