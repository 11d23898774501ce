//! Preemptions as loom counts them, and as unpick does.
//!
//! loom runs one interleaving after another. A load sees any store so far that the memory model lets it see,
//! a read-modify-write sees the newest, and a store becomes the newest; each switch away from a thread that could go
//! on counts. Here that is done by brute force, on small programs, and compared with the counts of graphs
//! and with what the search visits under each bound.

use std::collections::BTreeMap;

use unpick_testkit::bounded::truth;
use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::key::{EventAt, Key, KeyEvent, Kind, Source};
use unpick_testkit::preempt::{self, Order};
use unpick_testkit::program::{Mode, Value};
use unpick_testkit::{Machine, Model, Program, Random, Step};

/// States of a program at most.
const MOST: usize = 40_000;

/// Every graph that an interleaving of loom's kind leads to, with the fewest preemptions of those; some are
/// not consistent. Nothing if there are too many states.
fn interleavings(program: &Program) -> Option<BTreeMap<Key, u32>> {
    let machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    let empty =
        Key { threads: vec![Vec::new(); program.threads.len()], mo: vec![Vec::new(); program.places()] };
    // Equal graphs with the same last thread have the same future.
    let mut layer = BTreeMap::from([((empty, usize::MAX), (0, machines))]);
    let (mut found, mut states) = (BTreeMap::new(), 0);
    while !layer.is_empty() {
        let mut next = BTreeMap::new();
        for ((key, last), (cost, machines)) in layer {
            states += 1;
            if states > MOST {
                return None;
            }
            let able: Vec<usize> =
                (0..machines.len()).filter(|&thread| is_able(program, &key, &machines[thread])).collect();
            if able.is_empty() {
                let fewest = found.entry(key).or_insert(cost);
                *fewest = cost.min(*fewest);
                continue;
            }
            for &thread in &able {
                let cost = cost + u32::from(thread != last && able.contains(&last));
                for (event, answer) in events(program, &key, machines[thread].current()) {
                    let (mut key, mut machines) = (key.clone(), machines.clone());
                    let at = EventAt { thread: thread as u16, index: key.threads[thread].len() as u16 };
                    if let (Some(place), Some(_)) = (event.place, event.written) {
                        key.mo[place as usize].push(at);
                    }
                    key.threads[thread].push(event);
                    machines[thread].advance(answer);
                    let known: &mut (u32, _) = next.entry((key, thread)).or_insert((cost, machines));
                    known.0 = cost.min(known.0);
                }
            }
        }
        layer = next;
    }
    Some(found)
}

fn is_able(program: &Program, key: &Key, machine: &Machine) -> bool {
    match machine.current() {
        Step::Done | Step::Blocked => false,
        Step::Lock { lock } => stores(program, key, program.lock_place(lock))[0].0 == 0,
        _ => true,
    }
}

/// The stores to a place so far, the newest first.
fn stores(program: &Program, key: &Key, place: u16) -> Vec<(Value, Source)> {
    let value = |at: &EventAt| {
        let event = &key.threads[at.thread as usize][at.index as usize];
        (event.written.expect("a store has a value"), Source::Event(*at))
    };
    let initial = (program.initial(place), Source::Init);
    key.mo[place as usize].iter().rev().map(value).chain([initial]).collect()
}

/// What a step may be, and what it answers.
fn events(program: &Program, key: &Key, step: Step) -> Vec<(KeyEvent, Value)> {
    let none = KeyEvent { kind: Kind::Fence, place: None, read: None, written: None, rf: None };
    let update = |place: u16, new: &dyn Fn(Value) -> Option<Value>| {
        let (old, source) = stores(program, key, place)[0];
        let written = new(old);
        let kind = if written.is_some() { Kind::Update } else { Kind::Read };
        (KeyEvent { kind, place: Some(place), read: Some(old), written, rf: Some(source) }, old)
    };
    let write = |place: u16, value: Value| {
        (KeyEvent { kind: Kind::Write, place: Some(place), written: Some(value), ..none }, 0)
    };
    let word = |lock| program.lock_place(lock);
    match step {
        Step::Load { loc, .. } => stores(program, key, loc.0)
            .into_iter()
            .map(|(value, source)| {
                let (place, read, rf) = (Some(loc.0), Some(value), Some(source));
                (KeyEvent { kind: Kind::Read, place, read, rf, ..none }, value)
            })
            .collect(),
        Step::Store { loc, value, .. } => vec![write(loc.0, value)],
        Step::FetchAdd { loc, operand, .. } => {
            vec![update(loc.0, &|old| Some(old.wrapping_add(operand)))]
        }
        Step::Exchange { loc, value, .. } => vec![update(loc.0, &|_| Some(value))],
        Step::Cas { loc, expected, new, .. } => {
            vec![update(loc.0, &|old| (old == expected).then_some(new))]
        }
        Step::Lock { lock } => vec![update(word(lock), &|old| (old == 0).then_some(1))],
        Step::TryLock { lock } => {
            let (event, old) = update(word(lock), &|old| (old == 0).then_some(1));
            vec![(event, (old == 0).into())]
        }
        Step::Unlock { lock } => vec![write(word(lock), 0)],
        Step::Post { lock } => vec![update(word(lock), &|_| Some(0))],
        Step::Choose { n } => (0..Value::from(n))
            .map(|value| (KeyEvent { kind: Kind::Choice, read: Some(value), ..none }, value))
            .collect(),
        Step::Fence { .. } => vec![(none, 0)],
        Step::Done | Step::Blocked => Vec::new(),
    }
}

#[test]
fn what_loom_runs_within_a_bound_is_within_the_same_bound() {
    let (mut graphs, mut exact, mut fewer, mut never) = (0, 0, 0, 0);
    for number in 0..10 {
        for profile in Profile::ALL {
            let program = generate(profile, &mut Random::new(number));
            let Some(loom) = interleavings(&program) else { continue };
            let Some(ours) = truth(&program, Model::Cpp20, Order::ReadsFrom) else { continue };
            // What is sequentially consistent takes effect in order here, and not with loom.
            let in_order = !program.to_string().contains(Mode::SeqCst.name());
            for (key, &fewest) in &ours {
                let Some(&count) = loom.get(key) else {
                    never += 1;
                    assert_eq!(preempt::fewest(&program, key, Order::Writes), None, "{program}\n{key}");
                    continue;
                };
                graphs += 1;
                fewer += u64::from(fewest < count);
                assert!(fewest <= count, "{fewest} and {count}: {program}\n{key}");
                if in_order {
                    let fewest = preempt::fewest(&program, key, Order::Writes);
                    assert_eq!(fewest, Some(count), "{program}\n{key}");
                    exact += 1;
                }
            }
            for bound in 0..=2 {
                let settings = Settings { bound: Some(bound), ..Settings::exact("cpp20") };
                for in_order in [false, in_order] {
                    let visited = explore(&program, Settings { in_order, ..settings }).keys;
                    for (key, _) in
                        loom.iter().filter(|(key, count)| **count <= bound && ours.contains_key(key))
                    {
                        assert!(
                            visited.contains(key),
                            "in order: {in_order}, at most {bound}: {program}\n{key}"
                        );
                    }
                }
            }
        }
    }
    // Some need fewer, and some loom cannot run at all.
    assert!(graphs > 1_000 && exact > 100, "{graphs} graphs, {exact} of them counted alike");
    assert!(fewer > 0 && never > 0, "{fewer} with fewer, {never} never");
}
