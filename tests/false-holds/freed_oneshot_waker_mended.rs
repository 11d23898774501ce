//! holds
//!
//! As the other one, but the sender takes the handle first.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

use unpick::sync::atomic::AtomicU8;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use unpick::thread::{self, Thread};

const EMPTY: u8 = 0;
const RECEIVING: u8 = 1;
const MESSAGE: u8 = 2;
const UNPARKING: u8 = 3;

struct Channel {
    state: AtomicU8,
    message: UnsafeCell<MaybeUninit<u32>>,
    receiver: UnsafeCell<Option<Thread>>,
}

struct Sender(*const Channel);
// SAFETY: the state says whose turn it is.
unsafe impl Send for Sender {}

fn send(sender: &Sender, message: u32) {
    // SAFETY: as above.
    unsafe {
        let channel = &*sender.0;
        (*channel.message.get()).write(message);
        if channel.state.compare_exchange(EMPTY, MESSAGE, AcqRel, Acquire).is_err() {
            channel.state.store(UNPARKING, Release);
            let receiver = (*channel.receiver.get()).take();
            channel.state.store(MESSAGE, Release);
            receiver.unwrap().unpark();
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let channel = Box::into_raw(Box::new(Channel {
            state: AtomicU8::new(EMPTY),
            message: UnsafeCell::new(MaybeUninit::uninit()),
            receiver: UnsafeCell::new(None),
        }));
        let sender = Sender(channel);
        let other = thread::spawn(move || {
            let sender = sender;
            send(&sender, 5);
        });
        // SAFETY: as above.
        unsafe {
            *(*channel).receiver.get() = Some(thread::current());
            if (*channel).state.compare_exchange(EMPTY, RECEIVING, AcqRel, Acquire).is_ok() {
                while (*channel).state.load(Acquire) != MESSAGE {
                    thread::park();
                }
            }
            assert_eq!((*(*channel).message.get()).assume_init(), 5);
            drop(Box::from_raw(channel));
        }
        other.join().unwrap();
    }
}
