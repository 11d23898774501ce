//! Atomics, as in [`std::sync::atomic`].
//!
//! Inside a check every operation follows the chosen memory model: a load may see any value that
//! the model allows, and a failed `compare_exchange` is a load with its failure order, so it may
//! see a stale value too. `compare_exchange_weak` fails only for a reason, unless
//! [`Check::spurious_failures`](crate::Check::spurious_failures) is set.

use std::fmt;

use unpick_core::op::{Addr, Mode, Op, Rmw};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

pub use std::sync::atomic::{Ordering, compiler_fence};

/// A false [`AtomicBool`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it still")]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);

/// An [`AtomicIsize`] that is 0.
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it still")]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// An [`AtomicUsize`] that is 0.
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it still")]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);

/// Says that the caller is waiting in a loop: the old name of [`spin_loop`](crate::hint::spin_loop).
#[deprecated(since = "1.51.0", note = "use hint::spin_loop instead")]
#[inline]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// A fence, as [`std::sync::atomic::fence`].
///
/// # Panics
///
/// With `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    if ops::in_check() {
        assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
        ops::fence(mode(order), here!());
    } else {
        std::sync::atomic::fence(order);
    }
}

/// The engine's name for a memory order.
#[inline(always)]
fn mode(order: Ordering) -> Mode {
    match order {
        Ordering::Relaxed => Mode::Relaxed,
        Ordering::Acquire => Mode::Acquire,
        Ordering::Release => Mode::Release,
        Ordering::AcqRel => Mode::AcqRel,
        _ => Mode::SeqCst,
    }
}

#[inline(always)]
#[track_caller]
fn load_mode(order: Ordering) -> Mode {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        order => mode(order),
    }
}

#[inline(always)]
#[track_caller]
fn store_mode(order: Ordering) -> Mode {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        order => mode(order),
    }
}

#[inline(always)]
#[track_caller]
fn failure_mode(order: Ordering) -> Mode {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        order => mode(order),
    }
}

/// The order of a failed `compare_and_swap`, which has one order for both.
fn order_of_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}

