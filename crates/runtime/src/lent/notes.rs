//! What a verdict says of pointers whose uses are seen in part.

use unpick_core::op::Site;

use crate::site;

use super::MOST;

/// So many places are named, and the others are counted.
const NAMED: usize = 6;

/// What is to be said, in the order in which it turned up.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Where pointers were taken.
    pub(super) taken: Vec<Site>,
    /// A pointer by which was written, and one that was taken at a time that is not ordered with that.
    pub(super) unordered: Vec<[Site; 2]>,
    /// Where pointers were taken to more bytes than are compared.
    pub(super) cut: Vec<Site>,
    /// What is written without an order, but may be done by who has let go of a `std::sync::Arc` last.
    pub(super) dropped: Vec<Site>,
    /// Where destructors of what an `Arc` of unpick holds have taken pointers.
    pub(super) destroyed: Vec<Site>,
    /// Where pointers were taken into memory that is not looked at.
    pub(super) unseen: Vec<Site>,
}

/// Adds what is not there yet.
pub(super) fn add<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

impl Notes {
    /// Whether a pointer was taken here.
    pub fn is_taken(&self, site: Site) -> bool {
        self.taken.contains(&site)
    }

    /// What is assumed, a sentence each.
    pub fn assumptions(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !self.taken.is_empty() {
            all.push(format!(
                "of pointers from `get`, only writes that change bytes of the cell are seen: reads, writes of the same \
                 value and uses of memory behind the cell are assumed not to race (pointers taken at {}); `with` and \
                 `with_mut` show reads and writes",
                listed(&self.taken, |&site| site::describe(site))
            ));
        }
        let told = |[write, take]: &[Site; 2]| {
            format!("taken at {}, written at {}", site::describe(*take), site::describe(*write))
        };
        if !self.unordered.is_empty() {
            all.push(format!(
                "a pointer is not used to read what another thread writes, which would be a data race, since nothing orders \
                 the two: {}",
                listed(&self.unordered, told)
            ));
        }
        if !self.cut.is_empty() {
            all.push(format!(
                "writes through pointers from `get` are looked for in {MOST} bytes at a time, and more were handed out: the \
                 others are assumed not to race (pointers taken at {})",
                listed(&self.cut, |&site| site::describe(site))
            ));
        }
        if !self.dropped.is_empty() {
            all.push(format!(
                "the last owner of a `std::sync::Arc` uses the cell after the others have, where it does so at {}: \
                 `unpick::sync::Arc` shows whether that is so",
                listed(&self.dropped, |&site| site::describe(site))
            ));
        }
        if !self.destroyed.is_empty() {
            all.push(format!(
                "the destructor of what an `Arc` holds uses cells that nobody else uses any more, at {}",
                listed(&self.destroyed, |&site| site::describe(site))
            ));
        }
        if !self.unseen.is_empty() {
            all.push(format!(
                "writes through pointers from `get` are not looked for in memory that is not the execution's own: \
                 they are assumed not to race (pointers taken at {})",
                listed(&self.unseen, |&site| site::describe(site))
            ));
        }
        all
    }
}

/// The first of a list in words, and how many more there are.
fn listed<T>(all: &[T], told: impl Fn(&T) -> String) -> String {
    let mut words: Vec<String> = Vec::new();
    all.iter().for_each(|one| add(&mut words, told(one)));
    let more = words.len().saturating_sub(NAMED);
    words.truncate(NAMED);
    let named = words.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let numbers: Vec<usize> = (0..9).collect();
        assert_eq!(listed(&numbers, |n| n.to_string()), "0, 1, 2, 3, 4, 5 and 3 more");
        assert_eq!(listed(&numbers[..2], |n| n.to_string()), "0, 1");
        assert_eq!(listed(&numbers, |_| String::from("x")), "x");
    }

    #[test]
    fn a_program_without_pointers_assumes_nothing() {
        assert!(Notes::default().assumptions().is_empty());
    }
}
