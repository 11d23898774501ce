//! What is run: programs with names.

use std::fmt;
use std::sync::Arc;

use unpick::Check;

/// The code of a program.
pub(crate) type Body = Arc<dyn Fn() + Send + Sync>;

/// Which form of a program is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As it is: it may have a bug, and the search stops there.
    Buggy,
    /// Without the bug, so that searches can be watched for longer.
    Fixed,
}

impl Form {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Form::Buggy => "buggy",
            Form::Fixed => "fixed",
        }
    }

    /// The form with this name.
    pub fn named(name: &str) -> Option<Form> {
        [Form::Buggy, Form::Fixed].into_iter().find(|form| form.name() == name)
    }
}

/// A program to compare strategies on.
#[derive(Clone)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) kind: String,
    check: Check,
    buggy: Body,
    fixed: Option<Body>,
}

impl Program {
    /// A program with this name. It is deterministic and makes all objects that it uses, as the closure
    /// of any check.
    pub fn new<F: Fn() + Send + Sync + 'static>(name: &str, body: F) -> Program {
        Program {
            name: name.to_string(),
            group: name.to_string(),
            kind: String::new(),
            check: Check::new(),
            buggy: Arc::new(body),
            fixed: None,
        }
    }

    /// The same program without its bug: what tables about whole searches are made from.
    pub fn fixed<F: Fn() + Send + Sync + 'static>(mut self, body: F) -> Program {
        self.fixed = Some(Arc::new(body));
        self
    }

    /// The programs with which it shares a row in the table of bugs that were found.
    pub fn group(mut self, name: &str) -> Program {
        self.group = name.to_string();
        self
    }

    /// What kind of bug it has: each kind has a line of its own among the sums.
    pub fn kind(mut self, name: &str) -> Program {
        self.kind = name.to_string();
        self
    }

    /// The settings that it needs. Strategy, seed and limits are those of the comparison.
    pub fn check(mut self, check: Check) -> Program {
        self.check = check;
        self
    }

    /// Whether a word of the command line means this program.
    pub(crate) fn answers_to(&self, word: &str) -> bool {
        self.name == word || self.group == word
    }

    pub(crate) fn settings(&self) -> Check {
        self.check.clone()
    }

    /// The code of a form; a program without a fixed form is as it is.
    pub(crate) fn body(&self, form: Form) -> Body {
        let fixed = self.fixed.as_ref().filter(|_| form == Form::Fixed);
        Arc::clone(fixed.unwrap_or(&self.buggy))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
