//! The engine's time, memory and system calls: `cargo xtask bench engine`.
//!
//! CPU seconds are the least of several runs. With the source of a prototype at hand, its runs
//! alternate with ours, so that a noisy machine is noisy for both; it is copied, and built for the
//! same baseline of the processor. What one execution costs once everything is warm is the
//! difference between a run of `N` executions, half of all, and one of `2 N`, divided by `N`. Peak
//! memory is that of a run of a tenth of all executions, and of all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Problem;
use crate::numbers::{geometric_mean, grouped, seconds, short, table};
use crate::shell::{cargo, exists, output, run, target};

/// A program of the table: our name and size, and the prototype's words for it.
struct Row {
    name: &'static str,
    size: &'static str,
    prototype: &'static [&'static str],
}

const ROWS: [Row; 10] = [
    Row { name: "fib", size: "5", prototype: &["fib", "5"] },
    Row { name: "casrot", size: "11", prototype: &["casrot", "11"] },
    Row { name: "ainc", size: "8", prototype: &["ainc", "8"] },
    Row { name: "lastzero", size: "12", prototype: &["lastzero", "12"] },
    Row { name: "readers", size: "16", prototype: &["readersnj", "16"] },
    Row { name: "indexer", size: "15", prototype: &["indexer", "15"] },
    Row { name: "treiber", size: "3", prototype: &["treiberrw", "3"] },
    Row { name: "msqueue", size: "2", prototype: &["msq", "2", "2"] },
    Row { name: "fibsc", size: "5", prototype: &["fibsc", "5"] },
    Row { name: "lockinc", size: "7", prototype: &["lockinc", "7"] },
];

#[derive(clap::Args)]
pub(crate) struct Engine {
    /// A folder with the source of the prototype, to compare with.
    #[arg(long, value_name = "DIR")]
    prototype: Option<PathBuf>,
    /// How often to run each program.
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Only the program with this name.
    #[arg(long)]
    only: Option<String>,
    /// Prints the tables as Markdown.
    #[arg(long)]
    markdown: bool,
}

/// The `key=value` pairs of a line.
type Fields = BTreeMap<String, f64>;

/// The programs that measure.
struct Binaries {
    ours: PathBuf,
    counting: PathBuf,
    prototype: Option<PathBuf>,
}

