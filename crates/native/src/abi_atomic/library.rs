//! What compilers call in a library where they do not make an instruction: for sixteen bytes, for objects of other sizes, and
//! for those that may not be aligned.
//!
//! Where the size is that of a word and the object is aligned, this is an atomic access as any other. Else it is as in the
//! compiler's library: the object is used under a lock, so all such accesses are ordered, whatever their memory order.

use std::sync::atomic::{AtomicBool, Ordering};

use unpick_core::op::{Addr, Op, Rmw};

use crate::entry::entries;
use crate::ops;
use crate::places::{Key, MadeUp};
use crate::sys;

mod sized_1 {
    use crate::abi_atomic::of_1::{add, and, load, nand, or, store, strong, sub, swap, xor};
    use crate::entry::entries;

    entries! {
        __atomic_load_1 => load;
        __atomic_store_1 => store;
        __atomic_exchange_1 => swap;
        __atomic_compare_exchange_1 => strong;
        __atomic_fetch_add_1 => add;
        __atomic_fetch_sub_1 => sub;
        __atomic_fetch_and_1 => and;
        __atomic_fetch_or_1 => or;
        __atomic_fetch_xor_1 => xor;
        __atomic_fetch_nand_1 => nand;
    }
}

mod sized_2 {
    use crate::abi_atomic::of_2::{add, and, load, nand, or, store, strong, sub, swap, xor};
    use crate::entry::entries;

    entries! {
        __atomic_load_2 => load;
        __atomic_store_2 => store;
        __atomic_exchange_2 => swap;
        __atomic_compare_exchange_2 => strong;
        __atomic_fetch_add_2 => add;
        __atomic_fetch_sub_2 => sub;
        __atomic_fetch_and_2 => and;
        __atomic_fetch_or_2 => or;
        __atomic_fetch_xor_2 => xor;
        __atomic_fetch_nand_2 => nand;
    }
}

mod sized_4 {
    use crate::abi_atomic::of_4::{add, and, load, nand, or, store, strong, sub, swap, xor};
    use crate::entry::entries;

    entries! {
        __atomic_load_4 => load;
        __atomic_store_4 => store;
        __atomic_exchange_4 => swap;
        __atomic_compare_exchange_4 => strong;
        __atomic_fetch_add_4 => add;
        __atomic_fetch_sub_4 => sub;
        __atomic_fetch_and_4 => and;
        __atomic_fetch_or_4 => or;
        __atomic_fetch_xor_4 => xor;
        __atomic_fetch_nand_4 => nand;
    }
}

mod sized_8 {
    use crate::abi_atomic::of_8::{add, and, load, nand, or, store, strong, sub, swap, xor};
    use crate::entry::entries;

    entries! {
        __atomic_load_8 => load;
        __atomic_store_8 => store;
        __atomic_exchange_8 => swap;
        __atomic_compare_exchange_8 => strong;
        __atomic_fetch_add_8 => add;
        __atomic_fetch_sub_8 => sub;
        __atomic_fetch_and_8 => and;
        __atomic_fetch_or_8 => or;
        __atomic_fetch_xor_8 => xor;
        __atomic_fetch_nand_8 => nand;
    }
}

mod sized_16 {
    use crate::abi_atomic::of_16::{add, and, load, nand, or, store, strong, sub, swap, xor};
    use crate::entry::entries;

    entries! {
        __atomic_load_16 => load;
        __atomic_store_16 => store;
        __atomic_exchange_16 => swap;
        __atomic_compare_exchange_16 => strong;
        __atomic_fetch_add_16 => add;
        __atomic_fetch_sub_16 => sub;
        __atomic_fetch_and_16 => and;
        __atomic_fetch_or_16 => or;
        __atomic_fetch_xor_16 => xor;
        __atomic_fetch_nand_16 => nand;
    }
}

