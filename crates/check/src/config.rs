//! Settings of a check, and the one function that reads them from the environment.

use std::sync::OnceLock;
use std::time::Duration;

use unpick_core::error::Error;
use unpick_core::plan::Outlook;
use unpick_core::timeouts::Timeouts;

use crate::strategies::AUTO;

/// What `check` does when the verdict is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInconclusive {
    /// The test fails: nothing was proved. The default.
    Fail,
    /// The test passes: what could be explored in the budget was fine.
    Pass,
}

/// How the executions of a C or C++ program are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// As [`Isolation::Restore`]; as [`Isolation::Fork`] from where the program has destroyed the memory of the check.
    #[default]
    Auto,
    /// All run in one process, whose memory is brought back to what it was.
    Restore,
    /// Each has a process of its own, and cannot reach the memory of the check.
    Fork,
}

/// What becomes of threads that nobody joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// They must end, as all threads: one that waits for ever is a violation. The default.
    MustEnd,
    /// They are abandoned when the main thread has ended, as at the end of a process: one that waits
    /// for ever then is no violation.
    Abandoned,
}

/// How a check that takes long shows that it goes on, on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// By a line that is drawn again and again if that is a terminal, and else not at all. The default.
    Terminal,
    /// The same on a terminal, and by plain lines elsewhere.
    Everywhere,
    /// By plain lines: the first after so long, the next ones after twice the time of the last, and at least every
    /// five minutes.
    Lines(Duration),
    /// Not at all.
    Never,
}

impl Progress {
    /// When the first plain line comes, unless set.
    pub const USUAL: Duration = Duration::from_secs(10);
}

/// How long a check may take that has no limit, if the strategy is left open.
pub const USUAL_TIME: Duration = Duration::from_secs(60);

/// Settings of a check.
#[derive(Clone, Debug)]
pub struct Config {
    /// Name of the memory model.
    pub model: String,
    /// Name of the strategy, with its parameter if it has one: `auto`, `optimal`, `cb-dpor:2`, `pct:3`, ...
    pub strategy: String,
    /// Where the random numbers of strategies start.
    pub seed: u64,
    /// Preemptions of one execution at most; others are left out.
    pub preemption_bound: Option<u32>,
    /// Whether the strategy `in-order` repeats what it has recorded in the order in which it took effect.
    pub keeps_order: bool,
    /// Events of one execution at most; longer ones are cut. Unless set, the strategy says how many.
    pub max_events: Option<usize>,
    /// Whether the check is over when an execution was cut.
    pub ends_at_cut: bool,
    /// Executions at most.
    pub max_executions: Option<u64>,
    /// Time at most.
    pub time_limit: Option<Duration>,
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// Whether `compare_exchange_weak` may fail without a reason.
    pub spurious_failures: bool,
    /// Whether a thread that waits or is parked may wake up without a reason.
    pub spurious_wakeups: bool,
    /// Whether loops that only wait are recognised; if not, they go on until they are cut.
    pub loops: bool,
    /// How often a loop may read the same write at the same place before it is cut.
    pub max_rounds: usize,
    /// How long a thread may do nothing visible.
    pub hang_limit: Duration,
    /// Whether memory that is left behind at the end of an execution is a violation.
    pub leaks: bool,
    /// Whether that is so of shared pointers and of explicit allocations only, and a `Box` may be left behind.
    pub only_owned_leaks: bool,
    /// Whether memory that was freed may be used again, in C and C++ programs.
    pub reuse: bool,
    /// Whether reads of memory that nothing was written to are violations, in C and C++ programs.
    pub uninitialised: bool,
    /// Whether writes to one atomic variable that nothing orders are told, in C and C++ programs.
    pub unordered_writes: bool,
    /// If set, random numbers in C and C++ programs are below this one, and each is explored.
    pub random: Option<u64>,
    /// Whether an hour may have passed at each look at the clock, in C and C++ programs.
    pub clock_jumps: bool,
    /// A file with violations that are known, in C and C++ programs.
    pub suppressions: Option<String>,
    /// How executions are kept apart, in C and C++ programs.
    pub isolation: Isolation,
    /// Whether threads have memory of their own, if the global allocator allows it.
    pub arenas: bool,
    /// What `check` does when the verdict is inconclusive.
    pub on_inconclusive: OnInconclusive,
    /// After how many different violations to stop.
    pub keep_going: usize,
    /// What becomes of threads that nobody joins.
    pub detached: Detached,
    /// When waits with a limit on time give up.
    pub timeouts: Timeouts,
    /// A schedule to replay instead of searching.
    pub replay: Option<String>,
    /// How to show progress.
    pub progress: Progress,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: String::from("cpp20"),
            strategy: String::from("auto"),
            seed: 0,
            preemption_bound: None,
            max_events: None,
            ends_at_cut: false,
            max_executions: None,
            time_limit: None,
            stack_size: 256 * 1024,
            spurious_failures: false,
            spurious_wakeups: false,
            loops: true,
            max_rounds: 100,
            hang_limit: Duration::from_secs(20),
            leaks: true,
            only_owned_leaks: false,
            keeps_order: false,
            reuse: false,
            uninitialised: false,
            random: None,
            clock_jumps: false,
            unordered_writes: false,
            suppressions: None,
            isolation: Isolation::Auto,
            arenas: true,
            on_inconclusive: OnInconclusive::Fail,
            keep_going: 1,
            detached: Detached::MustEnd,
            timeouts: Timeouts::Any,
            replay: None,
            progress: Progress::Terminal,
        }
    }
}

