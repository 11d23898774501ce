//! The settings that the attribute takes: the one list of their names and kinds.
//!
//! Each is a variable of the environment that `unpick_check::config` reads; a test of the library
//! compares the two lists. What the values mean is known there and nowhere else, so that a setting
//! means the same in the attribute, in the environment and on the command line.

/// What the value of a setting looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A whole number.
    Number,
    /// A time: a text such as `"10s"`, or a number of seconds.
    Time,
    /// `true` or `false`.
    Switch,
    /// A whole number; `true` for as many as there are, and `false` for one.
    Count,
}

impl Kind {
    /// What to write, for messages.
    pub(crate) fn wanted(self) -> String {
        match self {
            Kind::Text => String::from("a text in quotes"),
            Kind::OneOf(texts) => {
                let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
                quoted.join(" or ")
            }
            Kind::Number => String::from("a whole number"),
            Kind::Time => String::from("a time such as \"500ms\", \"30s\" or \"5m\""),
            Kind::Switch => String::from("`true` or `false`"),
            Kind::Count => String::from("a whole number, `true` or `false`"),
        }
    }
}

/// A setting: its names, the first is the one that messages use; its variable; its kind.
pub(crate) type Setting = (&'static [&'static str], &'static str, Kind);

/// All settings.
pub(crate) const SETTINGS: [Setting; 20] = [
    (&["model"], "UNPICK_MODEL", Kind::Text),
    (&["strategy"], "UNPICK_STRATEGY", Kind::Text),
    (&["seed"], "UNPICK_SEED", Kind::Number),
    (&["executions", "max_executions"], "UNPICK_MAX_EXECUTIONS", Kind::Number),
    (&["time", "time_limit"], "UNPICK_TIME", Kind::Time),
    (&["preemptions", "preemption_bound"], "UNPICK_PREEMPTIONS", Kind::Number),
    (&["events", "max_events"], "UNPICK_MAX_EVENTS", Kind::Number),
    (&["loops"], "UNPICK_LOOPS", Kind::Switch),
    (&["rounds", "max_rounds"], "UNPICK_MAX_ROUNDS", Kind::Number),
    (&["stack_size"], "UNPICK_STACK_SIZE", Kind::Number),
    (&["spurious", "spurious_failures"], "UNPICK_SPURIOUS", Kind::Switch),
    (&["spurious_wakeups"], "UNPICK_SPURIOUS_WAKEUPS", Kind::Switch),
    (&["hang", "hang_limit"], "UNPICK_HANG", Kind::Time),
    (&["leaks"], "UNPICK_LEAKS", Kind::Switch),
    (&["inconclusive", "on_inconclusive"], "UNPICK_INCONCLUSIVE", Kind::OneOf(&["fail", "pass"])),
    (&["keep_going"], "UNPICK_KEEP_GOING", Kind::Count),
    (&["detached"], "UNPICK_DETACHED", Kind::OneOf(&["must-end", "abandoned"])),
    (&["timeouts"], "UNPICK_TIMEOUTS", Kind::OneOf(&["any", "never", "last"])),
    (&["replay"], "UNPICK_REPLAY", Kind::Text),
    (&["progress"], "UNPICK_PROGRESS", Kind::Switch),
];

/// The setting with a name.
pub(crate) fn find(name: &str) -> Option<Setting> {
    SETTINGS.into_iter().find(|(names, ..)| names.contains(&name))
}

/// The names of all settings, for messages.
pub(crate) fn names() -> String {
    let names: Vec<&str> = SETTINGS.iter().map(|(names, ..)| names[0]).chain(["crate"]).collect();
    names.join(", ")
}
