//! Programs as C, many in one file.

use super::program::{Look, Order, Place, Program, VARIABLES};
use super::source::{Form, Language, Lines, finish, thread};

/// What all programs use.
const PRELUDE: &str = include_str!("c/prelude.c");

/// What is built without the wrapper.
pub(crate) const UNSEEN: &str = include_str!("c/unseen.c");

/// The source of a program that is any of these.
pub(crate) fn source(programs: &[Program]) -> String {
    let mut lines = Lines::default();
    for (number, program) in programs.iter().enumerate() {
        functions(number, program, &mut lines);
    }
    lines.add("static void (*const programs[][2])(void) = {");
    for number in 0..programs.len() {
        lines.add(format!("{{real{number}, bounded{number}}},"));
    }
    lines.add("};");
    lines.add("int main(int count, char **arguments) {");
    lines.add("return count == 4 ? explore(programs, arguments) : 2;");
    lines.add("}");
    format!("{PRELUDE}\n{}", lines.into_text())
}

/// A program as functions.
fn functions(number: usize, program: &Program, lines: &mut Lines) {
    let c = C { number };
    for &(slot, place) in program.threads.iter().flat_map(|thread| &thread.slots) {
        let kind = match place {
            Place::Static => "unsigned",
            Place::ThreadLocal => "_Thread_local unsigned",
            Place::Watched => "atomic_uint",
            _ => continue,
        };
        lines.add(format!("static {kind} s{number}_{slot};"));
    }
    let first = program.first.map(|number| number.to_string()).join(", ");
    // The compiler is not to know that nobody writes to one of them.
    lines.add(format!("atomic_uint numbers{number}[{VARIABLES}] = {{ {first} }};"));
    lines.add(format!("static unsigned locked{number} = {};", program.locked));
    for form in [Form::Real, Form::Bounded] {
        let name = form.name();
        for (index, own) in program.threads.iter().enumerate() {
            lines.add(format!("static void *{name}{number}_{index}(void *unused) {{"));
            thread(&c, own, form, lines);
            lines.add("return unused;\n}");
        }
        lines.add(format!("static void {name}{number}(void) {{"));
        lines.add(format!("pthread_t threads[{}];", program.threads.len()));
        for index in 0..program.threads.len() {
            lines.add(format!("pthread_create(&threads[{index}], 0, {name}{number}_{index}, 0);"));
        }
        for index in 0..program.threads.len() {
            lines.add(format!("pthread_join(threads[{index}], 0);"));
        }
        finish(&c, program, form, lines);
        lines.add("}");
    }
}

/// The language, for the program with a number.
struct C {
    number: usize,
}

impl C {
    fn variable(&self, variable: usize) -> String {
        format!("&numbers{}[{variable}]", self.number)
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    }
}

impl Language for C {
    fn load(&self, variable: usize, how: Order) -> String {
        format!("atomic_load_explicit({}, {})", self.variable(variable), order(how))
    }

    fn store(&self, variable: usize, number: &str, how: Order) -> String {
        format!("atomic_store_explicit({}, {number}, {});", self.variable(variable), order(how))
    }

    fn add(&self, variable: usize, up: bool, how: Order) -> String {
        let name = if up { "add" } else { "sub" };
        format!("atomic_fetch_{name}_explicit({}, 1, {});", self.variable(variable), order(how))
    }

    fn look(&self, look: Look, wanted: usize) -> String {
        match look {
            Look::Load(variable, how) => self.load(variable, how),
            Look::Exchange(variable, number, how) => {
                format!("EXCHANGE({}, {wanted}, {number}, {})", self.variable(variable), order(how))
            }
            Look::Swap(variable, number, how) => {
                format!("atomic_exchange_explicit({}, {number}, {})", self.variable(variable), order(how))
            }
            Look::TryLock => format!("try_look(&locked{})", self.number),
            Look::Lock => format!("look(&locked{})", self.number),
        }
    }

    fn locked_store(&self, number: usize) -> String {
        format!("locked_store(&locked{}, {number});", self.number)
    }

    fn get(&self, slot: usize, place: Place) -> String {
        match place {
            Place::Heap => format!("*s{slot}"),
            Place::Static | Place::ThreadLocal => format!("s{}_{slot}", self.number),
            Place::Watched => format!("atomic_load_explicit(&s{}_{slot}, memory_order_relaxed)", self.number),
            Place::Unseen => format!("unseen_get({slot})"),
            Place::Offset => format!("(unsigned)lseek(s{slot}, 0, SEEK_CUR)"),
            Place::Stream => format!("(unsigned)ftell(s{slot})"),
            Place::Random => String::from("random_get()"),
            _ => format!("s{slot}"),
        }
    }

    fn set(&self, slot: usize, place: Place, number: &str) -> String {
        match place {
            Place::Watched => {
                format!("atomic_store_explicit(&s{}_{slot}, {number}, memory_order_relaxed);", self.number)
            }
            Place::Unseen => format!("unseen_set({slot}, {number});"),
            Place::Offset => format!("lseek(s{slot}, {number}, SEEK_SET);"),
            Place::Stream => format!("fseek(s{slot}, {number}, SEEK_SET);"),
            Place::Random => format!("srand({number});"),
            _ => format!("{} = {number};", self.get(slot, place)),
        }
    }

    fn make(&self, slot: usize, place: Place) -> String {
        match place {
            Place::Register => format!("unsigned s{slot} = 0;"),
            Place::Stack => format!("unsigned s{slot} = 0;\nescape(&s{slot});"),
            Place::Heap => format!("unsigned *s{slot} = calloc(1, sizeof *s{slot});\nescape(s{slot});"),
            Place::Offset => format!("int s{slot} = open(\"/proc/self/exe\", O_RDONLY);"),
            Place::Stream => format!("FILE *s{slot} = fopen(\"/proc/self/exe\", \"r\");"),
            Place::Random | Place::Unseen => self.set(slot, place, "0"),
            _ => String::new(),
        }
    }

    fn end(&self, slot: usize, place: Place) -> String {
        match place {
            Place::Heap => format!("free(s{slot});"),
            Place::Offset => format!("close(s{slot});"),
            Place::Stream => format!("fclose(s{slot});"),
            _ => String::new(),
        }
    }

    fn declare(&self, name: &str, number: &str) -> String {
        format!("unsigned {name} = {number};\n(void){name};")
    }

    fn forever(&self) -> &'static str {
        "for (;;) {"
    }

    fn assert(&self, condition: &str, form: Form) -> String {
        match form {
            Form::Real => format!("assert({condition});"),
            Form::Bounded => format!("REQUIRE({condition});"),
        }
    }

    fn temporary(&self, large: bool) -> String {
        format!("temporary({}, now);", if large { 3 } else { 1 })
    }

    fn give_way(&self, kindly: bool) -> String {
        String::from(if kindly { "sched_yield();" } else { "__builtin_ia32_pause();" })
    }

    fn leave(&self) -> &'static str {
        "return unused;"
    }
}