entries! {
    __atomic_load => load;
    __atomic_store => store;
    __atomic_exchange => swap;
    __atomic_compare_exchange => exchange;
    __atomic_is_lock_free => is_lock_free;
}

/// Whether an object is a word.
fn is_word(size: usize, address: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8 | 16) && address.is_multiple_of(size)
}

/// Does something with the word of a size, as `T`.
macro_rules! by_size {
    ($size:expr, $T:ident => $work:expr) => {
        match $size {
            1 => by_size!(u8, $T, $work),
            2 => by_size!(u16, $T, $work),
            4 => by_size!(u32, $T, $work),
            8 => by_size!(u64, $T, $work),
            _ => by_size!(u128, $T, $work),
        }
    };
    ($word:ty, $T:ident, $work:expr) => {{
        type $T = $word;
        $work
    }};
}

/// One for all objects, where nothing is checked.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Uses an object under its lock; what is checked are plain accesses of the program.
fn locked<T>(address: usize, size: usize, writes: bool, work: impl FnOnce() -> T) -> T {
    let Some(caller) = ops::enter() else {
        while LOCK.swap(true, Ordering::Acquire) {
            // SAFETY: lets another OS thread run.
            unsafe { sys::call(libc::SYS_sched_yield, [0; 6]) };
        }
        let result = work();
        LOCK.store(false, Ordering::Release);
        return result;
    };
    let key = Key::made_up(MadeUp::Object(address));
    caller.take(key, Op::lock(Addr::NONE, caller.site));
    caller.touch(address, size, writes, caller.site);
    let result = work();
    caller.take(key, Op::unlock(Addr::NONE, caller.site));
    caller.leave();
    result
}

unsafe extern "C" fn load(size: usize, address: usize, place: usize, order: i32) {
    // SAFETY: the caller's pointers.
    unsafe {
        if is_word(size, address) {
            return by_size!(size, T => (place as *mut T).write_unaligned(super::load::<T>(address, order)));
        }
        locked(address, size, false, || sys::copy(place, address, size));
    }
}

unsafe extern "C" fn store(size: usize, address: usize, value: usize, order: i32) {
    // SAFETY: the caller's pointers.
    unsafe {
        if is_word(size, address) {
            return by_size!(size, T => super::store(address, (value as *const T).read_unaligned(), order));
        }
        locked(address, size, true, || sys::copy(address, value, size));
    }
}

unsafe extern "C" fn swap(size: usize, address: usize, value: usize, place: usize, order: i32) {
    // SAFETY: the caller's pointers; the place may be that of the value.
    unsafe {
        if is_word(size, address) {
            return by_size!(size, T => {
                let new = (value as *const T).read_unaligned();
                let old = super::update::<T>(address, new, order, Rmw::Swap, |_| new);
                (place as *mut T).write_unaligned(old);
            });
        }
        locked(address, size, true, || {
            for at in 0..size {
                let new = ((value + at) as *const u8).read();
                let old = std::ptr::replace((address + at) as *mut u8, new);
                ((place + at) as *mut u8).write(old);
            }
        });
    }
}

unsafe extern "C" fn exchange(
    size: usize,
    address: usize,
    expected: usize,
    new: usize,
    order: i32,
    failure: i32,
) -> i32 {
    // SAFETY: the caller's pointers.
    unsafe {
        if is_word(size, address) {
            return by_size!(size, T => {
                let new = (new as *const T).read_unaligned();
                super::through(address, expected as *mut T, new, (order, failure), false)
            });
        }
        let done = locked(address, size, true, || {
            let byte = |at: usize| (at as *const u8).read_volatile();
            let equal = (0..size).all(|at| byte(address + at) == byte(expected + at));
            match equal {
                true => sys::copy(address, new, size),
                false => sys::copy(expected, address, size),
            }
            equal
        });
        i32::from(done)
    }
}

extern "C" fn is_lock_free(size: usize, address: usize) -> i32 {
    i32::from(is_word(size, address))
}
