//! A channel between threads under test.
//!
//! A send takes a number from the *tail*, which also says whether there is a receiver: one event
//! decides both, and the order of these events is all that can be told about sends. The message
//! goes into the slot with that number, whose signal the sender posts and the receiver waits for. So
//! the receiver multiplies nothing, and sends into different channels commute.
//!
//! Nor does it matter in which order senders go. Each writes into a location of its own when it is
//! dropped; a receiver that finds nothing more to come reads them all. It may find that only when
//! all senders have gone, which nothing can undo, so what it reads is decided
//! ([`shared::wait_unless`]). Whoever asks without waiting could tell the order of drops; then they
//! are counted too ([`Fact::ClosingIsPolled`]).
//!
//! A bounded channel has a second signal for each slot, which the receiver posts when it has taken
//! the message. The sender whose number is as much higher as the channel is wide waits for it; if
//! the channel has no room at all, the sender of that very message does.
//!
//! What is in plain memory here is read only where it is ordered, or by `wait_unless`.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::mem::{MaybeUninit, needs_drop};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::time::Duration;

use unpick_core::op::{Addr, Mode, Op, Rmw, Site, TAKEN, Value};
use unpick_runtime::clocks::{self, Waited};
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::{Tag, shared};

/// The bit of the tail that says that there is a receiver.
const OPEN: Value = 1;
/// What one send adds to the tail.
const SEND: Value = 2;
/// What stands in the location of somebody who has gone.
const GONE: Value = 2;
/// Slots that are made at a time.
const BLOCK: usize = 16;

/// A channel.
pub(super) struct Channel<T> {
    /// Messages that may wait in the channel; `None` for any number.
    capacity: Option<usize>,
    tail: Tag,
    /// Written when the receiver goes, if senders may wait for it.
    receiver: Tag,
    /// Senders, and whether there is none left, if somebody polls that.
    senders: Tag,
    closed: Tag,
    slots: UnsafeCell<Vec<Box<[Slot<T>]>>>,
    handles: RefCell<Vec<Rc<Handle>>>,
    sent: Cell<usize>,
    received: Cell<usize>,
    live: Cell<usize>,
    is_deaf: Cell<bool>,
    /// Whether the receiver knows that there are no senders.
    is_mute: Cell<bool>,
}

// As the ends of `std`'s channels: a panic leaves no message half sent.
impl<T> UnwindSafe for Channel<T> {}
impl<T> RefUnwindSafe for Channel<T> {}

/// The place of one message.
struct Slot<T> {
    full: Tag,
    taken: Tag,
    message: UnsafeCell<MaybeUninit<T>>,
    /// Whether the sender did not want to wait for a receiver.
    hasty: Cell<bool>,
}

/// One sender. What was cloned of it is known once it has gone.
pub(super) struct Handle {
    gone: Tag,
    parent: *const Handle,
    /// The thread that made it, and how many it had made of the same parent before.
    key: (u32, usize),
}

impl<T> Channel<T> {
    /// A channel with its first sender.
    pub(super) fn new(capacity: Option<usize>) -> (Channel<T>, *const Handle) {
        let channel = Channel {
            capacity,
            tail: Tag::new(),
            receiver: Tag::new(),
            senders: Tag::new(),
            closed: Tag::new(),
            slots: UnsafeCell::new(Vec::new()),
            handles: RefCell::new(Vec::new()),
            sent: Cell::new(0),
            received: Cell::new(0),
            live: Cell::new(0),
            is_deaf: Cell::new(false),
            is_mute: Cell::new(false),
        };
        let first = channel.add_handle(std::ptr::null());
        (channel, first)
    }

    // ---------------------------------------------------------------- senders

    /// One more sender, cloned of another.
    pub(super) fn clone_handle(&self, parent: *const Handle, site: Site) -> *const Handle {
        if facts::fact(Fact::ClosingIsPolled) != 0 {
            on(&self.senders, 1, Op::rmw(Addr::NONE, Rmw::Add, Mode::Relaxed, 1, site));
        }
        self.add_handle(parent)
    }

