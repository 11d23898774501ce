//! Collections, as in [`std::collections`], in an order that is the same in every run.
//!
//! The maps and sets are those of `std` with [`RandomState`] of this crate. Make one with `default()`,
//! `with_hasher` or `collect()`: `std` has `new()` only for its own hashers.
//!
//! ```
//! use unpick::collections::HashMap;
//!
//! let squares: HashMap<u32, u32> = (0..4).map(|n| (n, n * n)).collect();
//! assert_eq!(squares[&3], 9);
//! ```

use crate::hash::RandomState;

pub use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};

/// A hash map that is walked in the same order in every run.
pub type HashMap<K, V, S = RandomState> = std::collections::HashMap<K, V, S>;

/// A hash set that is walked in the same order in every run.
pub type HashSet<T, S = RandomState> = std::collections::HashSet<T, S>;
