//! Random programs with waiting loops: `cargo xtask fuzz-loops`.
//!
//! Programs are built many at a time: a batch is of one language and has one build, which is drawn too. The number of a program is the seed of
//! what is in it, so that a run with the same seed, and as many programs, has the same programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use unpick_testkit::Random;

use super::batch::{Batch, Build};
use super::compare::{Judgement, Outcome, Waits};
use super::generate::generate;
use super::program::Program;
use super::{builds, shrink};
use crate::Problem;

/// How many programs are built together at most.
const BATCH: usize = 100;

/// How many wrong verdicts are shrunk.
const SHRUNK: usize = 4;

#[derive(clap::Args)]
pub(crate) struct FuzzLoops {
    /// How many programs.
    #[arg(long, default_value_t = 200)]
    programs: usize,
    /// Where the random numbers start; another place each time unless it is set.
    #[arg(long)]
    seed: Option<u64>,
    /// Begins no further batch after so many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Only Rust, unless C is asked for as well.
    #[arg(long)]
    rust: bool,
    /// Only C, unless Rust is asked for as well.
    #[arg(long)]
    c: bool,
    /// Each batch in all builds, instead of one that is drawn.
    #[arg(long)]
    all_builds: bool,
    /// C compilers; those of gcc and clang that are there, unless some are named.
    #[arg(long, value_delimiter = ',')]
    compilers: Vec<String>,
    /// Leaves programs as they were drawn.
    #[arg(long)]
    no_shrinking: bool,
}

/// What came of all programs so far.
#[derive(Default)]
struct Table {
    programs: usize,
    outcomes: BTreeMap<String, usize>,
    waits: BTreeMap<Waits, usize>,
    /// For each kind of loop: programs that have it, how many were inconclusive, and how many were wrong.
    kinds: BTreeMap<String, [usize; 3]>,
    wrong: usize,
    shrunk: usize,
}

impl FuzzLoops {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let seed = self.seed.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.as_nanos() as u64 % 1_000_000
        });
        println!("seed {seed}");
        let levels = ["O0", "O1", "O2"].map(String::from);
        let (rust, c) = if self.rust || self.c { (self.rust, self.c) } else { (true, true) };
        let languages: Vec<Vec<Build>> = [
            if rust { Build::of_rust() } else { Vec::new() },
            if c { Build::of_c(&builds::unpick()?, &self.compilers, &levels)? } else { Vec::new() },
        ]
        .into_iter()
        .filter(|builds| !builds.is_empty())
        .collect();
        let kept = builds::empty_folder(&format!("fuzz-{seed}"))?;
        let started = Instant::now();
        let mut table = Table::default();
        let size = self.programs.div_ceil(languages.len()).clamp(1, BATCH);
        for first in (0..self.programs).step_by(size) {
            if self.seconds.is_some_and(|seconds| started.elapsed() > Duration::from_secs(seconds)) {
                break;
            }
            let number = first / size;
            let of_language = &languages[number % languages.len()];
            let mut random = Random::new((seed << 32) + (1 << 31) + number as u64);
            let drawn = [of_language[random.below(of_language.len())].clone()];
            let chosen: &[Build] = if self.all_builds { of_language } else { &drawn };
            for build in chosen {
                let programs = (first..self.programs.min(first + size))
                    .map(|program| generate(&mut Random::new((seed << 32) + program as u64), build.places()));
                self.batch(&mut table, build, first, programs.collect(), &kept)?;
                let seconds = started.elapsed().as_secs();
                println!("{build}: {} programs, {} wrong, {seconds} s", table.programs, table.wrong);
            }
        }
        table.print();
        println!("seed {seed}, {:.0} s", started.elapsed().as_secs_f64());
        match table.wrong {
            0 => Ok(()),
            wrong => Err(format!("{wrong} verdicts are wrong; the programs are in {}", kept.display())),
        }
    }

    /// Judges the programs of a batch, the first of which has this number.
    fn batch(
        &self,
        table: &mut Table,
        build: &Build,
        first: usize,
        programs: Vec<Program>,
        kept: &Path,
    ) -> Result<(), Problem> {
        let batch = Batch::build(build, programs, "batch")?;
        let judgements = batch.judge()?;
        for (index, judgement) in judgements.iter().enumerate() {
            let program = &batch.programs[index];
            table.add(program, judgement);
            let odd = judgement.result == Outcome::Hidden
                || matches!(judgement.waits, Waits::OnlyProgram | Waits::OnlyReference);
            if !judgement.result.is_wrong() && !odd {
                continue;
            }
            let mut shown = program.clone();
            if judgement.result.is_wrong() && table.shrunk < SHRUNK && !self.no_shrinking {
                table.shrunk += 1;
                shown = shrink::shrink(build, program, judgement)?;
            }
            let file = keep(kept, build, first + index, &shown, judgement)?;
            if judgement.result.is_wrong() {
                println!("{:?}, {build}, {}", judgement.result, file.display());
            }
        }
        Ok(())
    }
}

