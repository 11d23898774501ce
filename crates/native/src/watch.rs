//! A watch over a process that may be blocked in a system call.
//!
//! What a thread of the program waits for by way of the runtime is known. What it waits for in the kernel, such as bytes from a pipe
//! that nobody writes to, is not, and nothing of the check would ever run again. A process that uses no processor for long
//! and sleeps in a system call is sent a signal, with the number of the call; [`crate::crash`] says what it was doing.

use std::time::{Duration, Instant};

use crate::sys;

/// Looks after a process.
pub(crate) struct Watch {
    process: i32,
    /// How long it may sleep.
    hang: Duration,
    /// Processor time that it had used when it was first seen to sleep, and when that was.
    seen: (u64, Instant),
}

impl Watch {
    pub(crate) fn new(process: i32, hang: Duration) -> Watch {
        Watch { process, hang, seen: (u64::MAX, Instant::now()) }
    }

    /// Looks whether the process is blocked; if it is, it is told.
    pub(crate) fn look(&mut self) {
        let used = used(self.process);
        let now = Instant::now();
        if used != self.seen.0 {
            self.seen = (used, now);
        } else if now.duration_since(self.seen.1) >= self.hang
            && let Some(number) = blocked_in(self.process)
        {
            self.seen.1 = now;
            tell(self.process, number);
        }
    }
}

/// Processor time of a process, in nanoseconds.
fn used(process: i32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // The clock of a process, as the kernel numbers them.
    let clock = (!process as u32) << 3 | 2;
    // SAFETY: the place for the time is valid.
    unsafe {
        sys::call(
            libc::SYS_clock_gettime,
            [clock as i32 as isize as usize, &raw mut time as usize, 0, 0, 0, 0],
        )
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The number of the system call that a process sleeps in.
fn blocked_in(process: i32) -> Option<i32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/syscall")).ok()?;
    text.split(' ').next()?.trim().parse().ok().filter(|&number| number >= 0)
}

/// Where the value of a signal is in its description, in words: after three numbers and a gap come the sender, its user, and the
/// value.
const VALUE: usize = 6;

/// The number that came with a signal.
///
/// # Safety
///
/// The description is that of a signal.
pub(crate) unsafe fn number(info: *const libc::siginfo_t) -> i32 {
    // SAFETY: within the description, of which all bytes are there.
    unsafe { info.cast::<i32>().add(VALUE).read() }
}

/// System calls that may last.
const CALLS: [(i64, &str); 36] = [
    (libc::SYS_read, "read"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_write, "write"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_open, "open"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_poll, "poll"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_select, "select"),
    (libc::SYS_pselect6, "pselect6"),
    (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept4"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_pause, "pause"),
    (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
    (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_msgsnd, "msgsnd"),
    (libc::SYS_semop, "semop"),
    (libc::SYS_mq_timedreceive, "mq_timedreceive"),
];

/// What is said of a thread that is blocked in a system call.
pub(crate) fn told(number: i32) -> String {
    let known = CALLS.iter().find(|(known, _)| *known == i64::from(number));
    let call = known.map_or_else(|| format!("number {number}"), |(_, name)| format!("`{name}`"));
    format!(
        "the thread is blocked in the system call {call}, and no other thread runs meanwhile that could end it"
    )
}

/// Sends the signal.
fn tell(process: i32, number: i32) {
    // SAFETY: zeroes are a valid description of a signal.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    info.si_signo = libc::SIGVTALRM;
    info.si_code = libc::SI_QUEUE;
    // SAFETY: within the description.
    unsafe { (&raw mut info).cast::<i32>().add(VALUE).write(number) };
    let arguments = [process as usize, libc::SIGVTALRM as usize, &raw const info as usize, 0, 0, 0];
    // SAFETY: the description is readable.
    unsafe { sys::call(libc::SYS_rt_sigqueueinfo, arguments) };
}