impl Engine {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let binaries = self.build()?;
        let wanted = |row: &&Row| self.only.as_ref().is_none_or(|only| only == row.name);
        let rows: Vec<&Row> = ROWS.iter().filter(wanted).collect();
        let times = self.times(&binaries, &rows)?;
        println!();
        self.print_times(&rows, &times);
        println!();
        self.print_counters(&binaries, &rows, &times)
    }

    fn build(&self) -> Result<Binaries, Problem> {
        let (plain, counting) = (target().join("bench"), target().join("bench-counters"));
        let build = |folder: &Path, more: &[&str]| {
            let mut command = cargo(["build", "--profile", "bench", "--package", "unpick-bench"]);
            run(command.args(more).arg("--target-dir").arg(folder).env_remove("RUSTFLAGS"))
        };
        build(&plain, &[])?;
        build(&counting, &["--features", "counters"])?;
        let binary = |folder: PathBuf| folder.join("release").join("unpick-bench");
        let prototype = self.prototype.as_deref().map(build_prototype).transpose()?;
        Ok(Binaries { ours: binary(plain), counting: binary(counting), prototype })
    }

    /// For each program, our fastest run and the prototype's.
    fn times(&self, binaries: &Binaries, rows: &[&Row]) -> Result<Vec<(Fields, Option<Fields>)>, Problem> {
        let mut times: Vec<(Fields, Option<Fields>)> = vec![Default::default(); rows.len()];
        for _ in 0..self.repetitions.max(1) {
            for (row, (ours, theirs)) in rows.iter().zip(&mut times) {
                let line = output(Command::new(&binaries.ours).args([row.name, row.size]))?;
                keep_faster(ours, fields(&line));
                if let Some(prototype) = &binaries.prototype {
                    let line = output(Command::new(prototype).args(row.prototype).arg("wf"))?;
                    keep_faster(theirs.get_or_insert_default(), fields(&line));
                }
            }
        }
        Ok(times)
    }

    fn print_times(&self, rows: &[&Row], times: &[(Fields, Option<Fields>)]) {
        let mut head = vec!["program", "executions", "blocked", "CPU", "ns/execution", "ns/event"];
        if self.prototype.is_some() {
            head.extend(["prototype: executions", "CPU", "ns/event", "CPU ratio", "per execution"]);
        }
        let mut cells: Vec<Vec<String>> = vec![head.into_iter().map(String::from).collect()];
        let (mut ratios, mut rates) = (Vec::new(), Vec::new());
        for (row, (ours, theirs)) in rows.iter().zip(times) {
            let mut line = vec![
                format!("{} {}", row.name, row.size),
                grouped(ours["executions"] as u64),
                grouped(ours["blocked"] as u64),
                seconds(ours["cpu"]),
                short(ours["ns/execution"]),
                short(ours["ns/event"]),
            ];
            if let Some(theirs) = theirs {
                let executions = theirs["complete"] + theirs["blocked"];
                let ratio = ours["cpu"] / theirs["cpu"];
                let rate = ratio * executions / (ours["executions"] + ours["blocked"]);
                ratios.push(ratio);
                rates.push(rate);
                line.extend([
                    grouped(executions as u64),
                    seconds(theirs["cpu"]),
                    short(theirs["ns/event"]),
                    short(ratio),
                    short(rate),
                ]);
            }
            cells.push(line);
        }
        println!("{}", table(&cells, self.markdown));
        if let (Some(ratio), Some(rate)) = (geometric_mean(&ratios), geometric_mean(&rates)) {
            println!(
                "\ngeometric means: CPU {} times the prototype's, {} per execution",
                short(ratio),
                short(rate)
            );
        }
    }

    fn print_counters(
        &self,
        binaries: &Binaries,
        rows: &[&Row],
        times: &[(Fields, Option<Fields>)],
    ) -> Result<(), Problem> {
        let traced = exists("strace");
        if !traced {
            println!(
                "system calls are not counted: there is no `strace`; on Debian, `apt-get install strace`"
            );
        }
        let head =
            ["program", "N", "blocks/execution", "system calls/execution", "peak at a tenth", "peak at all"];
        let mut cells: Vec<Vec<String>> = vec![head.map(String::from).to_vec()];
        for (row, (ours, _)) in rows.iter().zip(times) {
            let all = ours["executions"] + ours["blocked"];
            let (half, tenth) = (((all / 2.0) as u64).max(1), ((all / 10.0) as u64).max(1));
            let counted = |binary: &Path, most: u64| -> Result<Fields, Problem> {
                let mut command = Command::new(binary);
                command.args([row.name, row.size, "cpp20", &format!("executions={most}")]);
                Ok(fields(&output(&mut command)?))
            };
            let blocks = counted(&binaries.counting, 2 * half)?["blocks"]
                - counted(&binaries.counting, half)?["blocks"];
            let calls = match traced {
                true => match (calls(&binaries.ours, row, half), calls(&binaries.ours, row, 2 * half)) {
                    (Ok(once), Ok(twice)) => short((twice - once).max(0.0) / half as f64),
                    _ => String::from("not allowed"),
                },
                false => String::from("-"),
            };
            let peak = |most| -> Result<String, Problem> {
                let peak = counted(&binaries.ours, most)?.get("peak_kib").copied();
                Ok(peak.map_or_else(|| String::from("-"), |kib| format!("{} KiB", grouped(kib as u64))))
            };
            cells.push(vec![
                format!("{} {}", row.name, row.size),
                grouped(half),
                short(blocks.max(0.0) / half as f64),
                calls,
                peak(tenth)?,
                peak(10 * tenth)?,
            ]);
        }
        println!("{}", table(&cells, self.markdown));
        Ok(())
    }
}

/// Copies the prototype, so that nothing is written beside its source, and builds it.
fn build_prototype(source: &Path) -> Result<PathBuf, Problem> {
    let copy = target().join("prototype");
    copy_folder(source, &copy).map_err(|error| format!("{}: {error}", source.display()))?;
    let manifest = fs::read_to_string(copy.join("Cargo.toml")).map_err(|error| error.to_string())?;
    if !manifest.contains("[workspace]") {
        let apart = format!("{manifest}\n[workspace]\n");
        fs::write(copy.join("Cargo.toml"), apart).map_err(|error| error.to_string())?;
    }
    let mut command = cargo(["build", "--release"]);
    command.current_dir(&copy).arg("--target-dir").arg(copy.join("target"));
    run(command.env("RUSTFLAGS", "--allow=warnings"))?;
    Ok(copy.join("target/release/engine"))
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            if name != "target" && name != ".cargo" {
                copy_folder(&entry.path(), &to.join(name))?;
            }
        } else {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

/// How many system calls a run makes.
fn calls(binary: &Path, row: &Row, most: u64) -> Result<f64, Problem> {
    let summary = target().join("strace.txt");
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-U", "calls,name", "-o"]).arg(&summary).arg(binary);
    output(command.args([row.name, row.size, "cpp20", &format!("executions={most}")]))?;
    let text = fs::read_to_string(&summary).map_err(|error| error.to_string())?;
    let total = text.lines().rev().find_map(|line| line.trim().strip_suffix("total")?.trim().parse().ok());
    total.ok_or_else(|| String::from("strace does not say how many calls there were"))
}

fn fields(line: &str) -> Fields {
    let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
    pairs.filter_map(|(key, value)| Some((key.to_string(), value.parse().ok()?))).collect()
}

fn keep_faster(best: &mut Fields, new: Fields) {
    if best.get("cpu").is_none_or(|cpu| new["cpu"] < *cpu) {
        *best = new;
    }
}
