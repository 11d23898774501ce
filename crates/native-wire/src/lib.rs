//! What the runtime inside a C or C++ program tells the command line that started it.
//!
//! The runtime writes [`Message`]s to a file descriptor that it inherits, one JSON object a line. It knows
//! no names: places in the code are module and offset ([`Code`]), objects are addresses ([`Object`]). The
//! command line, which can read the symbols of the program, puts names in their place. In texts they stand
//! as marks, which [`mark`] makes and [`resolve`] replaces.
//!
//! One message is a [`Question`], and is answered by an [`Answer`], on the same descriptor.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

mod text;

pub use text::{Mark, mark, resolve};

/// The variable of the environment that makes the runtime explore; its value is the number of the file
/// descriptor for messages.
pub const CHANNEL: &str = "UNPICK_CHANNEL";

/// The value of that variable for a program that runs one execution under a debugger: no message is sent.
pub const DEBUGGER: &str = "debugger";

/// The version of the messages.
pub const VERSION: u32 = 4;

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum Message {
    /// The exploration begins.
    Started {
        /// As [`VERSION`].
        version: u32,
        /// Paths of the program and its libraries; [`Code::module`] counts in this list.
        modules: Vec<String>,
    },
    /// How far the exploration has come.
    Progress(Progress),
    /// A violation was found.
    Violation(Box<Found>),
    /// Whether a violation is known; the exploration waits for the answer.
    Ask(Question),
    /// The exploration is over.
    Ended(Verdict),
    /// The exploration could not be carried out.
    Failed {
        /// What happened, and what to do; may have marks.
        text: String,
    },
}

/// How far an exploration has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Time since the start, in milliseconds.
    pub elapsed: u64,
    /// Executions so far.
    pub executions: u64,
    /// Those of them in which a thread can never go on.
    pub blocked: u64,
    /// Name of the strategy that is at work.
    pub strategy: String,
    /// Bound on preemptions that is being explored.
    pub bound: Option<u32>,
    /// The highest bound within which everything has been explored.
    pub explored: Option<u32>,
    /// The same for sequentially consistent executions only.
    pub explored_traces: Option<u32>,
    /// The part that is done, and how many executions there are in all.
    pub estimate: Option<(f64, f64)>,
    /// Executions that were drawn at random.
    pub sampled: u64,
    /// Distinct pairs of a write and a read that sees it.
    pub pairs: Option<usize>,
    /// How often the search has started over.
    pub restarts: u64,
}

/// What the whole exploration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Everything was explored, and no property broken.
    Holds,
    /// A property was broken.
    Violated,
    /// No violation was found, but not everything was explored.
    Inconclusive,
}

/// What comes at the end of an exploration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// In a word.
    pub ending: Ending,
    /// In some lines, with marks.
    pub text: String,
    /// Executions in which all threads ended.
    pub executions: u64,
    /// Executions in which a thread could never go on, for a reason that is no violation.
    pub blocked: u64,
    /// Events, replayed ones included.
    pub events: u64,
    /// CPU time in microseconds.
    pub cpu: u64,
    /// What is no violation, and worth a look.
    pub warnings: Vec<Warning>,
}

/// Something that is no violation, and worth a look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// A sentence, with marks; object 0 is the one below.
    pub text: String,
    /// What it is about.
    pub object: Object,
}

/// Asks whether a violation is known. It is asked only where the settings name a file with known ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What it is: `race`, `deadlock` or `leak`.
    pub kind: String,
    /// The places where it shows.
    pub places: Vec<Code>,
    /// The call stacks that lead there, innermost first, as far as they are known.
    pub stacks: Vec<Vec<Code>>,
    /// The memory that it is about.
    pub object: Option<Object>,
}

/// Whether a violation is known, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is not.
    New,
    /// By one of the places, or by the memory.
    ByPlace,
    /// By a function that has called one of the places.
    ByCaller,
}

impl Answer {
    /// The answer as a line, with its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("an answer is a string") + "\n"
    }

    /// The answer of a line.
    ///
    /// # Errors
    ///
    /// When the line is no answer.
    pub fn read(line: &str) -> Result<Answer, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// A place in the code: an address in a module, which a call returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Code {
    /// Index of the module.
    pub module: u32,
    /// Offset from where the module is loaded.
    pub offset: u64,
}

