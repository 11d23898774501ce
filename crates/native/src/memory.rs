//! The functions of the C library that allocate and free memory.

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::op::Site;
use unpick_core::violation::{Block, Kind, Point};

use crate::entry::entries;
use crate::heap::{self, Owner};
use crate::mode::{self, Mode};
use crate::ops::{self, Caller};
use crate::real::pass;
use crate::session;
use crate::shadow::Conflict;
use crate::sys;
use crate::trial;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> usize;
    fn __libc_free(block: usize);
    fn __libc_calloc(count: usize, size: usize) -> usize;
    fn __libc_realloc(block: usize, size: usize) -> usize;
    fn __libc_memalign(align: usize, size: usize) -> usize;
}

entries! {
    malloc => allocate;
    calloc => allocate_zeroed;
    realloc => reallocate;
    reallocarray => reallocate_array;
    free => release;
    posix_memalign => allocate_aligned_at;
    aligned_alloc => allocate_aligned;
    memalign => allocate_aligned;
    valloc => allocate_pages;
    pvalloc => allocate_whole_pages;
    malloc_usable_size => usable_size;
    _ZnwmRKSt9nothrow_t => allocate;
    _ZnamRKSt9nothrow_t => allocate;
    _ZnwmSt11align_val_tRKSt9nothrow_t => try_new_aligned;
    _ZnamSt11align_val_tRKSt9nothrow_t => try_new_aligned;
    _ZdlPv => release;
    _ZdaPv => release;
    _ZdlPvm => release;
    _ZdaPvm => release;
    _ZdlPvRKSt9nothrow_t => release;
    _ZdaPvRKSt9nothrow_t => release;
    _ZdlPvSt11align_val_t => release;
    _ZdaPvSt11align_val_t => release;
    _ZdlPvmSt11align_val_t => release;
    _ZdaPvmSt11align_val_t => release;
}

/// Whether a function may be called in a trial, with blocks that are given to the round there.
pub(crate) fn may_be_tried(target: *const ()) -> bool {
    let functions = [
        allocate as *const (),
        allocate_zeroed as *const (),
        allocate_aligned as *const (),
        new as *const (),
        try_new_aligned as *const (),
        release as *const (),
    ];
    functions.contains(&target)
}

fn is_ordinary() -> bool {
    mode::mode() == Mode::Off
}

