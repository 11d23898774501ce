//! The list of what `cargo unpick migrate --check` takes for covered is what is there.

use std::collections::BTreeSet;

/// Names each item, and brings it in, which fails to compile if it is not there.
macro_rules! items {
    ($($($part:ident)::+),* $(,)?) => {
        const ITEMS: &[&str] = &[$(stringify!($($part)::+)),*];
        #[allow(deprecated, unused_imports)]
        mod there {
            $(const _: () = {
                #[allow(unused_imports)]
                use unpick_loom::$($part)::+;
            };)*
        }
    };
}

items!(
    MAX_THREADS,
    explore,
    lazy_static,
    model,
    skip_branch,
    stop_exploring,
    thread_local,
    alloc::Layout,
    alloc::Track,
    alloc::alloc,
    alloc::alloc_zeroed,
    alloc::dealloc,
    cell::Cell,
    cell::ConstPtr,
    cell::MutPtr,
    cell::UnsafeCell,
    future::AtomicWaker,
    future::block_on,
    hint::spin_loop,
    hint::unreachable_unchecked,
    lazy_static::AccessError,
    lazy_static::Lazy,
    lazy_static::panicking,
    lazy_static::yield_now,
    model::Builder,
    model::model,
    sync::Arc,
    sync::Barrier,
    sync::Condvar,
    sync::LockResult,
    sync::Mutex,
    sync::MutexGuard,
    sync::Notify,
    sync::RwLock,
    sync::RwLockReadGuard,
    sync::RwLockWriteGuard,
    sync::TryLockResult,
    sync::WaitTimeoutResult,
    sync::atomic::AtomicBool,
    sync::atomic::AtomicI16,
    sync::atomic::AtomicI32,
    sync::atomic::AtomicI64,
    sync::atomic::AtomicI8,
    sync::atomic::AtomicIsize,
    sync::atomic::AtomicPtr,
    sync::atomic::AtomicU16,
    sync::atomic::AtomicU32,
    sync::atomic::AtomicU64,
    sync::atomic::AtomicU8,
    sync::atomic::AtomicUsize,
    sync::atomic::Ordering,
    sync::atomic::fence,
    sync::atomic::spin_loop_hint,
    sync::mpsc::Receiver,
    sync::mpsc::Sender,
    sync::mpsc::channel,
    thread::AccessError,
    thread::Builder,
    thread::JoinHandle,
    thread::LocalKey,
    thread::Thread,
    thread::ThreadId,
    thread::current,
    thread::panicking,
    thread::park,
    thread::spawn,
    thread::yield_now,
);

#[test]
fn the_list_of_covered_items_is_what_is_there() {
    let list = include_str!("../../../cli/src/migrate/loom.items").lines();
    let covered = list.filter(|line| !line.starts_with(['#', '.']) && !line.contains(" ! "));
    let covered: BTreeSet<String> = covered.map(String::from).collect();
    let there: BTreeSet<String> = ITEMS.iter().map(|item| item.replace(' ', "")).collect();
    assert_eq!(covered, there);
}
