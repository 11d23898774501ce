//! Draws programs with waiting loops.
//!
//! The first thread waits, the last one does not; one in between may. What a loop waits for is mostly written by the
//! last thread at its end, so that few programs wait for ever. Numbers are small, so that assertions are now and then
//! wrong; counts end at [`MOST`], so that [`ROUNDS`](super::compare::ROUNDS) rounds show all that a loop can do.

use unpick_testkit::Random;

use super::program::{Look, Order, Place, Program, Round, Step, Thread, VARIABLES, Wait};

/// Where counts end.
const MOST: usize = 2;

/// How often there is each kind of round, in the order of [`Drawn::round`].
const LOUD: [usize; 11] = [6, 4, 2, 5, 2, 4, 2, 3, 3, 3, 3];
const QUIET: [usize; 11] = [6, 4, 2, 5, 2, 0, 0, 0, 0, 0, 3];

const LOADS: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::SeqCst];
const STORES: [Order; 3] = [Order::Relaxed, Order::Release, Order::SeqCst];
const UPDATES: [Order; 5] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
const MODELS: [&str; 5] = ["cpp20", "rc11", "sc", "tso", "ra"];

/// Draws a program whose slots lie in some of these places.
pub(crate) fn generate(random: &mut Random, places: &[Place]) -> Program {
    let mut drawn = Drawn { random, places, slots: 0, waits: Vec::new(), first: [0; VARIABLES] };
    drawn.program()
}

struct Drawn<'a> {
    random: &'a mut Random,
    places: &'a [Place],
    /// How many slots there are so far.
    slots: usize,
    /// What each loop so far waits for.
    waits: Vec<(Look, usize)>,
    first: [usize; VARIABLES],
}

