//! Threads made executable: a flat list of instructions, and a machine that steps through it.
//!
//! The rule: between two steps the machine stands at an operation that needs an answer, at an
//! `assume` that does not hold, or at the end; jumps, assignments and true assumptions are passed at once.
//! Stepping allocates nothing.

use std::sync::Arc;

use crate::program::{Expr, Loc, Lock, Mode, Program, Reg, Stmt, Value};

/// What a thread wants next, with its operands evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields as in the statements of the same name")]
pub enum Step {
    /// Answer: the value read.
    Load { loc: Loc, mode: Mode },
    /// Answer: ignored.
    Store { loc: Loc, mode: Mode, value: Value },
    /// Answer: the old value.
    FetchAdd { loc: Loc, mode: Mode, operand: Value },
    /// Answer: the old value.
    Exchange { loc: Loc, mode: Mode, value: Value },
    /// Answer: the old value; it succeeds when that is `expected`, see [`Machine::advance_spurious`].
    Cas { loc: Loc, success: Mode, failure: Mode, expected: Value, new: Value, weak: bool },
    /// Answer: ignored.
    Fence { mode: Mode },
    /// Answer, once the lock is taken: ignored.
    Lock { lock: Lock },
    /// Answer: ignored.
    Unlock { lock: Lock },
    /// Answer: ignored.
    Post { lock: Lock },
    /// Answer: 1 when the lock was taken, else 0.
    TryLock { lock: Lock },
    /// Answer: a number below `n`.
    Choose { n: u32 },
    /// Stopped for ever by `assume`.
    Blocked,
    /// Past the last statement.
    Done,
}

/// The instructions of one thread.
#[derive(Clone, Debug)]
pub struct Code {
    instructions: Vec<Instruction>,
    /// Where the bodies of loops begin.
    heads: Vec<usize>,
    registers: usize,
}

#[derive(Clone, Debug)]
enum Instruction {
    Op(Stmt),
    Assume(Expr),
    Let(Reg, Expr),
    JumpUnless(Expr, usize),
    Jump(usize),
}

impl Program {
    /// The code of each thread.
    pub fn compile(&self) -> Vec<Arc<Code>> {
        let compiled = self.threads.iter().map(|thread| {
            let registers = thread.registers.len();
            let mut code = Code { instructions: Vec::new(), heads: Vec::new(), registers };
            code.emit(&thread.body);
            Arc::new(code)
        });
        compiled.collect()
    }
}

impl Code {
    fn emit(&mut self, body: &[Stmt]) {
        for stmt in body {
            let here = self.instructions.len();
            match stmt {
                Stmt::Assume(cond) => self.instructions.push(Instruction::Assume(cond.clone())),
                Stmt::Let { dst, value } => self.instructions.push(Instruction::Let(*dst, value.clone())),
                Stmt::If { cond, then, otherwise } => {
                    self.instructions.push(Instruction::Jump(0));
                    self.emit(then);
                    let skip = self.instructions.len();
                    self.instructions.push(Instruction::Jump(0));
                    self.instructions[here] = Instruction::JumpUnless(cond.clone(), skip + 1);
                    self.emit(otherwise);
                    self.instructions[skip] = Instruction::Jump(self.instructions.len());
                }
                Stmt::Await { body, until } => {
                    self.heads.push(here);
                    self.emit(body);
                    self.instructions.push(Instruction::JumpUnless(until.clone(), here));
                }
                op => self.instructions.push(Instruction::Op(op.clone())),
            }
        }
    }
}

/// One thread in the middle of its code.
#[derive(Clone, Debug)]
pub struct Machine {
    code: Arc<Code>,
    pc: usize,
    registers: Vec<Value>,
}

impl Machine {
    /// A machine at the start of `code`, all registers 0.
    pub fn new(code: Arc<Code>) -> Machine {
        let registers = vec![0; code.registers];
        let mut machine = Machine { code, pc: 0, registers };
        machine.settle();
        machine
    }

    /// Back to the start.
    pub fn reset(&mut self) {
        self.pc = 0;
        self.registers.fill(0);
        self.settle();
    }

