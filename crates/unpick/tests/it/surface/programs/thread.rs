// Included by `surface.rs`, twice: what `thread` has.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::io;
use std::num::NonZero;
use std::time::Duration;

use subject::cell::Cell;
use subject::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId,
};
use subject::{thread, thread_local};

use crate::surface::Value;

thread_local! {
    static _LAZY: Vec<u8> = vec![1];
    pub static _EAGER: Cell<u8> = const { Cell::new(1) };
}
thread_local!(static _ONE: String = String::from("one"));

fn functions<'env, T: Value>() {
    let _: fn(fn() -> T) -> JoinHandle<T> = thread::spawn;
    let _: fn(for<'scope> fn(&'scope Scope<'scope, 'env>) -> T) -> T = thread::scope;
    let _: fn() -> Thread = thread::current;
    let _: fn() = thread::yield_now;
    let _: fn() -> bool = thread::panicking;
    let _: fn(Duration) = thread::sleep;
    let _: fn() = thread::park;
    let _: fn(Duration) = thread::park_timeout;
    let _: fn() -> io::Result<NonZero<usize>> = thread::available_parallelism;
    #[expect(deprecated, reason = "std has them still")]
    let _: (fn(u32), fn(u32)) = (thread::sleep_ms, thread::park_timeout_ms);
    let _: fn(thread::Result<T>) -> std::thread::Result<T> = |result| result;
    // The cells of `std` can be in a thread-local as well.
    let _: fn(&'static LocalKey<std::cell::Cell<T>>, T) = <LocalKey<std::cell::Cell<T>>>::set;
    let _: fn(&'static LocalKey<std::cell::Cell<T>>) -> T = <LocalKey<std::cell::Cell<T>>>::get;
    let _: fn(&'static LocalKey<std::cell::Cell<T>>) -> T = <LocalKey<std::cell::Cell<T>>>::take;
    let _: fn(&'static LocalKey<std::cell::Cell<T>>, T) -> T = <LocalKey<std::cell::Cell<T>>>::replace;
}

fn access_error() {
    implements!(AccessError: Clone);
    implements!(AccessError: Debug);
    implements!(AccessError: Display);
    implements!(AccessError: Error);
    implements!(AccessError: PartialEq);
    implements!(AccessError: Copy);
    implements!(AccessError: Eq);
}

fn builder<'scope, 'env: 'scope, T: Value>() {
    let _: fn() -> Builder = Builder::new;
    let _: fn(Builder, String) -> Builder = Builder::name;
    let _: fn(Builder, usize) -> Builder = Builder::stack_size;
    let _: fn(Builder, fn() -> T) -> io::Result<JoinHandle<T>> = Builder::spawn;
    let _: unsafe fn(Builder, fn() -> T) -> io::Result<JoinHandle<T>> = Builder::spawn_unchecked;
    let _: fn(Builder, &'scope Scope<'scope, 'env>, fn() -> T) -> io::Result<ScopedJoinHandle<'scope, T>> =
        Builder::spawn_scoped;
    implements!(Builder: Debug);
}

fn join_handle<T: Value>() {
    let _: fn(&JoinHandle<T>) -> &Thread = <JoinHandle<T>>::thread;
    let _: fn(JoinHandle<T>) -> thread::Result<T> = <JoinHandle<T>>::join;
    let _: fn(&JoinHandle<T>) -> bool = <JoinHandle<T>>::is_finished;
    implements!(JoinHandle<u8>: Debug);
    implements!(JoinHandle<u8>: Send);
    implements!(JoinHandle<u8>: Sync);
}

fn local_key<T: Value>() {
    let _: fn(&'static LocalKey<T>, fn(&T) -> bool) -> bool = <LocalKey<T>>::with;
    let _: fn(&'static LocalKey<T>, fn(&T) -> bool) -> Result<bool, AccessError> = <LocalKey<T>>::try_with;
    let _: fn(&'static LocalKey<Cell<T>>, T) = <LocalKey<Cell<T>>>::set;
    let _: fn(&'static LocalKey<Cell<T>>) -> T = <LocalKey<Cell<T>>>::get;
    let _: fn(&'static LocalKey<Cell<T>>) -> T = <LocalKey<Cell<T>>>::take;
    let _: fn(&'static LocalKey<Cell<T>>, T) -> T = <LocalKey<Cell<T>>>::replace;
    let _: fn(&'static LocalKey<RefCell<T>>, fn(&T) -> bool) -> bool = <LocalKey<RefCell<T>>>::with_borrow;
    let _: fn(&'static LocalKey<RefCell<T>>, fn(&mut T) -> bool) -> bool =
        <LocalKey<RefCell<T>>>::with_borrow_mut;
    let _: fn(&'static LocalKey<RefCell<T>>, T) = <LocalKey<RefCell<T>>>::set;
    let _: fn(&'static LocalKey<RefCell<T>>) -> T = <LocalKey<RefCell<T>>>::take;
    let _: fn(&'static LocalKey<RefCell<T>>, T) -> T = <LocalKey<RefCell<T>>>::replace;
    implements!(LocalKey<u8>: Debug);
}

fn scope<'scope, 'env: 'scope, T: Value>() {
    let _: fn(&'scope Scope<'scope, 'env>, fn() -> T) -> ScopedJoinHandle<'scope, T> =
        <Scope<'scope, 'env>>::spawn;
    implements!(Scope<'static, 'static>: Debug);
}

fn scoped_join_handle<'scope, T: Value>() {
    let _: for<'b> fn(&'b ScopedJoinHandle<'scope, T>) -> &'b Thread = <ScopedJoinHandle<'scope, T>>::thread;
    let _: fn(ScopedJoinHandle<'scope, T>) -> thread::Result<T> = <ScopedJoinHandle<'scope, T>>::join;
    let _: fn(&ScopedJoinHandle<'scope, T>) -> bool = <ScopedJoinHandle<'scope, T>>::is_finished;
    implements!(ScopedJoinHandle<'static, u8>: Debug);
}

fn thread() {
    let _: fn(&Thread) = Thread::unpark;
    let _: fn(&Thread) -> ThreadId = Thread::id;
    let _: fn(&Thread) -> Option<&str> = Thread::name;
    implements!(Thread: Clone);
    implements!(Thread: Debug);
}

fn thread_id() {
    implements!(ThreadId: Clone);
    implements!(ThreadId: Debug);
    implements!(ThreadId: Hash);
    implements!(ThreadId: PartialEq);
    implements!(ThreadId: Copy);
    implements!(ThreadId: Eq);
}

/// Uses it all, so that nothing is left out.
pub(crate) fn all() {
    functions::<u8>();
    access_error();
    builder::<u8>();
    join_handle::<u8>();
    local_key::<u8>();
    scope::<u8>();
    scoped_join_handle::<u8>();
    thread();
    thread_id();
}
