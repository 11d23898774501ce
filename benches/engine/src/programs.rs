//! The programs that the engine is timed on.

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use unpick::thread::spawn;

/// A program under test.
pub(crate) type Program = Box<dyn Fn() + Send + Sync>;

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn atomics(count: usize) -> &'static [AtomicUsize] {
    (0..count).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>().leak()
}

/// The program with this name and size.
pub(crate) fn program(name: &str, n: usize) -> Option<Program> {
    Some(match name {
        "ainc" => Box::new(move || {
            let x = leak(AtomicUsize::new(0));
            for _ in 0..n {
                spawn(move || x.fetch_add(1, Relaxed));
            }
        }),
        "casrot" => Box::new(move || {
            let x = leak(AtomicUsize::new(0));
            for i in 0..n {
                spawn(move || {
                    let _ = x.compare_exchange(i, i + 1, Relaxed, Relaxed);
                });
            }
        }),
        "readers" => Box::new(move || {
            let x = leak(AtomicUsize::new(0));
            spawn(move || x.store(42, Release));
            for _ in 0..n {
                spawn(move || x.load(Acquire));
            }
        }),
        "lockinc" => Box::new(move || {
            let (x, lock) = (leak(AtomicUsize::new(0)), leak(Mutex::new(())));
            for _ in 0..n {
                spawn(move || {
                    let _guard = lock.lock();
                    x.store(x.load(Relaxed) + 1, Relaxed);
                });
            }
        }),
        "lastzero" => Box::new(move || {
            let a = atomics(n + 1);
            spawn(move || {
                let mut i = n;
                while a[i].load(Acquire) != 0 {
                    i -= 1;
                }
            });
            for j in 1..=n {
                spawn(move || a[j].store(a[j - 1].load(Acquire) + 1, Release));
            }
        }),
        "fib" => fib(n, Acquire, Release),
        "fibsc" => fib(n, SeqCst, SeqCst),
        "indexer" => Box::new(move || {
            let table = atomics(128);
            for tid in 0..n {
                spawn(move || {
                    for i in 0..4 {
                        let w = i * 11 + tid;
                        let mut h = (w * 7) % 128;
                        while table[h].compare_exchange(0, w, Relaxed, Relaxed).is_err() {
                            h = (h + 1) % 128;
                        }
                    }
                });
            }
        }),
        "treiber" => Box::new(move || {
            let stack = leak(Stack::default());
            let threads: Vec<_> = (0..n)
                .map(|i| {
                    spawn(move || {
                        stack.push(i);
                        stack.pop()
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| drop(thread.join()));
        }),
        "msqueue" => Box::new(move || {
            let queue = leak(Queue::new());
            let senders = (0..n).map(|i| spawn(move || queue.enqueue(i)));
            let threads: Vec<_> = senders.collect();
            let receivers: Vec<_> = (0..n).map(|_| spawn(move || queue.dequeue())).collect();
            threads.into_iter().for_each(|thread| drop(thread.join()));
            receivers.into_iter().for_each(|thread| drop(thread.join()));
        }),
        _ => return None,
    })
}

fn fib(n: usize, read: std::sync::atomic::Ordering, write: std::sync::atomic::Ordering) -> Program {
    Box::new(move || {
        let (x, y) = (leak(AtomicUsize::new(1)), leak(AtomicUsize::new(1)));
        let step = move |to: &'static AtomicUsize| {
            for _ in 0..n {
                let a = x.load(read);
                let b = y.load(read);
                to.store(a + b, write);
            }
        };
        spawn(move || step(x));
        spawn(move || step(y));
        spawn(move || {
            if n < 6 {
                assert!(x.load(read) <= 144 && y.load(read) <= 144);
            } else {
                x.load(read);
                y.load(read);
            }
        });
    })
}

struct Node {
    value: usize,
    next: AtomicPtr<Node>,
}

impl Node {
    fn boxed(value: usize) -> *mut Node {
        Box::into_raw(Box::new(Node { value, next: AtomicPtr::default() }))
    }
}

/// Treiber's stack; nodes are leaked.
#[derive(Default)]
struct Stack {
    top: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: usize) {
        let node = Node::boxed(value);
        loop {
            let top = self.top.load(Acquire);
            // SAFETY: nodes are never freed.
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
            // SAFETY: nodes are never freed.
            let next = unsafe { (*top).next.load(Relaxed) };
            if self.top.compare_exchange(top, next, Release, Relaxed).is_ok() {
                // SAFETY: as above.
                return Some(unsafe { (*top).value });
            }
        }
    }
}

/// The queue of Michael and Scott; nodes are leaked.
struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}

impl Queue {
    fn new() -> Queue {
        let dummy = Node::boxed(0);
        Queue { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy) }
    }

    fn enqueue(&self, value: usize) {
        let node = Node::boxed(value);
        loop {
            let tail = self.tail.load(Acquire);
            // SAFETY: nodes are never freed.
            let next = unsafe { &(*tail).next };
            let seen = next.load(Acquire);
            if tail != self.tail.load(Acquire) {
                continue;
            }
            if !seen.is_null() {
                let _ = self.tail.compare_exchange(tail, seen, Release, Relaxed);
            } else if next.compare_exchange(seen, node, Release, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, Release, Relaxed);
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            // SAFETY: nodes are never freed.
            let next = unsafe { (*head).next.load(Acquire) };
            if self.head.load(Acquire) != head {
                continue;
            }
            if head == tail {
                if next.is_null() {
                    return None;
                }
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
            } else {
                // SAFETY: as above.
                let value = unsafe { (*next).value };
                if self.head.compare_exchange(head, next, Release, Relaxed).is_ok() {
                    return Some(value);
                }
            }
        }
    }
}
