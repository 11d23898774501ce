//! Puts programs into sources: what Rust and C have in common.
//!
//! Each program is written down in two forms. The *real* one has its loops as a user writes them. In the *bounded* one a loop has a
//! number of rounds to spend. After the last the thread gives up: it does nothing more, as one that is not scheduled any more, and what others do
//! meanwhile is what they can do in the real one. The main thread does not come to its assertions then.
//!
//! The bounded form can be asked about something else as well: whether threads may wait for ever. Then assertions only discard
//! executions, but for one at the end, which fails if threads have given up and none of their conditions is true on the
//! newest values.

use super::program::{Look, Order, Place, Program, Round, Step, Thread};

/// Which form a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Real,
    Bounded,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Real => "real",
            Form::Bounded => "bounded",
        }
    }
}

/// How a language writes things. Expressions are numbers without a sign; statements end by themselves.
pub(crate) trait Language {
    /// Reads a shared number.
    fn load(&self, variable: usize, order: Order) -> String;
    /// Writes a shared number.
    fn store(&self, variable: usize, number: &str, order: Order) -> String;
    /// Adds to a shared number, or takes away.
    fn add(&self, variable: usize, up: bool, order: Order) -> String;
    /// What a loop does to see whether it may leave, as an expression.
    fn look(&self, look: Look, wanted: usize) -> String;
    /// Sets the number under the lock.
    fn locked_store(&self, number: usize) -> String;
    /// What is in a slot.
    fn get(&self, slot: usize, place: Place) -> String;
    /// Puts a number into a slot.
    fn set(&self, slot: usize, place: Place, number: &str) -> String;
    /// Makes a slot, in the thread that uses it.
    fn make(&self, slot: usize, place: Place) -> String;
    /// Ends it.
    fn end(&self, slot: usize, place: Place) -> String;
    /// A variable that is given a value once, or one that counts.
    fn declare(&self, name: &str, number: &str) -> String;
    /// Starts a loop without a condition.
    fn forever(&self) -> &'static str;
    /// Asserts a condition: in the bounded form by the function that knows what assertions mean there.
    fn assert(&self, condition: &str, form: Form) -> String;
    /// Has memory for a moment.
    fn temporary(&self, large: bool) -> String;
    /// Lets others run.
    fn give_way(&self, kindly: bool) -> String;
    /// Ends the thread.
    fn leave(&self) -> &'static str;
}

