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
pub const VERSION: u32 = 2;

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
    Violation(Box<Finding>),
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

/// A violation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind in a word or two.
    pub title: String,
    /// What is wrong, a sentence a line, with marks.
    pub message: Vec<String>,
    /// Where it showed.
    pub place: Option<Code>,
    /// The threads; the main thread is the first.
    pub threads: Vec<Thread>,
    /// The objects.
    pub objects: Vec<Object>,
    /// The steps of the failing execution.
    pub steps: Vec<Step>,
    /// Call stacks.
    pub stacks: Vec<Stack>,
    /// The schedule that leads there.
    pub token: String,
    /// Name of the memory model.
    pub model: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Number of the execution that failed, from 1.
    pub execution: u64,
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

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Where it was started.
    pub spawned: Option<Code>,
    /// What called the function there, innermost first.
    #[serde(default)]
    pub callers: Vec<Code>,
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
        allocated: Option<Code>,
        /// What called the function there, as far as it is known, innermost first.
        #[serde(default)]
        callers: Vec<Code>,
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

/// One step of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Index of the thread.
    pub thread: usize,
    /// Where in the code.
    pub place: Option<Code>,
    /// What called the function there, as far as it is known, innermost first.
    #[serde(default)]
    pub callers: Vec<Code>,
    /// What happened.
    pub action: Action,
    /// Whether the violation depends on this step.
    pub deciding: bool,
}

/// Which write a read saw, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The value.
    pub value: u64,
    /// The step that wrote it; `None` for the initial value.
    pub step: Option<usize>,
    /// Whether a newer write stood earlier.
    pub stale: bool,
    /// Why a stale value may be seen.
    pub why: Option<String>,
}

/// What happened in a step. Objects, threads and steps are indices; memory orders are spelled as Rust does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the actions of a trace")]
pub enum Action {
    /// A read.
    Read { name: String, object: usize, mode: String, seen: Seen, expected: Option<u64> },
    /// A write.
    Write { name: String, object: usize, mode: String, value: u64, before: Option<usize> },
    /// A read-modify-write that wrote.
    Update { name: String, object: usize, mode: String, seen: Seen, value: u64 },
    /// A fence.
    Fence { mode: String },
    /// Started a thread.
    Spawn { thread: usize },
    /// Waited for the end of a thread.
    Join { thread: usize },
    /// The thread ended.
    End,
    /// A choice.
    Choice { value: u64, bound: u64 },
    /// A remark.
    Label { text: String },
    /// A plain access that takes part in the violation.
    Access { object: usize, writes: bool },
    /// A block of memory was allocated.
    Allocation { size: usize },
    /// That block was freed.
    Free,
    /// The program crashed.
    Crash { problem: String },
    /// An assertion failed, or the program ended itself.
    Failure { message: String },
    /// The thread waits here for ever.
    Waits { reason: String },
}

/// A call stack, innermost first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// What it is of.
    pub title: String,
    /// The places, as return addresses.
    pub frames: Vec<Code>,
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
    use super::*;

    #[test]
    fn messages_survive_the_line() {
        let step = Step {
            thread: 1,
            place: Some(Code { module: 0, offset: 7 }),
            callers: vec![Code { module: 0, offset: 9 }],
            action: Action::Free,
            deciding: true,
        };
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
            threads: vec![Thread { name: String::from("main"), spawned: None, callers: Vec::new() }],
            objects: vec![object],
            steps: vec![step],
            stacks: Vec::new(),
            token: String::from("t"),
            model: String::from("sc"),
            strategy: String::from("optimal"),
            execution: 3,
            output: Output::default(),
        };
        let messages = [
            Message::Started { version: VERSION, modules: vec![String::from("/bin/x")] },
            Message::Progress(Progress { estimate: Some((0.5, 10.0)), ..Progress::default() }),
            Message::Violation(Box::new(finding)),
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
