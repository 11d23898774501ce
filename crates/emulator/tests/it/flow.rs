//! Control flow and the stack, by hand, run both ways.

use unpick_emulator::Machine;

use crate::random::Random;
use crate::stack::{Anywhere, Stack};

std::arch::global_asm!(
    ".text",
    "unpick_emulator_test_flow:",
    "push rbx",
    "push rbp",
    "push r12",
    "mov rbx, rdi",
    "mov r12, rsi",
    "xor eax, eax",
    // Loops.
    "mov ecx, 5",
    "2: add rax, rbx",
    "rol rax, 3",
    "loop 2b",
    "mov ecx, 9",
    "3: inc rax",
    "test al, 3",
    "loopne 3b",
    "lea rcx, [rcx + 2]",
    "4: add rax, 7",
    "cmp ecx, ecx",
    "loope 4b",
    "jrcxz 5f",
    "ud2",
    "5:",
    // A table of jumps.
    "mov rdx, r12",
    "and edx, 3",
    "lea rsi, [rip + 9f]",
    "movsxd rdx, dword ptr [rsi + 4*rdx]",
    "add rdx, rsi",
    "jmp rdx",
    ".p2align 2",
    "9: .long 6f - 9b, 7f - 9b, 8f - 9b, 6f - 9b",
    "6: add rax, 11",
    "jmp 10f",
    "7: xor rax, r12",
    "jmp 10f",
    "8: neg rax",
    "10:",
    // Frames.
    "enter 64, 0",
    "mov [rbp - 8], rax",
    "mov [rsp], rbx",
    "push qword ptr [rsp]",
    "pop qword ptr [rsp + 8]",
    "push 17",
    "push -3",
    "pop rdx",
    "pop rcx",
    "sub rdx, rcx",
    "add rax, rdx",
    "add rax, [rsp + 8]",
    "mov rdx, rsp",
    "push rsp",
    "pop rcx",
    "sub rdx, rcx",
    "add rax, rdx",
    "mov rdx, rsp",
    "sub rsp, 40",
    "and rsp, -32",
    "mov [rsp + 8], rax",
    "xchg rsp, rdx",
    "mov rax, [rdx + 8]",
    "cmp rsp, rdx",
    "setb dl",
    "movzx edx, dl",
    "add rax, rdx",
    "movzx edx, spl",
    "and edx, 7",
    "add rax, rdx",
    "leave",
    // Calls, with arguments that the function takes off.
    "push rax",
    "push r12",
    "call 11f",
    "lea rdx, [rip + 12f]",
    "call rdx",
    "sub rsp, 8",
    "mov [rsp], rdx",
    "call qword ptr [rsp]",
    "add rsp, 8",
    // Flags through the stack, and all conditions.
    "cmp rax, r12",
    "pushfq",
    "xor edx, edx",
    "popfq",
    ".irp cc, o,no,b,ae,e,ne,be,a,s,ns,p,np,l,ge,le,g",
    "j\\cc 13f",
    "btc rax, 7",
    "13: adc rdx, rdx",
    "cmp rax, r12",
    ".endr",
    "add rax, rdx",
    "xor ecx, ecx",
    "cmp bl, r12b",
    ".irp cc, o,no,b,ae,e,ne,be,a,s,ns,p,np,l,ge,le,g",
    "cmov\\cc edx, ebx",
    "set\\cc cl",
    "lea rax, [rax + 2*rax]",
    "lea rax, [rax + rcx]",
    ".endr",
    "add rax, rdx",
    "lea edx, [rax + 4*rax + 3]",
    "lea dx, [rdx + 9]",
    "addr32 lea rcx, [rax + 8*rdx - 1]",
    "add rax, rcx",
    "add rax, rdx",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    "11: mov rax, [rsp + 8]",
    "xor rax, [rsp + 16]",
    "ret 16",
    "12: add rax, 3",
    "ret",
);

unsafe extern "C" {
    fn unpick_emulator_test_flow(one: u64, other: u64) -> u64;
}

#[test]
fn control_flow_and_the_stack_are_as_they_are_natively() {
    let seed = Random::seed();
    let mut random = Random::new(seed);
    let mut machine = Machine::new();
    let mut stack = Stack::new();
    for _ in 0..2000 {
        let (one, other) = (random.number(), random.number());
        let function = unpick_emulator_test_flow as *const () as usize;
        // SAFETY: it uses the stack only.
        let emulated = unsafe { machine.call(function, &[one, other], stack.top(), &mut Anywhere, 10_000) };
        // SAFETY: it takes two numbers.
        let native = unsafe { unpick_emulator_test_flow(one, other) };
        assert_eq!(emulated, Ok(native), "EMULATOR_SEED={seed}");
    }
}
