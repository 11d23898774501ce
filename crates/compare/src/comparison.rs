//! All cells of a comparison.

use std::collections::BTreeMap;

use crate::measure::{Budget, Cell, Measured};
use crate::program::{Form, Program};

/// What is compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The programs.
    pub programs: Vec<Program>,
    /// The strategies, with the number of runs in which each looks for each bug, with seeds 1, 2, ...
    /// Programs without their bugs are run once.
    pub strategies: Vec<(String, u64)>,
    /// What each cell may use.
    pub budget: Budget,
}

/// What came of all cells.
#[derive(Clone, Debug)]
pub struct Results {
    /// What was compared.
    pub comparison: Comparison,
    cells: BTreeMap<Cell, Measured>,
}

impl Comparison {
    /// Runs the programs in some of their forms, one cell after the other. `runner` runs a cell, and gives nothing
    /// when the comparison is to stop; `progress` is told how many are done, how many there are, and which one
    /// comes now.
    pub fn run(
        &self,
        forms: &[Form],
        runner: &dyn Fn(&Cell, &Budget) -> Option<Measured>,
        progress: &mut dyn FnMut(usize, usize, &Cell),
    ) -> Results {
        let cells = self.cells(forms);
        let all = cells.len();
        let mut run = |(done, cell): (usize, Cell)| {
            progress(done, all, &cell);
            let measured = runner(&cell, &self.budget);
            measured.map(|measured| (cell, measured))
        };
        let cells = cells.into_iter().enumerate().map_while(&mut run).collect();
        Results { comparison: self.clone(), cells }
    }

    fn cells(&self, forms: &[Form]) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (program, &form) in self.programs.iter().flat_map(|p| forms.iter().map(move |form| (p, form))) {
            for (strategy, repeat) in &self.strategies {
                let runs = if form == Form::Buggy { *repeat } else { 1 };
                cells.extend((1..=runs).map(|seed| Cell {
                    program: program.name.clone(),
                    form,
                    strategy: strategy.clone(),
                    seed,
                }));
            }
        }
        cells
    }
}

impl Results {
    /// What came of all cells, in order.
    pub fn cells(&self) -> &BTreeMap<Cell, Measured> {
        &self.cells
    }

    /// The names of the strategies.
    pub fn strategies(&self) -> impl Iterator<Item = &str> {
        self.comparison.strategies.iter().map(|(name, _)| name.as_str())
    }

    /// The runs of a program under a strategy.
    pub fn runs(&self, program: &str, form: Form, strategy: &str) -> Vec<&Measured> {
        let same = |cell: &Cell| cell.program == program && cell.form == form && cell.strategy == strategy;
        self.cells.iter().filter(|(cell, _)| same(cell)).map(|(_, measured)| measured).collect()
    }
}
