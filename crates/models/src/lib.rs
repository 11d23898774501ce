//! Memory models, one file each.
//!
//! | name | what it is |
//! |---|---|
//! | `cpp20` | C++20 and so Rust: RC11 with the total order of P0668; the default |
//! | `rc11` | RC11 as published (Lahav et al., PLDI 2017), with C++20 release sequences |
//! | `rc11g` | RC11 as GenMC implements it; for comparing counts |
//! | `ra` | release/acquire: every access synchronises, no order of SeqCst operations |
//! | `tso` | total store order, as on x86; modes are ignored |
//! | `sc` | sequential consistency; modes are ignored |
//!
//! Coherence and atomicity hold by construction ([`unpick_core::memory`]); the files here hold
//! what is left. All models keep `po ∪ rf` acyclic: no load buffering.

#![forbid(unsafe_code)]

pub mod cpp20;
pub mod ra;
pub mod rc11;
pub mod sc;
mod search;
pub mod tso;

pub use cpp20::Cpp20;
pub use ra::Ra;
pub use rc11::Rc11;
pub use sc::Sc;
pub use tso::Tso;

use unpick_core::memory::MemoryModel;

/// The names of all models, the default first. Schedules say where in this list theirs is: new names come at the end.
pub const NAMES: [&str; 6] = ["cpp20", "rc11", "sc", "tso", "ra", "rc11g"];

/// The model with this name.
pub fn by_name(name: &str) -> Option<Box<dyn MemoryModel>> {
    Some(match name {
        "cpp20" => Box::new(Cpp20::default()),
        "rc11" => Box::new(Rc11::published()),
        "rc11g" => Box::new(Rc11::genmc()),
        "ra" => Box::new(Ra),
        "tso" => Box::new(Tso::default()),
        "sc" => Box::new(Sc::default()),
        _ => return None,
    })
}

/// What every model assumes about the program.
pub(crate) const NO_LOAD_BUFFERING: &str = "no load buffering: `po ∪ rf` is acyclic";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_the_places_that_schedules_know_them_by() {
        assert_eq!(NAMES[..6], ["cpp20", "rc11", "sc", "tso", "ra", "rc11g"]);
    }

    #[test]
    fn each_model_has_the_name_that_it_is_found_by() {
        for name in NAMES {
            assert_eq!(by_name(name).map(|model| model.name()), Some(name));
        }
        assert!(by_name("arm").is_none());
    }
}
