//! Variables that look like settings and are none.

use crate::SETTINGS;

/// Variables that mean something to other parts of unpick: compilers and files of the command line, the stand-in for Shuttle,
/// how programs and the command line find each other, and the file that lists checks.
const OTHERS: [&str; 11] = [
    "UNPICK_CC",
    "UNPICK_CXX",
    "UNPICK_CACHE",
    "UNPICK_RUNTIME",
    "UNPICK_RUNTIME_FOLDER",
    "UNPICK_LINT",
    "UNPICK_KIT",
    "UNPICK_BUILT_RUNTIME",
    "UNPICK_CHANNEL",
    "UNPICK_EVERY_ORDER",
    "UNPICK_CHECKS",
];

/// What is wrong with the name of a variable, if it looks like a setting and is none.
pub fn unknown(name: &str) -> Option<String> {
    let all = || SETTINGS.iter().map(|setting| setting.variable).chain(OTHERS);
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
    Some(format!("there is no such setting; {advice}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_setting_is_told_with_the_nearest() {
        for (name, nearest) in [
            ("UNPICK_LEAK", "UNPICK_LEAKS"),
            ("UNPICK_STRATEGIE", "UNPICK_STRATEGY"),
            ("UNPICK_TIMES", "UNPICK_TIME"),
        ] {
            let told = unknown(name).expect(name);
            assert!(told.contains(&format!("did you mean `{nearest}`?")), "{told}");
        }
        assert!(unknown("UNPICK_COLOUR_OF_THE_SKY").is_some_and(|told| told.contains("unpick settings")));
        let known = SETTINGS.iter().map(|setting| setting.variable);
        for name in known.chain(OTHERS).chain(["PATH", "UNPICK", "LEAKS"]) {
            assert_eq!(unknown(name), None);
        }
    }
}
