// Included by `surface.rs`, twice: what the types do, where one thread can tell.

use std::any::Any;
use std::ffi::CStr;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use subject::cell::{Cell, UnsafeCell};
use subject::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use subject::sync::atomic::{AtomicBool, AtomicI8, AtomicPtr, AtomicU8, AtomicU64};
use subject::sync::mpsc::{channel, sync_channel};
use subject::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard, Weak};
use subject::{thread, thread_local};

/// Notes what each expression gives.
macro_rules! note {
    ($notes:ident: $($value:expr),* $(,)?) => {{
        $($notes.push(format!("{}: {} is {:?}", line!(), stringify!($value), $value));)*
    }};
}

/// What the types do.
pub(crate) fn seen() -> Vec<String> {
    let mut notes = Vec::new();
    atomics(&mut notes);
    pointers(&mut notes);
    locks(&mut notes);
    conditions(&mut notes);
    onces(&mut notes);
    arcs(&mut notes);
    texts(&mut notes);
    channels(&mut notes);
    threads(&mut notes);
    cells(&mut notes);
    notes
}

#[expect(deprecated, reason = "std has it still")]
fn atomics(notes: &mut Vec<String>) {
    let flag = AtomicBool::new(true);
    note!(notes: flag.fetch_nand(true, SeqCst), flag.fetch_nand(false, SeqCst), flag.fetch_not(SeqCst));
    note!(notes: flag.fetch_or(true, SeqCst), flag.fetch_and(false, SeqCst), flag.fetch_xor(true, SeqCst), flag);
    note!(notes: flag.compare_and_swap(true, false, AcqRel), flag.compare_and_swap(true, false, Release), flag);
    note!(notes: flag.try_update(SeqCst, SeqCst, |old| old.then_some(false)), flag.update(AcqRel, Acquire, |old| !old));
    let mut byte = AtomicU8::from(250);
    note!(notes: byte.fetch_add(10, Relaxed), byte.fetch_sub(5, Relaxed), byte.fetch_nand(0xf0, Relaxed), byte);
    note!(notes: byte.fetch_max(7, Relaxed), byte.fetch_min(9, Relaxed), byte.swap(3, AcqRel), byte.load(Acquire));
    note!(notes: byte.compare_exchange(3, 4, SeqCst, Relaxed), byte.compare_exchange(3, 5, SeqCst, Acquire));
    note!(notes: byte.fetch_update(SeqCst, Relaxed, |old| old.checked_add(1)), byte.update(SeqCst, Relaxed, |old| old * 2));
    note!(notes: byte.try_update(Release, Relaxed, |old| old.checked_add(250)), byte.as_ptr() == byte.as_ptr());
    *byte.get_mut() += 1;
    note!(notes: byte, byte.into_inner());
    let small = AtomicI8::default();
    note!(notes: small.fetch_sub(1, Relaxed), small.fetch_max(-5, Relaxed), small.fetch_min(-128, Relaxed), small);
    note!(notes: small.fetch_sub(1, Relaxed), format!("{small:>5?}"));
    let wide = AtomicU64::new(u64::MAX);
    note!(notes: wide.fetch_add(2, Relaxed), wide, wide.compare_exchange_weak(0, 1, SeqCst, SeqCst));
}

fn pointers(notes: &mut Vec<String>) {
    let mut values = [1_u32, 2, 3, 4];
    let first = values.as_mut_ptr();
    let at = AtomicPtr::new(first);
    let place = |pointer: *mut u32| pointer.addr() - first.addr();
    note!(notes: place(at.fetch_ptr_add(3, AcqRel)), place(at.load(Acquire)), unsafe { *at.load(Acquire) });
    note!(notes: place(at.fetch_ptr_sub(1, AcqRel)), place(at.fetch_byte_sub(4, AcqRel)), place(at.fetch_byte_add(2, AcqRel)));
    note!(notes: place(at.fetch_or(1, AcqRel)), place(at.fetch_and(!1, AcqRel)), place(at.fetch_xor(2, AcqRel)));
    note!(notes: unsafe { *at.load(Acquire) }, place(at.update(AcqRel, Acquire, |old| old.wrapping_add(1))));
    note!(notes: format!("{at:p}") == format!("{:p}", at.load(Relaxed)), format!("{at:?}") == format!("{at:p}"));
    note!(notes: AtomicPtr::<u8>::default().load(Relaxed).is_null(), AtomicPtr::from(first).into_inner() == first);
}

fn poison(f: impl FnOnce()) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        f();
        unreachable!("a panic was asked for");
    }));
    assert!(caught.is_err());
}

