//! What a thread can ask for: operations, their memory orders and operands.
//!
//! An [`Op`] is a request, made before anything happens; the event that it becomes is in
//! [`event`](crate::event). Ops are flat and `Copy`, since one is built for every shared-memory
//! access of every execution.

use std::fmt;

/// A value in memory. Narrower types are zero-extended.
pub type Value = u64;

/// A thread of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that every program starts with.
    pub const MAIN: ThreadId = ThreadId(0);

    /// The id as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}

/// An atomic location or a lock: the number that the execution gave it when it was first used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Addr(pub u32);

impl Addr {
    /// For operations that touch no location.
    pub const NONE: Addr = Addr(u32::MAX);

    /// The number as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in the source, as an opaque number that the front-end can resolve.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Site(pub u64);

/// A memory order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mode {
    /// Not atomic.
    #[cfg_attr(feature = "serde", serde(rename = "plain"))]
    Plain,
    /// Atomic, without synchronisation.
    Relaxed,
    /// Takes over what the writer published.
    Acquire,
    /// Publishes what the thread knows.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Acquire, release, and in the one total order of all such operations.
    SeqCst,
}

impl Mode {
    /// Whether a read with this mode acquires.
    #[inline(always)]
    pub fn acquires(self) -> bool {
        matches!(self, Mode::Acquire | Mode::AcqRel | Mode::SeqCst)
    }

    /// Whether a write with this mode releases.
    #[inline(always)]
    pub fn releases(self) -> bool {
        matches!(self, Mode::Release | Mode::AcqRel | Mode::SeqCst)
    }

    /// Whether this is sequentially consistent.
    #[inline(always)]
    pub fn is_seqcst(self) -> bool {
        self == Mode::SeqCst
    }

    /// Whether the access is atomic at all.
    #[inline(always)]
    pub fn is_atomic(self) -> bool {
        self != Mode::Plain
    }

    /// The name as Rust spells it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Relaxed => "Relaxed",
            Mode::Acquire => "Acquire",
            Mode::Release => "Release",
            Mode::AcqRel => "AcqRel",
            Mode::SeqCst => "SeqCst",
        }
    }
}

/// What a read-modify-write computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Rmw {
    /// Not a read-modify-write.
    None,
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise not-and.
    Nand,
    /// Unsigned maximum.
    Max,
    /// Unsigned minimum.
    Min,
    /// Signed maximum.
    SignedMax,
    /// Signed minimum.
    SignedMin,
    /// Exchange.
    Swap,
    /// Compare and exchange.
    Cas,
    /// Compare and exchange that may fail without a reason.
    WeakCas,
    /// Take a free lock: 0 becomes 1, and the thread waits while it is 1. Any other value lets the
    /// thread pass without taking anything, except for `expected`, which is taken like 0.
    Lock,
    /// Take a lock if it is free.
    TryLock,
    /// Wait for a signal, and use it up: as taking a lock that others give back.
    Await,
    /// Send a signal: as giving back a lock that somebody else has taken, or nobody.
    Post,
    /// Clear the bit that has `operand` set bits below it, if there is one.
    TakeBit,
    /// Clear all bits, if there are any.
    TakeAll,
    /// Stop waiting: keep the bits of `operand`.
    GiveUp,
    /// Add, if the value has a bit of `expected`.
    AddIf,
    /// Add `expected`; the thread waits while the value is 1.
    AddUnlocked,
}

/// The value of a lock that is taken, and of a signal that was not sent.
pub const TAKEN: Value = 1;

impl Rmw {
    /// The name of the operation as a user wrote it.
    pub fn name(self) -> &'static str {
        match self {
            Rmw::None => "load",
            Rmw::Add => "fetch_add",
            Rmw::Sub => "fetch_sub",
            Rmw::And => "fetch_and",
            Rmw::Or => "fetch_or",
            Rmw::Xor => "fetch_xor",
            Rmw::Nand => "fetch_nand",
            Rmw::Max | Rmw::SignedMax => "fetch_max",
            Rmw::Min | Rmw::SignedMin => "fetch_min",
            Rmw::Swap => "swap",
            Rmw::Cas => "compare_exchange",
            Rmw::WeakCas => "compare_exchange_weak",
            Rmw::Lock => "lock",
            Rmw::TryLock => "try_lock",
            Rmw::Await => "wait",
            Rmw::Post => "wake",
            Rmw::TakeBit => "notify_one",
            Rmw::TakeAll => "notify_all",
            Rmw::GiveUp => "wait_timeout",
            Rmw::AddIf | Rmw::AddUnlocked => "fetch_update",
        }
    }

    /// Whether the operation writes whatever it reads.
    #[inline(always)]
    pub fn always_writes(self) -> bool {
        (Rmw::Add as u8..=Rmw::Swap as u8).contains(&(self as u8))
    }

    /// Whether a thread may have to wait before this operation.
    #[inline(always)]
    pub fn may_wait(self) -> bool {
        matches!(self, Rmw::Lock | Rmw::Await | Rmw::AddUnlocked)
    }

    /// Whether a thread waits before this operation while the location has this value.
    #[inline(always)]
    pub fn waits_on(self, value: Value) -> bool {
        self.may_wait() && value == TAKEN
    }
}

