// Included by `surface.rs`, twice: what `sync` has.

use std::any::Any;
use std::borrow::{Borrow, Cow};
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt::{Debug, Display, Pointer};
use std::fs::File;
use std::hash::Hash;
use std::io::{Read, Seek, Write};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

#[expect(deprecated, reason = "std has it still")]
use subject::sync::ONCE_INIT;
use subject::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock,
    OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
    WaitTimeoutResult, Weak,
};

use crate::surface::Value;

const _: Barrier = Barrier::new(1);
const _: Condvar = Condvar::new();
const _: LazyLock<u8> = LazyLock::new(|| 1);
const _: Mutex<u8> = Mutex::new(1);
const _: Once = Once::new();
const _: OnceLock<u8> = OnceLock::new();
const _: RwLock<u8> = RwLock::new(1);
const _: Weak<u8> = Weak::new();
#[expect(deprecated, reason = "std has it still")]
const _: Once = ONCE_INIT;
const _: fn(LockResult<u8>) -> Result<u8, PoisonError<u8>> = |result| result;
const _: fn(TryLockResult<u8>) -> Result<u8, TryLockError<u8>> = |result| result;

fn try_lock_error() {
    let _ = <TryLockError<u8>>::Poisoned;
    let _ = <TryLockError<u8>>::WouldBlock;
    implements!(TryLockError<u8>: Debug);
    implements!(TryLockError<u8>: Display);
    implements!(TryLockError<u8>: Error);
    implements!(TryLockError<u8>: From<PoisonError<u8>>);
}

