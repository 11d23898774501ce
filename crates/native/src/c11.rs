//! Threads as C11 has them. They are those of pthreads, with other codes.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use crate::entry::entries;
use crate::pthread::{cond, mutex};
use crate::threads;
use crate::time;

entries! {
    thrd_create => create;
    thrd_join => join;
    thrd_detach => detach;
    thrd_sleep => sleep;
    mtx_init => mutex_init;
    mtx_destroy => mutex_destroy;
    mtx_lock => mutex_lock;
    mtx_trylock => mutex_try_lock;
    mtx_timedlock => mutex_lock_until;
    mtx_unlock => mutex_unlock;
    cnd_init => cond_init;
    cnd_destroy => cond_destroy;
    cnd_wait => cond_wait;
    cnd_timedwait => cond_wait_until;
    cnd_signal => cond_signal;
    cnd_broadcast => cond_broadcast;
    tss_create => key_create;
    tss_delete => key_delete;
    tss_get => key_get;
    tss_set => key_set;
}

/// `call_once` is `pthread_once`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn call_once() {
    std::arch::naked_asm!("jmp {once}", once = sym crate::pthread::once::pthread_once)
}

type Mutex = libc::pthread_mutex_t;
type Cond = libc::pthread_cond_t;
type Time = *const libc::timespec;

/// The code of C11 that stands for a code of pthreads.
fn code(code: i32) -> i32 {
    const BUSY: i32 = 1;
    const ERROR: i32 = 2;
    const NO_MEMORY: i32 = 3;
    const TIMED_OUT: i32 = 4;
    match code {
        0 => 0,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

extern "C" fn create(handle: *mut usize, function: usize, argument: usize) -> i32 {
    code(threads::create(handle, std::ptr::null(), function, argument))
}

unsafe extern "C" fn join(handle: usize, result: *mut i32) -> i32 {
    let mut whole = 0;
    let joined = threads::join(handle, &mut whole);
    if joined == 0 && !result.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *result = whole as i32 };
    }
    code(joined)
}

extern "C" fn detach(handle: usize) -> i32 {
    code(threads::detach(handle))
}

unsafe extern "C" fn sleep(time: Time, left: *mut libc::timespec) -> i32 {
    // SAFETY: the caller's arguments.
    unsafe { time::sleep_for(time, left) }
}

unsafe extern "C" fn mutex_init(mutex: *mut Mutex, kind: i32) -> i32 {
    const RECURSIVE: i32 = 1;
    let mut attributes = MaybeUninit::uninit();
    let kind = if kind & RECURSIVE != 0 { libc::PTHREAD_MUTEX_RECURSIVE } else { libc::PTHREAD_MUTEX_NORMAL };
    // SAFETY: the attributes are ours, the mutex is the caller's.
    unsafe {
        libc::pthread_mutexattr_init(attributes.as_mut_ptr());
        libc::pthread_mutexattr_settype(attributes.as_mut_ptr(), kind);
        code(mutex::init(mutex, attributes.as_ptr()))
    }
}

/// Defines functions that do what a function of pthreads does, with the codes of C11.
macro_rules! same {
    ($($name:ident($($argument:ident: $type:ty),*) as $target:path;)*) => { $(
        unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
            // SAFETY: the caller's arguments.
            code(unsafe { $target($($argument),*) })
        }
    )* };
}

same! {
    mutex_lock(mutex: *mut Mutex) as mutex::lock;
    mutex_try_lock(mutex: *mut Mutex) as mutex::try_lock;
    mutex_lock_until(mutex: *mut Mutex, time: Time) as mutex::lock_until;
    mutex_unlock(mutex: *mut Mutex) as mutex::unlock;
    cond_wait(cond: *mut Cond, mutex: *mut Mutex) as cond::wait;
    cond_wait_until(cond: *mut Cond, mutex: *mut Mutex, time: Time) as cond::wait_until;
    cond_signal(cond: *mut Cond) as cond::signal;
    cond_broadcast(cond: *mut Cond) as cond::broadcast;
}

unsafe extern "C" fn mutex_destroy(mutex: *mut Mutex) {
    // SAFETY: the caller's argument.
    unsafe { mutex::destroy(mutex) };
}

unsafe extern "C" fn cond_init(cond: *mut Cond) -> i32 {
    // SAFETY: the caller's argument.
    code(unsafe { cond::init(cond, std::ptr::null()) })
}

unsafe extern "C" fn cond_destroy(cond: *mut Cond) {
    // SAFETY: the caller's argument.
    unsafe { cond::destroy(cond) };
}

extern "C" fn key_create(key: *mut u32, destructor: usize) -> i32 {
    code(threads::key_create(key, destructor))
}

extern "C" fn key_delete(key: u32) {
    threads::key_delete(key);
}

extern "C" fn key_get(key: u32) -> *mut c_void {
    threads::get_specific(key) as *mut c_void
}

extern "C" fn key_set(key: u32, value: usize) -> i32 {
    code(threads::set_specific(key, value))
}
