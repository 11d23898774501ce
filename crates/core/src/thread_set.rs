//! Sets of threads: bit sets that grow, so that there is no largest number of threads.

use crate::op::ThreadId;

/// A set of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadSet {
    words: Vec<u64>,
}

impl ThreadSet {
    /// The empty set.
    pub fn new() -> ThreadSet {
        ThreadSet { words: vec![0] }
    }

    /// Adds a thread.
    #[inline(always)]
    pub fn insert(&mut self, thread: ThreadId) {
        let (word, bit) = (thread.index() / 64, thread.index() % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    /// Removes a thread.
    #[inline(always)]
    pub fn remove(&mut self, thread: ThreadId) {
        if let Some(word) = self.words.get_mut(thread.index() / 64) {
            *word &= !(1 << (thread.index() % 64));
        }
    }

    /// Whether the thread is in the set.
    #[inline(always)]
    pub fn contains(&self, thread: ThreadId) -> bool {
        self.words.get(thread.index() / 64).is_some_and(|word| word >> (thread.index() % 64) & 1 == 1)
    }

    /// Whether no thread is in the set.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether no thread but `thread` is in the set.
    #[inline(always)]
    pub fn is_within(&self, thread: ThreadId) -> bool {
        let own = thread.index() / 64;
        self.words.iter().enumerate().all(|(i, &word)| {
            let word = if i == own { word & !(1 << (thread.index() % 64)) } else { word };
            word == 0
        })
    }

    /// The thread with the lowest id.
    #[inline(always)]
    pub fn first(&self) -> Option<ThreadId> {
        let (i, word) = self.words.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(ThreadId((i * 64) as u32 + word.trailing_zeros()))
    }

    /// The thread with the lowest id above this one.
    #[inline(always)]
    pub fn after(&self, thread: ThreadId) -> Option<ThreadId> {
        let next = thread.index() + 1;
        let (own, bit) = (next / 64, next % 64);
        let rest = self.words.get(own)? >> bit << bit;
        if rest != 0 {
            return Some(ThreadId((own * 64) as u32 + rest.trailing_zeros()));
        }
        let (i, word) = self.words.iter().enumerate().skip(own + 1).find(|(_, word)| **word != 0)?;
        Some(ThreadId((i * 64) as u32 + word.trailing_zeros()))
    }

    /// The threads in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.checked_ilog2().map(|_| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(ThreadId((i * 64) as u32 + bit))
            })
        })
    }

    /// How many threads.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Removes all.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.words.fill(0);
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
        assert_eq!(set.len(), 3);
        assert_eq!(set.after(ThreadId(3)), Some(ThreadId(64)));
        assert_eq!(set.after(ThreadId(64)), Some(ThreadId(200)));
        assert_eq!(set.after(ThreadId(200)), None);
        set.remove(ThreadId(3));
        assert_eq!(set.first(), Some(ThreadId(64)));
        set.remove(ThreadId(64));
        assert!(set.is_within(ThreadId(200)) && !set.is_within(ThreadId(1)));
    }
}
