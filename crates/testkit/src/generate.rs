//! Random small programs, for comparing an engine with the oracle.
//!
//! The rule: programs are well formed. But for signals, a thread unlocks only what it holds, never
//! locks what it holds already, and after `trylock` unlocks in the branch of success only. Same seed and profile,
//! same program.

use crate::program::{BinOp, Expr, Loc, Location, Lock, Mode, Program, Reg, Stmt, Thread};
use crate::random::Random;

/// What kind of program to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Loads, stores, fences and updates in all modes.
    Atomics,
    /// Mostly updates, with compare-and-swap in both orders, weak ones too.
    Rmw,
    /// Mostly `sc` accesses and fences.
    Sc,
    /// Critical sections, nested in any order, `trylock`, and assumptions within.
    Locks,
    /// Locks that anybody frees: signals that are sent and waited for.
    Signals,
    /// Everything but plain accesses, with branches, choices and assumptions.
    Mixed,
    /// Some accesses are plain, so some programs race.
    Plain,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 7] = [
        Profile::Atomics,
        Profile::Rmw,
        Profile::Sc,
        Profile::Locks,
        Profile::Signals,
        Profile::Mixed,
        Profile::Plain,
    ];
}

/// Draws a program.
pub fn generate(profile: Profile, random: &mut Random) -> Program {
    let threads = match profile {
        Profile::Locks => 2 + random.weighted(&[5, 3]),
        _ => 2 + random.weighted(&[4, 5, 1]),
    };
    let locations = match profile {
        Profile::Rmw => 1 + random.weighted(&[5, 4]),
        Profile::Locks => 1 + random.weighted(&[7, 2]),
        _ => 1 + random.weighted(&[2, 6, 2]),
    };
    let events = match profile {
        Profile::Locks => 8 + random.below(5),
        Profile::Rmw => 4 + random.below(4),
        _ => 5 + random.below(4),
    };
    let locks = match profile {
        Profile::Locks => 1 + random.weighted(&[3, 7]),
        Profile::Signals => 1 + random.weighted(&[6, 4]),
        Profile::Mixed => random.weighted(&[6, 3, 1]),
        _ => 0,
    };
    let opposed = profile == Profile::Locks && locks == 2 && random.chance(45);
    let (thread, held, nested) = (Thread::default(), Vec::new(), Vec::new());
    let mut draft = Draft { profile, random, locations, locks, thread, held, nested };
    let mut program = Program {
        threads: Vec::new(),
        locations: ["x", "y", "z"].map(|name| Location { name: name.into(), init: 0 }).to_vec(),
        locks: vec!["l".into(), "m".into()],
    };
    for thread in 0..threads {
        let share = (events * (thread + 1) / threads - events * thread / threads).max(1);
        // Two threads that nest their locks in opposite order, as a deadlock needs.
        draft.nested = match thread {
            0 if opposed => vec![Lock(0), Lock(1)],
            1 if opposed => vec![Lock(1), Lock(0)],
            _ => Vec::new(),
        };
        program.threads.push(draft.thread(share.max(2 * draft.nested.len())));
    }
    // Through the text form, so that names and registers are numbered as a reader of it would.
    Program::parse(&program.to_string()).expect("a generated program is well formed")
}

/// Draws a program of three to five threads with about so many relaxed events in all, at one or two
/// locations: accesses only, or with updates, or with critical sections.
pub fn crowd(events: usize, random: &mut Random) -> Program {
    let threads = 3 + random.weighted(&[3, 4, 2]);
    let (places, kind) = (1 + random.below(2), random.below(3));
    let texts = (0..threads).map(|thread| {
        let share = events * (thread + 1) / threads - events * thread / threads;
        let length = (share + random.below(3)).saturating_sub(1).max(1);
        let mut locked = false;
        let mut ops: Vec<String> = Vec::new();
        for number in 0..length {
            let place = ["x", "y"][random.below(places)];
            let value = 10 * thread + number + 1;
            ops.push(match (kind, random.below(10)) {
                (1, 0..=2) => format!("FADDrlx {place} {value}"),
                (1, 3) => format!("CASrlx {place} 0 {value}"),
                (2, 0..=2) if !locked => {
                    locked = true;
                    String::from("lock l")
                }
                (_, 4..=6) => format!("Rrlx {place}"),
                _ => format!("Wrlx {place} {value}"),
            });
        }
        if locked {
            ops.push(String::from("unlock l"));
        }
        ops.join("; ")
    });
    let text = texts.collect::<Vec<_>>().join(" || ");
    Program::parse(&text).expect("a generated program is well formed")
}

