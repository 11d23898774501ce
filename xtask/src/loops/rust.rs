//! Programs as Rust, many in one package.

use super::program::{Look, Order, Place, Program};
use super::source::{Form, Language, Lines, finish, thread};

/// What all programs use.
const PRELUDE: &str = include_str!("rust/prelude.rs");

/// The source of a program that explores any of these.
pub(crate) fn source(programs: &[Program]) -> String {
    let mut lines = Lines::default();
    for (number, program) in programs.iter().enumerate() {
        module(number, program, &mut lines);
    }
    lines.add("fn find(program: usize, form: Form) -> fn(&'static Captured) {");
    lines.add("match (program, form) {");
    for number in 0..programs.len() {
        for (form, name) in [("Real", "real"), ("Bounded", "bounded")] {
            lines.add(format!("({number}, Form::{form}) => program{number}::{name},"));
        }
    }
    lines.add("_ => panic!(\"there is no such program\"),\n}\n}");
    format!("{PRELUDE}\n{}", lines.into_text())
}

/// A program in a module of its own.
fn module(number: usize, program: &Program, lines: &mut Lines) {
    lines.add(format!("mod program{number} {{\nuse super::*;"));
    for &(slot, place) in program.threads.iter().flat_map(|thread| &thread.slots) {
        match place {
            Place::Static => lines.add(format!("static S{slot}: StdUsize = StdUsize::new(0);")),
            Place::StaticMut => lines.add(format!("static mut S{slot}: usize = 0;")),
            Place::ThreadLocal | Place::OwnThreadLocal => {
                let from = if place == Place::ThreadLocal { "std" } else { "unpick" };
                lines.add(format!("{from}::thread_local! {{"));
                lines.add(format!("static S{slot}: Cell<usize> = const {{ Cell::new(0) }};\n}}"));
            }
            _ => {}
        }
    }
    for form in [Form::Real, Form::Bounded] {
        for (index, own) in program.threads.iter().enumerate() {
            let name = format!("{}{index}", form.name());
            lines.add(format!("fn {name}(shared: &Shared, captured: &'static Captured) {{"));
            thread(&Rust, own, form, lines);
            lines.add("}");
        }
        lines.add(format!("pub(super) fn {}(captured: &'static Captured) {{", form.name()));
        if form == Form::Bounded {
            lines.add("begin();");
        }
        lines.add(format!("let shared = Arc::new(Shared::new({:?}, {}));", program.first, program.locked));
        for index in 0..program.threads.len() {
            let name = form.name();
            lines.add(format!("let thread{index} = start({name}{index}, &shared, captured);"));
        }
        for index in 0..program.threads.len() {
            lines.add(format!("thread{index}.join().unwrap();"));
        }
        finish(&Rust, program, form, lines);
        lines.add("}");
    }
    lines.add("}");
}

struct Rust;

impl Language for Rust {
    fn load(&self, variable: usize, order: Order) -> String {
        format!("shared.numbers[{variable}].load({order:?})")
    }

    fn store(&self, variable: usize, number: &str, order: Order) -> String {
        format!("shared.numbers[{variable}].store({number}, {order:?});")
    }

    fn add(&self, variable: usize, up: bool, order: Order) -> String {
        let name = if up { "fetch_add" } else { "fetch_sub" };
        format!("shared.numbers[{variable}].{name}(1, {order:?});")
    }

    fn look(&self, look: Look, wanted: usize) -> String {
        match look {
            Look::Load(variable, order) => self.load(variable, order),
            Look::Exchange(variable, number, order) => {
                format!("exchange(&shared.numbers[{variable}], {wanted}, {number}, {order:?})")
            }
            Look::Swap(variable, number, order) => {
                format!("shared.numbers[{variable}].swap({number}, {order:?})")
            }
            Look::TryLock => String::from("try_look(&shared.locked)"),
            Look::Lock => String::from("look(&shared.locked)"),
        }
    }

    fn locked_store(&self, number: usize) -> String {
        format!("*shared.locked.lock().unwrap() = {number};")
    }

    fn get(&self, slot: usize, place: Place) -> String {
        match place {
            Place::Register => format!("s{slot}"),
            Place::Static => format!("S{slot}.load(Relaxed)"),
            Place::StaticMut => format!("unsafe {{ S{slot} }}"),
            Place::ThreadLocal | Place::OwnThreadLocal => format!("S{slot}.get()"),
            Place::Captured => format!("captured[{slot}].load(Relaxed)"),
            Place::Outside | Place::Watched => format!("s{slot}.load(Relaxed)"),
            _ => format!("s{slot}.get()"),
        }
    }

    fn set(&self, slot: usize, place: Place, number: &str) -> String {
        match place {
            Place::Register => format!("s{slot} = {number};"),
            Place::Static => format!("S{slot}.store({number}, Relaxed);"),
            // The number may be read from the slot.
            Place::StaticMut => format!("let number = {number};\nunsafe {{ S{slot} = number }};"),
            Place::ThreadLocal | Place::OwnThreadLocal => format!("S{slot}.set({number});"),
            Place::Captured => format!("captured[{slot}].store({number}, Relaxed);"),
            Place::Outside | Place::Watched => format!("s{slot}.store({number}, Relaxed);"),
            _ => format!("s{slot}.set({number});"),
        }
    }

    fn make(&self, slot: usize, place: Place) -> String {
        match place {
            Place::Register => format!("let mut s{slot} = 0;"),
            Place::Stack => format!("let s{slot} = Cell::new(0);\nblack_box(&s{slot});"),
            Place::Heap => format!("let s{slot} = black_box(Box::new(Cell::new(0)));"),
            Place::Outside => format!("let s{slot} = unpick::outside(|| Box::new(StdUsize::new(0)));"),
            Place::Watched => format!("let s{slot} = AtomicUsize::new(0);"),
            _ => self.set(slot, place, "0"),
        }
    }

    fn end(&self, _slot: usize, _place: Place) -> String {
        String::new()
    }

    fn declare(&self, name: &str, number: &str) -> String {
        format!("let mut {name} = {number};")
    }

    fn forever(&self) -> &'static str {
        "loop {"
    }

    fn assert(&self, condition: &str, form: Form) -> String {
        match form {
            Form::Real => format!("assert!({condition});"),
            Form::Bounded => format!("require({condition});"),
        }
    }

    fn temporary(&self, large: bool) -> String {
        String::from(if large { "black_box(vec![now; 3]);" } else { "black_box(Box::new(now));" })
    }

    fn give_way(&self, kindly: bool) -> String {
        String::from(if kindly { "thread::yield_now();" } else { "unpick::hint::spin_loop();" })
    }

    fn leave(&self) -> &'static str {
        "return;"
    }
}
