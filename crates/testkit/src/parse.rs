//! The text form, read: `Wrlx x 1; a=Racq y || b=CASar/rlx x 0 1; if(b==0){Fsc}`.
//!
//! Threads are separated by `||`, statements by `;`. Initial values other than 0 come first, as in
//! `{x=1; y=1} a=Rrlx x || ...`. A word after an access is a location, after `lock`, `unlock` or
//! `trylock` a lock; both come into being when first named. Enforced: a register is assigned before
//! it is used, no name means two things, and each access has a mode that its kind allows.
//! A loop is `do{..}until(e)`, and its body begins with an operation. `let a=e` assigns.
//! Operands of a compare-and-swap are atoms: numbers, registers, or expressions in parentheses.

use std::fmt;

use crate::lexer::{Token, tokens};
use crate::program::{BinOp, Expr, Loc, Location, Lock, Mode, Program, Reg, Stmt, Thread, Value};

/// Why a text is not a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset into the text.
    pub offset: usize,
    /// What is wrong, in lower case.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { offset, message: message.into() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ParseError {}

type Parsed<T> = Result<T, ParseError>;

impl Program {
    /// Reads a program from its text form.
    pub fn parse(source: &str) -> Result<Program, ParseError> {
        let mut parser = Parser::new(source)?;
        parser.initial_values()?;
        loop {
            parser.program.threads.push(Thread::default());
            let body = parser.statements()?;
            parser.thread().body = body;
            if parser.peek() == Token::End {
                return Ok(parser.program);
            }
            parser.expect("||")?;
        }
    }
}

/// Reads an expression whose names are resolved by `resolve`, to the index of a value.
pub(crate) fn expression(source: &str, resolve: &dyn Fn(&str) -> Option<u16>) -> Parsed<Expr> {
    let mut parser = Parser::new(source)?;
    let expr = parser.expr(0, &|_, name| resolve(name).map(Reg))?;
    match parser.peek() {
        Token::End => Ok(expr),
        other => Err(parser.error(format!("unexpected {other} after the expression"))),
    }
}

struct Parser<'s> {
    tokens: Vec<(Token<'s>, usize)>,
    at: usize,
    program: Program,
}

/// The registers that a statement assigns.
type Destinations<'s> = (Option<&'s str>, Option<&'s str>);