fn locks(notes: &mut Vec<String>) {
    let mut lock = Mutex::new(1);
    note!(notes: lock, Mutex::<u8>::default(), Mutex::from("text"), *lock.get_mut().unwrap());
    let guard = lock.lock().unwrap();
    note!(notes: lock, guard, format!("{guard:>3}"), lock.try_lock());
    drop(guard);
    note!(notes: lock.try_lock(), lock);
    poison(|| {
        let _guard = lock.lock().unwrap();
        panic!("on purpose");
    });
    note!(notes: lock.is_poisoned(), lock, lock.lock(), lock.try_lock());
    note!(notes: lock.lock().unwrap_err().to_string(), lock.try_lock().unwrap_err().to_string(), lock.get_mut());
    lock.clear_poison();
    note!(notes: lock, lock.into_inner());
    let slice: &Mutex<[u8]> = &Mutex::new([1, 2]);
    note!(notes: slice, slice.lock().unwrap().len());

    let lock = RwLock::new(1);
    note!(notes: lock, RwLock::<u8>::default(), RwLock::from("text"));
    let reads = lock.read().unwrap();
    note!(notes: lock, reads, format!("{reads:>3}"), lock.try_read(), lock.try_write());
    drop(reads);
    let writes = lock.write().unwrap();
    note!(notes: lock, writes, format!("{writes:>3}"), lock.try_read(), lock.try_write());
    let reads = RwLockWriteGuard::downgrade(writes);
    note!(notes: lock, reads, lock.try_read());
    drop(reads);
    poison(|| {
        let _guard = lock.write().unwrap();
        panic!("on purpose");
    });
    note!(notes: lock.is_poisoned(), lock, lock.read(), lock.try_write().unwrap_err().to_string());
    lock.clear_poison();
    note!(notes: lock, lock.into_inner());
    let slice: &RwLock<[u8]> = &RwLock::new([1, 2]);
    note!(notes: slice, slice.read().unwrap().len());
}

fn conditions(notes: &mut Vec<String>) {
    let (lock, condition) = (Mutex::new(1), Condvar::new());
    note!(notes: condition, Condvar::default());
    condition.notify_one();
    condition.notify_all();
    let guard = condition.wait_while(lock.lock().unwrap(), |value| *value != 1).unwrap();
    let (guard, result) = condition.wait_timeout_while(guard, Duration::ZERO, |value| *value == 1).unwrap();
    note!(notes: result.timed_out(), *guard);
    let barrier = Barrier::new(1);
    note!(notes: barrier, barrier.wait(), barrier.wait().is_leader());
}

fn onces(notes: &mut Vec<String>) {
    let once = Once::new();
    note!(notes: once, once.is_completed());
    poison(|| once.call_once(|| panic!("on purpose")));
    note!(notes: once.is_completed());
    once.call_once_force(|state| note!(notes: state, state.is_poisoned()));
    once.call_once(|| note!(notes: "again"));
    once.wait();
    once.wait_force();
    note!(notes: once.is_completed(), once);

    let mut cell = OnceLock::new();
    note!(notes: cell, cell.get(), cell.set(1), cell.set(2), cell.get_or_init(|| 3), cell.wait());
    *cell.get_mut().unwrap() += 1;
    note!(notes: cell, cell.clone() == cell, cell.take(), cell.take(), cell, OnceLock::from(5).into_inner());

    let lazy: LazyLock<u8> = LazyLock::new(|| 7);
    note!(notes: lazy, LazyLock::get(&lazy), *lazy, LazyLock::force(&lazy), lazy, LazyLock::get(&lazy));
    let mut lazy: LazyLock<u8> = LazyLock::default();
    note!(notes: LazyLock::get_mut(&mut lazy), LazyLock::force_mut(&mut lazy));
    *lazy += 1;
    note!(notes: lazy, LazyLock::get_mut(&mut lazy));
}

fn arcs(notes: &mut Vec<String>) {
    let mut arc = Arc::new(1);
    let other = arc.clone();
    let weak = Arc::downgrade(&arc);
    note!(notes: arc, weak, Arc::strong_count(&arc), Arc::weak_count(&arc), weak.strong_count(), weak.weak_count());
    note!(notes: Arc::ptr_eq(&arc, &other), Arc::get_mut(&mut arc), format!("{arc:>3}"), weak.upgrade());
    note!(notes: format!("{arc:p}") == format!("{:p}", Arc::as_ptr(&arc)), arc == Arc::new(1), arc < Arc::new(2));
    *Arc::make_mut(&mut arc) = 5;
    note!(notes: arc, other, Arc::try_unwrap(arc), weak.upgrade(), Arc::into_inner(other), weak.upgrade());
    note!(notes: Weak::<u8>::new().upgrade(), Weak::<u8>::default().weak_count(), weak.ptr_eq(&weak.clone()));
    note!(notes: Arc::unwrap_or_clone(Arc::new(3)), Arc::new_cyclic(|me: &Weak<u8>| u8::from(me.upgrade().is_some())));
    let mut place = Arc::<u8>::new_uninit();
    Arc::get_mut(&mut place).unwrap().write(4);
    note!(notes: unsafe { place.assume_init() }, unsafe { Arc::<u8>::new_zeroed().assume_init() });
    note!(notes: unsafe { Arc::<[u8]>::new_zeroed_slice(2).assume_init() }, Arc::<[u8]>::new_uninit_slice(2).len());
    let raw = Arc::into_raw(Arc::new(6));
    unsafe { Arc::increment_strong_count(raw) };
    note!(notes: Arc::strong_count(&*std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(raw) })));
    unsafe { Arc::decrement_strong_count(raw) };
    note!(notes: unsafe { Arc::from_raw(raw) });
    let any: Arc<dyn Any + Send + Sync> = Arc::from(Box::new(8_u8) as Box<dyn Any + Send + Sync>);
    note!(notes: any.clone().downcast::<u16>().is_err(), any.downcast::<u8>().ok());
}

