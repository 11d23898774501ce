//! The library as its users see it.

mod basics;
