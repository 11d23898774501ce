//! What programs tell the checker, and ask of it: the functions of `unpick.h`.

use std::ffi::{CStr, c_char};

use unpick_core::event::Event;
use unpick_core::round;
use unpick_core::violation::Kind;

use crate::entry::entries;
use crate::ops::{self, Caller};

entries! {
    __unpick_exploring => exploring;
    __unpick_assume => assume;
    __unpick_choose => choose;
    __unpick_label => label;
    __unpick_fail => fail;
    __unpick_spin => spin;
    __unpick_ignore => ignore;
    __unpick_watch => watch;
    __unpick_retire => retire;
}

extern "C" fn exploring() -> i32 {
    i32::from(crate::mode::in_program())
}

extern "C" fn assume(condition: i32) {
    if condition == 0
        && let Some(caller) = ops::enter()
    {
        caller.discard();
    }
}

extern "C" fn choose(bound: u32) -> u32 {
    let Some(caller) = ops::enter() else { return 0 };
    let value = if bound > 1 { caller.choose(bound.into()) } else { 0 };
    caller.leave();
    value as u32
}

unsafe extern "C" fn label(text: *const c_char) {
    let Some(caller) = ops::enter() else { return };
    let position = caller.position();
    if let Some(recorder) = &mut caller.session().recorder {
        // SAFETY: the caller's string.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        recorder.label(caller.thread, position, caller.site, text);
    }
    caller.leave();
}

unsafe extern "C" fn fail(text: *const c_char, file: *const c_char, line: u32) {
    let Some(caller) = ops::enter() else { return };
    // SAFETY: the caller's strings.
    let (text, file) =
        unsafe { (CStr::from_ptr(text).to_string_lossy(), CStr::from_ptr(file).to_string_lossy()) };
    caller.fail(Kind::Assertion { message: text.into_owned(), place: format!("{file}:{line}:1") });
}

/// The thread has achieved nothing since its last call here.
extern "C" fn spin() {
    let Some(caller) = ops::enter() else { return };
    let position = caller.position();
    let s = caller.session();
    let since = std::mem::replace(&mut s.threads[caller.thread.index()].spun, position);
    // Nothing was read since: then there is nothing to wait for, and the loop is cut by the limit on events.
    if since < position {
        caller.wait_for_change(round_from(&caller, since));
        let position = caller.position();
        caller.session().threads[caller.thread.index()].spun = position;
    }
    caller.leave();
}

/// Where the round of a loop begins that ends here: at the thread's last call, or after what it has written since if it has
/// read anything after that. What it did before the loop is no part of the round, and would look as if it were done again.
fn round_from(caller: &Caller, since: u32) -> u32 {
    let graph = caller.session().search.execution.graph();
    let since = since.max(graph.base(caller.thread) as u32);
    let events = graph.since(caller.thread, since);
    let counts = |event: &Event| event.is_write() || !round::may_be_dropped(event);
    let reads = events.iter().rposition(counts).map_or(0, |last| last + 1);
    let any = events[reads..].iter().any(|event| event.is_read());
    if any { since + reads as u32 } else { since }
}

extern "C" fn ignore(start: usize, size: usize) {
    if let Some(caller) = ops::enter() {
        caller.session().ignored.push((start, start.saturating_add(size)));
        caller.leave();
    }
}

extern "C" fn watch(start: usize, size: usize) {
    if let Some(caller) = ops::enter() {
        let end = start.saturating_add(size);
        let ignored = &mut caller.session().ignored;
        let parts = ignored.drain(..).flat_map(|(from, to)| [(from, to.min(start)), (from.max(end), to)]);
        let parts: Vec<_> = parts.filter(|(from, to)| from < to).collect();
        *ignored = parts;
        caller.leave();
    }
}

/// The block is given up, and freed when nobody can use it any more: neither is it left behind, nor is it used after.
extern "C" fn retire(block: usize) {
    if let Some(caller) = ops::enter() {
        caller.session().retired.push(block);
        caller.leave();
    }
}
