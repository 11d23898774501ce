//! Message passing with a flag that publishes nothing: the reader may see it and miss the data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

fn main() {
    let data = Arc::new(AtomicUsize::new(0));
    let flag = Arc::new(AtomicBool::new(false));
    let (d, f) = (data.clone(), flag.clone());
    let writer = std::thread::spawn(move || {
        d.store(1, Relaxed);
        f.store(true, Relaxed);
    });
    if flag.load(Acquire) {
        assert_eq!(data.load(Relaxed), 1);
    }
    writer.join().unwrap();
}
