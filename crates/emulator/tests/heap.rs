//! Code as compilers make it, run both ways. It allocates: the heap is put back too.
//!
//! It is one test in a program of its own, since nobody else may use the heap meanwhile.
//!
//! The allocator counts what this thread asks it for. Emulated code counts too, and that is taken back;
//! so a count that has changed is of the emulator itself, which must not allocate before it is.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;
use std::fmt::Write;
use std::hint::black_box;

use unpick_emulator::Machine;

#[path = "it/random.rs"]
mod random;
#[path = "it/stack.rs"]
mod stack;

use random::Random;
use stack::{Anywhere, Stack};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: it is the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Function = extern "C" fn(*mut u64, usize) -> u64;

fn mix(sum: u64, value: u64) -> u64 {
    (sum ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
}

/// # Safety
/// As `slice::from_raw_parts_mut`.
unsafe fn slice<'a>(numbers: *mut u64, len: usize) -> &'a mut [u64] {
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts_mut(numbers, len) }
}

macro_rules! functions {
    ($($name:ident = |$numbers:ident| $body:block)*) => {
        $(#[inline(never)]
        extern "C" fn $name(numbers: *mut u64, len: usize) -> u64 {
            // SAFETY: the test gives a slice.
            let $numbers = unsafe { slice(numbers, len) };
            $body
        })*
        const FUNCTIONS: &[(&str, Function)] = &[$((stringify!($name), $name)),*];
    };
}