type Resolve<'r> = dyn Fn(&Program, &str) -> Option<Reg> + 'r;

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Parsed<Parser<'s>> {
        Ok(Parser { tokens: tokens(source)?, at: 0, program: Program::default() })
    }

    fn peek(&self) -> Token<'s> {
        self.tokens[self.at].0
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, token: usize, message: impl Into<String>) -> ParseError {
        ParseError::new(self.tokens[token].1, message)
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.peek() == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) {
            return Ok(());
        }
        Err(self.error(format!("expected `{symbol}`, found {}", self.peek())))
    }

    fn word(&mut self, what: &str) -> Parsed<&'s str> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            other => Err(self.error(format!("expected {what}, found {other}"))),
        }
    }

    fn number(&mut self) -> Parsed<Value> {
        let negative = self.accept("-");
        match self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(if negative { -number } else { number })
            }
            other => Err(self.error(format!("expected a number, found {other}"))),
        }
    }

    fn initial_values(&mut self) -> Parsed<()> {
        if !self.accept("{") {
            return Ok(());
        }
        while !self.accept("}") {
            let loc = self.loc()?;
            self.expect("=")?;
            self.program.locations[loc.0 as usize].init = self.number()?;
            if self.peek() != Token::Symbol("}") {
                self.expect(";")?;
            }
        }
        Ok(())
    }

    fn statements(&mut self) -> Parsed<Vec<Stmt>> {
        let mut body = Vec::new();
        loop {
            while self.accept(";") {}
            if matches!(self.peek(), Token::End | Token::Symbol("}" | "||")) {
                return Ok(body);
            }
            let stmt = self.statement()?;
            let closed = matches!(stmt, Stmt::If { .. } | Stmt::Await { .. });
            body.push(stmt);
            let ended = matches!(self.peek(), Token::End | Token::Symbol("}" | "||" | ";"));
            if !closed && !ended {
                return Err(self.error(format!("expected `;` after the statement, found {}", self.peek())));
            }
        }
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let assigned = self.destinations()?;
        let start = self.at;
        let word = self.word("a statement")?;
        let stmt = match word {
            "if" => self.branch()?,
            "do" => self.waiting_loop()?,
            "let" => {
                let name = self.word("a register")?;
                self.expect("=")?;
                let value = self.register_expr()?;
                let Some(dst) = self.assign(Some(name))? else { unreachable!("it has a name") };
                Stmt::Let { dst, value }
            }
            "assume" => {
                self.expect("(")?;
                let cond = self.register_expr()?;
                self.expect(")")?;
                Stmt::Assume(cond)
            }
            "lock" => Stmt::Lock { lock: self.lock()? },
            "unlock" => Stmt::Unlock { lock: self.lock()? },
            "post" => Stmt::Post { lock: self.lock()? },
            "trylock" => {
                let lock = self.lock()?;
                Stmt::TryLock { dst: self.assign(assigned.0)?, lock }
            }
            "choose" => match self.number()? {
                n @ 1..=64 => Stmt::Choose { dst: self.assign(assigned.0)?, n: n as u32 },
                n => return Err(self.error(format!("cannot choose among {n}: 1 to 64 are allowed"))),
            },
            _ => self.access(start, word, assigned)?,
        };
        let takes_two = matches!(stmt, Stmt::Cas { .. });
        let takes_one = takes_two
            || matches!(
                stmt,
                Stmt::Load { .. }
                    | Stmt::FetchAdd { .. }
                    | Stmt::Exchange { .. }
                    | Stmt::TryLock { .. }
                    | Stmt::Choose { .. }
            );
        if (assigned.0.is_some() && !takes_one) || (assigned.1.is_some() && !takes_two) {
            return Err(self.error_at(start, format!("`{word}` does not yield that many values")));
        }
        Ok(stmt)
    }

    /// `a=` or `a,ok=`, when the statement starts so.
    fn destinations(&mut self) -> Parsed<Destinations<'s>> {
        let following = self.tokens.get(self.at + 1).map(|token| token.0);
        let (Token::Word(first), Some(Token::Symbol(symbol @ ("=" | ",")))) = (self.peek(), following) else {
            return Ok((None, None));
        };
        self.at += 2;
        let mut second = None;
        if symbol == "," {
            second = Some(self.word("a register")?);
            self.expect("=")?;
        }
        Ok((Some(first), second))
    }

    fn branch(&mut self) -> Parsed<Stmt> {
        self.expect("(")?;
        let cond = self.register_expr()?;
        self.expect(")")?;
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.peek() == Token::Word("else") {
            self.next();
            otherwise = self.block()?;
        }
        Ok(Stmt::If { cond, then, otherwise })
    }

    fn waiting_loop(&mut self) -> Parsed<Stmt> {
        let start = self.at;
        let body = self.block()?;
        if !body.first().is_some_and(Stmt::is_operation) {
            return Err(self.error_at(start, "the body of a loop begins with an operation"));
        }
        match self.word("`until`")? {
            "until" => {}
            other => return Err(self.error(format!("expected `until`, found `{other}`"))),
        }
        self.expect("(")?;
        let until = self.register_expr()?;
        self.expect(")")?;
        Ok(Stmt::Await { body, until })
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{")?;
        let body = self.statements()?;
        self.expect("}")?;
        Ok(body)
    }

    /// An access or a fence; `word`, its name and mode, is the token `start`.
    fn access(&mut self, start: usize, word: &str, assigned: Destinations<'s>) -> Parsed<Stmt> {
        let known = ["FADD", "XCHG", "WCAS", "CAS", "W", "R", "F"];
        let split = known.iter().find_map(|op| {
            let suffix = word.strip_prefix(op)?;
            Some((*op, Mode::NAMES.iter().find(|(_, name)| *name == suffix)?.0))
        });
        let Some((op, mode)) = split else {
            let message = format!("unknown statement `{word}`: W, R, F, FADD, XCHG, CAS or WCAS with a mode");
            return Err(self.error_at(start, message));
        };
        let allowed = match op {
            "W" => !matches!(mode, Mode::Acquire | Mode::AcqRel),
            "R" => !matches!(mode, Mode::Release | Mode::AcqRel),
            "F" => !matches!(mode, Mode::Plain | Mode::Relaxed),
            _ => mode != Mode::Plain,
        };
        if !allowed {
            return Err(self.error_at(start, format!("`{op}` cannot have the mode `{}`", mode.name())));
        }
        let (dst, ok) = assigned;
        Ok(match op {
            "F" => Stmt::Fence { mode },
            "R" => {
                let loc = self.loc()?;
                Stmt::Load { dst: self.assign(dst)?, loc, mode }
            }
            "W" => Stmt::Store { loc: self.loc()?, mode, value: self.register_expr()? },
            "FADD" => {
                let (loc, operand) = (self.loc()?, self.register_expr()?);
                Stmt::FetchAdd { dst: self.assign(dst)?, loc, mode, operand }
            }
            "XCHG" => {
                let (loc, value) = (self.loc()?, self.register_expr()?);
                Stmt::Exchange { dst: self.assign(dst)?, loc, mode, value }
            }
            _ => {
                let failure = if self.accept("/") { self.failure_mode()? } else { mode.default_failure() };
                let loc = self.loc()?;
                let (expected, new) = (self.atom(&resolve_register)?, self.atom(&resolve_register)?);
                let (dst, ok) = (self.assign(dst)?, self.assign(ok)?);
                Stmt::Cas { dst, ok, loc, success: mode, failure, expected, new, weak: op == "WCAS" }
            }
        })
    }

    fn failure_mode(&mut self) -> Parsed<Mode> {
        match self.word("a failure mode")? {
            "rlx" => Ok(Mode::Relaxed),
            "acq" => Ok(Mode::Acquire),
            "sc" => Ok(Mode::SeqCst),
            other => Err(self.error(format!("`{other}` is not a failure mode: rlx, acq or sc"))),
        }
    }

    fn register_expr(&mut self) -> Parsed<Expr> {
        self.expr(0, &resolve_register)
    }

    /// Precedence climbing; comparisons do not chain.
    fn expr(&mut self, floor: u8, resolve: &Resolve<'_>) -> Parsed<Expr> {
        let mut left = self.atom(resolve)?;
        loop {
            let op = match self.peek() {
                Token::Symbol(text) | Token::Word(text) => BinOp::from_name(text),
                _ => None,
            };
            let Some(op) = op.filter(|op| op.level() > floor) else { return Ok(left) };
            self.next();
            let right = self.expr(op.level(), resolve)?;
            left = Expr::binary(op, left, right);
            if op.level() == BinOp::Eq.level() && matches!(self.peek(), Token::Symbol(s) if is_comparison(s))
            {
                return Err(self.error("comparisons do not chain: use parentheses"));
            }
        }
    }

    fn atom(&mut self, resolve: &Resolve<'_>) -> Parsed<Expr> {
        match self.peek() {
            Token::Symbol("(") => {
                self.next();
                let expr = self.expr(0, resolve)?;
                self.expect(")")?;
                Ok(expr)
            }
            Token::Word(name) => match resolve(&self.program, name) {
                Some(register) => {
                    self.next();
                    Ok(Expr::Reg(register))
                }
                None => Err(self.error(format!("unknown name `{name}` in an expression"))),
            },
            _ => Ok(Expr::Const(self.number()?)),
        }
    }

    fn thread(&mut self) -> &mut Thread {
        self.program.threads.last_mut().expect("a thread is open while statements are read")
    }

    fn assign(&mut self, name: Option<&str>) -> Parsed<Option<Reg>> {
        let Some(name) = name else { return Ok(None) };
        if self.program.locations.iter().any(|l| l.name == name)
            || self.program.locks.iter().any(|l| l == name)
        {
            return Err(self.error(format!("`{name}` is a register here and memory elsewhere")));
        }
        let registers = &mut self.thread().registers;
        let index = registers.iter().position(|known| known == name).unwrap_or_else(|| {
            registers.push(name.to_string());
            registers.len() - 1
        });
        Ok(Some(Reg(index as u16)))
    }

    fn loc(&mut self) -> Parsed<Loc> {
        let name = self.memory_name("a location")?;
        if self.program.locks.iter().any(|lock| lock == name) {
            return Err(self.error(format!("`{name}` is a lock, not a location")));
        }
        let locations = &mut self.program.locations;
        let index = locations.iter().position(|known| known.name == name).unwrap_or_else(|| {
            locations.push(Location { name: name.to_string(), init: 0 });
            locations.len() - 1
        });
        Ok(Loc(index as u16))
    }

    fn lock(&mut self) -> Parsed<Lock> {
        let name = self.memory_name("a lock")?;
        if self.program.locations.iter().any(|location| location.name == name) {
            return Err(self.error(format!("`{name}` is a location, not a lock")));
        }
        let locks = &mut self.program.locks;
        let index = locks.iter().position(|known| known == name).unwrap_or_else(|| {
            locks.push(name.to_string());
            locks.len() - 1
        });
        Ok(Lock(index as u16))
    }

    fn memory_name(&mut self, what: &str) -> Parsed<&'s str> {
        let name = self.word(what)?;
        let is_register = |thread: &Thread| thread.registers.iter().any(|register| register == name);
        if self.program.threads.iter().any(is_register) {
            return Err(self.error(format!("`{name}` is memory here and a register elsewhere")));
        }
        Ok(name)
    }
}

/// Names in a statement are registers of the thread being read.
fn resolve_register(program: &Program, name: &str) -> Option<Reg> {
    let registers = &program.threads.last()?.registers;
    registers.iter().position(|register| register == name).map(|index| Reg(index as u16))
}

fn is_comparison(symbol: &str) -> bool {
    BinOp::from_name(symbol).is_some_and(|op| op.level() == BinOp::Eq.level())
}
