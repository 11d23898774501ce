//! Processes that stand by, in case the program destroys the memory of the check.
//!
//! The engine lives in the process of the program, and a write through a stray pointer can hit it. So the process that was
//! started only *keeps*: before the first execution it makes the *worker*, which explores. From time to time the worker makes a
//! copy of itself, which does nothing but wait: a *checkpoint*, whose memory the program cannot reach. When a worker dies, the
//! keeper wakes the latest checkpoint, which is the worker from then on. It comes to the same death again, since all is
//! repeated; on the way it makes checkpoints more often, until few executions are left between the last of them and the death.
//! From there on executions are [isolated](crate::isolation), which shows the write itself.
//!
//! All that a worker tells the others is in the kernel, but for one number: how many executions it has begun. A wrong one only
//! makes isolation begin earlier.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use unpick_core::error::Error;

use crate::crash;
use crate::isolation;
use crate::start;
use crate::sys;
use crate::watch::Watch;

/// How a worker ends that has said everything.
pub(crate) const DONE: i32 = 42;
/// How a worker ends that has found its own memory destroyed.
pub(crate) const BROKEN: i32 = 70;
/// How a worker ends that has said why it cannot go on.
pub(crate) const TOLD: i32 = 71;
/// How a process ends that was interrupted twice.
const INTERRUPTED: i32 = 130;

/// Checkpoints that are kept besides the beginning.
const SLOTS: usize = 2;
/// Executions that are isolated rather than run again to come closer.
const CLOSE: u64 = 16;
/// Workers at most that die before the check ends.
const DEATHS: u32 = 12;
/// Time between two checkpoints at least.
const EVERY: Duration = Duration::from_millis(250);
/// How often the keeper looks whether the worker is blocked.
const LOOK: Duration = Duration::from_millis(200);

/// What a checkpoint is woken for.
const GO_ON: u8 = b'g';
const END: u8 = b'e';

/// The worker's side.
pub(crate) struct Standby {
    /// Where new checkpoints are announced; `None`: nobody keeps.
    control: Option<i32>,
    /// For each slot, where its checkpoint waits, and which process it is.
    slots: [(i32, Option<i32>); SLOTS],
    next: usize,
    /// Executions that the worker has begun, for all to see.
    begun: *mut u64,
    /// From this execution on a checkpoint is due.
    due: u64,
    /// Executions between checkpoints, up to where a worker has died.
    interval: Option<(u64, u64)>,
    /// When the next one is due otherwise, as time since the start.
    due_at: Duration,
    /// Whether executions are to be isolated.
    pub(crate) isolated: bool,
    /// Whether the check is to end.
    pub(crate) ends: bool,
}

/// The keeper's side.
struct Keeper {
    control: i32,
    /// Where each slot's checkpoint is woken, and the checkpoint.
    slots: [(i32, Option<i32>); SLOTS],
    /// The slot that was used last.
    last: usize,
    deaths: u32,
    /// Whether another worker follows one that has died.
    checkpoints: bool,
    begun: *mut u64,
}

impl Standby {
    /// A check without a keeper.
    pub(crate) fn none(isolated: bool) -> Standby {
        let begun = Box::leak(Box::new(0));
        let slots = [(-1, None); SLOTS];
        let due_at = Duration::MAX;
        Standby {
            control: None,
            slots,
            next: 0,
            begun,
            due: u64::MAX,
            interval: None,
            due_at,
            isolated,
            ends: false,
        }
    }

    /// Makes the process a keeper, and returns in the worker. Without `checkpoints` it only watches over the worker.
    ///
    /// # Errors
    ///
    /// When the machine has no room for it.
    pub(crate) fn begin(hang: Duration, checkpoints: bool) -> Result<Standby, Error> {
        let refused = || Error::Machine {
            problem: String::from(
                "no pipes or processes for the check; raise the limits, or use `--isolation restore`",
            ),
        };
        let pipe = || sys::pipe().ok_or_else(refused);
        let control = pipe()?;
        let slots = [pipe()?, pipe()?];
        let begun = sys::map_shared(4096).ok_or_else(refused)? as *mut u64;
        let mut keeper = Keeper {
            control: control[0],
            slots: slots.map(|slot| (slot[1], None)),
            last: 0,
            deaths: 0,
            checkpoints,
            begun,
        };
        // Checkpoints whose worker has died become children of the keeper.
        // SAFETY: sets an attribute of the process.
        unsafe { sys::call(libc::SYS_prctl, [libc::PR_SET_CHILD_SUBREAPER as usize, 1, 0, 0, 0, 0]) };
        let isolated = keeper.keep(hang).ok_or_else(refused)?;
        sys::close(control[0]);
        slots.iter().for_each(|slot| sys::close(slot[1]));
        let slots = slots.map(|slot| (slot[0], None));
        let mut standby = Standby { slots, begun, ..Standby::none(isolated) };
        if checkpoints {
            (standby.control, standby.due_at) = (Some(control[1]), EVERY);
        }
        KEPT.store(true, Relaxed);
        become_worker();
        Ok(standby)
    }

