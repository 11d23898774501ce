//! Atomic accesses, as the compiler's instrumentation announces them.

mod library;

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use unpick_core::op::{Addr, Mode, Op, Rmw, Value};

use crate::entry::entries;
use crate::ops::{self, Caller};
use crate::places::Key;

/// A memory order, as C numbers it.
fn mode(order: i32) -> Mode {
    match order & 0x7 {
        0 => Mode::Relaxed,
        1 | 2 => Mode::Acquire,
        3 => Mode::Release,
        4 => Mode::AcqRel,
        _ => Mode::SeqCst,
    }
}

/// The order of an access that only reads.
fn read_mode(order: i32) -> Mode {
    match mode(order) {
        Mode::Release => Mode::Relaxed,
        Mode::AcqRel => Mode::Acquire,
        mode => mode,
    }
}

/// A type of atomic variables.
trait Word: Copy + PartialEq {
    /// The value as the engine keeps it.
    fn value(self, caller: &Caller) -> Value;
    /// The value that the engine keeps.
    fn of(value: Value, caller: &Caller) -> Self;
    /// Replaces the value at an address by what `change` makes of it, without the engine; returns the old one.
    fn update(address: usize, change: impl Fn(Self) -> Self) -> Self;
    /// Reads without the engine.
    fn load(address: usize) -> Self;
    /// Writes without the engine.
    fn store(address: usize, value: Self) {
        Self::update(address, |_| value);
    }
}

macro_rules! words {
    ($($word:ty: $atomic:ty;)*) => { $(
        impl Word for $word {
            #[inline(always)]
            fn value(self, _: &Caller) -> Value {
                self.into()
            }

            #[inline(always)]
            fn of(value: Value, _: &Caller) -> $word {
                value as $word
            }

            fn update(address: usize, change: impl Fn($word) -> $word) -> $word {
                // SAFETY: the program uses an atomic variable there.
                let word = unsafe { <$atomic>::from_ptr(address as *mut $word) };
                let mut old = word.load(SeqCst);
                loop {
                    match word.compare_exchange_weak(old, change(old), SeqCst, SeqCst) {
                        Ok(_) => return old,
                        Err(other) => old = other,
                    }
                }
            }

            fn load(address: usize) -> $word {
                // SAFETY: the program uses an atomic variable there.
                unsafe { <$atomic>::from_ptr(address as *mut $word) }.load(SeqCst)
            }
        }
    )* };
}

words! {
    u8: AtomicU8;
    u16: AtomicU16;
    u32: AtomicU32;
    u64: AtomicU64;
}

/// Compares and exchanges sixteen bytes, which the processor does as one; returns the old value.
fn exchange_wide(address: usize, expected: u128, new: u128) -> u128 {
    let (low, high): (u64, u64);
    // SAFETY: the program uses an atomic variable there. rbx, which the compiler keeps for itself, comes back.
    unsafe {
        std::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            inout("rsi") new as u64 => _,
            in("rdi") address,
            in("rcx") (new >> 64) as u64,
            inout("rax") expected as u64 => low,
            inout("rdx") (expected >> 64) as u64 => high,
            options(nostack),
        );
    }
    u128::from(low) | u128::from(high) << 64
}

impl Word for u128 {
    fn value(self, caller: &Caller) -> Value {
        caller.session().places.number(self)
    }

    fn of(value: Value, caller: &Caller) -> u128 {
        caller.session().places.wide(value)
    }

    fn update(address: usize, change: impl Fn(u128) -> u128) -> u128 {
        let mut old = 0;
        loop {
            let found = exchange_wide(address, old, change(old));
            if found == old {
                return old;
            }
            old = found;
        }
    }

    fn load(address: usize) -> u128 {
        exchange_wide(address, 0, 0)
    }
}

