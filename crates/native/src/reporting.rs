//! From a violation to what is sent about it.
//!
//! The part of the graph that the violation rests on is run once more to see that it fails again, and a second
//! time to keep the call stacks and what the program writes. Names are put in by whoever gets the message.

use std::cmp::Reverse;

use unpick_check::steps::Steps;
use unpick_check::{Config, Error, strategies};
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Kind as EventKind, Site, ThreadId};
use unpick_core::schedule::Schedule;
use unpick_core::trace::{Action, Stack, TraceThread};
use unpick_core::violation::{Access, Kind, Point, Violation, Wait, Waiter};
use unpick_driver::witness::{Witness, retrace};
use unpick_native_wire::{Code, Finding, Found, Home, Mark, Object, Spot, StackFrame, Trace, mark};

use crate::explore;
use crate::heap;
use crate::places::Key;
use crate::session::{Session, thread_name};

/// Functions at most that are told for something on a stack.
const FRAMES: usize = 8;

/// Tells a violation that was found.
pub(crate) fn report(
    session: &mut Session,
    config: &Config,
    violation: &Violation,
    witness: &Witness,
    number: u64,
) -> Result<Found, Error> {
    witness.tell(|schedule, _| report_schedule(session, config, violation, schedule, number))
}

/// Tells the violation at the end of a schedule.
pub(crate) fn report_schedule(
    session: &mut Session,
    config: &Config,
    violation: &Violation,
    schedule: &Schedule,
    number: u64,
) -> Result<Found, Error> {
    let lost = |session: &Session| Error::Token {
        problem: format!(
            "an execution with a {} was found, but running it again did not show it; the program may not be \
             deterministic: look for clocks, random numbers, files, or addresses used as data{}",
            violation.title(),
            session.modules.told_unseen()
        ),
    };
    let follow = |wanted| explore::follow_with_output(session, config, schedule, wanted);
    let (output, told) = retrace(violation, false, follow)?.ok_or_else(|| lost(session))?;
    let mut run = FailingRun::new(session, &told);
    let message = run.report();
    let place = run.code(told.point.site);
    let FailingRun { steps, objects, .. } = run;
    let stacks = stacks(session);
    let here = stacks.iter().find(|stack| stack.frames.first().copied() == place);
    let callers = here.map_or_else(Vec::new, |stack| stack.frames.clone());
    let finding = Finding {
        title: told.title().to_string(),
        message,
        place: place.map(|code| Spot { code, callers }),
        line: None,
        trace: Trace { threads: threads(session), objects, steps: steps.into_all(), stacks },
        token: schedule.to_string(),
        model: config.model.clone(),
        strategy: strategies::title(config),
        execution: number,
    };
    Ok(Found { finding, output })
}

fn threads(session: &Session) -> Vec<TraceThread<Spot>> {
    let graph = session.search.execution.graph();
    let thread = |t: usize| {
        let id = ThreadId(t as u32);
        let spawned = graph.spawn_of(id).and_then(|spawn| spot_of_event(session, spawn));
        TraceThread { name: thread_name(id), spawned }
    };
    (0..graph.thread_count()).map(thread).collect()
}

/// Where an event was taken.
fn spot_of_event(session: &Session, id: EventId) -> Option<Spot> {
    let EventId { thread, index } = id;
    spot_of(session, Point { thread, index, site: session.search.execution.graph().event(id).site })
}

/// Where a thread was.
fn spot_of(session: &Session, point: Point) -> Option<Spot> {
    let code = session.modules.code(point.site.0 as usize)?;
    let recorder = session.recorder.as_ref();
    let known = recorder.and_then(|recorder| recorder.callers.get(&(point.thread, point.index)));
    let callers = known.into_iter().flatten().filter_map(|&address| session.modules.code(address)).collect();
    Some(Spot { code, callers })
}

fn stacks(session: &Session) -> Vec<Stack<Code>> {
    let recorded = session.recorder.iter().flat_map(|recorder| &recorder.stacks);
    recorded
        .map(|(point, addresses)| Stack {
            title: thread_name(point.thread),
            frames: addresses.iter().filter_map(|&address| session.modules.code(address)).collect(),
        })
        .collect()
}

/// A run that showed a violation.
struct FailingRun<'a> {
    session: &'a Session,
    graph: &'a Graph,
    violation: &'a Violation,
    steps: Steps<'a, Spot>,
    objects: Vec<Object>,
}

