//! The search on steps that are data, some of which no program has: one step may access two places.
//!
//! The numbers are of a reference in another language that shares no code with the search.

use std::collections::BTreeSet;

use unpick_core::op::ThreadId;
use unpick_core::thread_set::ThreadSet;

use super::search::{Cost, Rule, Search};
use super::stack::{Access, Step};

/// A step: what it reads, what it writes, the lock that it takes, the lock that it gives back.
#[derive(Clone, Copy)]
enum Part {
    Read(char),
    Write(char),
    /// Reads one place and writes another.
    Move(char, char),
    Lock(char),
    Unlock(char),
    /// Touches nothing.
    Local,
}

type Program = Vec<Vec<Part>>;

/// Rows of tables with more traces are left out, so that slow interpreters come to an end.
const MOST_TRACES: u64 = if cfg!(miri) { 4 } else { 1000 };

/// A program: threads between bars, steps of two letters; `z>y` reads `z` and writes `y`.
fn parse(text: &str) -> Program {
    let step = |word: &str| {
        let mut letters = word.chars();
        match (letters.next(), letters.next(), letters.next()) {
            (Some(from), Some('>'), Some(to)) => Part::Move(from, to),
            (Some('r'), Some(place), None) => Part::Read(place),
            (Some('w'), Some(place), None) => Part::Write(place),
            (Some('l'), Some(lock), None) => Part::Lock(lock),
            (Some('u'), Some(lock), None) => Part::Unlock(lock),
            (Some('-'), Some('-'), None) => Part::Local,
            _ => panic!("{word} is no step"),
        }
    };
    text.split("||").map(|thread| thread.split_whitespace().map(step).collect()).collect()
}

/// What came of a search: traces run to the end, traces that were stuck, classes among the former.
type Counts = (u64, u64, u64);

fn run(program: &Program, rule: Rule, reads_conflict: bool, bound: Option<u32>) -> Counts {
    let mut search = Search::new(rule, reads_conflict, bound);
    let (mut complete, mut stuck, mut classes) = (0, 0, BTreeSet::new());
    loop {
        let trace = follow(program, &mut search);
        if search.is_stuck() {
            stuck += 1;
        } else {
            complete += 1;
            classes.insert(class(program, &trace));
        }
        if search.advance().is_none() {
            return (complete, stuck, classes.len() as u64);
        }
    }
}

/// One trace, from the start: the thread of each step.
fn follow(program: &Program, search: &mut Search) -> Vec<usize> {
    let mut at = vec![0; program.len()];
    let mut held: BTreeSet<char> = BTreeSet::new();
    let mut trace = Vec::new();
    loop {
        let mut enabled = ThreadSet::new();
        let mut steps = vec![None; program.len()];
        for (t, thread) in program.iter().enumerate() {
            let Some(&part) = thread.get(at[t]) else { continue };
            let step = step(part, &held);
            if step.enabled {
                enabled.insert(ThreadId(t as u32));
            }
            steps[t] = Some(step);
        }
        if enabled.is_empty() {
            search.end(steps.as_slice());
            return trace;
        }
        let Some(thread) = search.pick(trace.len(), steps.as_slice(), &enabled) else { return trace };
        let t = thread.index();
        match program[t][at[t]] {
            Part::Lock(lock) => assert!(held.insert(lock), "a lock that is taken was taken"),
            Part::Unlock(lock) => assert!(held.remove(&lock), "a lock that is free was given back"),
            _ => {}
        }
        at[t] += 1;
        trace.push(t);
    }
}

fn step(part: Part, held: &BTreeSet<char>) -> Step {
    let at = |place: char, writes| Access { place: place as u32, writes, taken: held.contains(&place) };
    match part {
        Part::Read(place) => Step::access(at(place, false)),
        Part::Write(place) => Step::access(at(place, true)),
        Part::Move(from, to) => Step::access(at(from, false)).and(at(to, true)),
        Part::Lock(lock) => {
            Step { waits: true, enabled: !held.contains(&lock), ..Step::access(at(lock, true)) }
        }
        Part::Unlock(lock) => Step::access(at(lock, true)),
        Part::Local => Step::silent(),
    }
}

