//! Plain accesses, as the compiler's instrumentation announces them.

use unpick_core::op::Site;
use unpick_emulator::{Enter, Machine};

use crate::abi_bytes::{copy, fill, shift};
use crate::entry::{self, plain_entries};
use crate::mode::{self, Mode};
use crate::ops::Caller;
use crate::session;

/// Notes a plain access of the program to some bytes; in other processes nothing is done.
#[inline(always)]
pub(crate) fn access(address: usize, size: usize, writes: bool) {
    access_as(address, size, writes, false);
}

/// As [`access`]; `value`: a value is read as a whole, and not bytes that are copied.
#[inline(always)]
fn access_as(address: usize, size: usize, writes: bool, value: bool) {
    if !mode::in_program() || size == 0 {
        return;
    }
    let site = Site(entry::plain_site() as u64);
    mode::set(Mode::Engine);
    let session = session::get();
    // SAFETY: there is a session when the program runs.
    let thread = unsafe { (*session).current };
    let caller = Caller::without_site(session, thread);
    if session::must_stop() {
        caller.give_up(site);
    }
    caller.touch_as(address, size, writes, site, value);
    caller.leave();
}

macro_rules! accesses {
    ($($name:ident: $size:literal, $writes:literal;)*) => { $(
        extern "C" fn $name(address: usize) {
            access_as(address, $size, $writes, !$writes);
        }
    )* };
}

accesses! {
    read1: 1, false;
    read2: 2, false;
    read4: 4, false;
    read8: 8, false;
    read16: 16, false;
    write1: 1, true;
    write2: 2, true;
    write4: 4, true;
    write8: 8, true;
    write16: 16, true;
}

extern "C" fn read_range(address: usize, size: usize) {
    access(address, size, false);
}

extern "C" fn write_range(address: usize, size: usize) {
    access(address, size, true);
}

extern "C" fn pointer_update(address: usize, value: usize) {
    // A pointer to virtual functions is written again by each constructor and destructor; the same value
    // changes nothing.
    // SAFETY: the program is about to write there.
    if unsafe { *(address as *const usize) } != value {
        access(address, 8, true);
    }
}

/// What a call of one of these functions, or of those for bytes, does when a round of a loop is tried: accesses were looked at
/// in the round itself, and bytes that are copied or filled are. `None`: something else.
pub(crate) fn repeated(target: *const (), arguments: [usize; 6], machine: &mut Machine) -> Option<Enter> {
    let [to, from, size, ..] = arguments;
    let is = |function: *const ()| function == target;
    let (copies, fills) = (is(copy as *const ()) || is(shift as *const ()), is(fill as *const ()));
    if !copies && !fills {
        return None;
    }
    let there = machine.touch(to, size, true).is_ok() && (fills || machine.touch(from, size, false).is_ok());
    if !there {
        return Some(Enter::GiveUp("uses memory that is not there"));
    }
    // SAFETY: the machine has seen that the bytes are there, and the code is about to do the same.
    unsafe {
        match fills {
            true => std::ptr::write_bytes(to as *mut u8, from as u8, size),
            false => std::ptr::copy(from as *const u8, to as *mut u8, size),
        }
    }
    Some(Enter::Return(to as u64))
}

plain_entries! {
    __tsan_read1 => read1;
    __tsan_read2 => read2;
    __tsan_read4 => read4;
    __tsan_read8 => read8;
    __tsan_read16 => read16;
    __tsan_write1 => write1;
    __tsan_write2 => write2;
    __tsan_write4 => write4;
    __tsan_write8 => write8;
    __tsan_write16 => write16;
    __tsan_unaligned_read2 => read2;
    __tsan_unaligned_read4 => read4;
    __tsan_unaligned_read8 => read8;
    __tsan_unaligned_read16 => read16;
    __tsan_unaligned_write2 => write2;
    __tsan_unaligned_write4 => write4;
    __tsan_unaligned_write8 => write8;
    __tsan_unaligned_write16 => write16;
    __tsan_volatile_read1 => read1;
    __tsan_volatile_read2 => read2;
    __tsan_volatile_read4 => read4;
    __tsan_volatile_read8 => read8;
    __tsan_volatile_read16 => read16;
    __tsan_volatile_write1 => write1;
    __tsan_volatile_write2 => write2;
    __tsan_volatile_write4 => write4;
    __tsan_volatile_write8 => write8;
    __tsan_volatile_write16 => write16;
    __tsan_unaligned_volatile_read2 => read2;
    __tsan_unaligned_volatile_read4 => read4;
    __tsan_unaligned_volatile_read8 => read8;
    __tsan_unaligned_volatile_read16 => read16;
    __tsan_unaligned_volatile_write2 => write2;
    __tsan_unaligned_volatile_write4 => write4;
    __tsan_unaligned_volatile_write8 => write8;
    __tsan_unaligned_volatile_write16 => write16;
    __tsan_read_write1 => write1;
    __tsan_read_write2 => write2;
    __tsan_read_write4 => write4;
    __tsan_read_write8 => write8;
    __tsan_read_write16 => write16;
    __tsan_unaligned_read_write2 => write2;
    __tsan_unaligned_read_write4 => write4;
    __tsan_unaligned_read_write8 => write8;
    __tsan_unaligned_read_write16 => write16;
    __tsan_vptr_read => read8;
    __tsan_vptr_update => pointer_update;
    __tsan_read_range => read_range;
    __tsan_write_range => write_range;
    __tsan_memcpy => copy;
    __tsan_memmove => shift;
    __tsan_memset => fill;
}

/// Functions that do nothing. What programs tell other tools about their synchronisation is not needed: all of it is
/// seen here.
macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name() {}
    )* };
}

nothing! {
    __tsan_init
    __tsan_func_entry
    __tsan_func_exit
    __tsan_ignore_thread_begin
    __tsan_ignore_thread_end
    __tsan_atomic_signal_fence
    __tsan_acquire
    __tsan_release
    __tsan_mutex_create
    __tsan_mutex_destroy
    __tsan_mutex_pre_lock
    __tsan_mutex_post_lock
    __tsan_mutex_pre_unlock
    __tsan_mutex_post_unlock
    __tsan_mutex_pre_signal
    __tsan_mutex_post_signal
    __tsan_mutex_pre_divert
    __tsan_mutex_post_divert
    AnnotateHappensBefore
    AnnotateHappensAfter
    AnnotateIgnoreReadsBegin
    AnnotateIgnoreReadsEnd
    AnnotateIgnoreWritesBegin
    AnnotateIgnoreWritesEnd
    AnnotateIgnoreSyncBegin
    AnnotateIgnoreSyncEnd
    AnnotateBenignRace
    AnnotateBenignRaceSized
    AnnotateNewMemory
    AnnotateThreadName
    AnnotateRWLockCreate
    AnnotateRWLockCreateStatic
    AnnotateRWLockDestroy
    AnnotateRWLockAcquired
    AnnotateRWLockReleased
    AnnotateCondVarSignal
    AnnotateCondVarSignalAll
    AnnotateCondVarWait
    AnnotateMutexIsNotPHB
    AnnotateMutexIsUsedAsCondVar
    AnnotatePublishMemoryRange
    AnnotateUnpublishMemoryRange
    AnnotateFlushState
}
