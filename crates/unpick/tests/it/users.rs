//! Programs as users write them, with and without their bugs.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use unpick::cell::UnsafeCell;
use unpick::collections::HashMap;
use unpick::hash::RandomState;
use unpick::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use unpick::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use unpick::{thread, thread_local};

use crate::support::{holds, violated};

type Job = Box<dyn FnOnce() + Send>;

/// A pool of threads over a queue with a condition.
struct Pool {
    shared: Arc<Shared>,
    workers: Vec<thread::JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Pool {
    fn new(count: usize) -> Pool {
        let shared = Arc::new(Shared { queue: Mutex::new(Queue::default()), ready: Condvar::new() });
        let workers = (0..count).map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                loop {
                    let mut queue = shared.queue.lock().unwrap();
                    let job = loop {
                        if let Some(job) = queue.jobs.pop_front() {
                            break job;
                        }
                        if queue.closed {
                            return;
                        }
                        queue = shared.ready.wait(queue).unwrap();
                    };
                    drop(queue);
                    let _ = catch_unwind(AssertUnwindSafe(job));
                }
            })
        });
        Pool { workers: workers.collect(), shared }
    }

    fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.queue.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.ready.notify_one();
    }

    fn close(mut self, all: bool) {
        self.shared.queue.lock().unwrap().closed = true;
        if all {
            self.shared.ready.notify_all()
        } else {
            self.shared.ready.notify_one()
        }
        for worker in self.workers.drain(..) {
            worker.join().unwrap();
        }
    }
}

#[test]
fn a_pool_with_a_condition_runs_all_jobs() {
    let counts = holds(|| {
        let pool = Pool::new(2);
        let done = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&done);
        pool.run(move || {
            theirs.fetch_add(1, Ordering::Relaxed);
        });
        pool.close(true);
        assert_eq!(done.load(Ordering::Relaxed), 1);
        assert_eq!(Arc::try_unwrap(done).unwrap().into_inner(), 1);
    });
    assert!(counts.0 > 1);
}

#[test]
fn a_pool_that_wakes_one_of_two_at_its_end_deadlocks() {
    violated(|| {
        let pool = Pool::new(2);
        pool.close(false);
    });
}

#[test]
fn a_pool_with_a_panicking_job_goes_on() {
    let counts = holds(|| {
        let pool = Pool::new(1);
        let done = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&done);
        pool.run(|| panic!("a job"));
        pool.run(move || theirs.lock().unwrap().push(Box::new(1)));
        pool.close(true);
        let done = Arc::try_unwrap(done).unwrap().into_inner().unwrap();
        assert_eq!(*done[0], 1);
    });
    assert_eq!(counts, (36, 0));
}

#[test]
fn jobs_over_a_channel() {
    let counts = holds(|| {
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    loop {
                        let job = queue.lock().unwrap().recv();
                        match job {
                            Ok(job) => job(),
                            Err(_) => break,
                        }
                    }
                })
            })
            .collect();
        let (results, sum) = mpsc::channel();
        for i in 0..2 {
            let results = results.clone();
            jobs.send(Box::new(move || results.send(Box::new(i)).unwrap())).unwrap();
        }
        drop((jobs, results));
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(sum.iter().map(|i: Box<i32>| *i).sum::<i32>(), 1);
    });
    assert_eq!(counts, (24, 0));
}

#[test]
fn a_read_mostly_cache() {
    let counts = holds(|| {
        let cache: Arc<RwLock<HashMap<u32, Arc<String>, RandomState>>> =
            Arc::new(RwLock::new(HashMap::default()));
        let get = |cache: &RwLock<HashMap<u32, Arc<String>, RandomState>>, key: u32| {
            if let Some(value) = cache.read().unwrap().get(&key) {
                return Arc::clone(value);
            }
            let made = Arc::new(format!("value {key}"));
            Arc::clone(cache.write().unwrap().entry(key).or_insert(made))
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let cache = Arc::clone(&cache);
                thread::spawn(move || get(&cache, 1).len())
            })
            .collect();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 7));
        let cache = Arc::try_unwrap(cache).unwrap().into_inner().unwrap();
        assert_eq!(cache.len(), 1);
        assert_eq!(Arc::strong_count(&cache[&1]), 1);
    });
    assert_eq!(counts, (4, 0));
}