/// The order of all pairs of steps whose order matters.
fn class(program: &Program, trace: &[usize]) -> Vec<(usize, usize, usize, usize)> {
    let sets = |part: Part| match part {
        Part::Read(place) => (vec![place], vec![]),
        Part::Write(place) | Part::Lock(place) | Part::Unlock(place) => (vec![], vec![place]),
        Part::Move(from, to) => (vec![from], vec![to]),
        Part::Local => (vec![], vec![]),
    };
    let depends = |a: Part, b: Part| {
        let ((a_reads, a_writes), (b_reads, b_writes)) = (sets(a), sets(b));
        a_writes.iter().any(|w| b_reads.contains(w) || b_writes.contains(w))
            || b_writes.iter().any(|w| a_reads.contains(w))
    };
    let mut at = vec![0; program.len()];
    let mut events = Vec::new();
    for &t in trace {
        events.push((t, at[t]));
        at[t] += 1;
    }
    let mut pairs = Vec::new();
    for (i, &(t, a)) in events.iter().enumerate() {
        let later = events[i + 1..].iter().filter(|&&(u, b)| t != u && depends(program[t][a], program[u][b]));
        pairs.extend(later.map(|&(u, b)| (t, a, u, b)));
    }
    pairs.sort_unstable();
    pairs
}

#[test]
fn reductions_run_as_many_traces_as_the_reference() {
    // Any access dependent; concurrent reads; with sleep sets; source sets; then classes.
    let table = [
        ("rx wx || rx wx", 6, 6, (4, 0), (4, 0), 4),
        ("rx wx || rx wx || rx wx", 90, 90, (36, 0), (36, 0), 36),
        ("rx ra wx || rx rb wx", 10, 10, (4, 0), (4, 0), 4),
        ("wx ry || wy rx", 4, 4, (3, 0), (3, 0), 3),
        ("wx wy || ry rx", 4, 4, (3, 0), (3, 0), 3),
        ("wx || wx || rx", 6, 6, (6, 0), (6, 0), 6),
        ("wx || rx || rx || rx", 24, 16, (8, 0), (8, 0), 8),
        ("ra wa || ra", 3, 2, (2, 0), (2, 0), 2),
        ("wx || ry rx || rz rx", 26, 19, (4, 1), (4, 0), 4),
        ("wx || wy || rx ry", 5, 5, (4, 0), (4, 0), 4),
        ("wa wb || wc wd || we wf", 1, 1, (1, 0), (1, 0), 1),
        ("lm rx wx um || lm rx wx um", 2, 2, (2, 0), (2, 0), 2),
        ("lm rx wx um || lm rx wx um || lm rx wx um", 6, 6, (6, 0), (6, 0), 6),
        ("ww wy wx || z>y y>x || wz", 16, 16, (10, 1), (10, 0), 10),
        ("ww wy wx || rz wy ry wx || wz", 34, 34, (12, 3), (12, 0), 12),
    ];
    for (text, any, concurrent, sleep, source, classes) in
        table.into_iter().filter(|row| row.1 <= MOST_TRACES)
    {
        let program = parse(text);
        let persistent = Rule::Persistent { sleep: false };
        assert_eq!(run(&program, persistent, true, None), (any, 0, classes), "dpor: {text}");
        assert_eq!(run(&program, persistent, false, None), (concurrent, 0, classes), "dpor-cr: {text}");
        let found = run(&program, Rule::Persistent { sleep: true }, false, None);
        assert_eq!(found, (sleep.0, sleep.1, classes), "dpor-sleep: {text}");
        let found = run(&program, Rule::Source, false, None);
        assert_eq!(found, (source.0, source.1, classes), "source-dpor: {text}");
    }
}

