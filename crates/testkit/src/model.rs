//! The memory models that the oracle knows. Their axioms are in `axioms`.

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Sequential consistency; modes are ignored.
    Sc,
    /// Total store order; modes are ignored, `Fsc` and updates are full fences.
    Tso,
    /// Release/acquire: every access is, fences do nothing.
    Ra,
    /// RC11 as published, with the release sequences of C++20.
    Rc11,
    /// RC11 with the coarser `scb` of GenMC.
    Rc11g,
    /// RC11 with the total order of SC events of C++20.
    Cpp20,
}

impl Model {
    /// All models, in the order of their discriminants.
    pub const ALL: [Model; 6] = [Model::Sc, Model::Tso, Model::Ra, Model::Rc11, Model::Rc11g, Model::Cpp20];

    /// The name used in litmus files.
    pub fn name(self) -> &'static str {
        ["sc", "tso", "ra", "rc11", "rc11g", "cpp20"][self as usize]
    }

    /// The model with this name.
    pub fn from_name(name: &str) -> Option<Model> {
        Model::ALL.into_iter().find(|model| model.name() == name)
    }
}

impl std::fmt::Display for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
