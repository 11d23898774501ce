//! The types can be sent, shared, pinned and unwound through exactly when those of std can.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Debug;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

/// The marks that a type has, as the compiler finds them: the constant of the type itself, which is
/// there if the bound holds, goes before that of the trait.
macro_rules! marks {
    ($type:ty) => {
        [
            marks!($type, Send),
            marks!($type, Sync),
            marks!($type, Unpin),
            marks!($type, UnwindSafe),
            marks!($type, RefUnwindSafe),
        ]
    };
    ($type:ty, $mark:ident) => {{
        struct Probe<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code, reason = "not used where the bound does not hold")]
        impl<T: ?Sized + $mark> Probe<T> {
            const MARK: &str = stringify!($mark);
        }
        #[allow(dead_code, reason = "not used where the bound holds")]
        trait Otherwise {
            const MARK: &str = "";
        }
        impl<T: ?Sized> Otherwise for Probe<T> {}
        <Probe<$type>>::MARK
    }};
}

/// Notes a type whose marks differ from those of its model.
macro_rules! compare {
    ($wrong:ident: $($ours:ty, $theirs:ty;)*) => {
        $(
            let (ours, theirs) = (marks!($ours), marks!($theirs));
            if ours != theirs {
                $wrong.push(format!("{}: {ours:?}, and in std {theirs:?}", stringify!($ours)));
            }
        )*
    };
}

/// Compares what holds values of some types.
macro_rules! compare_for {
    ($wrong:ident: $($value:ty),*) => {
        $(
            compare! { $wrong:
                unpick::sync::atomic::AtomicPtr<$value>, std::sync::atomic::AtomicPtr<$value>;
                unpick::thread::JoinHandle<$value>, std::thread::JoinHandle<$value>;
                unpick::thread::ScopedJoinHandle<'static, $value>, std::thread::ScopedJoinHandle<'static, $value>;
            }
            compare_unsized_for!($wrong: $value);
        )*
    };
}

macro_rules! compare_unsized_for {
    ($wrong:ident: $($value:ty),*) => {
        $(compare! { $wrong:
            unpick::sync::Mutex<$value>, std::sync::Mutex<$value>;
            unpick::sync::MutexGuard<'static, $value>, std::sync::MutexGuard<'static, $value>;
            unpick::cell::UnsafeCell<$value>, std::cell::UnsafeCell<$value>;
        })*
    };
}

#[test]
fn the_marks_are_found() {
    assert_eq!(marks!(u8), ["Send", "Sync", "Unpin", "UnwindSafe", "RefUnwindSafe"]);
    assert_eq!(marks!(Cell<u8>), ["Send", "", "Unpin", "UnwindSafe", ""]);
    assert_eq!(marks!(&'static mut u8), ["Send", "Sync", "Unpin", "", "RefUnwindSafe"]);
    assert_eq!(marks!(PhantomPinned), ["Send", "Sync", "", "UnwindSafe", "RefUnwindSafe"]);
}

#[test]
fn types_have_the_marks_of_std() {
    let mut wrong: Vec<String> = Vec::new();
    compare_for! { wrong:
        u8, String, Cell<u8>, Rc<u8>, *const u8, &'static Cell<u8>, &'static mut u8, PhantomPinned,
        std::sync::MutexGuard<'static, u8>, Box<dyn Any>, Box<dyn Any + Send>, Box<dyn Debug + Sync>
    }
    compare_unsized_for! { wrong: [u8], dyn Any, dyn Any + Send, dyn Debug + Sync, dyn Debug + Unpin }
    compare! { wrong:
        unpick::thread::Scope<'static, 'static>, std::thread::Scope<'static, 'static>;
        unpick::sync::RawMutex, std::sync::Mutex<()>;
        unpick::sync::atomic::AtomicBool, std::sync::atomic::AtomicBool;
        unpick::sync::atomic::AtomicU8, std::sync::atomic::AtomicU8;
        unpick::sync::atomic::AtomicU16, std::sync::atomic::AtomicU16;
        unpick::sync::atomic::AtomicU32, std::sync::atomic::AtomicU32;
        unpick::sync::atomic::AtomicU64, std::sync::atomic::AtomicU64;
        unpick::sync::atomic::AtomicUsize, std::sync::atomic::AtomicUsize;
        unpick::sync::atomic::AtomicI8, std::sync::atomic::AtomicI8;
        unpick::sync::atomic::AtomicI16, std::sync::atomic::AtomicI16;
        unpick::sync::atomic::AtomicI32, std::sync::atomic::AtomicI32;
        unpick::sync::atomic::AtomicI64, std::sync::atomic::AtomicI64;
        unpick::sync::atomic::AtomicIsize, std::sync::atomic::AtomicIsize;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
