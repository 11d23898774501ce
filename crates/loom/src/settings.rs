//! The `LOOM_` variables of the environment.

use std::str::FromStr;
use std::time::Duration;

use crate::model::Builder;

/// How many branches an execution may have with loom, unless set.
pub(crate) const MAX_BRANCHES: usize = 1_000;

/// How often loom writes checkpoints, unless set.
const CHECKPOINT_INTERVAL: usize = 20_000;

/// Settings, as far as variables say something: `variable` gives the value of one by its name.
///
/// # Errors
///
/// With what is wrong, when a variable has a value that is not understood.
pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Builder, String> {
    let seconds: Option<u64> = number(&variable, "LOOM_MAX_DURATION")?;
    Ok(Builder {
        max_threads: crate::MAX_THREADS,
        max_branches: number(&variable, "LOOM_MAX_BRANCHES")?.unwrap_or(MAX_BRANCHES),
        max_permutations: number(&variable, "LOOM_MAX_PERMUTATIONS")?,
        max_duration: seconds.map(Duration::from_secs),
        preemption_bound: number(&variable, "LOOM_MAX_PREEMPTIONS")?,
        checkpoint_file: variable("LOOM_CHECKPOINT_FILE").map(Into::into),
        checkpoint_interval: number(&variable, "LOOM_CHECKPOINT_INTERVAL")?.unwrap_or(CHECKPOINT_INTERVAL),
        expect_explicit_explore: false,
        location: variable("LOOM_LOCATION").is_some(),
        log: variable("LOOM_LOG").is_some(),
    })
}

fn number<T: FromStr>(variable: impl Fn(&str) -> Option<String>, name: &str) -> Result<Option<T>, String> {
    let Some(text) = variable(name) else { return Ok(None) };
    let parsed = text.parse();
    parsed.map(Some).map_err(|_| format!("invalid value for `{name}`: `{text}` is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Builder, String> {
        read(|asked| (asked == name).then(|| value.to_string()))
    }

    #[test]
    fn every_variable_is_read() {
        let builder = |name, value| with(name, value).unwrap();
        assert_eq!(builder("LOOM_MAX_BRANCHES", "50").max_branches, 50);
        assert_eq!(builder("LOOM_MAX_PERMUTATIONS", "7").max_permutations, Some(7));
        assert_eq!(builder("LOOM_MAX_DURATION", "3").max_duration, Some(Duration::from_secs(3)));
        assert_eq!(builder("LOOM_MAX_PREEMPTIONS", "2").preemption_bound, Some(2));
        assert_eq!(builder("LOOM_CHECKPOINT_FILE", "a").checkpoint_file, Some("a".into()));
        assert_eq!(builder("LOOM_CHECKPOINT_INTERVAL", "9").checkpoint_interval, 9);
        assert!(builder("LOOM_LOG", "trace").log && builder("LOOM_LOCATION", "1").location);
        let unset = read(|_| None).unwrap();
        assert_eq!((unset.max_branches, unset.checkpoint_interval), (MAX_BRANCHES, CHECKPOINT_INTERVAL));
        assert_eq!((unset.max_duration, unset.max_permutations, unset.preemption_bound), (None, None, None));
        assert!(!unset.log && !unset.location && unset.checkpoint_file.is_none());
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for name in
            ["MAX_BRANCHES", "MAX_PERMUTATIONS", "MAX_DURATION", "MAX_PREEMPTIONS", "CHECKPOINT_INTERVAL"]
        {
            let name = format!("LOOM_{name}");
            let problem = with(&name, "few").map(|_| ()).unwrap_err();
            assert!(problem.contains(&name), "{problem}");
        }
    }
}
