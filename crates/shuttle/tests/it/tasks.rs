//! Tasks, and the semaphore.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use unpick_shuttle as shuttle;

use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness, TryAcquireError};
use shuttle::future::{JoinError, block_on, spawn, yield_now};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::{current, thread};

use crate::checks::failure;

#[test]
fn tasks_give_results_or_are_cancelled() {
    shuttle::check_dfs(
        || {
            let task = spawn(async {
                yield_now().await;
                7
            });
            assert_eq!(block_on(task).unwrap(), 7);
        },
        None,
    );
    shuttle::check_random(
        || {
            let task = spawn(std::future::pending::<()>());
            task.abort();
            assert!(matches!(block_on(task), Err(JoinError::Cancelled)));
        },
        100,
    );
}

#[test]
fn a_task_whose_handle_is_dropped_need_not_end() {
    shuttle::check_random(|| drop(spawn(std::future::pending::<()>())), 20);
    let message = failure(|| {
        shuttle::check_random(|| block_on(spawn(std::future::pending::<()>())).unwrap(), 20);
    });
    assert!(message.starts_with("deadlock!"), "{message}");
}

#[test]
fn a_panic_in_a_task_fails_the_test() {
    let message = failure(|| shuttle::check_random(|| drop(block_on(spawn(async { panic!("oops") }))), 10));
    assert!(message.contains("oops"), "{message}");
}

#[test]
fn tasks_have_ids_and_labels() {
    shuttle::check_random(
        || {
            current::set_label_for_task(current::me(), 3u8);
            let task = spawn(async { (current::me(), current::get_label_for_task::<u8>(current::me())) });
            let (id, label) = block_on(task).unwrap();
            assert_eq!((usize::from(id), label), (1, Some(3)));
        },
        10,
    );
}

fn excludes(fairness: Fairness) -> impl Fn() + Send + Sync + 'static {
    move || {
        let semaphore = Arc::new(BatchSemaphore::new(2, fairness));
        let inside = Arc::new(AtomicUsize::new(0));
        let tasks = [1, 2].map(|wanted| {
            let (semaphore, inside) = (Arc::clone(&semaphore), Arc::clone(&inside));
            spawn(async move {
                semaphore.acquire(wanted).await.unwrap();
                let before = inside.fetch_add(wanted, SeqCst);
                assert!(before + wanted <= 2, "too many permits were given");
                inside.fetch_sub(wanted, SeqCst);
                semaphore.release(wanted);
            })
        });
        semaphore.acquire_blocking(2).unwrap();
        assert_eq!(inside.load(SeqCst), 0);
        semaphore.release(2);
        for task in tasks {
            block_on(task).unwrap();
        }
        assert_eq!(semaphore.available_permits(), 2);
    }
}

#[test]
fn a_semaphore_gives_no_more_than_it_has() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        shuttle::check_random(excludes(fairness), 2000);
        shuttle::check_pct(excludes(fairness), 500, 3);
    }
}

#[test]
fn a_fair_semaphore_is_first_come_first_served() {
    shuttle::check_dfs(
        || {
            let semaphore = Arc::new(BatchSemaphore::new(1, Fairness::StrictlyFair));
            let mut large = Box::pin(semaphore.acquire(2));
            block_on(poll_fn(|context| {
                assert!(large.as_mut().poll(context).is_pending());
                Poll::Ready(())
            }));
            assert_eq!(semaphore.try_acquire(1), Err(TryAcquireError::NoPermits));
            semaphore.release(1);
            block_on(large).unwrap();
            assert_eq!(semaphore.available_permits(), 0);
            // A request that is given up holds up nobody.
            let mut given_up = Box::pin(semaphore.acquire(3));
            block_on(poll_fn(|context| {
                assert!(given_up.as_mut().poll(context).is_pending());
                Poll::Ready(())
            }));
            semaphore.release(1);
            assert!(semaphore.try_acquire(1).is_err());
            drop(given_up);
            semaphore.try_acquire(1).unwrap();
        },
        None,
    );
}

#[test]
fn closing_ends_requests() {
    shuttle::check_dfs(
        || {
            let semaphore = Arc::new(BatchSemaphore::new(0, Fairness::StrictlyFair));
            let theirs = Arc::clone(&semaphore);
            let waiter = thread::spawn(move || theirs.acquire_blocking(1).is_err());
            semaphore.close();
            assert!(waiter.join().unwrap());
            assert_eq!(semaphore.try_acquire(0), Err(TryAcquireError::Closed));
            assert!(semaphore.is_closed());
        },
        None,
    );
}

