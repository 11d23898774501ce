//! The flags of settings, as the table of settings has them.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use unpick_settings::{Kind, SETTINGS, Setting};

/// Variables and values of the settings that were given: `IN_C` for programs in C and C++, and else for `cargo test`.
#[derive(Debug)]
pub(crate) struct Flags<const IN_C: bool>(pub(crate) Vec<(&'static str, String)>);

/// The settings that mean something there. To replay is a command of its own.
fn offered(in_c: bool) -> impl Iterator<Item = &'static Setting> {
    let means_something = move |setting: &&Setting| if in_c { setting.in_c } else { setting.in_rust() };
    SETTINGS.iter().filter(means_something).filter(|setting| setting.variable != "UNPICK_REPLAY")
}

fn flag(setting: &'static Setting) -> Arg {
    let (name, values) = match setting.kind {
        Kind::Text => (setting.flag().to_uppercase(), ValueParser::string()),
        Kind::OneOf(words) => (String::from("WHAT"), PossibleValuesParser::new(words).into()),
        Kind::Switch => (String::from("WHETHER"), PossibleValuesParser::new(["on", "off"]).into()),
        Kind::Number(..) | Kind::Count(..) => (String::from("N"), checked(setting)),
        Kind::Time(..) => (String::from("TIME"), checked(setting)),
        Kind::SwitchOrTime(..) => (String::from("WHEN"), checked(setting)),
    };
    let usual = if setting.default.is_empty() { String::new() } else { format!(" [{}]", setting.default) };
    let mut help = format!("{}{usual}", setting.doc).replace('`', "");
    help[..1].make_ascii_uppercase();
    let flag = Arg::new(setting.variable).long(setting.flag()).value_name(name).value_parser(values);
    let flag = flag.help(help);
    match (setting.kind, setting.default) {
        // What is off unless set is turned on by its name alone.
        (Kind::Switch, "off") => flag.num_args(0..=1).require_equals(true).default_missing_value("on"),
        _ => flag,
    }
}

/// Takes what the setting takes.
fn checked(setting: &'static Setting) -> ValueParser {
    ValueParser::new(move |text: &str| match setting.read(text) {
        Ok(_) => Ok(text.to_string()),
        Err(_) => Err(format!("{} is {}", setting.variable, setting.kind.wanted())),
    })
}

impl<const IN_C: bool> FromArgMatches for Flags<IN_C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |setting: &'static Setting| {
            let value = matches.get_one::<String>(setting.variable)?;
            Some((setting.variable, value.clone()))
        };
        Ok(Flags(offered(IN_C).filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const IN_C: bool> Args for Flags<IN_C> {
    fn augment_args(command: Command) -> Command {
        command.args(offered(IN_C).map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::<IN_C>::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<const IN_C: bool>(words: &[&str]) -> Result<Vec<(&'static str, String)>, String> {
        let command = Flags::<IN_C>::augment_args(Command::new("unpick").no_binary_name(true));
        let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
        Flags::<IN_C>::from_arg_matches(&matches).map(|flags| flags.0).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_become_variables() {
        let given = ["--max-executions", "1_000", "--spurious", "--loops", "off", "--time=5m", "--leaks=off"];
        let expected = [
            ("UNPICK_MAX_EXECUTIONS", "1_000"),
            ("UNPICK_TIME", "5m"),
            ("UNPICK_SPURIOUS", "on"),
            ("UNPICK_LOOPS", "off"),
            ("UNPICK_LEAKS", "off"),
        ];
        let expected: Vec<_> = expected.map(|(name, value)| (name, value.to_string())).into();
        assert_eq!(read::<false>(&given), Ok(expected.clone()));
        assert_eq!(read::<true>(&given), Ok(expected));
        assert_eq!(read::<true>(&["--reuse=off"]), Ok(vec![("UNPICK_REUSE", String::from("off"))]));
        assert_eq!(read::<true>(&[]), Ok(Vec::new()));
    }

    #[test]
    fn what_means_nothing_is_not_offered() {
        for flag in ["--reuse", "--isolation=fork", "--uninitialised", "--random=3", "--suppressions=a"] {
            assert!(read::<true>(&[flag]).is_ok(), "{flag}");
            assert!(read::<false>(&[flag]).is_err_and(|told| told.contains("unexpected argument")), "{flag}");
        }
        assert!(read::<true>(&["--inconclusive=pass"]).is_err());
        assert!(read::<false>(&["--inconclusive=pass"]).is_ok());
        assert!(read::<false>(&["--replay=a"]).is_err() && read::<true>(&["--replay=a"]).is_err());
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_range() {
        for (flag, range) in [
            ("--stack-size=12", "UNPICK_STACK_SIZE is a whole number from 4096 to 1073741824"),
            ("--hang=0s", "from 1ms to 8760h"),
            ("--keep-going=0", "a whole number from 1"),
            ("--progress=often", "\"on\" or \"off\" or a time"),
            ("--spurious=maybe", "[possible values: on, off]"),
            ("--timeouts=soon", "[possible values: any, never, last]"),
        ] {
            let told = read::<false>(&[flag]).expect_err(flag);
            let name = flag.split('=').next().unwrap_or(flag);
            assert!(told.contains(range) && told.contains(name), "{told}");
        }
    }
}
