//! OS threads that carry out checks, and are kept for later ones.
//!
//! An OS thread costs a short check twice what the rest does. So the one that has carried out a check is parked, and the next
//! check of the same caller is handed to it. It is the caller's alone, and ends with it: `std` hands the output that a test harness captures,
//! and we hand the name that panics print, to new threads only.
//!
//! A program may leave something in thread-locals, of `std`, its own or its libraries', that the next check would find. Then the OS thread
//! ends instead, and so does one that has been abandoned, or on which a thread of the program was. What is left elsewhere, such as in keys of the C
//! library or in the mask of signals, the next check finds, as the next execution of the same check does.

use std::cell::Cell;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::loaded;

/// How long is looked for what is waited for, before the OS thread sleeps: about as long as it takes to wake it, so that it costs
/// no more than twice of what is best.
const LOOKS: Duration = Duration::from_micros(40);

type Job = Box<dyn FnOnce(&Locals) + Send>;

/// What a worker is to do next. A channel of `std` would leave something in its thread-locals.
#[derive(Default)]
struct Desk {
    todo: Mutex<Todo>,
    changed: Condvar,
}

#[derive(Default)]
enum Todo {
    #[default]
    Wait,
    Do(Job),
    End,
}

impl Desk {
    fn put(&self, todo: Todo) {
        *self.todo.lock().unwrap_or_else(PoisonError::into_inner) = todo;
        self.changed.notify_one();
    }

    /// The next job; none if there will be no more.
    fn next(&self) -> Option<Job> {
        look(|| self.todo.try_lock().ok().filter(|todo| !matches!(**todo, Todo::Wait)).map(drop));
        let todo = self.todo.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = |todo: &mut Todo| matches!(todo, Todo::Wait);
        let mut todo = self.changed.wait_while(todo, wait).unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *todo) {
            Todo::Do(job) => Some(job),
            Todo::Wait | Todo::End => None,
        }
    }
}

/// Looks again and again, for a while.
fn look<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        let found = look();
        if found.is_some() || begun.elapsed() >= LOOKS {
            return found;
        }
        std::thread::yield_now();
    }
}

/// An OS thread that does what it is handed, and ends when this is dropped.
pub(crate) struct Worker {
    desk: Arc<Desk>,
    /// The process that it belongs to: it does not follow a fork.
    process: u32,
}

thread_local! {
    static PARKED: Cell<Option<Worker>> = const { Cell::new(None) };
}

/// What a job comes to.
pub(crate) struct Pending<T> {
    receiver: Receiver<(T, bool)>,
}

impl<T> Pending<T> {
    /// What it has come to, and whether its worker can be used again; none if that takes longer than this.
    ///
    /// # Panics
    ///
    /// If the job has panicked.
    pub(crate) fn wait(&self, time: Duration) -> Option<(T, bool)> {
        match look(|| self.receiver.try_recv().ok()).map_or_else(|| self.receiver.recv_timeout(time), Ok) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the worker of unpick has died"),
        }
    }
}

impl Worker {
    /// The worker that the caller has parked, or a new one.
    pub(crate) fn take() -> io::Result<Worker> {
        let process = std::process::id();
        // A thread-local that is gone belongs to a thread that ends.
        match PARKED.try_with(Cell::take).ok().flatten() {
            Some(worker) if worker.process == process => Ok(worker),
            _ => Worker::spawn(process),
        }
    }

    fn spawn(process: u32) -> io::Result<Worker> {
        let desk = Arc::new(Desk::default());
        let its = desk.clone();
        let caller = std::thread::current();
        let name = caller.name().unwrap_or("unpick");
        std::thread::Builder::new().name(String::from(name)).spawn(move || {
            let locals = Locals::now();
            while let Some(job) = its.next() {
                job(&locals);
            }
        })?;
        Ok(Worker { desk, process })
    }

    /// Hands it a job.
    pub(crate) fn start<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Pending<T> {
        let (sender, receiver) = sync_channel(1);
        let job = move |locals: &Locals| {
            // Somebody may have unparked the OS thread when the last job was over. Now somebody has for sure, and it is undone.
            std::thread::current().unpark();
            std::thread::park();
            let result = job();
            // Whoever has abandoned the worker does not listen.
            let _ = sender.send((result, !std::thread::panicking() && locals.are_unchanged()));
        };
        self.desk.put(Todo::Do(Box::new(job)));
        Pending { receiver }
    }

    /// Keeps it for the next check of the caller.
    pub(crate) fn park(self) {
        // A thread-local that is gone drops it.
        let _ = PARKED.try_with(|parked| parked.set(Some(self)));
    }
}

impl Drop for Worker {
    /// One that has been abandoned ends when it has done its job.
    fn drop(&mut self) {
        // After a fork nobody is there, and the desk may be locked for ever.
        if self.process == std::process::id() {
            self.desk.put(Todo::End);
        }
    }
}

/// The thread-locals on this OS thread of the program and its libraries, `std` and unpick among them, as they were when it was new.
/// Those of the C library are always in use.
struct Locals(Vec<(*const u8, Box<[u8]>)>);

impl Locals {
    fn now() -> Locals {
        let mut found = Vec::new();
        loaded::find(|info, header| -> Option<()> {
            let place = loaded::place_of_thread(info, header).filter(|_| !loaded::is_c_library(info))?;
            let start = place.start as *const u8;
            // SAFETY: the storage of this OS thread, in a part that the loader names, while nobody has a reference into it.
            found.push((start, unsafe { bytes(start, place.len()) }.into()));
            None
        });
        Locals(found)
    }

    /// Where they cannot be found, the worker is used once.
    fn are_unchanged(&self) -> bool {
        // SAFETY: as above; the storage lives as long as the OS thread, which is the one that it was found on, or longer
        // than the library, which is not unloaded while it is in use.
        let is_unchanged =
            |(start, saved): &(_, Box<[u8]>)| unsafe { bytes(*start, saved.len()) } == &**saved;
        !self.0.is_empty() && self.0.iter().all(is_unchanged)
    }
}

/// # Safety
///
/// The memory must be readable, and not written to as long as the slice is used.
unsafe fn bytes<'a>(start: *const u8, count: usize) -> &'a [u8] {
    if count == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(start, count) }
}
