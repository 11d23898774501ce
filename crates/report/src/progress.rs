//! The line that a long check shows while it runs.
//!
//! Formatting only: who measures the numbers, and where the line goes, is decided elsewhere.

use std::fmt;
use std::time::Duration;

/// How far a check has come.
///
/// ```
/// use std::time::Duration;
/// use unpick_report::Progress;
///
/// let progress = Progress {
///     executions: 120_000,
///     blocked: 3,
///     rate: 1.2e6,
///     elapsed: Duration::from_secs(12),
///     model: "",
///     strategy: "optimal",
///     bound: None,
///     total: Some(2.4e6),
///     pairs: None,
///     restarts: 0,
/// };
/// let line = "unpick: 120,000 executions (3 blocked), 1.2 M/s, 12 s, optimal, 5.0 % of about 2,400,000, 1.9 s left";
/// assert_eq!(progress.to_string(), line);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress<'a> {
    /// Executions so far, those that were blocked left out.
    pub executions: u64,
    /// Executions that could not be completed.
    pub blocked: u64,
    /// Executions per second; not shown unless finite and above zero.
    pub rate: f64,
    /// Time since the check began.
    pub elapsed: Duration,
    /// Name of the memory model; not shown when empty.
    pub model: &'a str,
    /// Name of the strategy at work; not shown when empty.
    pub strategy: &'a str,
    /// The bound on preemptions that is being explored.
    pub bound: Option<u32>,
    /// How many executions there are, about.
    pub total: Option<f64>,
    /// Distinct reads-from pairs so far.
    pub pairs: Option<usize>,
    /// How often the search has started over, since more had become known about the program.
    pub restarts: u64,
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.executions == 1 { "" } else { "s" };
        write!(f, "unpick: {} execution{plural}", grouped(self.executions))?;
        if self.blocked > 0 {
            write!(f, " ({} blocked)", grouped(self.blocked))?;
        }
        if self.rate.is_finite() && self.rate > 0.0 {
            write!(f, ", {}", per_second(self.rate))?;
        }
        write!(f, ", {}", duration(self.elapsed))?;
        if !self.model.is_empty() {
            write!(f, ", model {}", self.model)?;
        }
        if !self.strategy.is_empty() {
            write!(f, ", {}", self.strategy)?;
        }
        if let Some(bound) = self.bound {
            let plural = if bound == 1 { "" } else { "s" };
            write!(f, " with at most {bound} preemption{plural}")?;
        }
        if let Some(total) = self.total.filter(|total| total.is_finite() && *total >= 1.0) {
            let done = (self.executions + self.blocked) as f64;
            let percent = (done / total * 100.0).min(100.0);
            write!(f, ", {percent:.1} % of about {}", grouped(total as u64))?;
            let left = (total - done).max(0.0) / self.rate;
            if left.is_finite() && left < 1e9 {
                write!(f, ", {} left", duration(Duration::from_secs_f64(left)))?;
            }
        }
        if let Some(pairs) = self.pairs {
            write!(f, ", {pairs} reads-from pairs")?;
        }
        match self.restarts {
            0 => {}
            1 => f.write_str(", started over once")?,
            times => write!(f, ", started over {times} times")?,
        }
        Ok(())
    }
}

/// A number with a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate in two or three significant digits.
fn per_second(rate: f64) -> String {
    // A rate moves to the next unit as soon as it would round up to four digits.
    let (scaled, unit) = match rate {
        r if r < 999.5 => (r, ""),
        r if r < 999.5e3 => (r / 1e3, "k"),
        r => (r / 1e6, "M"),
    };
    let digits = usize::from(scaled < 9.95);
    format!("{scaled:.digits$} {unit}/s")
}

/// A duration in its two largest units.
pub(crate) fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", elapsed.as_millis() as f64 / 1e3),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_short() {
        let cases = [(0.25, "0.2 /s"), (42.0, "42 /s"), (9_960.0, "10 k/s"), (999_600.0, "1.0 M/s")];
        for (rate, expected) in cases {
            assert_eq!(per_second(rate), expected);
        }
        let cases = [(0, "0.0 s"), (59, "59 s"), (61, "1 min 1 s"), (7_260, "2 h 1 min")];
        for (seconds, expected) in cases {
            assert_eq!(duration(Duration::from_secs(seconds)), expected);
        }
        assert_eq!([999, 1_000, 1_234_567].map(grouped), ["999", "1,000", "1,234,567"]);
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let first = Progress {
            executions: 1,
            blocked: 0,
            rate: f64::NAN,
            elapsed: Duration::from_millis(1_500),
            model: "cpp20",
            ..Progress::default()
        };
        assert_eq!(first.to_string(), "unpick: 1 execution, 1.5 s, model cpp20");
        let again = Progress { restarts: 2, ..first };
        assert_eq!(again.to_string(), "unpick: 1 execution, 1.5 s, model cpp20, started over 2 times");
    }
}
