//! Hints, as in `loom::hint`.

pub use unpick::hint::spin_loop;

/// Says that this place is never reached. If it is, that is a panic.
///
/// # Panics
///
/// Always.
///
/// # Safety
///
/// It is safe to call, unlike the function of the standard library that it stands for.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("`unreachable_unchecked` was reached");
}
