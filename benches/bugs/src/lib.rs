//! A bench of bugs: programs after published bugs and classics, each with the bug and without.
//!
//! [`all`] has them as plain data, for whoever wants to compare strategies or memory models. Each program
//! is a file that says what it models, what is wrong with it, and what the fix is; the two forms differ
//! only there.
//!
//! ```
//! use unpick_bugs::{Variant, all};
//!
//! let bug = all().iter().find(|bug| bug.name == "peterson").unwrap();
//! let program = bug.program;
//! assert!(bug.check().run(move || program(Variant::Buggy))?.violation().is_some());
//! assert!(bug.check().run(move || program(Variant::Fixed))?.holds());
//! # Ok::<(), unpick::Error>(())
//! ```

mod bug;
mod plain;
mod pool;
pub mod table;

pub use bug::{Bug, Memory, Variant};

/// Declares the programs, and makes the list of their bugs.
macro_rules! programs {
    ($($program:ident: $($bug:ident)+;)+) => {
        $(mod $program;)+

        static ALL: &[Bug] = &[$($($program::$bug),+),+];

        /// The names of the files.
        static FILES: &[&str] = &[$(stringify!($program)),+];
    };
}

programs! {
    bakery: BUG;
    barrier: BUG;
    basket_queue: BUG LARGE;
    boost_fifo: BUG SMALL;
    bounded_buffer: BUG;
    chase_lev: BUG;
    dekker: BUG;
    double_checked_lock: BUG;
    early_free: BUG;
    file_system: BUG SIXTEEN EIGHTEEN;
    hazard_pointer: BUG;
    indexer: BUG THIRTEEN;
    last_drop: BUG;
    lazy_list: BUG;
    lost_wakeup: BUG;
    mcs_lock: BUG;
    moir_queue: BUG;
    ms_queue: BUG LARGE;
    optimistic_queue: BUG LARGE;
    parallel_pi: BUG FIVE;
    peterson: BUG;
    philosophers: BUG;
    range_set: BUG;
    reference_cache: BUG;
    reorder: BUG;
    seqlock: BUG;
    skip_list: BUG LARGE;
    spsc_queue: BUG WAKEUP;
    sync_queue: BUG;
    szymanski: BUG;
    ticket_lock: BUG;
    transfer: BUG;
    treiber_stack: BUG LARGE;
    two_stage: BUG;
    upgrade_lock: BUG;
    work_steal_queue: BUG;
}

/// All bugs, in the order of their names.
pub fn all() -> &'static [Bug] {
    ALL
}
