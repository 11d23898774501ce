//! Sets of threads: bit sets that grow, so that there is no largest number of threads.

use crate::op::ThreadId;

/// A set of threads. Programs of up to 64 threads need one word; more are in the vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadSet {
    low: u64,
    high: Vec<u64>,
}

impl ThreadSet {
    /// The empty set.
    pub fn new() -> ThreadSet {
        ThreadSet::default()
    }

    /// Adds a thread.
    #[inline(always)]
    pub fn insert(&mut self, thread: ThreadId) {
        if thread.0 < 64 { self.low |= 1 << thread.0 } else { self.insert_high(thread) }
    }

    /// Whether adding the thread takes no memory.
    #[inline(always)]
    pub fn has_room(&self, thread: ThreadId) -> bool {
        thread.index() < 64 * (1 + self.high.len())
    }

    #[cold]
    fn insert_high(&mut self, thread: ThreadId) {
        let (word, bit) = (thread.index() / 64 - 1, thread.index() % 64);
        if word >= self.high.len() {
            self.high.resize(word + 1, 0);
        }
        self.high[word] |= 1 << bit;
    }

    /// Adds the threads of another set.
    #[inline(always)]
    pub fn insert_all(&mut self, other: &ThreadSet) {
        self.low |= other.low;
        if !other.high.is_empty() {
            self.insert_all_high(other);
        }
    }

    #[cold]
    fn insert_all_high(&mut self, other: &ThreadSet) {
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        self.high.iter_mut().zip(&other.high).for_each(|(word, other)| *word |= other);
    }

    /// Removes a thread.
    #[inline(always)]
    pub fn remove(&mut self, thread: ThreadId) {
        if thread.0 < 64 {
            self.low &= !(1 << thread.0);
        } else if let Some(word) = self.high.get_mut(thread.index() / 64 - 1) {
            *word &= !(1 << (thread.index() % 64));
        }
    }

    /// Whether the thread is in the set.
    #[inline(always)]
    pub fn contains(&self, thread: ThreadId) -> bool {
        let word = if thread.0 < 64 { self.low } else { self.word(thread.index() / 64) };
        word >> (thread.index() % 64) & 1 == 1
    }

    /// Whether no thread is in the set.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && (self.high.is_empty() || self.first_from(1).is_none())
    }

    /// Whether no thread but `thread` is in the set.
    #[inline(always)]
    pub fn is_within(&self, thread: ThreadId) -> bool {
        if self.high.is_empty() && thread.0 < 64 {
            return self.low & !(1 << thread.0) == 0;
        }
        self.iter().all(|other| other == thread)
    }

    /// The thread with the lowest id.
    #[inline(always)]
    pub fn first(&self) -> Option<ThreadId> {
        if self.low != 0 {
            return Some(ThreadId(self.low.trailing_zeros()));
        }
        if self.high.is_empty() { None } else { self.first_from(1) }
    }

    /// The thread with the lowest id above this one.
    #[inline(always)]
    pub fn after(&self, thread: ThreadId) -> Option<ThreadId> {
        let next = thread.index() + 1;
        let rest = self.word(next / 64) >> (next % 64) << (next % 64);
        if rest != 0 {
            return Some(ThreadId((next / 64 * 64) as u32 + rest.trailing_zeros()));
        }
        if self.high.is_empty() { None } else { self.first_from(next / 64 + 1) }
    }

    /// The threads in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + Clone + '_ {
        std::iter::successors(self.first(), |&thread| self.after(thread))
    }

    /// How many threads there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        let high = self.high.iter().map(|word| word.count_ones()).sum::<u32>();
        (self.low.count_ones() + high) as usize
    }

    /// The thread with so many lower ones before it.
    #[inline(always)]
    pub fn nth(&self, mut number: usize) -> Option<ThreadId> {
        if number < self.low.count_ones() as usize {
            let mut word = self.low;
            while number > 0 {
                word &= word - 1;
                number -= 1;
            }
            return Some(ThreadId(word.trailing_zeros()));
        }
        self.iter().nth(number)
    }

    /// The threads of two sets, as bits of a word, if both have room for 64 threads only.
    #[inline(always)]
    pub fn word_with(&self, other: &ThreadSet) -> Option<u64> {
        let small = self.high.is_empty() && other.high.is_empty();
        if small { Some(self.low | other.low) } else { None }
    }

    /// The first 64 threads, as bits of a word.
    #[inline(always)]
    pub fn low(&self) -> u64 {
        self.low
    }

    /// Removes all.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.low = 0;
        if !self.high.is_empty() {
            self.high.fill(0);
        }
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        if index == 0 { self.low } else { self.high.get(index - 1).copied().unwrap_or(0) }
    }

    #[cold]
    fn first_from(&self, word: usize) -> Option<ThreadId> {
        let mut words = self.high.iter().enumerate().skip(word - 1);
        let (i, word) = words.find(|(_, word)| **word != 0)?;
        Some(ThreadId(((i + 1) * 64) as u32 + word.trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_threads_past_any_word() {
        let mut set = ThreadSet::new();
        for id in [3, 64, 200] {
            set.insert(ThreadId(id));
        }
        assert_eq!(set.iter().map(|t| t.0).collect::<Vec<_>>(), [3, 64, 200]);
        assert_eq!(set.after(ThreadId(3)), Some(ThreadId(64)));
        assert_eq!(set.after(ThreadId(64)), Some(ThreadId(200)));
        assert_eq!(set.after(ThreadId(200)), None);
        assert_eq!(set.len(), 3);
        assert_eq!([0, 1, 2, 3].map(|n| set.nth(n).map(|t| t.0)), [Some(3), Some(64), Some(200), None]);
        set.remove(ThreadId(3));
        assert_eq!(set.first(), Some(ThreadId(64)));
        set.remove(ThreadId(64));
        assert!(set.is_within(ThreadId(200)) && !set.is_within(ThreadId(1)));
        let mut other = ThreadSet::new();
        other.insert(ThreadId(5));
        other.insert_all(&set);
        assert_eq!(other.iter().map(|t| t.0).collect::<Vec<_>>(), [5, 200]);
    }
}
