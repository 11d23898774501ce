//! violated: data race
//!
//! A thread keeps a pointer into a box that it has sent away.

use unpick::cell::UnsafeCell;
use unpick::sync::mpsc;
use unpick::thread;

struct Page(Box<UnsafeCell<[u8; 6]>>);

// SAFETY: a page has one owner.
unsafe impl Send for Page {}

impl Page {
    fn write(&self, byte: u8) -> *mut u8 {
        let bytes = self.0.get().cast::<u8>();
        // SAFETY: the page is ours.
        unsafe { bytes.add(2).write(byte) };
        bytes
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (there, receiver) = mpsc::channel::<Page>();
        let (back, pages) = mpsc::channel::<Page>();
        let other = thread::spawn(move || {
            for page in receiver {
                page.write(7);
                back.send(page).unwrap();
            }
        });
        let page = Page(Box::new(UnsafeCell::new([0; 6])));
        let kept = page.write(1);
        there.send(page).unwrap();
        // SAFETY: it is not.
        unsafe { kept.add(2).write(9) };
        let page = pages.recv().unwrap();
        page.write(3);
        drop(there);
        other.join().unwrap();
    }
}