/// The variables that [`Config::with_environment`] reads, and what they mean.
pub const VARIABLES: [(&str, &str); 27] = [
    ("UNPICK_MODEL", "memory model: cpp20, rc11, sc, tso, ra, rc11g"),
    ("UNPICK_STRATEGY", "how to search: auto, optimal, source-dpor, cb-dpor:2, random, pct:3, ..."),
    ("UNPICK_SEED", "where the random numbers of a strategy start"),
    ("UNPICK_PREEMPTIONS", "preemptions of one execution at most"),
    ("UNPICK_MAX_EVENTS", "events of one execution at most"),
    ("UNPICK_MAX_EXECUTIONS", "executions at most"),
    ("UNPICK_TIME", "time at most, such as 500ms, 30s, 5m"),
    ("UNPICK_STACK_SIZE", "bytes of stack for each thread"),
    ("UNPICK_SPURIOUS", "1: compare_exchange_weak may fail without a reason"),
    ("UNPICK_SPURIOUS_WAKEUPS", "1: threads that wait or are parked may wake up without a reason"),
    ("UNPICK_LOOPS", "off: loops that only wait are not recognised, and are cut at UNPICK_MAX_ROUNDS"),
    ("UNPICK_MAX_ROUNDS", "rounds of a loop that reads the same values before it is cut"),
    ("UNPICK_HANG", "how long a thread may do nothing visible, such as 20s"),
    ("UNPICK_LEAKS", "off: memory that is left behind is no violation"),
    ("UNPICK_REUSE", "1: in C and C++ programs, memory that was freed may be used again, or not"),
    (
        "UNPICK_UNINITIALISED",
        "1: in C and C++ programs, reads of heap memory that nothing was written to are violations",
    ),
    (
        "UNPICK_UNORDERED_WRITES",
        "1: in C and C++ programs, warn of writes to one atomic variable that nothing orders",
    ),
    ("UNPICK_RANDOM", "in C and C++ programs, random numbers are below this one, and each is explored"),
    (
        "UNPICK_CLOCK_JUMPS",
        "1: in C and C++ programs, an hour may have passed at each look at the clock, or not",
    ),
    (
        "UNPICK_ISOLATION",
        "C and C++ programs: `restore`, memory is brought back after each execution; `fork`, each has a process; `auto`",
    ),
    ("UNPICK_SUPPRESSIONS", "a file with violations that are known, in C and C++ programs"),
    ("UNPICK_INCONCLUSIVE", "what `check` does without a proof: fail, pass"),
    ("UNPICK_KEEP_GOING", "violations that differ to look for before stopping; 1 unless set"),
    ("UNPICK_DETACHED", "threads that nobody joins: must-end, abandoned"),
    (
        "UNPICK_TIMEOUTS",
        "waits with a limit on time give up: any (time), never, last (when nothing else can run)",
    ),
    ("UNPICK_REPLAY", "a schedule from a report: runs that execution only"),
    (
        "UNPICK_PROGRESS",
        "1: show progress, 0: do not, 30s: in plain lines, the first after so long; unless set, as the terminal and CI ask",
    ),
];

/// Variables that mean something to other parts of unpick: compilers and files of the command line, the stand-in for Shuttle,
/// how programs and the command line find each other.
const OTHERS: [&str; 9] = [
    "UNPICK_CC",
    "UNPICK_CXX",
    "UNPICK_CACHE",
    "UNPICK_RUNTIME",
    "UNPICK_LINT",
    "UNPICK_KIT",
    "UNPICK_BUILT_RUNTIME",
    "UNPICK_CHANNEL",
    "UNPICK_EVERY_ORDER",
];

