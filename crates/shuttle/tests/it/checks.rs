//! The functions that run tests: what fails, what passes, and how it is told.

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex as OutsideMutex};

use unpick_shuttle as shuttle;

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Condvar, Mutex, mpsc};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner, thread};

/// What a test that must fail says.
pub(crate) fn failure(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("the test must fail");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string()))
        .unwrap()
}

fn lost_update() {
    let number = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&number);
    let other = thread::spawn(move || theirs.store(theirs.load(Ordering::SeqCst) + 1, Ordering::SeqCst));
    number.store(number.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    other.join().unwrap();
    assert_eq!(number.load(Ordering::SeqCst), 2, "an update was lost");
}

/// Looks at a flag until it is set after some steps, five times at most. The count is on the heap, at another address each
/// time that the loop is looked at: whoever leaves in the middle gives nothing back.
fn is_set_soon(steps: usize) -> bool {
    let (flag, tried) = (Arc::new(AtomicUsize::new(0)), Box::new(Cell::new(0)));
    let theirs = Arc::clone(&flag);
    thread::spawn(move || {
        (0..steps).for_each(|_| thread::yield_now());
        theirs.store(1, Ordering::SeqCst);
    });
    while flag.load(Ordering::SeqCst) == 0 {
        tried.set(tried.get() + 1);
        if tried.get() == 5 {
            return false;
        }
        thread::yield_now();
    }
    true
}

#[test]
fn a_loop_that_counts_on_the_heap_gives_up() {
    let seen = Arc::new(OutsideMutex::new(HashSet::new()));
    let theirs = Arc::clone(&seen);
    shuttle::check_dfs(
        move || {
            let set = is_set_soon(0);
            theirs.lock().unwrap().insert(set);
        },
        None,
    );
    assert_eq!(*seen.lock().unwrap(), HashSet::from([false, true]));
}

#[test]
fn a_failure_after_such_a_loop_is_told() {
    for seed in 0..20 {
        let told = failure(|| {
            let test = || panic!("{}", if is_set_soon(5) { "set in the end" } else { "given up" });
            shuttle::check_random_with_seed(test, seed, 1);
        });
        assert!(told.contains("set in the end") || told.contains("given up"), "{told}");
    }
}

#[test]
fn every_way_to_check_finds_a_lost_update() {
    let checks: [(&str, fn()); 6] = [
        ("random", || shuttle::check_random(lost_update, 1000)),
        ("seed", || shuttle::check_random_with_seed(lost_update, 7, 1000)),
        ("pct", || shuttle::check_pct(lost_update, 1000, 3)),
        ("urw", || shuttle::check_urw(lost_update, 1000)),
        ("dfs", || shuttle::check_dfs(lost_update, None)),
        ("twice", || shuttle::check_uncontrolled_nondeterminism(lost_update, 1000)),
    ];
    for (name, check) in checks {
        let message = failure(check);
        assert!(message.contains("an update was lost"), "{name}: {message}");
    }
}

/// The schedule in a message.
fn schedule(message: &str) -> String {
    let (_, rest) = message.split_once("failing schedule:\n\"\n").expect("the message has a schedule");
    rest.split_once("\n\"").unwrap().0.to_string()
}

#[test]
fn a_schedule_brings_the_failure_back() {
    let message = failure(|| shuttle::check_random_with_seed(lost_update, 1, 1000));
    let token = schedule(&message);
    let again = failure(|| shuttle::replay(lost_update, &token));
    assert!(again.contains("an update was lost") && schedule(&again) == token, "{again}");
    // A mended test passes, as with Shuttle.
    shuttle::replay(lost_update_mended, &token_of_mended());
}

fn lost_update_mended() {
    let number = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&number);
    let other = thread::spawn(move || theirs.fetch_add(1, Ordering::SeqCst));
    number.fetch_add(1, Ordering::SeqCst);
    other.join().unwrap();
    if BROKEN.load(std::sync::atomic::Ordering::Relaxed) {
        panic!("broken");
    }
}

static BROKEN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);

/// A schedule of the same program that failed when it was found.
fn token_of_mended() -> String {
    let message = failure(|| shuttle::check_random_with_seed(lost_update_mended, 1, 10));
    BROKEN.store(false, std::sync::atomic::Ordering::Relaxed);
    schedule(&message)
}

