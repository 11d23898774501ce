//! The engine against brute force on random programs: `cargo xtask fuzz-oracle`.
//!
//! Each program is explored as data and as a closure on fibers, under every model, and the graphs
//! of both are compared with the oracle's. Weak exchanges may fail without a reason in every other
//! program. Programs with plain accesses have no form on fibers; those are compared as data only.
//! Programs that are too large for the oracle are replaced by others.
//!
//! Every third program has loops that wait. Those are compared with brute force that goes round a few times: see
//! `unpick_testkit::rounds`. They have numbers of their own, so that the others are the same as ever.
//!
//! With `--strategies`, the strategies over traces are compared with brute force over all orders of
//! steps instead: the graphs that each finds, without a bound and with at most 0 to 3 preemptions.
//!
//! With `--samplers`, the samplers are compared with brute force on the litmus tests: see `samplers`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::{Model, Program, Random, compare, drive, fibers, rounds, traces, waiting};

use crate::Problem;
use crate::samplers::{self, Extent};
use crate::shell::{cargo, run};

/// How many mismatches to show before giving up.
const SHOWN: u64 = 5;

/// Orders of steps at most, for brute force over them.
const ORDERS: u64 = 20_000;

/// How often to say how far it is.
const TICK: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct FuzzOracle {
    /// How many programs.
    #[arg(long, default_value_t = 10_000)]
    programs: u64,
    /// Where the random numbers start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// When to stop, if the programs are not through by then.
    #[arg(long)]
    seconds: Option<u64>,
    /// Where programs with loops run.
    #[arg(long, value_enum, default_value_t = Loops::Data)]
    loops: Loops,
    /// How many programs at a time.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Compares the strategies over traces, under sequential consistency.
    #[arg(long)]
    strategies: bool,
    /// Compares the samplers on the litmus tests instead of random programs.
    #[arg(long, conflicts_with = "strategies")]
    samplers: bool,
    /// How many runs of each sampler.
    #[arg(long, default_value_t = 10_000)]
    runs: u64,
    /// Leaves out litmus tests with more graphs than this, for the samplers.
    #[arg(long, default_value_t = 100)]
    graphs: u64,
}

/// Where programs with loops run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Loops {
    /// Nowhere: there are none.
    None,
    /// As data.
    Data,
    /// As data and on fibers.
    Fibers,
    /// As data and on fibers, and there are no other programs.
    Only,
}

/// How far it is.
#[derive(Default)]
struct Progress {
    begun: AtomicU64,
    drawn: AtomicU64,
    judged: AtomicU64,
    plain: AtomicU64,
    loops: AtomicU64,
    too_large: AtomicU64,
    mismatches: AtomicU64,
    over: AtomicBool,
    /// Held while a mismatch is shown.
    show: Mutex<()>,
}

/// What came of one program.
enum Judgement {
    TooLarge,
    Same,
    Differs(String),
}

/// A program that was drawn.
struct Drawn {
    name: String,
    program: Program,
    kind: String,
    spurious: bool,
}

