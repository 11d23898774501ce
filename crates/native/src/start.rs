//! From the start of the process to the exploration.

use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use unpick_check::{Config, Detached, Error, Isolation, Timeouts, registry};
use unpick_native_wire::{CHANNEL, DEBUGGER, Message, VERSION};

use unpick_driver::search::LoopLimits;

use crate::explore;
use crate::mode::{self, Mode};
use crate::output;
use crate::real::pass;
use crate::session::{Limits, Session};
use crate::standby::{self, Standby};
use crate::{constructors, crash, debugger, files, frames, isolation, sys, threads};

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

/// The next line from whoever has started the process; `None` if there is nobody.
pub(crate) fn receive() -> Option<String> {
    let mut line = Vec::new();
    let mut byte = 0u8;
    let arguments = [MESSAGES.load(Relaxed) as usize, &raw mut byte as usize, 1, 0, 0, 0];
    loop {
        // SAFETY: the byte is writable.
        match unsafe { sys::call(libc::SYS_read, arguments) } {
            1 if byte == b'\n' => return String::from_utf8(line).ok(),
            1 => line.push(byte),
            failed if failed == -(libc::EINTR as isize) => {}
            _ => return None,
        }
    }
}

/// Says that the check cannot be carried out.
pub(crate) fn fail(problem: &str) {
    take_channel();
    send(&Message::Failed { text: problem.to_string() });
}

type Main = usize;
type Arguments = *const *const c_char;

/// The C library's start calls this with the program's `main`; in a check it gets ours in its place, and nothing
/// in place of the constructors.
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
    let (main, init) = match mode::mode() {
        Mode::Off => (main, init),
        _ => {
            // SAFETY: nothing else runs yet.
            unsafe { threads::MAIN = main };
            (own, constructors::take_over(init))
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
    let own = files::apart(number);
    MESSAGES.store(own.unwrap_or(number) as i32, Relaxed);
    if own.is_some() && number > 2 {
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
        threads::CONSTRUCTORS = constructors::list();
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
    let native = Config {
        stack_size: STACK,
        detached: Detached::Abandoned,
        allows_vacuous: true,
        ..Config::default()
    };
    let config = native.with_environment(|name| std::env::var(name).ok())?;
    if config.timeouts == Timeouts::Last {
        let problem = String::from("`last` is not there for C and C++ programs; use `any` or `never`");
        return Err(Error::Setting { name: String::from("timeouts"), problem });
    }
    let limits = Limits {
        stack_size: config.stack_size,
        loops: LoopLimits { recognised: config.loops, rounds: config.max_rounds },
        hang: config.hang_limit,
        most_ticks: (config.hang_limit.as_millis() / 100).clamp(1, u32::MAX.into()) as u32,
        leaks: config.leaks,
        must_end: config.detached == Detached::MustEnd,
        spurious_wakeups: config.spurious_wakeups,
        reuse: config.reuse,
        uninitialised: config.uninitialised,
        random: config.random,
        clock_jumps: config.clock_jumps,
        unordered_writes: config.unordered_writes,
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
    let made = unsafe { &mut *session };
    made.excuses.asks = config.suppressions.is_some();
    let modules = made.modules.list.iter().map(|module| module.path.clone()).collect();
    send(&Message::Started { version: VERSION, modules });
    let alone = |isolated: bool| {
        crash::start_clock();
        Standby::none(isolated)
    };
    let standby = match config.isolation {
        _ if debugger::is_on() => alone(false),
        // Where there is no room for another process, nobody watches.
        Isolation::Restore => Standby::begin(config.hang_limit, false).unwrap_or_else(|_| alone(false)),
        Isolation::Fork => alone(true),
        _ => Standby::begin(config.hang_limit, true)?,
    };
    // A worker before this one may have moved them.
    // SAFETY: as above.
    unsafe { (*session).restore_files() };
    if standby.isolated {
        isolation::begin()?;
    }
    match &config.replay {
        Some(token) => explore::replay(session, &config, token),
        None => explore::explore(session, &config, plan, standby),
    }
}
