//! Philosophers who share forks.
//!
//! Each takes the fork at the left and then the one at the right. If all have taken their first,
//! nobody gets a second: a deadlock. It goes away when everybody takes the fork with the lower
//! number first.
//!
//! `cargo run -p unpick --example dining` finds the deadlock; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;
use unpick::sync::Arc;

use unpick::sync::Mutex;
use unpick::{Check, thread};

const SEATS: usize = 3;

/// How often a fork has been used.
type Fork = Mutex<usize>;

/// The forks of a seat, in the order in which they are taken.
fn forks_of(seat: usize, fixed: bool) -> (usize, usize) {
    let (left, right) = (seat, (seat + 1) % SEATS);
    if fixed { (left.min(right), left.max(right)) } else { (left, right) }
}

fn dine(forks: &[Fork; SEATS], seat: usize, fixed: bool) {
    let (first, second) = forks_of(seat, fixed);
    let mut first = forks[first].lock().unwrap();
    let mut second = forks[second].lock().unwrap();
    *first += 1;
    *second += 1;
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    show::show(&Check::new().run(move || {
        let forks: Arc<[Fork; SEATS]> = Arc::new(std::array::from_fn(|_| Mutex::new(0)));
        let guests: Vec<_> = (0..SEATS)
            .map(|seat| {
                let forks = Arc::clone(&forks);
                thread::spawn(move || dine(&forks, seat, fixed))
            })
            .collect();
        for guest in guests {
            guest.join().unwrap();
        }
        let uses: usize = forks.iter().map(|fork| *fork.lock().unwrap()).sum();
        assert_eq!(uses, 2 * SEATS);
    }))
}
