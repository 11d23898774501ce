//! Atomics of 128 bits, which `std` has only on some machines, and unpick not at all: a lock around each
//! operation. So they are sequentially consistent whatever their orderings and the memory model.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use unpick::sync::{Mutex, MutexGuard};

macro_rules! wide {
    ($name:ident, $value:ty) => {
        /// An atomic of 128 bits.
        #[derive(Default)]
        pub struct $name(Mutex<$value>);

        impl $name {
            /// An atomic with this value.
            pub const fn new(value: $value) -> $name {
                $name(Mutex::new(value))
            }

            #[track_caller]
            fn locked(&self) -> MutexGuard<'_, $value> {
                self.0.lock().unwrap_or_else(PoisonError::into_inner)
            }

            #[track_caller]
            fn change(&self, f: impl FnOnce($value) -> $value) -> $value {
                let mut value = self.locked();
                let new = f(*value);
                std::mem::replace(&mut *value, new)
            }

            /// The value, which nobody else can see.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
            }

            /// The value.
            pub fn into_inner(self) -> $value {
                self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
            }

            /// Reads the value.
            #[track_caller]
            pub fn load(&self, _order: Ordering) -> $value {
                *self.locked()
            }

            /// Writes a value.
            #[track_caller]
            pub fn store(&self, value: $value, _order: Ordering) {
                *self.locked() = value;
            }

            /// Writes a value, and returns the one before.
            #[track_caller]
            pub fn swap(&self, value: $value, _order: Ordering) -> $value {
                self.change(|_| value)
            }

            /// Writes a value if the one before is `current`.
            ///
            /// # Errors
            ///
            /// The value, if it is another.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                _success: Ordering,
                _failure: Ordering,
            ) -> Result<$value, $value> {
                let old = self.change(|old| if old == current { new } else { old });
                if old == current { Ok(old) } else { Err(old) }
            }

            /// As [`compare_exchange`](Self::compare_exchange).
            ///
            /// # Errors
            ///
            /// The value, if it is another.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Writes a value if the one before is `current`, and returns the one before.
            #[deprecated(note = "use `compare_exchange`")]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                self.compare_exchange(current, new, order, order).unwrap_or_else(|old| old)
            }

            /// Writes what `f` makes of the value, unless it makes nothing.
            ///
            /// # Errors
            ///
            /// The value, if `f` makes nothing of it.
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
                        Ok(old) => return Ok(old),
                        Err(other) => old = other,
                    }
                }
                Err(old)
            }

            /// As [`fetch_update`](Self::fetch_update).
            ///
            /// # Errors
            ///
            /// The value, if `f` makes nothing of it.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// Writes what `f` makes of the value, and returns the one before.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                let updated = self.fetch_update(set_order, fetch_order, |value| Some(f(value)));
                updated.unwrap_or_else(|old| old)
            }

            wide!(@fetch $value, fetch_add "Adds" wrapping_add);
            wide!(@fetch $value, fetch_sub "Subtracts" wrapping_sub);
            wide!(@fetch $value, fetch_max "Takes the larger one" max);
            wide!(@fetch $value, fetch_min "Takes the smaller one" min);
            wide!(@bits $value, fetch_and "Ands bits" &);
            wide!(@bits $value, fetch_or "Ors bits" |);
            wide!(@bits $value, fetch_xor "Exclusively ors bits" ^);

            /// Ands bits and inverts them, and returns the value before.
            #[track_caller]
            pub fn fetch_nand(&self, value: $value, _order: Ordering) -> $value {
                self.change(|old| !(old & value))
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> $name {
                $name::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::SeqCst), f)
            }
        }
    };
    (@fetch $value:ty, $name:ident $what:literal $method:ident) => {
        #[doc = concat!($what, ", and returns the value before.")]
        #[track_caller]
        pub fn $name(&self, value: $value, _order: Ordering) -> $value {
            self.change(|old| old.$method(value))
        }
    };
    (@bits $value:ty, $name:ident $what:literal $operator:tt) => {
        #[doc = concat!($what, ", and returns the value before.")]
        #[track_caller]
        pub fn $name(&self, value: $value, _order: Ordering) -> $value {
            self.change(|old| old $operator value)
        }
    };
}

wide!(AtomicI128, i128);
wide!(AtomicU128, u128);