fn texts(notes: &mut Vec<String>) {
    let list: Arc<[u8]> = (1..4).collect();
    note!(notes: list, <Arc<[u8; 3]>>::try_from(list.clone()), <Arc<[u8; 2]>>::try_from(list.clone()));
    note!(notes: <Arc<[u8]>>::from([1, 2]), <Arc<[u8]>>::from(vec![3]), <Arc<[u8]>>::from(&[4][..]));
    note!(notes: <Arc<str>>::from("a"), <Arc<str>>::from(String::from("b")), <Arc<[u8]>>::from(<Arc<str>>::from("c")));
    note!(notes: <Arc<Path>>::from(Path::new("d")), <Arc<CStr>>::from(c"e"), <Arc<CStr>>::default());
    note!(notes: <Arc<str>>::default(), <Arc<[u8]>>::default(), <Pin<Arc<u8>>>::default(), Arc::pin(2));
    let shown: Arc<dyn Display> = Arc::from(Box::new(7) as Box<dyn Display>);
    note!(notes: shown.to_string());
}

fn channels(notes: &mut Vec<String>) {
    let (sender, receiver) = channel();
    note!(notes: sender, receiver, receiver.try_recv(), sender.send(1), sender.clone().send(2), receiver.recv());
    note!(notes: receiver.recv_timeout(Duration::ZERO), receiver.recv_timeout(Duration::ZERO), sender.send(3));
    note!(notes: receiver.try_iter().collect::<Vec<_>>(), sender.send(4));
    drop(sender);
    note!(notes: receiver.iter().collect::<Vec<_>>(), receiver.recv(), receiver.try_recv());
    note!(notes: receiver.recv_timeout(Duration::ZERO), IntoIterator::into_iter(&receiver).count(), receiver.into_iter().next());
    let (sender, receiver) = sync_channel(1);
    note!(notes: sender, sender.try_send(1), sender.try_send(2), receiver.recv(), sender.send(3));
    drop(receiver);
    note!(notes: sender.send(4), sender.try_send(5), sender.send(6).unwrap_err().to_string());
}

fn threads(notes: &mut Vec<String>) {
    thread_local! {
        static COUNT: Cell<u8> = const { Cell::new(1) };
        static LIST: std::cell::RefCell<Vec<u8>> = std::cell::RefCell::new(vec![1]);
    }
    note!(notes: COUNT, COUNT.get(), COUNT.replace(2), COUNT.take(), COUNT.with(Cell::get), COUNT.try_with(Cell::get));
    LIST.with_borrow_mut(|list| list.push(2));
    note!(notes: LIST.with_borrow(Vec::len), LIST.replace(vec![]), LIST.take());
    let handle = thread::Builder::new().name(String::from("one")).spawn(|| 1).unwrap();
    note!(notes: handle, handle.thread().name(), handle.thread().id() == handle.thread().id(), handle.join().unwrap());
    note!(notes: thread::panicking(), thread::current().id() == thread::current().id());
    let sum = thread::scope(|scope| {
        let handle = scope.spawn(|| 2);
        note!(notes: handle);
        handle.join().unwrap() + scope.spawn(|| 3).join().unwrap()
    });
    thread::current().unpark();
    thread::park();
    thread::current().unpark();
    thread::park_timeout(Duration::ZERO);
    thread::sleep(Duration::ZERO);
    thread::yield_now();
    note!(notes: sum, thread::spawn(|| resume_unwind(Box::new(4_u8))).join().unwrap_err().downcast::<u8>());
}

fn cells(notes: &mut Vec<String>) {
    let mut cell = Cell::new(1);
    let other = Cell::from(2);
    cell.swap(&other);
    cell.update(|value| value + 1);
    note!(notes: cell, other, cell.get(), cell.replace(5), cell.take(), cell.clone() == cell, cell < other);
    *cell.get_mut() += 7;
    cell.set(cell.get() + 1);
    note!(notes: unsafe { *cell.as_ptr() }, cell.into_inner(), Cell::<u8>::default());
    let slice: &Cell<[u8]> = &Cell::new([1, 2]);
    note!(notes: unsafe { (&*slice.as_ptr()).len() });
    let mut cell = UnsafeCell::new(1);
    *cell.get_mut() += 1;
    note!(notes: unsafe { *cell.get() }, unsafe { *UnsafeCell::raw_get(&raw const cell) }, cell.into_inner());
}
