//! A counter of permits that tasks and threads take several of at a time.
//!
//! All calls on a semaphore take place one after the other. On one that is strictly fair, requests are
//! granted in the order in which they came: one that cannot be granted holds up those behind it. On one
//! that is unfair, whoever asks first when there are enough gets them; releasing lets all look again.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use unpick::sync::{Mutex, MutexGuard};

use crate::context as tasks;
use crate::current::{TaskId, try_get_current_task};
use crate::sync::{ResourceSignature, ResourceType};

/// In which order requests are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// In the order in which they came.
    StrictlyFair,
    /// In any order.
    Unfair,
}

/// The semaphore is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireError(());

impl AcquireError {
    /// The error of a request to a semaphore that is closed.
    pub fn closed() -> AcquireError {
        AcquireError(())
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed")
    }
}

impl std::error::Error for AcquireError {}

/// Why permits could not be taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are not enough, or others come first.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "the semaphore is closed",
            TryAcquireError::NoPermits => "there are not enough permits",
        })
    }
}

impl std::error::Error for TryAcquireError {}

/// A request that waits.
struct Waiter {
    /// What tells it from others.
    number: u64,
    wanted: usize,
    /// With so many available, the request keeps others from taking any.
    least: usize,
    /// Whether those behind it may go first while it cannot be granted.
    bypassable: bool,
    /// The task that polled it last.
    task: Option<TaskId>,
    waker: Waker,
}

#[derive(Default)]
struct State {
    permits: usize,
    closed: bool,
    waiters: VecDeque<Waiter>,
    /// Requests that were granted and have not heard of it.
    granted: Vec<u64>,
    /// The request that keeps others from taking permits.
    reserved: Option<u64>,
    next: u64,
}

/// A counter of permits.
pub struct BatchSemaphore {
    state: Mutex<State>,
    fairness: Fairness,
    signature: ResourceSignature,
}

impl BatchSemaphore {
    /// A semaphore with so many permits.
    #[track_caller]
    pub fn new(permits: usize, fairness: Fairness) -> BatchSemaphore {
        let signature = ResourceSignature::now(ResourceType::BatchSemaphore);
        BatchSemaphore { signature, ..BatchSemaphore::const_new(permits, fairness) }
    }

    /// A semaphore with so many permits.
    #[track_caller]
    pub const fn const_new(permits: usize, fairness: Fairness) -> BatchSemaphore {
        let state = State {
            permits,
            closed: false,
            waiters: VecDeque::new(),
            granted: Vec::new(),
            reserved: None,
            next: 0,
        };
        let signature = ResourceSignature::new_const(ResourceType::BatchSemaphore);
        BatchSemaphore { state: Mutex::new(state), fairness, signature }
    }

    /// Where the semaphore was made.
    pub fn signature(&self) -> &ResourceSignature {
        &self.signature
    }