/// A block for whoever has called; `zero`: it is written to at once.
fn take(size: usize, align: usize, zero: bool) -> usize {
    let block = match ops::enter() {
        Some(caller) => {
            let owner = Owner { thread: caller.thread, position: caller.position(), site: caller.site };
            let filled = caller.session().limits.uninitialised && !zero;
            if caller.session().limits.reuse {
                // A block that comes and goes leaves a choice to those that come later.
                trial::stop();
            }
            if let Some(trying) = &mut caller.session().trying {
                let block = trying.allocate(size, align, owner, filled);
                caller.leave();
                return block;
            }
            let again = if align <= 16 { take_again(&caller, size, owner) } else { None };
            let block = again.unwrap_or_else(|| heap::allocate(size, align, Some(owner)));
            if filled && block != 0 {
                heap::undefine(block);
            }
            if caller.session().recorder.is_some() {
                caller.record_block(block);
            }
            caller.leave();
            block
        }
        None => heap::allocate(size, align, None),
    };
    if block == 0 {
        // SAFETY: the place of the error number of this thread.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    block
}

/// A block that was freed, if the program is to see that: it may get one, or not.
fn take_again(caller: &Caller, size: usize, owner: Owner) -> Option<usize> {
    if !caller.session().limits.reuse {
        return None;
    }
    // A free that the thread does not know of may come later.
    let view = caller.session().search.execution.view(caller.thread).to_vec();
    let known = |at: Point| {
        let event = EventId { thread: at.thread, index: at.index };
        at.thread == caller.thread || knows(&view, event)
    };
    let block = heap::freed(size, known)?;
    if caller.choose(2) == 0 {
        return None;
    }
    heap::renew(block, Owner { position: caller.position(), ..owner });
    let s = caller.session();
    s.shadow.forget(block, size);
    s.places.forget(block, size);
    Some(block)
}

extern "C" fn allocate(size: usize) -> usize {
    if is_ordinary() {
        // SAFETY: any size is allowed.
        return unsafe { __libc_malloc(size) };
    }
    take(size, 16, false)
}

/// Defines `operator new`. Where there is no memory it throws; the exception must not meet a frame of ours, so the bare
/// machine code goes on to the function of the C++ library that throws it.
macro_rules! throwing_entries {
    ($($name:ident => $target:ident;)*) => { mod throwing {
        #[used]
        #[unsafe(link_section = "unpick_entries")]
        static ENTRIES: [$crate::entry::Entry; [$(stringify!($name)),*].len()] = [$($crate::entry::Entry {
            address: $name as *const (),
            target: super::$target as *const (),
            module: module_path!(),
        }),*];
        $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "push rbx",
                "push rbp",
                "push r12",
                "push r13",
                "push r14",
                "push r15",
                "mov [rip + {frame}], rsp",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 56",
                "call {target}",
                "test rax, rax",
                "jne 2f",
                "call {thrower}",
                "add rsp, 56",
                ".cfi_adjust_cfa_offset -56",
                "jmp rax",
                "2:",
                ".cfi_adjust_cfa_offset 56",
                "add rsp, 56",
                ".cfi_adjust_cfa_offset -56",
                "ret",
                ".cfi_endproc",
                frame = sym $crate::entry::FRAME,
                target = sym super::$target,
                thrower = sym super::thrower,
            )
        }
    )* } };
}

throwing_entries! {
    _Znwm => new;
    _Znam => new;
    _ZnwmSt11align_val_t => try_new_aligned;
    _ZnamSt11align_val_t => try_new_aligned;
}

/// The function of the C++ library that throws `std::bad_alloc`.
extern "C" fn thrower() -> usize {
    // SAFETY: the name is a C string.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_ZSt17__throw_bad_allocv".as_ptr()) };
    if function.is_null() {
        sys::write(2, b"unpick: the program has used up its memory\n");
        sys::exit(2);
    }
    function as usize
}

extern "C" fn new(size: usize) -> usize {
    allocate(size.max(1))
}

extern "C" fn try_new_aligned(size: usize, align: usize) -> usize {
    allocate_aligned(align, size.max(1))
}

extern "C" fn allocate_zeroed(count: usize, size: usize) -> usize {
    if is_ordinary() {
        // SAFETY: any size is allowed.
        return unsafe { __libc_calloc(count, size) };
    }
    let block = take(count.saturating_mul(size), 16, true);
    // Blocks are zero when they are taken for the first time.
    let again = session::get();
    // SAFETY: the session, if there is one, and a block of so many bytes.
    unsafe {
        if block != 0 && !again.is_null() && (*again).limits.reuse {
            sys::fill(block, 0, count * size);
        }
    }
    block
}

extern "C" fn allocate_aligned(align: usize, size: usize) -> usize {
    if is_ordinary() {
        // SAFETY: any size is allowed.
        return unsafe { __libc_memalign(align, size) };
    }
    // As the C library does it.
    take(size, align.checked_next_power_of_two().unwrap_or(1 << 63), false)
}

extern "C" fn allocate_pages(size: usize) -> usize {
    allocate_aligned(4096, size)
}

extern "C" fn allocate_whole_pages(size: usize) -> usize {
    allocate_aligned(4096, size.checked_next_multiple_of(4096).unwrap_or(usize::MAX))
}