functions! {
    sum = |numbers| { numbers.iter().fold(0, |sum, &n| mix(sum, n)) }
    sort_in_place = |numbers| { numbers.sort_unstable(); numbers[0] }
    sort_a_copy = |numbers| {
        let mut copy = numbers.to_vec();
        copy.sort_by_key(|&n| (n % 16, n));
        copy.iter().fold(0, |sum, &n| mix(sum, n))
    }
    reverse_and_rotate = |numbers| { numbers.reverse(); numbers.rotate_left(3); numbers[1] }
    format = |numbers| {
        let mut text = String::new();
        for n in numbers.iter() {
            write!(text, "{n} {n:#x} {:?} {:>12} ", *n as i32, (*n % 1000) as u16).unwrap();
        }
        text.bytes().fold(0, |sum, b| mix(sum, b.into()))
    }
    format_floats = |numbers| {
        let text: Vec<String> = numbers.iter().map(|&n| format!("{:.3} {:e}", n as f64 / 7.0, n as f32)).collect();
        text.concat().bytes().fold(0, |sum, b| mix(sum, b.into()))
    }
    parse = |numbers| {
        let texts: Vec<String> = numbers.iter().map(|n| n.to_string()).collect();
        texts.iter().fold(0, |sum, t| mix(sum, t.parse::<u64>().unwrap() ^ t.parse::<f64>().unwrap().to_bits()))
    }
    hash_map = |numbers| {
        let mut map = HashMap::new();
        for &n in numbers.iter() {
            let sum = map.entry(n % 61).or_insert(0_u64);
            *sum = sum.wrapping_add(n);
        }
        map.remove(&3);
        let mut sum = 0;
        for key in 0..64 {
            sum = mix(sum, map.get(&key).copied().unwrap_or(9));
        }
        sum
    }
    btree_map = |numbers| {
        let mut map: BTreeMap<u64, String> = numbers.iter().map(|&n| (n % 97, n.to_string())).collect();
        map.retain(|key, _| key % 3 != 0);
        map.iter().fold(0, |sum, (key, text)| mix(sum, key + text.len() as u64))
    }
    floats = |numbers| {
        let mut sum = 0.0_f64;
        for &n in numbers.iter() {
            let x = n as f64;
            sum += x.sqrt() * 1.5 - (x / 3.0).floor() + (n as i64) as f32 as f64;
        }
        sum.to_bits() ^ sum as i64 as u64
    }
    wide = |numbers| {
        let mut value = u128::from(numbers[0]) << 64 | u128::from(numbers[1]);
        let mut sum = 0;
        for &n in numbers.iter() {
            value = value.wrapping_mul(u128::from(n) | 1);
            sum = mix(sum, (value % (u128::from(n) + 1)) as u64 ^ (value / (u128::from(n) << 32 | 1)) as u64);
            sum = mix(sum, (value as i128 >> (n % 100)) as u64);
        }
        sum
    }
    divide = |numbers| {
        numbers.windows(2).fold(0, |sum, w| {
            let (a, b) = (w[0], w[1] | 1);
            let small = (a as u32 / (b as u32 | 1)) as u64 ^ (a as u8 % (b as u8 | 1)) as u64;
            let signed = (a as i64).wrapping_rem(b as i64) ^ i64::from((a as i16).wrapping_div(b as i16 | 1));
            mix(sum, (a / b) ^ small ^ signed as u64)
        })
    }
    recurse = |numbers| {
        fn ackermann(m: u64, n: u64) -> u64 {
            match (m, n) {
                (0, n) => n + 1,
                (m, 0) => ackermann(m - 1, 1),
                (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
            }
        }
        ackermann(black_box(2), numbers[0] % 6)
    }
    interpret = |numbers| {
        let mut registers = [1_u64; 4];
        for n in numbers.iter().flat_map(|n| n.to_le_bytes()) {
            let (a, b) = ((n >> 2 & 3) as usize, (n & 3) as usize);
            match black_box(n >> 4) {
                0 => registers[a] = registers[a].wrapping_add(registers[b]),
                1 => registers[a] = registers[a].wrapping_mul(registers[b]),
                2 => registers[a] ^= registers[b],
                3 => registers.swap(a, b),
                4 => registers[a] = registers[b].rotate_left(5),
                5 => registers[a] = registers[b].leading_zeros().into(),
                6 => registers[a] = registers[b].count_ones().into(),
                7 => registers[a] = registers[b].swap_bytes(),
                8 => registers[a] = registers[b].trailing_zeros().into(),
                9 => registers[a] = registers[a].saturating_sub(registers[b]),
                10 => registers[a] = registers[a].checked_add(registers[b]).unwrap_or(7),
                11 => registers[a] = (registers[b] as i8 as i64) as u64,
                12 => registers[a] = u64::from(registers[b] as i32 > registers[a] as i32),
                13 => registers[a] = registers[a].abs_diff(registers[b]),
                14 => registers[a] >>= registers[b] & 63,
                _ => registers[a] = !registers[b],
            }
            registers[a] &= u64::MAX >> 1;
        }
        registers.iter().fold(0, |sum, &r| mix(sum, r))
    }
    copies = |numbers| {
        let len = numbers.len();
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        bytes.copy_within(..len * 4, len);
        bytes[len..len * 2].fill(black_box(3));
        let text = CStr::from_bytes_until_nul(black_box(b"some text\0more")).unwrap();
        // SAFETY: the text ends in zero.
        let length = unsafe { libc::strlen(black_box(text.as_ptr())) };
        // SAFETY: it looks at that many bytes at most.
        let found = unsafe { libc::memchr(bytes.as_ptr().cast(), black_box(3), bytes.len()) };
        let length = length + found as usize % 2;
        let same = bytes[..len] == bytes[len..len * 2];
        // SAFETY: both are that long.
        let order = unsafe { libc::memcmp(bytes.as_ptr().cast(), numbers.as_ptr().cast(), len * 8) };
        bytes.iter().fold(length as u64 + u64::from(same) + order as u32 as u64, |sum, &b| mix(sum, b.into()))
    }
    text = |numbers| {
        let text: String = numbers.iter().filter_map(|&n| char::from_u32((n % 0x3000) as u32)).collect();
        let changed = text.to_uppercase().replace('A', "bc").chars().rev().collect::<String>();
        changed.split('7').map(str::len).fold(changed.len() as u64, |sum, n| mix(sum, n as u64))
    }
    boxes = |numbers| {
        let list: Vec<Box<dyn Fn(u64) -> u64>> = numbers
            .iter()
            .map(|&n| -> Box<dyn Fn(u64) -> u64> {
                if n % 2 == 0 { Box::new(move |x| x + n % 100) } else { Box::new(move |x| mix(x, n)) }
            })
            .collect();
        list.iter().fold(0_u64, |sum, f| f(sum & 0xffff_ffff))
    }
    thread_locals = |numbers| {
        thread_local! { static SUM: Cell<u64> = const { Cell::new(5) }; }
        SUM.set(mix(SUM.get(), numbers[0]));
        let value = SUM.get();
        SUM.set(5);
        value
    }
    atomics = |numbers| {
        use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::SeqCst};
        static WORD: AtomicU64 = AtomicU64::new(0);
        let byte = AtomicU8::new(1);
        WORD.store(numbers[0], SeqCst);
        let mut sum = WORD.swap(numbers[1], SeqCst);
        sum = mix(sum, WORD.fetch_add(numbers[2], SeqCst));
        sum = mix(sum, WORD.fetch_xor(numbers[2] << 1, SeqCst));
        sum = mix(sum, WORD.fetch_or(1 << (numbers[3] % 64), SeqCst) >> (numbers[3] % 64) & 1);
        sum = mix(sum, u64::from(WORD.compare_exchange(numbers[1], 4, SeqCst, SeqCst).is_ok()));
        sum = mix(sum, byte.fetch_max(numbers[3] as u8, SeqCst).into());
        mix(sum, WORD.swap(0, SeqCst))
    }
    mutex = |numbers| {
        let mutex = std::sync::Mutex::new(numbers[0]);
        *mutex.lock().unwrap() += 1 + numbers[1] % 2;
        let arc = std::sync::Arc::new(mutex);
        let other = arc.clone();
        drop(arc);
        other.lock().unwrap().wrapping_mul(3)
    }
}

