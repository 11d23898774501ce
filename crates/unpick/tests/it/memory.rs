//! Memory errors of ordinary code: `Box::into_raw`, `Box::from_raw`, `alloc`, `dealloc`, `Arc`.

use std::hint::black_box;
use std::sync::Arc;

use unpick::Check;
use unpick::alloc::{Layout, Track, alloc_zeroed, dealloc, realloc};
use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use unpick::thread;

use crate::support::*;
use crate::violations::violations;

/// An address that threads may share.
#[derive(Debug)]
struct Shared<T>(*mut T);

// SAFETY: what the tests are about.
unsafe impl<T> Send for Shared<T> {}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(self.0)
    }
}

impl<T> Shared<T> {
    fn new(value: T) -> Shared<T> {
        // The compiler leaves out allocations that it understands.
        Shared(black_box(Box::into_raw(Box::new(value))))
    }

    fn get<'a>(&self) -> &'a T {
        unsafe { &*self.0 }
    }

    fn free(self) {
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// One thread uses an object, and another frees it before it has joined the first, or after.
fn free_and_use(joined: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let value = Shared::new(AtomicUsize::new(1));
        let theirs = value.clone();
        let t = thread::spawn(move || theirs.get().store(2, Relaxed));
        if joined {
            t.join().unwrap();
            value.free();
        } else {
            value.free();
            t.join().unwrap();
        }
    }
}

/// The user says that it is done; the other frees then.
fn free_when_done(order: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let done = Arc::new(AtomicBool::new(false));
        let value = Shared::new(AtomicUsize::new(1));
        let (theirs, their_value) = (done.clone(), value.clone());
        let t = thread::spawn(move || {
            their_value.get().load(Relaxed);
            theirs.store(true, order);
        });
        let free_now = done.load(Acquire);
        if free_now {
            value.clone().free();
        }
        t.join().unwrap();
        if !free_now {
            value.free();
        }
    }
}

/// A part of a list. It begins as a shared pointer of the standard library does that nobody has any more.
#[repr(C)]
struct Part {
    next: usize,
    len: usize,
    value: AtomicUsize,
}

/// The same with an object behind two words that are zero.
fn free_node_when_done(order: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let done = Arc::new(AtomicBool::new(false));
        let node = Shared::new(Part { next: 0, len: 0, value: AtomicUsize::new(1) });
        let (theirs, their_node) = (done.clone(), node.clone());
        let t = thread::spawn(move || {
            their_node.get().value.load(Relaxed);
            theirs.store(true, order);
        });
        let free_now = done.load(Acquire);
        if free_now {
            black_box((node.get().next, node.get().len));
            node.clone().free();
        }
        t.join().unwrap();
        if !free_now {
            node.free();
        }
    }
}

/// The same with a shared pointer of the standard library: whoever drops it last frees what nobody else has any more.
#[test]
fn the_last_handle_of_the_standard_library_frees() {
    let verdict = Check::new().run(|| {
        let value = Arc::new(AtomicUsize::new(1));
        let theirs = value.clone();
        let t = thread::spawn(move || {
            theirs.load(Relaxed);
        });
        value.load(Relaxed);
        drop(value);
        t.join().unwrap();
    });
    assert!(verdict.unwrap().holds());
}

/// The same with a plain cell.
fn free_cell_when_done(order: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let done = Arc::new(AtomicBool::new(false));
        let value = Shared::new(UnsafeCell::new(1));
        let (theirs, their_value) = (done.clone(), value.clone());
        let t = thread::spawn(move || {
            their_value.get().with(|value| unsafe { *value });
            theirs.store(true, order);
        });
        let free_now = done.load(Acquire);
        if free_now {
            value.clone().free();
        }
        t.join().unwrap();
        if !free_now {
            value.free();
        }
    }
}

/// Two threads take what is in a slot, with one operation or with two, and free it.
fn take_and_free(swap: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let slot = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(7u64))));
        let take = move |slot: &AtomicPtr<u64>| {
            let value = if swap {
                slot.swap(std::ptr::null_mut(), AcqRel)
            } else {
                let value = slot.load(Acquire);
                slot.store(std::ptr::null_mut(), Release);
                value
            };
            if !value.is_null() {
                drop(unsafe { Box::from_raw(value) });
            }
        };
        let theirs = slot.clone();
        let t = thread::spawn(move || take(&theirs));
        take(&slot);
        t.join().unwrap();
    }
}

