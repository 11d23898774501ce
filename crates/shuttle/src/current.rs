//! What a test can learn about the execution that it runs in: who runs, what it knows of others, and
//! labels that it attaches to threads and tasks.

use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::sync::Arc;

use unpick::stand_in;

use crate::context;

pub use crate::clock::VectorClock;
pub use crate::labels::Labels;

/// A thread or task. The main thread is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(usize);

impl From<usize> for TaskId {
    fn from(number: usize) -> TaskId {
        TaskId(number)
    }
}

impl From<TaskId> for usize {
    fn from(task: TaskId) -> usize {
        task.0
    }
}

impl Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match context::name(*self) {
            Some(name) => write!(f, "{name:?}({})", self.0),
            None => f.debug_tuple("TaskId").field(&self.0).finish(),
        }
    }
}

impl Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

/// The label that is the name of a task.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskName(String);

impl From<String> for TaskName {
    fn from(name: String) -> TaskName {
        TaskName(name)
    }
}

impl From<&str> for TaskName {
    fn from(name: &str) -> TaskName {
        TaskName(String::from(name))
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> String {
        name.0
    }
}

impl<'a> From<&'a TaskName> for &'a String {
    fn from(name: &'a TaskName) -> &'a String {
        &name.0
    }
}

impl Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The label that changes the labels of children as they are spawned.
#[derive(Clone)]
#[allow(clippy::type_complexity, reason = "it is Shuttle's")]
pub struct ChildLabelFn(pub Arc<dyn Fn(TaskId, &mut Labels) + 'static>);

impl Debug for ChildLabelFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChildLabelFn")
    }
}

/// A value that a task id shows when it is printed. Children inherit it.
#[deprecated]
#[expect(deprecated, reason = "it refers to one that is deprecated too")]
pub trait Tag: Taggable {
    /// The value, to find out what it is.
    fn as_any(&self) -> &dyn Any;
}

/// A type whose values can be tags.
#[deprecated]
pub trait Taggable: Debug {}

#[expect(deprecated, reason = "it refers to what is deprecated")]
impl<T: Taggable + Any> Tag for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// How many steps there have been in this execution, of all threads, the start of the main thread included:
/// a time stamp.
///
/// # Panics
///
/// Outside a check.
pub fn context_switches() -> usize {
    stand_in::events() - context::silent_steps()
}

/// What the calling thread knows of the others; a clock that knows of nothing outside a check.
pub fn clock() -> VectorClock {
    if stand_in::in_check() { clock_for(me()) } else { VectorClock::new() }
}

/// What another task knows of the others.
///
/// # Panics
///
/// Outside a check, and when there is no such task.
pub fn clock_for(task: TaskId) -> VectorClock {
    let mut clock = stand_in::clock(task.0 as u32);
    // The start of a thread is a step, of which clocks do not tell.
    clock.iter_mut().for_each(|steps| *steps = steps.saturating_sub(1));
    let known = clock.iter().rposition(|&steps| steps > 0).map_or(0, |last| last + 1);
    clock.truncate(known);
    VectorClock::from(clock)
}

/// Works on the labels of a task.
pub fn with_labels_for_task<F, T>(task: TaskId, f: F) -> T
where
    F: FnOnce(&mut Labels) -> T,
{
    context::with_labels(task, f)
}

/// The label of a type that a task has.
pub fn get_label_for_task<T: Clone + Debug + 'static>(task: TaskId) -> Option<T> {
    context::with_labels(task, |labels| labels.get().cloned())
}

/// Attaches a label to a task, and returns the one of its type that was there before.
pub fn set_label_for_task<T: Clone + Debug + 'static>(task: TaskId, value: T) -> Option<T> {
    context::with_labels(task, |labels| labels.insert(value))
}

/// Takes the label of a type away from a task.
pub fn remove_label_for_task<T: Clone + Debug + 'static>(task: TaskId) -> Option<T> {
    context::with_labels(task, Labels::remove)
}

/// The name of a task.
pub fn get_name_for_task(task: TaskId) -> Option<TaskName> {
    get_label_for_task(task)
}

/// Gives a task a name, and returns the one that it had.
pub fn set_name_for_task(task: TaskId, name: impl Into<TaskName>) -> Option<TaskName> {
    set_label_for_task(task, name.into())
}

/// The calling task.
///
/// # Panics
///
/// Outside a check.
pub fn get_current_task() -> Option<TaskId> {
    Some(me())
}

/// The calling task; `None` outside a check.
pub fn try_get_current_task() -> Option<TaskId> {
    stand_in::in_check().then(me)
}

/// The calling task.
///
/// # Panics
///
/// Outside a check.
pub fn me() -> TaskId {
    TaskId(stand_in::current() as usize)
}

/// Starts to count the steps anew that [`MaxSteps`](crate::MaxSteps) limits.
///
/// # Panics
///
/// Outside a check.
pub fn reset_step_count() {
    stand_in::count_events_anew();
}

/// Gives the calling task a tag, and returns the one that it had.
#[deprecated]
#[expect(deprecated, reason = "it refers to what is deprecated")]
pub fn set_tag_for_current_task(tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    context::set_tag(me(), tag)
}

/// The tag of the calling task.
#[deprecated]
#[expect(deprecated, reason = "it refers to what is deprecated")]
pub fn get_tag_for_current_task() -> Option<Arc<dyn Tag>> {
    context::tag(me())
}

/// The tag of a task.
#[deprecated]
#[expect(deprecated, reason = "it refers to what is deprecated")]
pub fn get_tag_for_task(task: TaskId) -> Option<Arc<dyn Tag>> {
    context::tag(task)
}

/// Gives a task a tag, and returns the one that it had.
#[deprecated]
#[expect(deprecated, reason = "it refers to what is deprecated")]
pub fn set_tag_for_task(task: TaskId, tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    context::set_tag(task, tag)
}
