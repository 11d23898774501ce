//! Thread-locals of the threads under test.

use std::cell::{Cell, RefCell};
use std::fmt;

use unpick_runtime::locals::{self, Place};
use unpick_runtime::ops;

/// Declares thread-locals, as [`std::thread_local!`](macro@std::thread_local).
///
/// Inside a check each thread of the program has values of its own, made on first use and new in
/// each execution. A thread destroys them when its closure has returned and before it counts as
/// ended, so that a `join` happens after their destructors; a [scope](crate::thread::scope) does not wait for them. That is also true of the main thread,
/// whose closure is the one that is checked. Values are destroyed in the reverse order of their
/// initialisation; `std` leaves the order open. Outside a check they are thread-locals of `std`.
///
/// ```
/// use std::cell::Cell;
/// use unpick::thread;
///
/// unpick::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(1) };
/// }
///
/// unpick::check(|| {
///     COUNT.set(2);
///     let theirs = thread::spawn(|| COUNT.get()).join().unwrap();
///     assert_eq!((COUNT.get(), theirs), (2, 1));
/// });
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = const $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            ::std::thread_local! {
                static OUTSIDE: $type = const $init;
            }
            fn initial() -> $type {
                const $init
            }
            $crate::thread::LocalKey::new(initial, &OUTSIDE)
        };
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            fn initial() -> $type {
                $init
            }
            ::std::thread_local! {
                static OUTSIDE: $type = initial();
            }
            $crate::thread::LocalKey::new(initial, &OUTSIDE)
        };
    };
}

/// A thread-local, as [`std::thread::LocalKey`]; declared with
/// [`thread_local!`](macro@crate::thread_local).
pub struct LocalKey<T: 'static> {
    initial: fn() -> T,
    outside: &'static std::thread::LocalKey<T>,
}

/// The thread-local has been destroyed, since its thread is about to end, as
/// [`std::thread::AccessError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("already destroyed")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](macro@crate::thread_local).
    #[doc(hidden)]
    pub const fn new(initial: fn() -> T, outside: &'static std::thread::LocalKey<T>) -> LocalKey<T> {
        LocalKey { initial, outside }
    }

    /// Uses the value of the calling thread, which is made first if it has none.
    ///
    /// # Panics
    ///
    /// When the value has been destroyed: the caller is a destructor of another thread-local.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("cannot use a thread-local during or after its destruction: {error}"),
        }
    }

    /// Uses the value of the calling thread, which is made first if it has none.
    ///
    /// # Errors
    ///
    /// When the value has been destroyed.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        if !ops::in_check() {
            return self.outside.try_with(f).map_err(|_| AccessError);
        }
        let value = match self.find()? {
            Some(value) => value,
            None => self.put((self.initial)())?,
        };
        // SAFETY: the value belongs to this thread and lives until the thread ends.
        Ok(f(unsafe { &*value }))
    }

    fn key(&'static self) -> usize {
        (&raw const *self) as usize
    }

    /// The value of the calling thread, if it has one.
    fn find(&'static self) -> Result<Option<*mut T>, AccessError> {
        match locals::find(self.key()) {
            Place::Nowhere => Ok(None),
            Place::At(value) => Ok(Some(value.cast())),
            Place::Gone => Err(AccessError),
        }
    }

    /// Makes this the first value of the calling thread.
    fn put(&'static self, value: T) -> Result<*mut T, AccessError> {
        // The initialiser may have used the thread-local itself; its value is replaced then, as in `std`.
        if let Some(place) = self.find()? {
            // SAFETY: the value belongs to this thread, and whoever used it has returned.
            drop(std::mem::replace(unsafe { &mut *place }, value));
            return Ok(place);
        }
        let place = Box::into_raw(Box::new(value));
        // SAFETY: the box is given up here.
        unsafe { locals::add(self.key(), place.cast(), free::<T>, std::mem::needs_drop::<T>()) };
        Ok(place)
    }

    /// Uses a value that the calling thread has, or makes `first` its value.
    #[track_caller]
    fn with_or_put<A>(&'static self, first: A, wrap: fn(A) -> T, f: impl FnOnce(&T, A)) {
        let used = self.find().and_then(|found| match found {
            Some(value) => {
                // SAFETY: as in `try_with`.
                f(unsafe { &*value }, first);
                Ok(())
            }
            None => self.put(wrap(first)).map(drop),
        });
        if let Err(error) = used {
            panic!("cannot use a thread-local during or after its destruction: {error}");
        }
    }
}

/// # Safety
///
/// The pointer is that of a `Box<T>` that was given up.
unsafe fn free<T>(value: *mut ()) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
}

macro_rules! of_cells {
    ($cell:ty, $new:path) => {
        impl<T: 'static> LocalKey<$cell> {
            /// Sets the value. If the thread has none yet, the initialiser is not run.
            ///
            /// # Panics
            ///
            /// As [`with`](LocalKey::with) does.
            #[track_caller]
            pub fn set(&'static self, value: T) {
                if !ops::in_check() {
                    return self.outside.with(|cell| cell.set(value));
                }
                self.with_or_put(value, $new, |cell, value| cell.set(value));
            }

            /// A copy of the value.
            ///
            /// # Panics
            ///
            /// As [`with`](LocalKey::with) does.
            #[track_caller]
            pub fn get(&'static self) -> T
            where
                T: Copy,
            {
                self.with(|cell| cell.get())
            }

            /// The value; a default one takes its place.
            ///
            /// # Panics
            ///
            /// As [`with`](LocalKey::with) does.
            #[track_caller]
            pub fn take(&'static self) -> T
            where
                T: Default,
            {
                self.with(|cell| cell.take())
            }

            /// The value; another takes its place.
            ///
            /// # Panics
            ///
            /// As [`with`](LocalKey::with) does.
            #[track_caller]
            pub fn replace(&'static self, value: T) -> T {
                self.with(|cell| cell.replace(value))
            }
        }
    };
}

of_cells!(Cell<T>, Cell::new);
of_cells!(crate::cell::Cell<T>, crate::cell::Cell::new);

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Borrows the value.
    ///
    /// # Panics
    ///
    /// As [`with`](LocalKey::with) does, and when the value is borrowed mutably.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Borrows the value mutably.
    ///
    /// # Panics
    ///
    /// As [`with`](LocalKey::with) does, and when the value is borrowed.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value. If the thread has none yet, the initialiser is not run.
    ///
    /// # Panics
    ///
    /// As [`with`](LocalKey::with) does, and when the value is borrowed.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if !ops::in_check() {
            return self.outside.with(|cell| drop(cell.replace(value)));
        }
        self.with_or_put(value, RefCell::new, |cell, value| drop(cell.replace(value)));
    }

    /// The value; a default one takes its place.
    ///
    /// # Panics
    ///
    /// As [`with`](LocalKey::with) does, and when the value is borrowed.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// The value; another takes its place.
    ///
    /// # Panics
    ///
    /// As [`with`](LocalKey::with) does, and when the value is borrowed.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
