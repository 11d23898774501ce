//! From the start of the process to the exploration.

use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use unpick_check::{Config, Detached, Error, Isolation, Timeouts, registry};
use unpick_native_wire::{CHANNEL, DEBUGGER, Message, VERSION};

use crate::explore;
use crate::mode::{self, Mode};
use crate::output;
use crate::real::pass;
use crate::session::{Limits, Session};
use crate::standby::{self, Standby};
use crate::{crash, debugger, frames, isolation, sys, threads};

/// Bytes of stack for each thread unless set: programs in C expect more than the usual.
const STACK: usize = 1 << 20;

/// Where messages go.
static MESSAGES: AtomicI32 = AtomicI32::new(-1);

/// Sends a message to whoever has started the process.
pub(crate) fn send(message: &Message) {
    if debugger::is_on() {
        if let Message::Failed { text } = message {
            debugger::say(text);
        }
        return;
    }
    sys::write(MESSAGES.load(Relaxed), message.line().as_bytes());
}

/// Says that the check cannot be carried out.
pub(crate) fn fail(problem: &str) {
    take_channel();
    send(&Message::Failed { text: problem.to_string() });
}

type Main = usize;
type Arguments = *const *const c_char;

/// The C library's start calls this with the program's `main`; in a check it gets ours in its place.
#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: Main,
    count: i32,
    arguments: Arguments,
    init: usize,
    fini: usize,
    loader_fini: usize,
    stack: usize,
) -> i32 {
    crate::abi_bytes::prepare();
    let own: Main = explorer as *const () as usize;
    let main = match mode::mode() {
        Mode::Off => main,
        _ => {
            // SAFETY: nothing else runs yet.
            unsafe { threads::MAIN = main };
            own
        }
    };
    pass!(
        c"__libc_start_main",
        fn(Main, i32, Arguments, usize, usize, usize, usize) -> i32,
        main,
        count,
        arguments,
        init,
        fini,
        loader_fini,
        stack
    )
}

/// Takes over the descriptor for messages, so that the program does not see it.
fn take_channel() {
    if MESSAGES.load(Relaxed) >= 0 || debugger::is_on() {
        return;
    }
    if std::env::var(CHANNEL).is_ok_and(|value| value == DEBUGGER) {
        return debugger::begin();
    }
    let number = std::env::var(CHANNEL).ok().and_then(|number| number.parse::<usize>().ok()).unwrap_or(2);
    let own = sys::above(number);
    MESSAGES.store(if own >= 0 { own as i32 } else { number as i32 }, Relaxed);
    if own >= 0 && number > 2 {
        sys::close(number as i32);
    }
}

/// Runs in place of the program's `main`.
unsafe extern "C" fn explorer(count: i32, arguments: Arguments, environment: Arguments) -> i32 {
    mode::set(Mode::Engine);
    take_channel();
    // SAFETY: nothing else runs yet.
    unsafe {
        threads::ARGUMENTS = [count as usize, arguments as usize, environment as usize];
        // The program is not to see what started it.
        let name = c"UNPICK_CHANNEL";
        debug_assert_eq!(name.to_str(), Ok(CHANNEL));
        libc::unsetenv(name.as_ptr());
    }
    if let Err(error) = check() {
        send(&Message::Failed { text: error.to_string() });
    }
    standby::done()
}

fn check() -> Result<(), Error> {
    let mut native = Config::default();
    native.stack_size = STACK;
    native.detached = Detached::Abandoned;
    let config = native.with_environment(|name| std::env::var(name).ok())?;
    if config.timeouts == Timeouts::Last {
        let problem = String::from("`last` is not there for C and C++ programs; use `any` or `never`");
        return Err(Error::Setting { name: String::from("timeouts"), problem });
    }
    let limits = Limits {
        stack_size: config.stack_size,
        max_rounds: config.max_rounds,
        hang: config.hang_limit,
        most_ticks: (config.hang_limit.as_millis() / 100).clamp(1, u32::MAX.into()) as u32,
        leaks: config.leaks,
        must_end: config.detached == Detached::MustEnd,
        spurious_wakeups: config.spurious_wakeups,
        reuse: config.reuse,
        patient: config.timeouts == Timeouts::Never,
    };
    let mut plan = registry::plan(&config)?;
    if debugger::is_on() {
        if config.replay.is_none() {
            let problem = String::from("a debugger is for one execution: set it to the token of a report");
            return Err(Error::Setting { name: String::from("UNPICK_REPLAY"), problem });
        }
    } else {
        output::drop_all();
    }
    crash::install();
    frames::prepare();
    let session = Session::make(plan.begin(), limits)?;
    // SAFETY: the session was just made.
    let modules = unsafe { &(*session).modules };
    let modules = modules.list.iter().map(|module| module.path.clone()).collect();
    send(&Message::Started { version: VERSION, modules });
    let standby = if config.isolation == Isolation::Auto && !debugger::is_on() {
        Standby::begin(config.hang_limit)?
    } else {
        crash::start_clock();
        Standby::none(config.isolation == Isolation::Fork)
    };
    if standby.isolated {
        isolation::begin()?;
    }
    match &config.replay {
        Some(token) => explore::replay(session, &config, token),
        None => explore::explore(session, &config, plan, standby),
    }
}