struct Draft<'r> {
    profile: Profile,
    random: &'r mut Random,
    locations: usize,
    locks: usize,
    thread: Thread,
    held: Vec<Lock>,
    /// Locks that the thread must nest, innermost first.
    nested: Vec<Lock>,
}

impl Draft<'_> {
    fn thread(&mut self, events: usize) -> Thread {
        self.thread = Thread::default();
        self.held.clear();
        let mut left = events;
        let body = self.body(&mut left, 0);
        Thread { body, ..std::mem::take(&mut self.thread) }
    }

    /// Statements with about `left` events.
    fn body(&mut self, left: &mut usize, depth: usize) -> Vec<Stmt> {
        let mut body = Vec::new();
        while *left > 0 {
            self.statement(&mut body, left, depth);
        }
        body
    }

    fn statement(&mut self, body: &mut Vec<Stmt>, left: &mut usize, depth: usize) {
        // plain accesses and updates, lock section, branch, assume, choose
        let weights = match self.profile {
            Profile::Atomics | Profile::Sc => [90, 0, 7, 3, 0],
            Profile::Rmw => [85, 0, 8, 5, 2],
            Profile::Locks => [30, 56, 6, 6, 2],
            Profile::Signals => [30, 58, 5, 5, 2],
            Profile::Mixed => [58, 14, 12, 10, 6],
            Profile::Plain => [76, 0, 18, 4, 2],
        };
        let registers = self.thread.registers.len();
        let free = self.locks > self.held.len();
        let drawn = self.random.weighted(&weights);
        // Statements may come before the section, as long as there is room for it.
        let urgent = !self.nested.is_empty() && *left <= 2 * self.nested.len();
        match if urgent { 1 } else { drawn } {
            1 if self.profile == Profile::Signals => {
                *left -= 1;
                let lock = Lock(self.random.below(self.locks) as u16);
                let dst = if self.random.chance(12) { Some(self.fresh()) } else { None };
                body.push(match (dst, self.random.chance(55)) {
                    (Some(_), _) => Stmt::TryLock { dst, lock },
                    (None, true) => Stmt::Post { lock },
                    (None, false) => Stmt::Lock { lock },
                });
            }
            1 if free && *left >= 2 && depth < 3 => self.section(body, left, depth),
            2 if registers > 0 && depth < 2 && self.nested.is_empty() => {
                let cond = self.condition();
                let mut inner = (*left).min(1 + self.random.below(2));
                *left -= inner;
                let mut alternative = self.random.below(inner + 1).min(1);
                let then = self.body(&mut inner, depth + 1);
                let otherwise = self.body(&mut alternative, depth + 1);
                body.push(Stmt::If { cond, then, otherwise });
            }
            3 if registers > 0 => {
                let cond = self.condition();
                body.push(Stmt::Assume(cond));
            }
            4 => {
                *left -= 1;
                let dst = Some(self.fresh());
                body.push(Stmt::Choose { dst, n: 2 });
            }
            _ => {
                *left -= 1;
                let op = self.access();
                body.push(op);
            }
        }
    }

    /// A critical section. Inner sections may be released before or after the outer one.
    fn section(&mut self, body: &mut Vec<Stmt>, left: &mut usize, depth: usize) {
        let free: Vec<Lock> =
            (0..self.locks as u16).map(Lock).filter(|lock| !self.held.contains(lock)).collect();
        let lock = self.nested.pop().unwrap_or_else(|| self.random.pick(&free));
        *left -= 2;
        // Deep sections are what deadlocks are made of.
        let mut inner = if !self.nested.is_empty() || self.random.chance(60) {
            *left
        } else {
            self.random.below(*left + 1)
        };
        *left -= inner;
        self.held.push(lock);
        if self.random.chance(25) {
            let dst = self.fresh();
            body.push(Stmt::TryLock { dst: Some(dst), lock });
            let mut then = self.body(&mut inner, depth + 1);
            then.push(Stmt::Unlock { lock });
            self.held.pop();
            let mut alternative = usize::from(self.random.chance(30));
            let otherwise = self.body(&mut alternative, depth + 1);
            body.push(Stmt::If { cond: Expr::test(dst, BinOp::Eq, 1), then, otherwise });
            return;
        }
        body.push(Stmt::Lock { lock });
        let within = self.body(&mut inner, depth + 1);
        body.extend(within);
        self.held.pop();
        let crossed = matches!(body.last(), Some(Stmt::Unlock { .. })) && self.random.chance(30);
        let at = body.len() - usize::from(crossed);
        body.insert(at, Stmt::Unlock { lock });
    }

    fn access(&mut self) -> Stmt {
        // load, store, fetch-add, exchange, compare-and-swap, fence
        let weights = match self.profile {
            Profile::Atomics => [30, 32, 10, 6, 10, 12],
            Profile::Rmw => [12, 14, 24, 14, 34, 2],
            Profile::Sc => [32, 34, 5, 4, 5, 20],
            Profile::Locks | Profile::Signals => [42, 42, 6, 2, 6, 2],
            Profile::Mixed => [34, 32, 10, 6, 12, 6],
            Profile::Plain => [44, 44, 4, 2, 4, 2],
        };
        let loc = Loc(self.random.below(self.locations) as u16);
        match self.random.weighted(&weights) {
            0 => {
                let mode = self.mode(&[Mode::Relaxed, Mode::Acquire, Mode::SeqCst]);
                Stmt::Load { dst: Some(self.fresh()), loc, mode: self.maybe_plain(mode) }
            }
            1 => {
                let mode = self.mode(&[Mode::Relaxed, Mode::Release, Mode::SeqCst]);
                Stmt::Store { loc, mode: self.maybe_plain(mode), value: self.value() }
            }
            2 => {
                let (mode, operand) = (self.update_mode(), self.value());
                Stmt::FetchAdd { dst: self.maybe_fresh(), loc, mode, operand }
            }
            3 => {
                let (mode, value) = (self.update_mode(), self.value());
                Stmt::Exchange { dst: self.maybe_fresh(), loc, mode, value }
            }
            4 => self.cas(loc),
            _ => Stmt::Fence { mode: self.mode(&[Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst]) },
        }
    }

    fn cas(&mut self, loc: Loc) -> Stmt {
        let success = self.update_mode();
        let failure = self.mode(&[Mode::Relaxed, Mode::Acquire, Mode::SeqCst]);
        let expected = if self.random.chance(60) { Expr::Const(0) } else { self.value() };
        let new = self.value();
        let weak = self.random.chance(30);
        let dst = self.maybe_fresh();
        let ok = if dst.is_some() && self.random.chance(40) { Some(self.fresh()) } else { None };
        Stmt::Cas { dst, ok, loc, success, failure, expected, new, weak }
    }

    /// One of `modes`, whose last is `sc`.
    fn mode(&mut self, modes: &[Mode]) -> Mode {
        let sc = if self.profile == Profile::Sc { 70 } else { 12 };
        if self.random.chance(sc) { Mode::SeqCst } else { self.random.pick(&modes[..modes.len() - 1]) }
    }

    fn update_mode(&mut self) -> Mode {
        self.mode(&[Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst])
    }

    fn maybe_plain(&mut self, mode: Mode) -> Mode {
        if self.profile == Profile::Plain && self.random.chance(12) { Mode::Plain } else { mode }
    }

    /// A small constant, or something computed from a register.
    fn value(&mut self) -> Expr {
        let constant = Expr::Const(1 + self.random.below(3) as i64);
        let Some(register) = self.known().filter(|_| self.random.chance(25)) else { return constant };
        match self.random.below(3) {
            0 => Expr::binary(BinOp::Add, Expr::Reg(register), Expr::Const(1)),
            1 => Expr::test(register, BinOp::Eq, self.random.below(3) as i64),
            _ => Expr::Reg(register),
        }
    }

    fn condition(&mut self) -> Expr {
        let register = self.known().expect("the caller saw a register");
        let op = self.random.pick(&[BinOp::Eq, BinOp::Eq, BinOp::Ne, BinOp::Lt]);
        let constant = self.random.below(3) as i64 + i64::from(op == BinOp::Lt);
        let test = Expr::test(register, op, constant);
        if !self.random.chance(10) {
            return test;
        }
        let other = self.known().expect("the caller saw a register");
        let joined = self.random.pick(&[BinOp::And, BinOp::Or]);
        Expr::binary(joined, test, Expr::test(other, BinOp::Ne, 1))
    }

    fn known(&mut self) -> Option<Reg> {
        let count = self.thread.registers.len();
        (count > 0).then(|| Reg(self.random.below(count) as u16))
    }

    fn maybe_fresh(&mut self) -> Option<Reg> {
        self.random.chance(60).then(|| self.fresh())
    }

    fn fresh(&mut self) -> Reg {
        let index = self.thread.registers.len();
        self.thread.registers.push(format!("r{index}"));
        Reg(index as u16)
    }
}
