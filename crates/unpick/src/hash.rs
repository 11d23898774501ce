//! Hashing without chance, as in [`std::hash`].

pub use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// Makes the hashers of a map, all with the same keys, inside a check and outside.
///
/// The maps of `std` hash with random keys unless told otherwise, so that the order in which they are
/// walked changes from run to run. A program under test must be deterministic: one that does
/// operations in the order of such a map is refused, since it does something else when it is run
/// again. With this type in place of [`std::hash::RandomState`] the order is always the same.
/// [`collections`](crate::collections) has maps and sets with it.
///
/// Outside a check it gives no protection against keys that were chosen to collide.
///
/// ```
/// use std::collections::HashMap;
/// use unpick::hash::RandomState;
///
/// let mut ages: HashMap<&str, u32, RandomState> = HashMap::default();
/// ages.insert("Ada", 36);
/// assert_eq!(ages["Ada"], 36);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomState;

impl RandomState {
    /// The one that there is.
    pub const fn new() -> RandomState {
        RandomState
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
}
