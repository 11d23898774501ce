//! How far a check is, shown on standard error while it goes on.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use unpick_core::plan::Outlook;

use crate::config::{Config, Progress};

/// Plain lines are no further apart than this.
const LONGEST_GAP: Duration = Duration::from_secs(300);

/// Shows how far a check is.
pub struct Meter {
    shown: Progress,
    model: String,
    /// When the next plain line is due.
    due: Duration,
    drawn: bool,
}

impl Meter {
    /// A meter as the settings want it.
    pub fn new(config: &Config) -> Meter {
        let terminal = || std::io::stderr().is_terminal();
        let shown = match config.progress {
            Progress::Terminal if !terminal() => Progress::Never,
            Progress::Everywhere if !terminal() => Progress::Lines(Progress::USUAL),
            shown => shown,
        };
        let due = match shown {
            Progress::Lines(first) => first,
            Progress::Never => Duration::MAX,
            _ => Duration::from_secs(1),
        };
        Meter { shown, model: config.model.clone(), due, drawn: false }
    }

    /// Whether it is time to show something, or soon will be.
    pub fn is_near(&self, elapsed: Duration) -> bool {
        elapsed + Duration::from_secs(1) >= self.due
    }

    /// Shows how far a check is, if it is time to.
    pub fn show(&mut self, (executions, blocked): (u64, u64), outlook: &Outlook, elapsed: Duration) {
        if elapsed < self.due {
            return;
        }
        let rate = executions as f64 / elapsed.as_secs_f64();
        // What is left can be told only of the search for all executions.
        let exhausts = outlook.bound.is_none() && outlook.sampled == 0;
        let progress = unpick_report::Progress {
            executions,
            blocked,
            rate,
            elapsed,
            model: &self.model,
            strategy: &outlook.strategy,
            bound: outlook.bound,
            total: outlook.estimate.filter(|_| exhausts).map(|estimate| estimate.total),
            pairs: outlook.pairs,
            restarts: outlook.restarts,
        };
        let line = if matches!(self.shown, Progress::Lines(_)) {
            self.due = next(self.due, elapsed);
            match name() {
                Some(name) => format!("{progress}, in {name}\n"),
                None => format!("{progress}\n"),
            }
        } else {
            self.drawn = true;
            format!("\r\x1b[K{progress}")
        };
        // Standard error that has gone away is no reason to fail.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.drawn {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

/// When the line after the one that was due comes.
fn next(due: Duration, now: Duration) -> Duration {
    (due + due.min(LONGEST_GAP)).max(now)
}

/// The name of the test that runs on this OS thread, if a harness has said it.
pub fn name() -> Option<String> {
    std::thread::current().name().filter(|&name| name != "main").map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rarer() {
        let mut due = Progress::USUAL;
        let mut seconds = Vec::new();
        for _ in 0..8 {
            seconds.push(due.as_secs());
            due = next(due, due);
        }
        assert_eq!(seconds, [10, 20, 40, 80, 160, 320, 620, 920]);
    }
}
