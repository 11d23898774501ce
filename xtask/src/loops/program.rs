//! Programs with waiting loops, as data: what is drawn, shrunk and put into sources.
//!
//! A program has a few shared numbers, a number under a lock, and threads. The main thread starts them, joins them, and makes
//! the last assertions. All other memory are *slots*, each of which one thread uses, and which differ in where
//! they lie: on that the recognition of loops must not depend.

/// How many shared numbers there are.
pub(crate) const VARIABLES: usize = 4;

/// An order of memory operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Where a slot lies. Some places are there in one language only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a variable that the compiler may keep where it likes.
    Register,
    /// On the stack, at an address that others know.
    Stack,
    /// On the heap.
    Heap,
    /// In a static that unpick does not know.
    Static,
    /// In a static without any type that allows changes; Rust only.
    StaticMut,
    /// In a thread-local of the standard library.
    ThreadLocal,
    /// In a thread-local of unpick; Rust only.
    OwnThreadLocal,
    /// In memory that was there before the check; Rust only.
    Captured,
    /// In memory that was allocated outside the check; Rust only.
    Outside,
    /// In an atomic variable that unpick knows.
    Watched,
    /// In memory of code that was built without instrumentation; C only.
    Unseen,
    /// In the offset of a file; C only.
    Offset,
    /// In the position of a buffered file; C only.
    Stream,
    /// In the state of the random numbers of the C library; C only.
    Random,
}

impl Place {
    /// Those of Rust programs.
    pub(crate) const RUST: [Place; 10] = [
        Place::Register,
        Place::Stack,
        Place::Heap,
        Place::Static,
        Place::StaticMut,
        Place::ThreadLocal,
        Place::OwnThreadLocal,
        Place::Captured,
        Place::Outside,
        Place::Watched,
    ];
    /// Those of C programs.
    pub(crate) const C: [Place; 10] = [
        Place::Register,
        Place::Stack,
        Place::Heap,
        Place::Static,
        Place::ThreadLocal,
        Place::Watched,
        Place::Unseen,
        Place::Offset,
        Place::Stream,
        Place::Random,
    ];
}

/// What a loop does in each round to see whether it may leave. Each gives a number, and the loop ends if it is the one
/// that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Load(usize, Order),
    /// Exchanges the number that is wanted for another one.
    Exchange(usize, usize, Order),
    /// Writes a number, and reads the one before.
    Swap(usize, usize, Order),
    /// Reads the number under the lock if it can be had at once, and else 9.
    TryLock,
    /// Reads the number under the lock.
    Lock,
}

/// What a loop does after it has looked in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Sets a slot to a number.
    Stick(usize, usize),
    /// Keeps what was read.
    Keep(usize),
    /// Keeps what another shared number is.
    Peek(usize, usize, Order),
    /// Counts up to a number.
    Count(usize, usize),
    /// Sets a slot to one of two numbers in turn.
    Turn(usize),
    /// Stores a number.
    Store(usize, usize, Order),
    /// Stores what another shared number is, if it is this one already.
    Confirm(usize, usize, Order, Order),
    /// Adds one, and takes it away again.
    Undo(usize, Order),
    /// Counts up to a number in a slot, and stores another number once it is there.
    Tire { slot: usize, most: usize, variable: usize, number: usize, order: Order },
    /// Has memory for a moment; which kind.
    Temporary(bool),
    /// Lets others run; in which way.
    Yield(bool),
}

/// A loop that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Its number in the program.
    pub(crate) number: usize,
    pub(crate) look: Look,
    pub(crate) wanted: usize,
    pub(crate) rounds: Vec<Round>,
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Store(usize, usize, Order),
    Add(usize, Order),
    /// Stores a number if another one is there, and a third one is missed: it is still 0.
    CopyIf {
        from: usize,
        is: usize,
        load: Order,
        missed: Option<usize>,
        to: usize,
        number: usize,
        store: Order,
    },
    /// Sets the number under the lock.
    LockedStore(usize),
    /// Stores what is in a slot.
    Publish(usize, usize, Order),
    /// Asserts that a shared number is not this one.
    Never(usize, usize, Order),
    /// Asserts that a slot is not this number.
    NeverKept(usize, usize),
    Wait(Wait),
}