/// Writes a program to a file, with what was said about it.
fn keep(
    kept: &Path,
    build: &Build,
    number: usize,
    program: &Program,
    judgement: &Judgement,
) -> Result<PathBuf, Problem> {
    let kind = match &judgement.result {
        Outcome::FalseHolds => "holds",
        Outcome::FalseAlarm => "alarm",
        Outcome::Error(_) => "error",
        Outcome::Hidden => "hidden",
        _ => "waits",
    };
    let file = kept.join(format!("{kind}-{number}-{}.{}", build.name(), build.ending()));
    let Judgement { result, waits, real, reference } = judgement;
    let text = format!(
        "// {build}, {}: {result:?}; waits for ever: {waits:?}\n// program: {}\n// reference: {}\n{}",
        program.model,
        real.verdict,
        reference.as_ref().map_or_else(|| String::from("not run"), |seen| seen.verdict.to_string()),
        build.source(std::slice::from_ref(program))
    );
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

impl Table {
    fn add(&mut self, program: &Program, judgement: &Judgement) {
        self.programs += 1;
        let (name, column) = match &judgement.result {
            Outcome::Same => (String::from("as the reference"), None),
            Outcome::FalseHolds => (String::from("WRONG: holds, and must not"), Some(2)),
            Outcome::FalseAlarm => (String::from("WRONG: violated, and must not be"), Some(2)),
            Outcome::Error(text) => (format!("WRONG: error: {text}"), Some(2)),
            Outcome::Hidden => (String::from("waits for ever, the reference breaks something else"), None),
            Outcome::Inconclusive(reason) => (format!("inconclusive: {reason}"), Some(1)),
            Outcome::TooLarge => (String::from("reference too large"), None),
        };
        *self.outcomes.entry(name).or_default() += 1;
        *self.waits.entry(judgement.waits).or_default() += 1;
        self.wrong += usize::from(judgement.result.is_wrong());
        for kind in program.kinds() {
            let counts = self.kinds.entry(kind).or_default();
            counts[0] += 1;
            if let Some(column) = column {
                counts[column] += 1;
            }
        }
    }

    fn print(&self) {
        let percent = |count: usize| 100.0 * count as f64 / self.programs.max(1) as f64;
        println!("\n{} programs, {} wrong", self.programs, self.wrong);
        for (outcome, &count) in &self.outcomes {
            println!("{count:>7} {:>5.1} %  {outcome}", percent(count));
        }
        println!("\nwho says that threads wait for ever");
        for (waits, count) in &self.waits {
            println!("{count:>7}  {waits:?}");
        }
        println!("\n{:<22}{:>9}{:>14}{:>8}", "loops", "programs", "inconclusive", "wrong");
        for (kind, [programs, inconclusive, wrong]) in &self.kinds {
            println!("{kind:<22}{programs:>9}{inconclusive:>14}{wrong:>8}");
        }
        println!();
    }
}