/// What all atomics share. `$value` is the type of the value, `$to` and `$from` convert it to the
/// engine's and back.
macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident $(<$param:ident>)?, $value:ty, $width:expr, $pointer:expr, $to:expr, $from:expr) => {
        $(#[$doc])*
        pub struct $name $(<$param>)? {
            inner: std::sync::atomic::$name $(<$param>)?,
            tag: Tag,
        }

        impl $(<$param>)? $name $(<$param>)? {
            /// An atomic with a value.
            pub const fn new(value: $value) -> Self {
                Self { inner: std::sync::atomic::$name::new(value), tag: Tag::new() }
            }

            /// Reads the value.
            #[track_caller]
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                if ops::in_check() {
                    self.take(Op::load(Addr::NONE, load_mode(order), here!()))
                } else {
                    self.outside().load(order)
                }
            }

            /// Writes the value.
            #[track_caller]
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                if ops::in_check() {
                    let value = $to(value);
                    self.take(Op::store(Addr::NONE, store_mode(order), value, here!()));
                    if order == Ordering::SeqCst {
                        ops::flush_after_store(here!());
                    }
                } else {
                    self.outside().store(value, order);
                }
            }

            /// Writes the value and returns the old one.
            #[track_caller]
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                if ops::in_check() {
                    self.take(Op::rmw(Addr::NONE, Rmw::Swap, mode(order), $to(value), here!()))
                } else {
                    self.outside().swap(value, order)
                }
            }

            /// Writes `new` if the value is `current`; returns the old value.
            ///
            /// # Errors
            ///
            /// With the value that was there instead.
            #[track_caller]
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if ops::in_check() {
                    let modes = (mode(success), failure_mode(failure));
                    let op = Op::cas(Addr::NONE, modes, $to(current), $to(new), false, here!());
                    let old = self.take(op);
                    if old == current { Ok(old) } else { Err(old) }
                } else {
                    self.outside().compare_exchange(current, new, success, failure)
                }
            }

            /// As [`compare_exchange`](Self::compare_exchange), but may fail without a reason.
            ///
            /// # Errors
            ///
            /// With the value that was there.
            #[track_caller]
            #[inline]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if ops::in_check() {
                    let modes = (mode(success), failure_mode(failure));
                    let op = Op::cas(Addr::NONE, modes, $to(current), $to(new), true, here!());
                    let old = self.take(op);
                    if old == current && !ops::failed_spuriously() { Ok(old) } else { Err(old) }
                } else {
                    self.outside().compare_exchange_weak(current, new, success, failure)
                }
            }

            /// Changes the value by a function, trying again until nobody interferes.
            ///
            /// # Errors
            ///
            /// With the value for which the function returned `None`.
            #[track_caller]
            pub fn fetch_update<F: FnMut($value) -> Option<$value>>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$value, $value> {
                let mut old = self.load(fetch_order);
                while let Some(new) = f(old) {
                    match self.compare_exchange_weak(old, new, set_order, fetch_order) {
                        done @ Ok(_) => return done,
                        Err(newer) => old = newer,
                    }
                }
                Err(old)
            }

            /// As [`fetch_update`](Self::fetch_update), by the name that `std` prefers.
            ///
            /// # Errors
            ///
            /// With the value for which the function returned `None`.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// Changes the value by a function, trying again until nobody interferes; returns the old
            /// value.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                let mut old = self.load(fetch_order);
                loop {
                    match self.compare_exchange_weak(old, f(old), set_order, fetch_order) {
                        Ok(old) => return old,
                        Err(newer) => old = newer,
                    }
                }
            }

            /// Writes `new` if the value is `current`; returns the old value in either case.
            #[deprecated(
                since = "1.50.0",
                note = "use `compare_exchange` or `compare_exchange_weak` instead"
            )]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let (Ok(old) | Err(old)) =
                    self.compare_exchange(current, new, order, order_of_failure(order));
                old
            }

            /// Where the value is.
            ///
            /// Inside a check this tells atomics apart, and is good for nothing else: the value is kept
            /// by the engine, what stands in memory is an old one, and what is done through the pointer
            /// is not seen.
            pub const fn as_ptr(&self) -> *mut $value {
                self.inner.as_ptr()
            }

            /// The value, which nobody else can use meanwhile.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                if ops::in_check() {
                    let is_bound = ops::is_bound(&self.tag);
                    if is_bound {
                        *self.inner.get_mut() = self.take(Op::load(Addr::NONE, Mode::Plain, here!()));
                    }
                    unpick_runtime::writes_over(Object::new(&self.tag, stringify!($name)), here!());
                    if is_bound {
                        self.tag.reset();
                    }
                }
                self.inner.get_mut()
            }

            /// Uses the value, which nobody else can use meanwhile, as loom's.
            #[doc(hidden)]
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                f(self.get_mut())
            }

            /// Reads the value without any synchronisation, as loom's: a write by another thread that is
            /// not ordered with it is a data race.
            ///
            /// # Safety
            ///
            /// There must be no such write.
            #[doc(hidden)]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                if ops::in_check() {
                    self.take(Op::load(Addr::NONE, Mode::Plain, here!()))
                } else {
                    self.outside().load(Ordering::Relaxed)
                }
            }

            /// The value.
            #[track_caller]
            pub fn into_inner(mut self) -> $value {
                *self.get_mut()
            }

            #[track_caller]
            #[inline(always)]
            fn outside(&self) -> &std::sync::atomic::$name $(<$param>)? {
                self.tag.assert_outside();
                &self.inner
            }

            #[track_caller]
            #[inline(always)]
            fn take(&self, op: Op) -> $value {
                let op = Op { width: $width, pointer: $pointer, ..op };
                let init = $to(self.inner.load(Ordering::Relaxed));
                $from(ops::on_object(Object::new(&self.tag, stringify!($name)), init, op))
            }
        }

        impl $(<$param>)? fmt::Debug for $name $(<$param>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
            }
        }

        impl $(<$param>)? From<$value> for $name $(<$param>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// A method that is one read-modify-write.
macro_rules! fetch {
    ($value:ty, $to:expr; $($(#[$doc:meta])* $method:ident $rmw:expr;)*) => {
        $(
            $(#[$doc])*
            #[track_caller]
            #[inline]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                if ops::in_check() {
                    self.take(Op::rmw(Addr::NONE, $rmw, mode(order), $to(value), here!()))
                } else {
                    self.outside().$method(value, order)
                }
            }
        )*
    };
}

macro_rules! integer {
    ($($name:ident $int:ident $unsigned:ident $max:expr, $min:expr;)*) => {
        $(
            atomic! {
                #[doc = concat!("An integer that threads may share, as [`std::sync::atomic::", stringify!($name), "`].")]
                $name, $int, size_of::<$int>() as u8, false,
                |value: $int| value as $unsigned as u64, |value: u64| value as $int
            }

            impl $name {
                fetch! {
                    $int, |value: $int| value as $unsigned as u64;
                    /// Adds, wrapping around; returns the old value.
                    fetch_add Rmw::Add;
                    /// Subtracts, wrapping around; returns the old value.
                    fetch_sub Rmw::Sub;
                    /// Bitwise and; returns the old value.
                    fetch_and Rmw::And;
                    /// Bitwise not-and; returns the old value.
                    fetch_nand Rmw::Nand;
                    /// Bitwise or; returns the old value.
                    fetch_or Rmw::Or;
                    /// Bitwise exclusive or; returns the old value.
                    fetch_xor Rmw::Xor;
                    /// Maximum; returns the old value.
                    fetch_max $max;
                    /// Minimum; returns the old value.
                    fetch_min $min;
                }
            }

            impl Default for $name {
                fn default() -> $name {
                    $name::new(0)
                }
            }
        )*
    };
}

integer! {
    AtomicU8 u8 u8 Rmw::Max, Rmw::Min;
    AtomicU16 u16 u16 Rmw::Max, Rmw::Min;
    AtomicU32 u32 u32 Rmw::Max, Rmw::Min;
    AtomicU64 u64 u64 Rmw::Max, Rmw::Min;
    AtomicUsize usize usize Rmw::Max, Rmw::Min;
    AtomicI8 i8 u8 Rmw::SignedMax, Rmw::SignedMin;
    AtomicI16 i16 u16 Rmw::SignedMax, Rmw::SignedMin;
    AtomicI32 i32 u32 Rmw::SignedMax, Rmw::SignedMin;
    AtomicI64 i64 u64 Rmw::SignedMax, Rmw::SignedMin;
    AtomicIsize isize usize Rmw::SignedMax, Rmw::SignedMin;
}

atomic! {
    /// A boolean that threads may share, as [`std::sync::atomic::AtomicBool`].
    AtomicBool, bool, 1, false, u64::from, |value: u64| value != 0
}

impl AtomicBool {
    fetch! {
        bool, u64::from;
        /// And; returns the old value.
        fetch_and Rmw::And;
        /// Or; returns the old value.
        fetch_or Rmw::Or;
        /// Exclusive or; returns the old value.
        fetch_xor Rmw::Xor;
    }

    /// Not-and; returns the old value.
    #[track_caller]
    #[inline]
    pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
        if value { self.fetch_xor(true, order) } else { self.swap(true, order) }
    }

    /// Not; returns the old value.
    #[track_caller]
    #[inline]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

atomic! {
    /// A pointer that threads may share, as [`std::sync::atomic::AtomicPtr`].
    AtomicPtr<T>, *mut T, 8, true, |value: *mut T| value as u64, |value: u64| value as *mut T
}

/// A method of a pointer that is one read-modify-write of its address.
macro_rules! fetch_address {
    ($($(#[$doc:meta])* $method:ident $rmw:expr, $bytes:expr;)*) => {
        $(
            $(#[$doc])*
            #[track_caller]
            #[inline]
            pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                if ops::in_check() {
                    let bytes = value.wrapping_mul($bytes) as u64;
                    self.take(Op::rmw(Addr::NONE, $rmw, mode(order), bytes, here!()))
                } else {
                    self.outside().$method(value, order)
                }
            }
        )*
    };
}

/// Changes of the address, which wraps around. Inside a check, the result may be used for whatever lies
/// where it points to.
impl<T> AtomicPtr<T> {
    fetch_address! {
        /// Moves the pointer ahead by so many values; returns the old one.
        fetch_ptr_add Rmw::Add, size_of::<T>();
        /// Moves the pointer back by so many values; returns the old one.
        fetch_ptr_sub Rmw::Sub, size_of::<T>();
        /// Moves the pointer ahead by so many bytes; returns the old one.
        fetch_byte_add Rmw::Add, 1;
        /// Moves the pointer back by so many bytes; returns the old one.
        fetch_byte_sub Rmw::Sub, 1;
        /// Bitwise or of the address; returns the old pointer.
        fetch_or Rmw::Or, 1;
        /// Bitwise and of the address; returns the old pointer.
        fetch_and Rmw::And, 1;
        /// Bitwise exclusive or of the address; returns the old pointer.
        fetch_xor Rmw::Xor, 1;
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
