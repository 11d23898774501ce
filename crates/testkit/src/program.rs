//! Programs as data: threads of statements over registers, locations and locks.
//!
//! The rule: the only loops are those that wait, [`Stmt::Await`]. Without them a thread has finitely many traces once
//! the values of its reads are known; with them brute force goes round a number of times and says when that is not
//! enough. The body of a loop begins with an operation, so that no thread goes round without one. Text form: see
//! [`Program::parse`] and its `Display`.

/// A value of a register or of a location. Arithmetic wraps.
pub type Value = i64;

/// A memory location, an index into [`Program::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc(pub u16);

/// A lock, an index into [`Program::locks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lock(pub u16);

/// A register of one thread, an index into [`Thread::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u16);

/// Access modes, weakest first. `Acquire` and `Release` are not comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// `na`: a plain, non-atomic access.
    Plain,
    /// `rlx`.
    Relaxed,
    /// `acq`.
    Acquire,
    /// `rel`.
    Release,
    /// `ar`: acquire and release.
    AcqRel,
    /// `sc`.
    SeqCst,
}

impl Mode {
    /// All modes, with their names in the text form.
    pub const NAMES: [(Mode, &'static str); 6] = [
        (Mode::Plain, "na"),
        (Mode::Relaxed, "rlx"),
        (Mode::Acquire, "acq"),
        (Mode::Release, "rel"),
        (Mode::AcqRel, "ar"),
        (Mode::SeqCst, "sc"),
    ];

    /// The name of the mode in the text form.
    pub fn name(self) -> &'static str {
        Mode::NAMES[self as usize].1
    }

    /// Whether an access in this mode acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Mode::Acquire | Mode::AcqRel | Mode::SeqCst)
    }

    /// Whether an access in this mode releases.
    pub fn releases(self) -> bool {
        matches!(self, Mode::Release | Mode::AcqRel | Mode::SeqCst)
    }

    /// The mode of a failed compare-and-swap when the text names only the success mode.
    pub fn default_failure(self) -> Mode {
        match self {
            Mode::AcqRel => Mode::Acquire,
            Mode::Release => Mode::Relaxed,
            same => same,
        }
    }
}

/// Binary operators of [`Expr`]. Comparisons and connectives yield 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinOp {
    Add,
    Sub,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

/// An expression over the registers of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A constant.
    Const(Value),
    /// The value of a register; 0 before its first assignment.
    Reg(Reg),
    /// An operator with two operands.
    Binary(BinOp, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// `left op right`.
    pub fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// `register op constant`, the common condition.
    pub fn test(register: Reg, op: BinOp, constant: Value) -> Expr {
        Expr::binary(op, Expr::Reg(register), Expr::Const(constant))
    }

    /// The value of the expression when `registers` holds the registers in order.
    pub fn eval(&self, registers: &[Value]) -> Value {
        match self {
            Expr::Const(value) => *value,
            Expr::Reg(register) => registers[register.0 as usize],
            Expr::Binary(op, left, right) => {
                let (a, b) = (left.eval(registers), right.eval(registers));
                match op {
                    BinOp::Add => a.wrapping_add(b),
                    BinOp::Sub => a.wrapping_sub(b),
                    BinOp::Eq => (a == b).into(),
                    BinOp::Ne => (a != b).into(),
                    BinOp::Lt => (a < b).into(),
                    BinOp::Le => (a <= b).into(),
                    BinOp::Gt => (a > b).into(),
                    BinOp::Ge => (a >= b).into(),
                    BinOp::And => (a != 0 && b != 0).into(),
                    BinOp::Or => (a != 0 || b != 0).into(),
                }
            }
        }
    }
}

