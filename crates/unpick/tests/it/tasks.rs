//! Tasks: futures that run as threads, how they are woken, and how they end.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use unpick::future::{AtomicWaker, block_on, spawn, spawn_local, yield_now};
use unpick::sync::Mutex;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::{Check, Detached};

use crate::support::*;

/// Something that happens once.
#[derive(Default)]
struct Event {
    happened: AtomicBool,
    waker: AtomicWaker,
}

impl Event {
    fn happen(&self) {
        self.happened.store(true, Release);
        self.waker.wake();
    }

    /// Registers, then looks.
    fn wait(&self) -> impl Future<Output = ()> + '_ {
        poll_fn(|context| {
            self.waker.register(context.waker());
            if self.happened.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    /// Looks, then registers.
    fn wait_badly(&self) -> impl Future<Output = ()> + '_ {
        poll_fn(|context| {
            if self.happened.load(Acquire) {
                return Poll::Ready(());
            }
            self.waker.register(context.waker()); // the last thing before it is pending
            Poll::Pending
        })
    }
}

fn waits_for_an_event(badly: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let event = Arc::new(Event::default());
        let theirs = event.clone();
        let waiter = spawn(async move {
            if badly {
                theirs.wait_badly().await;
            } else {
                theirs.wait().await;
            }
        });
        let other = spawn(async move { event.happen() });
        block_on(async {
            waiter.await.unwrap();
            other.await.unwrap();
        });
    }
}

#[test]
fn a_lost_wake_up_is_found_and_the_mended_twin_holds() {
    let finding = violated(waits_for_an_event(true));
    assert_eq!(finding.title, "deadlock");
    let told = finding.message.join("\n");
    assert!(told.contains("T1 waits") && told.contains("nobody is left to wake it"), "{told}");
    // The line of the last call in the poll that lost the wake-up.
    let line =
        include_str!("tasks.rs").lines().position(|line| line.contains("the last thing before")).unwrap();
    assert!(
        told.contains(&format!("the task was last polled at crates/unpick/tests/it/tasks.rs:{}", line + 1)),
        "{told}"
    );
    let (executions, _) = holds(waits_for_an_event(false));
    assert!(executions > 2, "{executions}");
}

#[test]
fn a_lost_wake_up_is_found_by_sampling_too() {
    for strategy in ["random", "pct:3", "urw"] {
        let check = Check::new().model("sc").strategy(strategy).max_executions(2000);
        let verdict = check.run(waits_for_an_event(true)).unwrap();
        assert_eq!(verdict.violation().map(|finding| &*finding.title), Some("deadlock"), "{strategy}");
        assert!(check.run(waits_for_an_event(false)).unwrap().violation().is_none());
    }
}

#[test]
fn a_waker_that_is_forgotten_is_a_deadlock_that_names_the_await() {
    let finding = violated(|| {
        let forgetful = spawn(poll_fn(|_| Poll::<()>::Pending));
        let waits = async {
            forgetful.await.unwrap(); // here main waits
        };
        block_on(waits);
    });
    assert_eq!(finding.title, "deadlock");
    let told = finding.message.join("\n");
    assert!(told.contains("when the task was last polled it did nothing"), "{told}");
    let line = include_str!("tasks.rs").lines().position(|line| line.contains("here main waits")).unwrap();
    let place = format!("the future was last polled at crates/unpick/tests/it/tasks.rs:{}", line + 1);
    assert!(told.contains(&place), "{told}");
}

#[test]
fn results_come_through_handles() {
    let (executions, blocked) = holds(|| {
        let task = spawn(async { Box::new(7) });
        assert_eq!(*block_on(task).unwrap(), 7);
    });
    // The handle is polled before the task ends, or after.
    assert_eq!((executions, blocked), (2, 0));
}

#[test]
fn a_result_that_nobody_wants_is_dropped_once() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let (seen, _) = outcomes_in(&Check::new(), || {
        let drops = Arc::new(AtomicUsize::new(0));
        let theirs = drops.clone();
        let ended = Arc::new(Event::default());
        let ends = ended.clone();
        let task = spawn(async move { Counts(theirs) });
        let watcher = spawn(async move {
            ends.wait().await;
        });
        drop(task);
        ended.happen();
        block_on(watcher).unwrap();
        drops.load(SeqCst) as u64
    });
    // Dropped by the task, maybe later; the check would find a leak.
    assert_eq!(seen, [0, 1].into());
}

#[test]
fn an_aborted_task_drops_its_future_or_ends_before() {
    struct Sets(Arc<AtomicBool>);
    impl Drop for Sets {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let (seen, _) = outcomes_in(&Check::new(), || {
        let dropped = Arc::new(AtomicBool::new(false));
        let guard = Sets(dropped.clone());
        let task = spawn(async move {
            let _guard = guard;
            yield_now().await;
            5u64
        });
        task.abort_handle().abort();
        let result = block_on(task);
        assert!(dropped.load(SeqCst), "the future is gone when the result is there");
        result.unwrap_or_else(|error| if error.is_cancelled() { 9 } else { 0 })
    });
    assert_eq!(seen, [5, 9].into());
}

#[test]
fn a_task_that_waits_for_ever_can_be_aborted() {
    holds(|| {
        let task = spawn(pending::<()>());
        task.abort();
        assert!(block_on(task).unwrap_err().is_cancelled());
    });
}

/// Moves money between two accounts, with a place in between where the task can be cancelled.
async fn transfer(accounts: Arc<[Mutex<i32>; 2]>, safe: bool) {
    *accounts[0].lock().unwrap() -= 1;
    if safe {
        *accounts[1].lock().unwrap() += 1;
        yield_now().await;
    } else {
        yield_now().await;
        *accounts[1].lock().unwrap() += 1;
    }
}

fn aborts_a_transfer(safe: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let accounts = Arc::new([Mutex::new(1), Mutex::new(0)]);
        let task = spawn(transfer(accounts.clone(), safe));
        task.abort();
        let _ = block_on(task);
        let sum: i32 = accounts.iter().map(|account| *account.lock().unwrap()).sum();
        assert_eq!(sum, 1, "money was lost");
    }
}

