//! What the value of a setting looks like, and how it is read.

use std::time::Duration;

/// What the value of a setting looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number, from the first to the second.
    Number(u64, u64),
    /// The same; an attribute may say `true` for as many as there are, and `false` for one.
    Count(u64, u64),
    /// A time, from the first to the second number of milliseconds.
    Time(u64, u64),
    /// On or off.
    Switch,
    /// On or off, or a time from the first to the second number of milliseconds.
    SwitchOrTime(u64, u64),
}

/// A value that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::OneOf`]: the place of the word in the list.
    Word(usize),
    /// Of [`Kind::Number`] and [`Kind::Count`].
    Number(u64),
    /// Of [`Kind::Time`] and [`Kind::SwitchOrTime`].
    Time(Duration),
    /// Of [`Kind::Switch`] and [`Kind::SwitchOrTime`].
    On(bool),
}

impl Kind {
    /// The value that a text stands for, if it is one of this kind and in its range.
    pub fn read(self, text: &str) -> Option<Value> {
        let time = |least, most| {
            let range = Duration::from_millis(least)..=Duration::from_millis(most);
            parse_duration(text).filter(|time| range.contains(time)).map(Value::Time)
        };
        match self {
            Kind::Text => Some(Value::Text(text.to_string())),
            Kind::OneOf(words) => words.iter().position(|word| *word == text).map(Value::Word),
            Kind::Number(least, most) | Kind::Count(least, most) => {
                let number = text.replace('_', "").parse().ok();
                number.filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            Kind::Time(least, most) => time(least, most),
            Kind::Switch => switch(text),
            Kind::SwitchOrTime(least, most) => switch(text).or_else(|| time(least, most)),
        }
    }

    /// What to write, for messages and documentation.
    pub fn wanted(self) -> String {
        match self {
            Kind::Text => String::from("a text"),
            Kind::OneOf(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                quoted.join(" or ")
            }
            Kind::Number(0, u64::MAX) => String::from("a whole number"),
            Kind::Number(least, u64::MAX) | Kind::Count(least, u64::MAX) => {
                format!("a whole number from {least}")
            }
            Kind::Number(least, most) | Kind::Count(least, most) => {
                format!("a whole number from {least} to {most}")
            }
            Kind::Time(least, most) => format!(
                "a time such as \"500ms\", \"30s\" or \"5m\", from {} to {}",
                shown(least),
                shown(most)
            ),
            Kind::Switch => String::from("\"on\" or \"off\""),
            Kind::SwitchOrTime(least, most) => {
                format!("\"on\" or \"off\" or {}", Kind::Time(least, most).wanted())
            }
        }
    }
}

fn switch(text: &str) -> Option<Value> {
    match text {
        "1" | "true" | "yes" | "on" => Some(Value::On(true)),
        "0" | "false" | "no" | "off" => Some(Value::On(false)),
        _ => None,
    }
}

/// A number of milliseconds, in the largest unit that leaves no rest.
fn shown(milliseconds: u64) -> String {
    let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit =
        units.into_iter().find(|(unit, _)| milliseconds >= *unit && milliseconds.is_multiple_of(*unit));
    let (unit, name) = unit.unwrap_or((1, "ms"));
    format!("{}{name}", milliseconds / unit)
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

    #[test]
    fn what_is_out_of_range_is_not_read_and_the_range_is_named() {
        for (kind, good, bad, wanted) in [
            (Kind::Number(0, u64::MAX), "0 18_446_744_073_709_551_615", "-1 few 1.5", "a whole number"),
            (Kind::Number(1, u64::MAX), "1", "0", "a whole number from 1"),
            (Kind::Count(1, 9), "1 9", "0 10 true", "a whole number from 1 to 9"),
            (Kind::Time(1, 3_600_000), "1ms 2 1.5m 1h", "0s 61m soon -1 1d infh", "\"5m\", from 1ms to 1h"),
            (Kind::Switch, "on off 1 0 true false yes no", "maybe 2", "\"on\" or \"off\""),
            (Kind::SwitchOrTime(1, 90_000), "1 off 2s", "often 2m", "from 1ms to 90s"),
            (Kind::OneOf(&["any", "never"]), "any never", "Any 0", "\"any\" or \"never\""),
        ] {
            assert!(good.split(' ').all(|text| kind.read(text).is_some()), "{kind:?}");
            assert!(bad.split(' ').all(|text| kind.read(text).is_none()), "{kind:?}");
            assert!(kind.wanted().ends_with(wanted), "{}", kind.wanted());
        }
        assert_eq!(Kind::Time(1, 90_000).read("1.5m"), Some(Value::Time(Duration::from_secs(90))));
        assert_eq!(Kind::Number(0, 10_000).read("10_000"), Some(Value::Number(10_000)));
    }
}
