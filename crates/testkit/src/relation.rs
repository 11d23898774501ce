//! Relations over at most 64 events, as rows of bits, in the notation of the axioms.

/// A set of events.
pub(crate) type Set = u64;

/// A binary relation: row `a` holds the events that `a` is related to.
#[derive(Clone, Copy)]
pub(crate) struct Relation {
    size: usize,
    rows: [Set; 64],
}

/// The elements of a set, in order.
pub(crate) fn elements(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

impl Relation {
    pub(crate) fn empty(size: usize) -> Relation {
        assert!(size <= 64, "a relation has at most 64 events");
        Relation { size, rows: [0; 64] }
    }

    /// `[set]`.
    pub(crate) fn identity(size: usize, set: Set) -> Relation {
        let mut out = Relation::empty(size);
        for a in elements(set) {
            out.add(a, a);
        }
        out
    }

    pub(crate) fn add(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    /// What `a` is related to.
    pub(crate) fn row(&self, a: usize) -> Set {
        self.rows[a]
    }

    /// `self ∪ other`.
    pub(crate) fn or(mut self, other: &Relation) -> Relation {
        for a in 0..self.size {
            self.rows[a] |= other.rows[a];
        }
        self
    }

    /// `self ∩ other`.
    pub(crate) fn and(mut self, other: &Relation) -> Relation {
        for a in 0..self.size {
            self.rows[a] &= other.rows[a];
        }
        self
    }

    /// `self \ other`.
    pub(crate) fn minus(mut self, other: &Relation) -> Relation {
        for a in 0..self.size {
            self.rows[a] &= !other.rows[a];
        }
        self
    }

    /// `self ; other`.
    pub(crate) fn then(&self, other: &Relation) -> Relation {
        let mut out = Relation::empty(self.size);
        for a in 0..self.size {
            for b in elements(self.rows[a]) {
                out.rows[a] |= other.rows[b];
            }
        }
        out
    }

    /// `self⁺`.
    pub(crate) fn closure(mut self) -> Relation {
        for via in 0..self.size {
            let reached = self.rows[via];
            for a in 0..self.size {
                if self.rows[a] >> via & 1 == 1 {
                    self.rows[a] |= reached;
                }
            }
        }
        self
    }

    /// `self?`.
    pub(crate) fn optional(mut self) -> Relation {
        for a in 0..self.size {
            self.rows[a] |= 1 << a;
        }
        self
    }

    /// `self⁻¹`.
    pub(crate) fn inverse(&self) -> Relation {
        let mut out = Relation::empty(self.size);
        for a in 0..self.size {
            for b in elements(self.rows[a]) {
                out.add(b, a);
            }
        }
        out
    }

    /// `[set] ; self`.
    pub(crate) fn from(mut self, set: Set) -> Relation {
        for a in 0..self.size {
            if set >> a & 1 == 0 {
                self.rows[a] = 0;
            }
        }
        self
    }

    /// `self ; [set]`.
    pub(crate) fn to(mut self, set: Set) -> Relation {
        for a in 0..self.size {
            self.rows[a] &= set;
        }
        self
    }

    pub(crate) fn irreflexive(&self) -> bool {
        (0..self.size).all(|a| !self.has(a, a))
    }

    pub(crate) fn acyclic(self) -> bool {
        self.closure().irreflexive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_finds_the_long_cycle_and_not_the_chain() {
        let mut chain = Relation::empty(5);
        for (a, b) in [(3, 1), (1, 4), (4, 0), (0, 2)] {
            chain.add(a, b);
        }
        assert!(chain.acyclic());
        assert_eq!(chain.closure().rows[3], 0b10111);
        chain.add(2, 3);
        assert!(!chain.acyclic());
    }

    #[test]
    fn composition_follows_both_steps() {
        let mut first = Relation::empty(4);
        first.add(0, 1);
        first.add(0, 2);
        let mut second = Relation::empty(4);
        second.add(2, 3);
        let composed = first.then(&second);
        assert_eq!(composed.rows[0], 1 << 3);
        assert_eq!(composed.inverse().rows[3], 1);
    }
}
