//! The tests, written once and instantiated per tool.
//!
//! [`programs!`] expands to the test bodies. It names no crate: the module that calls it brings into
//! scope the tool's own `Arc`, `Mutex`, `AtomicBool`, `AtomicPtr`, `AtomicUsize`, `thread` and
//! `spin_loop`, and the bodies use those. A side for another tool with std's names is therefore:
//!
//! ```ignore
//! use std::sync::Arc;
//! use other::sync::Mutex;
//! use other::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
//! use other::{hint::spin_loop, thread};
//! crate::programs::programs!();
//! ```
//!
//! which defines `program(name) -> Option<fn()>`, one function per row of [`TESTS`].
//!
//! Shape of every test: the main thread makes the shared state, spawns the threads and joins them; no
//! body asserts anything about the outcome, so that a tool is timed and not its verdict. Where the
//! family has one odd thread out (the writer of `readers`, the searcher of `lastzero`), main plays it
//! between spawning and joining: that saves a thread for the tools that allow only a few.

/// One test: its name and what is known about it beforehand.
#[derive(Debug)]
pub(crate) struct Test {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// Threads a tool has to offer, main included.
    pub(crate) threads: usize,
    /// Consistent execution graphs under RC11: the fewest executions that cover the test. `None` where
    /// the number depends on how a tool treats retry and spin loops.
    pub(crate) optimal: Option<u64>,
}

const fn test(name: &'static str, threads: usize, optimal: Option<u64>) -> Test {
    Test { name, threads, optimal }
}

/// Every test, in the order of the comparison table. The ones after `fib_3` are large, so that they
/// show how fast a tool is once it is running.
pub(crate) const TESTS: &[Test] = &[
    test("mp_ra", 3, Some(3)),
    test("sb_sc", 3, Some(3)),
    test("sb_rlx", 3, Some(4)),
    test("iriw_rlx", 5, Some(16)),
    test("corr_rlx", 4, Some(36)),
    test("iriw", 5, Some(16)),
    test("fetch_add_2x6", 3, Some(924)),
    test("fetch_add_3x3", 4, Some(1680)),
    test("fetch_add_4x1", 5, Some(24)),
    test("mutex_3x2", 4, Some(90)),
    test("mutex_4x1", 5, Some(24)),
    test("readers_sc_4", 5, Some(16)),
    test("readers_sc_8", 9, Some(256)),
    test("lastzero_sc_4", 5, Some(28)),
    test("lastzero_sc_8", 9, Some(704)),
    test("lastzero_4", 5, Some(28)),
    test("treiber_2x2", 3, None),
    test("msqueue_2x2", 3, None),
    test("ttas_2x1", 3, None),
    test("fib_3", 4, Some(2258)),
    test("corr_3x4", 5, Some(343_000)),
    test("fetch_add_3x5", 4, Some(756_756)),
    test("mutex_3x4", 4, Some(34_650)),
    test("treiber_2x4", 3, None),
    test("msqueue_2x4", 3, None),
    test("fib_5", 4, Some(525_630)),
];

/// The test called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Test> {
    TESTS.iter().find(|test| test.name == name)
}