#[test]
fn an_upgrade_overtakes_those_who_wait() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        shuttle::check_random(
            move || {
                let semaphore = Arc::new(BatchSemaphore::new(3, fairness));
                let value = Arc::new(Mutex::new(0));
                semaphore.try_acquire(2).unwrap();
                let (theirs, changed) = (Arc::clone(&semaphore), Arc::clone(&value));
                let writer = thread::spawn(move || {
                    theirs.acquire_blocking(3).unwrap();
                    *changed.lock().unwrap() += 1;
                    theirs.release(3);
                });
                block_on(semaphore.upgrade(2, 3)).unwrap();
                assert_eq!(*value.lock().unwrap(), 0, "nobody comes in between");
                semaphore.release(3);
                writer.join().unwrap();
            },
            500,
        );
    }
}

/// What a task does whose handle was dropped is over when the rest is.
#[test]
fn an_endless_task_ends_with_the_test() {
    shuttle::check_random(
        || {
            let number = Arc::new(AtomicUsize::new(0));
            let theirs = Arc::clone(&number);
            drop(spawn(async move {
                loop {
                    theirs.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            }));
            number.load(SeqCst);
        },
        50,
    );
}

#[test]
fn permits_do_not_go_to_tasks_that_have_ended() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        let test = move || {
            let semaphore: &'static BatchSemaphore = Box::leak(Box::new(BatchSemaphore::new(0, fairness)));
            block_on(async {
                // The request outlives the task that has made it.
                let request = spawn(async {
                    let mut request = Box::pin(semaphore.acquire(1));
                    assert!(
                        poll_fn(|context| Poll::Ready(request.as_mut().poll(context).is_pending())).await
                    );
                    Some(request)
                });
                let request = request.await.unwrap().unwrap();
                semaphore.release(1);
                assert_eq!(semaphore.available_permits(), 1);
                request.await.unwrap();
                assert_eq!(semaphore.available_permits(), 0);
            });
        };
        shuttle::check_dfs(test, None);
    }
}

#[test]
fn a_task_stays_ended_when_its_handle_is_dropped() {
    shuttle::check_random(
        || {
            let task = spawn(async { String::from("a result that is dropped") });
            let watch = task.abort_handle();
            while !watch.is_finished() {
                thread::yield_now();
            }
            drop(task);
            assert!(watch.is_finished());
        },
        50,
    );
}

#[test]
fn steps_are_counted_as_shuttle_does() {
    shuttle::check_dfs(
        || {
            let lock = Mutex::new(());
            assert_eq!(current::context_switches(), 1, "the start of the test");
            let guard = lock.lock().unwrap();
            assert_eq!(current::context_switches(), 2);
            drop(guard);
            assert_eq!(current::context_switches(), 3);
            assert_eq!(current::clock().len(), 1);
            let other =
                thread::spawn(|| assert_eq!(current::clock()[..].len(), 1, "it has done nothing yet"));
            other.join().unwrap();
        },
        None,
    );
}

/// What threads share may not be of this crate: then a failure is told in the order in which it was found, and its
/// schedule has that order.
#[test]
fn a_failure_that_only_the_order_of_steps_shows_is_told_and_replayed() {
    fn test() {
        let seen = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let theirs = std::sync::Arc::clone(&seen);
        let other = spawn(async move {
            theirs.store(1, std::sync::atomic::Ordering::SeqCst);
            shuttle::future::yield_now().await;
            theirs.store(2, std::sync::atomic::Ordering::SeqCst);
        });
        block_on(async move {
            shuttle::future::yield_now().await;
            assert_ne!(seen.load(std::sync::atomic::Ordering::SeqCst), 1, "seen in the middle");
            other.await.unwrap();
        });
    }
    let failing = |test: &dyn Fn()| {
        let failed =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).expect_err("the test fails");
        *failed.downcast::<String>().expect("the report is text")
    };
    for check in [shuttle::check_random, shuttle::check_urw, |test, _| shuttle::check_pct(test, 1000, 3)] {
        let message = failing(&|| check(test, 1000));
        assert!(message.contains("seen in the middle"), "{message}");
        let token = message.split('"').nth(1).expect("the schedule is between quotes");
        let again = failing(&|| shuttle::replay(test, token));
        assert!(again.contains("seen in the middle"), "{again}");
    }
}
