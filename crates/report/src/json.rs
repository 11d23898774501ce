//! A finding as JSON: everything that is known, for other programs.
//!
//! `docs/json.md` in the repository describes the format.

use serde_json::Value;
use unpick_core::trace::Finding;

/// The version of the format.
pub const VERSION: u64 = 1;

/// The finding as a JSON object; `docs/json.md` describes the fields.
///
/// ```
/// use unpick_core::trace::{Finding, Trace};
///
/// let finding = Finding {
///     title: "panic".into(),
///     message: vec!["it was 0".into()],
///     place: None,
///     line: None,
///     trace: Trace::default(),
///     token: "1.abc".into(),
///     model: "cpp20".into(),
///     strategy: "optimal".into(),
///     execution: 17,
/// };
/// let value = unpick_report::json(&finding);
/// assert_eq!(value["version"], 1);
/// assert_eq!(value["execution"], 17);
/// assert_eq!(unpick_report::read(value), Ok(finding));
/// ```
///
/// # Panics
///
/// Never: all keys are texts.
pub fn json(finding: &Finding) -> Value {
    let mut value = serde_json::to_value(finding).expect("all keys are texts");
    value["version"] = VERSION.into();
    for (index, step) in value["steps"].as_array_mut().into_iter().flatten().enumerate() {
        step["number"] = (index + 1).into();
    }
    value
}

/// The finding that [`json`] has made an object of.
///
/// # Errors
///
/// What keeps it from being one, in words.
pub fn read(value: Value) -> Result<Finding, String> {
    match value["version"].as_u64() {
        Some(VERSION) => {}
        Some(other) => return Err(format!("it has version {other}, and {VERSION} is understood")),
        None => return Err(String::from("it has no version")),
    }
    let finding: Finding = serde_json::from_value(value).map_err(|error| error.to_string())?;
    match finding.trace.dangling() {
        Some(what) => Err(format!("it refers to {what} that is not in it")),
        None => Ok(finding),
    }
}
