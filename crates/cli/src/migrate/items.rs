//! The items of loom and Shuttle, and whether the stand-ins have them.

/// A tool that unpick stands in for.
pub(super) struct Tool {
    /// The crate.
    pub(super) name: &'static str,
    /// How the tool is called.
    title: &'static str,
    /// What to do when everything is covered.
    pub(super) advice: &'static str,
    items: &'static str,
}

/// The tools.
pub(super) const TOOLS: [Tool; 2] = [
    Tool {
        name: "loom",
        title: "loom 0.7",
        advice: "loom = { package = \"unpick-loom\" } runs these tests; docs/migration.md says how",
        items: include_str!("loom.items"),
    },
    Tool {
        name: "shuttle",
        title: "Shuttle 0.9",
        advice: "shuttle = { package = \"unpick-shuttle\" } runs these tests; docs/migration.md says how",
        items: include_str!("shuttle.items"),
    },
];

/// Whether a stand-in has an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// It has.
    Covered,
    /// It has not, for this reason.
    Missing(&'static str),
}

impl Tool {
    /// Whether the stand-in has an item. A path into an item is as good as the item, and one to a module as
    /// what is in it.
    pub(super) fn coverage(&self, item: &str) -> Coverage {
        let module = item.strip_suffix('*').map_or(item, |module| module.trim_end_matches("::"));
        let mut is_module = module.is_empty();
        for line in self.items.lines().filter(|line| !line.starts_with('#')) {
            let (known, reason) =
                line.split_once(" ! ").map_or((line, None), |(known, why)| (known, Some(why)));
            if within(item, known) {
                return reason.map_or(Coverage::Covered, Coverage::Missing);
            }
            is_module |= within(known, module);
        }
        match (is_module, item.starts_with('.')) {
            (true, _) => Coverage::Covered,
            // Methods are told by their names: those that are not listed are everybody's.
            (false, true) => Coverage::Covered,
            (false, false) if self.title.starts_with("loom") => {
                Coverage::Missing("loom 0.7 has no such item")
            }
            (false, false) => Coverage::Missing("Shuttle 0.9 has no such item"),
        }
    }

    /// Methods that are listed because they are not covered.
    pub(super) fn methods(&self) -> impl Iterator<Item = &'static str> + use<> {
        let names = self.items.lines().filter_map(|line| line.strip_prefix('.'));
        names.filter_map(|line| line.split_whitespace().next())
    }
}

/// Whether a path is another, or leads on from it.
fn within(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_into_items_and_modules_are_covered() {
        let [loom, shuttle] = TOOLS;
        for item in ["sync::Arc", "sync", "sync::*", "*", "model::Builder::new", "thread_local"] {
            assert_eq!(loom.coverage(item), Coverage::Covered, "{item}");
        }
        for item in ["check_random", "sync::atomic", "scheduler::RandomScheduler::new", ".load"] {
            assert_eq!(shuttle.coverage(item), Coverage::Covered, "{item}");
        }
        for item in ["sync::Arcs", "sync::Sync::Arc", "future::spawned"] {
            assert!(matches!(shuttle.coverage(item), Coverage::Missing(_)), "{item}");
        }
        assert!(
            matches!(shuttle.coverage(".raw_load"), Coverage::Missing(reason) if reason.contains("step"))
        );
        assert_eq!(shuttle.methods().collect::<Vec<_>>(), ["raw_load"]);
    }
}
