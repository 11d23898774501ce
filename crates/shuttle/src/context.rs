//! What is kept for an execution besides what unpick keeps: labels, tags, and where random numbers are.
//!
//! All threads of a check run on one OS thread, so this is kept for that, and made anew by the main
//! thread when an execution begins.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use unpick::stand_in;

#[expect(deprecated, reason = "Shuttle has it still")]
use crate::current::Tag;
use crate::current::{ChildLabelFn, TaskId, TaskName};
use crate::labels::Labels;

/// What a check tells its executions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether random numbers are drawn, and are part of the schedule. If not, each task has a fixed sequence.
    pub(crate) draws: bool,
    /// Whether the program may ask for them.
    pub(crate) randomness: bool,
}

#[expect(deprecated, reason = "Shuttle has it still")]
#[derive(Default)]
struct Context {
    rules: Option<Rules>,
    labels: BTreeMap<usize, Labels>,
    tags: BTreeMap<usize, Arc<dyn Tag>>,
    /// Random numbers that each thread has asked for.
    drawn: BTreeMap<usize, u64>,
    /// What is kept for a task, or for all, and an address until the execution ends.
    kept: BTreeMap<(Option<usize>, usize), Rc<dyn Any>>,
    /// Objects that each task has made at each place.
    made: BTreeMap<(usize, &'static Location<'static>), u32>,
    /// How many steps there were that Shuttle does not count.
    silent: usize,
    /// Tasks that have ended.
    ended: BTreeSet<usize>,
    /// Whether the thread that runs wants others to run first.
    yielding: bool,
    /// Whether threads are known to share things that unpick does not see.
    unseen: Arc<AtomicBool>,
}

thread_local! {
    /// Never dropped, as above.
    static CONTEXT: RefCell<ManuallyDrop<Context>> = RefCell::default();
}

fn with<R>(f: impl FnOnce(&mut Context) -> R) -> R {
    CONTEXT.with(|context| f(&mut context.borrow_mut()))
}

/// An execution begins. What was kept for the one before is left alone: its destructors are of an execution that
/// is over.
pub(crate) fn begin(rules: Rules, unseen: Arc<AtomicBool>) {
    let new = ManuallyDrop::new(Context { rules: Some(rules), unseen, ..Context::default() });
    CONTEXT.with(|context| *context.borrow_mut() = new);
}

/// The rules of the check.
pub(crate) fn rules() -> Rules {
    with(|context| context.rules).unwrap_or(Rules { draws: true, randomness: true })
}

/// Works on the labels of a task.
pub(crate) fn with_labels<R>(task: TaskId, f: impl FnOnce(&mut Labels) -> R) -> R {
    // The closure may look at the labels of others.
    let mut labels = with(|context| context.labels.remove(&task.into())).unwrap_or_default();
    let result = f(&mut labels);
    with(|context| context.labels.insert(task.into(), labels));
    result
}

/// A task was spawned: it inherits what its parent has.
pub(crate) fn inherit(parent: TaskId, child: TaskId) {
    let mut labels = with_labels(parent, |labels| labels.clone());
    if let Some(ChildLabelFn(change)) = labels.get::<ChildLabelFn>().cloned() {
        change(child, &mut labels);
    }
    with(|context| {
        context.labels.insert(child.into(), labels);
        if let Some(tag) = context.tags.get(&parent.into()).cloned() {
            context.tags.insert(child.into(), tag);
        }
    });
}

/// The name of a task, wherever that is asked for.
pub(crate) fn name(task: TaskId) -> Option<TaskName> {
    let name = |context: &RefCell<ManuallyDrop<Context>>| {
        let context = context.try_borrow().ok()?;
        context.labels.get(&task.into())?.get::<TaskName>().cloned()
    };
    CONTEXT.try_with(name).ok().flatten()
}

/// The tag of a task.
#[expect(deprecated, reason = "Shuttle has it still")]
pub(crate) fn tag(task: TaskId) -> Option<Arc<dyn Tag>> {
    with(|context| context.tags.get(&task.into()).cloned())
}

/// Gives a task a tag, and returns the one that it had.
#[expect(deprecated, reason = "Shuttle has it still")]
pub(crate) fn set_tag(task: TaskId, tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    with(|context| context.tags.insert(task.into(), tag))
}

/// How many random numbers the calling task has asked for before.
pub(crate) fn draw() -> u64 {
    let task = stand_in::current() as usize;
    with(|context| {
        let drawn = context.drawn.entry(task).or_default();
        *drawn += 1;
        *drawn - 1
    })
}

/// Counts an object that is made at a place: by which task, and the how many-th it is.
pub(crate) fn count_resource(place: &'static Location<'static>) -> (u64, u32) {
    let task = if stand_in::in_check() { stand_in::current() as usize } else { 0 };
    let count = with(|context| {
        let count = context.made.entry((task, place)).or_default();
        *count += 1;
        *count
    });
    (task as u64, count)
}

/// What is kept for an address until the execution ends; made if there is nothing.
pub(crate) fn kept<T: Any>(address: usize, make: impl FnOnce() -> T) -> Rc<T> {
    keep((None, address), make)
}

/// What is kept for the calling task and an address until the execution ends; made if there is nothing.
pub(crate) fn slot<T: Any>(address: usize, make: impl FnOnce() -> T) -> Rc<T> {
    keep((Some(stand_in::current() as usize), address), make)
}

fn keep<T: Any>(place: (Option<usize>, usize), make: impl FnOnce() -> T) -> Rc<T> {
    let found = with(|context| context.kept.get(&place).cloned());
    let kept = found.unwrap_or_else(|| {
        // Whoever makes it may use it, and so have made another.
        let new: Rc<dyn Any> = Rc::new(make());
        with(|context| Rc::clone(context.kept.entry(place).or_insert(new)))
    });
    kept.downcast().unwrap_or_else(|_| panic!("what is kept for an address has one type"))
}

/// Says that threads share things that unpick does not see, so that only orders of steps tell executions apart.
pub(crate) fn share_unseen() {
    with(|context| context.unseen.store(true, Relaxed));
}

/// A point where other threads may run first.
#[track_caller]
pub(crate) fn step() {
    if stand_in::in_check() {
        stand_in::step();
    }
}

/// A step that Shuttle does not count: the start of a thread or task, and what comes after it was spawned.
#[track_caller]
pub(crate) fn silent_step() {
    step();
    with(|context| context.silent += 1);
}

/// How many steps there were that Shuttle does not count.
pub(crate) fn silent_steps() -> usize {
    with(|context| context.silent)
}

/// The task has ended.
pub(crate) fn end(task: TaskId) {
    with(|context| context.ended.insert(task.into()));
}

/// Whether the task has ended.
pub(crate) fn has_ended(task: TaskId) -> bool {
    with(|context| context.ended.contains(&task.into()))
}

/// Says that the running thread wants others to run first.
pub(crate) fn request_yield() {
    with(|context| context.yielding = true);
}

/// Whether the thread that ran wants others to run first; asked once.
pub(crate) fn take_yield() -> bool {
    with(|context| std::mem::take(&mut context.yielding))
}