#[test]
fn a_weak_cache() {
    let counts = holds(|| {
        let cache: Arc<Mutex<Weak<String>>> = Arc::new(Mutex::new(Weak::new()));
        let get = |cache: &Mutex<Weak<String>>| {
            let mut cache = cache.lock().unwrap();
            cache.upgrade().unwrap_or_else(|| {
                let made = Arc::new(String::from("made"));
                *cache = Arc::downgrade(&made);
                made
            })
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let cache = Arc::clone(&cache);
                thread::spawn(move || assert_eq!(*get(&cache), "made"))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(cache.lock().unwrap().upgrade().is_none());
    });
    assert_eq!(counts, (6, 0));
}

#[derive(Debug)]
struct Node {
    value: Box<u32>,
    next: Option<Arc<Node>>,
    parent: Mutex<Weak<Node>>,
}

#[test]
fn nested_pointers_are_freed_by_whoever_is_last() {
    let counts = holds(|| {
        let leaf = Arc::new(Node { value: Box::new(1), next: None, parent: Mutex::new(Weak::new()) });
        let root = Arc::new(Node {
            value: Box::new(2),
            next: Some(Arc::clone(&leaf)),
            parent: Mutex::new(Weak::new()),
        });
        *leaf.parent.lock().unwrap() = Arc::downgrade(&root);
        let theirs = Arc::clone(&root);
        let one = thread::spawn(move || {
            assert_eq!(*theirs.value + *theirs.next.as_ref().unwrap().value, 3);
        });
        let two = thread::spawn(move || {
            let parent = leaf.parent.lock().unwrap().upgrade();
            parent.map_or(0, |parent| *parent.value)
        });
        drop(root);
        one.join().unwrap();
        let seen = two.join().unwrap();
        assert!(seen == 0 || seen == 2);
    });
    assert_eq!(counts, (20, 0));
}

#[test]
fn dropped_by_different_threads() {
    let counts = holds(|| {
        let shared = Arc::new(Mutex::new(vec![Box::new(1), Box::new(2)]));
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut list = shared.lock().unwrap();
                    list.push(Box::new(i));
                    if list.len() == 4 {
                        list.remove(0);
                    }
                })
            })
            .collect();
        drop(shared);
        drop(threads);
    });
    assert_eq!(counts, (6, 0));
}

#[test]
fn dropped_by_different_threads_with_the_pointer_of_std() {
    let counts = holds(|| {
        let shared = std::sync::Arc::new(Mutex::new(vec![Box::new(1), Box::new(2)]));
        let threads: Vec<_> = (0..2)
            .map(|i| {
                let shared = std::sync::Arc::clone(&shared);
                thread::spawn(move || {
                    shared.lock().unwrap().push(Box::new(i));
                })
            })
            .collect();
        drop(shared);
        drop(threads);
    });
    assert_eq!(counts, (2, 0));
}

struct Counted(std::sync::Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn messages_that_nobody_takes_are_dropped_once() {
    let counts = holds(|| {
        let drops = std::sync::Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpsc::channel();
        let theirs = std::sync::Arc::clone(&drops);
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                if sender.send(Counted(std::sync::Arc::clone(&theirs))).is_err() {
                    break;
                }
            }
        });
        drop(receiver.recv());
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
    assert_eq!(counts, (2, 0));
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static NAMES: RefCell<Vec<String>> = RefCell::new(Vec::new());
}

