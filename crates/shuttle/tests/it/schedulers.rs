//! Schedulers: those of one's own, several at once, and what they are told.

use std::sync::atomic::{AtomicUsize as OutsideUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex as OutsideMutex};

use unpick_shuttle as shuttle;

use shuttle::current::{self, ChildLabelFn, TaskName, me, set_label_for_task};
use shuttle::scheduler::{
    PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler, Schedule, Scheduler, Task, TaskId,
    UncontrolledNondeterminismCheckScheduler, UrwRandomScheduler,
};
use shuttle::sync::atomic::AtomicUsize;
use shuttle::sync::{Barrier, Mutex};
use shuttle::{Config, PortfolioRunner, Runner, thread};

use crate::checks::failure;

/// Lets the last task that can move do so, and keeps account.
struct Last {
    left: usize,
    asked: Arc<OutsideUsize>,
}

impl Scheduler for Last {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        self.asked.fetch_add(1, SeqCst);
        tasks.last().map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        4
    }
}

#[test]
fn a_scheduler_of_ones_own_decides() {
    let (asked, order) = (Arc::new(OutsideUsize::new(0)), Arc::new(OutsideMutex::new(Vec::new())));
    let seen = Arc::clone(&order);
    let executions = Runner::new(Last { left: 3, asked: Arc::clone(&asked) }, Config::new()).run(move || {
        let turns = Arc::new(AtomicUsize::new(0));
        let threads = [1, 2, 3].map(|number| {
            let (turns, seen) = (Arc::clone(&turns), Arc::clone(&seen));
            thread::spawn(move || {
                turns.fetch_add(1, SeqCst);
                seen.lock().unwrap().push(number);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(executions, 3);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    assert!(asked.load(SeqCst) >= 9);
}

#[test]
fn a_scheduler_that_panics_fails_the_test() {
    struct Refuses;
    impl Scheduler for Refuses {
        fn new_execution(&mut self) -> Option<Schedule> {
            Some(Schedule::new(0))
        }

        fn next_task(&mut self, _: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
            panic!("no task is good enough")
        }

        fn next_u64(&mut self) -> u64 {
            0
        }
    }
    let message = failure(|| {
        Runner::new(Refuses, Config::new()).run(|| drop(Mutex::new(0).lock().unwrap()));
    });
    assert_eq!(message, "no task is good enough");
}

/// Two threads that each read and write.
fn lost_update() {
    let number = Arc::new(AtomicUsize::new(0));
    let threads = [0, 1].map(|_| {
        let number = Arc::clone(&number);
        thread::spawn(move || number.store(number.load(SeqCst) + 1, SeqCst))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(number.load(SeqCst), 2, "an update was lost");
}

/// Inside another, a scheduler of Shuttle's decides itself.
#[test]
fn schedulers_work_inside_others() {
    fn finds(scheduler: impl Scheduler + 'static) {
        let twice = UncontrolledNondeterminismCheckScheduler::new(scheduler);
        let message = failure(|| {
            Runner::new(twice, Config::new()).run(lost_update);
        });
        assert!(message.contains("an update was lost"), "{message}");
    }
    finds(RandomScheduler::new_from_seed(1, 1000));
    finds(PctScheduler::new_from_seed(1, 3, 1000));
    finds(UrwRandomScheduler::new_from_seed(1, 1000));
    finds(shuttle::scheduler::DfsScheduler::new(None, false));
}

#[test]
fn nondeterminism_that_nobody_controls_is_found() {
    let runs = OutsideUsize::new(0);
    let message = failure(|| {
        shuttle::check_uncontrolled_nondeterminism(
            move || {
                let steps = runs.fetch_add(1, SeqCst);
                let number = Arc::new(AtomicUsize::new(0));
                let theirs = Arc::clone(&number);
                let other = thread::spawn(move || (0..steps).for_each(|n| theirs.store(n, SeqCst)));
                number.store(1, SeqCst);
                other.join().unwrap();
            },
            10,
        );
    });
    assert!(message.contains("nondeterminism"), "{message}");
    shuttle::check_uncontrolled_nondeterminism(
        || {
            let barrier = Arc::new(Barrier::new(2));
            let theirs = Arc::clone(&barrier);
            let other = thread::spawn(move || theirs.wait());
            barrier.wait();
            other.join().unwrap();
        },
        20,
    );
}

#[test]
fn a_list_of_tasks_is_followed() {
    let order = Arc::new(OutsideMutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    // The test starts, and spawns two threads; these start, and take turns.
    let tasks = [0usize, 0, 0, 2, 1, 2, 1, 2, 1];
    let mut scheduler = ReplayScheduler::new_from_schedule(Schedule::new_from_task_ids(0, tasks));
    scheduler.set_allow_incomplete();
    Runner::new(scheduler, Config::new()).run(move || {
        let number = Arc::new(AtomicUsize::new(0));
        for name in [1, 2] {
            let (number, seen) = (Arc::clone(&number), Arc::clone(&seen));
            thread::spawn(move || {
                for _ in 0..2 {
                    number.fetch_add(1, SeqCst);
                    seen.lock().unwrap().push(name);
                }
            });
        }
    });
    assert_eq!(*order.lock().unwrap(), [2, 1, 2, 1]);
}

#[test]
fn a_portfolio_finds_what_one_of_its_schedulers_finds() {
    let mut portfolio = PortfolioRunner::new(true, Config::new());
    portfolio.add(RoundRobinScheduler::new(1));
    portfolio.add(RandomScheduler::new_from_seed(1, 1000));
    portfolio.add(PctScheduler::new_from_seed(1, 3, 1000));
    let message = failure(|| portfolio.run(lost_update));
    assert!(message.contains("an update was lost"), "{message}");
    let mut portfolio = PortfolioRunner::new(false, Config::new());
    portfolio.add(RandomScheduler::new(50));
    portfolio.add(PctScheduler::new(2, 50));
    portfolio.run(|| assert_eq!(thread::spawn(|| 1).join().unwrap(), 1));
}

#[test]
fn labels_go_to_children() {
    shuttle::check_random(
        || {
            set_label_for_task(me(), 7u8);
            set_label_for_task(
                me(),
                ChildLabelFn(Arc::new(|_, labels| {
                    labels.insert(TaskName::from("child"));
                })),
            );
            let child = thread::spawn(|| {
                assert_eq!(current::get_label_for_task::<u8>(me()), Some(7));
                assert_eq!(format!("{:?}", me()), "child(1)");
                me()
            });
            let id: usize = child.thread().id().into();
            assert_eq!(usize::from(child.join().unwrap()), id);
            assert_eq!(current::get_name_for_task(me()), None);
        },
        10,
    );
    assert_eq!(current::try_get_current_task(), None);
}

#[test]
fn clocks_grow_along_happens_before() {
    shuttle::check_random(
        || {
            let lock = Arc::new(Mutex::new(None));
            let theirs = Arc::clone(&lock);
            let other = thread::spawn(move || {
                let mut guard = theirs.lock().unwrap();
                *guard = Some(current::clock());
            });
            let before = current::clock();
            if let Some(theirs) = lock.lock().unwrap().as_ref() {
                assert!(*theirs < current::clock());
            }
            other.join().unwrap();
            assert!(before < current::clock());
            assert!(current::context_switches() > 0);
        },
        100,
    );
}
