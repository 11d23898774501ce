//! Memory errors in words: where the block was allocated, freed and used.

use std::path::Path;

use unpick_core::op::Site;
use unpick_core::trace::{Action, Object, Place, Stack};
use unpick_core::violation::{Access, Block, Kind, Point};
use unpick_runtime::record::{Calls, Recorder};
use unpick_runtime::site;

use super::trace::FailingRun;

impl FailingRun<'_> {
    /// Adds the steps of a memory error, and says what is wrong.
    pub(super) fn add_memory_error(&mut self, objects: &mut Vec<Object>) -> Vec<String> {
        let kind = self.violation.kind.clone();
        let point = self.violation.point;
        if let Some(block) = kind.block() {
            self.add_allocation(&block);
        }
        match kind {
            Kind::UseAfterFree { access, freed, after, block, object } => {
                let name = self.access_name(&access).unwrap_or_else(|| object.clone());
                let unseen = access.point.site == Site(0);
                let free = self.told_free(freed);
                let used = if unseen { self.told_touch(&access) } else { self.told_access(&access) };
                if !after {
                    self.add_access(&access, &object, &name, objects);
                }
                self.add_free(freed);
                if unseen {
                    self.add_touch(&access, objects);
                } else if after {
                    self.add_access(&access, &object, &name, objects);
                }
                let problem = match after {
                    true if unseen => String::from("memory is used after it was freed:"),
                    true => format!("`{name}` is used after its memory was freed:"),
                    false => format!(
                        "the memory of `{name}` is freed while another thread may still use it: nothing orders \
                         the use before the freeing:"
                    ),
                };
                let lines = if after { [free, used] } else { [used, free] };
                self.lines(problem, lines, &block)
            }
            Kind::Uninitialised { access, block, object } => {
                let name = self.access_name(&access).unwrap_or_else(|| object.clone());
                self.add_access(&access, &object, &name, objects);
                let problem = format!("`{name}` is used in memory that nothing was written to:");
                let used = self.told_access(&access);
                self.lines(problem, [used], &block)
            }
            Kind::DoubleFree { first, block } => {
                let lines = [self.told_free(first), format!("{} again", self.told_fault(point))];
                self.add_free(first);
                self.add_free_at(point, self.memory_error_place());
                self.lines(String::from("memory is freed that has been freed before:"), lines, &block)
            }
            Kind::InvalidFree { problem, block } => {
                self.add_free_at(point, self.memory_error_place());
                let mut lines = vec![format!("{problem}:"), self.told_fault(point)];
                lines.extend(block.map(|block| self.told_allocation(&block)));
                lines
            }
            Kind::Leak { block, others } => {
                let more = match others {
                    0 => String::new(),
                    1 => String::from("; so is one other block"),
                    others => format!("; so are {others} other blocks"),
                };
                let size = bytes(block.size);
                vec![
                    format!(
                        "a block of {size} is left behind, and nothing in static memory leads to it{more}:"
                    ),
                    self.told_allocation(&block),
                    String::from(
                        "free it, or keep it in a static; Check::leaks(false) or UNPICK_LEAKS=off allows it",
                    ),
                ]
            }
            Kind::Crash { problem } => {
                let place = self.memory_error_place();
                self.insert(point, place.clone(), Action::Crash { problem: problem.clone() });
                let name = site::thread_name(point.thread);
                vec![format!("{problem}:"), format!("fault of {name}{}", told_place(place.as_ref()))]
            }
            other => vec![format!("{other:?}")],
        }
    }

    fn lines<const N: usize>(&self, problem: String, lines: [String; N], block: &Block) -> Vec<String> {
        let mut all = vec![problem];
        all.extend(lines);
        all.push(self.told_allocation(block));
        all
    }

    fn add_allocation(&mut self, block: &Block) {
        let point = Point { thread: block.thread, index: block.birth, site: self.violation.point.site };
        let place = self.recorder.and_then(|recorder| place_of(recorder.allocation.as_ref()?));
        self.insert(point, place, Action::Allocation { size: block.size as usize });
    }

    /// A use that is no operation, and so has no place of its own.
    fn told_touch(&self, access: &Access) -> String {
        let what = if access.writes { "write" } else { "read" };
        let place = self.memory_error_place();
        format!("{what} by {}{}", site::thread_name(access.point.thread), told_place(place.as_ref()))
    }

    fn add_touch(&mut self, access: &Access, objects: &mut Vec<Object>) {
        let name = String::from("memory");
        objects.push(Object { kind: name.clone(), name });
        let action = Action::Access { object: objects.len() - 1, writes: access.writes };
        self.insert(access.point, self.memory_error_place(), action);
    }

    fn add_free(&mut self, freed: Point) {
        let place = self.recorder.and_then(|recorder| place_of(&recorder.free.as_ref()?.1));
        self.add_free_at(freed, place);
    }

    fn add_free_at(&mut self, point: Point, place: Option<Place>) {
        self.insert(point, place, Action::Free);
    }

    fn told_allocation(&self, block: &Block) -> String {
        let place = self.recorder.and_then(|recorder| place_of(recorder.allocation.as_ref()?));
        let (size, name) = (bytes(block.size), site::thread_name(block.thread));
        format!("{size} allocated by {name}{}", told_place(place.as_ref()))
    }

    fn told_free(&self, freed: Point) -> String {
        let place = self.recorder.and_then(|recorder| place_of(&recorder.free.as_ref()?.1));
        format!("freed by {}{}", site::thread_name(freed.thread), told_place(place.as_ref()))
    }

    fn told_fault(&self, point: Point) -> String {
        let place = self.memory_error_place();
        format!("freed by {}{}", site::thread_name(point.thread), told_place(place.as_ref()))
    }

    /// Where a memory error showed, if not at an operation that has a place.
    pub(super) fn memory_error_place(&self) -> Option<Place> {
        let recorder = self.recorder?;
        match self.violation.kind {
            Kind::Leak { .. } => place_of(recorder.allocation.as_ref()?),
            _ => place_of(&recorder.fault.as_ref()?.1),
        }
    }

    /// The call stacks of a memory error; `None` if the violation is none.
    pub(super) fn memory_error_stacks(&self, recorder: &Recorder) -> Option<Vec<Stack>> {
        let (last, used) = match &self.violation.kind {
            Kind::UseAfterFree { access, .. } => (None, Some(access)),
            Kind::Uninitialised { .. } => (Some("use by"), None),
            Kind::DoubleFree { .. } => (Some("second free by"), None),
            Kind::InvalidFree { .. } => (Some("free by"), None),
            Kind::Crash { .. } => (Some("crash of"), None),
            Kind::Leak { .. } => (None, None),
            _ => return None,
        };
        let stack = |what: &str, thread, calls: &Calls| Stack {
            title: format!("{what} {}", site::thread_name(thread)),
            frames: calls.frames_of_program(),
        };
        let mut stacks = Vec::new();
        if let (Some(block), Some(calls)) = (self.violation.kind.block(), &recorder.allocation) {
            stacks.push(stack("allocation by", block.thread, calls));
        }
        if let Some((thread, calls)) = &recorder.free {
            stacks.push(stack("free by", *thread, calls));
        }
        if let Some(access) = used {
            stacks.extend(self.use_stack(recorder, access));
        }
        if let (Some(what), Some((thread, calls))) = (last, &recorder.fault) {
            stacks.push(stack(what, *thread, calls));
        }
        Some(stacks)
    }

    /// The call stack of a use: where an op was noted, or where the violation showed.
    fn use_stack(&self, recorder: &Recorder, access: &Access) -> Option<Stack> {
        let noted = recorder.stacks.iter().find(|(point, _)| *point == access.point).map(|(_, calls)| calls);
        let fault = recorder.fault.as_ref().filter(|(thread, _)| *thread == access.point.thread);
        let calls = noted.or(fault.map(|(_, calls)| calls))?;
        let title = format!("use by {}", site::thread_name(access.point.thread));
        Some(Stack { title, frames: calls.frames_of_program() })
    }
}

/// The innermost place of the program in a call stack, as the compiler spells it: from the folder of
/// the workspace.
fn place_of(calls: &Calls) -> Option<Place> {
    let mut place = calls.frames_of_program().into_iter().find_map(|frame| frame.place)?;
    let here = std::env::current_dir().ok()?;
    let folders = here.ancestors().filter(|folder| folder.join("Cargo.toml").is_file());
    if let Some(Ok(inner)) = folders.last().map(|folder| Path::new(&place.file).strip_prefix(folder)) {
        place.file = inner.display().to_string();
    }
    Some(place)
}

fn told_place(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" at {}:{}:{}", place.file, place.line, place.column))
}

fn bytes(size: u32) -> String {
    if size == 1 { String::from("1 byte") } else { format!("{size} bytes") }
}