    #[track_caller]
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The permits that anybody could take now.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        let state = self.state();
        if state.reserved.is_some() { 0 } else { state.permits }
    }

    /// Closes the semaphore: requests fail from now on, and so do those that wait.
    #[track_caller]
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.reserved = None;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.into_iter().for_each(|waiter| waiter.waker.wake());
    }

    /// As [`close`](BatchSemaphore::close).
    #[track_caller]
    pub fn close_no_scheduling_point(&self) {
        self.close();
    }

    /// Whether the semaphore is closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Takes permits if that is possible at once.
    ///
    /// # Errors
    ///
    /// When it is not.
    #[track_caller]
    pub fn try_acquire(&self, permits: usize) -> Result<(), TryAcquireError> {
        self.state().try_take(permits, self.fairness, false)
    }

    /// Takes permits, waiting for them.
    pub fn acquire(&self, permits: usize) -> Acquire<'_> {
        Acquire::new(self, permits, permits, false, false)
    }

    /// Takes permits, waiting for them, and lets later requests go first while this one cannot be granted.
    pub fn acquire_bypassable(&self, permits: usize) -> Acquire<'_> {
        Acquire::new(self, permits, permits, true, false)
    }

    /// Takes permits, waiting for them, and blocks the calling thread meanwhile.
    ///
    /// # Errors
    ///
    /// When the semaphore is closed.
    #[track_caller]
    pub fn acquire_blocking(&self, permits: usize) -> Result<(), AcquireError> {
        super::block_on(self.acquire(permits))
    }

    /// Takes permits, waiting for them. As soon as there are `least`, nobody else gets any before this
    /// request is granted or given up.
    ///
    /// # Panics
    ///
    /// When the semaphore is strictly fair, when `permits` is 0, or when `least` is larger.
    pub fn acquire_reserving(&self, least: usize, permits: usize) -> Acquire<'_> {
        assert_eq!(self.fairness, Fairness::Unfair, "only an unfair semaphore supports reservations");
        assert!(permits > 0 && least <= permits, "a reservation is for permits, and needs no more of them");
        Acquire::new(self, permits, least, false, false)
    }

    /// Takes the permits that are missing to `wanted`, where the caller holds `held`, before all that wait.
    ///
    /// # Panics
    ///
    /// Unless `wanted` is more than `held`, and that is more than 0.
    pub fn upgrade(&self, held: usize, wanted: usize) -> Acquire<'_> {
        assert!(held > 0 && wanted > held, "an upgrade is from some permits to more");
        let least = if self.fairness == Fairness::Unfair { 0 } else { wanted - held };
        Acquire::new(self, wanted - held, least, false, true)
    }

    /// As [`upgrade`](BatchSemaphore::upgrade), if that is possible at once.
    ///
    /// # Errors
    ///
    /// When it is not.
    ///
    /// # Panics
    ///
    /// As [`upgrade`](BatchSemaphore::upgrade).
    #[track_caller]
    pub fn try_upgrade(&self, held: usize, wanted: usize) -> Result<(), TryAcquireError> {
        assert!(held > 0 && wanted > held, "an upgrade is from some permits to more");
        self.state().try_take(wanted - held, self.fairness, true)
    }

    /// Gives permits back.
    #[track_caller]
    pub fn release(&self, permits: usize) {
        if permits == 0 {
            return;
        }
        let mut state = self.state();
        state.permits += permits;
        state.forget_ended();
        let woken = state.grant(self.fairness);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl State {
    fn try_take(&mut self, permits: usize, fairness: Fairness, first: bool) -> Result<(), TryAcquireError> {
        let held_up = fairness == Fairness::StrictlyFair && !first && self.is_held_up();
        if self.closed {
            Err(TryAcquireError::Closed)
        } else if permits > 0 && (self.reserved.is_some() || held_up || permits > self.permits) {
            Err(TryAcquireError::NoPermits)
        } else {
            self.permits -= permits;
            Ok(())
        }
    }

    /// Whether somebody waits whom nobody may overtake.
    fn is_held_up(&self) -> bool {
        self.waiters.iter().any(|waiter| !waiter.bypassable)
    }

    /// Drops requests of tasks that have ended: nobody waits for them. They are made anew if somebody else
    /// polls them.
    fn forget_ended(&mut self) {
        self.waiters.retain(|waiter| !waiter.task.is_some_and(tasks::has_ended));
        let waiters = &self.waiters;
        let waits = |number: &u64| waiters.iter().any(|waiter| waiter.number == *number);
        self.reserved = self.reserved.filter(waits);
    }

    /// Grants what can be granted, or lets those look again who may get something: who is to be woken.
    fn grant(&mut self, fairness: Fairness) -> Vec<Waker> {
        if fairness == Fairness::Unfair {
            let (permits, reserved) = (self.permits, self.reserved);
            let may = |waiter: &&Waiter| match reserved {
                Some(number) => number == waiter.number && waiter.wanted <= permits,
                None => waiter.least <= permits,
            };
            return self.waiters.iter().filter(may).map(|waiter| waiter.waker.clone()).collect();
        }
        let mut woken = Vec::new();
        let mut next = 0;
        while let Some(waiter) = self.waiters.get(next) {
            if waiter.wanted <= self.permits {
                self.permits -= waiter.wanted;
                self.granted.push(waiter.number);
                woken.extend(self.waiters.remove(next).map(|waiter| waiter.waker));
            } else if waiter.bypassable {
                next += 1;
            } else {
                break;
            }
        }
        woken
    }
}

impl Default for BatchSemaphore {
    fn default() -> BatchSemaphore {
        BatchSemaphore::new(0, Fairness::StrictlyFair)
    }
}

impl fmt::Debug for BatchSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchSemaphore").field("fairness", &self.fairness).finish_non_exhaustive()
    }
}

