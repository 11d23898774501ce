//! What is not followed, and what the footprint says.

use std::arch::global_asm;

use unpick_emulator::{Enter, Footprint, Host, Machine, Obstacle, RDI, RDX, RSI};

use crate::stack::{Anywhere, Stack};

macro_rules! pieces {
    ($($name:ident: $($line:literal),*;)*) => {
        $(global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(stringify!($name), ":"),
            $($line),*,
            "ret",
        );
        unsafe extern "C" { fn $name(); })*
    };
}

pieces! {
    unpick_emulator_test_load: "mov eax, [rdi]";
    unpick_emulator_test_store: "mov [rdi], esi";
    unpick_emulator_test_swap: "xchg [rdi], esi", "mov eax, esi", "add dword ptr [rdi + 2], 0x10000";
    unpick_emulator_test_forever: "2: jmp 2b";
    unpick_emulator_test_spin: "2: test eax, eax", "jz 2b";
    unpick_emulator_test_jump: "jmp rdi";
    unpick_emulator_test_ud2: "ud2";
    unpick_emulator_test_int3: "int3";
    unpick_emulator_test_rdtsc: "rdtsc";
    unpick_emulator_test_rdrand: "rdrand rax";
    unpick_emulator_test_cpuid: "cpuid";
    unpick_emulator_test_gs: "mov rax, gs:[0]";
    unpick_emulator_test_x87: "fld1";
    unpick_emulator_test_mmx: "pxor mm0, mm0";
    unpick_emulator_test_mxcsr: "stmxcsr [rsp - 8]";
    unpick_emulator_test_xsave: "xsave [rsp - 4096]";
    unpick_emulator_test_std: "std", "cld";
    unpick_emulator_test_segment: "mov eax, ds";
    unpick_emulator_test_yield: "mov eax, 24", "syscall";
    unpick_emulator_test_getpid: "mov eax, 39", "syscall";
    unpick_emulator_test_write: "mov eax, 1", "syscall";
    unpick_emulator_test_zero: "xor ecx, ecx", "div ecx";
    unpick_emulator_test_overflow: "mov rax, rdi", "cqo", "mov rcx, -1", "idiv rcx";
    unpick_emulator_test_aligned: "movaps xmm0, [rdi]", "movd eax, xmm0";
    unpick_emulator_test_thread: "mov rax, fs:[0]";
    unpick_emulator_test_rep: "mov rcx, -1", "rep stosb";
    unpick_emulator_test_call: "sub rsp, 8", "mov eax, 16", "call rax", "add rsp, 8";
    unpick_emulator_test_tail: "test edx, edx", "jz unpick_emulator_test_hosted", "ud2";
    unpick_emulator_test_hosted: "ud2";
    unpick_emulator_test_leaves: "sub rsp, 8", "call 2f", "call 3f", "add rsp, 8", "ret",
        "2: mov [rsp - 8], rdi", "ret",
        "3: sub rsp, 24", "mov rax, [rsp + 16]", "add rsp, 24";
    unpick_emulator_test_read_write: "mov rax, [rdi]", "mov [rsi], rax", "mov rax, [rsi]", "mov [rdx], ax";
}

struct Setting {
    machine: Machine,
    stack: Stack,
}

impl Setting {
    fn new() -> Setting {
        Setting { machine: Machine::new(), stack: Stack::new() }
    }

    fn run(&mut self, piece: unsafe extern "C" fn(), arguments: &[u64]) -> Result<u64, Obstacle> {
        self.run_with(piece, arguments, &mut Anywhere)
    }

    fn run_with(
        &mut self,
        piece: unsafe extern "C" fn(),
        arguments: &[u64],
        host: &mut dyn Host,
    ) -> Result<u64, Obstacle> {
        let function = piece as *const () as usize;
        // SAFETY: the pieces use what the tests give them.
        unsafe { self.machine.call(function, arguments, self.stack.top(), host, 1000) }
    }

    fn footprint(&mut self) -> Footprint {
        let top = self.stack.top();
        self.machine.take_footprint().without(top - 4096..top)
    }
}

