//! What a check said, in a line, and how to get that line from a process.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::Problem;

/// What a check may take, after which it is inconclusive.
pub(crate) const TIME: &str = "10s";

/// A process that has not ended by then has lost its way.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// What a check said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// No execution breaks a property.
    Holds,
    /// One does, in the way of this title.
    Violated(String),
    /// No proof, for this reason.
    Inconclusive(String),
    /// The check could not be carried out.
    Failed(String),
}

impl Verdict {
    /// Reads a line such as `violated: panic (5 executions)`.
    pub(crate) fn read(line: &str) -> Option<Verdict> {
        let line = line.trim();
        let first = |text: &str| text.split(" (").next().unwrap_or(text).trim().to_string();
        if line == "holds" || line.starts_with("holds (") {
            return Some(Verdict::Holds);
        }
        if let Some(title) = line.strip_prefix("violated: ") {
            return Some(Verdict::Violated(first(title)));
        }
        if let Some(reason) = line.strip_prefix("inconclusive: ") {
            let reason = reason.strip_prefix("no violation, but ").unwrap_or(reason);
            let reason = reason.split(';').next().unwrap_or(reason);
            return Some(Verdict::Inconclusive(first(reason)));
        }
        line.strip_prefix("error: ").map(|text| Verdict::Failed(text.to_string()))
    }

    /// The verdict among what a process has written. Of errors the last one counts: reports of violations begin as
    /// errors do.
    pub(crate) fn find(said: &str) -> Option<Verdict> {
        let mut verdicts: Vec<Verdict> = said.lines().filter_map(Verdict::read).collect();
        let sure = verdicts.iter().position(|verdict| !matches!(verdict, Verdict::Failed(_)));
        sure.map(|at| verdicts.swap_remove(at)).or_else(|| verdicts.pop())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::Violated(title) => write!(f, "violated: {title}"),
            Verdict::Inconclusive(reason) => write!(f, "inconclusive: {reason}"),
            Verdict::Failed(text) => write!(f, "error: {text}"),
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) verdict: Verdict,
    /// The first line that says so, with the number of executions.
    pub(crate) line: String,
}

/// A process that makes checks. Settings of whoever calls are not for it.
pub(crate) fn checking(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("UNPICK_")) {
        command.env_remove(name);
    }
    command.env("UNPICK_PROGRESS", "0");
    command
}

/// Runs a process that makes one check.
pub(crate) fn explore(command: &mut Command) -> Result<Explored, Problem> {
    let said = output(command)?;
    let verdict = Verdict::find(&said).unwrap_or_else(|| {
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        Verdict::Failed(last.trim().to_string())
    });
    let line = said.lines().find(|line| Verdict::read(line).as_ref() == Some(&verdict));
    let line = line.map_or_else(|| verdict.to_string(), str::to_string);
    Ok(Explored { verdict, line })
}

/// What a process writes to both outputs, as far as it comes in [`PATIENCE`].
pub(crate) fn output(command: &mut Command) -> Result<String, Problem> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn();
    let mut child = child.map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let readers = [reader(child.stdout.take()), reader(child.stderr.take())];
    let on_time = wait(&mut child);
    let mut said: String = readers.map(|reader| reader.join().unwrap_or_default()).concat();
    if !on_time {
        said += &format!("\nerror: it has not ended in {} s\n", PATIENCE.as_secs());
    }
    Ok(said)
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until something went wrong is good.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for a process, and ends it if that takes too long. Whether it ended by itself.
fn wait(child: &mut Child) -> bool {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    while let Ok(None) = child.try_wait() {
        if started.elapsed() > PATIENCE {
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    true
}

/// Does something for each item, on all processors, and keeps the order.
pub(crate) fn for_each<T: Sync, R: Send>(
    items: &[T],
    act: impl Fn(&T) -> Result<R, Problem> + Sync,
) -> Result<Vec<R>, Problem> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(index) else { return Ok(done) };
            done.push((index, act(item)?));
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut all: Vec<(usize, R)> = Vec::with_capacity(items.len());
        for worker in running {
            let done: Result<Vec<_>, Problem> =
                worker.join().map_err(|_| String::from("a worker panicked"))?;
            all.extend(done?);
        }
        all.sort_by_key(|(index, _)| *index);
        Ok(all.into_iter().map(|(_, result)| result).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_from_lines() {
        let violated = |title: &str| Some(Verdict::Violated(title.to_string()));
        assert_eq!(Verdict::read("holds (cpp20 and optimal: 1 execution)"), Some(Verdict::Holds));
        assert_eq!(Verdict::read("holds"), Some(Verdict::Holds));
        assert_eq!(Verdict::read("violated: panic (5 executions)"), violated("panic"));
        assert_eq!(Verdict::read("violated: failed assertion"), violated("failed assertion"));
        let cut =
            "inconclusive: no violation, but a loop was cut, at a.c:3; let it wait (cpp20: 0 executions)";
        let reason = String::from("a loop was cut, at a.c:3");
        assert_eq!(Verdict::read(cut), Some(Verdict::Inconclusive(reason)));
        assert_eq!(Verdict::read("the failing execution"), None);
        let said = "error: failed assertion\n  main\nviolated: failed assertion (2 executions)\n";
        assert_eq!(Verdict::find(said), violated("failed assertion"));
    }
}
