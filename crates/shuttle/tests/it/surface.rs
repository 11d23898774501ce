//! Every item that `unpick migrate --check` calls covered is there.

use std::collections::BTreeSet;

/// Names each item, and brings it in, which fails to compile if it is not there.
macro_rules! items {
    ($($($part:ident)::+),* $(,)?) => {
        const ITEMS: &[&str] = &[$(stringify!($($part)::+)),*];
        #[allow(deprecated, unused_imports)]
        mod there {
            $(const _: () = {
                #[allow(unused_imports)]
                use unpick_shuttle::$($part)::+;
            };)*
        }
    };
}

items!(
    check, check_dfs, check_pct, check_random, check_random_with_seed, check_uncontrolled_nondeterminism,
    check_urw, replay, replay_from_file, lazy_static, thread_local, Config,
    ContinuationFunctionBehavior, FailurePersistence, MaxSteps, PortfolioRunner, Runner,
    UngracefulShutdownConfig, ANNOTATION_FILE, CAPTURE_BACKTRACE, SILENCE_WARNINGS, annotations::WithName,
    current::ChildLabelFn, current::Labels, current::Tag, current::Taggable, current::TaskId,
    current::TaskName, current::clock, current::clock_for, current::context_switches,
    current::get_current_task, current::get_label_for_task, current::get_name_for_task,
    current::get_tag_for_current_task, current::get_tag_for_task, current::me,
    current::remove_label_for_task, current::reset_step_count, current::set_label_for_task,
    current::set_name_for_task, current::set_tag_for_current_task, current::set_tag_for_task,
    current::try_get_current_task, current::with_labels_for_task, future::AbortHandle, future::JoinError,
    future::JoinHandle, future::batch_semaphore::Acquire, future::batch_semaphore::AcquireError,
    future::batch_semaphore::BatchSemaphore, future::batch_semaphore::Fairness,
    future::batch_semaphore::TryAcquireError, future::block_on, future::spawn, future::spawn_local,
    future::yield_now, hint::black_box, hint::spin_loop, lazy_static::Lazy, lazy_static::LazyStatic,
    lazy_static::initialize, rand::Rng, rand::RngCore, rand::rngs::ThreadRng, rand::thread_rng,
    scheduler::AnnotationScheduler, scheduler::DataSource, scheduler::DfsScheduler, scheduler::PctScheduler,
    scheduler::RandomDataSource, scheduler::RandomScheduler, scheduler::ReplayScheduler,
    scheduler::RoundRobinScheduler, scheduler::Schedule, scheduler::Scheduler, scheduler::Task,
    scheduler::TaskId, scheduler::UncontrolledNondeterminismCheckScheduler, scheduler::UrwRandomScheduler,
    sync::Arc, sync::Barrier, sync::BarrierWaitResult, sync::Condvar, sync::LockResult, sync::Mutex,
    sync::MutexGuard, sync::Once, sync::OnceState, sync::PoisonError, sync::ResourceSignature,
    sync::ResourceType, sync::RwLock, sync::RwLockReadGuard, sync::RwLockWriteGuard, sync::TryLockError,
    sync::TryLockResult, sync::WaitTimeoutResult, sync::Weak, sync::atomic::AtomicBool,
    sync::atomic::AtomicI128, sync::atomic::AtomicI16, sync::atomic::AtomicI32, sync::atomic::AtomicI64,
    sync::atomic::AtomicI8, sync::atomic::AtomicIsize, sync::atomic::AtomicPtr, sync::atomic::AtomicU128,
    sync::atomic::AtomicU16, sync::atomic::AtomicU32, sync::atomic::AtomicU64, sync::atomic::AtomicU8,
    sync::atomic::AtomicUsize, sync::atomic::Ordering, sync::atomic::compiler_fence, sync::atomic::fence,
    sync::mpsc::IntoIter, sync::mpsc::Iter, sync::mpsc::Receiver, sync::mpsc::RecvError,
    sync::mpsc::RecvTimeoutError, sync::mpsc::SendError, sync::mpsc::Sender, sync::mpsc::SyncSender,
    sync::mpsc::TryIter, sync::mpsc::TryRecvError, sync::mpsc::TrySendError, sync::mpsc::channel,
    sync::mpsc::sync_channel, thread::AccessError, thread::Builder, thread::JoinHandle, thread::LocalKey,
    thread::Result, thread::Scope, thread::ScopedJoinHandle, thread::Thread, thread::ThreadId,
    thread::current, thread::panicking, thread::park, thread::park_timeout, thread::scope, thread::sleep,
    thread::spawn, thread::yield_now,
);

#[test]
fn the_list_of_covered_items_is_what_is_there() {
    let list = include_str!("../../../cli/src/migrate/shuttle.items").lines();
    let covered = list.filter(|line| !line.starts_with(['#', '.']) && !line.contains(" ! "));
    // One is there only with a feature.
    let covered: BTreeSet<String> =
        covered.filter(|&item| item != "annotate_replay").map(String::from).collect();
    let there: BTreeSet<String> = ITEMS.iter().map(|item| item.replace(' ', "")).collect();
    assert_eq!(covered, there);
}