/// What is wrong with the name of a variable, if it looks like a setting and is none.
fn unknown(name: &str) -> Option<Error> {
    let all = || VARIABLES.iter().map(|(known, _)| *known).chain(OTHERS);
    if !name.starts_with("UNPICK_") || all().any(|known| known == name) {
        return None;
    }
    let nearest = all().map(|known| (distance(name, known), known)).min();
    let likely = nearest.filter(|(distance, _)| *distance <= 3);
    let advice = match likely {
        Some((_, known)) => format!("did you mean `{known}`? If it is not for unpick, unset it"),
        None => {
            String::from("`unpick settings` lists those that there are; if it is not for unpick, unset it")
        }
    };
    Some(wrong(name, format!("there is no such setting; {advice}")))
}

/// How many letters must be put in, left out or replaced to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, &wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// Looks at the names of all variables of this process, once.
///
/// # Errors
///
/// When one looks like a setting and is none.
pub fn names_are_known() -> Result<(), Error> {
    static UNKNOWN: OnceLock<Option<Error>> = OnceLock::new();
    let find = || std::env::vars_os().find_map(|(name, _)| unknown(name.to_str()?));
    UNKNOWN.get_or_init(find).clone().map_or(Ok(()), Err)
}

impl Config {
    /// These settings, overridden by the environment of this process.
    ///
    /// # Errors
    ///
    /// When a variable has a value that is not understood, or looks like a setting and is none.
    pub fn with_process_environment(self) -> Result<Config, Error> {
        names_are_known()?;
        self.with_environment(|name| std::env::var(name).ok())
    }

    /// Whether the strategy is left open, so that the plan decides.
    pub fn decides(&self) -> bool {
        self.strategy == AUTO
    }

    /// How long the check may take: a strategy that is left open has a limit of its own.
    pub fn time_at_most(&self) -> Option<Duration> {
        let decides = self.decides() && self.preemption_bound.is_none();
        self.time_limit.or(decides.then_some(USUAL_TIME))
    }

    /// These settings with the strategy that is at work.
    pub fn named(&self, outlook: &Outlook) -> Config {
        let mut config = self.clone();
        if config.decides() {
            config.strategy.clone_from(&outlook.strategy);
        }
        config
    }

