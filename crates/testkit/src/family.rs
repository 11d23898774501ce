//! Programs that grow with a number, and how many graphs they have.
//!
//! The rule: a count is stated only where a formula gives it, or where it has been confirmed by more
//! than one tool. Sizes within reach of the oracle are checked against it by the tests.

use crate::model::Model;
use crate::program::Program;

/// One member of a family.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name of the family.
    pub family: &'static str,
    /// The size.
    pub size: usize,
    /// The program.
    pub program: Program,
    /// The number of complete graphs under each model, in the order of [`Model::ALL`], where known.
    /// No member has blocked graphs.
    pub complete: [Option<u64>; 6],
}

impl Member {
    /// The number of complete graphs under `model`, where known.
    pub fn complete(&self, model: Model) -> Option<u64> {
        self.complete[model as usize]
    }
}

/// The names of all families.
pub const FAMILIES: [&str; 15] = [
    "ainc", "binc", "cas", "casrot", "casw", "wcas", "readers", "inc", "nw", "wn", "wrw", "lockinc",
    "lastzero", "indexer", "fib",
];

/// The member of `family` with this size; none when the name is unknown.
///
/// - `ainc`: each thread adds 1 to `x`. `binc`: and then to `y`.
/// - `cas`: thread `i` swaps `x` from 0 to `i`. `casrot`: from `i-1` to `i`.
/// - `casw`: each thread swaps `x` from 0 to 1, then stores a value of its own.
/// - `wcas`: one thread stores 2, the others swap from 2 to 3.
/// - `readers`: one writer, `size` readers. `inc`: each thread reads `x`, then writes it.
/// - `nw`: `size` writers and a reader. `wn`: the reader first.
/// - `wrw`: one writer, `size` threads that read and then write.
/// - `lockinc`: each thread adds 1 to `x` under a lock, by a read and a write.
/// - `lastzero`: a chain of writers, and a scan from the end for the last zero.
/// - `indexer`: threads insert four words each into a hash table of 128 slots with linear probing.
/// - `fib`: two threads build up Fibonacci numbers, a third reads them.
pub fn member(family: &str, size: usize) -> Option<Member> {
    let family = FAMILIES.into_iter().find(|known| *known == family)?;
    let program = Program::parse(&text(family, size)).expect("the text of a family is a program");
    Some(Member { family, size, program, complete: complete(family, size) })
}

/// Members whose counts are known, up to about `limit` graphs.
pub fn known(limit: u64) -> Vec<Member> {
    let sizes = FAMILIES.iter().flat_map(|family| (1..=16).map(move |size| (family, size)));
    let counted = sizes.filter(|(family, size)| {
        let counts = complete(family, *size);
        counts.iter().flatten().max().is_some_and(|&most| most <= limit)
    });
    counted.map(|(family, size)| member(family, size).expect("the name is in the list")).collect()
}

fn text(family: &str, n: usize) -> String {
    let each = |body: &dyn Fn(usize) -> String| (1..=n).map(body).collect::<Vec<_>>().join(" || ");
    match family {
        "ainc" => each(&|_| "FADDrlx x 1".into()),
        "binc" => each(&|_| "FADDrlx x 1; FADDrlx y 1".into()),
        "cas" => each(&|i| format!("CASrlx x 0 {i}")),
        "casrot" => each(&|i| format!("CASrlx x {} {i}", i - 1)),
        "casw" => each(&|i| format!("CASrlx x 0 1; Wrel x {}", i + 2)),
        "wcas" => format!("Wrel x 2 || {}", each(&|_| "CASrlx x 2 3".into())),
        "readers" => format!("Wrel x 42 || {}", each(&|_| "Racq x".into())),
        "inc" => each(&|i| format!("Rrlx x; Wrlx x {i}")),
        "nw" => format!("{} || Rrlx x", each(&|i| format!("Wrlx x {i}"))),
        "wn" => format!("Rrlx x || {}", each(&|i| format!("Wrlx x {i}"))),
        "wrw" => format!("Wrlx x 1 || {}", each(&|i| format!("Rrlx x; Wrlx x {}", i + 1))),
        "lockinc" => each(&|_| "lock l; r=Rrlx x; Wrlx x r+1; unlock l".into()),
        "lastzero" => {
            let scan = (0..=n).fold(String::new(), |rest, slot| match slot {
                0 => "r=Racq a0".into(),
                _ => format!("r=Racq a{slot}; if(r!=0){{{rest}}}"),
            });
            format!("{scan} || {}", each(&|j| format!("v=Racq a{}; Wrel a{j} v+1", j - 1)))
        }
        "indexer" => indexer(n),
        "fib" => {
            let add = |to: &str| vec![format!("a=Racq x; b=Racq y; Wrel {to} a+b"); n].join("; ");
            format!("{{x=1; y=1}} {} || {} || Racq x; Racq y", add("x"), add("y"))
        }
        _ => unreachable!("the caller looked the name up"),
    }
}

