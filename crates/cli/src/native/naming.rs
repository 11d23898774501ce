//! Names in place of addresses: from what the runtime sends to what a report shows.

use std::path::Path;
use std::rc::Rc;

use unpick_core::op::{Mode, Rmw};
use unpick_core::trace::{self, Finding, Place, Source, Stack, Trace, TraceThread};
use unpick_names::{Frame, Module, Names, OnStack};
use unpick_native_wire::{self as wire, Action, Code, Home, Mark, StackFrame};

/// Folders of code that is not the user's own.
const FOREIGN: [&str; 3] = ["/usr/include/", "/usr/lib/", "/build/"];

/// Gives names.
#[derive(Default)]
pub(super) struct Naming {
    names: Names,
    modules: Vec<String>,
}

impl Naming {
    /// Names of what lies in these modules.
    pub(super) fn new(modules: Vec<String>) -> Naming {
        Naming { names: Names::default(), modules }
    }

    fn module(&self, code: Code) -> Option<Rc<Module>> {
        let path = self.modules.get(code.module as usize)?;
        self.names.module(Path::new(path)).ok()
    }

    /// The functions at a place, innermost first.
    fn frames(&self, code: Code) -> Vec<Frame> {
        self.module(code).map_or_else(Vec::new, |module| module.call(code.offset))
    }

    /// What a place can be called: the functions, their files, and the module.
    pub(super) fn all_names(&self, code: Code) -> Vec<String> {
        let frames = self.frames(code);
        let module = self.modules.get(code.module as usize).cloned();
        let names = frames.into_iter().flat_map(|frame| [frame.whole(), frame.function, frame.file]);
        names.chain([module]).flatten().collect()
    }

    /// A place in the source: that of the user's own code, if there is some.
    fn place(&self, code: Code) -> Option<Place> {
        let frames = self.frames(code);
        place_of(frames.iter().find(|frame| is_own(frame)).or_else(|| frames.first())?)
    }

    /// The same, where the functions are known that have called the one there.
    fn place_in(&self, code: Option<Code>, callers: &[Code]) -> Option<Place> {
        let all = code.into_iter().chain(callers.iter().copied());
        let own = all.flat_map(|code| self.frames(code)).find(is_own);
        own.as_ref().and_then(place_of).or_else(|| self.place(code?))
    }

    /// A place in a text.
    fn told(&self, code: Code) -> String {
        if let Some(Place { file, line, .. }) = self.place(code) {
            return format!("{file}:{line}");
        }
        let function = self.frames(code).into_iter().find_map(|frame| frame.function);
        let module = self.modules.get(code.module as usize).map_or("?", |path| file_name(path));
        match function {
            Some(function) => format!("{function} ({module})"),
            None => format!("{module}+{:#x}", code.offset),
        }
    }

    /// The name of an object.
    pub(super) fn object(&self, object: &wire::Object) -> String {
        let wire::Object { address, size, .. } = *object;
        match object.home {
            Home::Static(code) => {
                let module = self.module(code);
                let variable = module.and_then(|module| module.variable(code.offset, size.max(1)));
                variable.map_or_else(|| format!("{address:#x}"), |variable| variable.to_string())
            }
            Home::Heap { offset, size: bytes, allocated, ref callers } => {
                let Some(code) = allocated else { return format!("{address:#x}") };
                let all = [code].into_iter().chain(callers.iter().copied());
                // What has called the function of the user's that allocates is something else.
                let own = all.map(|code| self.frames(code)).scan(false, |done, frames| {
                    let before = std::mem::replace(done, *done || frames.iter().any(is_own));
                    (!before).then_some(frames)
                });
                let frames: Vec<Frame> = own.flatten().collect();
                let told = match self.place_in(allocated, callers) {
                    Some(Place { file, line, .. }) => format!("{file}:{line}"),
                    None => self.told(code),
                };
                let module = self.module(code);
                let part = module.and_then(|module| module.block(&frames, bytes, offset, size.max(1)));
                match part {
                    Some(part) => part.to_string(),
                    None if offset == 0 => format!("block of {told}"),
                    None => format!("block of {told}+{offset}"),
                }
            }
            Home::Stack { thread, ref frames } => {
                let local = |&StackFrame { code, frame, stack }: &StackFrame| {
                    // The call comes before the place that it returns to.
                    let call = code.offset.saturating_sub(1);
                    self.module(code)?.local(call, OnStack { frame, stack }, size.max(1))
                };
                if let Some(variable) = frames.iter().find_map(local) {
                    return variable.to_string();
                }
                let owner = if thread == 0 { String::from("main") } else { format!("T{thread}") };
                format!("{address:#x} on the stack of {owner}")
            }
            Home::Unknown => format!("{address:#x}"),
        }
    }

    /// The text with names in place of marks; `objects` are the names of objects.
    pub(super) fn resolved(&self, text: &str, objects: &[String]) -> String {
        wire::resolve(text, |what| match what {
            Mark::Code(code) => self.told(code),
            Mark::Object(object) => objects.get(object).cloned().unwrap_or_else(|| String::from("memory")),
        })
    }