    /// These settings, overridden by what `variable` knows: pass `|name| std::env::var(name).ok()`.
    ///
    /// # Errors
    ///
    /// When a variable has a value that is not understood.
    pub fn with_environment(mut self, variable: impl Fn(&str) -> Option<String>) -> Result<Config, Error> {
        let number = |name: &str| -> Result<Option<u64>, Error> {
            let Some(text) = variable(name) else { return Ok(None) };
            let parsed = text.replace('_', "").parse();
            parsed.map(Some).map_err(|_| wrong(name, format!("`{text}` is not a whole number")))
        };
        let time = |name: &str| -> Result<Option<Duration>, Error> {
            let Some(text) = variable(name) else { return Ok(None) };
            let parsed = parse_duration(&text);
            parsed
                .map(Some)
                .ok_or_else(|| wrong(name, format!("`{text}` is not a time such as 500ms, 30s or 5m")))
        };
        let switch = |name: &str| -> Result<Option<bool>, Error> {
            match variable(name).as_deref() {
                None | Some("") => Ok(None),
                Some("1" | "true" | "yes" | "on") => Ok(Some(true)),
                Some("0" | "false" | "no" | "off") => Ok(Some(false)),
                Some(other) => Err(wrong(name, format!("`{other}` is neither 1 nor 0"))),
            }
        };
        if let Some(model) = variable("UNPICK_MODEL") {
            self.model = model;
        }
        if let Some(strategy) = variable("UNPICK_STRATEGY") {
            self.strategy = strategy;
        }
        if let Some(seed) = number("UNPICK_SEED")? {
            self.seed = seed;
        }
        if let Some(count) = number("UNPICK_PREEMPTIONS")? {
            self.preemption_bound = Some(u32::try_from(count).unwrap_or(u32::MAX));
        }
        if let Some(count) = number("UNPICK_MAX_EVENTS")? {
            self.max_events = Some(count as usize);
        }
        if let Some(count) = number("UNPICK_MAX_EXECUTIONS")? {
            self.max_executions = Some(count);
        }
        if let Some(limit) = time("UNPICK_TIME")? {
            self.time_limit = Some(limit);
        }
        if let Some(bytes) = number("UNPICK_STACK_SIZE")? {
            self.stack_size = bytes as usize;
        }
        if let Some(on) = switch("UNPICK_SPURIOUS")? {
            self.spurious_failures = on;
        }
        if let Some(on) = switch("UNPICK_SPURIOUS_WAKEUPS")? {
            self.spurious_wakeups = on;
        }
        if let Some(on) = switch("UNPICK_LOOPS")? {
            self.loops = on;
        }
        if let Some(rounds) = number("UNPICK_MAX_ROUNDS")? {
            self.max_rounds = rounds as usize;
        }
        if let Some(limit) = time("UNPICK_HANG")? {
            self.hang_limit = limit;
        }
        if let Some(on) = switch("UNPICK_LEAKS")? {
            self.leaks = on;
        }
        if let Some(on) = switch("UNPICK_REUSE")? {
            self.reuse = on;
        }
        if let Some(on) = switch("UNPICK_UNINITIALISED")? {
            self.uninitialised = on;
        }
        if let Some(bound) = number("UNPICK_RANDOM")? {
            if bound == 0 {
                return Err(wrong(
                    "UNPICK_RANDOM",
                    String::from("no number is below 0; it must be 1 or more"),
                ));
            }
            self.random = Some(bound);
        }
        if let Some(on) = switch("UNPICK_CLOCK_JUMPS")? {
            self.clock_jumps = on;
        }
        if let Some(on) = switch("UNPICK_UNORDERED_WRITES")? {
            self.unordered_writes = on;
        }
        if let Some(path) = variable("UNPICK_SUPPRESSIONS").filter(|path| !path.is_empty()) {
            self.suppressions = Some(path);
        }
        self.isolation = match variable("UNPICK_ISOLATION").as_deref() {
            None => self.isolation,
            Some("auto") => Isolation::Auto,
            Some("restore") => Isolation::Restore,
            Some("fork") => Isolation::Fork,
            Some(other) => {
                let problem = format!("`{other}` is neither `auto` nor `restore` nor `fork`");
                return Err(wrong("UNPICK_ISOLATION", problem));
            }
        };
        self.on_inconclusive = match variable("UNPICK_INCONCLUSIVE").as_deref() {
            None => self.on_inconclusive,
            Some("fail") => OnInconclusive::Fail,
            Some("pass") => OnInconclusive::Pass,
            Some(other) => {
                return Err(wrong("UNPICK_INCONCLUSIVE", format!("`{other}` is neither `fail` nor `pass`")));
            }
        };
        if let Some(count) = number("UNPICK_KEEP_GOING")? {
            self.keep_going = count as usize;
        }
        self.detached = match variable("UNPICK_DETACHED").as_deref() {
            None => self.detached,
            Some("must-end") => Detached::MustEnd,
            Some("abandoned") => Detached::Abandoned,
            Some(other) => {
                let problem = format!("`{other}` is neither `must-end` nor `abandoned`");
                return Err(wrong("UNPICK_DETACHED", problem));
            }
        };
        self.timeouts = match variable("UNPICK_TIMEOUTS").as_deref() {
            None => self.timeouts,
            Some("any") => Timeouts::Any,
            Some("never") => Timeouts::Never,
            Some("last") => Timeouts::Last,
            Some(other) => {
                let problem = format!("`{other}` is neither `any` nor `never` nor `last`");
                return Err(wrong("UNPICK_TIMEOUTS", problem));
            }
        };
        if let Some(token) = variable("UNPICK_REPLAY").filter(|token| !token.is_empty()) {
            self.replay = Some(token);
        }
        // Those who run tests of others say so in this way, and keep what is printed as a file.
        if variable("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
            && matches!(self.progress, Progress::Terminal | Progress::Everywhere)
        {
            self.progress = Progress::Lines(Progress::USUAL);
        }
        self.progress = match variable("UNPICK_PROGRESS").as_deref() {
            None | Some("") => self.progress,
            Some("1" | "true" | "yes" | "on") => match self.progress {
                Progress::Lines(first) => Progress::Lines(first),
                _ => Progress::Everywhere,
            },
            Some("0" | "false" | "no" | "off") => Progress::Never,
            Some(text) => {
                let first = parse_duration(text).filter(|first| !first.is_zero());
                let problem = || format!("`{text}` is neither 1 nor 0, nor a time such as 30s");
                Progress::Lines(first.ok_or_else(|| wrong("UNPICK_PROGRESS", problem()))?)
            }
        };
        Ok(self)
    }
}

fn wrong(name: &str, problem: String) -> Error {
    Error::Setting { name: name.to_string(), problem }
}

/// A time such as `500ms`, `30s`, `5m` or `2h`; a bare number is in seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    let seconds = match unit.trim() {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Config, Error> {
        Config::default().with_environment(|asked| (asked == name).then(|| value.to_string()))
    }

    #[test]
    fn the_environment_overrides_settings() {
        assert_eq!(read("UNPICK_MODEL", "sc").map(|c| c.model), Ok(String::from("sc")));
        assert_eq!(read("UNPICK_STRATEGY", "icb:1").map(|c| c.strategy), Ok(String::from("icb:1")));
        assert_eq!(read("UNPICK_TIME", "1.5m").map(|c| c.time_limit), Ok(Some(Duration::from_secs(90))));
        assert_eq!(read("UNPICK_MAX_EXECUTIONS", "10_000").map(|c| c.max_executions), Ok(Some(10_000)));
        assert_eq!(read("UNPICK_PREEMPTIONS", "2").map(|c| c.preemption_bound), Ok(Some(2)));
        assert_eq!(read("UNPICK_SPURIOUS", "1").map(|c| c.spurious_failures), Ok(true));
        assert_eq!(read("UNPICK_SPURIOUS_WAKEUPS", "1").map(|c| c.spurious_wakeups), Ok(true));
        assert_eq!(read("UNPICK_LEAKS", "off").map(|c| c.leaks), Ok(false));
        assert_eq!(read("UNPICK_LOOPS", "off").map(|c| c.loops), Ok(false));
        assert_eq!(read("UNPICK_LOOPS", "on").map(|c| c.loops), Ok(true));
        assert_eq!(read("UNPICK_RANDOM", "4").map(|c| c.random), Ok(Some(4)));
        assert!(read("UNPICK_RANDOM", "0").is_err());
    }

    #[test]
    fn a_name_that_is_no_setting_is_told_with_the_nearest() {
        let told = |name: &str| unknown(name).map(|error| error.to_string());
        for (name, nearest) in [
            ("UNPICK_LEAK", "UNPICK_LEAKS"),
            ("UNPICK_STRATEGIE", "UNPICK_STRATEGY"),
            ("UNPICK_TIMES", "UNPICK_TIME"),
        ] {
            assert!(
                told(name).is_some_and(|told| told.contains(&format!("did you mean `{nearest}`?"))),
                "{name}"
            );
        }
        assert!(told("UNPICK_COLOUR_OF_THE_SKY").is_some_and(|told| told.contains("unpick settings")));
        for name in VARIABLES.iter().map(|(name, _)| *name).chain(OTHERS).chain(["PATH", "UNPICK", "LEAKS"]) {
            assert_eq!(told(name), None);
        }
    }

    #[test]
    fn progress_is_shown_as_the_place_asks_for() {
        let seconds = |seconds| Progress::Lines(Duration::from_secs(seconds));
        let both = |ci: &'static str, own: &'static str| {
            let value = move |name: &str| match name {
                "CI" => Some(ci.to_string()),
                "UNPICK_PROGRESS" => Some(own.to_string()),
                _ => None,
            };
            Config::default().with_environment(value).map(|config| config.progress)
        };
        for (ci, own, expected) in [
            ("", "", Progress::Terminal),
            ("false", "", Progress::Terminal),
            ("true", "", seconds(10)),
            ("true", "1", seconds(10)),
            ("true", "0", Progress::Never),
            ("", "1", Progress::Everywhere),
            ("", "0", Progress::Never),
            ("", "30s", seconds(30)),
            ("1", "2m", seconds(120)),
        ] {
            assert_eq!(both(ci, own), Ok(expected), "{ci} {own}");
        }
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (name, value) in [
            ("UNPICK_TIME", "soon"),
            ("UNPICK_SEED", "any"),
            ("UNPICK_MAX_EVENTS", "-1"),
            ("UNPICK_PREEMPTIONS", "few"),
            ("UNPICK_SPURIOUS", "maybe"),
            ("UNPICK_LOOPS", "some"),
            ("UNPICK_INCONCLUSIVE", "shrug"),
            ("UNPICK_KEEP_GOING", "on"),
            ("UNPICK_DETACHED", "1"),
            ("UNPICK_TIMEOUTS", "soon"),
            ("UNPICK_PROGRESS", "often"),
        ] {
            let error = read(name, value).map(|_| ()).expect_err(name);
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