#[test]
fn a_bug_by_abort_is_found_and_the_mended_twin_holds() {
    let finding = violated(aborts_a_transfer(false));
    assert!(finding.message.join("\n").contains("money was lost"), "{finding:?}");
    holds(aborts_a_transfer(true));
}

/// Polls two futures, and drops the one that is not ready first: `select` in small.
async fn first<T>(a: impl Future<Output = T>, b: impl Future<Output = T>) -> T {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|context| match a.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(value),
        Poll::Pending => b.as_mut().poll(context),
    })
    .await
}

fn selects_a_transfer(safe: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let accounts = Arc::new([Mutex::new(1), Mutex::new(0)]);
        let stop = Arc::new(Event::default());
        let (theirs, stops) = (accounts.clone(), stop.clone());
        let task = spawn(async move { first(stops.wait(), transfer(theirs, safe)).await });
        stop.happen();
        block_on(task).unwrap();
        let sum: i32 = accounts.iter().map(|account| *account.lock().unwrap()).sum();
        assert_eq!(sum, 1, "money was lost");
    }
}

#[test]
fn a_bug_by_dropping_a_future_is_found_and_the_mended_twin_holds() {
    let finding = violated(selects_a_transfer(false));
    assert!(finding.message.join("\n").contains("money was lost"), "{finding:?}");
    holds(selects_a_transfer(true));
}

#[test]
fn a_handle_can_be_polled_with_one_waker_after_another() {
    holds(|| {
        let mut task = spawn(async { 1 });
        let mut context = Context::from_waker(Waker::noop());
        let early = Pin::new(&mut task).poll(&mut context);
        let number = match early {
            Poll::Ready(number) => number,
            Poll::Pending => block_on(task),
        };
        assert_eq!(number.unwrap(), 1);
    });
}

#[test]
fn a_handle_that_waits_may_be_dropped() {
    holds(|| {
        let task = spawn(async { Box::new(1) });
        let other = spawn(async { 2 });
        block_on(first(
            async move {
                task.await.unwrap();
            },
            async move {
                other.await.unwrap();
            },
        ));
    });
}

#[test]
fn panics_of_tasks_are_violations_unless_somebody_looks() {
    let finding = violated(|| drop(spawn(async { panic!("nobody looks") })));
    assert_eq!(finding.title, "panic");
    holds(|| {
        let task = spawn(async {
            if unpick::choose(1) == 0 {
                panic!("somebody looks");
            }
        });
        assert!(block_on(task).unwrap_err().is_panic());
    });
}

#[test]
fn tasks_that_nobody_waits_for_must_end_unless_abandoned() {
    let leaves_a_task = || drop(spawn(pending::<()>()));
    assert_eq!(violated(leaves_a_task).title, "deadlock");
    let check = Check::new().allow_vacuous(true).detached(Detached::Abandoned).leaks(false);
    assert!(check.run(leaves_a_task).unwrap().holds());
}

#[test]
fn the_end_of_a_task_happens_before_its_result() {
    struct Shared(unpick::cell::UnsafeCell<usize>);
    unsafe impl Sync for Shared {}
    unsafe impl Send for Shared {}
    holds(|| {
        let shared = Arc::new(Shared(unpick::cell::UnsafeCell::new(0)));
        let theirs = shared.clone();
        let task = spawn(async move { theirs.0.with_mut(|n| unsafe { *n = 1 }) });
        block_on(task).unwrap();
        assert_eq!(shared.0.with(|n| unsafe { *n }), 1);
    });
    holds(|| {
        let shared = Arc::new(Shared(unpick::cell::UnsafeCell::new(0)));
        let theirs = shared.clone();
        let task = spawn(async move { theirs.0.with_mut(|n| unsafe { *n = 1 }) });
        if task.is_finished() {
            assert_eq!(shared.0.with(|n| unsafe { *n }), 1);
        }
    });
}

#[test]
fn local_tasks_need_not_be_sent() {
    holds(|| {
        let number = std::rc::Rc::new(3);
        assert_eq!(*block_on(spawn_local(async move { number })).unwrap(), 3);
    });
}

#[test]
fn outside_a_check_tasks_are_os_threads() {
    let event = Arc::new(Event::default());
    let theirs = event.clone();
    let task = spawn(async move {
        theirs.wait().await;
        yield_now().await;
        5
    });
    let endless = spawn(pending::<()>());
    endless.abort();
    event.happen();
    assert_eq!(block_on(task).unwrap(), 5);
    assert!(block_on(endless).unwrap_err().is_cancelled());
    let panics: Result<(), _> = block_on(spawn(async { std::panic::resume_unwind(Box::new(1)) }));
    assert!(panics.unwrap_err().is_panic());
}