#[test]
fn what_is_not_understood_is_given_up() {
    let mut setting = Setting::new();
    let mut refused = |piece: unsafe extern "C" fn(), argument: u64, words: &str| {
        let obstacle = setting.run(piece, &[argument]).expect_err(words).to_string();
        assert!(obstacle.contains(words), "{obstacle} instead of {words}");
    };
    refused(unpick_emulator_test_load, 0, "reads memory that is not mapped");
    refused(unpick_emulator_test_load, u64::MAX, "reads memory that is not mapped");
    refused(unpick_emulator_test_load, 0x8000_0000_0000_0000, "reads memory that is not mapped");
    refused(unpick_emulator_test_store, 8, "memory that is not mapped");
    let code = unpick_emulator_test_load as *const () as u64;
    refused(unpick_emulator_test_store, code, "writes memory that is not mapped for it");
    refused(unpick_emulator_test_forever, 0, "took more than 1000 instructions");
    refused(unpick_emulator_test_spin, 0, "took more than 1000 instructions");
    refused(unpick_emulator_test_jump, 0x1000, "which is not code");
    let mut data = [0xc3_u8; 16];
    refused(unpick_emulator_test_jump, data.as_mut_ptr() as u64, "which is not code");
    refused(unpick_emulator_test_ud2, 0, "executes `ud2` at 0x");
    refused(unpick_emulator_test_int3, 0, "executes `int3` at 0x");
    refused(unpick_emulator_test_rdtsc, 0, "executes `rdtsc` at 0x");
    refused(unpick_emulator_test_rdrand, 0, "executes `rdrand` at 0x");
    refused(unpick_emulator_test_cpuid, 0, "executes `cpuid` at 0x");
    refused(unpick_emulator_test_gs, 0, "the segment gs");
    refused(unpick_emulator_test_x87, 0, "executes `fld1` at 0x");
    refused(unpick_emulator_test_mmx, 0, "executes `pxor` at 0x");
    refused(unpick_emulator_test_mxcsr, 0, "executes `stmxcsr` at 0x");
    refused(unpick_emulator_test_xsave, 0, "executes `xsave` at 0x");
    refused(unpick_emulator_test_std, 0, "executes `std` at 0x");
    refused(unpick_emulator_test_segment, 0, "executes `mov` at 0x");
    refused(unpick_emulator_test_write, 0, "executes `syscall` at 0x");
    refused(unpick_emulator_test_zero, 0, "the quotient does not fit");
    refused(unpick_emulator_test_overflow, 1 << 63, "the quotient does not fit");
    refused(unpick_emulator_test_aligned, data.as_ptr() as u64 | 1, "not aligned");
    refused(unpick_emulator_test_rep, data.as_mut_ptr() as u64, "too much memory");
}

#[test]
fn what_is_next_to_it_is_followed() {
    let mut setting = Setting::new();
    assert_eq!(setting.run(unpick_emulator_test_yield, &[]), Ok(0));
    assert_eq!(setting.run(unpick_emulator_test_getpid, &[]), Ok(u64::from(std::process::id())));
    assert_eq!(setting.run(unpick_emulator_test_overflow, &[5]), Ok(-5_i64 as u64));
    let aligned = std::hint::black_box([7_u128; 1]);
    assert_eq!(setting.run(unpick_emulator_test_aligned, &[aligned.as_ptr() as u64]), Ok(7));
    let thread: u64;
    // SAFETY: the C library keeps the address of the thread's block there.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) thread) };
    assert_eq!(setting.run(unpick_emulator_test_thread, &[]), Ok(thread));
}

#[test]
fn memory_at_the_end_of_a_mapping() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new mappings, of which the second half is taken away.
    let start = unsafe {
        let start = libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        libc::munmap(start.add(4096), 4096);
        start as u64
    };
    let mut setting = Setting::new();
    assert_eq!(setting.run(unpick_emulator_test_load, &[start + 4092]), Ok(0));
    assert!(setting.run(unpick_emulator_test_load, &[start + 4093]).is_err());
    assert!(setting.run(unpick_emulator_test_store, &[start + 4094, u64::MAX]).is_err());
    // SAFETY: the page is still there.
    assert_eq!(unsafe { *((start + 4095) as *const u8) }, 0);
    // SAFETY: it is ours.
    unsafe { libc::mprotect(start as *mut _, 4096, libc::PROT_READ) };
    assert_eq!(setting.run(unpick_emulator_test_load, &[start]), Ok(0));
    assert!(setting.run(unpick_emulator_test_store, &[start, 1]).is_err());
}