/// Allocates a block in a way that the compiler cannot leave out.
fn alloc(layout: Layout) -> *mut u8 {
    black_box(unsafe { unpick::alloc::alloc(layout) })
}

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

/// What a thread leaves behind depends on who comes first.
fn last_one_frees(counted: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let users = Arc::new(AtomicUsize::new(2));
        let value = Shared::new(5u64);
        let leave = move |users: &AtomicUsize, value: Shared<u64>| {
            let last = if counted {
                users.fetch_sub(1, AcqRel) == 1
            } else {
                let left = users.load(Acquire) - 1;
                users.store(left, Release);
                left == 0
            };
            if last {
                value.free();
            }
        };
        let (theirs, their_value) = (users.clone(), value.clone());
        let t = thread::spawn(move || leave(&theirs, their_value));
        leave(&users, value);
        t.join().unwrap();
    }
}

struct Node {
    value: usize,
    next: AtomicPtr<Node>,
}

/// Treiber's stack: its nodes are freed by whoever pops them, or when the stack goes away.
struct Stack {
    top: AtomicPtr<Node>,
    popped: Mutex<Vec<Shared<Node>>>,
    frees_at_once: bool,
}

impl Stack {
    fn new(frees_at_once: bool) -> Stack {
        Stack { top: AtomicPtr::default(), popped: Mutex::new(Vec::new()), frees_at_once }
    }