impl FuzzOracle {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        if cfg!(debug_assertions) {
            let again = ["run", "--release", "--quiet", "--package", "xtask", "--"];
            return run(cargo(again).args(std::env::args_os().skip(1)));
        }
        if self.samplers {
            let FuzzOracle { runs, graphs, seed, threads, seconds, .. } = *self;
            return samplers::run(Extent { runs, graphs, seed, threads, seconds });
        }
        let progress = Progress::default();
        let started = Instant::now();
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..self.threads.max(1)).map(|_| scope.spawn(|| self.work(&progress))).collect();
            let mut told = Instant::now();
            while workers.iter().any(|worker| !worker.is_finished()) {
                std::thread::sleep(Duration::from_millis(50));
                if self.seconds.is_some_and(|seconds| started.elapsed() >= Duration::from_secs(seconds)) {
                    progress.over.store(true, Relaxed);
                }
                if told.elapsed() >= TICK {
                    told = Instant::now();
                    let (judged, mismatches) =
                        (progress.judged.load(Relaxed), progress.mismatches.load(Relaxed));
                    let seconds = started.elapsed().as_secs();
                    println!("{judged} of {} programs, {seconds} s, {mismatches} mismatches", self.programs);
                }
            }
        });
        let mismatches = progress.mismatches.load(Relaxed);
        println!(
            "seed {}, {:.0} s; {} of the programs have plain accesses and ran as data only; {} have loops; {} more were too large",
            self.seed,
            started.elapsed().as_secs_f64(),
            progress.plain.load(Relaxed),
            progress.loops.load(Relaxed),
            progress.too_large.load(Relaxed),
        );
        let compared = match self.strategies {
            true => String::from("strategies over traces"),
            false => format!("{} models, data and fibers", Model::ALL.len()),
        };
        println!("{} programs, {compared}: {mismatches} mismatches", progress.judged.load(Relaxed));
        if mismatches > 0 {
            Err(String::from("the engine is wrong about the programs above"))
        } else {
            Ok(())
        }
    }

    /// Judges programs until there are enough.
    fn work(&self, progress: &Progress) {
        while !progress.over.load(Relaxed) && progress.begun.fetch_add(1, Relaxed) < self.programs {
            let Some((name, difference)) = self.judge_next(progress) else { return };
            progress.judged.fetch_add(1, Relaxed);
            if let Some(difference) = difference {
                let _held = progress.show.lock();
                println!("{name} of seed {}: {difference}", self.seed);
                if progress.mismatches.fetch_add(1, Relaxed) + 1 >= SHOWN {
                    progress.over.store(true, Relaxed);
                }
            }
        }
    }

    /// Draws programs until one can be judged, and judges it; nothing when the time is up.
    fn judge_next(&self, progress: &Progress) -> Option<(String, Option<String>)> {
        while !progress.over.load(Relaxed) {
            let Drawn { name, program, kind, spurious } = self.draw(progress.drawn.fetch_add(1, Relaxed));
            let settings = format!("{kind}, spurious failures {spurious}");
            let difference = match catch_unwind(AssertUnwindSafe(|| self.judge(&program, spurious))) {
                Ok(Judgement::TooLarge) => {
                    progress.too_large.fetch_add(1, Relaxed);
                    continue;
                }
                Ok(Judgement::Same) => None,
                Ok(Judgement::Differs(difference)) => Some(format!("{settings}, {difference}")),
                Err(_) => Some(format!("{settings}, {program}\nthe exploration panicked")),
            };
            progress.plain.fetch_add(fibers::has_plain_accesses(&program).into(), Relaxed);
            progress.loops.fetch_add(program.has_loops().into(), Relaxed);
            return Some((name, difference));
        }
        None
    }

    /// The program with this number: every third has loops.
    fn draw(&self, number: u64) -> Drawn {
        let random = |number: u64| Random::new(self.seed.wrapping_mul(1 << 32) + number);
        let (plain, with_loops) = match self.loops {
            _ if self.strategies => (number, None),
            Loops::None => (number, None),
            Loops::Only => (0, Some(number)),
            Loops::Data | Loops::Fibers => {
                (number / 3 * 2 + number % 3, (number % 3 == 2).then_some(number / 3))
            }
        };
        if let Some(number) = with_loops {
            let program = waiting::generate(&mut random(number));
            let name = format!("program {number} with loops");
            return Drawn { name, program, kind: String::from("Loops"), spurious: number.is_multiple_of(2) };
        }
        let kinds = Profile::ALL.len() as u64;
        let profile = Profile::ALL[(plain % kinds) as usize];
        let program = generate(profile, &mut random(plain));
        let (name, spurious) = (format!("program {plain}"), (plain / kinds).is_multiple_of(2));
        Drawn { name, program, kind: format!("{profile:?}"), spurious }
    }

    fn judge(&self, program: &Program, spurious: bool) -> Judgement {
        if program.has_loops() {
            return judge_loops(program, spurious, matches!(self.loops, Loops::Fibers | Loops::Only));
        }
        if !self.strategies {
            return judge(program, spurious);
        }
        let mut judged = false;
        match traces::difference(program, spurious, ORDERS, &mut judged) {
            Some(difference) => Judgement::Differs(difference),
            None if judged => Judgement::Same,
            None => Judgement::TooLarge,
        }
    }
}

/// Compares data, and fibers if asked to, with brute force that goes round loops.
fn judge_loops(program: &Program, spurious: bool, on_fibers: bool) -> Judgement {
    let Some(truths) = rounds::truths(program, spurious) else { return Judgement::TooLarge };
    let mut given_up = false;
    let difference = rounds::difference_of(program, spurious, &truths, |settings| {
        let found = drive::explore(program, settings);
        given_up |= found.given_up;
        found
    });
    match difference {
        Some(difference) => return Judgement::Differs(format!("as data, {difference}")),
        None if given_up => return Judgement::TooLarge,
        None => {}
    }
    let difference = if on_fibers { fibers::difference_in_loops(program, spurious, truths) } else { None };
    match difference {
        Some(difference) => Judgement::Differs(format!("on fibers, {difference}")),
        None => Judgement::Same,
    }
}

/// Compares data, fibers and the oracle. The oracle is slow, so it is asked once: what data finds is
/// compared with it, and what fibers find with what data finds.
fn judge(program: &Program, spurious: bool) -> Judgement {
    let mut asked = false;
    let mut fibers_differ = false;
    let on_fibers = !fibers::has_plain_accesses(program);
    let flushes = on_fibers && fibers::has_seqcst_stores(program);
    let difference = compare::difference_of(program, spurious, |settings| {
        asked = true;
        let found = drive::explore(program, settings);
        if on_fibers && !(flushes && settings.model == "tso") {
            fibers_differ |= fibers::explore(program, settings) != found;
        }
        found
    });
    if let Some(difference) = difference {
        return Judgement::Differs(format!("as data, {difference}"));
    }
    if !asked {
        return Judgement::TooLarge;
    }
    if flushes && let Some(difference) = fibers::difference_when_flushed(program, spurious) {
        return Judgement::Differs(format!("on fibers, {difference}"));
    }
    if fibers_differ {
        let difference = fibers::difference(program, spurious);
        let difference = difference.unwrap_or_else(|| format!("{program}\nnot the same every time"));
        return Judgement::Differs(format!("on fibers, {difference}"));
    }
    Judgement::Same
}
