// Included by `surface.rs`, twice: what `cell::{Cell, UnsafeCell}` has.

use std::fmt::Debug;
use std::panic::RefUnwindSafe;

use subject::cell::{Cell, UnsafeCell};

use crate::surface::Value;

const _: Cell<u8> = Cell::new(1);
const _: UnsafeCell<u8> = UnsafeCell::new(1);
const _: u8 = Cell::new(1).into_inner() + UnsafeCell::new(1).into_inner();
const _: fn(&Cell<u8>) -> *mut u8 = Cell::as_ptr;

fn cell<T: Value>() {
    let _: fn(T) -> Cell<T> = <Cell<T>>::new;
    let _: fn(&Cell<T>, T) = <Cell<T>>::set;
    let _: fn(&Cell<T>, &Cell<T>) = <Cell<T>>::swap;
    let _: fn(&Cell<T>, T) -> T = <Cell<T>>::replace;
    let _: fn(Cell<T>) -> T = <Cell<T>>::into_inner;
    let _: fn(&Cell<T>) -> T = <Cell<T>>::get;
    let _: fn(&Cell<T>, fn(T) -> T) = <Cell<T>>::update;
    let _: fn(&Cell<T>) -> *mut T = <Cell<T>>::as_ptr;
    let _: fn(&mut Cell<T>) -> &mut T = <Cell<T>>::get_mut;
    let _: fn(&Cell<T>) -> T = <Cell<T>>::take;
    implements!(Cell<u8>: Clone);
    implements!(Cell<u8>: Debug);
    implements!(Cell<u8>: Default);
    implements!(Cell<u8>: From<u8>);
    implements!(Cell<u8>: Ord);
    implements!(Cell<u8>: PartialEq);
    implements!(Cell<u8>: PartialOrd);
    implements!(Cell<u8>: Eq);
    implements!(Cell<str>: Send);
    refuses!(Cell<str>: Sync);
}

fn unsafe_cell<T: Value>() {
    let _: fn(T) -> UnsafeCell<T> = <UnsafeCell<T>>::new;
    let _: fn(UnsafeCell<T>) -> T = <UnsafeCell<T>>::into_inner;
    let _: fn(&UnsafeCell<T>) -> *mut T = <UnsafeCell<T>>::get;
    let _: fn(&mut UnsafeCell<T>) -> &mut T = <UnsafeCell<T>>::get_mut;
    let _: fn(*const UnsafeCell<T>) -> *mut T = <UnsafeCell<T>>::raw_get;
    implements!(UnsafeCell<str>: Debug);
    implements!(UnsafeCell<u8>: Default);
    implements!(UnsafeCell<u8>: From<u8>);
    refuses!(UnsafeCell<str>: RefUnwindSafe);
    refuses!(UnsafeCell<str>: Sync);
}

/// Uses it all, so that nothing is left out.
pub(crate) fn all() {
    cell::<u8>();
    unsafe_cell::<u8>();
}