/// One statement of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// `a=Racq x`.
    Load {
        /// Where the value goes.
        dst: Option<Reg>,
        /// The location read.
        loc: Loc,
        /// The mode.
        mode: Mode,
    },
    /// `Wrel x 1`.
    Store {
        /// The location written.
        loc: Loc,
        /// The mode.
        mode: Mode,
        /// The value stored.
        value: Expr,
    },
    /// `a=FADDar x 1`; the register gets the old value.
    FetchAdd {
        /// Where the old value goes.
        dst: Option<Reg>,
        /// The location updated.
        loc: Loc,
        /// The mode.
        mode: Mode,
        /// The summand.
        operand: Expr,
    },
    /// `a=XCHGar x 1`; the register gets the old value.
    Exchange {
        /// Where the old value goes.
        dst: Option<Reg>,
        /// The location updated.
        loc: Loc,
        /// The mode.
        mode: Mode,
        /// The value stored.
        value: Expr,
    },
    /// `a=CASar/rlx x 0 1`, `a,ok=WCASar x 0 1`.
    Cas {
        /// Where the old value goes.
        dst: Option<Reg>,
        /// Gets 1 when the swap was done, else 0.
        ok: Option<Reg>,
        /// The location updated.
        loc: Loc,
        /// The mode of a success.
        success: Mode,
        /// The mode of a failure, which is a read.
        failure: Mode,
        /// The value compared with.
        expected: Expr,
        /// The value stored on success.
        new: Expr,
        /// Whether it may fail although the value is the expected one.
        weak: bool,
    },
    /// `Fsc`.
    Fence {
        /// The mode.
        mode: Mode,
    },
    /// `lock l`: waits until the lock is free.
    Lock {
        /// The lock.
        lock: Lock,
    },
    /// `unlock l`, by the holder.
    Unlock {
        /// The lock.
        lock: Lock,
    },
    /// `post l`, by anybody: frees the lock, whoever has taken it. A lock that is posted serves as a
    /// signal.
    Post {
        /// The lock.
        lock: Lock,
    },
    /// `t=trylock l`; the register gets 1 on success, else 0.
    TryLock {
        /// Where the answer goes.
        dst: Option<Reg>,
        /// The lock.
        lock: Lock,
    },
    /// `let a=e`: an assignment.
    Let {
        /// The register.
        dst: Reg,
        /// Its new value.
        value: Expr,
    },
    /// `do{..}until(e)`: goes round until the condition holds. The body begins with an operation.
    Await {
        /// The statements of a round.
        body: Vec<Stmt>,
        /// The condition: the loop ends when it is not 0.
        until: Expr,
    },
    /// `assume(e)`: the thread stops for ever when `e` is 0.
    Assume(Expr),
    /// `c=choose 2`: any of `0..n`.
    Choose {
        /// Where the choice goes.
        dst: Option<Reg>,
        /// The number of choices, at least 1.
        n: u32,
    },
    /// `if(e){..}else{..}`.
    If {
        /// The condition: taken when not 0.
        cond: Expr,
        /// Statements when the condition holds.
        then: Vec<Stmt>,
        /// Statements when it does not.
        otherwise: Vec<Stmt>,
    },
}

impl Stmt {
    /// The statements that are parts of this one.
    pub fn parts(&self) -> impl Iterator<Item = &Stmt> {
        let (first, second): (&[Stmt], &[Stmt]) = match self {
            Stmt::If { then, otherwise, .. } => (then, otherwise),
            Stmt::Await { body, .. } => (body, &[]),
            _ => (&[], &[]),
        };
        first.iter().chain(second)
    }

    /// Whether it is an operation: a step of its own, whatever the registers hold.
    pub fn is_operation(&self) -> bool {
        !matches!(self, Stmt::If { .. } | Stmt::Await { .. } | Stmt::Let { .. } | Stmt::Assume(_))
    }
}

/// A location: its name and its initial value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Name in the text form.
    pub name: String,
    /// Value of the initial write.
    pub init: Value,
}

/// A thread: its statements and the names of its registers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Names of the registers; all start at 0.
    pub registers: Vec<String>,
    /// The statements, in program order.
    pub body: Vec<Stmt>,
}

/// A program: all its threads start at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Program {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The memory locations.
    pub locations: Vec<Location>,
    /// The names of the locks.
    pub locks: Vec<String>,
}

impl Program {
    /// Whether some statement, or a part of one, is as asked for.
    pub fn any(&self, wanted: &dyn Fn(&Stmt) -> bool) -> bool {
        fn within(statement: &Stmt, wanted: &dyn Fn(&Stmt) -> bool) -> bool {
            wanted(statement) || statement.parts().any(|part| within(part, wanted))
        }
        self.threads.iter().flat_map(|thread| &thread.body).any(|statement| within(statement, wanted))
    }

    /// Whether it has loops.
    pub fn has_loops(&self) -> bool {
        self.any(&|statement| matches!(statement, Stmt::Await { .. }))
    }

    /// The number of places: locations first, then the words of the locks.
    pub fn places(&self) -> usize {
        self.locations.len() + self.locks.len()
    }

    /// The place of the word of `lock`, as it appears in a [`crate::Key`].
    pub fn lock_place(&self, lock: Lock) -> u16 {
        self.locations.len() as u16 + lock.0
    }

    /// The name of a place.
    pub fn place_name(&self, place: u16) -> &str {
        let place = place as usize;
        match self.locations.get(place) {
            Some(location) => &location.name,
            None => &self.locks[place - self.locations.len()],
        }
    }

    /// The initial value of a place. A lock starts free, which is 0.
    pub fn initial(&self, place: u16) -> Value {
        self.locations.get(place as usize).map_or(0, |location| location.init)
    }

    /// The same program with its threads in another order: thread `i` is the old thread `order[i]`.
    ///
    /// # Panics
    ///
    /// When `order` is not a permutation of the thread numbers.
    pub fn permuted(&self, order: &[usize]) -> Program {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..self.threads.len()), "{order:?} is not a permutation");
        let threads = order.iter().map(|&old| self.threads[old].clone()).collect();
        Program { threads, locations: self.locations.clone(), locks: self.locks.clone() }
    }
}