/// The kind of an op, and of the event that it becomes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A load, or a read-modify-write when `rmw` says so.
    Read,
    /// A store.
    Write,
    /// A memory fence.
    Fence,
    /// Starts a thread; the reply is its id.
    Spawn,
    /// Waits for a thread to end.
    Join,
    /// The end of a thread.
    Finish,
    /// A nondeterministic number below `operand`.
    Choice,
}

/// One request of a thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Op {
    /// What to do.
    pub kind: Kind,
    /// What a read-modify-write computes.
    pub rmw: Rmw,
    /// Memory order; for a compare-and-exchange that of success.
    pub mode: Mode,
    /// Memory order of a compare-and-exchange that fails.
    pub failure: Mode,
    /// Width of the accessed value in bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// Whether values are addresses, which may differ from run to run where memory is not ours.
    pub pointer: bool,
    /// The location, or [`Addr::NONE`].
    pub addr: Addr,
    /// Value to store, operand of a read-modify-write, thread to join, or bound of a choice.
    pub operand: Value,
    /// Expected value of a compare-and-exchange.
    pub expected: Value,
    /// Where in the source.
    pub site: Site,
}

impl Op {
    #[inline(always)]
    fn bare(kind: Kind, site: Site) -> Op {
        Op {
            kind,
            rmw: Rmw::None,
            mode: Mode::Plain,
            failure: Mode::Plain,
            width: 8,
            pointer: false,
            addr: Addr::NONE,
            operand: 0,
            expected: 0,
            site,
        }
    }

    /// Whether the op draws one of several numbers for the program, which concerns no other thread.
    #[inline(always)]
    pub fn draws(&self) -> bool {
        self.kind == Kind::Choice && self.operand > 1 && self.rmw == Rmw::None
    }

    /// A load.
    #[inline(always)]
    pub fn load(addr: Addr, mode: Mode, site: Site) -> Op {
        Op { mode, addr, ..Op::bare(Kind::Read, site) }
    }

    /// A store.
    #[inline(always)]
    pub fn store(addr: Addr, mode: Mode, value: Value, site: Site) -> Op {
        Op { mode, addr, operand: value, ..Op::bare(Kind::Write, site) }
    }

    /// A read-modify-write that always writes.
    #[inline(always)]
    pub fn rmw(addr: Addr, rmw: Rmw, mode: Mode, operand: Value, site: Site) -> Op {
        Op { rmw, mode, failure: mode, addr, operand, ..Op::bare(Kind::Read, site) }
    }

    /// A compare-and-exchange.
    #[inline(always)]
    pub fn cas(addr: Addr, modes: (Mode, Mode), expected: Value, new: Value, weak: bool, site: Site) -> Op {
        let rmw = if weak { Rmw::WeakCas } else { Rmw::Cas };
        let (mode, failure) = modes;
        Op { rmw, mode, failure, addr, operand: new, expected, ..Op::bare(Kind::Read, site) }
    }

    /// Takes a lock, waiting until it is free.
    #[inline(always)]
    pub fn lock(addr: Addr, site: Site) -> Op {
        Op { rmw: Rmw::Lock, mode: Mode::Acquire, failure: Mode::Relaxed, addr, ..Op::bare(Kind::Read, site) }
    }

    /// Takes a lock if it is free: replies 0 when it was.
    #[inline(always)]
    pub fn try_lock(addr: Addr, site: Site) -> Op {
        Op { rmw: Rmw::TryLock, ..Op::lock(addr, site) }
    }

    /// Gives a lock back.
    #[inline(always)]
    pub fn unlock(addr: Addr, site: Site) -> Op {
        Op { rmw: Rmw::Lock, ..Op::store(addr, Mode::Release, 0, site) }
    }

