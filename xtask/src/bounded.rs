//! The search under bounds on preemptions against brute force: `cargo xtask fuzz-bounded`.
//!
//! Random programs under `sc` are interleaved in every way; under the other models all orders of each
//! graph are tried. Programs that are too large for that are replaced by others. Then it is measured
//! what the bounds save on larger programs, which are not judged.

use unpick_testkit::bounded::{BOUNDS, Visits, visits, visits_in_order};
use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, crowd, generate};
use unpick_testkit::{Model, Program, Random};

use crate::Problem;
use crate::shell::{cargo, run};

#[derive(clap::Args)]
pub(crate) struct FuzzBounded {
    /// How many programs under each model.
    #[arg(long, default_value_t = 2_000)]
    programs: u64,
    /// How many larger programs under each model.
    #[arg(long, default_value_t = 100)]
    larger: u64,
    /// Events of a larger program.
    #[arg(long, default_value_t = 11)]
    events: usize,
    /// Where the random numbers start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The memory models.
    #[arg(long, default_values_t = [String::from("sc"), String::from("cpp20")])]
    model: Vec<String>,
    /// Judges the strategy `in-order` instead of `optimal`.
    #[arg(long)]
    in_order: bool,
}

impl FuzzBounded {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        if cfg!(debug_assertions) {
            let again = ["run", "--release", "--quiet", "--package", "xtask", "--"];
            return run(cargo(again).args(std::env::args_os().skip(1)));
        }
        for name in &self.model {
            let model = Model::from_name(name).ok_or_else(|| format!("there is no memory model `{name}`"))?;
            self.judge(model)?;
            self.measure(model);
        }
        Ok(())
    }

    fn random(&self, number: u64) -> Random {
        Random::new(self.seed.wrapping_mul(1 << 32) + number)
    }

    fn draw(&self, number: u64) -> Program {
        let random = &mut self.random(number);
        let kinds = Profile::ALL.len() as u64 + 1;
        match Profile::ALL.get((number % kinds) as usize) {
            Some(&profile) => generate(profile, random),
            None => crowd(9 + (number / kinds % 3) as usize, random),
        }
    }

    fn judge(&self, model: Model) -> Result<(), Problem> {
        let mut table = Table::default();
        let mut number = 0;
        let judge = if self.in_order { visits_in_order } else { visits };
        while table.programs < self.programs {
            let program = self.draw(number);
            match judge(&program, model) {
                Some(Ok(visits)) => table.add(&visits),
                Some(Err(problem)) => {
                    return Err(format!("program {number} of seed {}, {problem}", self.seed));
                }
                None => {}
            }
            number += 1;
        }
        let too_large = number - table.programs;
        println!("{model}: {} programs, {too_large} more were too large, none wrong", table.programs);
        table.show();
        Ok(())
    }

    fn measure(&self, model: Model) {
        let mut table = Table::default();
        for number in 0..self.larger {
            let program = crowd(self.events, &mut self.random(number));
            let all = explore(&program, Settings::counting(model.name()));
            let mut visits = Visits { all: all.complete + all.blocked, ..Visits::default() };
            for (index, bound) in BOUNDS.into_iter().enumerate() {
                let settings = Settings { bound: Some(bound), ..Settings::exact(model.name()) };
                let found = explore(&program, Settings { in_order: self.in_order, ..settings });
                visits.within[index] = found.keys.len() as u64;
                visits.visited[index] = found.complete + found.blocked + found.beyond + found.ended;
            }
            table.add(&visits);
        }
        println!("{model}: {} larger programs", table.programs);
        table.show();
    }
}

/// Sums over programs, for each bound.
#[derive(Default)]
struct Table {
    programs: u64,
    all: u64,
    within: [u64; BOUNDS.len()],
    visited: [u64; BOUNDS.len()],
    /// Programs with graphs beyond the bound.
    bounded: [u64; BOUNDS.len()],
    /// Programs of which fewer graphs were visited than there are.
    fewer: [u64; BOUNDS.len()],
}

impl Table {
    fn add(&mut self, visits: &Visits) {
        self.programs += 1;
        self.all += visits.all;
        for index in 0..BOUNDS.len() {
            self.within[index] += visits.within[index];
            self.visited[index] += visits.visited[index];
            self.bounded[index] += u64::from(visits.within[index] < visits.all);
            self.fewer[index] += u64::from(visits.visited[index] < visits.all);
        }
    }

    fn show(&self) {
        println!("  bound  graphs within     visited      of all  programs with more  fewer visited in");
        for (index, bound) in BOUNDS.into_iter().enumerate() {
            println!(
                "  {bound:5}  {:13}  {:10}  {:10}  {:18}  {:16}",
                self.within[index], self.visited[index], self.all, self.bounded[index], self.fewer[index]
            );
        }
    }
}
