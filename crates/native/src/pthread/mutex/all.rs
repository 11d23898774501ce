//! Several mutexes at once, as `std::lock` and `std::scoped_lock` take them.
//!
//! The C++ library locks one mutex, tries the others, and gives back what it has when one is taken. Attempts that fail are seen by nobody
//! but others of the kind, as long as no thread *tries* one of these mutexes for itself: whoever waits for a mutex cannot tell
//! an attempt from none. So they are left out. What remains is that the thread takes the mutexes one after the other, waiting for each,
//! with nothing in between; and that a thread which waits here is not said to hold those that it has so far
//! ([`stuck`](unpick_checkers::stuck)). `docs/loops.md` argues why no execution is lost.
//!
//! As soon as a thread tries such a mutex, the search starts over, and `std::lock` is the loop that it is.

use unpick_checkers::stuck::Gathering;
use unpick_core::op::ThreadId;

use super::{Mutex_, acquire, key};
use crate::entry::entries;
use crate::facts::Fact;
use crate::ops;
use crate::session::Session;

entries! {
    __unpick_lock_all => lock_all;
}

/// Which mutexes are taken together in this run, and which are tried.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Threads that are at it, from which event on, and the mutexes.
    gathering: Vec<(ThreadId, u32, Vec<*mut Mutex_>)>,
    gathered: Vec<*mut Mutex_>,
    tried: Vec<*mut Mutex_>,
}

impl Together {
    /// Forgets the last run.
    pub(crate) fn begin(&mut self) {
        self.gathering.clear();
        self.gathered.clear();
        self.tried.clear();
    }
}

impl Session {
    /// Notes that a mutex is tried; whether a thread takes it together with others.
    pub(super) fn tries(&mut self, mutex: *mut Mutex_) -> bool {
        if self.trying.is_some() {
            // The thread has done so before, in the round that is tried.
            return false;
        }
        let Together { gathered, tried, .. } = &mut self.together;
        if !tried.contains(&mutex) {
            tried.push(mutex);
        }
        gathered.contains(&mutex)
    }

    /// Notes that a thread is about to take mutexes together; whether a thread tries one of them.
    fn gathers(&mut self, thread: ThreadId, mutexes: &[*mut Mutex_]) -> bool {
        let since = self.search.execution.position(thread);
        let Together { gathering, gathered, tried } = &mut self.together;
        gathering.push((thread, since, mutexes.to_vec()));
        for mutex in mutexes {
            if !gathered.contains(mutex) {
                gathered.push(*mutex);
            }
        }
        mutexes.iter().any(|mutex| tried.contains(mutex))
    }

    /// The threads that have not got all their mutexes yet.
    pub(crate) fn gathering(&self) -> Vec<Gathering> {
        let gathering = |(thread, since, mutexes): &(ThreadId, u32, Vec<*mut Mutex_>)| Gathering {
            thread: *thread,
            since: *since,
            locks: mutexes.iter().filter_map(|&mutex| self.places.known(key(mutex.cast()))).collect(),
        };
        self.together.gathering.iter().map(gathering).collect()
    }
}

/// Takes all of some mutexes and returns 0; or takes none, and the program must do it by itself.
unsafe extern "C" fn lock_all(mutexes: *const *mut Mutex_, count: usize) -> i32 {
    let Some(caller) = ops::enter() else { return 1 };
    if caller.fact(Fact::TriesTogether) != 0 {
        caller.leave();
        return 1;
    }
    // SAFETY: the caller's arguments.
    let mutexes = unsafe { std::slice::from_raw_parts(mutexes, count) };
    let is_trial = caller.session().trying.is_some();
    if !is_trial && caller.session().gathers(caller.thread, mutexes) {
        caller.learn(Fact::TriesTogether, 1);
    }
    for &mutex in mutexes {
        // SAFETY: as above.
        let code = unsafe { acquire(&caller, mutex, true) };
        debug_assert_eq!(code, 0, "no mutex of the C++ library looks for errors");
    }
    if !is_trial {
        caller.session().together.gathering.retain(|(thread, ..)| *thread != caller.thread);
    }
    caller.leave();
    0
}
