//! Random programs with waiting loops: `cargo xtask fuzz-loops`.
//!
//! Programs are built many at a time: a batch is of one language and has one build, which is drawn too. The number of a program is the seed of
//! what is in it, so that a run with the same seed, and as many programs, has the same programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use unpick_testkit::Random;

use super::batch::{Batch, Build};
use super::compare::{Judgement, Outcome, Waits};
use super::generate::generate;
use super::program::Program;
use super::verdict::for_each;
use super::{builds, shrink};
use crate::Problem;

/// How many programs are built together at most.
const BATCH: usize = 250;

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
    /// Folders that were used to build in, and are not used now, as numbers.
    places: Vec<usize>,
    /// How many such folders there are.
    all_places: usize,
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
            if c { Build::of_c(&crate::shell::unpick()?, &self.compilers, &levels)? } else { Vec::new() },
        ]
        .into_iter()
        .filter(|builds| !builds.is_empty())
        .collect();
        let kept = builds::empty_folder(&format!("fuzz-{seed}"))?;
        let started = Instant::now();
        let size = self.programs.div_ceil(languages.len()).clamp(1, BATCH);
        let mut jobs = Vec::new();
        for first in (0..self.programs).step_by(size) {
            let number = first / size;
            let of_language = &languages[number % languages.len()];
            let mut random = Random::new((seed << 32) + (1 << 31) + number as u64);
            let drawn = [of_language[random.below(of_language.len())].clone()];
            let chosen: &[Build] = if self.all_builds { of_language } else { &drawn };
            jobs.extend(chosen.iter().map(|build| Job { build: build.clone(), first }));
        }
        let fuzz = Fuzz { options: self, seed, started, kept: &kept, table: Mutex::default() };
        for_each(&jobs, |job| fuzz.batch(job, self.programs.min(job.first + size)))?;
        let table = fuzz.table.into_inner().map_err(|_| String::from("a worker panicked"))?;
        table.print();
        println!("seed {seed}, {:.0} s", started.elapsed().as_secs_f64());
        match table.wrong {
            0 => Ok(()),
            wrong => Err(format!("{wrong} verdicts are wrong; the programs are in {}", kept.display())),
        }
    }
}

/// Programs that are built together.
struct Job {
    build: Build,
    /// The number of the first one.
    first: usize,
}

/// A run of this command. Each processor has a batch of its own, which it builds and judges.
struct Fuzz<'a> {
    options: &'a FuzzLoops,
    seed: u64,
    started: Instant,
    /// The folder for what is wrong.
    kept: &'a Path,
    table: Mutex<Table>,
}

impl Fuzz<'_> {
    /// The table, which nobody else may use meanwhile.
    fn table(&self) -> Result<MutexGuard<'_, Table>, Problem> {
        self.table.lock().map_err(|_| String::from("a worker panicked"))
    }

    /// Builds and judges programs up to a number, unless the time is up.
    fn batch(&self, Job { build, first }: &Job, end: usize) -> Result<(), Problem> {
        if self.options.seconds.is_some_and(|seconds| self.started.elapsed() > Duration::from_secs(seconds)) {
            return Ok(());
        }
        let drawn = (*first..end)
            .map(|program| generate(&mut Random::new((self.seed << 32) + program as u64), build.places()));
        let place = self.table()?.free_place();
        let started = Instant::now();
        let batch = Batch::build(build, drawn.collect(), &format!("batch-{place}"))?;
        let built = started.elapsed().as_secs_f64();
        let judgements = batch.judge()?;
        let judged = started.elapsed().as_secs_f64() - built;
        for (index, judgement) in judgements.iter().enumerate() {
            let shown = self.noted(build, &batch.programs[index], judgement)?;
            let Some(shown) = shown else { continue };
            let file = keep(self.kept, build, first + index, &shown, judgement)?;
            if judgement.result.is_wrong() {
                println!("{:?}, {build}, {}", judgement.result, file.display());
            }
        }
        let mut table = self.table()?;
        table.places.push(place);
        let seconds = self.started.elapsed().as_secs();
        let Table { programs, wrong, .. } = *table;
        println!(
            "{build}: {programs} programs, {wrong} wrong, {seconds} s; built in {built:.1} s, judged in {judged:.1} s"
        );
        Ok(())
    }

    /// Counts a program; what is to be kept of it, if it is worth a look.
    fn noted(
        &self,
        build: &Build,
        program: &Program,
        judgement: &Judgement,
    ) -> Result<Option<Program>, Problem> {
        let mut table = self.table()?;
        table.add(program, judgement);
        let wrong = judgement.result.is_wrong();
        let unsure = matches!(judgement.result, Outcome::Inconclusive(_)) && program.unrecognised().is_none();
        let odd = judgement.result == Outcome::Hidden
            || unsure
            || matches!(judgement.waits, Waits::OnlyProgram | Waits::OnlyReference);
        if !wrong && !odd {
            return Ok(None);
        }
        if !wrong || table.shrunk >= SHRUNK || self.options.no_shrinking {
            return Ok(Some(program.clone()));
        }
        table.shrunk += 1;
        // The folder for that is used by one at a time.
        shrink::shrink(build, program, judgement).map(Some)
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
        Outcome::Inconclusive(_) => "inconclusive",
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
    /// A folder to build in, as a number.
    fn free_place(&mut self) -> usize {
        self.places.pop().unwrap_or_else(|| {
            self.all_places += 1;
            self.all_places - 1
        })
    }

    fn add(&mut self, program: &Program, judgement: &Judgement) {
        self.programs += 1;
        let (name, column) = match &judgement.result {
            Outcome::Same => (String::from("as the reference"), None),
            Outcome::FalseHolds => (String::from("WRONG: holds, and must not"), Some(2)),
            Outcome::FalseAlarm => (String::from("WRONG: violated, and must not be"), Some(2)),
            Outcome::Error(text) => (format!("WRONG: error: {text}"), Some(2)),
            Outcome::Hidden => (String::from("waits for ever, the reference breaks something else"), None),
            Outcome::Inconclusive(reason) => {
                let known = program.unrecognised().map(|known| format!("; {known}")).unwrap_or_default();
                (format!("inconclusive: {reason}{known}"), Some(1))
            }
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
