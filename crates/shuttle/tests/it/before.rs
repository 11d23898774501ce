//! Tests as users of earlier versions of Shuttle write them: `stand-ins/shuttle-0.6` and `shuttle-0.7` are these modules.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as OutsideUsize, Ordering::SeqCst};

use unpick_shuttle::before::{v0_6, v0_7};
use unpick_shuttle::sync::Mutex;
use unpick_shuttle::{Config, check_random, thread};

use v0_7::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, RoundRobinScheduler, Schedule, Scheduler, TaskId,
    UncontrolledNondeterminismCheckScheduler,
};
use v0_7::{PortfolioRunner, Runner};

use crate::checks::failure;

/// Lets the last task that can move do so.
struct Last {
    left: usize,
    asked: Arc<OutsideUsize>,
}

impl Scheduler for Last {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[TaskId], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        self.asked.fetch_add(1, SeqCst);
        tasks.last().copied()
    }

    fn next_u64(&mut self) -> u64 {
        4
    }
}

fn two_threads() {
    let number = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&number);
    let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
    *number.lock().unwrap() += 1;
    other.join().unwrap();
    assert_eq!(*number.lock().unwrap(), 2);
}

fn fails() {
    let number = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&number);
    drop(thread::spawn(move || *theirs.lock().unwrap() += 1));
    assert_eq!(*number.lock().unwrap(), 0, "the other one was first");
}

#[test]
fn schedulers_are_given_ids() {
    let asked = Arc::new(OutsideUsize::new(0));
    let scheduler = Last { left: 2, asked: Arc::clone(&asked) };
    assert_eq!(Runner::new(scheduler, Config::new()).run(two_threads), 2);
    assert!(asked.load(SeqCst) > 4);
    let scheduler = Last { left: 2, asked: Arc::default() };
    let twice = UncontrolledNondeterminismCheckScheduler::new(scheduler);
    assert_eq!(Runner::new(twice, Config::new()).run(two_threads), 4);
}

#[test]
fn schedulers_of_shuttle_are_those_of_now() {
    assert_eq!(Runner::new(RandomScheduler::new(7), Config::new()).run(two_threads), 7);
    assert_eq!(Runner::new(PctScheduler::new(2, 5), Config::new()).run(two_threads), 5);
    assert_eq!(Runner::new(RoundRobinScheduler::new(1), Config::new()).run(two_threads), 1);
    // By unpick's own search: one execution of each set that nobody can tell apart.
    assert_eq!(Runner::new(DfsScheduler::new(None, false), Config::new()).run(two_threads), 2);
    let mut several = PortfolioRunner::new(true, Config::new());
    several.add(RandomScheduler::new(20));
    several.add(Last { left: 20, asked: Arc::default() });
    assert!(failure(move || several.run(fails)).contains("the other one was first"));
}

#[test]
fn tags_are_numbers() {
    use v0_6::current::{Tag, get_tag_for_current_task, set_tag_for_current_task};
    check_random(
        || {
            assert_eq!(get_tag_for_current_task(), Tag::default());
            assert_eq!(u64::from(set_tag_for_current_task(Tag::from(3))), 0);
            let other = thread::spawn(|| {
                assert_eq!(set_tag_for_current_task(4.into()), 3.into());
                u64::from(get_tag_for_current_task())
            });
            assert_eq!((other.join().unwrap(), get_tag_for_current_task()), (4, 3.into()));
        },
        5,
    );
}

/// Threads have memory of the system here: payloads are known by where the allocator has put them.
#[test]
fn the_panic_that_goes_on_is_blamed() {
    let message = failure(|| {
        check_random(
            || {
                let same = |again: bool| {
                    catch_unwind(move || if again { panic!("same, at the end") } else { panic!("same") })
                        .unwrap_err()
                };
                let (first, second) = (same(false), same(true));
                assert_eq!(second.downcast_ref::<&str>(), Some(&"same, at the end"));
                resume_unwind(first);
            },
            3,
        );
    });
    assert!(message.contains("main panicked:\n  same\n"), "{message}");
    let line = line!() + 6;
    let message = failure(|| {
        check_random(
            || {
                // The same text and the same literal, so that only the box tells them apart.
                let all = [
                    catch_unwind(|| panic!("alike")).unwrap_err(),
                    catch_unwind(|| panic!("alike")).unwrap_err(),
                ];
                let [first, _] = all;
                resume_unwind(first);
            },
            3,
        );
    });
    assert!(message.contains(&format!("before.rs:{line}:")), "{message}");
}
