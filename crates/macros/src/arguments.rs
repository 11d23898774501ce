//! The arguments of the attribute: settings, and where the library is.

use unpick_settings::{Kind, SETTINGS, Setting};

use crate::parse::{Problem, Token};

/// The arguments of the attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Variables and their values.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// Where the library is, if the argument `crate` says so, and the token that does.
    pub(crate) path: Option<(String, usize)>,
}

/// Reads `name = literal, name = literal, ...`.
pub(crate) fn arguments(tokens: &[Token]) -> Result<Arguments, Problem> {
    let mut arguments = Arguments::default();
    let mut at = 0;
    while at < tokens.len() {
        let Token::Word(name) = &tokens[at] else {
            return Err(Problem::new(at, format!("expected a setting; there are {}", names())));
        };
        let known = Setting::of_attribute(name);
        if known.is_none() && name != "crate" {
            return Err(Problem::new(at, format!("there is no setting `{name}`; there are {}", names())));
        }
        let kind = known.map_or(Kind::Text, |setting| setting.kind);
        let wanted = || format!("write `{name} = ...` with {}", wanted(kind));
        if tokens.get(at + 1) != Some(&Token::Sign('=')) {
            return Err(Problem::new(at, wanted()));
        }
        let text = match tokens.get(at + 2) {
            Some(Token::Literal(text)) => text.clone(),
            Some(Token::Word(word)) => word.clone(),
            Some(_) => return Err(Problem::new(at + 2, wanted())),
            None => return Err(Problem::new(at + 1, wanted())),
        };
        let value = value(kind, &text).ok_or_else(|| Problem::new(at + 2, wanted()))?;
        match known {
            None => arguments.path = Some((value, at + 2)),
            Some(Setting { variable, .. }) => {
                if arguments.settings.iter().any(|(other, _)| other == variable) {
                    return Err(Problem::new(at, format!("`{name}` is set twice")));
                }
                arguments.settings.push((variable, value));
            }
        }
        at += 3;
        match tokens.get(at) {
            None => {}
            Some(Token::Sign(',')) => at += 1,
            Some(_) => return Err(Problem::new(at, String::from("expected a comma between settings"))),
        }
    }
    Ok(arguments)
}

/// The names of all settings, for messages.
fn names() -> String {
    let known = SETTINGS.iter().filter(|setting| setting.in_rust()).map(|setting| setting.attribute);
    known.chain(["crate"]).collect::<Vec<&str>>().join(", ")
}

/// What to write, for messages.
fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Text => String::from("a text in quotes"),
        Kind::Switch => String::from("`true` or `false`"),
        Kind::Count(..) => format!("{}, `true` or `false`", kind.wanted()),
        Kind::SwitchOrTime(least, most) => {
            format!("`true`, `false` or {}", Kind::Time(least, most).wanted())
        }
        Kind::OneOf(_) | Kind::Number(..) | Kind::Time(..) => kind.wanted(),
    }
}

/// The value of a setting as the environment would have it.
fn value(kind: Kind, literal: &str) -> Option<String> {
    let digits = || literal.chars().all(|c| c.is_ascii_digit() || c == '_').then(|| literal.replace('_', ""));
    let text = match (kind, literal) {
        (Kind::Switch | Kind::SwitchOrTime(..), "true" | "false") => literal.to_string(),
        (Kind::Count(..), "true") => u32::MAX.to_string(),
        (Kind::Count(..), "false") => String::from("1"),
        (Kind::Switch, _) => return None,
        (Kind::Text | Kind::OneOf(_) | Kind::SwitchOrTime(..), _) => quoted(literal)?,
        (Kind::Number(..) | Kind::Count(..), _) => digits()?,
        (Kind::Time(..), _) => quoted(literal).or_else(digits)?,
    };
    kind.read(&text).is_some().then_some(text)
}

/// What is in quotes; texts with escapes are not needed here.
fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains(['\\', '"'])).then(|| inner.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::{refused, tokens};

    #[test]
    fn settings_become_variables() {
        let line = r#"model = "sc" , time = "10s" , executions = 1_000 , spurious = true , keep_going = 3 ,"#;
        let read = arguments(&tokens(line)).expect(line);
        let expected = [
            ("UNPICK_MODEL", "sc"),
            ("UNPICK_TIME", "10s"),
            ("UNPICK_MAX_EXECUTIONS", "1000"),
            ("UNPICK_SPURIOUS", "true"),
            ("UNPICK_KEEP_GOING", "3"),
        ];
        let expected: Vec<(&str, String)> =
            expected.into_iter().map(|(name, value)| (name, value.to_string())).collect();
        assert_eq!(read.settings, expected);
        assert_eq!(read.path, None);
        assert_eq!(arguments(&[]), Ok(Arguments::default()));
        let read = arguments(&tokens(r#"crate = "my::checks" , time = 5"#)).expect("a path");
        assert_eq!(read.path, Some((String::from("my::checks"), 2)));
        assert_eq!(read.settings, [("UNPICK_TIME", String::from("5"))]);
        let read =
            arguments(&tokens(r#"progress = "30s" , max_rounds = 7 , leaks = false"#)).expect("settings");
        let expected = [("UNPICK_PROGRESS", "30s"), ("UNPICK_MAX_ROUNDS", "7"), ("UNPICK_LEAKS", "false")];
        assert_eq!(read.settings, expected.map(|(name, value)| (name, value.to_string())));
    }

    #[test]
    fn wrong_settings_are_refused_where_they_stand() {
        let read = |line: &str| arguments(&tokens(line));
        refused(
            read(r#"model = "sc" , modle = "sc""#),
            4,
            "no setting `modle`; there are model, strategy, seed",
        );
        refused(read("executions = many"), 2, "a whole number");
        refused(read("executions = 10u8"), 2, "a whole number");
        refused(read(r#"time = "soon""#), 2, "a time such as");
        refused(read("executions = 0"), 2, "a whole number from 1");
        refused(read("stack_size = 12"), 2, "a whole number from 4096 to 1073741824");
        refused(read(r#"hang = "0s""#), 2, "from 1ms to 8760h");
        refused(read("keep_going = 0"), 2, "a whole number from 1, `true` or `false`");
        refused(read("progress = 0"), 2, "`true`, `false` or a time");
        refused(read("reuse = true"), 0, "no setting `reuse`");
        refused(read("model"), 0, "write `model = ...` with a text in quotes");
        refused(read("model ="), 1, "a text in quotes");
        refused(read("model = ("), 2, "a text in quotes");
        refused(read("spurious = 1"), 2, "`true` or `false`");
        refused(read(r#"detached = "kept""#), 2, r#""must-end" or "abandoned""#);
        refused(read(r#"model = "sc" time = 5"#), 3, "a comma");
        refused(read("time = 5 , time_limit = 6"), 4, "set twice");
        refused(read(r#""sc""#), 0, "expected a setting");
    }
}