    fn add_handle(&self, parent: *const Handle) -> *const Handle {
        let thread = ops::thread().0;
        let mut handles = self.handles.borrow_mut();
        let alike = |handle: &&Rc<Handle>| handle.parent == parent && handle.key.0 == thread;
        let key = (thread, handles.iter().filter(alike).count());
        self.live.set(self.live.get() + 1);
        shared::in_common(|| {
            let handle = Rc::new(Handle { gone: Tag::new(), parent, key });
            let place = Rc::as_ptr(&handle);
            handles.push(handle);
            place
        })
    }

    /// A sender goes.
    pub(super) fn drop_handle(&self, handle: &Handle, site: Site) {
        on(&handle.gone, TAKEN, Op::store(Addr::NONE, Mode::Release, GONE, site));
        self.live.set(self.live.get() - 1);
        if self.live.get() == 0 {
            shared::wake(&self.slot(self.received.get()).full);
        }
        if facts::fact(Fact::ClosingIsPolled) != 0
            && on(&self.senders, 1, Op::rmw(Addr::NONE, Rmw::Sub, Mode::Release, 1, site)) == 1
        {
            ops::fence(Mode::Acquire, site);
            on(&self.closed, 0, Op::store(Addr::NONE, Mode::Release, 1, site));
        }
    }

    /// Sends a message, and waits for room if that is limited; the message comes back if there is no
    /// receiver.
    pub(super) fn send(&self, message: T, site: Site) -> Result<(), T> {
        let tail = on(&self.tail, OPEN, Op::add_if(Addr::NONE, ON_TAIL, OPEN, SEND, site));
        if tail & OPEN == 0 {
            return Err(message);
        }
        let number = self.claim(tail);
        if let Some(before) = self.capacity.filter(|&room| room > 0).and_then(|room| number.checked_sub(room))
            && !self.wait_until_taken(before, site)
        {
            return Err(message);
        }
        self.put(number, message, site);
        if self.capacity == Some(0) && !self.wait_until_taken(number, site) {
            // SAFETY: the receiver has gone without taking the message, which is there.
            return Err(unsafe { self.message(number) });
        }
        Ok(())
    }

    /// Sends a message if there is room.
    pub(super) fn try_send(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        let capacity = self.capacity.unwrap_or(usize::MAX);
        if capacity == 0 {
            return self.try_meet(message, site);
        }
        let mut tail = on(&self.tail, OPEN, Op::load(Addr::NONE, Mode::Acquire, site));
        loop {
            if tail & OPEN == 0 {
                return Err(TrySendError::Disconnected(message));
            }
            if let Some(before) = ((tail / SEND) as usize).checked_sub(capacity) {
                let taken = &self.slot(before).taken;
                if on(taken, TAKEN, Op::load(Addr::NONE, Mode::Acquire, site)) == TAKEN {
                    return Err(TrySendError::Full(message));
                }
            }
            let op = Op::cas(Addr::NONE, ON_TAIL, tail, tail + SEND, false, site);
            let seen = on(&self.tail, OPEN, op);
            if seen == tail {
                let number = self.claim(tail);
                self.put(number, message, site);
                return Ok(());
            }
            tail = seen;
        }
    }

    /// Gives a message to a receiver that waits for one, or finds none.
    fn try_meet(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        if ops::choose(2, site) == 0 {
            let tail = on(&self.tail, OPEN, Op::load(Addr::NONE, Mode::Acquire, site));
            let open = tail & OPEN != 0;
            return Err(if open { TrySendError::Full(message) } else { TrySendError::Disconnected(message) });
        }
        let tail = on(&self.tail, OPEN, Op::add_if(Addr::NONE, ON_TAIL, OPEN, SEND, site));
        if tail & OPEN == 0 {
            ops::give_up(site);
        }
        let number = self.claim(tail);
        self.slot(number).hasty.set(true);
        self.put(number, message, site);
        on(&self.slot(number).taken, TAKEN, Op::wait(Addr::NONE, true, site));
        Ok(())
    }

