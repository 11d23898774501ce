//! Names in place of addresses: from what the runtime sends to what a report shows.

use std::path::Path;
use std::rc::Rc;

use unpick_core::trace::{self, Action, Finding, Place, Stack, Step, Trace, TraceThread};
use unpick_names::{Frame, Module, Names, OnStack};
use unpick_native_wire::{self as wire, Code, Home, Mark, Spot, StackFrame};

use crate::cc::kit;

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
    fn place_in(&self, spot: Option<&Spot>) -> Option<Place> {
        let spot = spot?;
        let own = spot.all().flat_map(|code| self.frames(code)).find(is_own);
        own.as_ref().and_then(place_of).or_else(|| self.place(spot.code))
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
            Home::Heap { offset, size: bytes, ref allocated } => {
                let Some(spot) = allocated else { return format!("{address:#x}") };
                let code = spot.code;
                // What has called the function of the user's that allocates is something else.
                let own = spot.all().map(|code| self.frames(code)).scan(false, |done, frames| {
                    let before = std::mem::replace(done, *done || frames.iter().any(is_own));
                    (!before).then_some(frames)
                });
                let frames: Vec<Frame> = own.flatten().collect();
                let told = match self.place_in(Some(spot)) {
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
        let wire::Trace { threads, objects, steps, stacks } = finding.trace;
        let mut names: Vec<String> = objects.iter().map(|object| self.object(object)).collect();
        tell_apart(&mut names);
        let named = objects.iter().zip(&names);
        let objects = named.map(|(wire::Object { kind, .. }, name)| trace::Object {
            kind: kind.clone(),
            name: name.clone(),
        });
        let threads = threads.into_iter().map(|TraceThread { name, spawned }| TraceThread {
            name,
            spawned: self.place_in(spawned.as_ref()),
        });
        let steps = steps.into_iter().map(|Step { thread, place, action, deciding }| {
            let action = match action {
                Action::Waits { reason } => Action::Waits { reason: self.resolved(&reason, &names) },
                action => action,
            };
            Step { thread, place: self.place_in(place.as_ref()), action, deciding }
        });
        let stacks = stacks.into_iter().map(|Stack { title, frames }| {
            let frames = frames.into_iter().flat_map(|code| self.frames(code));
            Stack { title, frames: frames.map(|frame| shown(&frame)).collect() }
        });
        let place = self.place_in(finding.place.as_ref());
        Finding {
            title: finding.title,
            message: finding.message.iter().map(|line| self.resolved(line, &names)).collect(),
            line: place.as_ref().and_then(unpick_report::source::line),
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
}

/// Whether code is the user's own.
fn is_own(frame: &Frame) -> bool {
    let is_foreign =
        |file: &str| FOREIGN.iter().any(|folder| file.starts_with(folder)) || kit::is_header(file);
    frame.file.as_ref().is_some_and(|file| !is_foreign(file))
}

fn place_of(frame: &Frame) -> Option<Place> {
    let (file, line) = (frame.file.clone()?, frame.line?);
    Some(Place { file, line, column: frame.column.unwrap_or(1).max(1) })
}

fn shown(frame: &Frame) -> trace::Frame {
    trace::Frame {
        function: frame.function.clone().unwrap_or_else(|| String::from("?")),
        place: place_of(frame),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
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