    /// Takes a lock that may be out of use: any value but 0 and 1 lets the thread pass, except for
    /// `also`, which is as good as 0.
    #[inline(always)]
    pub fn enter(addr: Addr, also: Value, site: Site) -> Op {
        Op { expected: also, failure: Mode::Acquire, ..Op::lock(addr, site) }
    }

    /// Gives a lock back and leaves a value in it.
    #[inline(always)]
    pub fn leave(addr: Addr, value: Value, site: Site) -> Op {
        Op { operand: value, ..Op::unlock(addr, site) }
    }

    /// Waits for a signal, and uses it up. `timed`: the thread would also go on without one, which is
    /// another execution.
    #[inline(always)]
    pub fn wait(addr: Addr, timed: bool, site: Site) -> Op {
        Op { rmw: Rmw::Await, operand: timed.into(), ..Op::lock(addr, site) }
    }

    /// Sends a signal.
    #[inline(always)]
    pub fn post(addr: Addr, site: Site) -> Op {
        Op::rmw(addr, Rmw::Post, Mode::Release, 0, site)
    }

    /// Adds, if the value has one of these bits: replies the old value. `failure` is the mode if not.
    #[inline(always)]
    pub fn add_if(addr: Addr, modes: (Mode, Mode), bits: Value, operand: Value, site: Site) -> Op {
        let (mode, failure) = modes;
        Op { failure, expected: bits, ..Op::rmw(addr, Rmw::AddIf, mode, operand, site) }
    }

    /// Adds as soon as the location is not locked.
    #[inline(always)]
    pub fn add_unlocked(addr: Addr, mode: Mode, number: Value, site: Site) -> Op {
        Op { expected: number, ..Op::rmw(addr, Rmw::AddUnlocked, mode, 0, site) }
    }

    /// A fence.
    #[inline(always)]
    pub fn fence(mode: Mode, site: Site) -> Op {
        Op { mode, ..Op::bare(Kind::Fence, site) }
    }

    /// Starts a thread.
    #[inline(always)]
    pub fn spawn(site: Site) -> Op {
        Op::bare(Kind::Spawn, site)
    }

    /// Waits for a thread.
    #[inline(always)]
    pub fn join(thread: ThreadId, site: Site) -> Op {
        Op { operand: thread.0.into(), ..Op::bare(Kind::Join, site) }
    }

    /// The end of the thread.
    #[inline(always)]
    pub fn finish() -> Op {
        Op::bare(Kind::Finish, Site(0))
    }

    /// A number below `bound`, chosen in every possible way.
    #[inline(always)]
    pub fn choice(bound: Value, site: Site) -> Op {
        Op { operand: bound, expected: bound, ..Op::bare(Kind::Choice, site) }
    }

    /// A choice that goes another way than the first without a reason, as a thread that wakes up though
    /// nobody has woken it. Under a bound it may count as a preemption.
    #[inline(always)]
    pub fn whim(bound: Value, site: Site) -> Op {
        Op { rmw: Rmw::WeakCas, ..Op::choice(bound, site) }
    }

    /// A choice that guesses what the thread finds next, where a lock of several locations is tried. Where
    /// it is wrong the execution is given up, so that it goes another way only if a location changes.
    #[inline(always)]
    pub fn guess(bound: Value, site: Site) -> Op {
        Op { rmw: Rmw::TryLock, ..Op::choice(bound, site) }
    }

    /// The time of a wait is over, since nothing else can run: whatever took place before came before this.
    #[inline(always)]
    pub fn time_is_over(site: Site) -> Op {
        Op { rmw: Rmw::GiveUp, ..Op::choice(1, site) }
    }

    /// What the op writes when it reads `old`: `None` when it only reads.
    #[inline(always)]
    pub fn apply(&self, old: Value) -> Option<Value> {
        apply(self.rmw, self.width, old, self.operand, self.expected)
    }

    /// How the operation is called in a report: `store`, `fetch_add`, `unlock`, ...
    pub fn name(&self) -> &'static str {
        name(self.kind, self.rmw)
    }
}