    /// The number of a message, after the tail was moved.
    fn claim(&self, tail: Value) -> usize {
        let number = (tail / SEND) as usize;
        self.sent.set(number + 1);
        number
    }

    /// Puts a message into its slot, and tells the receiver.
    fn put(&self, number: usize, message: T, site: Site) {
        let slot = self.slot(number);
        // SAFETY: the slot is the sender's until it tells the receiver.
        unsafe { (*slot.message.get()).write(message) };
        on(&slot.full, TAKEN, Op::post(Addr::NONE, site));
    }

    /// Waits until the message with this number has been taken; `false` if the receiver goes first.
    fn wait_until_taken(&self, number: usize, site: Site) -> bool {
        let over = || self.is_deaf.get() && self.received.get() <= number;
        let object = Object::new(&self.slot(number).taken, KIND);
        if shared::wait_unless(object, TAKEN, Op::wait(Addr::NONE, false, site), &over).is_some() {
            return true;
        }
        on(&self.receiver, TAKEN, Op::enter(Addr::NONE, 0, site));
        false
    }

    // ---------------------------------------------------------------- the receiver

    /// Waits for a message; `None` when all senders have gone and there is none.
    pub(super) fn receive(&self, site: Site) -> Option<T> {
        let number = self.received.get();
        let over = || self.live.get() == 0 && self.sent.get() <= number;
        let object = Object::new(&self.slot(number).full, KIND);
        if shared::wait_unless(object, TAKEN, Op::wait(Addr::NONE, false, site), &over).is_some() {
            return Some(self.take(number, site));
        }
        self.see_gone(std::ptr::null(), site);
        self.is_mute.set(true);
        None
    }

    /// Waits for a message until nothing else can run and the time is over.
    pub(super) fn receive_within(&self, time: Duration, site: Site) -> Result<T, RecvTimeoutError> {
        let number = self.received.get();
        let over = || self.live.get() == 0 && self.sent.get() <= number;
        let object = Object::new(&self.slot(number).full, KIND);
        match clocks::wait(object, TAKEN, Op::wait(Addr::NONE, false, site), time, &over) {
            Waited::Value(_) => Ok(self.take(number, site)),
            Waited::TimeIsOver => Err(RecvTimeoutError::Timeout),
            Waited::Over => {
                self.see_gone(std::ptr::null(), site);
                self.is_mute.set(true);
                Err(RecvTimeoutError::Disconnected)
            }
        }
    }

    /// A message if there is one. `waiting`: the caller waits for a while, and a sender in haste may
    /// meet it.
    pub(super) fn try_receive(&self, waiting: bool, site: Site) -> Result<T, TryRecvError> {
        if self.is_mute.get() {
            return Err(TryRecvError::Disconnected);
        }
        let number = self.received.get();
        let full = &self.slot(number).full;
        if self.is_sent(number) {
            on(full, TAKEN, Op::wait(Addr::NONE, false, site));
        } else if on(full, TAKEN, Op::try_lock(Addr::NONE, site)) != 0 {
            self.see_closed(site)?;
            if !self.is_sent(number) {
                return Err(TryRecvError::Disconnected);
            }
            on(full, TAKEN, Op::wait(Addr::NONE, false, site));
        }
        if !waiting && self.slot(number).hasty.get() {
            ops::give_up(site);
        }
        Ok(self.take(number, site))
    }

    /// Whether the caller knows that the message with this number is on its way.
    fn is_sent(&self, number: usize) -> bool {
        (shared::known_value(Object::new(&self.tail, KIND), OPEN) / SEND) as usize > number
    }