/// A thread, with its slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Thread {
    /// The number of each slot in the program, and where it lies.
    pub(crate) slots: Vec<(usize, Place)>,
    pub(crate) steps: Vec<Step>,
}

impl Round {
    /// The slot that it has to do with.
    fn slot(self) -> Option<usize> {
        match self {
            Round::Stick(slot, _) | Round::Keep(slot) | Round::Peek(slot, ..) | Round::Count(slot, _) => {
                Some(slot)
            }
            Round::Turn(slot) | Round::Tire { slot, .. } => Some(slot),
            _ => None,
        }
    }
}

impl Thread {
    /// Whether a step or a round has to do with a slot.
    fn uses(&self, slot: usize) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Publish(own, ..) | Step::NeverKept(own, _) => *own == slot,
            Step::Wait(wait) => wait.rounds.iter().any(|round| round.slot() == Some(slot)),
            _ => false,
        })
    }

    /// Whether there is a slot in such a place that rounds have to do with.
    fn goes_round_in(&self, place: Place) -> bool {
        let waits =
            self.steps.iter().filter_map(|step| if let Step::Wait(wait) = step { Some(wait) } else { None });
        let mut used = waits.flat_map(|wait| &wait.rounds).filter_map(|round| round.slot());
        used.any(|slot| self.slots.contains(&(slot, place)))
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The memory model that it is checked under.
    pub(crate) model: &'static str,
    /// What the shared numbers begin with.
    pub(crate) first: [usize; VARIABLES],
    /// What the number under the lock begins with.
    pub(crate) locked: usize,
    pub(crate) threads: Vec<Thread>,
    /// What the main thread asserts at the end.
    pub(crate) end: Vec<Step>,
}

impl Program {
    /// All loops.
    pub(crate) fn waits(&self) -> impl Iterator<Item = &Wait> {
        let steps = self.threads.iter().flat_map(|thread| &thread.steps);
        steps.filter_map(|step| if let Step::Wait(wait) = step { Some(wait) } else { None })
    }

    /// What rounds of its loops do that is known not to be recognised, if they do, in words.
    pub(crate) fn unrecognised(&self) -> Option<&'static str> {
        let streams = self.threads.iter().any(|thread| thread.goes_round_in(Place::Stream));
        streams.then_some("a round calls fseek or ftell")
    }

    /// What the loops are around, what they do, and where their slots lie, in words, for tables.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let word = |text: String| text.split(['(', ' ', '{']).next().unwrap_or_default().to_lowercase();
        let looks = self.waits().map(|wait| format!("around {}", word(format!("{:?}", wait.look))));
        let rounds = self.waits().flat_map(|wait| &wait.rounds).map(|round| word(format!("{round:?}")));
        let slots = self.threads.iter().flat_map(|thread| &thread.slots);
        let places = slots.map(|(_, place)| format!("in {}", word(format!("{place:?}"))));
        let mut kinds: Vec<String> = looks.chain(rounds).chain(places).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// The same program without one thing: a thread, a slot, a step, or a part of a round.
    pub(crate) fn smaller(&self) -> Vec<Program> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Program)| {
            let mut program = self.clone();
            change(&mut program);
            all.push(program);
        };
        for (t, thread) in self.threads.iter().enumerate() {
            if self.threads.len() > 1 {
                add(&|program| drop(program.threads.remove(t)));
            }
            for (s, _) in thread.slots.iter().enumerate().filter(|(_, (slot, _))| !thread.uses(*slot)) {
                add(&|program| {
                    program.threads[t].slots.remove(s);
                });
            }
            for (s, step) in thread.steps.iter().enumerate() {
                add(&|program| drop(program.threads[t].steps.remove(s)));
                let Step::Wait(wait) = step else { continue };
                for r in 0..wait.rounds.len() {
                    add(&|program| {
                        if let Step::Wait(wait) = &mut program.threads[t].steps[s] {
                            wait.rounds.remove(r);
                        }
                    });
                }
            }
        }
        for s in 0..self.end.len() {
            add(&|program| drop(program.end.remove(s)));
        }
        if self.model != "cpp20" {
            add(&|program| program.model = "cpp20");
        }
        all
    }
}
