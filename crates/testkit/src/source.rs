//! Programs as C and C++ sources, as one would write them by hand.
//!
//! Each location is a variable, each thread a function that `main` starts and joins; registers are local variables. With
//! an argument, the program also says that the outcome of the litmus test is forbidden, by `unpick_forbid`.
//!
//! Locations are atomic if any thread uses them so; plain accesses to these go through a cast. Values are `long`.

use std::fmt::Write;

use crate::litmus::Litmus;
use crate::program::{BinOp, Expr, Mode, Program, Reg, Stmt, Thread};

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C11 with POSIX threads.
    C,
    /// C++11 and its library.
    Cxx,
}

impl Language {
    /// How files in this language end.
    pub fn ending(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "cpp",
        }
    }
}

/// The source of a litmus test.
pub fn source(litmus: &Litmus, language: Language) -> String {
    let program = &litmus.program;
    let mut out = String::new();
    push(&mut out, 0, &format!("/* {} */", litmus.name.replace("*/", "* /")));
    let headers: &[&str] = match language {
        Language::C => &["pthread.h", "semaphore.h", "stdatomic.h", "unpick.h"],
        Language::Cxx => &["atomic", "mutex", "thread", "semaphore.h", "unpick.h"],
    };
    headers.iter().for_each(|header| push(&mut out, 0, &format!("#include <{header}>")));
    if language == Language::Cxx {
        push(&mut out, 0, "using namespace std;");
    }
    push(&mut out, 0, "");
    declare(program, language, &mut out);
    for (index, thread) in program.threads.iter().enumerate() {
        Writer { program, thread, index, language, out: &mut out }.thread();
    }
    start(litmus, language, &mut out);
    out
}

fn push(out: &mut String, depth: usize, line: &str) {
    writeln!(out, "{:indent$}{line}", "", indent = if line.is_empty() { 0 } else { 4 * depth })
        .expect("a string takes everything");
}

fn declare(program: &Program, language: Language, out: &mut String) {
    for (index, location) in program.locations.iter().enumerate() {
        let kind = match (is_atomic(program, index), language) {
            (false, _) => "long",
            (true, Language::C) => "atomic_long",
            (true, Language::Cxx) => "atomic<long>",
        };
        let first = match language {
            Language::C => format!(" = {}", location.init),
            Language::Cxx => format!("{{{}}}", location.init),
        };
        // Compilers drop variables that nobody reads, and the stores to them.
        push(out, 0, &format!("static {kind} {} __attribute__((used)){first};", location.name));
    }
    for (index, name) in program.locks.iter().enumerate() {
        let line = match (is_posted(program, index), language) {
            (true, _) => format!("static sem_t {name};"),
            (false, Language::C) => format!("static pthread_mutex_t {name} = PTHREAD_MUTEX_INITIALIZER;"),
            (false, Language::Cxx) => format!("static mutex {name};"),
        };
        push(out, 0, &line);
    }
    push(out, 0, "/* Whether the registers are wanted at the end. */");
    push(out, 0, "static int asked;");
    for (index, thread) in
        program.threads.iter().enumerate().filter(|(_, thread)| !thread.registers.is_empty())
    {
        push(out, 0, &format!("static struct {{ long {}; }} end_{index};", thread.registers.join(", ")));
    }
}

fn start(litmus: &Litmus, language: Language, out: &mut String) {
    let program = &litmus.program;
    let count = program.threads.len();
    push(out, 0, "");
    push(out, 0, "int main(int argc, char **argv) {");
    push(out, 1, "(void)argv;");
    push(out, 1, "asked = argc > 1;");
    for (_, name) in program.locks.iter().enumerate().filter(|(index, _)| is_posted(program, *index)) {
        push(out, 1, &format!("sem_init(&{name}, 0, 1);"));
    }
    match language {
        Language::C => {
            push(out, 1, &format!("pthread_t threads[{count}];"));
            (0..count).for_each(|index| {
                push(out, 1, &format!("pthread_create(&threads[{index}], NULL, thread_{index}, NULL);"));
            });
            (0..count).for_each(|index| push(out, 1, &format!("pthread_join(threads[{index}], NULL);")));
        }
        Language::Cxx => {
            (0..count).for_each(|index| push(out, 1, &format!("thread t{index}(thread_{index});")));
            (0..count).for_each(|index| push(out, 1, &format!("t{index}.join();")));
        }
    }
    if let Some(outcome) = &litmus.outcome {
        let registers = program.threads.iter().enumerate().flat_map(|(index, thread)| {
            thread.registers.iter().map(move |name| format!("end_{index}.{name}"))
        });
        let memory = program.locations.iter().enumerate().map(|(index, location)| {
            if is_atomic(program, index) {
                format!("atomic_load_explicit(&{}, memory_order_relaxed)", location.name)
            } else {
                location.name.clone()
            }
        });
        let names: Vec<String> = registers.chain(memory).collect();
        let condition = expression(outcome.expression(), &|register| names[register.0 as usize].clone());
        push(out, 1, "if (asked) {");
        push(out, 2, &format!("unpick_forbid({condition});"));
        push(out, 1, "}");
    }
    push(out, 1, "return 0;");
    push(out, 0, "}");
}

