//! How programs that were built together are run quickly.
//!
//! To start a process takes longer than most checks. Rust programs are explored by a process that makes one check after the
//! other, as a line of its input says. One that does not answer is given up, and whoever asked makes the check in a process of
//! its own. A C program is a process in any case, but it is listened to without the command line, which would look up
//! names that nobody reads.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use unpick_native_wire::{CHANNEL, Message};

use super::verdict::PATIENCE;

/// The line after all that is said about a check.
const END: &str = "that is all";

/// A process that makes one check after the other.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
}

impl Worker {
    /// Starts one.
    pub(crate) fn start(command: &mut Command) -> Option<Worker> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().ok()?;
        let (questions, said) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(said).lines().map_while(Result::ok);
            // Nobody listens any more if that fails.
            lines.map(|line| sender.send(line)).find(Result::is_err)
        });
        Some(Worker { child, questions, answers })
    }

    /// What is said about a check; nothing if the process has lost its way.
    pub(crate) fn ask(&mut self, question: &str) -> Option<String> {
        writeln!(self.questions, "{question}").ok()?;
        let mut said = String::new();
        loop {
            let line = self.answers.recv_timeout(PATIENCE).ok()?;
            if line == END {
                return Some(said);
            }
            said += &line;
            said.push('\n');
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the runtime in a C program says about it; nothing if it ends without a verdict.
pub(crate) fn listen(command: &mut Command) -> Option<String> {
    let (messages, end) = UnixStream::pair().ok()?;
    messages.set_read_timeout(Some(PATIENCE)).ok()?;
    command.stdin(OwnedFd::from(end)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.env(CHANNEL, "0").env("LD_BIND_NOW", "1").spawn().ok()?;
    // The command has the other end of the socket, which is to be closed when the program has ended.
    command.stdin(Stdio::null());
    let said = read(messages);
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    said
}

/// Messages up to the verdict, as the lines that are looked at: what each violation is, and the verdict.
fn read(messages: UnixStream) -> Option<String> {
    let mut said = String::new();
    for line in BufReader::new(messages).lines() {
        match Message::read(&line.ok()?).ok()? {
            Message::Violation(found) => said += &format!("error: {}\n", found.finding.title),
            Message::Ended(verdict) => return Some(said + &verdict.text),
            Message::Failed { text } => return Some(format!("error: {text}\n")),
            Message::Ask(_) => return None,
            Message::Started { .. } | Message::Progress(_) => {}
        }
    }
    None
}
