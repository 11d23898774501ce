//! The steps of a failing execution, and the words for what is wrong with it.

use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Site, ThreadId};
use unpick_core::trace::{Action, Object, Place, Stack, Trace, TraceThread};
use unpick_core::violation::{Access, Kind, Point, Violation, Wait, Waiter};
use unpick_report::Sources;
use unpick_runtime::record::Recorder;
use unpick_runtime::site;
use unpick_runtime::worker::Explored;

use unpick_check::steps::Steps;

/// A run that showed a violation.
pub(crate) struct FailingRun<'a> {
    pub(super) graph: &'a Graph,
    pub(super) violation: &'a Violation,
    pub(super) recorder: Option<&'a Recorder>,
    pub(super) explored: &'a Explored,
    pub(super) sources: Sources,
    pub(super) steps: Steps<'a, Place>,
    names: Vec<Option<String>>,
}

impl<'a> FailingRun<'a> {
    /// What there is to tell about a run.
    pub(crate) fn new(explored: &'a Explored, violation: &'a Violation) -> FailingRun<'a> {
        let graph = explored.execution.graph();
        FailingRun {
            graph,
            violation,
            recorder: explored.recorder.as_ref(),
            explored,
            sources: Sources::new(),
            steps: Steps::new(graph),
            names: Vec::new(),
        }
    }

    /// The trace, what is wrong in words, and where it showed.
    pub(crate) fn report(mut self) -> (Trace, Vec<String>, Option<Place>) {
        if self.graph.is_compacted() {
            return self.tell_long();
        }
        self.names = (0..self.graph.location_count()).map(|addr| self.name_of(Addr(addr as u32))).collect();
        tell_apart(&mut self.names);
        let mut labelled = vec![0; self.graph.thread_count()];
        for position in 0..self.graph.len() {
            let id = self.graph.order()[position];
            self.add_labels(id.thread, id.index, &mut labelled);
            let event = *self.graph.event(id);
            let part = self.part_of_call(id, &event);
            let (action, deciding) = part.unwrap_or_else(|| self.steps.action(id));
            self.steps.add(id, site::place(event.site), action, deciding);
        }
        for t in 0..self.graph.thread_count() {
            self.add_labels(ThreadId(t as u32), u32::MAX, &mut labelled);
        }
        let mut objects = self.objects();
        let message = self.add_violation(&mut objects);
        let fails = |action: &Action| matches!(action, Action::Panic { .. });
        self.steps.mark_by_blame(self.violation.point.thread, fails);
        let place = self.violation_place();
        let (threads, stacks) = (self.threads(), self.stacks());
        let trace = Trace { threads, objects, stacks, steps: self.steps.into_all() };
        (trace, message, place)
    }

    /// The same of an execution that is too long to be shown.
    fn tell_long(self) -> (Trace, Vec<String>, Option<Place>) {
        let place = self.violation_place();
        let thread = site::thread_name(self.violation.point.thread);
        let mut message = match &self.violation.kind {
            Kind::Panic { message, .. } => {
                let lines = message.lines().map(str::to_string);
                std::iter::once(format!("{thread} panicked:")).chain(lines).collect()
            }
            Kind::Race { accesses, .. } => {
                let told = accesses.iter().map(|access| self.told_access(access));
                let lines =
                    [String::from("two accesses are not ordered by happens-before, and one of them writes:")];
                lines.into_iter().chain(told).collect()
            }
            _ => vec![format!("a {} shows in {thread}", self.violation.title())],
        };
        message.push(format!("the execution has {} events and is not shown", self.graph.total()));
        let stacks = self.stacks();
        let name = |t: usize| TraceThread { name: site::thread_name(ThreadId(t as u32)), spawned: None };
        let threads = (0..self.graph.thread_count()).map(name).collect();
        (Trace { threads, stacks, ..Trace::default() }, message, place)
    }

    fn threads(&self) -> Vec<TraceThread> {
        let thread = |t: usize| {
            let id = ThreadId(t as u32);
            let spawn = self.graph.spawn_of(id).map(|spawn| self.graph.event(spawn).site);
            TraceThread { name: site::thread_name(id), spawned: spawn.and_then(site::place) }
        };
        (0..self.graph.thread_count()).map(thread).collect()
    }

    fn objects(&self) -> Vec<Object> {
        let kinds = &self.explored.kinds.0;
        let object = |addr: usize| {
            let kind = kinds.get(addr).copied().filter(|kind| !kind.is_empty()).unwrap_or("object");
            let name = self.names[addr].clone().unwrap_or_else(|| format!("{kind}#{addr}"));
            Object { kind: kind.to_string(), name }
        };
        (0..self.graph.location_count()).map(object).collect()
    }

    /// A name for a location, from the source of the first place that uses it.
    fn name_of(&mut self, addr: Addr) -> Option<String> {
        let events = self.graph.order().iter().map(|&id| self.graph.event(id));
        let sites: Vec<Site> = events.filter(|event| event.addr == addr).map(|event| event.site).collect();
        sites.into_iter().filter_map(site::place).find_map(|place| self.sources.receiver(&place))
    }

    fn add_labels(&mut self, thread: ThreadId, index: u32, labelled: &mut [usize]) {
        let Some(recorder) = self.recorder else { return };
        let own: Vec<_> = recorder.labels.iter().filter(|label| label.thread == thread).collect();
        while let Some(label) = own.get(labelled[thread.index()]).filter(|label| label.index <= index) {
            labelled[thread.index()] += 1;
            let action = Action::Label { text: label.text.clone() };
            let place = site::place(label.site);
            self.steps.push(thread, place, action, false);
        }
    }

    // ---------------------------------------------------------------- the violation

    /// Adds the steps that are the violation, and says what is wrong.
    fn add_violation(&mut self, objects: &mut Vec<Object>) -> Vec<String> {
        match &self.violation.kind {
            Kind::Panic { message, .. } => {
                let thread = self.violation.point.thread;
                let action = Action::Panic { message: message.clone() };
                let place = self.violation_place();
                self.steps.push(thread, place, action, true);
                let mut lines = vec![format!("{} panicked:", site::thread_name(thread))];
                lines.extend(message.lines().map(str::to_string));
                lines
            }
            Kind::Race { accesses, object } => {
                let name = self.access_name(&accesses[0]).or_else(|| self.access_name(&accesses[1]));
                let name = name.unwrap_or_else(|| object.clone());
                for access in accesses {
                    self.add_access(access, object, &name, objects);
                }
                let mut lines = vec![format!(
                    "two accesses to `{name}` are not ordered by happens-before, and one of them writes:"
                )];
                lines.extend(accesses.map(|access| self.told_access(&access)));
                if accesses.iter().any(|access| self.is_through_pointer(access)) {
                    lines.push(String::from(
                        "what is written through a pointer is told by the bytes that change: `with_mut` tells the place of the write",
                    ));
                }
                lines
            }
            Kind::Unpublished { access, creator, object } => {
                let name = self.access_name(access).unwrap_or_else(|| object.clone());
                if !access.atomic {
                    self.add_access(access, object, &name, objects);
                }
                let creator = site::thread_name(*creator);
                vec![
                    format!("`{name}` is used by a thread that has not synchronised with its creation:"),
                    self.told_access(access),
                    format!(
                        "its memory was allocated by {creator}, and nothing orders the initialisation before this use: \
                         publish the pointer with Release, and read it with Acquire"
                    ),
                ]
            }
            Kind::Deadlock { waiters } | Kind::Livelock { waiters } => self.add_waiters(waiters, objects),
            Kind::BadUnlock { problem } => vec![problem.clone()],
            Kind::Exit { code } => {
                let thread = site::thread_name(self.violation.point.thread);
                vec![format!("{thread} ended the process with code {code}")]
            }
            Kind::Abort => vec![format!("{} aborted", site::thread_name(self.violation.point.thread))],
            Kind::UseAfterFree { .. }
            | Kind::Uninitialised { .. }
            | Kind::DoubleFree { .. }
            | Kind::InvalidFree { .. }
            | Kind::Leak { .. }
            | Kind::Crash { .. } => self.add_memory_error(objects),
            // C and C++ programs have these.
            Kind::Assertion { .. } | Kind::OutOfBounds { .. } => vec![self.violation.title().to_string()],
        }
    }

    pub(super) fn add_access(&mut self, access: &Access, kind: &str, name: &str, objects: &mut Vec<Object>) {
        if self.steps.event_at(access.point).is_some() {
            return;
        }
        let known = objects.iter().position(|object| object.name == name && object.kind == kind);
        let object = known.unwrap_or_else(|| {
            objects.push(Object { kind: kind.to_string(), name: name.to_string() });
            objects.len() - 1
        });
        let action = Action::Access { object, writes: access.writes };
        self.insert(access.point, site::place(access.point.site), action);
    }

    /// Adds a step that is no event.
    pub(super) fn insert(&mut self, point: Point, place: Option<Place>, action: Action) {
        self.steps.insert(point, place, action, true);
    }

    pub(super) fn access_name(&mut self, access: &Access) -> Option<String> {
        let place = site::place(access.point.site)?;
        self.sources.receiver(&place)
    }

    pub(super) fn told_access(&self, access: &Access) -> String {
        let what = if access.writes { "write" } else { "read" };
        let how = if access.atomic { "atomic " } else { "" };
        let place = match site::place(access.point.site) {
            Some(place) => format!("{}:{}:{}", place.file, place.line, place.column),
            None => self.told_stretch(access.point),
        };
        let through =
            if self.is_through_pointer(access) { " through the pointer that was taken" } else { "" };
        format!("{how}{what} by {}{through} at {place}", site::thread_name(access.point.thread))
    }

    /// Whether all that is known of an access is where its pointer was taken.
    fn is_through_pointer(&self, access: &Access) -> bool {
        !access.atomic && self.explored.lent.is_taken(access.point.site)
    }

    /// Where a thread was when it did something that has no place of its own.
    fn told_stretch(&self, point: Point) -> String {
        let before =
            point.index.checked_sub(1).and_then(|index| self.graph.thread(point.thread).get(index as usize));
        match before.and_then(|event| site::place(event.site)) {
            Some(Place { file, line, column }) => format!("an unknown place after {file}:{line}:{column}"),
            None => String::from("an unknown place"),
        }
    }

    fn add_waiters(&mut self, waiters: &[Waiter], objects: &[Object]) -> Vec<String> {
        let mut lines = vec![String::from(match self.violation.kind {
            Kind::Livelock { .. } => {
                "no thread can go on, and a loop goes round for ever on the newest values:"
            }
            _ => "no thread can go on:",
        })];
        for waiter in waiters {
            let thread = waiter.point.thread;
            let name = site::thread_name(thread);
            let place = site::place(waiter.point.site);
            let at = place.as_ref().map_or_else(String::new, |p| format!(" at {}:{}", p.file, p.line));
            let reason = match waiter.wait {
                Wait::Lock { addr, held_by } => {
                    let lock = objects.get(addr.index()).map_or("a lock", |object| &object.name);
                    let holder = if held_by.is_init() {
                        String::from("nobody")
                    } else {
                        let event = self.graph.event(held_by);
                        let taken = site::place(event.site);
                        let taken =
                            taken.map_or_else(String::new, |p| format!(" since {}:{}", p.file, p.line));
                        self.steps.mark(held_by);
                        let holder = if held_by.thread == thread {
                            String::from("itself")
                        } else if self.graph.is_finished(held_by.thread) {
                            format!("{}, which has ended,", site::thread_name(held_by.thread))
                        } else {
                            site::thread_name(held_by.thread)
                        };
                        format!("{holder}{taken}")
                    };
                    format!("for `{lock}`, held by {holder}")
                }
                Wait::Writer { addr } => {
                    let lock = objects.get(addr.index()).map_or("a lock", |object| &object.name);
                    format!("to read `{lock}`, which it reads already, behind a thread that waits to write")
                }
                Wait::Signal { addr, .. } => {
                    let call = self.call(waiter.point.site);
                    let object = objects.get(addr.index()).map(|object| object.name.clone());
                    let call = call.or(object).unwrap_or_else(|| String::from("a signal"));
                    let last =
                        self.last_poll(waiter, addr).map_or_else(String::new, |last| format!("; {last}"));
                    format!("for `{call}` to end, and nobody is left to wake it{last}")
                }
                Wait::Join(child) => format!("for the end of {}", site::thread_name(child)),
                Wait::Spin { from, .. } => {
                    self.steps.mark_since(thread, from);
                    String::from("in a loop, for a value that nobody writes any more")
                }
                Wait::Exit => String::from("for the end of the process"),
                Wait::Assume | Wait::Bound => String::from("for a condition"),
            };
            lines.push(format!("{name} waits{at} {reason}"));
            let action = Action::Waits { reason };
            self.steps.push(thread, place, action, true);
        }
        lines
    }

    fn violation_place(&self) -> Option<Place> {
        match &self.violation.kind {
            Kind::Panic { place, .. } => {
                let mut parts = place.rsplitn(3, ':');
                let column = parts.next()?.parse().ok()?;
                let line = parts.next()?.parse().ok()?;
                Some(Place { file: parts.next()?.to_string(), line, column })
            }
            _ => site::place(self.violation.point.site).or_else(|| self.memory_error_place()),
        }
    }

    fn stacks(&self) -> Vec<Stack> {
        let Some(recorder) = self.recorder else { return Vec::new() };
        if let Some(stacks) = self.memory_error_stacks(recorder) {
            return stacks;
        }
        let mut stacks: Vec<Stack> = recorder
            .stacks
            .iter()
            .map(|(point, frames)| {
                let what = match self.violation.kind {
                    Kind::Deadlock { .. } | Kind::Livelock { .. } => "wait",
                    Kind::BadUnlock { .. } => "unlock",
                    Kind::Exit { .. } | Kind::Abort => "exit",
                    _ => "access",
                };
                Stack {
                    title: format!("{what} of {}", site::thread_name(point.thread)),
                    frames: frames.frames(),
                }
            })
            .collect();
        if let Kind::Panic { place, .. } = &self.violation.kind {
            // The program may have caught others.
            let blamed = recorder.panics.iter().rfind(|(_, known, _)| known == place);
            stacks.extend(blamed.map(|(thread, _, frames)| Stack {
                title: format!("panic of {}", site::thread_name(*thread)),
                frames: frames.frames(),
            }));
        }
        stacks
    }
}

/// Numbers the names that several objects have.
fn tell_apart(names: &mut [Option<String>]) {
    let plain = names.to_vec();
    for (index, name) in names.iter_mut().enumerate() {
        let same = |other: &&Option<String>| other.is_some() && **other == plain[index];
        if plain.iter().filter(same).count() > 1 {
            let number = plain[..=index].iter().filter(same).count();
            *name = plain[index].as_ref().map(|name| format!("{name}#{number}"));
        }
    }
}