/// Whether a location is used by an atomic operation.
fn is_atomic(program: &Program, index: usize) -> bool {
    program.any(&|statement| match statement {
        Stmt::Load { loc, mode, .. } | Stmt::Store { loc, mode, .. } => {
            loc.0 as usize == index && *mode != Mode::Plain
        }
        Stmt::FetchAdd { loc, .. } | Stmt::Exchange { loc, .. } | Stmt::Cas { loc, .. } => {
            loc.0 as usize == index
        }
        _ => false,
    })
}

/// Whether a lock is freed by threads that do not hold it, which a mutex does not allow.
fn is_posted(program: &Program, index: usize) -> bool {
    program.any(&|statement| matches!(statement, Stmt::Post { lock } if lock.0 as usize == index))
}

/// An expression, with as many parentheses as it has operators within.
fn expression(expr: &Expr, name: &dyn Fn(Reg) -> String) -> String {
    let within = |expr: &Expr| match expr {
        Expr::Binary(..) => format!("({})", expression(expr, name)),
        _ => expression(expr, name),
    };
    match expr {
        Expr::Const(value) => format!("{value}L"),
        Expr::Reg(register) => name(*register),
        Expr::Binary(op, left, right) => {
            let sign = match op {
                BinOp::Add => "+",
                BinOp::Sub => "-",
                BinOp::Eq => "==",
                BinOp::Ne => "!=",
                BinOp::Lt => "<",
                BinOp::Le => "<=",
                BinOp::Gt => ">",
                BinOp::Ge => ">=",
                BinOp::And => "&&",
                BinOp::Or => "||",
            };
            format!("{} {sign} {}", within(left), within(right))
        }
    }
}

fn order(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain => unreachable!("plain accesses have no order"),
        Mode::Relaxed => "memory_order_relaxed",
        Mode::Acquire => "memory_order_acquire",
        Mode::Release => "memory_order_release",
        Mode::AcqRel => "memory_order_acq_rel",
        Mode::SeqCst => "memory_order_seq_cst",
    }
}

/// Writes one thread.
struct Writer<'a> {
    program: &'a Program,
    thread: &'a Thread,
    index: usize,
    language: Language,
    out: &'a mut String,
}