    fn push(&self, value: usize) {
        let node = Box::into_raw(Box::new(Node { value, next: AtomicPtr::default() }));
        loop {
            let top = self.top.load(Acquire);
            unsafe { (*node).next.store(top, Relaxed) };
            if self.top.compare_exchange(top, node, Release, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let top = self.top.load(Acquire);
            if top.is_null() {
                return None;
            }
            let next = unsafe { (*top).next.load(Relaxed) };
            if self.top.compare_exchange(top, next, AcqRel, Relaxed).is_ok() {
                let value = unsafe { (*top).value };
                if self.frees_at_once {
                    drop(unsafe { Box::from_raw(top) });
                } else {
                    self.popped.lock().unwrap().push(Shared(top));
                }
                return Some(value);
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let mut node = *self.top.get_mut();
        while !node.is_null() {
            let mut owned = unsafe { Box::from_raw(node) };
            node = *owned.next.get_mut();
        }
        for node in self.popped.get_mut().unwrap().drain(..) {
            node.free();
        }
    }
}

fn stack(frees_at_once: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let stack = Arc::new(Stack::new(frees_at_once));
        stack.push(1);
        let theirs = stack.clone();
        let t = thread::spawn(move || theirs.pop());
        let ours = stack.pop();
        let theirs = t.join().unwrap();
        assert!(ours.is_some() != theirs.is_some());
    }
}

violations! {
    use_after_free: "use after free", free_and_use(false), free_and_use(true);

    /// The use comes first in every order in which the program can run, but nothing makes it.
    use_not_ordered_before_the_free: "use after free", free_when_done(Relaxed), free_when_done(Release);

    use_behind_two_zeros_not_ordered_before_the_free: "use after free",
        free_node_when_done(Relaxed), free_node_when_done(Release);

    plain_use_not_ordered_before_the_free: "use after free",
        free_cell_when_done(Relaxed), free_cell_when_done(Release);

    use_after_free_in_one_thread: "use after free",
        || {
            let value = Shared::new(AtomicUsize::new(1));
            value.clone().free();
            value.get().store(2, Relaxed);
        },
        || {
            let value = Shared::new(AtomicUsize::new(1));
            value.get().store(2, Relaxed);
            value.free();
        };

    lock_freed_while_another_thread_waits: "use after free",
        || {
            let lock = Shared::new(Mutex::new(0));
            let theirs = lock.clone();
            let guard = lock.get().lock().unwrap();
            let t = thread::spawn(move || drop(theirs.get().lock().unwrap()));
            drop(guard);
            lock.free();
            t.join().unwrap();
        },
        || {
            let lock = Shared::new(Mutex::new(0));
            let theirs = lock.clone();
            let guard = lock.get().lock().unwrap();
            let t = thread::spawn(move || drop(theirs.get().lock().unwrap()));
            drop(guard);
            t.join().unwrap();
            lock.free();
        };

    use_after_a_vector_has_grown: "use after free",
        || {
            let mut values = vec![AtomicUsize::new(0)];
            let first = Shared(&raw mut values[0]);
            let t = thread::spawn(move || first.get().store(1, Relaxed));
            values.push(AtomicUsize::new(1));
            t.join().unwrap();
        },
        || {
            let mut values = Vec::with_capacity(2);
            values.push(AtomicUsize::new(0));
            let first = Shared(&raw mut values[0]);
            let t = thread::spawn(move || first.get().store(1, Relaxed));
            values.push(AtomicUsize::new(1));
            t.join().unwrap();
        };

    stack_that_frees_at_once: "use after free", stack(true), stack(false);

    double_free: "double free", take_and_free(false), take_and_free(true);

    double_free_in_one_thread: "double free",
        || unsafe {
            let block = alloc(layout(24));
            dealloc(block, layout(24));
            dealloc(block, layout(24));
        },
        || unsafe { dealloc(alloc(layout(24)), layout(24)) };

    free_of_a_part: "invalid free",
        || unsafe { dealloc(alloc(layout(24)).add(8), layout(16)) },
        || unsafe {
            let block = black_box(realloc(alloc(layout(24)), layout(24), 16));
            dealloc(block, layout(16));
        };

    use_of_uninitialised_memory: "use of uninitialised memory",
        || unsafe {
            let layout = Layout::new::<AtomicUsize>();
            let counter = alloc(layout).cast::<AtomicUsize>();
            (*counter).store(1, Relaxed);
            dealloc(counter.cast(), layout);
        },
        || unsafe {
            let layout = Layout::new::<AtomicUsize>();
            let counter = alloc_zeroed(layout).cast::<AtomicUsize>();
            assert_eq!((*counter).fetch_add(1, Relaxed), 0);
            dealloc(counter.cast(), layout);
        };

    leak: "leak", last_one_frees(false), last_one_frees(true);

    leak_of_several: "leak",
        || {
            std::mem::forget(black_box(Track::new(())));
            thread::spawn(|| black_box(Box::leak(Box::new([1; 4])))[2]).join().unwrap();
            std::mem::forget(black_box(vec![1, 2, 3]));
        },
        || {
            let track = Track::new(());
            thread::spawn(move || track.into_inner()).join().unwrap();
        };

    crash_on_freed_memory: "crash",
        || {
            let outer = Shared::new(Shared::new(5usize));
            let inner = outer.get().clone();
            outer.clone().free();
            let lost = unsafe { std::ptr::read_volatile(outer.0) };
            black_box(unsafe { std::ptr::read_volatile(lost.0) });
            inner.free();
        },
        || {
            let outer = Shared::new(Shared::new(5usize));
            let inner = outer.get().clone();
            assert_eq!(unsafe { std::ptr::read_volatile(inner.0) }, 5);
            outer.free();
            inner.free();
        };

    crash_on_null: "crash",
        || {
            let slot = Arc::new(AtomicPtr::new(std::ptr::without_provenance_mut::<usize>(64)));
            let theirs = slot.clone();
            let t = thread::spawn(move || theirs.store(Box::into_raw(Box::new(4)), Release));
            black_box(unsafe { std::ptr::read_volatile(slot.load(Acquire)) });
            t.join().unwrap();
            drop(unsafe { Box::from_raw(slot.load(Acquire)) });
        },
        || {
            let slot = Arc::new(AtomicPtr::new(std::ptr::without_provenance_mut::<usize>(64)));
            let theirs = slot.clone();
            let t = thread::spawn(move || theirs.store(Box::into_raw(Box::new(4)), Release));
            t.join().unwrap();
            let value = slot.load(Acquire);
            assert_eq!(unsafe { std::ptr::read_volatile(value) }, 4);
            drop(unsafe { Box::from_raw(value) });
        };
}

/// Who drops an `Arc` last has synchronised with the others, although no event shows it.
#[test]
fn what_an_arc_frees_was_used_before() {
    for with_weak in [false, true] {
        let (executions, _) = holds(move || {
            let shared = Arc::new((AtomicUsize::new(0), vec![AtomicUsize::new(0), AtomicUsize::new(0)]));
            let weak = with_weak.then(|| Arc::downgrade(&shared));
            for n in 0..2 {
                let (shared, weak) = (shared.clone(), weak.clone());
                thread::spawn(move || {
                    shared.0.store(n, Relaxed);
                    shared.1[n].store(n, Relaxed);
                    shared.1[0].load(Relaxed);
                    drop(shared);
                    drop(weak);
                });
            }
        });
        assert!(executions > 1);
    }
}

/// The last owner of an `Arc` frees what others use through a pointer of their own.
#[test]
fn what_an_arc_frees_must_not_be_used_after() {
    let finding = violated(|| {
        let shared = Arc::new(AtomicUsize::new(0));
        let theirs = Shared(Arc::as_ptr(&shared).cast_mut());
        let t = thread::spawn(move || theirs.get().store(1, Relaxed));
        drop(shared);
        t.join().unwrap();
    });
    assert_eq!(finding.title, "use after free");
}

/// An object that has moved leaves its tag behind, which is no use of the memory it was in.
#[test]
fn memory_that_an_object_has_left_may_be_freed() {
    let (executions, _) = holds(|| {
        let mut values = vec![AtomicUsize::new(0), AtomicUsize::new(1)];
        values[1].store(2, Relaxed);
        values[0].store(2, Relaxed);
        let moved = Arc::new(values.pop().unwrap());
        let theirs = moved.clone();
        let t = thread::spawn(move || theirs.store(3, Relaxed));
        drop(values);
        moved.load(Relaxed);
        t.join().unwrap();
    });
    assert_eq!(executions, 2);
}

/// An object that is used before it moves to where it is shared is found there.
#[test]
fn a_moved_object_is_found_where_it_is() {
    let finding = violated(|| {
        let value = AtomicUsize::new(0);
        value.store(1, Relaxed);
        let value = Shared::new(value);
        let theirs = value.clone();
        let t = thread::spawn(move || theirs.get().store(2, Relaxed));
        value.free();
        t.join().unwrap();
    });
    assert_eq!(finding.title, "use after free");
}

#[test]
fn what_static_memory_leads_to_is_no_leak() {
    static PLAIN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static LIST: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
    holds(|| {
        let outer = Box::leak(Box::new(Box::new(5)));
        PLAIN.store(outer as *mut Box<i32> as usize, Relaxed);
        let last = Box::into_raw(Box::new(Node { value: 1, next: AtomicPtr::default() }));
        let first = Box::into_raw(Box::new(Node { value: 2, next: AtomicPtr::default() }));
        unsafe { (*first).next.store(last, Relaxed) };
        LIST.store(first, Release);
        assert_eq!(unsafe { (*first).value + (*last).value }, 3);
    });
    PLAIN.store(0, Relaxed);
}

#[test]
fn what_is_allocated_outside_is_no_leak() {
    holds(|| {
        unpick::outside(|| std::mem::forget(black_box(Box::new(5))));
        let inside = black_box(Box::new(6));
        unpick::outside(move || drop(inside));
    });
}

#[test]
fn a_blocked_execution_does_not_leak() {
    let (_, blocked) = holds(|| {
        let _value = black_box(Box::new(5));
        unpick::assume(unpick::choose(2) == 0);
    });
    assert_eq!(blocked, 1);
}

#[test]
fn leaks_can_be_allowed() {
    let verdict = Check::new().leaks(false).run(|| std::mem::forget(black_box(Box::new(5)))).unwrap();
    assert!(verdict.holds());
}

#[test]
fn results_and_panics_of_threads_are_no_leaks() {
    holds(|| {
        thread::spawn(|| black_box(vec![1, 2, 3]));
        let handle = thread::spawn(|| black_box(vec![1, 2, 3]));
        while !handle.is_finished() {}
        drop(handle);
        assert!(thread::spawn(|| panic!("{}", String::from("as planned"))).join().is_err());
        thread::scope(|scope| {
            scope.spawn(|| String::from("ignored"));
        });
    });
}

/// A panic that unwinds frees twice what is owned twice.
#[test]
fn a_double_free_while_a_panic_unwinds_is_found() {
    let finding = violated(|| {
        let t = thread::spawn(|| {
            let value = Shared::new(1);
            let _first = unsafe { Box::from_raw(value.0) };
            let _second = unsafe { Box::from_raw(value.0) };
            panic!("on purpose");
        });
        let _ = t.join();
    });
    assert_eq!(finding.title, "double free", "{}", told(&finding));
}

#[test]
fn a_memory_error_tells_all_its_places() {
    let finding = violated(free_and_use(false));
    let titles: Vec<&str> = finding.trace.stacks.iter().map(|stack| stack.title.as_str()).collect();
    assert_eq!(titles, ["allocation by main", "free by main", "use by T1"], "{}", told(&finding));
    for stack in &finding.trace.stacks {
        assert!(stack.frames[0].place.as_ref().unwrap().file.ends_with("memory.rs"), "{}", told(&finding));
    }
    let json = unpick::report::json(&finding).to_string();
    for action in ["allocation", "free"] {
        assert!(json.contains(&format!("\"type\":\"{action}\"")), "{json}");
    }
}