/// The bytes of an atomic variable. They are touched, so that a wrong address shows as what it is.
#[inline(always)]
fn key<T: Word>(address: usize) -> Key {
    // SAFETY: the program is about to use them; if it must not, that is its violation.
    unsafe { (address as *const u8).read_volatile() };
    Key { address, width: size_of::<T>(), kind: "atomic" }
}

#[inline(always)]
fn load<T: Word>(address: usize, order: i32) -> T {
    let key = key::<T>(address);
    let Some(caller) = ops::enter() else { return T::load(address) };
    let value = caller.take(key, Op::load(Addr::NONE, read_mode(order), caller.site));
    let value = T::of(value, &caller);
    caller.leave();
    value
}

#[inline(always)]
fn store<T: Word>(address: usize, value: T, order: i32) {
    let key = key::<T>(address);
    let Some(caller) = ops::enter() else { return T::store(address, value) };
    let mode = mode(order);
    caller.take(key, Op::store(Addr::NONE, mode, value.value(&caller), caller.site));
    if mode == Mode::SeqCst && caller.session().search.execution.model().flushes_stores() {
        caller.take_other(&Op::fence(Mode::SeqCst, caller.site));
    }
    caller.leave();
}

#[inline(always)]
fn update<T: Word>(address: usize, operand: T, order: i32, rmw: Rmw, change: impl Fn(T) -> T) -> T {
    let key = key::<T>(address);
    let Some(caller) = ops::enter() else { return T::update(address, change) };
    // The engine computes with at most eight bytes; wider ones are read, and exchanged if they are the same.
    if size_of::<T>() == 16 && rmw != Rmw::Swap {
        loop {
            let old = caller.take(key, Op::load(Addr::NONE, Mode::Relaxed, caller.site));
            let new = change(T::of(old, &caller)).value(&caller);
            let modes = (mode(order), read_mode(order));
            if caller.take(key, Op::cas(Addr::NONE, modes, old, new, false, caller.site)) == old {
                let old = T::of(old, &caller);
                caller.leave();
                return old;
            }
        }
    }
    let operand = operand.value(&caller);
    let old = caller.take(key, Op::rmw(Addr::NONE, rmw, mode(order), operand, caller.site));
    let old = T::of(old, &caller);
    caller.leave();
    old
}

/// Compares and exchanges; returns the old value, and whether it was exchanged. `place`: where the caller keeps what is
/// expected, if it does; it is to be written to if nothing was exchanged.
#[inline(always)]
fn exchange<T: Word>(
    address: usize,
    (expected, place): (T, Option<usize>),
    new: T,
    orders: (i32, i32),
    weak: bool,
) -> (T, bool) {
    let key = key::<T>(address);
    let Some(caller) = ops::enter() else {
        let old = T::update(address, |old| if old == expected { new } else { old });
        return (old, old == expected);
    };
    if let Some(place) = place {
        caller.touch_argument(place, size_of::<T>(), false);
    }
    let modes = (mode(orders.0), read_mode(orders.1));
    let (wanted, new) = (expected.value(&caller), new.value(&caller));
    let old = caller.take(key, Op::cas(Addr::NONE, modes, wanted, new, weak, caller.site));
    let spurious = weak && old == wanted && caller.failed_spuriously();
    let (old, done) = (T::of(old, &caller), old == wanted && !spurious);
    if let Some(place) = place.filter(|_| !done) {
        caller.touch_argument(place, size_of::<T>(), true);
    }
    caller.leave();
    (old, done)
}

extern "C" fn fence(order: i32) {
    let Some(caller) = ops::enter() else {
        std::sync::atomic::fence(SeqCst);
        return;
    };
    if mode(order) != Mode::Relaxed {
        caller.take_other(&Op::fence(mode(order), caller.site));
    }
    caller.leave();
}

entries! {
    __tsan_atomic_thread_fence => fence;
}

