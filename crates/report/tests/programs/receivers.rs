//! Method calls that tell where they are: each must be named by what stands left of it.

use std::panic::Location;

/// Tells the line and the column that it was called from.
pub(crate) struct Probe;

impl Probe {
    #[track_caller]
    pub(crate) fn load(&self) -> (u32, u32) {
        let place = Location::caller();
        (place.line(), place.column())
    }
}

struct Queue {
    head: Probe,
    slots: Vec<Probe>,
}

static TAIL: Probe = Probe;

macro_rules! load {
    ($probe:expr) => {
        $probe.load()
    };
}

impl Queue {
    fn head(&self) -> (u32, u32) {
        self.head.load()
    }

    fn slot(&self, _: &str) -> &Probe {
        &self.slots[0]
    }
}

/// Places of calls, with the receiver that each should have.
pub(crate) fn calls() -> Vec<((u32, u32), Option<&'static str>)> {
    let flag = Probe;
    let queue = Queue { head: Probe, slots: vec![Probe, Probe] };
    let node = &queue;
    let i = 1;
    vec![
        (flag.load(), Some("flag")),
        (TAIL.load(), Some("TAIL")),
        (queue.head(), Some("self.head")),
        ((*node).head.load(), Some("(*node).head")),
        ((&flag).load(), Some("flag")),
        (queue.slots[i - 1].load(), Some("queue.slots[i - 1]")),
        (queue.slot("é)").load(), Some("queue.slot(\"é)\")")),
        (
            queue
                .slots // A comment (with a bracket.
                .first()
                .unwrap()
                .load(),
            Some("queue.slots.first().unwrap()"),
        ),
        ({ /* é */ flag.load() }, Some("flag")),
        (load!(flag), None),
        (Probe::load(&flag), None),
        (Some(&flag).map(|f| f).unwrap().load(), None),
        ({ &flag }.load(), None),
    ]
}