    /// A violation, with names.
    pub(super) fn finding(&self, finding: wire::Finding) -> Finding {
        let mut names: Vec<String> = finding.objects.iter().map(|object| self.object(object)).collect();
        tell_apart(&mut names);
        let objects = finding.objects.iter().zip(&names);
        let objects =
            objects.map(|(object, name)| trace::Object { kind: object.kind.clone(), name: name.clone() });
        let threads = finding.threads.into_iter().map(|thread| TraceThread {
            spawned: self.place_in(thread.spawned, &thread.callers),
            name: thread.name,
        });
        let steps = finding.steps.into_iter().map(|step| trace::Step {
            thread: step.thread,
            place: self.place_in(step.place, &step.callers),
            action: self.action(step.action, &names),
            deciding: step.deciding,
        });
        let here = finding.stacks.iter().find(|stack| stack.frames.first().copied() == finding.place);
        let place = self.place_in(finding.place, here.map_or(&[], |stack| &stack.frames));
        let stacks = finding.stacks.into_iter().map(|stack| Stack {
            title: stack.title,
            frames: stack
                .frames
                .iter()
                .flat_map(|&code| self.frames(code))
                .map(|frame| named(&frame))
                .collect(),
        });
        let message = finding.message.iter().map(|line| self.resolved(line, &names)).collect();
        Finding {
            title: finding.title,
            message,
            place,
            trace: Trace {
                threads: threads.collect(),
                objects: objects.collect(),
                steps: steps.collect(),
                stacks: stacks.collect(),
            },
            token: finding.token,
            model: finding.model,
            strategy: finding.strategy,
            execution: finding.execution,
        }
    }

    fn action(&self, action: Action, names: &[String]) -> trace::Action {
        match action {
            Action::Read { name, object, mode, seen, expected } => trace::Action::Read {
                name: operation(&name),
                object,
                mode: order(&mode),
                seen: seen_of(seen),
                expected,
            },
            Action::Write { name, object, mode, value, before } => {
                trace::Action::Write { name: operation(&name), object, mode: order(&mode), value, before }
            }
            Action::Update { name, object, mode, seen, value } => trace::Action::Update {
                name: operation(&name),
                object,
                mode: order(&mode),
                seen: seen_of(seen),
                value,
            },
            Action::Fence { mode } => trace::Action::Fence { mode: order(&mode) },
            Action::Spawn { thread } => trace::Action::Spawn { thread },
            Action::Join { thread } => trace::Action::Join { thread },
            Action::End => trace::Action::End,
            Action::Choice { value, bound } => trace::Action::Choice { value, bound },
            Action::Label { text } => trace::Action::Label { text },
            Action::Access { object, writes } => trace::Action::Access { object, writes },
            Action::Allocation { size } => trace::Action::Allocation { size },
            Action::Free => trace::Action::Free,
            Action::Crash { problem } => trace::Action::Crash { problem },
            Action::Failure { message } => trace::Action::Failure { message },
            Action::Waits { reason } => trace::Action::Waits { reason: self.resolved(&reason, names) },
        }
    }
}

/// Whether code is the user's own.
fn is_own(frame: &Frame) -> bool {
    frame.file.as_ref().is_some_and(|file| !FOREIGN.iter().any(|folder| file.starts_with(folder)))
}

fn place_of(frame: &Frame) -> Option<Place> {
    let (file, line) = (frame.file.clone()?, frame.line?);
    Some(Place { file, line, column: frame.column.unwrap_or(1).max(1) })
}

fn named(frame: &Frame) -> (String, Option<Place>) {
    (frame.function.clone().unwrap_or_else(|| String::from("?")), place_of(frame))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn seen_of(seen: wire::Seen) -> trace::Seen {
    let source = seen.step.map_or(Source::Initial, Source::Step);
    trace::Seen { value: seen.value, source, stale: seen.stale, why: seen.why }
}

/// A memory order by its name.
fn order(name: &str) -> Mode {
    let all = [Mode::Plain, Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel];
    all.into_iter().find(|mode| mode.name() == name).unwrap_or(Mode::SeqCst)
}

/// The name of an operation, as a report has it.
fn operation(name: &str) -> &'static str {
    let all = [
        Rmw::None,
        Rmw::Add,
        Rmw::Sub,
        Rmw::And,
        Rmw::Or,
        Rmw::Xor,
        Rmw::Nand,
        Rmw::Max,
        Rmw::Min,
        Rmw::Swap,
        Rmw::Cas,
        Rmw::WeakCas,
        Rmw::Lock,
        Rmw::TryLock,
        Rmw::Await,
        Rmw::Post,
        Rmw::TakeBit,
        Rmw::TakeAll,
        Rmw::GiveUp,
        Rmw::AddIf,
    ];
    let known = all.into_iter().map(Rmw::name).chain(["store", "unlock"]);
    known.into_iter().find(|known| *known == name).unwrap_or("operation")
}

/// Numbers the names that several objects have.
fn tell_apart(names: &mut [String]) {
    let plain = names.to_vec();
    for (index, name) in names.iter_mut().enumerate() {
        let same = |other: &&String| **other == plain[index];
        if plain.iter().filter(same).count() > 1 {
            *name = format!("{name}#{}", plain[..=index].iter().filter(same).count());
        }
    }
}