unsafe extern "C" fn allocate_aligned_at(place: *mut usize, align: usize, size: usize) -> i32 {
    if !align.is_power_of_two() || !align.is_multiple_of(8) {
        return libc::EINVAL;
    }
    let block = allocate_aligned(align, size);
    if block == 0 {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's pointer.
    unsafe { *place = block };
    0
}

extern "C" fn reallocate_array(block: usize, count: usize, size: usize) -> usize {
    // As much as there never is.
    reallocate(block, count.saturating_mul(size))
}

extern "C" fn reallocate(block: usize, size: usize) -> usize {
    if is_ordinary() {
        // SAFETY: the caller's block.
        return unsafe { __libc_realloc(block, size) };
    }
    if block == 0 {
        return take(size, 16, false);
    }
    if size == 0 {
        // As the C library does it.
        release(block);
        return 0;
    }
    let known = heap::contains(block).then(|| heap::find(block)).flatten();
    let Some(known) = known.filter(|known| known.block.start == block) else {
        release(block);
        return 0;
    };
    let new = take(size, 16, false);
    if new != 0 {
        // SAFETY: both blocks have so many bytes.
        unsafe { sys::copy(new, block, known.block.size.min(size)) };
        release(block);
    }
    new
}

extern "C" fn usable_size(block: usize) -> usize {
    if is_ordinary() {
        return pass!(c"malloc_usable_size", fn(usize) -> usize, block);
    }
    match heap::find(block) {
        Some(known) if known.block.start == block => known.block.size,
        _ => 0,
    }
}

extern "C" fn release(block: usize) {
    if is_ordinary() {
        // SAFETY: the caller's block.
        unsafe { __libc_free(block) };
        return;
    }
    if block == 0 {
        return;
    }
    match ops::enter() {
        Some(caller) => {
            free_block(&caller, block);
            caller.leave();
        }
        // Memory of the loader, which has functions of its own until the libraries are there, stays.
        None if heap::contains(block) => {
            heap::free(block, Point { thread: unpick_core::op::ThreadId::MAIN, index: 0, site: Site(0) });
        }
        None => {}
    }
}

/// A thread under test frees a block.
fn free_block(caller: &Caller, address: usize) {
    if let Some(trying) = &mut caller.session().trying {
        return trying.free(address);
    }
    let known = heap::contains(address).then(|| heap::find(address)).flatten();
    let Some(known) = known.filter(|known| address < known.block.start + known.block.size.max(1)) else {
        if !heap::contains(address) && is_of_loader(caller, address) {
            return;
        }
        let problem = format!("{address:#x} is no block of the heap");
        caller.fail(Kind::InvalidFree { problem, block: None });
    };
    let block = Block {
        thread: known.thread.unwrap_or(unpick_core::op::ThreadId::MAIN),
        number: known.number,
        birth: known.block.birth,
        size: known.block.size as u32,
    };
    if known.block.start != address {
        let problem = format!("the address lies {} bytes inside a block", address - known.block.start);
        caller.fail(Kind::InvalidFree { problem, block: Some(block) });
    }
    if let Some(first) = known.block.freed {
        caller.fail(Kind::DoubleFree { first, block });
    }
    let s = caller.session();
    let at =
        Point { thread: caller.thread, index: s.search.execution.position(caller.thread), site: caller.site };
    let bytes = (known.block.start, known.block.size.max(1));
    match s.shadow.free(bytes, at, &mut s.search.execution) {
        Some(Conflict::Race(access)) => {
            let object = String::from("memory");
            caller.fail(Kind::UseAfterFree { access, freed: at, after: false, block, object });
        }
        Some(Conflict::Unborn(birth)) => {
            let access = unpick_core::violation::Access { point: at, writes: true, atomic: false };
            let object = String::from("memory");
            caller.fail(Kind::Unpublished { access, creator: birth.thread, object });
        }
        _ => heap::free(address, at),
    }
}

/// Whether memory may be of the loader, which allocates some before the libraries are there.
fn is_of_loader(caller: &Caller, address: usize) -> bool {
    caller.session().modules.code(address).is_some()
}
