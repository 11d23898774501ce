//! The text form, written. The rule: what is printed parses back to the same program.

use std::fmt::{self, Display, Formatter};

use crate::program::{BinOp, Expr, Loc, Lock, Program, Reg, Stmt, Thread};

impl BinOp {
    const NAMES: [(BinOp, &'static str, u8); 10] = [
        (BinOp::Or, "or", 1),
        (BinOp::And, "and", 2),
        (BinOp::Eq, "==", 3),
        (BinOp::Ne, "!=", 3),
        (BinOp::Lt, "<", 3),
        (BinOp::Le, "<=", 3),
        (BinOp::Gt, ">", 3),
        (BinOp::Ge, ">=", 3),
        (BinOp::Add, "+", 4),
        (BinOp::Sub, "-", 4),
    ];

    /// How tightly the operator binds, from 1.
    pub(crate) fn level(self) -> u8 {
        self.entry().2
    }

    pub(crate) fn from_name(name: &str) -> Option<BinOp> {
        BinOp::NAMES.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    fn entry(self) -> &'static (BinOp, &'static str, u8) {
        BinOp::NAMES.iter().find(|entry| entry.0 == self).expect("every operator has a name")
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.initial_text())?;
        for (index, thread) in self.threads.iter().enumerate() {
            f.write_str(if index > 0 { " || " } else { "" })?;
            Scope { program: self, thread }.body(f, &thread.body)?;
        }
        Ok(())
    }
}

impl Program {
    /// The initial values other than 0, as `{x=1; y=2} `, or nothing.
    pub(crate) fn initial_text(&self) -> String {
        let set = self.locations.iter().filter(|location| location.init != 0);
        let parts: Vec<String> = set.map(|location| format!("{}={}", location.name, location.init)).collect();
        if parts.is_empty() { String::new() } else { format!("{{{}}} ", parts.join("; ")) }
    }

    /// The statements of one thread as text.
    pub fn thread_text(&self, thread: usize) -> String {
        struct Body<'p>(Scope<'p>);
        impl Display for Body<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.body(f, &self.0.thread.body)
            }
        }
        Body(Scope { program: self, thread: &self.threads[thread] }).to_string()
    }
}

/// Where names are looked up.
#[derive(Clone, Copy)]
struct Scope<'p> {
    program: &'p Program,
    thread: &'p Thread,
}

impl<'p> Scope<'p> {
    fn body(self, f: &mut Formatter<'_>, body: &[Stmt]) -> fmt::Result {
        for (index, stmt) in body.iter().enumerate() {
            f.write_str(if index > 0 { "; " } else { "" })?;
            self.stmt(f, stmt)?;
        }
        Ok(())
    }

    fn stmt(self, f: &mut Formatter<'_>, stmt: &Stmt) -> fmt::Result {
        match stmt {
            Stmt::Load { dst, loc, mode } => {
                write!(f, "{}R{} {}", self.dst(*dst, None), mode.name(), self.loc(*loc))
            }
            Stmt::Store { loc, mode, value } => {
                write!(f, "W{} {} ", mode.name(), self.loc(*loc))?;
                self.expr(f, value, 0)
            }
            Stmt::FetchAdd { dst, loc, mode, operand } => {
                write!(f, "{}FADD{} {} ", self.dst(*dst, None), mode.name(), self.loc(*loc))?;
                self.expr(f, operand, 0)
            }
            Stmt::Exchange { dst, loc, mode, value } => {
                write!(f, "{}XCHG{} {} ", self.dst(*dst, None), mode.name(), self.loc(*loc))?;
                self.expr(f, value, 0)
            }
            Stmt::Cas { dst, ok, loc, success, failure, expected, new, weak } => {
                let name = if *weak { "WCAS" } else { "CAS" };
                write!(f, "{}{name}{}", self.dst(*dst, *ok), success.name())?;
                if *failure != success.default_failure() {
                    write!(f, "/{}", failure.name())?;
                }
                write!(f, " {} ", self.loc(*loc))?;
                self.expr(f, expected, 5)?;
                f.write_str(" ")?;
                self.expr(f, new, 5)
            }
            Stmt::Fence { mode } => write!(f, "F{}", mode.name()),
            Stmt::Lock { lock } => write!(f, "lock {}", self.lock(*lock)),
            Stmt::Unlock { lock } => write!(f, "unlock {}", self.lock(*lock)),
            Stmt::Post { lock } => write!(f, "post {}", self.lock(*lock)),
            Stmt::TryLock { dst, lock } => write!(f, "{}trylock {}", self.dst(*dst, None), self.lock(*lock)),
            Stmt::Choose { dst, n } => write!(f, "{}choose {n}", self.dst(*dst, None)),
            Stmt::Let { dst, value } => {
                write!(f, "let {}=", self.register(*dst))?;
                self.expr(f, value, 0)
            }
            Stmt::Await { body, until } => {
                f.write_str("do{")?;
                self.body(f, body)?;
                f.write_str("}until(")?;
                self.expr(f, until, 0)?;
                f.write_str(")")
            }
            Stmt::Assume(cond) => {
                f.write_str("assume(")?;
                self.expr(f, cond, 0)?;
                f.write_str(")")
            }
            Stmt::If { cond, then, otherwise } => {
                f.write_str("if(")?;
                self.expr(f, cond, 0)?;
                f.write_str("){")?;
                self.body(f, then)?;
                f.write_str("}")?;
                if !otherwise.is_empty() {
                    f.write_str("else{")?;
                    self.body(f, otherwise)?;
                    f.write_str("}")?;
                }
                Ok(())
            }
        }
    }

    /// Writes an expression, in parentheses when it binds no tighter than `floor`.
    fn expr(self, f: &mut Formatter<'_>, expr: &Expr, floor: u8) -> fmt::Result {
        match expr {
            Expr::Const(value) => write!(f, "{value}"),
            Expr::Reg(register) => f.write_str(self.register(*register)),
            Expr::Binary(op, left, right) => {
                let (_, name, level) = *op.entry();
                let comparison = level == BinOp::Eq.level();
                let spaced = if matches!(op, BinOp::And | BinOp::Or) { " " } else { "" };
                f.write_str(if level <= floor { "(" } else { "" })?;
                self.expr(f, left, if comparison { level } else { level - 1 })?;
                write!(f, "{spaced}{name}{spaced}")?;
                self.expr(f, right, level)?;
                f.write_str(if level <= floor { ")" } else { "" })
            }
        }
    }

    fn dst(self, dst: Option<Reg>, ok: Option<Reg>) -> String {
        match (dst, ok) {
            (None, None) => String::new(),
            (Some(dst), None) => format!("{}=", self.register(dst)),
            (Some(dst), Some(ok)) => format!("{},{}=", self.register(dst), self.register(ok)),
            (None, Some(ok)) => unreachable!("{} needs a register for the old value", self.register(ok)),
        }
    }

    fn register(self, register: Reg) -> &'p str {
        &self.thread.registers[register.0 as usize]
    }

    fn loc(self, loc: Loc) -> &'p str {
        &self.program.locations[loc.0 as usize].name
    }

    fn lock(self, lock: Lock) -> &'p str {
        &self.program.locks[lock.0 as usize]
    }
}
