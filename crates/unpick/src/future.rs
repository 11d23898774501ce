//! Running futures on threads under test: [`block_on`] on the thread that calls it, [`spawn`] as a
//! thread of its own; and [`AtomicWaker`] for those who write futures.

mod atomic_waker;
mod task;

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use unpick_core::op::{Addr, Op, Site, ThreadId};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

pub use atomic_waker::AtomicWaker;
pub(crate) use task::spawn_after;
pub use task::{AbortHandle, JoinError, JoinHandle, YieldNow, spawn, spawn_local, yield_now};

/// Where a thread waits between two polls, and what its wakers refer to.
struct Signal {
    tag: Tag,
    /// The call of `block_on` or `spawn`: what a report says about waiting and waking, which have no place of
    /// their own in the source.
    site: Site,
    /// The thread, inside a check and outside. Inside it is known only if it has made the signal itself.
    inside: Option<ThreadId>,
    outside: Option<Thread>,
    /// Whether the thread was woken; inside a check, whether it has woken itself.
    woken: AtomicBool,
}

/// The value of a signal that was not sent.
const NOT_SENT: u64 = 1;

impl Signal {
    /// What wakes the calling thread, or a thread under test.
    fn new(site: Site) -> Signal {
        // The handle of an OS thread would be kept by `std`, in memory of the execution.
        let outside = (!ops::in_check()).then(std::thread::current);
        Signal { tag: Tag::new(), site, inside: None, outside, woken: AtomicBool::new(false) }
    }

    /// Wakes the thread, by a call at this place.
    fn send(&self, site: Site) {
        ops::on_object(self.object(), NOT_SENT, Op::post(Addr::NONE, site));
    }

    fn object(&self) -> Object<'_> {
        Object::new(&self.tag, "Waker")
    }

    /// Waits until somebody has woken the thread since the last time.
    fn wait(&self) {
        if ops::in_check() {
            ops::on_object(self.object(), NOT_SENT, Op::wait(Addr::NONE, false, self.site));
            return;
        }
        while !self.woken.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Signal>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Signal>) {
        if ops::in_check() {
            // Nobody else can tell, and a future that goes on waking itself is a loop that waits.
            if self.inside == Some(ops::thread()) {
                self.woken.store(true, Ordering::Relaxed);
                return;
            }
            return self.send(self.site);
        }
        self.tag.assert_outside();
        self.woken.store(true, Ordering::Release);
        if let Some(thread) = &self.outside {
            thread.unpark();
        }
    }
}

/// Runs a future on the calling thread until it is ready.
///
/// The future is polled once, and then once for each time that it was woken, or several times
/// between two polls. If it has woken itself it is polled again at once. There are no polls without
/// a reason, but for one if [`Check::spurious_wakeups`](crate::Check::spurious_wakeups) is set: a future
/// that is pending and has lost its waker waits for ever, which inside a check is a deadlock. What a
/// thread did before it called `wake` happens before the poll that follows.
///
/// ```
/// use std::future::poll_fn;
/// use std::sync::Arc;
/// use std::task::Poll;
/// use unpick::future::{AtomicWaker, block_on};
/// use unpick::sync::atomic::{AtomicBool, Ordering};
/// use unpick::thread;
///
/// unpick::check(|| {
///     let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
///     let theirs = Arc::clone(&shared);
///     thread::spawn(move || {
///         theirs.0.store(true, Ordering::Relaxed);
///         theirs.1.wake();
///     });
///     block_on(poll_fn(|context| {
///         shared.1.register(context.waker());
///         if shared.0.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
///     }));
/// });
/// ```
#[track_caller]
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let mut spuriously = ops::in_check() && ops::wakes_spuriously();
    let site = here!();
    let signal = Arc::new(Signal { inside: ops::in_check().then(ops::thread), ..Signal::new(site) });
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future.into_future());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        if signal.woken.swap(false, Ordering::Acquire) {
            continue;
        }
        if spuriously && ops::whim(site) {
            spuriously = false;
            continue;
        }
        signal.wait();
    }
}
