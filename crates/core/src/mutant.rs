//! Known mistakes, to be made on purpose: each one must be noticed by the tests.
//!
//! Only with the feature `mutants`, which nothing but the tests turns on, can one be chosen;
//! otherwise every question is answered `false` at compile time.

/// A mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    /// A backward revisit does not ask whether the read itself is maximal.
    ReadMaximalitySkipped,
    /// A choice counts as maximal whatever was chosen.
    ChoiceMaximalitySkipped,
    /// The place of a write is not varied after it revisits a read.
    PlaceFixedAfterRevisit,
    /// A read-modify-write does not pass on what the write it reads has published.
    RmwDropsReleaseView,
    /// A failed compare-and-exchange has the order of success.
    FailureOrderIgnored,
    /// Sequentially consistent fences are left out of the total order.
    SeqCstFencesSkipped,
    /// Lock waiters of a stuck execution do not try their acquire for revisits.
    LockRepairSkipped,
    /// A thread that sleeps is asked for, and nobody runs in its place.
    SleepingThreadAskedFor,
    /// Threads that wait to the end of a trace are not looked at.
    WaitersSkipped,
    /// A thread that has to wait does not wake those who could let it go on.
    SleepersStayAsleep,
    /// A graph on the way is held to the bound on preemptions with what revisits may drop.
    BoundOnWholeGraphs,
    /// That a lock was freed is no reason to run a thread that was passed by.
    FreedLocksForgotten,
    /// A round of a loop may leave another value than it found.
    RoundChangesValue,
    /// A round of a loop may be dropped although another thread has seen it half done.
    RoundIsObserved,
    /// A round of a loop may be dropped although others would then synchronise with an older write.
    RoundHidesRelease,
    /// A thread stops at the first round that writes, whoever may notice it later.
    NoSpareRounds,
    /// A thread is stuck in a loop although others have written what it would read next.
    StaleReadsForEver,
    /// A thread is stuck in a loop although a choice in its round may come out otherwise.
    ChoicesForEver,
    /// A round of a loop may leave something in memory.
    RoundLeavesBytes,
    /// A round of a loop is taken for a known one whatever its ops were answered.
    AnswersIgnored,
    /// A round of a loop is taken for a known one whatever is in the memory that it uses.
    FootprintIgnored,
    /// A round of a loop may be dropped although an older write, which others would then read, depends on them.
    RoundIsFollowed,
    /// A round of a loop is taken for a known one whatever small numbers are in the registers.
    NumbersIgnored,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Mutant; 23] = [
        Mutant::ReadMaximalitySkipped,
        Mutant::ChoiceMaximalitySkipped,
        Mutant::PlaceFixedAfterRevisit,
        Mutant::RmwDropsReleaseView,
        Mutant::FailureOrderIgnored,
        Mutant::SeqCstFencesSkipped,
        Mutant::LockRepairSkipped,
        Mutant::SleepingThreadAskedFor,
        Mutant::WaitersSkipped,
        Mutant::SleepersStayAsleep,
        Mutant::BoundOnWholeGraphs,
        Mutant::FreedLocksForgotten,
        Mutant::RoundChangesValue,
        Mutant::RoundIsObserved,
        Mutant::RoundHidesRelease,
        Mutant::NoSpareRounds,
        Mutant::StaleReadsForEver,
        Mutant::ChoicesForEver,
        Mutant::RoundLeavesBytes,
        Mutant::AnswersIgnored,
        Mutant::FootprintIgnored,
        Mutant::RoundIsFollowed,
        Mutant::NumbersIgnored,
    ];
}

#[cfg(feature = "mutants")]
thread_local! {
    static CHOSEN: std::cell::Cell<Option<Mutant>> = const { std::cell::Cell::new(None) };
}

/// Chooses the mistake that this OS thread makes from now on.
#[cfg(feature = "mutants")]
pub fn choose(mutant: Option<Mutant>) {
    CHOSEN.set(mutant);
}

/// The mistake that this OS thread makes, to be made by a thread that works for it.
#[cfg(feature = "mutants")]
pub fn chosen() -> Option<Mutant> {
    CHOSEN.get()
}

/// Chooses none.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub fn choose(_: Option<Mutant>) {}

/// None.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub fn chosen() -> Option<Mutant> {
    None
}

/// Whether this mistake is being made.
#[cfg(feature = "mutants")]
#[inline(always)]
pub fn is(mutant: Mutant) -> bool {
    CHOSEN.get() == Some(mutant)
}

/// Whether this mistake is being made.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub fn is(_: Mutant) -> bool {
    false
}
