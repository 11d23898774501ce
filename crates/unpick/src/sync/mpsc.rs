//! Channels with many senders and one receiver, as in [`std::sync::mpsc`].
//!
//! Inside a check, messages arrive in every order that the senders allow: `n` threads that send one
//! message each make `n!` executions, and receiving adds none. A message happens before its
//! receipt, the taking of a message from a bounded channel before the send that it makes room for,
//! and the drop of all senders, or of the receiver, before whatever tells of it. Nothing is promised
//! between senders: a thread that is told that a channel is full, or empty, may be told so of an
//! older state than another thread has seen.
//!
//! [`Receiver::recv_timeout`] may give up whenever no message is known to be there, unless
//! [`Check::timeouts`](crate::Check::timeouts) says otherwise, and a loop around it waits like one around
//! [`Receiver::recv`].
//!
//! ```
//! use unpick::sync::mpsc;
//! use unpick::thread;
//!
//! unpick::check(|| {
//!     let (sender, receiver) = mpsc::channel();
//!     for number in 0..3 {
//!         let sender = sender.clone();
//!         thread::spawn(move || sender.send(number).unwrap());
//!     }
//!     drop(sender);
//!     assert_eq!(receiver.iter().sum::<i32>(), 3);
//! });
//! ```

mod channel;

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::mpsc as outside;
use std::time::Duration;

use unpick_core::op::Site;
use unpick_core::timeouts::Timeouts;
use unpick_runtime::ops;

use self::channel::{Channel, Handle};
use crate::here;
use crate::time::{limit, pass};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// A channel with room for any number of messages, as [`std::sync::mpsc::channel`].
#[track_caller]
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if ops::in_check() {
        let (port, receiver) = checked(None, here!());
        return (Sender(Sending::Checked(port)), receiver);
    }
    let (sender, receiver) = outside::channel();
    (Sender(Sending::Outside(sender)), Receiver::new(Receiving::Outside(receiver)))
}

/// A channel with room for `bound` messages, as [`std::sync::mpsc::sync_channel`]. With no room at
/// all, a send ends when its message has been taken.
///
/// ```
/// use unpick::sync::mpsc;
/// use unpick::thread;
///
/// unpick::check(|| {
///     let (sender, receiver) = mpsc::sync_channel(0);
///     let thread = thread::spawn(move || sender.send(1).unwrap());
///     assert_eq!(receiver.recv(), Ok(1));
///     thread.join().unwrap();
/// });
/// ```
#[track_caller]
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if ops::in_check() {
        let (port, receiver) = checked(Some(bound), here!());
        return (SyncSender(Sending::Checked(port)), receiver);
    }
    let (sender, receiver) = outside::sync_channel(bound);
    (SyncSender(Sending::Outside(sender)), Receiver::new(Receiving::Outside(receiver)))
}

fn checked<T>(capacity: Option<usize>, site: Site) -> (Port<T>, Receiver<T>) {
    let (channel, handle) = Channel::new(capacity);
    let channel = Rc::new(channel);
    let receiver = Receiver::new(Receiving::Checked { channel: Rc::clone(&channel), site });
    (Port { channel, handle, site }, receiver)
}

/// A sender inside a check. Threads under test share one OS thread, so counting needs no atomics.
struct Port<T> {
    channel: Rc<Channel<T>>,
    handle: *const Handle,
    /// Where it was made: what a report says about its drop.
    site: Site,
}

impl<T> Clone for Port<T> {
    #[track_caller]
    fn clone(&self) -> Port<T> {
        let site = here!();
        let handle = self.channel.clone_handle(self.handle, site);
        Port { channel: Rc::clone(&self.channel), handle, site }
    }
}

impl<T> Drop for Port<T> {
    fn drop(&mut self) {
        if ops::in_check() {
            // SAFETY: handles live as long as the channel.
            self.channel.drop_handle(unsafe { &*self.handle }, self.site);
        }
    }
}

/// A sender, of a kind that `std` knows as `S`.
enum Sending<T, S> {
    Checked(Port<T>),
    Outside(S),
}