#[test]
fn bounded_searches_run_as_many_traces_as_the_reference() {
    // For bounds 0, 1, ...: CHESS traces, classes, CB-DPOR traces, stuck ones, traces without sleep sets.
    type Row = (u64, u64, u64, u64, u64);
    let table: [(&str, &[Row]); 9] = [
        (
            "ww wy wx || z>y y>x || wz",
            &[(6, 4, 6, 0, 6), (24, 8, 18, 0, 21), (50, 10, 28, 2, 46), (60, 10, 34, 2, 55)],
        ),
        (
            "ww wy wx || rz wy ry wx || wz",
            &[(6, 4, 6, 0, 6), (36, 10, 26, 0, 31), (116, 12, 46, 5, 89), (206, 12, 52, 8, 155)],
        ),
        ("rx wx || rx wx", &[(2, 2, 2, 0, 2), (4, 4, 4, 0, 4), (6, 4, 6, 0, 6), (6, 4, 6, 0, 6)]),
        (
            "rx wx || rx wx || rx wx",
            &[(6, 6, 6, 0, 6), (24, 24, 24, 0, 24), (60, 36, 60, 0, 60), (90, 36, 90, 0, 90)],
        ),
        ("rx ra wx || rx rb wx", &[(2, 2, 2, 0, 2), (6, 4, 4, 0, 4), (14, 4, 6, 0, 6), (18, 4, 6, 0, 6)]),
        ("wx ry || wy rx", &[(2, 2, 2, 0, 2), (4, 3, 4, 0, 4), (6, 3, 4, 0, 4)]),
        ("wx || ry rx || rz rx", &[(6, 4, 6, 0, 6), (18, 4, 14, 0, 16), (30, 4, 18, 0, 24)]),
        ("wx || rx || rx || rx", &[(24, 8, 24, 0, 24), (24, 8, 24, 0, 24)]),
        ("lm rx wx um || lm rx wx um || lm rx wx um", &[(6, 6, 6, 0, 6), (6, 6, 6, 0, 6)]),
    ];
    for (text, rows) in table {
        let program = parse(text);
        let rows = rows.iter().enumerate().take_while(|(_, row)| row.0 <= MOST_TRACES);
        for (bound, &(chess, classes, traces, stuck, without)) in rows {
            let bound = Some(bound as u32);
            assert_eq!(
                run(&program, Rule::All, false, bound),
                (chess, 0, classes),
                "chess {bound:?}: {text}"
            );
            let found = run(&program, Rule::Marked { sleep: true }, false, bound);
            assert_eq!(found, (traces, stuck, classes), "cb-dpor {bound:?}: {text}");
            let found = run(&program, Rule::Marked { sleep: false }, false, bound);
            assert_eq!(found, (without, 0, classes), "without sleep sets {bound:?}: {text}");
            let found = run(&program, Rule::Conservative, false, bound);
            assert_eq!((found.1, found.2), (0, classes), "icb {bound:?}: {text}");
        }
    }
}

/// Found by comparing with brute force: a preempted thread holds the lock that the next one waits for. The
/// reference loses a class here.
#[test]
fn a_sleeper_that_holds_a_lock_is_woken() {
    let program = parse("wx lm wx um || wx lm wx um wx");
    let bounds = [(0, 2), (1, 8), (2, 10), (3, 10)];
    for (bound, classes) in bounds.into_iter().filter(|row| row.1 <= MOST_TRACES) {
        for rule in [Rule::All, Rule::Marked { sleep: false }, Rule::Marked { sleep: true }] {
            assert_eq!(run(&program, rule, false, Some(bound)).2, classes, "{rule:?} {bound}");
        }
    }
}

#[test]
fn a_lock_that_is_never_given_back_hides_no_order() {
    let program = parse("la lb ub ua || lb la ua ub");
    for rule in [Rule::Persistent { sleep: false }, Rule::Persistent { sleep: true }, Rule::Source] {
        assert_eq!(run(&program, rule, false, None).2, 3, "{rule:?}");
    }
    for rule in [Rule::All, Rule::Marked { sleep: true }, Rule::Marked { sleep: false }, Rule::Conservative] {
        assert_eq!(run(&program, rule, false, Some(0)).2, 2, "{rule:?}");
        assert_eq!(run(&program, rule, false, Some(1)).2, 3, "{rule:?}");
    }
}

/// What is known of a tree after a branch: the part that is done, its branches and its steps.
type Size = (f64, f64, f64);

fn close(a: Size, b: Size) -> bool {
    (a.0 - b.0).abs() < 5e-4 && (a.1 - b.1).abs() < 5e-4 && (a.2 - b.2).abs() < 5e-4
}

/// The branches of a search in order, with the estimates after each; a step costs one.
fn sizes(program: &Program, rule: Rule, reads_conflict: bool, bound: Option<u32>) -> Vec<(String, Size)> {
    let mut search = Search::new(rule, reads_conflict, bound).with_cost(Cost { step: 1, trace: 0 });
    let mut sizes = Vec::new();
    loop {
        let branch: String = follow(program, &mut search).iter().map(|t| (t + 1).to_string()).collect();
        let tree = search.tree();
        sizes.push((branch, (tree.progress(), tree.total(search.traces()), tree.recursive())));
        if search.advance().is_none() {
            return sizes;
        }
    }
}