fn arc<T: Value>() {
    let _: fn(T) -> Arc<T> = <Arc<T>>::new;
    let _: fn(fn(&Weak<T>) -> T) -> Arc<T> = <Arc<T>>::new_cyclic;
    let _: fn() -> Arc<MaybeUninit<T>> = <Arc<T>>::new_uninit;
    let _: fn() -> Arc<MaybeUninit<T>> = <Arc<T>>::new_zeroed;
    let _: fn(T) -> Pin<Arc<T>> = <Arc<T>>::pin;
    let _: fn(Arc<T>) -> Result<T, Arc<T>> = <Arc<T>>::try_unwrap;
    let _: fn(Arc<T>) -> Option<T> = <Arc<T>>::into_inner;
    let _: fn(usize) -> Arc<[MaybeUninit<T>]> = <Arc<[T]>>::new_uninit_slice;
    let _: fn(usize) -> Arc<[MaybeUninit<T>]> = <Arc<[T]>>::new_zeroed_slice;
    let _: unsafe fn(Arc<MaybeUninit<T>>) -> Arc<T> = <Arc<MaybeUninit<T>>>::assume_init;
    let _: unsafe fn(Arc<[MaybeUninit<T>]>) -> Arc<[T]> = <Arc<[MaybeUninit<T>]>>::assume_init;
    let _: unsafe fn(*const T) -> Arc<T> = <Arc<T>>::from_raw;
    let _: fn(Arc<T>) -> *const T = <Arc<T>>::into_raw;
    let _: unsafe fn(*const T) = <Arc<T>>::increment_strong_count;
    let _: unsafe fn(*const T) = <Arc<T>>::decrement_strong_count;
    let _: fn(&Arc<T>) -> *const T = <Arc<T>>::as_ptr;
    let _: fn(&Arc<T>) -> Weak<T> = <Arc<T>>::downgrade;
    let _: fn(&Arc<T>) -> usize = <Arc<T>>::weak_count;
    let _: fn(&Arc<T>) -> usize = <Arc<T>>::strong_count;
    let _: fn(&Arc<T>, &Arc<T>) -> bool = <Arc<T>>::ptr_eq;
    let _: fn(&mut Arc<T>) -> &mut T = <Arc<T>>::make_mut;
    let _: fn(Arc<T>) -> T = <Arc<T>>::unwrap_or_clone;
    let _: fn(&mut Arc<T>) -> Option<&mut T> = <Arc<T>>::get_mut;
    let _: fn(Arc<dyn Any + Sync + Send>) -> Result<Arc<T>, Arc<dyn Any + Sync + Send>> =
        <Arc<dyn Any + Sync + Send>>::downcast;
    implements!(Arc<File>: AsFd);
    implements!(Arc<File>: AsRawFd);
    implements!(Arc<str>: AsRef<str>);
    implements!(Arc<str>: Borrow<str>);
    implements!(Arc<str>: Clone);
    implements!(Arc<str>: Debug);
    implements!(Arc<[u8]>: Default);
    implements!(Arc<CStr>: Default);
    implements!(Arc<u8>: Default);
    implements!(Arc<str>: Default);
    implements!(Pin<Arc<str>>: Default);
    implements!(Arc<str>: Deref);
    implements!(Arc<str>: Display);
    implements!(Arc<dyn Error>: Error);
    implements!(Arc<[u8]>: From<&'static [u8]>);
    implements!(Arc<CStr>: From<&'static CStr>);
    implements!(Arc<OsStr>: From<&'static OsStr>);
    implements!(Arc<Path>: From<&'static Path>);
    implements!(Arc<[u8]>: From<&'static mut [u8]>);
    implements!(Arc<CStr>: From<&'static mut CStr>);
    implements!(Arc<OsStr>: From<&'static mut OsStr>);
    implements!(Arc<Path>: From<&'static mut Path>);
    implements!(Arc<str>: From<&'static mut str>);
    implements!(Arc<str>: From<&'static str>);
    implements!(Arc<[u8]>: From<[u8; 2]>);
    implements!(Arc<[u8]>: From<Arc<str>>);
    implements!(Arc<str>: From<Box<str>>);
    implements!(Arc<CStr>: From<CString>);
    implements!(Arc<str>: From<Cow<'static, str>>);
    implements!(Arc<OsStr>: From<OsString>);
    implements!(Arc<Path>: From<PathBuf>);
    implements!(Arc<str>: From<String>);
    implements!(Arc<u8>: From<u8>);
    implements!(Arc<[u8]>: From<Vec<u8>>);
    implements!(Arc<[u8]>: FromIterator<u8>);
    implements!(Arc<str>: Hash);
    implements!(Arc<str>: Ord);
    implements!(Arc<str>: PartialEq);
    implements!(Arc<str>: PartialOrd);
    implements!(Arc<str>: Pointer);
    implements!(Arc<File>: Read);
    implements!(Arc<File>: Seek);
    implements!(Arc<[u8; 2]>: TryFrom<Arc<[u8]>>);
    implements!(Arc<File>: Write);
    implements!(Arc<str>: Eq);
    implements!(Arc<str>: Send);
    implements!(Arc<str>: Sync);
    implements!(Arc<str>: Unpin);
    implements!(Arc<str>: UnwindSafe);
}

fn barrier() {
    let _: fn(usize) -> Barrier = Barrier::new;
    let _: fn(&Barrier) -> BarrierWaitResult = Barrier::wait;
    implements!(Barrier: Debug);
    implements!(Barrier: RefUnwindSafe);
}

fn barrier_wait_result() {
    let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    implements!(BarrierWaitResult: Debug);
}

fn condvar<'a, T: Value>() {
    let _: fn() -> Condvar = Condvar::new;
    let _: fn(&Condvar, MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> = Condvar::wait;
    let _: fn(&Condvar, MutexGuard<'a, T>, fn(&mut T) -> bool) -> LockResult<MutexGuard<'a, T>> =
        Condvar::wait_while;
    #[expect(deprecated, reason = "std has it still")]
    let _: fn(&Condvar, MutexGuard<'a, T>, u32) -> LockResult<(MutexGuard<'a, T>, bool)> =
        Condvar::wait_timeout_ms;
    let _: fn(&Condvar, MutexGuard<'a, T>, Duration) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> =
        Condvar::wait_timeout;
    let _: fn(
        &Condvar,
        MutexGuard<'a, T>,
        Duration,
        fn(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> = Condvar::wait_timeout_while;
    let _: fn(&Condvar) = Condvar::notify_one;
    let _: fn(&Condvar) = Condvar::notify_all;
    implements!(Condvar: Debug);
    implements!(Condvar: Default);
    implements!(Condvar: RefUnwindSafe);
    implements!(Condvar: UnwindSafe);
}

fn lazy_lock<T: Value, F: FnOnce() -> T>() {
    let _: fn(F) -> LazyLock<T, F> = <LazyLock<T, F>>::new;
    let _: fn(&mut LazyLock<T, F>) -> &mut T = <LazyLock<T, F>>::force_mut;
    let _: fn(&LazyLock<T, F>) -> &T = <LazyLock<T, F>>::force;
    let _: fn(&mut LazyLock<T, F>) -> Option<&mut T> = <LazyLock<T, F>>::get_mut;
    let _: fn(&LazyLock<T, F>) -> Option<&T> = <LazyLock<T, F>>::get;
    implements!(LazyLock<u8>: Debug);
    implements!(LazyLock<u8>: Default);
    implements!(LazyLock<u8>: Deref);
    implements!(LazyLock<u8>: DerefMut);
    implements!(LazyLock<u8>: RefUnwindSafe);
    implements!(LazyLock<u8>: Sync);
    implements!(LazyLock<u8>: UnwindSafe);
}

fn mutex<T: Value>() {
    let _: fn(T) -> Mutex<T> = <Mutex<T>>::new;
    let _: fn(&Mutex<T>) -> LockResult<MutexGuard<'_, T>> = <Mutex<T>>::lock;
    let _: fn(&Mutex<T>) -> TryLockResult<MutexGuard<'_, T>> = <Mutex<T>>::try_lock;
    let _: fn(&Mutex<T>) -> bool = <Mutex<T>>::is_poisoned;
    let _: fn(&Mutex<T>) = <Mutex<T>>::clear_poison;
    let _: fn(Mutex<T>) -> LockResult<T> = <Mutex<T>>::into_inner;
    let _: fn(&mut Mutex<T>) -> LockResult<&mut T> = <Mutex<T>>::get_mut;
    implements!(Mutex<str>: Debug);
    implements!(Mutex<u8>: Default);
    implements!(Mutex<u8>: From<u8>);
    implements!(Mutex<str>: RefUnwindSafe);
    implements!(Mutex<str>: Send);
    implements!(Mutex<str>: Sync);
    implements!(Mutex<str>: UnwindSafe);
}

fn mutex_guard() {
    implements!(MutexGuard<'static, str>: Debug);
    implements!(MutexGuard<'static, str>: Deref);
    implements!(MutexGuard<'static, str>: DerefMut);
    implements!(MutexGuard<'static, str>: Display);
    refuses!(MutexGuard<'static, str>: Send);
    implements!(MutexGuard<'static, str>: Sync);
}

fn once() {
    let _: fn() -> Once = Once::new;
    let _: fn(&Once, fn()) = Once::call_once;
    let _: fn(&Once, fn(&OnceState)) = Once::call_once_force;
    let _: fn(&Once) -> bool = Once::is_completed;
    let _: fn(&Once) = Once::wait;
    let _: fn(&Once) = Once::wait_force;
    implements!(Once: Debug);
    implements!(Once: RefUnwindSafe);
    implements!(Once: UnwindSafe);
}

fn once_lock<T: Value>() {
    let _: fn() -> OnceLock<T> = <OnceLock<T>>::new;
    let _: fn(&OnceLock<T>) -> Option<&T> = <OnceLock<T>>::get;
    let _: fn(&mut OnceLock<T>) -> Option<&mut T> = <OnceLock<T>>::get_mut;
    let _: fn(&OnceLock<T>) -> &T = <OnceLock<T>>::wait;
    let _: fn(&OnceLock<T>, T) -> Result<(), T> = <OnceLock<T>>::set;
    let _: fn(&OnceLock<T>, fn() -> T) -> &T = <OnceLock<T>>::get_or_init;
    let _: fn(OnceLock<T>) -> Option<T> = <OnceLock<T>>::into_inner;
    let _: fn(&mut OnceLock<T>) -> Option<T> = <OnceLock<T>>::take;
    implements!(OnceLock<u8>: Clone);
    implements!(OnceLock<u8>: Debug);
    implements!(OnceLock<u8>: Default);
    implements!(OnceLock<u8>: From<u8>);
    implements!(OnceLock<u8>: PartialEq);
    implements!(OnceLock<u8>: Eq);
    implements!(OnceLock<u8>: RefUnwindSafe);
    implements!(OnceLock<u8>: Send);
    implements!(OnceLock<u8>: Sync);
    implements!(OnceLock<u8>: UnwindSafe);
}

fn once_state() {
    let _: fn(&OnceState) -> bool = OnceState::is_poisoned;
    implements!(OnceState: Debug);
}

fn poison_error<T: Value>() {
    let _: fn(T) -> PoisonError<T> = <PoisonError<T>>::new;
    let _: fn(PoisonError<T>) -> T = <PoisonError<T>>::into_inner;
    let _: fn(&PoisonError<T>) -> &T = <PoisonError<T>>::get_ref;
    let _: fn(&mut PoisonError<T>) -> &mut T = <PoisonError<T>>::get_mut;
    implements!(PoisonError<u8>: Debug);
    implements!(PoisonError<u8>: Display);
    implements!(PoisonError<u8>: Error);
}

fn rw_lock<T: Value>() {
    let _: fn(T) -> RwLock<T> = <RwLock<T>>::new;
    let _: fn(&RwLock<T>) -> LockResult<RwLockReadGuard<'_, T>> = <RwLock<T>>::read;
    let _: fn(&RwLock<T>) -> TryLockResult<RwLockReadGuard<'_, T>> = <RwLock<T>>::try_read;
    let _: fn(&RwLock<T>) -> LockResult<RwLockWriteGuard<'_, T>> = <RwLock<T>>::write;
    let _: fn(&RwLock<T>) -> TryLockResult<RwLockWriteGuard<'_, T>> = <RwLock<T>>::try_write;
    let _: fn(&RwLock<T>) -> bool = <RwLock<T>>::is_poisoned;
    let _: fn(&RwLock<T>) = <RwLock<T>>::clear_poison;
    let _: fn(RwLock<T>) -> LockResult<T> = <RwLock<T>>::into_inner;
    let _: fn(&mut RwLock<T>) -> LockResult<&mut T> = <RwLock<T>>::get_mut;
    implements!(RwLock<str>: Debug);
    implements!(RwLock<u8>: Default);
    implements!(RwLock<u8>: From<u8>);
    implements!(RwLock<str>: RefUnwindSafe);
    implements!(RwLock<str>: Send);
    implements!(RwLock<str>: Sync);
    implements!(RwLock<str>: UnwindSafe);
}

fn rw_lock_read_guard() {
    implements!(RwLockReadGuard<'static, str>: Debug);
    implements!(RwLockReadGuard<'static, str>: Deref);
    implements!(RwLockReadGuard<'static, str>: Display);
    refuses!(RwLockReadGuard<'static, str>: Send);
    implements!(RwLockReadGuard<'static, str>: Sync);
}

fn rw_lock_write_guard<'a, T: Value>() {
    let _: fn(RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> = <RwLockWriteGuard<'a, T>>::downgrade;
    implements!(RwLockWriteGuard<'static, str>: Debug);
    implements!(RwLockWriteGuard<'static, str>: Deref);
    implements!(RwLockWriteGuard<'static, str>: DerefMut);
    implements!(RwLockWriteGuard<'static, str>: Display);
    refuses!(RwLockWriteGuard<'static, str>: Send);
    implements!(RwLockWriteGuard<'static, str>: Sync);
}

fn wait_timeout_result() {
    let _: fn(&WaitTimeoutResult) -> bool = WaitTimeoutResult::timed_out;
    implements!(WaitTimeoutResult: Clone);
    implements!(WaitTimeoutResult: Debug);
    implements!(WaitTimeoutResult: PartialEq);
    implements!(WaitTimeoutResult: Copy);
    implements!(WaitTimeoutResult: Eq);
}

fn weak<T: Value>() {
    let _: fn() -> Weak<T> = <Weak<T>>::new;
    let _: unsafe fn(*const T) -> Weak<T> = <Weak<T>>::from_raw;
    let _: fn(Weak<T>) -> *const T = <Weak<T>>::into_raw;
    let _: fn(&Weak<T>) -> *const T = <Weak<T>>::as_ptr;
    let _: fn(&Weak<T>) -> Option<Arc<T>> = <Weak<T>>::upgrade;
    let _: fn(&Weak<T>) -> usize = <Weak<T>>::strong_count;
    let _: fn(&Weak<T>) -> usize = <Weak<T>>::weak_count;
    let _: fn(&Weak<T>, &Weak<T>) -> bool = <Weak<T>>::ptr_eq;
    implements!(Weak<str>: Clone);
    implements!(Weak<str>: Debug);
    implements!(Weak<u8>: Default);
    implements!(Weak<str>: Send);
    implements!(Weak<str>: Sync);
}

/// Uses it all, so that nothing is left out.
pub(crate) fn all() {
    try_lock_error();
    arc::<u8>();
    barrier();
    barrier_wait_result();
    condvar::<u8>();
    lazy_lock::<u8, fn() -> u8>();
    mutex::<u8>();
    mutex_guard();
    once();
    once_lock::<u8>();
    once_state();
    poison_error::<u8>();
    rw_lock::<u8>();
    rw_lock_read_guard();
    rw_lock_write_guard::<u8>();
    wait_timeout_result();
    weak::<u8>();
}
