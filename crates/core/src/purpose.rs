//! What has been seen of a program that a check is for: threads, and something that they share.
//!
//! A check of a program without either explores one execution and proves nothing, which happens by mistake: objects are the
//! standard library's, threads are the system's, or every execution is discarded.

use crate::graph::Graph;
use crate::op::{Addr, Site, ThreadId};

/// What has been seen of a program, in all executions so far.
#[derive(Clone, Debug, Default)]
pub struct Purpose {
    /// Whether a second thread was started.
    pub has_threads: bool,
    /// Whether two threads have used one object.
    pub shares: bool,
    /// Where the program has discarded an execution, first.
    pub discarded: Option<Site>,
    /// Where the program has started a thread that nobody sees, first.
    pub unseen_thread: Option<String>,
    /// Who has used each location, for comparing.
    users: Vec<Option<ThreadId>>,
}

impl Purpose {
    /// Looks at an execution that has ended. Whether there are threads that have shared no location so far.
    #[inline]
    pub fn look(&mut self, graph: &Graph) -> bool {
        let looks = !self.shares && graph.thread_count() > 1;
        if looks {
            self.has_threads = true;
            // Of a graph of which the past was let go nobody can say.
            self.shares = graph.is_compacted() || self.shares_locations(graph);
        }
        looks && !self.shares
    }

    fn shares_locations(&mut self, graph: &Graph) -> bool {
        self.users.clear();
        self.users.resize(graph.location_count(), None);
        let mut used = graph.order().iter().map(|&id| (id.thread, graph.event(id).addr));
        used.any(|(thread, addr)| {
            addr != Addr::NONE && *self.users[addr.index()].get_or_insert(thread) != thread
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Synchronisation;
    use crate::op::{Mode, Op};

    /// The main thread stores to one location, another one to the same or to another.
    fn stores(theirs: u32) -> Graph {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        graph.add_location(0);
        graph.add_location(0);
        graph.add_spawn(ThreadId::MAIN, ThreadId(1), Site(0));
        for (thread, addr) in [(0, 0), (1, theirs)] {
            let store = Op::store(Addr(addr), Mode::Relaxed, 1, Site(0));
            let event = graph.add(ThreadId(thread), &store);
            graph.insert_write(Addr(addr), graph.writes(Addr(addr)).len(), event);
        }
        graph
    }

    /// Whether that is open, whether there are threads, and whether they share a location.
    fn looked(graph: &Graph) -> (bool, bool, bool) {
        let mut purpose = Purpose::default();
        (purpose.look(graph), purpose.has_threads, purpose.shares)
    }

    #[test]
    fn what_two_threads_use_is_shared() {
        assert_eq!(looked(&stores(0)), (false, true, true));
        assert_eq!(looked(&stores(1)), (true, true, false));
    }

    #[test]
    fn a_thread_alone_shares_nothing() {
        assert_eq!(looked(&Graph::new(Synchronisation::AsWritten)), (false, false, false));
    }
}
