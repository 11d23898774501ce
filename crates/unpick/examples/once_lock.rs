//! A value that is made once, by whoever comes first.
//!
//! `get` and then `set` are two steps: two threads may both find nothing, and both make a
//! connection. `get_or_init` is one.
//!
//! `cargo run -p unpick --example once_lock` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;

use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::sync::{Arc, OnceLock};
use unpick::{Check, thread};

#[derive(Default)]
struct Server {
    connections: AtomicUsize,
}

impl Server {
    fn connect(&self) -> usize {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Client {
    server: Server,
    connection: OnceLock<usize>,
}

impl Client {
    fn connection(&self, fixed: bool) -> usize {
        if fixed {
            return *self.connection.get_or_init(|| self.server.connect());
        }
        match self.connection.get() {
            Some(connection) => *connection,
            None => {
                let connection = self.server.connect();
                let _ = self.connection.set(connection);
                connection
            }
        }
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    show::show(&Check::new().run(move || {
        let client = Arc::new(Client::default());
        let theirs = Arc::clone(&client);
        let other = thread::spawn(move || theirs.connection(fixed));
        let mine = client.connection(fixed);
        assert_eq!(mine, other.join().unwrap(), "two connections were made");
    }))
}