/// The end of a channel that sends, as [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Sending<T, outside::Sender<T>>);

// SAFETY: threads under test run on one OS thread; outside a check the sender is `std`'s.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Sender<T> {}

impl<T> Sender<T> {
    /// Sends a message. It never waits.
    ///
    /// # Errors
    ///
    /// With the message, if the receiver has gone.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Sending::Checked(port) => port.channel.send(t, here!()).map_err(SendError),
            Sending::Outside(sender) => sender.send(t),
        }
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        Sender(match &self.0 {
            Sending::Checked(port) => Sending::Checked(port.clone()),
            Sending::Outside(sender) => Sending::Outside(sender.clone()),
        })
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The end of a bounded channel that sends, as [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Sending<T, outside::SyncSender<T>>);

// SAFETY: as for `Sender`.
unsafe impl<T: Send> Send for SyncSender<T> {}
// SAFETY: as for `Sender`.
unsafe impl<T: Send> Sync for SyncSender<T> {}

impl<T> SyncSender<T> {
    /// Sends a message, waiting until there is room, or until it is taken if there never is.
    ///
    /// # Errors
    ///
    /// With the message, if the receiver has gone, or goes meanwhile.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Sending::Checked(port) => port.channel.send(t, here!()).map_err(SendError),
            Sending::Outside(sender) => sender.send(t),
        }
    }

    /// Sends a message if there is room, or a receiver waits for it.
    ///
    /// # Errors
    ///
    /// With the message, if there is no room as far as the caller can know, or no receiver.
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Sending::Checked(port) => port.channel.try_send(t, here!()),
            Sending::Outside(sender) => sender.try_send(t),
        }
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> SyncSender<T> {
        SyncSender(match &self.0 {
            Sending::Checked(port) => Sending::Checked(port.clone()),
            Sending::Outside(sender) => Sending::Outside(sender.clone()),
        })
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

/// A receiver, inside a check or not.
enum Receiving<T> {
    Checked { channel: Rc<Channel<T>>, site: Site },
    Outside(outside::Receiver<T>),
}

/// The end of a channel that receives, as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    receiving: Receiving<T>,
    /// One thread at a time.
    alone: PhantomData<*const ()>,
}

// SAFETY: as for `Sender`.
unsafe impl<T: Send> Send for Receiver<T> {}

impl<T> Receiver<T> {
    fn new(receiving: Receiving<T>) -> Receiver<T> {
        Receiver { receiving, alone: PhantomData }
    }

    /// The next message; waits for it.
    ///
    /// # Errors
    ///
    /// When there is none and all senders have gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.receiving {
            Receiving::Checked { channel, .. } => channel.receive(here!()).ok_or(RecvError),
            Receiving::Outside(receiver) => receiver.recv(),
        }
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    ///
    /// When there is none as far as the caller can know, or all senders have gone.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.receiving {
            Receiving::Checked { channel, .. } => channel.try_receive(false, here!()),
            Receiving::Outside(receiver) => receiver.try_recv(),
        }
    }

    /// The next message; waits for it, but not for ever. Inside a check it may give up at any time,
    /// unless [`Check::timeouts`](crate::Check::timeouts) says otherwise.
    ///
    /// # Errors
    ///
    /// When none came in time, or all senders have gone.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.receiving {
            Receiving::Checked { channel, .. } => match limit(timeout) {
                Timeouts::Never => channel.receive(here!()).ok_or(RecvTimeoutError::Disconnected),
                Timeouts::Last => channel.receive_within(timeout, here!()),
                _ => channel.try_receive(true, here!()).map_err(|error| match error {
                    TryRecvError::Empty => {
                        pass(timeout);
                        RecvTimeoutError::Timeout
                    }
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                }),
            },
            Receiving::Outside(receiver) => receiver.recv_timeout(timeout),
        }
    }

    /// All messages, waiting for each, until all senders have gone.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Receiving::Checked { channel, site } = &self.receiving
            && ops::in_check()
        {
            channel.drop_receiver(*site);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Waits for messages, as [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

/// Takes the messages that are there, as [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// Waits for messages, and owns the receiver, as [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
