//! `Builder`: threads with a name.

use std::io;

use unpick_runtime::ops;

use super::{Inner, JoinHandle, Scope, ScopedInner, ScopedJoinHandle, Thread, start};
use crate::here;

/// Settings of a thread to be started, as [`std::thread::Builder`].
///
/// Inside a check the size of the stack is that of [`Check::stack_size`](crate::Check::stack_size),
/// whatever is set here.
///
/// ```
/// use unpick::sync::{Arc, Mutex};
/// use unpick::thread::{self, Builder};
///
/// unpick::check(|| {
///     let names = Arc::new(Mutex::new(Vec::new()));
///     let theirs = names.clone();
///     let builder = Builder::new().name(String::from("adder")).stack_size(1 << 20);
///     let note = move || theirs.lock().unwrap().extend(thread::current().name().map(String::from));
///     builder.spawn(note).unwrap().join().unwrap();
///     assert_eq!(*names.lock().unwrap(), ["adder"]);
/// });
/// ```
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The name of the thread.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// The size of its stack in bytes.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// When the system refuses another thread; never inside a check.
    ///
    /// # Panics
    ///
    /// When the name has a zero byte in it.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: the closure and its result borrow nothing.
        unsafe { self.spawn_unchecked(f) }
    }

    /// Starts the thread, with a closure that may borrow.
    ///
    /// # Safety
    ///
    /// The thread must end before what the closure or its result borrows goes away.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Builder::spawn).
    ///
    /// # Panics
    ///
    /// As [`spawn`](Builder::spawn).
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        if ops::in_check() {
            return Ok(JoinHandle(Inner::Checked(start(self.checked_name(), f, here!()))));
        }
        // SAFETY: the caller's promise is the one that std asks for.
        let handle = unsafe { self.outside().spawn_unchecked(f)? };
        let thread = Thread::outside(handle.thread());
        Ok(JoinHandle(Inner::Outside(handle, thread)))
    }

    /// Starts a thread of a scope.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Builder::spawn).
    ///
    /// # Panics
    ///
    /// As [`spawn`](Builder::spawn).
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let Some(outside) = scope.outside.get() else {
            return Ok(scope.start(self.checked_name(), f, here!()));
        };
        let handle = self.outside().spawn_scoped(outside, f)?;
        let thread = Thread::outside(handle.thread());
        Ok(ScopedJoinHandle(ScopedInner::Outside(handle, thread)))
    }

    fn checked_name(self) -> Option<String> {
        let zero = self.name.as_ref().is_some_and(|name| name.contains('\0'));
        assert!(!zero, "thread name may not contain interior null bytes");
        self.name
    }

    fn outside(self) -> std::thread::Builder {
        let builder = std::thread::Builder::new();
        let builder = self.name.into_iter().fold(builder, std::thread::Builder::name);
        self.stack_size.into_iter().fold(builder, std::thread::Builder::stack_size)
    }
}