impl Drawn<'_> {
    fn program(&mut self) -> Program {
        if self.random.chance(15) {
            return self.messages();
        }
        let mut threads = vec![self.waiter()];
        if self.random.chance(40) {
            let waits = self.random.chance(50);
            threads.push(if waits { self.waiter() } else { self.actor() });
        }
        let mut last = self.actor();
        for (look, wanted) in self.waits.clone() {
            if self.random.chance(95) {
                last.steps.push(self.release(look, wanted));
            }
        }
        threads.push(last);
        let mut end: Vec<Step> = (0..self.random.below(2)).map(|_| self.never()).collect();
        if !threads.iter().any(|thread| thread.steps.iter().any(asserts)) && end.is_empty() {
            end.push(self.never());
        }
        self.made_of(threads, end)
    }

    fn made_of(&mut self, threads: Vec<Thread>, end: Vec<Step>) -> Program {
        let model = if self.random.chance(80) { "cpp20" } else { self.random.pick(&MODELS) };
        Program { model, first: self.first, locked: 0, threads, end }
    }

    /// A program in which a loop writes to what others hand on a message by: one writes the message, another notes if it misses
    /// it, and then lets the loop end.
    fn messages(&mut self) -> Program {
        let (ended, flag, message, missed) = (0, 1, 2, 3);
        let number = 1 + self.random.below(2);
        let look = Look::Load(ended, self.random.pick(&LOADS));
        let mut rounds = vec![match self.random.weighted(&[4, 2, 2]) {
            0 => Round::Confirm(flag, number, self.random.pick(&LOADS), self.random.pick(&STORES)),
            1 => Round::Store(flag, number, self.random.pick(&STORES)),
            _ => Round::Undo(flag, self.random.pick(&UPDATES)),
        }];
        if self.random.chance(25) {
            rounds.push(Round::Yield(true));
        }
        let waits = vec![
            Step::Wait(Wait { number: 0, look, wanted: 1, rounds }),
            Step::Never(missed, 2, Order::Relaxed),
        ];
        let writes = vec![
            Step::Store(message, 1, Order::Relaxed),
            Step::Store(flag, number, self.random.pick(&STORES)),
        ];
        let reads = vec![
            Step::CopyIf {
                from: flag,
                is: number,
                load: self.random.pick(&LOADS),
                missed: Some(message),
                to: missed,
                number: 2,
                store: Order::Relaxed,
            },
            Step::Store(ended, 1, self.random.pick(&STORES)),
        ];
        let threads = [waits, writes, reads].map(|steps| Thread { slots: Vec::new(), steps });
        self.made_of(threads.into(), Vec::new())
    }

    /// A thread with a loop.
    fn waiter(&mut self) -> Thread {
        let mut thread = Thread::default();
        for _ in 0..1 + self.random.below(2) {
            thread.slots.push((self.slots, self.random.pick(self.places)));
            self.slots += 1;
        }
        if self.random.chance(30) {
            thread.steps.push(self.step());
        }
        let number = self.waits.len();
        let variable = if number == 0 { 0 } else { self.random.below(2) };
        let wanted = 1 + self.random.below(2);
        let (look, wanted) = self.look(variable, wanted);
        self.waits.push((look, wanted));
        let count = 1 + self.random.below(3);
        let quiet = self.random.chance(50);
        let rounds = (0..count).map(|_| self.round(&thread, quiet)).collect();
        thread.steps.push(Step::Wait(Wait { number, look, wanted, rounds }));
        if let Look::Exchange(variable, ..) | Look::Swap(variable, ..) = look
            && self.random.chance(50)
        {
            thread.steps.push(Step::Store(variable, wanted, self.random.pick(&STORES)));
        }
        for _ in 0..1 + self.random.below(2) {
            let (slot, number) = self.left_behind(&thread);
            thread.steps.push(match self.random.weighted(&[5, 3, 2]) {
                0 => Step::NeverKept(slot, number),
                1 => Step::Publish(slot, 1 + self.random.below(2), self.random.pick(&STORES)),
                _ => self.step(),
            });
        }
        thread
    }

    /// A slot, and a number in it: mostly one that a round leaves there.
    fn left_behind(&mut self, thread: &Thread) -> (usize, usize) {
        let any = (self.random.pick(&thread.slots).0, self.random.below(4));
        let mut left = Vec::new();
        for step in &thread.steps {
            let Step::Wait(wait) = step else { continue };
            left.extend(wait.rounds.iter().filter_map(|round| match *round {
                Round::Stick(slot, number) => Some((slot, number)),
                Round::Keep(slot) | Round::Peek(slot, ..) => Some((slot, self.random.below(3))),
                Round::Count(slot, most) | Round::Tire { slot, most, .. } => {
                    Some((slot, 1 + self.random.below(most)))
                }
                Round::Turn(slot) => Some((slot, self.random.below(2))),
                _ => None,
            }));
        }
        if left.is_empty() || self.random.chance(25) { any } else { self.random.pick(&left) }
    }

    /// What a loop is around, and what it waits for.
    fn look(&mut self, variable: usize, wanted: usize) -> (Look, usize) {
        let order = self.random.pick(&UPDATES);
        let look = match self.random.weighted(&[10, 3, 3, 2, 3]) {
            0 => Look::Load(variable, self.random.pick(&LOADS)),
            // As locks are taken, or not.
            1 if self.random.chance(60) && self.waits.is_empty() => {
                self.first[variable] = 1;
                return (Look::Exchange(variable, 1, order), 0);
            }
            1 => Look::Exchange(variable, self.random.below(4), order),
            2 if self.random.chance(70) && self.waits.is_empty() => {
                self.first[variable] = 1;
                return (Look::Swap(variable, 1, order), 0);
            }
            2 => Look::Swap(variable, self.random.below(4), order),
            3 => Look::TryLock,
            _ => Look::Lock,
        };
        (look, wanted)
    }

    /// A part of a round of a loop of this thread. If it is `quiet`, others do not see anything of it.
    fn round(&mut self, thread: &Thread, quiet: bool) -> Round {
        let slot = self.random.pick(&thread.slots).0;
        // Others see what happens to this one, and the loop does not wait for it.
        let variable = 1 + self.random.below(VARIABLES - 1);
        let number = 1 + self.random.below(3);
        let weights = if quiet { QUIET } else { LOUD };
        match self.random.weighted(&weights) {
            0 => Round::Stick(slot, number),
            1 => Round::Keep(slot),
            2 => Round::Peek(slot, self.random.below(VARIABLES), self.random.pick(&LOADS)),
            3 => Round::Count(slot, 1 + self.random.below(MOST)),
            4 => Round::Turn(slot),
            5 => Round::Store(variable, number, self.random.pick(&STORES)),
            6 => Round::Confirm(variable, number, self.random.pick(&LOADS), self.random.pick(&STORES)),
            7 => Round::Undo(variable, self.random.pick(&UPDATES)),
            8 => {
                let order = self.random.pick(&STORES);
                Round::Tire { slot, most: 1 + self.random.below(MOST), variable, number, order }
            }
            9 => Round::Temporary(self.random.chance(50)),
            _ => Round::Yield(self.random.chance(50)),
        }
    }

    /// A thread that does not wait.
    fn actor(&mut self) -> Thread {
        let count = self.random.below(4);
        Thread { slots: Vec::new(), steps: (0..count).map(|_| self.step()).collect() }
    }

    /// A step that waits for nothing.
    fn step(&mut self) -> Step {
        let number = 1 + self.random.below(3);
        match self.random.weighted(&[4, 2, 5, 1, 2]) {
            0 => Step::Store(self.variable(), number, self.random.pick(&STORES)),
            1 => Step::Add(self.variable(), self.random.pick(&UPDATES)),
            2 => Step::CopyIf {
                from: self.random.below(VARIABLES),
                is: self.random.below(3),
                load: self.random.pick(&LOADS),
                missed: self.random.chance(25).then(|| self.random.below(VARIABLES)),
                to: self.variable(),
                number,
                store: self.random.pick(&STORES),
            },
            3 => Step::LockedStore(number),
            _ => self.never(),
        }
    }

    /// A shared number to write to: rarely the one that the first loop waits for.
    fn variable(&mut self) -> usize {
        if self.random.chance(15) { 0 } else { 1 + self.random.below(VARIABLES - 1) }
    }

    fn never(&mut self) -> Step {
        Step::Never(self.random.below(VARIABLES), 1 + self.random.below(3), self.random.pick(&LOADS))
    }

    /// What lets a loop end.
    fn release(&mut self, look: Look, wanted: usize) -> Step {
        match look {
            Look::Load(variable, _) | Look::Exchange(variable, ..) | Look::Swap(variable, ..) => {
                Step::Store(variable, wanted, self.random.pick(&STORES))
            }
            Look::TryLock | Look::Lock => Step::LockedStore(wanted),
        }
    }
}

fn asserts(step: &Step) -> bool {
    matches!(step, Step::Never(..) | Step::NeverKept(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_differ_and_each_has_a_loop_and_an_assertion() {
        let mut random = Random::new(1);
        let programs: Vec<Program> = (0..200).map(|_| generate(&mut random, &Place::RUST)).collect();
        for program in &programs {
            let steps = program.threads.iter().flat_map(|thread| &thread.steps).chain(&program.end);
            assert!(program.waits().next().is_some() && steps.into_iter().any(asserts), "{program:?}");
        }
        assert!(programs.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn smaller_programs_lack_one_thing() {
        let program = generate(&mut Random::new(2), &Place::C);
        assert!(program.smaller().iter().all(|smaller| *smaller != program));
    }
}