/// What a read-modify-write stores when it reads `old`: `None` when it stores nothing.
#[inline(always)]
pub fn apply(rmw: Rmw, width: u8, old: Value, operand: Value, expected: Value) -> Option<Value> {
    let bits = u32::from(width) * 8;
    let mask = if bits == 64 { u64::MAX } else { (1u64 << bits) - 1 };
    let signed = |v: Value| ((v << (64 - bits)) as i64) >> (64 - bits);
    let new = match rmw {
        Rmw::None => return None,
        Rmw::Add => old.wrapping_add(operand),
        Rmw::Sub => old.wrapping_sub(operand),
        Rmw::And | Rmw::GiveUp => old & operand,
        Rmw::Or => old | operand,
        Rmw::Xor => old ^ operand,
        Rmw::Nand => !(old & operand),
        Rmw::Max => old.max(operand),
        Rmw::Min => old.min(operand),
        Rmw::SignedMax => signed(old).max(signed(operand)) as u64,
        Rmw::SignedMin => signed(old).min(signed(operand)) as u64,
        Rmw::Swap => operand,
        Rmw::Cas | Rmw::WeakCas => {
            if old != expected {
                return None;
            }
            operand
        }
        Rmw::Lock | Rmw::TryLock => {
            if old != 0 && (old != expected || old == TAKEN) {
                return None;
            }
            TAKEN
        }
        Rmw::Await => {
            if old != 0 {
                return None;
            }
            TAKEN
        }
        Rmw::Post => 0,
        Rmw::TakeBit => {
            let below = (0..operand).fold(old, |bits, _| bits & bits.wrapping_sub(1));
            if below == 0 {
                return None;
            }
            old ^ (below & below.wrapping_neg())
        }
        Rmw::TakeAll => {
            if old == 0 {
                return None;
            }
            0
        }
        Rmw::AddIf => {
            if old & expected == 0 {
                return None;
            }
            old.wrapping_add(operand)
        }
        Rmw::AddUnlocked => {
            if old == TAKEN {
                return None;
            }
            old.wrapping_add(expected)
        }
    };
    Some(new & mask)
}

/// How an operation is called in a report.
pub fn name(kind: Kind, rmw: Rmw) -> &'static str {
    match kind {
        Kind::Read => rmw.name(),
        Kind::Write if rmw == Rmw::Lock => "unlock",
        Kind::Write => "store",
        Kind::Fence => "fence",
        Kind::Spawn => "spawn",
        Kind::Join => "join",
        Kind::Finish => "end",
        Kind::Choice if rmw == Rmw::GiveUp => "time is over",
        Kind::Choice => "choose",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_values_wrap_and_keep_their_sign() {
        assert_eq!(apply(Rmw::Add, 1, 255, 1, 0), Some(0));
        assert_eq!(apply(Rmw::Sub, 2, 0, 1, 0), Some(0xffff));
        assert_eq!(apply(Rmw::SignedMax, 1, 0xff, 1, 0), Some(1));
        assert_eq!(apply(Rmw::SignedMin, 4, 0xffff_ffff, 1, 0), Some(0xffff_ffff));
        assert_eq!(apply(Rmw::Nand, 1, 0b1100, 0b1010, 0), Some(0b1111_0111));
        assert_eq!(apply(Rmw::Cas, 8, 3, 9, 4), None);
        assert_eq!(apply(Rmw::TryLock, 8, 1, 0, 0), None);
    }

    #[test]
    fn bits_are_taken_by_their_rank() {
        assert_eq!(apply(Rmw::TakeBit, 8, 0b1010, 0, 0), Some(0b1000));
        assert_eq!(apply(Rmw::TakeBit, 8, 0b1010, 1, 0), Some(0b0010));
        assert_eq!(apply(Rmw::TakeBit, 8, 0b1010, 2, 0), None);
        assert_eq!(apply(Rmw::TakeAll, 8, 0, 0, 0), None);
    }

    #[test]
    fn some_additions_have_a_condition() {
        assert_eq!(apply(Rmw::AddIf, 8, 5, 2, 1), Some(7));
        assert_eq!(apply(Rmw::AddIf, 8, 4, 2, 1), None);
        assert_eq!(apply(Rmw::AddUnlocked, 8, 4, 0, 2), Some(6));
        assert_eq!(apply(Rmw::AddUnlocked, 8, 1, 0, 2), None);
        assert!(Rmw::AddUnlocked.waits_on(1));
    }

    #[test]
    fn a_lock_out_of_use_lets_pass() {
        let enter = |old, also| Op::enter(Addr(0), also, Site(0)).apply(old);
        assert_eq!(enter(0, 0), Some(1));
        assert_eq!(enter(2, 0), None);
        assert_eq!(enter(3, 3), Some(1));
        assert!(Rmw::Lock.waits_on(1) && !Rmw::Lock.waits_on(2));
    }
}