/// Each thread inserts the words `11·i + thread` for `i` in `0..4`, from slot `7·word mod 128` on.
///
/// Linear probing fills the same slots in any order, so the first slot that stays free bounds each
/// probe, and the loop can be unrolled exactly.
fn indexer(threads: usize) -> String {
    const SLOTS: usize = 128;
    let words = |thread: usize| (0..4).map(move |i| i * 11 + thread);
    let mut filled = [false; SLOTS];
    for word in (0..threads).flat_map(words).filter(|&word| word != 0) {
        let probe = (0..SLOTS).map(|step| (word * 7 + step) % SLOTS);
        let free = probe.into_iter().find(|&slot| !filled[slot]).expect("the table is larger than the input");
        filled[free] = true;
    }
    let insert = |word: usize| {
        let slots = (0..SLOTS).map(|step| (word * 7 + step) % SLOTS);
        let mut probe: Vec<usize> = slots.take_while(|&slot| filled[slot]).collect();
        if word == 0 {
            probe = vec![0];
        }
        probe.iter().rev().fold(String::new(), |rest, slot| {
            let retry = if rest.is_empty() { rest } else { format!("; if(r!=0){{{rest}}}") };
            format!("r=CASrlx t{slot} 0 {word}{retry}")
        })
    };
    let bodies = (0..threads).map(|thread| words(thread).map(insert).collect::<Vec<_>>().join("; "));
    bodies.collect::<Vec<_>>().join(" || ")
}

/// `n!`, as long as it fits.
fn factorial(n: usize) -> Option<u64> {
    (1..=n as u64).try_fold(1, u64::checked_mul)
}

fn complete(family: &str, n: usize) -> [Option<u64>; 6] {
    let listed = |first: usize, counts: &[u64]| n.checked_sub(first).and_then(|at| counts.get(at).copied());
    // With one location all models agree; so they do where each thread visits `x` before `y`, or
    // where all accesses are under one lock.
    let everywhere = match family {
        "ainc" | "lockinc" => factorial(n),
        "binc" | "inc" => factorial(n).and_then(|orders| orders.checked_mul(orders)),
        "cas" => Some(n as u64),
        "casrot" => listed(2, &[2, 5, 14, 43, 144, 523, 2048, 8597]),
        "casw" => listed(2, &[6, 66, 1200, 32_880]),
        "wcas" => Some(n as u64 * (1 << (n - 1)) + 1),
        "readers" => Some(1 << n),
        "nw" | "wn" => factorial(n + 1),
        "wrw" => listed(2, &[22, 300, 6576]),
        "lastzero" => Some((n as u64 + 3) * (1 << n) / 4),
        _ => None,
    };
    // Where all accesses acquire and release, RA and RC11 agree.
    let (sc, tso, weak) = match family {
        "indexer" => (None, None, listed(12, &[8, 64, 512, 4096])),
        "fib" => (
            listed(1, &[11, 140, 1698, 19_605, 218_243]),
            listed(1, &[11, 153, 2258]),
            listed(1, &[11, 153, 2258, 34_205, 525_630]),
        ),
        _ => return [everywhere; 6],
    };
    [sc, tso, weak, weak, weak, weak]
}