/// A place in the code, and what called the function there, innermost first, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// The place.
    pub code: Code,
    /// What called the function.
    #[serde(default)]
    pub callers: Vec<Code>,
}

impl Spot {
    /// All places, innermost first.
    pub fn all(&self) -> impl Iterator<Item = Code> {
        std::iter::once(self.code).chain(self.callers.iter().copied())
    }
}

/// A violation without names; what is wrong, and what threads wait for, is told with marks.
pub type Finding = unpick_core::trace::Finding<Spot, Object, Code>;

/// A failing execution without names.
pub type Trace = unpick_core::trace::Trace<Spot, Object, Code>;

/// A violation that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The violation.
    pub finding: Finding,
    /// What the failing execution wrote to standard output and standard error.
    pub output: Output,
}

/// What an execution wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// To standard output.
    pub stdout: String,
    /// To standard error.
    pub stderr: String,
}

/// Something in memory that the execution used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// What it is: `atomic`, `mutex`, `memory`, ...
    pub kind: String,
    /// Its address in that execution.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Where it lies.
    pub home: Home,
}

/// Where an object lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// In static memory of a module.
    Static(Code),
    /// In a block of the heap.
    Heap {
        /// Offset in the block.
        offset: u64,
        /// Bytes of the block.
        size: u64,
        /// Where the block was allocated, if that is known.
        allocated: Option<Spot>,
    },
    /// On a stack.
    Stack {
        /// Index of the thread.
        thread: usize,
        /// Functions whose variable it may be, the likeliest first.
        frames: Vec<StackFrame>,
    },
    /// Elsewhere.
    Unknown,
}

/// A function that a thread was in, and where an object lies from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackFrame {
    /// Where the function goes on.
    pub code: Code,
    /// Bytes from its canonical frame address, which is the stack pointer before it was called.
    pub frame: i64,
    /// Bytes from its stack pointer.
    pub stack: i64,
}

impl Message {
    /// The message as a line, with its end.
    pub fn line(&self) -> String {
        let text = serde_json::to_string(self).expect("messages have string keys and finite numbers");
        text + "\n"
    }

    /// The message of a line.
    ///
    /// # Errors
    ///
    /// When the line is no message.
    pub fn read(line: &str) -> Result<Message, serde_json::Error> {
        serde_json::from_str(line)
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::trace::{Action, Step, TraceThread};

    use super::*;

    #[test]
    fn messages_survive_the_line() {
        let spot = |offset| {
            Some(Spot { code: Code { module: 0, offset }, callers: vec![Code { module: 0, offset: 9 }] })
        };
        let step = Step { thread: 1, place: spot(7), action: Action::Free, deciding: true };
        let object = Object {
            kind: String::from("atomic"),
            address: 16,
            size: 4,
            home: Home::Static(Code { module: 1, offset: 3 }),
        };
        let finding = Finding {
            title: String::from("data race"),
            message: vec![String::from("one"), String::from("two")],
            place: None,
            line: None,
            trace: Trace {
                threads: vec![TraceThread { name: String::from("main"), spawned: spot(8) }],
                objects: vec![object],
                steps: vec![step],
                stacks: Vec::new(),
            },
            token: String::from("t"),
            model: String::from("sc"),
            strategy: String::from("optimal"),
            execution: 3,
        };
        let found = Found { finding, output: Output::default() };
        let messages = [
            Message::Started { version: VERSION, modules: vec![String::from("/bin/x")] },
            Message::Progress(Progress { estimate: Some((0.5, 10.0)), ..Progress::default() }),
            Message::Violation(Box::new(found)),
            Message::Ask(Question {
                kind: String::from("race"),
                places: vec![Code { module: 0, offset: 1 }],
                stacks: vec![Vec::new()],
                object: None,
            }),
            Message::Failed { text: String::from("no\nline") },
        ];
        for answer in [Answer::New, Answer::ByPlace, Answer::ByCaller] {
            assert_eq!(Answer::read(&answer.line()).ok(), Some(answer));
        }
        for message in messages {
            let line = message.line();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(Message::read(&line).ok(), Some(message));
        }
    }
}