    /// Notes that an execution is about to begin.
    #[inline(always)]
    pub(crate) fn note(&mut self, executions: u64) {
        // SAFETY: a word of its own, which is never unmapped.
        unsafe { self.begun.write_volatile(executions) };
    }

    /// Whether a checkpoint is to be made.
    #[inline(always)]
    pub(crate) fn is_due(&self, executions: u64) -> bool {
        executions >= self.due
    }

    /// Looks at the clock.
    pub(crate) fn look(&mut self, executions: u64, elapsed: Duration) {
        if elapsed >= self.due_at {
            self.due = self.due.min(executions);
        }
    }

    /// Asks for a checkpoint as soon as possible.
    pub(crate) fn hurry(&mut self) {
        self.due = 0;
    }

    /// Makes a checkpoint; `elapsed` tells the time since the start. Returns in the worker, and in the checkpoint when that has
    /// become the worker: whether it has.
    pub(crate) fn checkpoint(&mut self, executions: u64, elapsed: impl Fn() -> Duration) -> bool {
        let interval = self.interval.filter(|(_, death)| executions <= *death);
        self.due = interval.map_or(u64::MAX, |(interval, _)| executions + interval);
        let Some(control) = self.control.filter(|_| !self.isolated) else {
            self.due = u64::MAX;
            return false;
        };
        let before = elapsed();
        let slot = self.next;
        if let Some(old) = self.slots[slot].1.take() {
            sys::kill(old, libc::SIGKILL);
            sys::wait(old, 0);
        }
        let process = sys::fork();
        match process {
            0 => self.wait_in(slot, executions),
            1.. => {
                self.slots[slot].1 = Some(process as i32);
                self.next = (slot + 1) % SLOTS;
                let number = (process as u32).to_le_bytes();
                let told = [slot as u8, number[0], number[1], number[2], number[3], 0, 0, 0];
                sys::write(control, &told);
            }
            // Without a checkpoint the one before has to do.
            _ => {}
        }
        let now = elapsed();
        // What is written later costs as much again, so this is rare enough.
        self.due_at = now + EVERY.max(100 * now.saturating_sub(before));
        process == 0
    }

    /// Waits as a checkpoint, until it is needed.
    fn wait_in(&mut self, slot: usize, executions: u64) {
        let mut order = [0u8];
        if sys::read(self.slots[slot].0, &mut order) != 1 {
            sys::exit(0);
        }
        become_worker();
        self.next = (slot + 1) % SLOTS;
        self.ends = order[0] == END;
        // SAFETY: as in `note`.
        let begun = unsafe { self.begun.read_volatile() };
        let lost = begun.checked_sub(executions).filter(|&lost| lost > CLOSE && lost < 1 << 32);
        match lost {
            Some(lost) => {
                self.interval = Some(((lost / CLOSE).max(1), begun));
                self.hurry();
            }
            None => self.isolated = true,
        }
    }
}

/// What a process needs when it becomes the worker.
fn become_worker() {
    end_with_parent();
    crash::start_clock();
}

/// Lets the process end when the one that has made it does.
pub(crate) fn end_with_parent() {
    // SAFETY: sets an attribute of the process.
    unsafe {
        sys::call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0])
    };
}

/// Whether the process ends when the one that has made it does: then that one finds out why it has died. The kernel knows, whatever the
/// program has written over.
pub(crate) fn ends_with_parent() -> bool {
    let mut signal = 0i32;
    let arguments = [libc::PR_GET_PDEATHSIG as usize, &raw mut signal as usize, 0, 0, 0, 0];
    // SAFETY: the place for the number is valid.
    unsafe { sys::call(libc::SYS_prctl, arguments) };
    signal == libc::SIGKILL
}