/// Lines, with their depth.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    /// Adds a line; one that ends with a brace begins a block, and one that begins with one ends it.
    pub(crate) fn add(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().lines().map(str::trim).filter(|line| !line.is_empty()) {
            if line.starts_with('}') {
                self.depth = self.depth.saturating_sub(1);
            }
            self.text += &"    ".repeat(self.depth);
            self.text += line;
            self.text.push('\n');
            self.depth += usize::from(line.ends_with('{'));
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// The body of a thread.
pub(crate) fn thread(language: &impl Language, thread: &Thread, form: Form, lines: &mut Lines) {
    let body = Body { language, thread, form };
    for &(slot, place) in &thread.slots {
        lines.add(language.make(slot, place));
    }
    for step in &thread.steps {
        body.step(step, lines);
    }
    body.end(lines);
}

/// What the main thread asserts once it has joined all threads. It comes that far only if none of them waits for ever.
pub(crate) fn finish(language: &impl Language, program: &Program, form: Form, lines: &mut Lines) {
    if form == Form::Bounded && program.waits().next().is_some() {
        let ends = program.waits().map(|wait| {
            let now = match wait.look {
                Look::Load(variable, _) | Look::Exchange(variable, ..) | Look::Swap(variable, ..) => {
                    language.load(variable, Order::SeqCst)
                }
                Look::TryLock | Look::Lock => language.look(Look::Lock, wait.wanted),
            };
            format!("wait_is_over({}, {now} == {})", wait.number, wait.wanted)
        });
        lines.add(language.declare("over", &ends.collect::<Vec<_>>().join(" + ")));
        lines.add("end_of_waits(over);");
    }
    let body = Body { language, thread: &Thread::default(), form };
    for step in &program.end {
        body.step(step, lines);
    }
}

struct Body<'a, L> {
    language: &'a L,
    thread: &'a Thread,
    form: Form,
}

impl<L: Language> Body<'_, L> {
    fn place(&self, slot: usize) -> Place {
        let own = self.thread.slots.iter().find(|(number, _)| *number == slot);
        own.map_or(Place::Register, |(_, place)| *place)
    }

    fn get(&self, slot: usize) -> String {
        self.language.get(slot, self.place(slot))
    }

    fn set(&self, slot: usize, number: &str) -> String {
        self.language.set(slot, self.place(slot), number)
    }

    fn end(&self, lines: &mut Lines) {
        for &(slot, place) in &self.thread.slots {
            lines.add(self.language.end(slot, place));
        }
    }

    fn step(&self, step: &Step, lines: &mut Lines) {
        let language = self.language;
        match step {
            Step::Store(variable, number, order) => {
                lines.add(language.store(*variable, &number.to_string(), *order));
            }
            Step::Add(variable, order) => lines.add(language.add(*variable, true, *order)),
            Step::CopyIf { from, is, load, missed, to, number, store } => {
                let missed =
                    missed.map(|missed| format!(" && {} == 0", language.load(missed, Order::Relaxed)));
                let missed = missed.unwrap_or_default();
                lines.add(format!("if ({} == {is}{missed}) {{", language.load(*from, *load)));
                lines.add(language.store(*to, &number.to_string(), *store));
                lines.add("}");
            }
            Step::LockedStore(number) => lines.add(language.locked_store(*number)),
            Step::Publish(slot, variable, order) => {
                lines.add(language.store(*variable, &self.get(*slot), *order));
            }
            Step::Never(variable, number, order) => {
                let condition = format!("{} != {number}", language.load(*variable, *order));
                lines.add(language.assert(&condition, self.form));
            }
            Step::NeverKept(slot, number) => {
                lines.add(language.assert(&format!("{} != {number}", self.get(*slot)), self.form));
            }
            Step::Wait(wait) => {
                if self.form == Form::Bounded {
                    lines.add(language.declare(&format!("left{}", wait.number), "rounds()"));
                }
                lines.add(language.forever());
                lines.add(language.declare("now", &language.look(wait.look, wait.wanted)));
                lines.add(format!("if (now == {}) {{\nbreak;\n}}", wait.wanted));
                if self.form == Form::Bounded {
                    let left = format!("left{}", wait.number);
                    lines.add(format!("if ({left} == 0) {{\nout_of_rounds({});", wait.number));
                    self.end(lines);
                    lines.add(language.leave());
                    lines.add(format!("}}\n{left} -= 1;"));
                }
                for round in &wait.rounds {
                    self.round(*round, lines);
                }
                lines.add("}");
            }
        }
    }

    /// A part of a round; what was read in it is `now`.
    fn round(&self, round: Round, lines: &mut Lines) {
        let language = self.language;
        let count = |slot: usize, most: usize, lines: &mut Lines| {
            lines.add(format!("if ({} < {most}) {{", self.get(slot)));
            lines.add(self.set(slot, &format!("{} + 1", self.get(slot))));
        };
        match round {
            Round::Stick(slot, number) => lines.add(self.set(slot, &number.to_string())),
            Round::Keep(slot) => lines.add(self.set(slot, "(now & 15)")),
            Round::Peek(slot, variable, order) => {
                lines.add(self.set(slot, &format!("({} & 15)", language.load(variable, order))));
            }
            Round::Count(slot, most) => {
                count(slot, most, lines);
                lines.add("}");
            }
            Round::Turn(slot) => lines.add(self.set(slot, &format!("(({} & 1) ^ 1)", self.get(slot)))),
            Round::Store(variable, number, order) => {
                lines.add(language.store(variable, &number.to_string(), order));
            }
            Round::Confirm(variable, number, load, store) => {
                lines.add(format!("if ({} == {number}) {{", language.load(variable, load)));
                lines.add(language.store(variable, &number.to_string(), store));
                lines.add("}");
            }
            Round::Undo(variable, order) => {
                lines.add(language.add(variable, true, order));
                lines.add(language.add(variable, false, order));
            }
            Round::Tire { slot, most, variable, number, order } => {
                count(slot, most, lines);
                lines.add("} else {");
                lines.add(language.store(variable, &number.to_string(), order));
                lines.add("}");
            }
            Round::Temporary(large) => lines.add(language.temporary(large)),
            Round::Yield(kindly) => lines.add(language.give_way(kindly)),
        }
    }
}