#[test]
fn schedules_go_to_files() {
    let folder = std::env::temp_dir().join(format!("unpick-shuttle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(folder.clone()));
    let message = failure(|| {
        Runner::new(RandomScheduler::new_from_seed(1, 1000), config).run(lost_update);
    });
    let (_, rest) = message.split_once("persisted to file: ").unwrap();
    let path = rest.lines().next().unwrap();
    let again = failure(|| shuttle::replay_from_file(lost_update, path));
    assert!(again.contains("an update was lost"), "{again}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn schedules_of_shuttle_are_refused_with_a_reason() {
    let message = failure(|| shuttle::replay(lost_update, "91021000904092940400"));
    assert!(message.contains("Shuttle has written"), "{message}");
    let message = failure(|| shuttle::replay(lost_update, "nonsense"));
    assert!(message.contains("could not check"), "{message}");
}

#[test]
fn a_panic_fails_the_test_whoever_joins() {
    let message = failure(|| shuttle::check_random(|| drop(thread::spawn(|| panic!("oops")).join()), 10));
    assert!(message.contains("oops"), "{message}");
    let message = failure(|| {
        shuttle::check_random(
            || {
                thread::scope(|scope| {
                    let _ = scope.spawn(|| panic!("in a scope")).join();
                });
            },
            10,
        );
    });
    assert!(message.contains("in a scope"), "{message}");
}

#[test]
fn a_deadlock_fails_the_test() {
    let message = failure(|| {
        shuttle::check_random(
            || {
                let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
                let theirs = Arc::clone(&locks);
                thread::spawn(move || {
                    let _a = theirs.0.lock().unwrap();
                    let _b = theirs.1.lock().unwrap();
                });
                let _b = locks.1.lock().unwrap();
                let _a = locks.0.lock().unwrap();
            },
            1000,
        );
    });
    assert!(message.starts_with("deadlock!"), "{message}");
}

/// Time-outs never fire, as with Shuttle.
#[test]
fn waits_with_a_limit_do_not_give_up() {
    let message = failure(|| {
        shuttle::check_random(
            || {
                let (_sender, receiver) = mpsc::channel::<u8>();
                let _ = receiver.recv_timeout(std::time::Duration::from_secs(1));
            },
            10,
        );
    });
    assert!(message.starts_with("deadlock!"), "{message}");
    shuttle::check_dfs(
        || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let theirs = Arc::clone(&pair);
            thread::spawn(move || {
                *theirs.0.lock().unwrap() = true;
                theirs.1.notify_one();
            });
            let mut ready = pair.0.lock().unwrap();
            while !*ready {
                let result;
                (ready, result) = pair.1.wait_timeout(ready, std::time::Duration::from_secs(1)).unwrap();
                assert!(!result.timed_out());
            }
        },
        None,
    );
}

/// What a test collects may be made inside, since memory is that of the system.
#[test]
fn tests_may_collect_over_many_executions() {
    let seen = Arc::new(OutsideMutex::new(HashSet::new()));
    let theirs = Arc::clone(&seen);
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let runs = Arc::clone(&count);
    let executions = Runner::new(RandomScheduler::new_from_seed(3, 200), Config::new()).run(move || {
        runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let number = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (1..4)
            .map(|n| {
                let number = Arc::clone(&number);
                thread::spawn(move || number.store(n, Ordering::SeqCst))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        theirs.lock().unwrap().insert(vec![number.load(Ordering::SeqCst)]);
    });
    assert_eq!(executions, 200);
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 200);
    assert_eq!(seen.lock().unwrap().len(), 3);
}

/// The store buffer, whose weak outcome is not sequentially consistent.
fn store_buffer() {
    let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let theirs = Arc::clone(&flags);
    let other = thread::spawn(move || {
        theirs[0].store(1, Ordering::Relaxed);
        theirs[1].load(Ordering::Relaxed)
    });
    flags[1].store(1, Ordering::Relaxed);
    let ours = flags[0].load(Ordering::Relaxed);
    assert!(ours + other.join().unwrap() > 0, "both missed the other's store");
}

#[test]
fn memory_is_sequentially_consistent_unless_asked() {
    shuttle::check_dfs(store_buffer, None);
    shuttle::check_random(store_buffer, 1000);
    let mut config = Config::new();
    config.weak_memory = true;
    let message = failure(|| {
        Runner::new(RandomScheduler::new_from_seed(1, 1000), config.clone()).run(store_buffer);
    });
    assert!(message.contains("both missed"), "{message}");
    let message = failure(|| {
        Runner::new(DfsScheduler::new(None, false), config).run(store_buffer);
    });
    assert!(message.contains("both missed"), "{message}");
}

#[test]
fn long_executions_fail_or_are_cut() {
    let long = || {
        let number = AtomicUsize::new(0);
        (0..100).for_each(|n| number.store(n, Ordering::SeqCst));
    };
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(50);
    let message = failure(|| {
        Runner::new(RandomScheduler::new(10), config.clone()).run(long);
    });
    assert!(message.contains("exceeded max_steps bound 50"), "{message}");
    config.max_steps = MaxSteps::ContinueAfter(50);
    assert_eq!(Runner::new(RandomScheduler::new(10), config.clone()).run(long), 10);
    config.max_steps = MaxSteps::FailAfter(60);
    Runner::new(RandomScheduler::new(10), config).run(move || {
        let number = AtomicUsize::new(0);
        (0..50).for_each(|n| number.store(n, Ordering::SeqCst));
        shuttle::current::reset_step_count();
        (0..50).for_each(|n| number.store(n, Ordering::SeqCst));
    });
}

#[test]
fn random_numbers_are_replayed() {
    let unlucky = || assert_ne!(thread_rng().gen_range(0..20u32), 13, "unlucky");
    let message = failure(|| shuttle::check_random_with_seed(unlucky, 5, 1000));
    assert!(message.contains("unlucky"), "{message}");
    let token = schedule(&message);
    assert!(failure(|| shuttle::replay(unlucky, &token)).contains("unlucky"));
    let message = failure(|| shuttle::check_dfs(|| assert_ne!(thread_rng().r#gen::<u64>(), 1), None));
    assert!(message.contains("allow_random_data"), "{message}");
    Runner::new(DfsScheduler::new(None, true), Config::new())
        .run(|| assert_ne!(thread_rng().r#gen::<u64>(), 1));
}

shuttle::lazy_static! {
    /// A value that each execution makes.
    static ref MADE: AtomicUsize = AtomicUsize::new(1);
    pub(crate) static ref WORDS: Vec<&'static str> = vec!["a", "b"];
}

shuttle::thread_local! {
    static OWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[test]
fn statics_and_thread_locals_are_those_of_the_execution() {
    shuttle::check_random(
        || {
            assert_eq!(MADE.fetch_add(1, Ordering::SeqCst), 1);
            assert_eq!(WORDS.len(), 2);
            OWN.with(|own| own.set(5));
            thread::spawn(|| OWN.with(|own| assert_eq!(own.get(), 0))).join().unwrap();
        },
        20,
    );
}

/// Others may get ahead of a thread before it does anything that unpick sees.
#[test]
fn threads_start_in_any_order() {
    let seen = Arc::new(OutsideMutex::new(HashSet::new()));
    let orders = Arc::clone(&seen);
    shuttle::check_random(
        move || {
            let order = Arc::new(OutsideMutex::new(Vec::new()));
            let threads = [1, 2, 3].map(|number| {
                let order = Arc::clone(&order);
                thread::spawn(move || order.lock().unwrap().push(number))
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            orders.lock().unwrap().insert(order.lock().unwrap().clone());
        },
        500,
    );
    assert_eq!(seen.lock().unwrap().len(), 6);
}

/// Statics of one test have nothing to do with those of another that runs at the same time.
#[test]
fn statics_of_tests_at_the_same_time_are_apart() {
    let tests = [0; 4].map(|_| {
        std::thread::spawn(|| {
            shuttle::check_random(
                || {
                    let threads = [0; 2].map(|_| thread::spawn(|| MADE.fetch_add(1, Ordering::SeqCst)));
                    let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
                    assert_eq!(sum, 3);
                },
                200,
            );
        })
    });
    tests.into_iter().for_each(|test| test.join().unwrap());
}

/// Waits in a loop for threads that count.
fn waits_in_a_loop(wait: fn()) -> impl Fn() + Send + Sync + 'static {
    move || {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let count = Arc::clone(&count);
            thread::spawn(move || count.fetch_add(1, Ordering::SeqCst));
        }
        while count.load(Ordering::SeqCst) < 3 {
            wait();
        }
    }
}

#[test]
fn loops_that_wait_come_to_their_end() {
    for wait in [thread::yield_now as fn(), || (), shuttle::hint::spin_loop] {
        shuttle::check_random(waits_in_a_loop(wait), 100);
        shuttle::check_urw(waits_in_a_loop(wait), 100);
        shuttle::check_dfs(waits_in_a_loop(wait), None);
        for depth in [1, 2, 3] {
            shuttle::check_pct(waits_in_a_loop(wait), 100, depth);
        }
    }
}

#[test]
fn a_low_limit_on_steps_ends_loops_that_wait() {
    for wait in [thread::yield_now as fn(), || ()] {
        for steps in [5, 20, 50] {
            let mut config = Config::new();
            config.max_steps = MaxSteps::FailAfter(steps);
            let scheduler = shuttle::scheduler::PctScheduler::new_from_seed(1, 1, 100);
            let ended = catch_unwind(AssertUnwindSafe(|| {
                Runner::new(scheduler, config).run(waits_in_a_loop(wait));
            }));
            let message =
                ended.err().map(|payload| payload.downcast_ref::<String>().cloned().unwrap_or_default());
            assert!(message.is_none_or(|message| message.contains("exceeded max_steps bound")));
        }
    }
}

#[test]
fn every_order_of_steps_is_run_if_that_is_wanted() {
    // Two threads that take two steps each, and share what is not of Shuttle.
    let orders = |every_order| {
        let seen = Arc::new(OutsideMutex::new(HashSet::new()));
        let mut config = Config::new();
        config.every_order = every_order;
        let theirs = Arc::clone(&seen);
        Runner::new(DfsScheduler::new(None, false), config).run(move || {
            let order = Arc::new(OutsideMutex::new(Vec::new()));
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let order = Arc::clone(&order);
                    thread::spawn(move || {
                        for _ in 0..2 {
                            thread::yield_now();
                            order.lock().unwrap().push(number);
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            theirs.lock().unwrap().insert(order.lock().unwrap().clone());
        });
        seen.lock().unwrap().len()
    };
    // Four choose two.
    assert_eq!(orders(true), 6);
    assert_eq!(orders(false), 1);
}

#[test]
fn a_lock_that_its_owner_takes_again_is_told() {
    let message = failure(|| {
        shuttle::check_random(
            || {
                let lock = Mutex::new(1);
                let first = lock.lock().unwrap();
                drop(lock.lock());
                drop(first);
            },
            10,
        );
    });
    assert!(message.starts_with("deadlock! a thread tried to acquire a Mutex it already holds"), "{message}");
}

#[test]
fn a_loop_that_yields_lets_others_go_first_under_pct() {
    let spinning = |wait: fn()| {
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(60);
        Runner::new(PctScheduler::new(1, 100), config).run(move || {
            // Of `std`, so that the loop is not recognised as one that waits.
            let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            for _ in 0..3 {
                let count = Arc::clone(&count);
                thread::spawn(move || count.fetch_add(1, Ordering::SeqCst));
            }
            while count.load(Ordering::SeqCst) < 3 {
                wait();
            }
        });
    };
    spinning(thread::yield_now);
    let message = failure(|| spinning(|| thread::sleep(std::time::Duration::ZERO)));
    assert!(message.contains("exceeded max_steps bound"), "{message}");
}

/// A random number is no point to switch at, so it may be asked for under a lock that unpick does not see.
#[test]
fn random_numbers_may_be_drawn_under_a_lock_of_std() {
    fn test() {
        let lock = std::sync::Arc::new(std::sync::Mutex::new(0u32));
        let draw = |lock: &std::sync::Mutex<u32>| {
            let mut number = lock.lock().unwrap();
            *number += shuttle::rand::thread_rng().gen_range(1..3u32);
        };
        let theirs = std::sync::Arc::clone(&lock);
        let other = thread::spawn(move || draw(&theirs));
        draw(&lock);
        other.join().unwrap();
        assert!((2..5).contains(&*lock.lock().unwrap()));
    }
    shuttle::check_random(test, 100);
    shuttle::check_pct(test, 100, 3);
    shuttle::check_urw(test, 100);
    shuttle::check_uncontrolled_nondeterminism(test, 100);
    let mut config = Config::new();
    config.every_order = true;
    Runner::new(DfsScheduler::new(None, true), config).run(test);
}