    /// The values of the registers.
    pub fn registers(&self) -> &[Value] {
        &self.registers
    }

    /// Where in its code the thread stands.
    pub fn position(&self) -> usize {
        self.pc
    }

    /// Whether the thread stands where a round of a loop begins.
    pub fn is_at_head(&self) -> bool {
        self.code.heads.contains(&self.pc)
    }

    /// What the thread wants next.
    pub fn current(&self) -> Step {
        let op = match self.code.instructions.get(self.pc) {
            None => return Step::Done,
            Some(Instruction::Op(op)) => op,
            Some(_) => return Step::Blocked,
        };
        let value = |expr: &Expr| expr.eval(&self.registers);
        match *op {
            Stmt::Load { loc, mode, .. } => Step::Load { loc, mode },
            Stmt::Store { loc, mode, value: ref stored } => Step::Store { loc, mode, value: value(stored) },
            Stmt::FetchAdd { loc, mode, ref operand, .. } => {
                Step::FetchAdd { loc, mode, operand: value(operand) }
            }
            Stmt::Exchange { loc, mode, value: ref stored, .. } => {
                Step::Exchange { loc, mode, value: value(stored) }
            }
            Stmt::Cas { loc, success, failure, ref expected, ref new, weak, .. } => {
                Step::Cas { loc, success, failure, expected: value(expected), new: value(new), weak }
            }
            Stmt::Fence { mode } => Step::Fence { mode },
            Stmt::Lock { lock } => Step::Lock { lock },
            Stmt::Unlock { lock } => Step::Unlock { lock },
            Stmt::Post { lock } => Step::Post { lock },
            Stmt::TryLock { lock, .. } => Step::TryLock { lock },
            Stmt::Choose { n, .. } => Step::Choose { n },
            Stmt::Assume(_) | Stmt::Let { .. } | Stmt::If { .. } | Stmt::Await { .. } => {
                unreachable!("compiled to instructions of their own")
            }
        }
    }

    /// Answers the current step and moves to the next one.
    ///
    /// # Panics
    ///
    /// When the thread is done or blocked.
    pub fn advance(&mut self, answer: Value) {
        let swapped = matches!(self.current(), Step::Cas { expected, .. } if expected == answer);
        self.finish(answer, swapped);
    }

    /// Answers a weak compare-and-swap that failed although it read `answer`, the expected value.
    ///
    /// # Panics
    ///
    /// When the thread is done or blocked.
    pub fn advance_spurious(&mut self, answer: Value) {
        self.finish(answer, false);
    }

    fn finish(&mut self, answer: Value, swapped: bool) {
        let Some(Instruction::Op(op)) = self.code.instructions.get(self.pc) else {
            panic!("advanced a thread that is done or blocked");
        };
        let registers = &mut self.registers;
        let mut set = |register: Option<Reg>, value| {
            if let Some(Reg(index)) = register {
                registers[index as usize] = value;
            }
        };
        match *op {
            Stmt::Load { dst, .. }
            | Stmt::FetchAdd { dst, .. }
            | Stmt::Exchange { dst, .. }
            | Stmt::TryLock { dst, .. }
            | Stmt::Choose { dst, .. } => set(dst, answer),
            Stmt::Cas { dst, ok, .. } => {
                set(dst, answer);
                set(ok, swapped.into());
            }
            _ => {}
        }
        self.pc += 1;
        self.settle();
    }

    fn settle(&mut self) {
        loop {
            self.pc = match self.code.instructions.get(self.pc) {
                Some(Instruction::Jump(target)) => *target,
                Some(Instruction::JumpUnless(cond, target)) if cond.eval(&self.registers) == 0 => *target,
                Some(Instruction::JumpUnless(..)) => self.pc + 1,
                Some(Instruction::Let(register, value)) => {
                    self.registers[register.0 as usize] = value.eval(&self.registers);
                    self.pc + 1
                }
                Some(Instruction::Assume(cond)) if cond.eval(&self.registers) != 0 => self.pc + 1,
                _ => return,
            };
        }
    }
}