/// Whether somebody keeps.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Ends the process, whose work is done.
pub(crate) fn done() -> ! {
    sys::exit(if KEPT.load(Relaxed) { DONE } else { 0 })
}

/// Ends the process, whose engine has failed. Where that may be the program's doing, another process finds out.
pub(crate) fn broken(problem: &str) -> ! {
    if ends_with_parent() && !isolation::is_on() {
        sys::exit(BROKEN);
    }
    start::fail(&format!(
        "the runtime has failed: {problem}; the program may have written over the stack of one of its threads; if it does \
         not do such things, please report this"
    ));
    sys::exit(TOLD)
}

impl Keeper {
    /// Makes a worker, and returns in it: whether it is to isolate executions. `None`: there is no process for it.
    fn keep(&mut self, hang: Duration) -> Option<bool> {
        // A process that ends interrupts the wait for announcements.
        crash::heed_children(true);
        loop {
            let isolated = self.deaths > 0;
            match sys::fork() {
                0 => {
                    crash::heed_children(false);
                    return Some(isolated);
                }
                process @ 1.. => self.watch(process as i32, hang),
                _ => {
                    crash::heed_children(false);
                    return None;
                }
            }
        }
    }

    /// Watches over a worker and those that follow it, until one has said everything, or a new one is needed.
    fn watch(&mut self, mut worker: i32, hang: Duration) {
        let mut watch = Watch::new(worker, hang);
        loop {
            self.hear(LOOK);
            while let Some((process, status)) = sys::wait(-1, libc::WNOHANG) {
                self.hear(Duration::ZERO);
                if process != worker {
                    self.slots.iter_mut().for_each(|slot| slot.1 = slot.1.filter(|&known| known != process));
                    continue;
                }
                match self.follow(status) {
                    Some(next) => worker = next,
                    None => return,
                }
                watch = Watch::new(worker, hang);
            }
            watch.look();
        }
    }

    /// Waits for announcements, for so long at most, and takes them.
    fn hear(&mut self, mut timeout: Duration) {
        let mut told = [0u8; 8];
        while sys::is_readable(self.control, timeout) {
            timeout = Duration::ZERO;
            if sys::read(self.control, &mut told) != told.len() as isize {
                return;
            }
            let process = i32::from_le_bytes([told[1], told[2], told[3], told[4]]);
            if let Some(slot) = self.slots.get_mut(usize::from(told[0])) {
                slot.1 = Some(process);
                self.last = usize::from(told[0]);
            }
        }
    }

    /// The process that takes over from a worker that has ended; `None`: one is to be made.
    fn follow(&mut self, status: i32) -> Option<i32> {
        let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        if matches!(code, Some(DONE | TOLD | INTERRUPTED)) {
            self.end(code.filter(|&code| code != DONE).unwrap_or(0));
        }
        self.deaths += 1;
        // Those who send such a signal want the check to end, or there is no memory for it.
        let ending = [libc::SIGKILL, libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];
        let stopped = libc::WIFSIGNALED(status) && ending.contains(&libc::WTERMSIG(status));
        let order = if stopped || self.deaths >= DEATHS { END } else { GO_ON };
        for slot in [self.last, (self.last + 1) % SLOTS] {
            if let Some(process) = self.slots[slot].1.take() {
                sys::write(self.slots[slot].0, &[order]);
                return Some(process);
            }
        }
        if order == END || self.deaths > 2 || !self.checkpoints {
            // SAFETY: as in `note`.
            let begun = unsafe { self.begun.read_volatile() };
            start::fail(&format!(
                "the process that explores has died ({}) after about {begun} executions; run it again with `--isolation \
                 fork`, which is slow and finds writes to memory that is not the program's",
                told_status(status)
            ));
            self.end(TOLD);
        }
        None
    }

    /// Ends all that is left.
    fn end(&self, code: i32) -> ! {
        for process in self.slots.iter().filter_map(|slot| slot.1) {
            sys::kill(process, libc::SIGKILL);
            sys::wait(process, 0);
        }
        sys::exit(code)
    }
}

/// How a process ended, in words.
pub(crate) fn told_status(status: i32) -> String {
    match libc::WIFSIGNALED(status) {
        true => format!("signal {}", libc::WTERMSIG(status)),
        false => format!("exit code {}", libc::WEXITSTATUS(status)),
    }
}
