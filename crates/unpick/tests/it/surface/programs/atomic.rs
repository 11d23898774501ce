// Included by `surface.rs`, twice: what `sync::atomic` has.

use std::fmt::{Debug, Pointer};
use std::hash::Hash;
use std::panic::RefUnwindSafe;

#[expect(deprecated, reason = "std has them still")]
use subject::sync::atomic::{ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT, spin_loop_hint};
use subject::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};

use crate::surface::Value;

const _: AtomicBool = AtomicBool::new(true);
const _: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
#[expect(deprecated, reason = "std has them still")]
const _: (AtomicBool, AtomicIsize, AtomicUsize) = (ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT);
const _: fn(Ordering) = fence;
const _: fn(Ordering) = compiler_fence;
#[expect(deprecated, reason = "std has it still")]
const _: fn() = spin_loop_hint;
const _: fn(&AtomicBool) -> *mut bool = const { |atomic| AtomicBool::as_ptr(atomic) };

fn ordering() {
    let _ = Ordering::Relaxed;
    let _ = Ordering::Release;
    let _ = Ordering::Acquire;
    let _ = Ordering::AcqRel;
    let _ = Ordering::SeqCst;
    implements!(Ordering: Clone);
    implements!(Ordering: Debug);
    implements!(Ordering: Hash);
    implements!(Ordering: PartialEq);
    implements!(Ordering: Copy);
    implements!(Ordering: Eq);
}

fn atomic_bool() {
    let _: fn(bool) -> AtomicBool = AtomicBool::new;
    let _: fn(&mut AtomicBool) -> &mut bool = AtomicBool::get_mut;
    let _: fn(AtomicBool) -> bool = AtomicBool::into_inner;
    let _: fn(&AtomicBool, Ordering) -> bool = AtomicBool::load;
    let _: fn(&AtomicBool, bool, Ordering) = AtomicBool::store;
    let _: fn(&AtomicBool, bool, Ordering) -> bool = AtomicBool::swap;
    #[expect(deprecated, reason = "std has it still")]
    let _: fn(&AtomicBool, bool, bool, Ordering) -> bool = AtomicBool::compare_and_swap;
    let _: fn(&AtomicBool, bool, bool, Ordering, Ordering) -> Result<bool, bool> =
        AtomicBool::compare_exchange;
    let _: fn(&AtomicBool, bool, bool, Ordering, Ordering) -> Result<bool, bool> =
        AtomicBool::compare_exchange_weak;
    let _: fn(&AtomicBool, bool, Ordering) -> bool = AtomicBool::fetch_and;
    let _: fn(&AtomicBool, bool, Ordering) -> bool = AtomicBool::fetch_nand;
    let _: fn(&AtomicBool, bool, Ordering) -> bool = AtomicBool::fetch_or;
    let _: fn(&AtomicBool, bool, Ordering) -> bool = AtomicBool::fetch_xor;
    let _: fn(&AtomicBool, Ordering) -> bool = AtomicBool::fetch_not;
    let _: fn(&AtomicBool) -> *mut bool = AtomicBool::as_ptr;
    let _: fn(&AtomicBool, Ordering, Ordering, fn(bool) -> Option<bool>) -> Result<bool, bool> =
        AtomicBool::fetch_update;
    let _: fn(&AtomicBool, Ordering, Ordering, fn(bool) -> Option<bool>) -> Result<bool, bool> =
        AtomicBool::try_update;
    let _: fn(&AtomicBool, Ordering, Ordering, fn(bool) -> bool) -> bool = AtomicBool::update;
    implements!(AtomicBool: Debug);
    implements!(AtomicBool: Default);
    implements!(AtomicBool: From<bool>);
    implements!(AtomicBool: RefUnwindSafe);
    implements!(AtomicBool: Sync);
}

