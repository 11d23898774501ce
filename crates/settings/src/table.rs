//! The table: one entry for each setting.

use crate::kind::{Kind, Value};
use Kind::{Count, Number, OneOf, Switch, SwitchOrTime, Text, Time};

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The variable of the environment that sets it. Its [`flag`](Setting::flag) is called after it.
    pub variable: &'static str,
    /// Its name in the attribute `unpick::test`; empty if it means nothing for programs in Rust.
    pub attribute: &'static str,
    /// The method of `unpick::Check` that sets it, whose name the attribute takes as well; empty if there is none.
    pub method: &'static str,
    /// What its value looks like, and the range.
    pub kind: Kind,
    /// What holds unless it is set, as users write it; empty if it is nothing.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Whether it means something for programs in C and C++.
    pub in_c: bool,
}

/// A year in milliseconds.
const YEAR: u64 = 365 * 24 * 3_600_000;
/// As many as there are.
const ANY: u64 = u64::MAX;

/// All settings, those for Rust first. The columns are variable, attribute, method of `Check`, kind, default; below, what it does.
#[rustfmt::skip]
pub static SETTINGS: &[Setting] = &[
    both("UNPICK_MODEL", "model", "model", Text, "cpp20",
        "memory model: `cpp20`, `rc11`, `sc`, `tso`, `ra`, `rc11g`"),
    both("UNPICK_STRATEGY", "strategy", "strategy", Text, "auto",
        "how to search: `auto`, `optimal`, `in-order`, `pct`, `random`, or one for research"),
    both("UNPICK_SEED", "seed", "seed", Number(0, ANY), "0",
        "where the random numbers of a strategy start"),
    both("UNPICK_PREEMPTIONS", "preemptions", "preemption_bound", Number(0, u32::MAX as u64), "",
        "preemptions of one execution at most; others are left out"),
    both("UNPICK_MAX_EVENTS", "events", "max_events", Number(1, ANY), "10,000, for samplers 100 million",
        "events of one execution at most; longer ones are cut. Unless set, two million before the first thread is started do not count"),
    both("UNPICK_MAX_EXECUTIONS", "executions", "max_executions", Number(1, ANY), "",
        "executions at most"),
    both("UNPICK_TIME", "time", "time_limit", Time(0, YEAR), "60s for `auto`, else none",
        "time at most"),
    both("UNPICK_STACK_SIZE", "stack_size", "stack_size", Number(4096, 1 << 30), "262144",
        "bytes of stack for each thread; for C and C++ 1048576 unless set"),
    both("UNPICK_SPURIOUS", "spurious", "spurious_failures", Switch, "off",
        "on: `compare_exchange_weak` may fail without a reason; many more executions"),
    both("UNPICK_SPURIOUS_WAKEUPS", "spurious_wakeups", "spurious_wakeups", Switch, "off",
        "on: threads that wait for a condition or are parked may wake up without a reason"),
    both("UNPICK_LOOPS", "loops", "loops", Switch, "on",
        "off: loops that only wait are not recognised, and are cut at `UNPICK_MAX_ROUNDS`"),
    both("UNPICK_MAX_ROUNDS", "rounds", "max_rounds", Number(1, ANY), "100",
        "rounds of a loop that reads the same values before it is cut"),
    both("UNPICK_HANG", "hang", "hang_limit", Time(1, YEAR), "20s",
        "how long a thread may do nothing visible"),
    both("UNPICK_LEAKS", "leaks", "leaks", Switch, "on",
        "off: memory that is left behind at the end is no violation"),
    Setting { in_c: false, ..both("UNPICK_INCONCLUSIVE", "inconclusive", "on_inconclusive", OneOf(&["fail", "pass"]), "fail",
        "what a check without a proof does to its test") },
    both("UNPICK_VACUOUS", "vacuous", "allow_vacuous", Switch, "off",
        "on: a check that can show nothing passes, as where threads share nothing; for C and C++ on unless set"),
    both("UNPICK_KEEP_GOING", "keep_going", "keep_going", Count(1, ANY), "1",
        "violations that differ to look for before a check stops"),
    both("UNPICK_DETACHED", "detached", "detached", OneOf(&["must-end", "abandoned"]), "must-end",
        "what becomes of threads that nobody joins; for C and C++ `abandoned` unless set"),
    both("UNPICK_TIMEOUTS", "timeouts", "timeouts", OneOf(&["any", "never", "last"]), "any",
        "when waits with a limit on time give up: at any moment, never, or when nothing else can run (not for C and C++)"),
    both("UNPICK_REPLAY", "replay", "", Text, "",
        "a token from a report, or the file that holds it: runs that execution only"),
    both("UNPICK_PROGRESS", "progress", "", SwitchOrTime(1, YEAR), "on a terminal, and where `CI` is set",
        "on: show progress; a time: in plain lines, the first after so long"),
    c("UNPICK_REUSE", Switch, "off",
        "on: memory that was freed may be used again, or not"),
    c("UNPICK_UNINITIALISED", Switch, "off",
        "on: reads of heap memory that nothing was written to are violations"),
    c("UNPICK_UNORDERED_WRITES", Switch, "off",
        "on: warn of writes to one atomic variable that nothing orders"),
    c("UNPICK_RANDOM", Number(1, ANY), "",
        "random numbers are below this one, and each is explored"),
    c("UNPICK_CLOCK_JUMPS", Switch, "off",
        "on: an hour may have passed at each look at the clock, or not"),
    c("UNPICK_ISOLATION", OneOf(&["auto", "restore", "fork"]), "auto",
        "memory is brought back after each execution (`restore`), each has a process (`fork`: slow), or as is needed"),
    c("UNPICK_SUPPRESSIONS", Text, "",
        "a file with violations that are known, in lines such as `race:function`"),
];

