//! What a scheduler sees of a task.

use crate::current::TaskId;

/// A task that can move.
#[derive(Clone, Debug)]
pub struct Task {
    id: TaskId,
    parent: Option<TaskId>,
}

impl Task {
    pub(crate) fn new(id: TaskId, parent: Option<TaskId>) -> Task {
        Task { id, parent }
    }

    /// Which task it is.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The task that spawned it; none for the main thread.
    pub fn parent_task_id(&self) -> Option<TaskId> {
        self.parent
    }

    /// Whether it can move: always, since a scheduler sees no others.
    pub fn runnable(&self) -> bool {
        true
    }

    /// Whether it waits for another task.
    pub fn blocked(&self) -> bool {
        false
    }

    /// Whether it waits for its waker.
    pub fn sleeping(&self) -> bool {
        false
    }

    /// Whether it has ended.
    pub fn finished(&self) -> bool {
        false
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<String> {
        crate::current::get_name_for_task(self.id).map(String::from)
    }
}