/// Defines the functions for a type, and the entries that lead to them.
macro_rules! functions {
    ($module:ident, $word:ty: $($load:ident $store:ident $swap:ident $add:ident $sub:ident $and:ident $or:ident
        $xor:ident $nand:ident $strong:ident $weak:ident $value:ident)*) => { $(
        mod $module {
            use super::*;

            pub(super) extern "C" fn load(address: usize, order: i32) -> $word {
                super::load(address, order)
            }

            pub(super) extern "C" fn store(address: usize, value: $word, order: i32) {
                super::store(address, value, order);
            }

            pub(super) extern "C" fn swap(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::Swap, |_| value)
            }

            pub(super) extern "C" fn add(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::Add, |old| old.wrapping_add(value))
            }

            pub(super) extern "C" fn sub(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::Sub, |old| old.wrapping_sub(value))
            }

            pub(super) extern "C" fn and(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::And, |old| old & value)
            }

            pub(super) extern "C" fn or(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::Or, |old| old | value)
            }

            pub(super) extern "C" fn xor(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::Xor, |old| old ^ value)
            }

            pub(super) extern "C" fn nand(address: usize, value: $word, order: i32) -> $word {
                update(address, value, order, Rmw::Nand, |old| !(old & value))
            }

            pub(super) unsafe extern "C" fn strong(
                address: usize,
                expected: *mut $word,
                new: $word,
                order: i32,
                failure: i32,
            ) -> i32 {
                // SAFETY: the caller's pointer.
                unsafe { through(address, expected, new, (order, failure), false) }
            }

            unsafe extern "C" fn weak(
                address: usize,
                expected: *mut $word,
                new: $word,
                order: i32,
                failure: i32,
            ) -> i32 {
                // SAFETY: the caller's pointer.
                unsafe { through(address, expected, new, (order, failure), true) }
            }

            extern "C" fn value(
                address: usize,
                expected: $word,
                new: $word,
                order: i32,
                failure: i32,
            ) -> $word {
                // With two wide arguments this one is on the stack, where the entry hides it.
                let failure = if size_of::<$word>() == 16 { order } else { failure };
                exchange(address, (expected, None), new, (order, failure), false).0
            }

            entries! {
                $load => load;
                $store => store;
                $swap => swap;
                $add => add;
                $sub => sub;
                $and => and;
                $or => or;
                $xor => xor;
                $nand => nand;
                $strong => strong;
                $weak => weak;
                $value => value;
            }
        }
    )* };
}

/// Compares and exchanges; what was expected lies in memory, and is replaced by what was found.
///
/// # Safety
///
/// The pointer must be valid.
unsafe fn through<T: Word>(address: usize, expected: *mut T, new: T, orders: (i32, i32), weak: bool) -> i32 {
    // SAFETY: the caller's promise.
    let value = unsafe { *expected };
    let (old, done) = exchange(address, (value, Some(expected as usize)), new, orders, weak);
    if !done {
        // SAFETY: the caller's promise.
        unsafe { *expected = old };
    }
    i32::from(done)
}

functions! { of_1, u8: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
__tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or
__tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong
__tsan_atomic8_compare_exchange_weak __tsan_atomic8_compare_exchange_val }
functions! { of_2, u16: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
__tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or
__tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong
__tsan_atomic16_compare_exchange_weak __tsan_atomic16_compare_exchange_val }
functions! { of_4, u32: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
__tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or
__tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong
__tsan_atomic32_compare_exchange_weak __tsan_atomic32_compare_exchange_val }
functions! { of_8, u64: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
__tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or
__tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong
__tsan_atomic64_compare_exchange_weak __tsan_atomic64_compare_exchange_val }
functions! { of_16, u128: __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange
__tsan_atomic128_fetch_add __tsan_atomic128_fetch_sub __tsan_atomic128_fetch_and __tsan_atomic128_fetch_or
__tsan_atomic128_fetch_xor __tsan_atomic128_fetch_nand __tsan_atomic128_compare_exchange_strong
__tsan_atomic128_compare_exchange_weak __tsan_atomic128_compare_exchange_val }
