//! The same code, checked.

use adopted::Bounded;
use unpick::sync::Arc;
use unpick::thread;

#[test]
fn items_come_out_in_order() {
    unpick::check(|| {
        let queue = Arc::new(Bounded::new(1));
        let theirs = Arc::clone(&queue);
        let producer = thread::spawn(move || {
            for item in 0..3 {
                theirs.push(item);
            }
        });
        for item in 0..3 {
            assert_eq!(queue.pop(), item);
        }
        producer.join().unwrap();
    });
}
