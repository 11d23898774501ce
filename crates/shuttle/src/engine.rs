//! What Shuttle's versions of other crates, such as `shuttle-tokio`, use of the crate `shuttle-engine`, under the names
//! that it has there.
//!
//! They have state of their own, in locks and atomics of `std`, and say where others may run first. Only a search
//! through every order of steps counts then.

/// Executions and their threads.
pub mod runtime {
    /// The execution that runs.
    pub mod execution {
        use unpick::stand_in;

        /// The execution that runs.
        #[derive(Debug)]
        pub struct ExecutionState(());

        /// There is no execution.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct NotSet;

        impl ExecutionState {
            /// Calls `f` inside a check.
            ///
            /// # Errors
            ///
            /// Outside one.
            pub fn try_with<R>(f: impl FnOnce(&mut ExecutionState) -> R) -> Result<R, NotSet> {
                if stand_in::in_check() { Ok(f(&mut ExecutionState(()))) } else { Err(NotSet) }
            }

            /// Whether nothing of the execution counts any more: the caller unwinds, or there is none.
            pub fn should_stop() -> bool {
                std::thread::panicking() || !stand_in::in_check()
            }
        }
    }

    /// Threads.
    pub mod thread {
        use crate::context;

        /// A point where other threads may run first.
        #[track_caller]
        pub fn switch() {
            context::share_unseen();
            context::step();
        }
    }
}

/// Thread-locals.
pub mod thread_support {
    use std::fmt;

    use crate::context;

    /// A thread-local that outlives the others of its thread. Here it is there until the execution ends.
    pub struct DestroyedLastKey<T: 'static> {
        initial: fn() -> T,
    }

    /// The thread-local has been destroyed. Never the case here.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AccessError(());

    impl<T: 'static> DestroyedLastKey<T> {
        /// A thread-local that starts with what `initial` returns.
        pub const fn new(initial: fn() -> T) -> DestroyedLastKey<T> {
            DestroyedLastKey { initial }
        }

        /// Uses the value of the calling thread, which is made first if it has none.
        ///
        /// # Errors
        ///
        /// Never.
        pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
        where
            F: FnOnce(&T) -> R,
        {
            let value = context::slot((&raw const *self) as usize, self.initial);
            Ok(f(&value))
        }
    }

    impl<T: 'static> fmt::Debug for DestroyedLastKey<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("DestroyedLastKey").finish_non_exhaustive()
        }
    }
}