#[test]
fn counters_of_threads() {
    let counts = holds(|| {
        let total = AtomicUsize::new(0);
        thread::scope(|scope| {
            for i in 0..2 {
                let total = &total;
                scope.spawn(move || {
                    for _ in 0..=i {
                        COUNT.set(COUNT.get() + 1);
                        NAMES.with_borrow_mut(|names| names.push(format!("name {i}")));
                    }
                    total.fetch_add(COUNT.get() as usize, Ordering::Relaxed);
                    NAMES.with_borrow(|names| assert_eq!(names.len(), i + 1));
                });
            }
        });
        assert_eq!(total.into_inner(), 3);
        assert_eq!(COUNT.get(), 0);
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn scoped_threads_borrow_locals() {
    let counts = holds(|| {
        let mut list = vec![1, 2, 3, 4];
        let sum = Mutex::new(0);
        thread::scope(|scope| {
            for half in list.chunks_mut(2) {
                let sum = &sum;
                scope.spawn(move || {
                    half.iter_mut().for_each(|n| *n *= 2);
                    *sum.lock().unwrap() += half.iter().sum::<i32>();
                });
            }
        });
        assert_eq!(sum.into_inner().unwrap(), 20);
        assert_eq!(list, [2, 4, 6, 8]);
    });
    assert_eq!(counts, (2, 0));
}

static CONFIG: OnceLock<String> = OnceLock::new();
#[expect(clippy::vec_box, reason = "blocks of memory are the point")]
static TABLE: LazyLock<Mutex<Vec<Box<u32>>>> = LazyLock::new(|| Mutex::new(vec![Box::new(1)]));
static START: Once = Once::new();
static REGISTRY: RwLock<Vec<String>> = RwLock::new(Vec::new());
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn statics_are_made_by_whoever_comes_first() {
    let counts = holds(|| {
        let threads: Vec<_> = (0..2)
            .map(|i| {
                thread::spawn(move || {
                    START.call_once(|| LOG.lock().unwrap().push(String::from("start")));
                    TABLE.lock().unwrap().push(Box::new(i));
                    REGISTRY.write().unwrap().push(format!("thread {i}"));
                    CONFIG.get_or_init(|| format!("by {i}")).len()
                })
            })
            .collect();
        assert!(REGISTRY.read().unwrap().len() <= 2);
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 4));
        assert_eq!(TABLE.lock().unwrap().len(), 3);
        assert_eq!(LOG.lock().unwrap().len(), 1);
        assert_eq!(REGISTRY.read().unwrap().len(), 2);
    });
    assert_eq!(counts, (96, 0));
}

#[test]
fn a_barrier_is_used_for_several_rounds() {
    let counts = holds(|| {
        let barrier = Arc::new(Barrier::new(2));
        let cells: Arc<[AtomicUsize; 2]> = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let work = |me: usize, barrier: &Barrier, cells: &[AtomicUsize; 2]| {
            let mut leader = 0;
            for round in 1..=3 {
                cells[me].store(round, Ordering::Relaxed);
                leader += usize::from(barrier.wait().is_leader());
                assert_eq!(cells[1 - me].load(Ordering::Relaxed), round);
                leader += usize::from(barrier.wait().is_leader());
            }
            leader
        };
        let (b, c) = (Arc::clone(&barrier), Arc::clone(&cells));
        let other = thread::spawn(move || work(1, &b, &c));
        let mine = work(0, &barrier, &cells);
        assert_eq!(mine + other.join().unwrap(), 6);
    });
    assert_eq!(counts, (64, 0));
}

#[test]
fn a_bounded_queue_with_two_conditions() {
    let counts = holds(|| {
        let queue = Arc::new((Mutex::new(VecDeque::new()), Condvar::new(), Condvar::new()));
        let theirs = Arc::clone(&queue);
        let producer = thread::spawn(move || {
            for i in 0..2 {
                let mut list = theirs.1.wait_while(theirs.0.lock().unwrap(), |list| list.len() == 1).unwrap();
                list.push_back(Box::new(i));
                drop(list);
                theirs.2.notify_one();
            }
        });
        let mut sum = 0;
        for _ in 0..2 {
            let mut list = queue
                .2
                .wait_while(queue.0.lock().unwrap(), |list: &mut VecDeque<_>| list.is_empty())
                .unwrap();
            sum += *list.pop_front().unwrap();
            drop(list);
            queue.1.notify_one();
        }
        producer.join().unwrap();
        assert_eq!(sum, 1);
    });
    assert_eq!(counts, (10, 0));
}

#[test]
fn loops_of_timed_waits_wait() {
    let counts = holds(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let mut ready = pair.0.lock().unwrap();
        while !*ready {
            ready = pair.1.wait_timeout(ready, Duration::from_millis(1)).unwrap().0;
        }
        drop(ready);
        thread.join().unwrap();
    });
    assert_eq!(counts, (5, 1));
}

#[test]
fn loops_of_timed_receives_wait() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(Box::new(1)).unwrap());
        let message = loop {
            match receiver.recv_timeout(Duration::from_millis(1)) {
                Ok(message) => break message,
                Err(mpsc::RecvTimeoutError::Timeout) => continue,
                Err(mpsc::RecvTimeoutError::Disconnected) => panic!("nothing came"),
            }
        };
        assert_eq!(*message, 1);
        thread.join().unwrap();
    });
    // Four, and one more for each of the first rounds that finds something else on the stack than the next.
    assert!(matches!(counts, (4..=6, 1)), "{counts:?}");
}

#[test]
fn loops_of_timed_parking_wait() {
    let counts = holds(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !theirs.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_millis(1));
            }
        });
        stop.store(true, Ordering::Release);
        thread.thread().unpark();
        thread.join().unwrap();
    });
    assert_eq!(counts, (2, 1));
}

#[test]
fn a_loop_of_tries_waits() {
    let counts = holds(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        let message = loop {
            match receiver.try_recv() {
                Ok(message) => break message,
                Err(mpsc::TryRecvError::Empty) => thread::yield_now(),
                Err(mpsc::TryRecvError::Disconnected) => panic!("nothing came"),
            }
        };
        assert_eq!(message, 1);
        thread.join().unwrap();
    });
    assert!(counts.0 > 1);
}

