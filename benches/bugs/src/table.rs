//! The table of the bench.