    /// Looks whether all senders have gone.
    fn see_closed(&self, site: Site) -> Result<(), TryRecvError> {
        let closed = if facts::fact(Fact::ClosingIsPolled) == 0 && shared::is_alone() {
            self.live.get() == 0
        } else {
            facts::learn(Fact::ClosingIsPolled, 1);
            on(&self.closed, 0, Op::load(Addr::NONE, Mode::Acquire, site)) != 0
        };
        if closed { Ok(()) } else { Err(TryRecvError::Empty) }
    }

    /// Reads that the senders cloned of this one have gone, and those cloned of them.
    fn see_gone(&self, parent: *const Handle, site: Site) {
        // What was cloned of a sender is complete here once that one is known to have gone.
        let find = |last: Option<(u32, usize)>| {
            let handles = self.handles.borrow();
            let children = handles.iter().filter(|handle| handle.parent == parent);
            let next = children.filter(|handle| last.is_none_or(|last| handle.key > last));
            next.min_by_key(|handle| handle.key).map(Rc::as_ptr)
        };
        let mut last = None;
        while let Some(child) = find(last) {
            // SAFETY: handles live as long as the channel.
            let handle = unsafe { &*child };
            last = Some(handle.key);
            on(&handle.gone, TAKEN, Op::enter(Addr::NONE, 0, site));
            self.see_gone(child, site);
        }
    }

    /// Takes the message that the receiver was told of.
    fn take(&self, number: usize, site: Site) -> T {
        self.received.set(number + 1);
        // SAFETY: the message is there, and it is taken once.
        let message = unsafe { self.message(number) };
        if self.capacity.is_some() {
            on(&self.slot(number).taken, TAKEN, Op::post(Addr::NONE, site));
        }
        message
    }

    /// The receiver goes, and what was sent to it.
    pub(super) fn drop_receiver(&self, site: Site) {
        let op = Op::rmw(Addr::NONE, Rmw::And, Mode::Release, !OPEN, site);
        let sent = (on(&self.tail, OPEN, op) / SEND) as usize;
        if self.capacity.is_some() {
            on(&self.receiver, TAKEN, Op::store(Addr::NONE, Mode::Release, GONE, site));
        }
        self.is_deaf.set(true);
        let received = self.received.get();
        for number in received..self.sent.get() {
            shared::wake(&self.slot(number).taken);
        }
        // Senders that still wait for room keep their messages.
        let room = self.capacity.map_or(usize::MAX, |room| received + room);
        if needs_drop::<T>() {
            for number in received..sent.min(room) {
                on(&self.slot(number).full, TAKEN, Op::wait(Addr::NONE, false, site));
                // SAFETY: as in `take`.
                drop(unsafe { self.message(number) });
            }
        }
    }

    // ---------------------------------------------------------------- slots

    /// The message in a slot.
    ///
    /// # Safety
    ///
    /// It must be there, and must not be taken again.
    unsafe fn message(&self, number: usize) -> T {
        // SAFETY: as the caller promises; only one thread runs at a time.
        unsafe { (*self.slot(number).message.get()).assume_init_read() }
    }

    /// The slot with this number. Slots do not move.
    fn slot(&self, number: usize) -> &Slot<T> {
        // SAFETY: only one thread runs at a time, and none is stopped here.
        let blocks = unsafe { &mut *self.slots.get() };
        while blocks.len() <= number / BLOCK {
            shared::in_common(|| {
                blocks.push((0..BLOCK).map(|_| Slot::new()).collect());
            });
        }
        &blocks[number / BLOCK][number % BLOCK]
    }
}

impl<T> Slot<T> {
    fn new() -> Slot<T> {
        Slot {
            full: Tag::new(),
            taken: Tag::new(),
            message: UnsafeCell::new(MaybeUninit::uninit()),
            hasty: Cell::new(false),
        }
    }
}

/// What reports call all this.
const KIND: &str = "channel";

/// The modes of taking a number. Who gets none learns what the receiver did.
const ON_TAIL: (Mode, Mode) = (Mode::Relaxed, Mode::Acquire);

fn on(tag: &Tag, init: Value, op: Op) -> Value {
    ops::on_object(Object::new(tag, KIND), init, op)
}
