//! holds
//!
//! They share what they compute with.

use unpick::sync::mpsc::channel;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (sender, receiver) = channel();
        for number in [1, 2] {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number * number).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<u32>(), 5);
    }
}