/// A request for permits, which is made when it is first polled. Dropping it gives the request up, and
/// gives permits back that were granted and not taken.
pub struct Acquire<'a> {
    semaphore: &'a BatchSemaphore,
    wanted: usize,
    least: usize,
    bypassable: bool,
    first: bool,
    /// The number of the request, if it waits.
    number: Option<u64>,
    ended: bool,
}

impl<'a> Acquire<'a> {
    fn new(
        semaphore: &'a BatchSemaphore,
        wanted: usize,
        least: usize,
        bypassable: bool,
        first: bool,
    ) -> Acquire<'a> {
        Acquire { semaphore, wanted, least, bypassable, first, number: None, ended: false }
    }

    /// Whether an unfair semaphore grants the request now, or keeps permits for it.
    fn ask_unfairly(&self, state: &mut State) -> bool {
        let others = state.reserved.is_some_and(|number| Some(number) != self.number);
        if others && self.wanted > 0 {
            return false;
        }
        if self.wanted <= state.permits {
            state.permits -= self.wanted;
            return true;
        }
        false
    }

    /// Keeps permits for the request, if it is of that kind and there are enough.
    fn reserve(&self, state: &mut State) {
        if self.least < self.wanted && state.reserved.is_none() && self.least <= state.permits {
            state.reserved = self.number;
        }
    }

    fn poll_locked(&mut self, state: &mut State, waker: &Waker) -> Poll<Result<(), AcquireError>> {
        let fairness = self.semaphore.fairness;
        if let Some(number) = self.number
            && let Some(place) = state.granted.iter().position(|&granted| granted == number)
        {
            state.granted.swap_remove(place);
            return Poll::Ready(Ok(()));
        }
        if state.closed {
            return Poll::Ready(Err(AcquireError(())));
        }
        // The request may have been forgotten.
        let waits =
            self.number.is_some_and(|number| state.waiters.iter().any(|waiter| waiter.number == number));
        let taken = match fairness {
            Fairness::Unfair => self.ask_unfairly(state),
            Fairness::StrictlyFair => !waits && state.try_take(self.wanted, fairness, self.first).is_ok(),
        };
        if taken {
            if let Some(number) = self.number {
                state.waiters.retain(|waiter| waiter.number != number);
                state.reserved = state.reserved.filter(|&reserved| reserved != number);
            }
            return Poll::Ready(Ok(()));
        }
        let task = try_get_current_task();
        match self.number.filter(|_| waits) {
            Some(number) => {
                for waiter in state.waiters.iter_mut().filter(|waiter| waiter.number == number) {
                    waiter.waker.clone_from(waker);
                    waiter.task = task;
                }
            }
            None => {
                let number = state.next;
                state.next += 1;
                self.number = Some(number);
                let Acquire { wanted, least, bypassable, .. } = *self;
                let waiter = Waiter { number, wanted, least, bypassable, task, waker: waker.clone() };
                if self.first { state.waiters.push_front(waiter) } else { state.waiters.push_back(waiter) }
            }
        }
        self.reserve(state);
        Poll::Pending
    }
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.ended, "a request was polled after it was granted");
        let semaphore = self.semaphore;
        let mut state = semaphore.state();
        let reserves = self.number.is_some() && state.reserved == self.number;
        let polled = self.poll_locked(&mut state, context.waker());
        self.ended = polled.is_ready();
        // What is left over may be enough for others, from which this request kept it.
        let woken = if reserves && self.ended { state.grant(semaphore.fairness) } else { Vec::new() };
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        polled
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number.filter(|_| !self.ended) else { return };
        let mut state = self.semaphore.state();
        if let Some(place) = state.granted.iter().position(|&granted| granted == number) {
            state.granted.swap_remove(place);
            state.permits += self.wanted;
        }
        state.waiters.retain(|waiter| waiter.number != number);
        state.reserved = state.reserved.filter(|&reserved| reserved != number);
        let woken = if state.closed { Vec::new() } else { state.grant(self.semaphore.fairness) };
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("permits", &self.wanted).finish_non_exhaustive()
    }
}
