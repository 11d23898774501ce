//! Programs as they are written for loom.

#![allow(clippy::undocumented_unsafe_blocks, reason = "what the tests do to cells is what they are about")]

#[macro_use]
mod covered;

mod cells;
mod heap;
mod memory;
mod models;
mod objects;
mod surface;
mod threads;

use unpick_loom as loom;

/// The message with which a model fails.
#[track_caller]
fn failure(model: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(model).expect_err("the model is fine");
    match payload.downcast_ref::<&str>() {
        Some(message) => message.to_string(),
        None => payload.downcast_ref::<String>().cloned().expect("a message"),
    }
}

/// The message with which a closure fails in a model.
#[track_caller]
fn fails(f: impl Fn() + Send + Sync + std::panic::UnwindSafe + 'static) -> String {
    failure(|| loom::model(f))
}