#[test]
fn a_footprint_has_the_bytes_with_what_they_held() {
    let mut setting = Setting::new();
    let mut data: Vec<u8> = (0..64).collect();
    let start = data.as_mut_ptr() as usize;
    let arguments = [start as u64, start as u64 + 16, start as u64 + 24];
    assert_eq!(setting.run(unpick_emulator_test_read_write, &arguments), Ok(0x0706_0504_0302_0100));
    assert_eq!(data[16..26], [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
    assert!(setting.machine.footprint().writes_to(start + 16..start + 17));
    let footprint = setting.footprint();
    assert!(setting.machine.footprint().is_empty());
    let ranges: Vec<_> = footprint.ranges().collect();
    let read: Vec<u8> = (0..8).collect();
    let written: Vec<u8> = (16..26).collect();
    assert_eq!(ranges, [(start, &read[..]), (start + 16, &written[..])]);
    assert_eq!(footprint.len(), 18);
    assert!(footprint.touches(start + 7..start + 9) && !footprint.touches(start + 8..start + 16));
    assert!(footprint.writes_to(start + 25..start + 60) && !footprint.writes_to(start..start + 16));
    // SAFETY: the data are still there.
    unsafe {
        assert!(!footprint.holds());
        assert_eq!(footprint.first_change(), Some(start + 16));
        let part = footprint.clone().without(start + 16..start + 20);
        assert_eq!(part.first_change(), Some(start + 20));
        assert_eq!(part.len(), 14);
        footprint.restore();
        assert!(footprint.holds() && part.holds());
        assert_eq!(footprint.first_change(), None);
    }
    assert_eq!(data, (0..64).collect::<Vec<u8>>());
    data[3] = 9;
    // SAFETY: as above.
    unsafe {
        assert!(!footprint.holds());
        assert_eq!(footprint.first_change(), None);
    }
}

#[test]
fn the_value_is_that_of_the_first_touch() {
    let mut setting = Setting::new();
    let mut data = [1_u8, 2, 3, 4, 5, 6, 7, 8];
    let start = data.as_mut_ptr() as u64;
    assert_eq!(setting.run(unpick_emulator_test_swap, &[start, 0x0101_0101]), Ok(0x0403_0201));
    assert_eq!(data, [1, 1, 1, 1, 6, 6, 7, 8]);
    let footprint = setting.footprint();
    assert_eq!(footprint.ranges().collect::<Vec<_>>(), [(start as usize, &[1, 2, 3, 4, 5, 6][..])]);
    // SAFETY: the data are still there.
    unsafe { footprint.restore() };
    assert_eq!(data, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn the_host_answers_calls() {
    struct Stores;
    impl Host for Stores {
        fn enter(&mut self, machine: &mut Machine) -> Enter {
            let hosted = unpick_emulator_test_hosted as *const () as u64;
            if ![0x10, hosted].contains(&machine.registers.rip) {
                return Enter::Code;
            }
            let [to, value, how] = [RDI, RSI, RDX].map(|number| machine.registers.general[number]);
            if how == 1 {
                return Enter::GiveUp("not now");
            }
            if how == 2 {
                return Enter::End;
            }
            if machine.touch(to as usize, 8, true).is_err() {
                return Enter::GiveUp("a bad pointer");
            }
            // SAFETY: it may be written, as was just seen.
            unsafe { (to as *mut u64).write_unaligned(value) };
            Enter::Return(value + 1)
        }
    }
    let mut setting = Setting::new();
    let mut data = 5_u64;
    let to = &raw mut data as u64;
    assert_eq!(setting.run_with(unpick_emulator_test_call, &[to, 6, 0], &mut Stores), Ok(7));
    assert_eq!(data, 6);
    // SAFETY: the data are still there.
    unsafe { setting.footprint().restore() };
    assert_eq!(data, 5);
    // A call at the end of a function, made by a conditional jump.
    assert_eq!(setting.run_with(unpick_emulator_test_tail, &[to, 8, 0], &mut Stores), Ok(9));
    // SAFETY: the data are still there.
    unsafe { setting.footprint().restore() };
    let given_up = setting.run_with(unpick_emulator_test_call, &[to, 6, 1], &mut Stores);
    assert_eq!(given_up.unwrap_err().to_string(), "the caller gave up: not now");
    let bad = setting.run_with(unpick_emulator_test_call, &[1, 6, 0], &mut Stores);
    assert_eq!(bad, Err(Obstacle::Host("a bad pointer")));
    assert!(setting.run_with(unpick_emulator_test_call, &[to, 6, 2], &mut Stores).is_ok());
    assert_eq!(setting.machine.registers.rip, 0x10);
}

#[test]
fn a_machine_that_was_given_back_sees_that_code_has_changed() {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
    assert_ne!(place, libc::MAP_FAILED);
    let mut stack = Stack::new();
    for value in [1, 2, 2] {
        let code = [0xb8, value, 0, 0, 0, 0xc3]; // mov eax, value; ret
        // SAFETY: the mapping is ours, and larger.
        unsafe { place.cast::<[u8; 6]>().write(code) };
        let mut machine = Machine::take();
        // SAFETY: the code uses its stack only, which is ours.
        let found = unsafe { machine.call(place as usize, &[], stack.top(), &mut Anywhere, 10) };
        assert_eq!(found.ok(), Some(value.into()));
        machine.give_back();
    }
    // SAFETY: nobody uses it any more.
    unsafe { libc::munmap(place, 4096) };
    let mut machine = Machine::take();
    // SAFETY: as above; there is no code any more.
    let found = unsafe { machine.call(place as usize, &[], stack.top(), &mut Anywhere, 10) };
    assert!(matches!(found, Err(Obstacle::NoCode { .. })));
}

/// Lets stack that is given back hold a byte.
struct Filling(u8);

impl Host for Filling {
    fn enter(&mut self, machine: &mut Machine) -> Enter {
        machine.fill_stack(self.0);
        Enter::Code
    }
}

#[test]
fn what_a_function_leaves_below_its_stack_is_filled() {
    for byte in [0x5a, 0xa5] {
        let read = Setting::new().run_with(unpick_emulator_test_leaves, &[7], &mut Filling(byte));
        assert_eq!(read, Ok(u64::from_ne_bytes([byte; 8])));
    }
}