#[test]
fn a_loop_of_try_reads_waits() {
    let counts = holds(|| {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || *theirs.write().unwrap() = 1);
        let seen = loop {
            if let Ok(value) = lock.try_read() {
                break *value;
            }
            thread::yield_now();
        };
        assert!(seen < 2);
        thread.join().unwrap();
    });
    assert!(counts.0 > 1);
}

#[test]
fn a_loop_of_try_writes_waits() {
    let counts = holds(|| {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || *theirs.read().unwrap());
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || *theirs.read().unwrap());
        loop {
            if let Ok(mut value) = lock.try_write() {
                *value = 1;
                break;
            }
            thread::yield_now();
        }
        assert!(thread.join().unwrap() + other.join().unwrap() < 3);
    });
    assert!(counts.0 > 1);
}

#[test]
fn a_loop_of_try_writes_that_nobody_lets_in_is_a_livelock() {
    let finding = violated(|| {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || while theirs.try_write().is_err() {});
        let guard = lock.read().unwrap();
        thread.join().unwrap();
        drop(guard);
    });
    assert_eq!(finding.title, "livelock");
}

#[test]
fn a_loop_of_timed_waits_that_nobody_ends_is_a_livelock() {
    let finding = violated(|| {
        let pair = (Mutex::new(false), Condvar::new());
        let mut ready = pair.0.lock().unwrap();
        while !*ready {
            ready = pair.1.wait_timeout(ready, Duration::from_millis(1)).unwrap().0;
        }
    });
    assert_eq!(finding.title, "livelock");
}

#[test]
fn a_loop_with_a_deadline_ends() {
    let counts = holds(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let start = unpick::time::Instant::now();
        let mut ready = pair.0.lock().unwrap();
        while !*ready && start.elapsed() < Duration::from_millis(3) {
            ready = pair.1.wait_timeout(ready, Duration::from_millis(1)).unwrap().0;
        }
        drop(ready);
        thread.join().unwrap();
    });
    assert_eq!(counts, (8, 0));
}

/// Workers that look for work now and then, until they are told to stop.
#[test]
fn workers_with_timed_waits_and_a_shutdown() {
    let counts = holds(|| {
        let shared = Arc::new((Mutex::new((Vec::<Box<i32>>::new(), false)), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let worker = thread::spawn(move || {
            let mut sum = 0;
            let mut state = theirs.0.lock().unwrap();
            loop {
                while let Some(job) = state.0.pop() {
                    sum += *job;
                }
                if state.1 {
                    return sum;
                }
                state = theirs.1.wait_timeout(state, Duration::from_millis(10)).unwrap().0;
            }
        });
        shared.0.lock().unwrap().0.push(Box::new(1));
        shared.1.notify_one();
        shared.0.lock().unwrap().1 = true;
        shared.1.notify_one();
        assert_eq!(worker.join().unwrap(), 1);
    });
    assert!(counts.0 > 1);
}

struct Unlocked(Mutex<bool>, Condvar, UnsafeCell<u32>);
unsafe impl Sync for Unlocked {}

#[test]
fn notifying_orders_nothing_by_itself() {
    let finding = violated(|| {
        let shared = Arc::new(Unlocked(Mutex::new(false), Condvar::new(), UnsafeCell::new(0)));
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let mut waits = theirs.0.lock().unwrap();
            *waits = true;
            drop(theirs.1.wait(waits).unwrap());
            theirs.2.with(|value| unsafe { *value })
        });
        unpick::assume(*shared.0.lock().unwrap());
        shared.2.with_mut(|value| unsafe { *value = 1 });
        shared.1.notify_all();
        drop(thread);
    });
    assert_eq!(finding.title, "data race");
}

#[test]
fn anybody_may_ask_whether_a_lock_is_poisoned() {
    let counts = holds(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("while it is held");
        });
        let flag = AtomicUsize::new(0);
        if lock.is_poisoned() {
            flag.store(1, Ordering::Relaxed);
            lock.clear_poison();
        }
        let result = thread.join();
        assert!(result.is_err());
        assert!(flag.load(Ordering::Relaxed) < 2);
    });
    assert_eq!(counts, (2, 0));
}

#[test]
fn a_watcher_is_told_by_spurious_wake_ups_too() {
    let verdict = unpick::Check::new().spurious_wakeups(true).run(|| {
        let pool = Pool::new(1);
        let done = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&done);
        pool.run(move || {
            theirs.fetch_add(1, Ordering::Relaxed);
        });
        pool.close(true);
        assert_eq!(done.load(Ordering::Relaxed), 1);
    });
    let verdict = verdict.unwrap();
    crate::support::counts(&verdict);
}