fn atomic_ptr<T: Value>() {
    let _: fn(*mut T) -> AtomicPtr<T> = <AtomicPtr<T>>::new;
    let _: fn(&mut AtomicPtr<T>) -> &mut *mut T = <AtomicPtr<T>>::get_mut;
    let _: fn(AtomicPtr<T>) -> *mut T = <AtomicPtr<T>>::into_inner;
    let _: fn(&AtomicPtr<T>, Ordering) -> *mut T = <AtomicPtr<T>>::load;
    let _: fn(&AtomicPtr<T>, *mut T, Ordering) = <AtomicPtr<T>>::store;
    let _: fn(&AtomicPtr<T>, *mut T, Ordering) -> *mut T = <AtomicPtr<T>>::swap;
    #[expect(deprecated, reason = "std has it still")]
    let _: fn(&AtomicPtr<T>, *mut T, *mut T, Ordering) -> *mut T = <AtomicPtr<T>>::compare_and_swap;
    let _: fn(&AtomicPtr<T>, *mut T, *mut T, Ordering, Ordering) -> Result<*mut T, *mut T> =
        <AtomicPtr<T>>::compare_exchange;
    let _: fn(&AtomicPtr<T>, *mut T, *mut T, Ordering, Ordering) -> Result<*mut T, *mut T> =
        <AtomicPtr<T>>::compare_exchange_weak;
    let _: fn(&AtomicPtr<T>, Ordering, Ordering, fn(*mut T) -> Option<*mut T>) -> Result<*mut T, *mut T> =
        <AtomicPtr<T>>::fetch_update;
    let _: fn(&AtomicPtr<T>, Ordering, Ordering, fn(*mut T) -> Option<*mut T>) -> Result<*mut T, *mut T> =
        <AtomicPtr<T>>::try_update;
    let _: fn(&AtomicPtr<T>, Ordering, Ordering, fn(*mut T) -> *mut T) -> *mut T = <AtomicPtr<T>>::update;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_ptr_add;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_ptr_sub;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_byte_add;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_byte_sub;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_or;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_and;
    let _: fn(&AtomicPtr<T>, usize, Ordering) -> *mut T = <AtomicPtr<T>>::fetch_xor;
    let _: fn(&AtomicPtr<T>) -> *mut *mut T = <AtomicPtr<T>>::as_ptr;
    implements!(AtomicPtr<u8>: Debug);
    implements!(AtomicPtr<u8>: Default);
    implements!(AtomicPtr<u8>: From<*mut u8>);
    implements!(AtomicPtr<u8>: Pointer);
    implements!(AtomicPtr<u8>: RefUnwindSafe);
    implements!(AtomicPtr<u8>: Send);
    implements!(AtomicPtr<u8>: Sync);
}

macro_rules! integers {
    ($($function:ident $name:ident $int:ident;)*) => {
$(
fn $function() {
    const _: $name = $name::new(1);
    let _: fn($int) -> $name = $name::new;
    let _: fn(&mut $name) -> &mut $int = $name::get_mut;
    let _: fn($name) -> $int = $name::into_inner;
    let _: fn(&$name, Ordering) -> $int = $name::load;
    let _: fn(&$name, $int, Ordering) = $name::store;
    let _: fn(&$name, $int, Ordering) -> $int = $name::swap;
    #[expect(deprecated, reason = "std has it still")]
    let _: fn(&$name, $int, $int, Ordering) -> $int = $name::compare_and_swap;
    let _: fn(&$name, $int, $int, Ordering, Ordering) -> Result<$int, $int> = $name::compare_exchange;
    let _: fn(&$name, $int, $int, Ordering, Ordering) -> Result<$int, $int> = $name::compare_exchange_weak;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_add;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_sub;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_and;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_nand;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_or;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_xor;
    let _: fn(&$name, Ordering, Ordering, fn($int) -> Option<$int>) -> Result<$int, $int> = $name::fetch_update;
    let _: fn(&$name, Ordering, Ordering, fn($int) -> Option<$int>) -> Result<$int, $int> = $name::try_update;
    let _: fn(&$name, Ordering, Ordering, fn($int) -> $int) -> $int = $name::update;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_max;
    let _: fn(&$name, $int, Ordering) -> $int = $name::fetch_min;
    let _: fn(&$name) -> *mut $int = $name::as_ptr;
    implements!($name: Debug);
    implements!($name: Default);
    implements!($name: From<$int>);
    implements!($name: RefUnwindSafe);
    implements!($name: Sync);
}
)*
    };
}

integers! {
    atomic_i8 AtomicI8 i8;
    atomic_i16 AtomicI16 i16;
    atomic_i32 AtomicI32 i32;
    atomic_i64 AtomicI64 i64;
    atomic_isize AtomicIsize isize;
    atomic_u8 AtomicU8 u8;
    atomic_u16 AtomicU16 u16;
    atomic_u32 AtomicU32 u32;
    atomic_u64 AtomicU64 u64;
    atomic_usize AtomicUsize usize;
}

/// Uses it all, so that nothing is left out.
pub(crate) fn all() {
    ordering();
    atomic_bool();
    atomic_ptr::<u8>();
    atomic_i8();
    atomic_i16();
    atomic_i32();
    atomic_i64();
    atomic_isize();
    atomic_u8();
    atomic_u16();
    atomic_u32();
    atomic_u64();
    atomic_usize();
}
