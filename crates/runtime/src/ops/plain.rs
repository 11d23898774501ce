//! Plain accesses to cells: they are no events, and are compared as they are made.

use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::{self, Access, Point, Violation};

use super::{Object, leave_for_good};
use crate::arena;
use crate::current::context;
use crate::lent::RunIsOver;
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::tag::Tag;

/// Where the code of the functions is that look at plain accesses.
pub(crate) fn accesses() -> [usize; 4] {
    let use_of = |function: fn(Object<'_>, Site)| function as *const () as usize;
    let [access, end] =
        [access, end_access].map(|function: fn(Object<'_>, bool, Site)| function as *const () as usize);
    [access, end, use_of(lend), use_of(reclaim)]
}

/// Hands out a pointer to the contents of an object, by which they may be changed.
#[inline(never)]
pub fn lend(object: Object<'_>, site: Site) {
    on_cell(|s, thread| s.lend(thread, &object, site));
}

/// Pointers to the contents of an object are not to be used any more: its owner asks for it alone.
#[inline(never)]
pub fn reclaim(object: Object<'_>, site: Site) {
    on_cell(|s, thread| s.lent.is_empty() || s.reclaim(thread, &object, site));
}

/// Does something with a cell, after which the thread goes on if that says so.
#[inline(always)]
fn on_cell(act: impl FnOnce(&mut Session, ThreadId) -> bool) {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    if !act(unsafe { &mut *session }, thread) {
        leave_for_good(session, thread);
    }
    arena::enter(arena);
    forget_scratch();
}

/// A plain access to an object.
#[inline(never)]
pub fn access(object: Object<'_>, writes: bool, site: Site) {
    crate::shared::end_quiet();
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    let point = Point { thread, index: s.search.execution.position(thread), site };
    let Some(number) = s.cell(&object, Access { point, writes, atomic: false }) else {
        leave_for_good(session, thread)
    };
    let address = object.tag as *const Tag as usize;
    s.objects.cell_addresses[number as usize] = address;
    s.note(thread, site);
    let (kind, access) = (s.objects.cells[number as usize].kind, Access { point, writes, atomic: false });
    let mut racing = s.objects.races.access(number, point, writes, s.search.execution.view(thread));
    if racing.is_none() && !s.lent.is_empty() {
        s.lent.moved(number, address);
        match s.against_lent(thread, &object, site) {
            Ok(first) => racing = first.map(|first| [first, access]),
            Err(RunIsOver) => leave_for_good(session, thread),
        }
    }
    let violation = if let Some(accesses) = racing {
        Some(violation::Kind::Race { accesses, object: kind.to_string() })
    } else {
        let object = || kind.to_string();
        s.unborn(thread, number).map(|creator| violation::Kind::Unpublished {
            access,
            creator,
            object: object(),
        })
    };
    if let Some(kind) = violation {
        s.search.execution.fail(Violation { kind, point });
        leave_for_good(session, thread);
    }
    arena::enter(arena);
    forget_scratch();
}

/// The end of an access that began with [`access`]. It has lasted until before the thread's last event: whether
/// longer cannot be told, since whoever lets go of an object does so by an event, and may give up its pointer
/// afterwards.
#[inline(never)]
pub fn end_access(object: Object<'_>, writes: bool, site: Site) {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    let index = s.search.execution.position(thread).saturating_sub(1);
    let point = Point { thread, index, site };
    let Some(number) = s.cell(&object, Access { point, writes, atomic: false }) else {
        leave_for_good(session, thread)
    };
    let kind = s.objects.cells[number as usize].kind;
    let view = s.search.execution.view(thread);
    if let Some(accesses) = s.objects.races.end_access(number, point, writes, view) {
        let kind = violation::Kind::Race { accesses, object: kind.to_string() };
        s.search.execution.fail(Violation { kind, point });
        leave_for_good(session, thread);
    }
    arena::enter(arena);
    forget_scratch();
}
