//! Settings of a check, and the one function that reads them from the environment.

use std::sync::OnceLock;
use std::time::Duration;

use unpick_core::error::Error;
use unpick_core::plan::Outlook;
use unpick_core::timeouts::Timeouts;
pub use unpick_settings::parse_duration;
use unpick_settings::{SETTINGS, Setting, Value};

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
    /// Whether who reads a lock already may have to wait, to read it once more, for a thread that waits to write.
    pub writers_go_first: bool,
    /// What `check` does when the verdict is inconclusive.
    pub on_inconclusive: OnInconclusive,
    /// Whether a check that can show nothing is no failure.
    pub allows_vacuous: bool,
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
            writers_go_first: true,
            on_inconclusive: OnInconclusive::Fail,
            allows_vacuous: false,
            keep_going: 1,
            detached: Detached::MustEnd,
            timeouts: Timeouts::Any,
            replay: None,
            progress: Progress::Terminal,
        }
    }
}

/// Looks at the names of all variables of this process, once.
///
/// # Errors
///
/// When one looks like a setting and is none.
pub fn names_are_known() -> Result<(), Error> {
    static UNKNOWN: OnceLock<Option<Error>> = OnceLock::new();
    let find = || {
        std::env::vars_os().find_map(|(name, _)| {
            let name = name.to_str()?;
            unpick_settings::unknown(name).map(|problem| wrong(name, problem))
        })
    };
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

    /// These settings, overridden by what `variable` knows: pass `|name| std::env::var(name).ok()`. What is empty counts as
    /// unset.
    ///
    /// # Errors
    ///
    /// When a variable has a value that is not understood or out of range, or the program has set one.
    pub fn with_environment(mut self, variable: impl Fn(&str) -> Option<String>) -> Result<Config, Error> {
        // Those who run tests of others say so in this way, and keep what is printed as a file.
        if variable("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
            && matches!(self.progress, Progress::Terminal | Progress::Everywhere)
        {
            self.progress = Progress::Lines(Progress::USUAL);
        }
        for setting in SETTINGS {
            if let Some(text) = variable(setting.variable).filter(|text| !text.is_empty()) {
                let value = setting.read(&text).map_err(|problem| wrong(setting.variable, problem))?;
                self.set(setting.variable, value);
            }
        }
        self.in_range()
    }

    /// Sets what a variable stands for.
    fn set(&mut self, variable: &str, value: Value) {
        match (variable, value) {
            ("UNPICK_MODEL", Value::Text(name)) => self.model = name,
            ("UNPICK_STRATEGY", Value::Text(name)) => self.strategy = name,
            ("UNPICK_SEED", Value::Number(seed)) => self.seed = seed,
            ("UNPICK_PREEMPTIONS", Value::Number(most)) => self.preemption_bound = Some(most as u32),
            ("UNPICK_MAX_EVENTS", Value::Number(most)) => self.max_events = Some(most as usize),
            ("UNPICK_MAX_EXECUTIONS", Value::Number(most)) => self.max_executions = Some(most),
            ("UNPICK_TIME", Value::Time(most)) => self.time_limit = Some(most),
            ("UNPICK_STACK_SIZE", Value::Number(bytes)) => self.stack_size = bytes as usize,
            ("UNPICK_SPURIOUS", Value::On(on)) => self.spurious_failures = on,
            ("UNPICK_SPURIOUS_WAKEUPS", Value::On(on)) => self.spurious_wakeups = on,
            ("UNPICK_LOOPS", Value::On(on)) => self.loops = on,
            ("UNPICK_MAX_ROUNDS", Value::Number(most)) => self.max_rounds = most as usize,
            ("UNPICK_HANG", Value::Time(most)) => self.hang_limit = most,
            ("UNPICK_LEAKS", Value::On(on)) => self.leaks = on,
            ("UNPICK_INCONCLUSIVE", Value::Word(word)) => {
                self.on_inconclusive = [OnInconclusive::Fail, OnInconclusive::Pass][word];
            }
            ("UNPICK_VACUOUS", Value::On(on)) => self.allows_vacuous = on,
            ("UNPICK_KEEP_GOING", Value::Number(count)) => self.keep_going = count as usize,
            ("UNPICK_DETACHED", Value::Word(word)) => {
                self.detached = [Detached::MustEnd, Detached::Abandoned][word];
            }
            ("UNPICK_TIMEOUTS", Value::Word(word)) => {
                self.timeouts = [Timeouts::Any, Timeouts::Never, Timeouts::Last][word];
            }
            ("UNPICK_REPLAY", Value::Text(token)) => self.replay = Some(token),
            ("UNPICK_PROGRESS", Value::Time(first)) => self.progress = Progress::Lines(first),
            ("UNPICK_PROGRESS", Value::On(false)) => self.progress = Progress::Never,
            ("UNPICK_PROGRESS", Value::On(true)) => {
                if !matches!(self.progress, Progress::Lines(_)) {
                    self.progress = Progress::Everywhere;
                }
            }
            ("UNPICK_REUSE", Value::On(on)) => self.reuse = on,
            ("UNPICK_UNINITIALISED", Value::On(on)) => self.uninitialised = on,
            ("UNPICK_UNORDERED_WRITES", Value::On(on)) => self.unordered_writes = on,
            ("UNPICK_RANDOM", Value::Number(bound)) => self.random = Some(bound),
            ("UNPICK_CLOCK_JUMPS", Value::On(on)) => self.clock_jumps = on,
            ("UNPICK_ISOLATION", Value::Word(word)) => {
                self.isolation = [Isolation::Auto, Isolation::Restore, Isolation::Fork][word];
            }
            ("UNPICK_SUPPRESSIONS", Value::Text(path)) => self.suppressions = Some(path),
            (variable, value) => unreachable!("`{variable}` has no field for {value:?}"),
        }
    }

    /// These settings, unless the program has set what cannot work.
    fn in_range(self) -> Result<Config, Error> {
        let hang = format!("{}ms", self.hang_limit.as_millis());
        for (method, text) in [("stack_size", self.stack_size.to_string()), ("hang_limit", hang)] {
            let setting = Setting::of_attribute(method).expect("it is in the table");
            setting.read(&text).map_err(|problem| wrong(method, problem))?;
        }
        Ok(self)
    }
}

fn wrong(name: &str, problem: String) -> Error {
    Error::Setting { name: name.to_string(), problem }
}

#[cfg(test)]
mod tests {
    use unpick_settings::Kind;

    use super::*;

    fn read(name: &str, value: &str) -> Result<Config, Error> {
        Config::default().with_environment(|asked| (asked == name).then(|| value.to_string()))
    }

    #[test]
    fn the_environment_overrides_settings() {
        assert_eq!(read("UNPICK_MODEL", "sc").map(|c| c.model), Ok(String::from("sc")));
        assert_eq!(read("UNPICK_TIME", "1.5m").map(|c| c.time_limit), Ok(Some(Duration::from_secs(90))));
        assert_eq!(read("UNPICK_MAX_EXECUTIONS", "10_000").map(|c| c.max_executions), Ok(Some(10_000)));
        assert_eq!(read("UNPICK_DETACHED", "abandoned").map(|c| c.detached), Ok(Detached::Abandoned));
        assert_eq!(read("UNPICK_TIMEOUTS", "last").map(|c| c.timeouts), Ok(Timeouts::Last));
        assert_eq!(read("UNPICK_ISOLATION", "fork").map(|c| c.isolation), Ok(Isolation::Fork));
        assert_eq!(read("UNPICK_INCONCLUSIVE", "pass").map(|c| c.on_inconclusive), Ok(OnInconclusive::Pass));
    }

    /// Each entry of the table has a field, which takes all that can be read, and the default that the table says.
    #[test]
    fn the_table_and_the_fields_agree() {
        let usual = format!("{:?}", Config::default());
        for setting in SETTINGS {
            let with = |text: &str| read(setting.variable, text).map(|config| format!("{config:?}"));
            if !setting.default.is_empty() && setting.read(setting.default).is_ok() {
                assert_eq!(with(setting.default), Ok(usual.clone()), "{}", setting.variable);
            }
            let words: &[&str] = match setting.kind {
                Kind::OneOf(words) => words,
                Kind::Switch => &["on", "off"],
                Kind::SwitchOrTime(..) => &["on", "off", "30s"],
                Kind::Time(..) => &["30s"],
                Kind::Text | Kind::Number(..) | Kind::Count(..) => &["54321"],
            };
            let unlike = words.iter().filter(|word| with(word) != Ok(usual.clone())).count();
            assert!(unlike >= words.len().div_ceil(2), "{}", setting.variable);
            assert_eq!(with(""), Ok(usual.clone()), "{}", setting.variable);
        }
    }

    #[test]
    fn what_the_program_sets_is_in_range_as_well() {
        let told = |config: Config| config.with_environment(|_| None).map(|_| ()).map_err(|e| e.to_string());
        let stack = told(Config { stack_size: usize::MAX, ..Config::default() });
        assert!(
            stack.is_err_and(|told| told.contains("`stack_size`") && told.contains("4096 to 1073741824"))
        );
        let hang = told(Config { hang_limit: Duration::ZERO, ..Config::default() });
        assert!(hang.is_err_and(|told| told.contains("`hang_limit`") && told.contains("from 1ms")));
        assert_eq!(told(Config::default()), Ok(()));
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
            ("UNPICK_MAX_EXECUTIONS", "0"),
            ("UNPICK_STACK_SIZE", "18446744073709551615"),
            ("UNPICK_HANG", "0s"),
            ("UNPICK_KEEP_GOING", "on"),
            ("UNPICK_PROGRESS", "often"),
        ] {
            let error = read(name, value).map(|_| ()).expect_err(name);
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
