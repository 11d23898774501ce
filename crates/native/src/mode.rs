//! What the process is doing: whose code runs.
//!
//! A program that was not started by `unpick run` is left alone, and every function of this library does what
//! the one that it stands in front of does. In a check there is one OS thread that runs code, so that a plain
//! flag tells whether the program or the engine has called.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use crate::isolation;
use crate::sys;

/// Nobody has asked yet.
const UNKNOWN: u8 = 0;
/// An ordinary process.
const OFF: u8 = 1;
/// A check, before the program begins: libraries are made ready.
const BEFORE: u8 = 2;
/// A check: code of the program runs.
pub(crate) const PROGRAM: u8 = 3;
/// A check: code of the engine runs.
const ENGINE: u8 = 4;

pub(crate) static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whose code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// An ordinary process.
    Off,
    /// A check, before the program begins: libraries are made ready.
    Before,
    /// The program under test.
    Program,
    /// The engine.
    Engine,
}

/// Whose code runs.
#[inline(always)]
pub(crate) fn mode() -> Mode {
    match MODE.load(Relaxed) {
        OFF => Mode::Off,
        BEFORE => Mode::Before,
        PROGRAM => Mode::Program,
        ENGINE => Mode::Engine,
        _ => decide(),
    }
}

/// Whether the program under test runs.
#[inline(always)]
pub(crate) fn in_program() -> bool {
    MODE.load(Relaxed) == PROGRAM
}

/// Whether the engine's memory is out of the program's reach.
static GUARDED: AtomicBool = AtomicBool::new(false);

/// Whether the engine's memory is out of the program's reach.
#[inline(always)]
pub(crate) fn is_guarded() -> bool {
    GUARDED.load(Relaxed)
}

/// Puts the engine's memory out of reach whenever the program runs, from now on.
pub(crate) fn guard() {
    GUARDED.store(true, Relaxed);
}

/// Says whose code runs from now on.
#[inline(always)]
pub(crate) fn set(mode: Mode) {
    if is_guarded() {
        return isolation::set(mode);
    }
    store(mode);
}

/// As [`set`], where the engine's memory is as it should be.
#[inline(always)]
pub(crate) fn store(mode: Mode) {
    let number = match mode {
        Mode::Off => OFF,
        Mode::Before => BEFORE,
        Mode::Program => PROGRAM,
        Mode::Engine => ENGINE,
    };
    MODE.store(number, Relaxed);
}

/// Looks whether the process is to be checked. This may come before the C library is ready, so the kernel is
/// asked for the environment.
#[cold]
fn decide() -> Mode {
    let mode = if sys::environment_has(unpick_native_wire::CHANNEL) { Mode::Before } else { Mode::Off };
    set(mode);
    mode
}