/// A setting for programs in Rust, C and C++.
const fn both(
    variable: &'static str,
    attribute: &'static str,
    method: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> Setting {
    Setting { variable, attribute, method, kind, default, doc, in_c: true }
}

/// A setting for programs in C and C++.
const fn c(variable: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Setting {
    both(variable, "", "", kind, default, doc)
}

impl Setting {
    /// The entry with a name in the attribute.
    pub fn of_attribute(name: &str) -> Option<&'static Setting> {
        let named = |setting: &&Setting| [setting.attribute, setting.method].contains(&name);
        SETTINGS.iter().filter(|_| !name.is_empty()).find(named)
    }

    /// Whether it means something for programs in Rust.
    pub const fn in_rust(&self) -> bool {
        !self.attribute.is_empty()
    }

    /// Its flag on the command line, without the dashes: `max-events` for `UNPICK_MAX_EVENTS`.
    pub fn flag(&self) -> String {
        self.variable.trim_start_matches("UNPICK_").to_lowercase().replace('_', "-")
    }

    /// What holds unless it is set.
    pub const fn usual(&self) -> &'static str {
        if self.default.is_empty() { "none" } else { self.default }
    }

    /// The value that a text stands for.
    ///
    /// # Errors
    ///
    /// With what is wrong with the text, and the range.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        self.kind.read(text).ok_or_else(|| format!("`{text}` is not {}", self.kind.wanted()))
    }

    /// The rows of a table in Markdown: those for programs in Rust, or those for C and C++ only.
    pub fn rows(in_rust: bool) -> impl Iterator<Item = String> {
        SETTINGS.iter().filter(move |setting| setting.in_rust() == in_rust).map(|setting| {
            let Setting { variable, attribute, method, kind, doc, .. } = *setting;
            let usual = setting.usual();
            let wanted = kind.wanted().replace('"', "`");
            let names = match (attribute, method) {
                ("", _) => format!("`{variable}`"),
                (_, "") => format!("`{variable}` | `{attribute}` |"),
                _ => format!("`{variable}` | `{attribute}` | `{method}`"),
            };
            format!("| {names} | {wanted} | {usual} | {doc} |")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_settings_share_a_name() {
        for (index, setting) in SETTINGS.iter().enumerate() {
            for other in &SETTINGS[..index] {
                assert_ne!(setting.variable, other.variable);
                for name in [setting.attribute, setting.method].iter().filter(|name| !name.is_empty()) {
                    assert!(![other.attribute, other.method].contains(name), "{name}");
                }
            }
            assert!(setting.variable.starts_with("UNPICK_") && (setting.in_rust() || setting.in_c));
        }
        assert_eq!(Setting::of_attribute("events").map(Setting::flag).as_deref(), Some("max-events"));
        assert!(Setting::of_attribute("").is_none() && Setting::of_attribute("reuse").is_none());
    }
}
