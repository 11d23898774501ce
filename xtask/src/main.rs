//! Helper commands of the project.
fn main() {}
