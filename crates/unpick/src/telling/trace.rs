//! The steps of a failing execution, and the words for what is wrong with it.

use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind as EventKind, Rmw, Site, ThreadId};
use unpick_core::trace::{Action, Object, Place, Seen, Source, Stack, Step, Trace, TraceThread};
use unpick_core::violation::{Access, Kind, Point, Violation, Wait, Waiter};
use unpick_report::Sources;
use unpick_runtime::record::Recorder;
use unpick_runtime::site;
use unpick_runtime::worker::Explored;

use unpick_check::blame;
use unpick_check::steps::{self, Steps};

/// A run that showed a violation.
pub(crate) struct Told<'a> {
    pub(super) graph: &'a Graph,
    pub(super) violation: &'a Violation,
    pub(super) recorder: Option<&'a Recorder>,
    pub(super) explored: &'a Explored,
    pub(super) sources: Sources,
    pub(super) steps: Vec<Step>,
    step_of: Steps<'a>,
    names: Vec<Option<String>>,
}

impl<'a> Told<'a> {
    /// What there is to tell about a run.
    pub(crate) fn new(explored: &'a Explored, violation: &'a Violation) -> Told<'a> {
        let graph = explored.execution.graph();
        Told {
            graph,
            violation,
            recorder: explored.recorder.as_ref(),
            explored,
            sources: Sources::new(),
            steps: Vec::new(),
            step_of: Steps::new(graph),
            names: Vec::new(),
        }
    }

    /// The trace, what is wrong in words, and where it showed.
    pub(crate) fn tell(mut self) -> (Trace, Vec<String>, Option<Place>) {
        if self.graph.is_compacted() {
            return self.tell_long();
        }
        self.names = (0..self.graph.location_count()).map(|addr| self.name_of(Addr(addr as u32))).collect();
        tell_apart(&mut self.names);
        let mut labelled = vec![0; self.graph.thread_count()];
        for position in 0..self.graph.len() {
            let id = self.graph.order()[position];
            self.add_labels(id.thread, id.index, &mut labelled);
            self.step_of.push(self.steps.len());
            let event = *self.graph.event(id);
            let part = self.part_of_call(id, &event);
            let (action, deciding) = part.unwrap_or_else(|| self.action(id, &event));
            self.steps.push(Step {
                thread: id.thread.index(),
                place: site::place(event.site),
                action,
                deciding,
            });
        }
        for t in 0..self.graph.thread_count() {
            self.add_labels(ThreadId(t as u32), u32::MAX, &mut labelled);
        }
        let mut objects = self.objects();
        let message = self.add_violation(&mut objects);
        self.mark_by_blame();
        let place = self.violation_place();
        let trace = Trace { threads: self.threads(), objects, stacks: self.stacks(), steps: self.steps };
        (trace, message, place)
    }

    /// The same of an execution that is too long to be shown.
    fn tell_long(mut self) -> (Trace, Vec<String>, Option<Place>) {
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
        self.steps.clear();
        (Trace { threads, objects: Vec::new(), stacks, steps: self.steps }, message, place)
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
            self.steps.push(Step { thread: thread.index(), place, action, deciding: false });
        }
    }

    /// What an event did, and whether it is out of the ordinary.
    fn action(&self, id: EventId, event: &Event) -> (Action, bool) {
        let object = event.addr.index();
        let (name, mode) = (event.name(), event.effective_mode());
        match event.kind {
            EventKind::Read => {
                let seen = self.seen(id, event);
                let stale = seen.stale;
                if event.is_update() {
                    return (Action::Update { name, object, mode, seen, value: event.value }, stale);
                }
                let cas = matches!(event.rmw, Rmw::Cas | Rmw::WeakCas);
                let expected = cas.then_some(event.expected);
                (Action::Read { name, object, mode, seen, expected }, stale)
            }
            EventKind::Write => {
                let before = blame::overtaken_write(self.graph, id).map(|write| self.step(write));
                (Action::Write { name, object, mode, value: event.value, before }, before.is_some())
            }
            EventKind::Fence => (Action::Fence { mode: event.mode }, false),
            EventKind::Spawn => (Action::Spawn { thread: event.value as usize }, false),
            EventKind::Join => (Action::Join { thread: event.value as usize }, false),
            EventKind::Finish => (Action::End, false),
            EventKind::Choice if event.is_timeout() => {
                (Action::Label { text: event.name().to_string() }, true)
            }
            EventKind::Choice => {
                (Action::Choice { value: event.value, bound: event.expected }, event.value != 0)
            }
        }
    }

    fn seen(&self, id: EventId, event: &Event) -> Seen {
        let value = self.graph.read_value(id);
        let source = match event.rf.is_init() {
            true => Source::Initial,
            false => Source::Step(self.step(event.rf)),
        };
        let newer = blame::newer_write(self.graph, id);
        let why = newer.map(|newer| blame::why(&self.step_of, id, newer));
        Seen { value, source, stale: newer.is_some(), why }
    }

    /// Marks the reads and writes between which synchronisation is missing.
    fn mark_by_blame(&mut self) {
        let mut marked = blame::unsynchronised(self.graph);
        if self.steps.iter().all(|step| !step.deciding || matches!(step.action, Action::Panic { .. })) {
            marked.extend(blame::communications(self.graph, self.violation.point.thread));
        }
        for id in marked {
            let step = self.step(id);
            self.steps[step].deciding = true;
        }
    }

    pub(super) fn step(&self, id: EventId) -> usize {
        self.step_of.of(id)
    }

    // ---------------------------------------------------------------- the violation

    /// Adds the steps that are the violation, and says what is wrong.
    fn add_violation(&mut self, objects: &mut Vec<Object>) -> Vec<String> {
        match &self.violation.kind {
            Kind::Panic { message, .. } => {
                let thread = self.violation.point.thread;
                let action = Action::Panic { message: message.clone() };
                let place = self.violation_place();
                self.steps.push(Step { thread: thread.index(), place, action, deciding: true });
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
                let told = accesses.map(|access| self.told_access(&access));
                vec![
                    format!(
                        "two accesses to `{name}` are not ordered by happens-before, and one of them writes:"
                    ),
                    told[0].clone(),
                    told[1].clone(),
                ]
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
            _ => self.add_memory_error(objects),
        }
    }

    pub(super) fn add_access(&mut self, access: &Access, kind: &str, name: &str, objects: &mut Vec<Object>) {
        if self.step_of.event_at(access.point).is_some() {
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
        let at = self.step_of.make_room(point, self.steps.len());
        for step in &mut self.steps {
            make_room(&mut step.action, at);
        }
        self.steps.insert(at, Step { thread: point.thread.index(), place, action, deciding: true });
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
            None => String::from("an unknown place"),
        };
        format!("{how}{what} by {} at {place}", site::thread_name(access.point.thread))
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
                        let step = self.step(held_by);
                        self.steps[step].deciding = true;
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
                    self.mark_spin(thread, from);
                    String::from("in a loop, for a value that nobody writes any more")
                }
                Wait::Exit => String::from("for the end of the process"),
                Wait::Assume | Wait::Bound => String::from("for a condition"),
            };
            lines.push(format!("{name} waits{at} {reason}"));
            let action = Action::Waits { reason };
            self.steps.push(Step { thread: thread.index(), place, action, deciding: true });
        }
        lines
    }

    fn mark_spin(&mut self, thread: ThreadId, from: u32) {
        for index in from as usize..self.graph.thread_len(thread) {
            let step = self.step(EventId::new(thread, index));
            self.steps[step].deciding = true;
        }
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
                    Kind::Race { .. } | Kind::Unpublished { .. } => "access",
                    Kind::BadUnlock { .. } => "unlock",
                    Kind::Exit { .. } | Kind::Abort => "exit",
                    _ => "wait",
                };
                Stack {
                    title: format!("{what} of {}", site::thread_name(point.thread)),
                    frames: frames.frames(),
                }
            })
            .collect();
        if let (Kind::Panic { .. }, Some((thread, frames))) = (&self.violation.kind, &recorder.panic) {
            stacks.push(Stack {
                title: format!("panic of {}", site::thread_name(*thread)),
                frames: frames.frames(),
            });
        }
        stacks
    }
}

/// Makes room for a step at `at` in what an action says about other steps.
fn make_room(action: &mut Action, at: usize) {
    match action {
        Action::Read { seen, .. } | Action::Update { seen, .. } => {
            if let Source::Step(step) = &mut seen.source {
                steps::shift(step, at);
            }
            seen.why.iter_mut().for_each(|why| steps::renumber(why, at));
        }
        Action::Write { before: Some(step), .. } => steps::shift(step, at),
        _ => {}
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
