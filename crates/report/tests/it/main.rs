//! Reports of hand-made findings against snapshots, and names taken from real source.
//!
//! After a wanted change, `INSTA_UPDATE=always cargo test -p unpick-report` rewrites the snapshots.

mod findings;
mod names;
mod reports;