impl<'a> FailingRun<'a> {
    fn new(session: &'a Session, violation: &'a Violation) -> FailingRun<'a> {
        let graph = session.search.execution.graph();
        let mut run = FailingRun { session, graph, violation, steps: Steps::new(graph), objects: Vec::new() };
        let keys = &session.places.keys;
        for addr in 0..graph.location_count() {
            let object = match keys.get(addr).copied().flatten() {
                Some(key) => run.object(key.kind, key.address, size_of_kind(key)),
                None => Object { kind: String::from("object"), address: 0, size: 0, home: Home::Unknown },
            };
            run.objects.push(object);
        }
        run
    }

    fn code(&self, site: Site) -> Option<Code> {
        self.session.modules.code(site.0 as usize)
    }

    /// Something in memory.
    fn object(&self, kind: &str, address: usize, size: usize) -> Object {
        let home = if heap::contains(address) {
            // The block of the run that has ended is forgotten; its notes were kept.
            self.session.blocks.iter().rev().find(|block| block.contains(address)).map_or(
                Home::Unknown,
                |block| Home::Heap {
                    offset: (address - block.start) as u64,
                    size: block.size as u64,
                    allocated: self
                        .code(block.site)
                        .map(|code| Spot { code, callers: self.callers_of_block(block.start) }),
                },
            )
        } else if let Some(code) = self.session.modules.code(address) {
            Home::Static(code)
        } else {
            let stack = self.session.limits.stack_size.max(8 << 20);
            let threads = &self.session.threads;
            let owner = threads.iter().position(|t| (t.fiber.top - stack..t.fiber.top).contains(&address));
            owner.map_or(Home::Unknown, |thread| Home::Stack { thread, frames: self.owners(thread, address) })
        };
        Object { kind: kind.to_string(), address: address as u64, size: size as u64, home }
    }

    /// What called the function that has allocated a block.
    fn callers_of_block(&self, start: usize) -> Vec<Code> {
        let known = self.session.recorder.as_ref().and_then(|recorder| recorder.blocks.get(&start));
        known.into_iter().flatten().filter_map(|&address| self.session.modules.code(address)).collect()
    }

    /// Functions that something on a stack may be a variable of: those whose frames end soonest after it, of equal ones the
    /// latest.
    fn owners(&self, thread: usize, address: usize) -> Vec<StackFrame> {
        let Some(recorder) = &self.session.recorder else { return Vec::new() };
        let around = recorder.frames.range((thread, address + 1, 0)..=(thread, usize::MAX, usize::MAX));
        let around = around.map(|(&(_, base, code), &(stack, seen))| (base, Reverse(seen), code, stack));
        let mut around: Vec<_> = around.collect();
        around.sort_unstable();
        let frames = around.into_iter().filter_map(|(base, _, code, stack)| {
            let from = |other: usize| address as i64 - other as i64;
            let code = self.session.modules.code(code)?;
            Some(StackFrame { code, frame: from(base), stack: from(stack) })
        });
        frames.take(FRAMES).collect()
    }

    /// Makes the steps, and says what is wrong.
    fn report(&mut self) -> Vec<String> {
        if self.graph.is_compacted() {
            return vec![
                format!("a {} shows in {}", self.violation.title(), thread_name(self.violation.point.thread)),
                format!("the execution has {} events and is not shown", self.graph.total()),
            ];
        }
        for position in 0..self.graph.len() {
            let id = self.graph.order()[position];
            let event = self.graph.event(id);
            let sleeps = event.kind == EventKind::Read && crate::time::is_sleep(event);
            let slept = || (Action::Label { text: String::from("sleeps, or lets others go first") }, false);
            let (action, deciding) = if sleeps { slept() } else { self.steps.action(id) };
            self.steps.add(id, spot_of_event(self.session, id), action, deciding);
        }
        let labels = self.session.recorder.iter().flat_map(|recorder| recorder.labels.iter().rev());
        for (point, text) in labels.cloned().collect::<Vec<_>>() {
            self.insert(point, Action::Label { text }, false);
        }
        let message = self.add_violation();
        let fails = |action: &Action| matches!(action, Action::Failure { .. } | Action::Crash { .. });
        self.steps.mark_by_blame(self.violation.point.thread, fails);
        message
    }

    /// Adds the steps that are the violation, and says what is wrong.
    fn add_violation(&mut self) -> Vec<String> {
        let point = self.violation.point;
        let thread = thread_name(point.thread);
        match &self.violation.kind {
            Kind::Panic { message, .. } | Kind::Assertion { message, .. } => {
                self.push(point, Action::Failure { message: message.clone() });
                vec![format!("{thread}: {message}")]
            }
            Kind::Race { accesses, .. } => {
                let object = self.memory();
                for access in accesses {
                    self.add_access(access, object);
                }
                vec![
                    format!(
                        "two accesses to `{}` are not ordered by happens-before, and one of them writes:",
                        mark(Mark::Object(object))
                    ),
                    self.told_access(&accesses[0]),
                    self.told_access(&accesses[1]),
                ]
            }
            Kind::Unpublished { access, creator, .. } => {
                let object = self.memory();
                self.add_access(access, object);
                let creator = thread_name(*creator);
                vec![
                    format!(
                        "`{}` is used by a thread that has not synchronised with its allocation:",
                        mark(Mark::Object(object))
                    ),
                    self.told_access(access),
                    format!(
                        "its memory was allocated by {creator}, and nothing orders that before this use: publish the \
                         pointer with release, and read it with acquire"
                    ),
                ]
            }
            Kind::Deadlock { waiters } | Kind::Livelock { waiters } => self.add_waiters(waiters),
            Kind::BadUnlock { problem } => vec![problem.clone()],
            Kind::Exit { code } => {
                let message = format!("the process ends with code {code}");
                self.push(point, Action::Failure { message });
                vec![format!("{thread} ended the process with code {code}")]
            }
            Kind::Abort => {
                self.push(point, Action::Failure { message: String::from("abort") });
                vec![format!("{thread} aborted")]
            }
            Kind::Crash { problem } => {
                self.push(point, Action::Crash { problem: problem.clone() });
                vec![format!("{thread}: {problem}")]
            }
            Kind::UseAfterFree { access, freed, after, .. } => {
                let object = self.memory();
                self.insert(*freed, Action::Free, true);
                self.add_access(access, object);
                let first = match after {
                    true => "memory is used after it was freed:",
                    false => "memory is freed while another thread may still use it:",
                };
                let freed = format!(
                    "freed by {} at {}",
                    thread_name(freed.thread),
                    self.session.told_site(freed.site)
                );
                vec![first.to_string(), self.told_access(access), freed]
            }
            Kind::Uninitialised { access, block, .. } => {
                let object = self.memory();
                self.add_access(access, object);
                let allocated = self.allocation().map(|site| format!(" at {}", self.session.told_site(site)));
                vec![
                    format!("memory is read that nothing was written to since it was allocated:"),
                    self.told_access(access),
                    format!(
                        "it is part of a block of {} bytes that was allocated by {}{}",
                        block.size,
                        thread_name(block.thread),
                        allocated.unwrap_or_default()
                    ),
                ]
            }
            Kind::OutOfBounds { access, block } => {
                let object = self.memory();
                self.add_access(access, object);
                let near = block.map_or_else(String::new, |block| {
                    format!(
                        "; the block before it has {} bytes and was allocated by {}",
                        block.size,
                        thread_name(block.thread)
                    )
                });
                vec![
                    format!("memory is used that belongs to no block of the heap{near}:"),
                    self.told_access(access),
                ]
            }
            Kind::DoubleFree { first, block } => {
                self.insert(*first, Action::Free, true);
                self.push(point, Action::Free);
                vec![
                    format!("a block of {} bytes is freed a second time:", block.size),
                    format!(
                        "first by {} at {}",
                        thread_name(first.thread),
                        self.session.told_site(first.site)
                    ),
                    format!("again by {thread} at {}", self.session.told_site(point.site)),
                ]
            }
            Kind::InvalidFree { problem, .. } => {
                self.push(point, Action::Free);
                vec![format!("{thread} frees what was not allocated: {problem}")]
            }
            Kind::Leak { block, others } => {
                let others = match others {
                    0 => String::new(),
                    others => format!(", and {others} other blocks"),
                };
                vec![format!(
                    "a block of {} bytes{others} is left behind, allocated by {} at {}",
                    block.size,
                    thread_name(block.thread),
                    self.session.told_site(point.site)
                )]
            }
        }
    }

    /// Where the memory was allocated that the violation is about.
    fn allocation(&self) -> Option<Site> {
        let (address, _) = self.session.recorder.as_ref()?.range?;
        let block = self.session.blocks.iter().rev().find(|block| block.contains(address))?;
        Some(block.site)
    }

    /// The memory that the violation is about, as an object.
    fn memory(&mut self) -> usize {
        let range = self.session.recorder.as_ref().and_then(|recorder| recorder.range);
        let (address, size) = range.unwrap_or((0, 0));
        let known = self.objects.iter().position(|o| o.address == address as u64 && o.size == size as u64);
        known.unwrap_or_else(|| {
            let object = self.object("memory", address, size);
            self.objects.push(object);
            self.objects.len() - 1
        })
    }

    fn push(&mut self, point: Point, action: Action) {
        let place = spot_of(self.session, point);
        self.steps.push(point.thread, place, action, true);
    }

    fn add_access(&mut self, access: &Access, object: usize) {
        if let Some(id) = self.steps.event_at(access.point) {
            self.steps.mark(id);
            return;
        }
        self.insert(access.point, Action::Access { object, writes: access.writes }, true);
    }

    /// Adds a step that is no event.
    fn insert(&mut self, point: Point, action: Action, deciding: bool) {
        let place = self.code(point.site).map(|code| Spot { code, callers: Vec::new() });
        self.steps.insert(point, place, action, deciding);
    }

    fn told_access(&self, access: &Access) -> String {
        let what = if access.writes { "write" } else { "read" };
        let how = if access.atomic { "atomic " } else { "" };
        let place = self.session.told_site(access.point.site);
        format!("{how}{what} by {} at {place}", thread_name(access.point.thread))
    }

    fn add_waiters(&mut self, waiters: &[Waiter]) -> Vec<String> {
        let mut lines = vec![String::from(match self.violation.kind {
            Kind::Livelock { .. } => {
                "no thread can go on, and a loop goes round for ever on the newest values:"
            }
            _ => "no thread can go on:",
        })];
        for waiter in waiters {
            let thread = waiter.point.thread;
            let reason = match waiter.wait {
                Wait::Lock { addr, held_by } => {
                    let holder = self.holder(thread, held_by);
                    format!("for `{}`, held by {holder}", mark(Mark::Object(addr.index())))
                }
                Wait::Signal { addr, .. } => {
                    format!("for `{}`, and nobody is left to wake it", mark(Mark::Object(addr.index())))
                }
                Wait::Join(child) => format!("for the end of {}", thread_name(child)),
                Wait::Spin { from, .. } if matches!(self.violation.kind, Kind::Deadlock { .. }) => {
                    let event = self.graph.event(EventId { thread, index: from });
                    format!(
                        "for `{}`, and nobody is left to give it a permit",
                        mark(Mark::Object(event.addr.index()))
                    )
                }
                Wait::Spin { from, .. } => {
                    self.steps.mark_since(thread, from);
                    String::from("in a loop, for a value that nobody writes any more")
                }
                Wait::Exit => String::from("for the end of the process"),
                Wait::Writer { .. } | Wait::Assume | Wait::Bound => String::from("for a condition"),
            };
            let place = self.session.told_site(waiter.point.site);
            lines.push(format!("{} waits at {place} {reason}", thread_name(thread)));
            self.push(waiter.point, Action::Waits { reason });
        }
        lines
    }

    /// Who holds a lock that a thread waits for.
    fn holder(&mut self, thread: ThreadId, held_by: EventId) -> String {
        if held_by.is_init() {
            return String::from("nobody");
        }
        let event = self.graph.event(held_by);
        let since = format!(" since {}", self.session.told_site(event.site));
        self.steps.mark(held_by);
        if held_by.thread == thread {
            format!("itself{since}")
        } else if self.graph.is_finished(held_by.thread) {
            format!("{}, which has ended,{since}", thread_name(held_by.thread))
        } else {
            format!("{}{since}", thread_name(held_by.thread))
        }
    }
}

/// Bytes of the whole object that a location is the first part of.
fn size_of_kind(key: Key) -> usize {
    match key.kind {
        "mutex" => size_of::<libc::pthread_mutex_t>(),
        "condition" => size_of::<libc::pthread_cond_t>(),
        "rwlock" => size_of::<libc::pthread_rwlock_t>() - key.address % 8,
        "barrier" => size_of::<libc::pthread_barrier_t>(),
        "semaphore" => size_of::<libc::sem_t>(),
        _ => key.width,
    }
}
