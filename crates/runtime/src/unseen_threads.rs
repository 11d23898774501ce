//! Threads of the operating system that a program starts in a check: nobody controls or sees them, so it is said where the first
//! one was started.
//!
//! They are noticed where all of them come from, whoever starts them: `pthread_create` of the program is the one below, which
//! calls that of the C library. Threads that are started outside of checks, and inside of [`outside`](crate::ops::outside), are
//! nobody's concern. With other C libraries than that of GNU nothing is noticed.

use crate::arena;
use crate::current;
use crate::ops::leave_for_good;
use crate::record::Calls;

/// Puts the function below into the program.
pub(crate) fn install() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    std::hint::black_box(create::pthread_create as *const ());
}

/// A thread is about to be started.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(dead_code, reason = "nobody can tell"))]
fn note() {
    let Some((session, thread)) = current::get() else { return };
    if current::is_outside() {
        return;
    }
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers, and no other reference to it is in use while one runs; this one ends here.
    let s = unsafe { &mut *session };
    s.unseen.get_or_insert_with(Calls::take);
    if !s.limits.unseen_threads {
        // The memory that the thread would get is taken over by the next execution, so it must not begin.
        s.pulse.stop();
        s.search.execution.request_rerun();
        leave_for_good(session, thread);
    }
    arena::enter(arena);
}

/// The place where a thread was started, once there is time to look for names.
pub(crate) fn place(calls: &Calls) -> String {
    let frames = calls.frames_of_program();
    let place = frames.iter().find_map(|frame| frame.place.as_ref());
    place.map_or_else(|| String::from("an unknown place"), |place| format!("{}:{}", place.file, place.line))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod create {
    use std::ffi::{CStr, c_int, c_void};
    use std::sync::atomic::{AtomicPtr, Ordering};

    type Start = extern "C" fn(*mut c_void) -> *mut c_void;
    type Create =
        unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> c_int;

    /// As in the C library.
    ///
    /// # Safety
    ///
    /// As there.
    #[unsafe(no_mangle)]
    pub(super) unsafe extern "C" fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> c_int {
        super::note();
        match real() {
            // SAFETY: the caller's promise.
            Some(real) => unsafe { real(thread, attributes, start, argument) },
            None => libc::EAGAIN,
        }
    }

    /// The function that this one stands in front of: that of a sanitizer, if there is one, or of the C library.
    fn real() -> Option<Create> {
        static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        let mut found = REAL.load(Ordering::Relaxed);
        if found.is_null() {
            let find = |handle, name: &CStr| {
                // SAFETY: a handle that is always there, and a name that ends in a zero.
                unsafe { libc::dlsym(handle, name.as_ptr()) }
            };
            found = find(libc::RTLD_DEFAULT, c"__interceptor_pthread_create");
            if found.is_null() {
                found = find(libc::RTLD_NEXT, c"pthread_create");
            }
            REAL.store(found, Ordering::Relaxed);
        }
        // SAFETY: the function of that name has this type, and a null pointer is `None`.
        unsafe { std::mem::transmute::<*mut c_void, Option<Create>>(found) }
    }
}