impl Writer<'_> {
    fn thread(&mut self) {
        push(self.out, 0, "");
        match self.language {
            Language::C => push(self.out, 0, &format!("static void *thread_{}(void *unused) {{", self.index)),
            Language::Cxx => push(self.out, 0, &format!("static void thread_{}() {{", self.index)),
        }
        for name in &self.thread.registers {
            push(self.out, 1, &format!("long {name}_ = 0;"));
        }
        self.body(&self.thread.body, 1);
        if !self.thread.registers.is_empty() {
            push(self.out, 1, "if (asked) {");
            for name in &self.thread.registers {
                push(self.out, 2, &format!("end_{}.{name} = {name}_;", self.index));
            }
            push(self.out, 1, "}");
        }
        if self.language == Language::C {
            push(self.out, 1, "return unused;");
        }
        push(self.out, 0, "}");
    }

    fn body(&mut self, body: &[Stmt], depth: usize) {
        for statement in body {
            if let Stmt::If { cond, then, otherwise } = statement {
                let cond = self.value(cond);
                push(self.out, depth, &format!("if ({cond}) {{"));
                self.body(then, depth + 1);
                if !otherwise.is_empty() {
                    push(self.out, depth, "} else {");
                    self.body(otherwise, depth + 1);
                }
                push(self.out, depth, "}");
                continue;
            }
            if let Stmt::Await { body, until } = statement {
                push(self.out, depth, "do {");
                self.body(body, depth + 1);
                let until = self.value(until);
                push(self.out, depth, &format!("}} while (!({until}));"));
                continue;
            }
            self.simple(statement).iter().for_each(|line| push(self.out, depth, line));
        }
    }

    /// The lines of a statement without parts.
    fn simple(&self, statement: &Stmt) -> Vec<String> {
        let place = |loc: &crate::program::Loc| self.program.locations[loc.0 as usize].name.clone();
        let plain = |loc: &crate::program::Loc| match is_atomic(self.program, loc.0 as usize) {
            true => format!("*(long *)&{}", place(loc)),
            false => place(loc),
        };
        // An operation whose value nobody wants may be left out by a compiler, or become a weaker one.
        let into = |dst: &Option<Reg>, call: String| match dst {
            Some(dst) => format!("{} = {call};", self.register(*dst)),
            None => format!("__asm__ volatile(\"\" : : \"r\"((long){call}));"),
        };
        let one = |line: String| vec![line];
        match statement {
            Stmt::Load { dst, loc, mode: Mode::Plain } => one(into(dst, plain(loc))),
            Stmt::Load { dst, loc, mode } => {
                one(into(dst, format!("atomic_load_explicit(&{}, {})", place(loc), order(*mode))))
            }
            Stmt::Store { loc, mode: Mode::Plain, value } => {
                one(format!("{} = {};", plain(loc), self.value(value)))
            }
            Stmt::Store { loc, mode, value } => one(format!(
                "atomic_store_explicit(&{}, {}, {});",
                place(loc),
                self.value(value),
                order(*mode)
            )),
            Stmt::FetchAdd { dst, loc, mode, operand: value } | Stmt::Exchange { dst, loc, mode, value } => {
                let verb = if matches!(statement, Stmt::FetchAdd { .. }) { "fetch_add" } else { "exchange" };
                let (value, order) = (self.value(value), order(*mode));
                one(into(dst, format!("atomic_{verb}_explicit(&{}, {value}, {order})", place(loc))))
            }
            Stmt::Cas { dst, ok, loc, success, failure, expected, new, weak } => {
                let strength = if *weak { "weak" } else { "strong" };
                let call = format!(
                    "atomic_compare_exchange_{strength}_explicit(&{}, &old, {}, {}, {})",
                    place(loc),
                    self.value(new),
                    order(*success),
                    order(*failure)
                );
                let mut lines = vec![String::from("{"), format!("    long old = {};", self.value(expected))];
                lines.push(format!("    {}", into(ok, call)));
                lines.extend(dst.map(|dst| format!("    {} = old;", self.register(dst))));
                lines.push(String::from("}"));
                lines
            }
            Stmt::Fence { mode } => one(format!("atomic_thread_fence({});", order(*mode))),
            Stmt::Lock { lock } => one(self.locking(lock.0, "lock", "sem_wait")),
            Stmt::Unlock { lock } | Stmt::Post { lock } => one(self.locking(lock.0, "unlock", "sem_post")),
            Stmt::TryLock { dst, lock } => {
                let call = self.locking(lock.0, "try_lock", "sem_trywait");
                let call = call.trim_end_matches(';');
                let posted = is_posted(self.program, lock.0 as usize);
                // POSIX says 0 for success, C++ says true.
                let taken = match (posted, self.language) {
                    (false, Language::Cxx) => call.to_string(),
                    _ => format!("{call} == 0"),
                };
                one(into(dst, format!("({taken})")))
            }
            Stmt::Assume(cond) => one(format!("unpick_assume({});", self.value(cond))),
            Stmt::Choose { dst, n } => one(into(dst, format!("unpick_choose({n})"))),
            Stmt::Let { dst, value } => one(format!("{} = {};", self.register(*dst), self.value(value))),
            Stmt::If { .. } | Stmt::Await { .. } => unreachable!("it has parts"),
        }
    }

    /// A call on a lock: a mutex, or a semaphore where anybody may free it.
    fn locking(&self, lock: u16, verb: &str, semaphore: &str) -> String {
        let name = &self.program.locks[lock as usize];
        match (is_posted(self.program, lock as usize), self.language) {
            (true, _) => format!("{semaphore}(&{name});"),
            (false, Language::C) => format!("pthread_mutex_{}(&{name});", verb.replace('_', "")),
            (false, Language::Cxx) => format!("{name}.{verb}();"),
        }
    }

    fn value(&self, expr: &Expr) -> String {
        expression(expr, &|register| self.register(register))
    }

    fn register(&self, register: Reg) -> String {
        format!("{}_", self.thread.registers[register.0 as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: a
by: oracle
thread: Wna x 1; Wrel y 2; lock l; Wrlx x 3; unlock l
thread: a=Racq y; if(a==2){b,c=WCASar y 2 (a+1)}else{d=choose 2; assume(d!=1)}
outcome: a==2 and y==3
sc: 1 complete, allowed
";

    #[test]
    fn sources_are_what_one_would_write() {
        let litmus = Litmus::parse(TEXT).expect("it is a test");
        let c = source(&litmus, Language::C);
        for line in [
            "static atomic_long x __attribute__((used)) = 0;",
            "    *(long *)&x = 1L;",
            "    atomic_store_explicit(&y, 2L, memory_order_release);",
            "    pthread_mutex_lock(&l);",
            "    a_ = atomic_load_explicit(&y, memory_order_acquire);",
            "    if (a_ == 2L) {",
            "            long old = 2L;",
            "            c_ = atomic_compare_exchange_weak_explicit(&y, &old, a_ + 1L, memory_order_acq_rel, \
             memory_order_acquire);",
            "            b_ = old;",
            "        d_ = unpick_choose(2);",
            "        unpick_assume(d_ != 1L);",
            "        unpick_forbid((end_1.a == 2L) && (atomic_load_explicit(&y, memory_order_relaxed) == 3L));",
        ] {
            assert!(c.lines().any(|written| written.trim_end() == line.trim_end()), "{line}\n{c}");
        }
        let cxx = source(&litmus, Language::Cxx);
        assert!(
            cxx.contains("static atomic<long> x __attribute__((used)){0};") && cxx.contains("l.lock();"),
            "{cxx}"
        );
    }
}