#[test]
fn compiled_code_and_the_heap() {
    compiled_code_does_what_it_does_natively();
    a_panic_is_given_up_and_taken_back();
}

fn compiled_code_does_what_it_does_natively() {
    let seed = Random::seed();
    let mut random = Random::new(seed);
    let mut machine = Machine::new();
    let mut stack = Stack::new();
    let (mut runs, mut skipped) = (0, 0);
    for round in 0..12 {
        for &(name, function) in FUNCTIONS {
            let at = format!("EMULATOR_SEED={seed}: {name}, round {round}");
            let mut numbers: Vec<u64> = (0..8 + random.below(40)).map(|_| random.number() >> 1).collect();
            let (start, len) = (numbers.as_mut_ptr(), numbers.len());
            let before = numbers.clone();
            // Hash maps draw random numbers from the system the first time, and the heap grows.
            function(start, len);
            numbers.copy_from_slice(&before);
            let (top, arguments) = (stack.top(), [start as u64, len as u64]);
            let count = COUNT.get();
            // SAFETY: nobody else has the numbers, and the thread's heap is its own.
            let result =
                unsafe { machine.call(function as usize, &arguments, top, &mut Anywhere, 2_000_000) };
            let footprint = machine.take_footprint();
            let mut emulated = [0_u64; 64];
            emulated[..len].copy_from_slice(&numbers);
            // SAFETY: it was run just now.
            unsafe { footprint.restore() };
            assert_eq!(COUNT.get(), count, "{at}: the emulator allocates");
            // SAFETY: all of it is mapped.
            assert!(unsafe { footprint.holds() }, "{at}");
            runs += 1;
            if result.is_err_and(|obstacle| obstacle.to_string().contains("`syscall`")) {
                // The heap grows or shrinks.
                skipped += 1;
                continue;
            }
            let result = result.unwrap_or_else(|obstacle| panic!("{at}: {obstacle}"));
            assert_eq!(numbers, before, "{at}");
            let native = function(start, len);
            assert_eq!(result, native, "{at}");
            assert_eq!(emulated[..len], numbers, "{at}");
        }
    }
    assert!(skipped * 4 < runs, "EMULATOR_SEED={seed}: {skipped} of {runs} were given up at a system call");
}

fn a_panic_is_given_up_and_taken_back() {
    #[inline(never)]
    extern "C" fn fail(_: *mut u64, _: usize) -> u64 {
        let result = std::panic::catch_unwind(|| {
            if black_box(true) {
                panic!("it is part of the test");
            }
        });
        u64::from(result.is_err())
    }
    let mut machine = Machine::new();
    let mut stack = Stack::new();
    for _ in 0..3 {
        // SAFETY: the thread's heap is its own.
        let result = unsafe {
            machine.call(fail as *const () as usize, &[0, 0], stack.top(), &mut Anywhere, 10_000_000)
        };
        let footprint = machine.take_footprint();
        // SAFETY: it was run just now.
        unsafe { footprint.restore() };
        assert!(result.is_err() || result == Ok(1));
        let text = vec![format!("{result:?}"); 100].concat();
        assert!(text.len() > 100);
    }
}
