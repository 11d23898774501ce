//! OS threads that are parked for ever: fibers run on their stacks and thread-local storage.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use unpick_core::error::Error;

use crate::fiber::{self, Fiber};
use crate::real::pass;
use crate::sys;

/// Bytes between the frame of the parked thread and the stack that is lent.
const KEPT: usize = 4096;

#[derive(Default)]
struct Parked {
    storage: AtomicUsize,
    stack: AtomicUsize,
}

extern "C" fn park(parked: &'static Parked) -> usize {
    let here = 0u8;
    parked.stack.store(&raw const here as usize, Ordering::Relaxed);
    let all = u64::MAX;
    // SAFETY: blocks all signals of this thread.
    unsafe { sys::call(libc::SYS_rt_sigprocmask, [0, &raw const all as usize, 0, 8, 0, 0]) };
    parked.storage.store(fiber::storage(), Ordering::Release);
    let word = 0u32;
    loop {
        // SAFETY: waits on a word of this stack, which nobody changes.
        unsafe { sys::call(libc::SYS_futex, [&raw const word as usize, 128, 0, 0, 0, 0]) };
    }
}

/// Bytes of thread-local storage, which the C library takes from the stack of a thread.
fn storage_size() -> usize {
    unsafe extern "C" fn add(module: *mut libc::dl_phdr_info, _: usize, total: *mut libc::c_void) -> i32 {
        // SAFETY: the loader's description of a module, and the total of `storage_size`.
        let (headers, total) = unsafe {
            let headers = std::slice::from_raw_parts((*module).dlpi_phdr, (*module).dlpi_phnum.into());
            (headers, &mut *total.cast::<usize>())
        };
        let storage = headers.iter().filter(|header| header.p_type == libc::PT_TLS);
        *total += storage.map(|header| (header.p_memsz + header.p_align) as usize).sum::<usize>();
        0
    }
    let mut total = 0usize;
    // SAFETY: the function gets what it asks for.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut total).cast()) };
    total
}

/// Makes a fiber with a stack of so many bytes.
pub(crate) fn make(stack: usize) -> Result<Fiber, Error> {
    type Entry = extern "C" fn(&'static Parked) -> usize;
    let parked: &'static Parked = Box::leak(Box::default());
    let mut attributes = MaybeUninit::uninit();
    let mut thread = 0;
    // SAFETY: makes the attributes, and then changes them.
    unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        let size = stack.max(1 << 16) + 4 * KEPT + storage_size();
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), size.next_multiple_of(KEPT));
    }
    type Attributes = *const libc::pthread_attr_t;
    let failed = pass!(
        c"pthread_create",
        fn(*mut libc::pthread_t, Attributes, Entry, &'static Parked) -> i32,
        &mut thread,
        attributes.as_ptr(),
        park,
        parked
    );
    if failed != 0 {
        return Err(Error::Machine {
            problem: format!("no OS thread for a thread of the program: error {failed}; let it start fewer"),
        });
    }
    while parked.storage.load(Ordering::Acquire) == 0 {
        // SAFETY: lets another OS thread run.
        unsafe { sys::call(libc::SYS_sched_yield, [0; 6]) };
    }
    let top = parked.stack.load(Ordering::Relaxed) - KEPT;
    let limit = top - stack.max(1 << 16) + KEPT;
    Ok(Fiber { stack: 0, storage: parked.storage.load(Ordering::Relaxed), top, limit })
}

/// The fiber of the main thread: its own storage, and a stack of its own.
pub(crate) fn make_main(stack: usize) -> Result<Fiber, Error> {
    let size = stack.max(1 << 16);
    let start = sys::map(0, size + KEPT).ok_or_else(|| Error::Machine {
        problem: String::from("no memory for the stack of the main thread; set a smaller stack size"),
    })?;
    // SAFETY: the first page of the new mapping; an overflow is to be noticed.
    unsafe { sys::call(libc::SYS_mprotect, [start, KEPT, libc::PROT_NONE as usize, 0, 0, 0]) };
    Ok(Fiber { stack: 0, storage: fiber::storage(), top: start + size + KEPT, limit: start + KEPT })
}

/// A stack for signal handlers.
pub(crate) fn signal_stack() {
    const SIZE: usize = 1 << 17;
    let Some(start) = sys::map(0, SIZE) else { return };
    let stack = libc::stack_t { ss_sp: start as *mut _, ss_flags: 0, ss_size: SIZE };
    // SAFETY: the memory is ours and stays.
    unsafe { libc::sigaltstack(&stack, null_mut()) };
}
