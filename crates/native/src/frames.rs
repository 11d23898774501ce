//! Call stacks of the program.

use std::ffi::c_void;

type Context = c_void;

unsafe extern "C" {
    fn _Unwind_Backtrace(visit: extern "C" fn(*mut Context, *mut c_void) -> i32, walk: *mut c_void) -> i32;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

/// Frames at most.
const MOST: usize = 64;

struct Walk {
    frame: usize,
    top: usize,
    addresses: Vec<usize>,
}

/// The return addresses of the frames between `frame` and `top`, innermost first.
pub(crate) fn walk(frame: usize, top: usize) -> Vec<usize> {
    let mut walk = Walk { frame, top, addresses: Vec::new() };
    // SAFETY: the callback gets the walk, and uses it only during the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    walk.addresses
}

extern "C" fn visit(context: *mut Context, walk: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: see `walk`; the context is valid during the call.
    let (walk, address, stack) =
        unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    if stack > walk.top || address == 0 || walk.addresses.len() == MOST {
        return END;
    }
    if stack > walk.frame {
        walk.addresses.push(address);
    }
    GO_ON
}