/// The same from the whole tree: its branches in order, each with the branch during which it became known.
struct Whole<'a>(&'a [(&'a str, usize)]);

impl Whole<'_> {
    fn after(&self, run: usize) -> Size {
        let explored = &self.0[..run];
        let weight =
            |branch: &str| (0..branch.len()).map(|i| self.children(&branch[..i], run)).product::<f64>();
        let part = explored.iter().map(|(branch, _)| 1.0 / weight(branch)).sum::<f64>();
        (part, run as f64 / part, self.steps("", run))
    }

    /// The children of a node that are known.
    fn children(&self, node: &str, run: usize) -> f64 {
        let known = self.0.iter().filter(|(_, since)| *since <= run);
        self.distinct(node, known.map(|(branch, _)| *branch)).len() as f64
    }

    fn distinct<'b>(&self, node: &str, branches: impl Iterator<Item = &'b str>) -> BTreeSet<char> {
        branches.filter_map(|branch| branch.strip_prefix(node)?.chars().next()).collect()
    }

    /// The steps below a node, by recursion.
    fn steps(&self, node: &str, run: usize) -> f64 {
        let explored = self.distinct(node, self.0[..run].iter().map(|(branch, _)| *branch));
        if explored.is_empty() {
            return 0.0;
        }
        let below =
            explored.iter().map(|child| 1.0 + self.steps(&format!("{node}{child}"), run)).sum::<f64>();
        self.children(node, run) / explored.len() as f64 * below
    }
}

/// Two threads that each read `x`, add one and write `x`: the example of the estimators in Ben Blum's thesis.
const PUBLISHED: &str = "rx -- wx || rx -- wx";

#[test]
fn the_published_example_is_met_step_by_step() {
    let sizes = sizes(&parse(PUBLISHED), Rule::Conservative, false, Some(2));
    let table = [
        ("111222", (1.0 / 4.0, 4.0, 20.0)),
        ("112221", (3.0 / 8.0, 16.0 / 3.0, 24.0)),
        ("112212", (1.0 / 2.0, 6.0, 24.0)),
        ("222111", (3.0 / 4.0, 16.0 / 3.0, 22.0)),
        ("221112", (7.0 / 8.0, 40.0 / 7.0, 24.0)),
        ("221121", (1.0, 6.0, 24.0)),
    ];
    assert_eq!(sizes.len(), table.len());
    for ((branch, size), (expected, published)) in sizes.iter().zip(table) {
        assert!(branch == expected && close(*size, published), "{branch}: {size:?}");
    }
}

/// Reductions that go on with the lowest thread, instead of the one that moved last, come to the branches of
/// the published example in another order, or to fewer.
#[test]
fn in_another_order_the_estimates_are_those_of_the_whole_tree() {
    let persistent = Rule::Persistent { sleep: false };
    let left = [("111222", 0), ("112212", 1), ("112221", 2)];
    // After `rx` of the second thread, the first one is lower. A write conflicts with the read before it.
    let right = [("221112", 1), ("221121", 4), ("222111", 4)];
    let all = [left, right].concat();
    // With sleep sets, and when reads do not conflict, the root has one child until a write comes after both.
    let sleep = [left.as_slice(), &[("222111", 2)]].concat();
    let source = [left.as_slice(), &[("222111", 3)]].concat();
    let rows = [
        (persistent, true, &all, 24.0),
        (Rule::Persistent { sleep: true }, false, &sleep, 18.0),
        (Rule::Source, false, &source, 18.0),
    ];
    for (rule, reads_conflict, branches, steps) in rows {
        let sizes = sizes(&parse(PUBLISHED), rule, reads_conflict, None);
        let whole = Whole(branches);
        assert_eq!(sizes.len(), branches.len(), "{rule:?}");
        for (i, (branch, size)) in sizes.iter().enumerate() {
            assert_eq!(branch, branches[i].0, "{rule:?} {i}");
            assert!(close(*size, whole.after(i + 1)), "{rule:?} {branch}: {size:?} {:?}", whole.after(i + 1));
        }
        let last = whole.after(branches.len());
        assert!(close(last, (1.0, branches.len() as f64, steps)), "{rule:?}: {last:?}");
    }
    // The left half is as published.
    let whole = Whole(&all);
    assert!(close(whole.after(1), (0.25, 4.0, 20.0)));
    assert!(close(whole.after(2), (0.375, 16.0 / 3.0, 24.0)));
    assert!(close(whole.after(3), (0.5, 6.0, 24.0)));
}