/// Defines the test bodies with the types in scope at the call; see the module's documentation.
macro_rules! programs {
    () => {
        use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

        /// The body of the test called `name`.
        pub(crate) fn program(name: &str) -> Option<fn()> {
            Some(match name {
                "mp_ra" => mp_ra,
                "sb_sc" => || sb(SeqCst, SeqCst),
                "sb_rlx" => || sb(Relaxed, Relaxed),
                "iriw_rlx" => || iriw(Relaxed, Relaxed),
                "corr_rlx" => corr_rlx,
                "iriw" => || iriw(Release, Acquire),
                "fetch_add_2x6" => fetch_add::<2, 6>,
                "fetch_add_3x3" => fetch_add::<3, 3>,
                "fetch_add_4x1" => fetch_add::<4, 1>,
                "mutex_3x2" => mutex::<3, 2>,
                "mutex_4x1" => mutex::<4, 1>,
                "readers_sc_4" => readers_sc::<4>,
                "readers_sc_8" => readers_sc::<8>,
                "lastzero_sc_4" => || lastzero::<4, 5>(SeqCst, SeqCst),
                "lastzero_sc_8" => || lastzero::<8, 9>(SeqCst, SeqCst),
                "lastzero_4" => || lastzero::<4, 5>(Acquire, Release),
                "treiber_2x2" => treiber::<1>,
                "msqueue_2x2" => msqueue::<1>,
                "ttas_2x1" => ttas_2x1,
                "fib_3" => fib::<3>,
                "corr_3x4" => corr_3x4,
                "fetch_add_3x5" => fetch_add::<3, 5>,
                "mutex_3x4" => mutex::<3, 4>,
                "treiber_2x4" => treiber::<2>,
                "msqueue_2x4" => msqueue::<2>,
                "fib_5" => fib::<5>,
                _ => return None,
            })
        }

        /// `N` atomics that start at `value`.
        fn shared<const N: usize>(value: usize) -> Arc<[AtomicUsize; N]> {
            Arc::new(std::array::from_fn(|_| AtomicUsize::new(value)))
        }

        /// A thread running `body` on its own handle to `state`.
        fn start<T: Send + Sync + 'static>(
            state: &Arc<T>,
            body: impl FnOnce(&T) + Send + 'static,
        ) -> thread::JoinHandle<()> {
            let state = Arc::clone(state);
            thread::spawn(move || body(&state))
        }

        /// Waits for every thread, first spawned first.
        fn join<const N: usize>(handles: [thread::JoinHandle<()>; N]) {
            for handle in handles {
                handle.join().unwrap();
            }
        }

        /// Message passing: `Wrlx x; Wrel y || Racq y; Rrlx x`.
        fn mp_ra() {
            let state = shared::<2>(0);
            join([
                start(&state, |[x, y]| {
                    x.store(1, Relaxed);
                    y.store(1, Release);
                }),
                start(&state, |[x, y]| {
                    y.load(Acquire);
                    x.load(Relaxed);
                }),
            ]);
        }

        /// Store buffering: `W x; R y || W y; R x`.
        fn sb(store: Ordering, load: Ordering) {
            let state = shared::<2>(0);
            join([
                start(&state, move |[x, y]| {
                    x.store(1, store);
                    y.load(load);
                }),
                start(&state, move |[x, y]| {
                    y.store(1, store);
                    x.load(load);
                }),
            ]);
        }

        /// Independent reads of independent writes: `W x || W y || R x; R y || R y; R x`.
        fn iriw(store: Ordering, load: Ordering) {
            let state = shared::<2>(0);
            join([
                start(&state, move |[x, _]| x.store(1, store)),
                start(&state, move |[_, y]| y.store(1, store)),
                start(&state, move |[x, y]| {
                    x.load(load);
                    y.load(load);
                }),
                start(&state, move |[x, y]| {
                    y.load(load);
                    x.load(load);
                }),
            ]);
        }

        /// Coherence of reads: `Wrlx x 1; Wrlx x 2 || Rrlx x; Rrlx x || Rrlx x; Rrlx x`. One thread makes
        /// both writes, so their order is fixed and each reader sees one of 6 pairs: 36 graphs. (With a
        /// thread per write there would be 72.)
        fn corr_rlx() {
            fn read_twice([x]: &[AtomicUsize; 1]) {
                x.load(Relaxed);
                x.load(Relaxed);
            }
            let state = shared::<1>(0);
            join([
                start(&state, |[x]| {
                    x.store(1, Relaxed);
                    x.store(2, Relaxed);
                }),
                start(&state, read_twice),
                start(&state, read_twice),
            ]);
        }

        /// As `corr_rlx` with four writes and three readers of four reads each. A reader sees the five
        /// values in order, one of 70 ways: 343,000 graphs.
        fn corr_3x4() {
            let state = shared::<1>(0);
            let reader = || {
                start(&state, |[x]| {
                    for _ in 0..4 {
                        x.load(Relaxed);
                    }
                })
            };
            let writer = start(&state, |[x]| {
                for value in 1..=4 {
                    x.store(value, Relaxed);
                }
            });
            join([writer, reader(), reader(), reader()]);
        }

        /// `T` threads that each add one `N` times.
        fn fetch_add<const T: usize, const N: usize>() {
            let state = shared::<1>(0);
            join::<T>(std::array::from_fn(|_| {
                start(&state, |[x]| {
                    for _ in 0..N {
                        x.fetch_add(1, Relaxed);
                    }
                })
            }));
        }

        /// `T` threads that each add one under a lock `N` times.
        fn mutex<const T: usize, const N: usize>() {
            let state = Arc::new(Mutex::new(0));
            join::<T>(std::array::from_fn(|_| {
                start(&state, |x| {
                    for _ in 0..N {
                        *x.lock().unwrap() += 1;
                    }
                })
            }));
        }

        /// Main writes, `N` threads read.
        fn readers_sc<const N: usize>() {
            let state = shared::<1>(0);
            let readers: [_; N] = std::array::from_fn(|_| {
                start(&state, |[x]| {
                    x.load(SeqCst);
                })
            });
            state[0].store(42, SeqCst);
            join(readers);
        }

        /// Thread `j` of `N` sets cell `j` to cell `j - 1` plus one; main looks for the last zero. `M`
        /// is `N + 1`, the number of cells.
        fn lastzero<const N: usize, const M: usize>(load: Ordering, store: Ordering) {
            let state = shared::<M>(0);
            let writers: [_; N] = std::array::from_fn(|j| {
                start(&state, move |cells| {
                    let before = cells[j].load(load);
                    cells[j + 1].store(before + 1, store);
                })
            });
            let mut i = N;
            while state[i].load(load) != 0 {
                i -= 1;
            }
            join(writers);
        }

        /// A node of [`Treiber`] and [`MsQueue`]; never freed.
        struct Node {
            value: usize,
            next: AtomicPtr<Node>,
        }

        impl Node {
            fn new(value: usize) -> *mut Node {
                Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(std::ptr::null_mut()) }))
            }
        }

        /// Treiber's stack.
        struct Treiber {
            top: AtomicPtr<Node>,
        }

        impl Treiber {
            fn new() -> Treiber {
                Treiber { top: AtomicPtr::new(std::ptr::null_mut()) }
            }

            fn push(&self, value: usize) {
                let node = Node::new(value);
                loop {
                    let top = self.top.load(Acquire);
                    // SAFETY: `node` is a valid allocation that is never freed.
                    unsafe { &*node }.next.store(top, Relaxed);
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
                    // SAFETY: a pointer in the stack came from `Node::new` and nodes are never freed.
                    let node = unsafe { &*top };
                    let next = node.next.load(Relaxed);
                    if self.top.compare_exchange(top, next, Release, Relaxed).is_ok() {
                        return Some(node.value);
                    }
                }
            }
        }

        /// Two threads that each push and then pop, `N` times.
        fn treiber<const N: usize>() {
            let state = Arc::new(Treiber::new());
            join::<2>(std::array::from_fn(|i| {
                start(&state, move |stack| {
                    for _ in 0..N {
                        stack.push(i);
                        stack.pop();
                    }
                })
            }));
        }

        /// Michael and Scott's queue.
        struct MsQueue {
            head: AtomicPtr<Node>,
            tail: AtomicPtr<Node>,
        }

        impl MsQueue {
            fn new() -> MsQueue {
                let dummy = Node::new(0);
                MsQueue { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy) }
            }

            fn enqueue(&self, value: usize) {
                let node = Node::new(value);
                loop {
                    let tail = self.tail.load(Acquire);
                    // SAFETY: `tail` is never null, came from `Node::new`, and nodes are never freed.
                    let link = unsafe { &(*tail).next };
                    let next = link.load(Acquire);
                    if tail != self.tail.load(Acquire) {
                        continue;
                    }
                    if !next.is_null() {
                        let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
                    } else if link.compare_exchange(next, node, Release, Relaxed).is_ok() {
                        let _ = self.tail.compare_exchange(tail, node, Release, Relaxed);
                        return;
                    }
                }
            }

            fn dequeue(&self) -> Option<usize> {
                loop {
                    let head = self.head.load(Acquire);
                    let tail = self.tail.load(Acquire);
                    // SAFETY: `head` is never null, came from `Node::new`, and nodes are never freed.
                    let next = unsafe { &*head }.next.load(Acquire);
                    if head != self.head.load(Acquire) {
                        continue;
                    }
                    if head == tail {
                        if next.is_null() {
                            return None;
                        }
                        let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
                    } else if self.head.compare_exchange(head, next, Release, Relaxed).is_ok() {
                        // SAFETY: `head` was not the last node, so `next` is a node, never freed.
                        return Some(unsafe { &*next }.value);
                    }
                }
            }
        }

        /// Two threads that each enqueue and then dequeue, `N` times.
        fn msqueue<const N: usize>() {
            let state = Arc::new(MsQueue::new());
            join::<2>(std::array::from_fn(|i| {
                start(&state, move |queue| {
                    for _ in 0..N {
                        queue.enqueue(i);
                        queue.dequeue();
                    }
                })
            }));
        }

        /// Two threads that each take a test-and-test-and-set lock once.
        fn ttas_2x1() {
            let state = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
            join::<2>(std::array::from_fn(|_| {
                start(&state, |(locked, count)| {
                    loop {
                        while locked.load(Relaxed) {
                            spin_loop();
                        }
                        if !locked.swap(true, AcqRel) {
                            break;
                        }
                    }
                    count.store(count.load(Relaxed) + 1, Relaxed);
                    locked.store(false, Release);
                })
            }));
        }

        /// `N` Fibonacci steps from both sides, and a third thread that looks at the two numbers.
        fn fib<const N: usize>() {
            let state = shared::<2>(1);
            join([
                start(&state, |[x, y]| {
                    for _ in 0..N {
                        x.store(x.load(Acquire) + y.load(Acquire), Release);
                    }
                }),
                start(&state, |[x, y]| {
                    for _ in 0..N {
                        y.store(x.load(Acquire) + y.load(Acquire), Release);
                    }
                }),
                start(&state, |[x, y]| {
                    x.load(Acquire);
                    y.load(Acquire);
                }),
            ]);
        }
    };
}

pub(crate) use programs;
