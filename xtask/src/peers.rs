//! unpick, loom and shuttle side by side: `cargo xtask bench peers`.
//!
//! Every run is a process of its own, and CPU seconds are those of the whole process while a tool
//! explores, so that starting up counts for all. Short runs are repeated, and the fastest counts.
//! Rates are those of executions: unpick's is what an execution after the first takes, as it may need
//! so few that starting up is most of its time; the others' runs are long.
//! Loom runs with `std`'s `Arc`, which is what unpick gets: with its own, it also explores the order
//! in which handles are dropped. A tool that was stopped shows a `>` before what it did.
//!
//! The lines of JSON that the tables are made from stay in the target folder.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::Problem;
use crate::numbers::{geometric_mean, grouped, seconds, short, table};
use crate::shell::{cargo, output, run, target};

const LOOM: &str = "loom-std-arc";
const DFS: &str = "shuttle-dfs";
const RANDOM: &str = "shuttle-random";
const UNPICK: &str = "unpick";
const SAMPLED: &str = "unpick-random";

/// Tests on which much less CPU than loom's is promised.
const PROMISED: [&str; 5] = ["fetch_add_4x1", "mutex_4x1", "corr_rlx", "iriw", "lastzero_4"];

/// Runs shorter than this are repeated.
const SHORT_SECONDS: f64 = 0.5;
const REPETITIONS: usize = 5;

#[derive(clap::Args)]
pub(crate) struct Peers {
    /// CPU seconds after which a run is stopped.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Only tests whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Prints the tables as Markdown.
    #[arg(long)]
    markdown: bool,
}

/// What a tool did with a test.
#[derive(Clone, Debug)]
struct Run {
    executions: u64,
    cpu: f64,
    finished: bool,
    note: String,
    /// CPU seconds of an execution after the first, where that was measured.
    further: Option<f64>,
}

impl Run {
    fn parse(value: &Value) -> Option<Run> {
        Some(Run {
            executions: value["executions"].as_u64()?,
            cpu: value["cpu_seconds"].as_f64()?,
            finished: value["finished"].as_bool()?,
            note: value["note"].as_str()?.to_string(),
            further: value["further_seconds"].as_f64(),
        })
    }

    /// Whether the tool gave up by itself, so that its numbers mean nothing.
    fn gave_up(&self) -> bool {
        self.executions == 0 || self.note.starts_with("alarm")
    }

    /// Executions per CPU second, once it runs.
    fn rate(&self) -> f64 {
        self.further.map_or_else(|| self.whole_rate(), f64::recip)
    }

    /// Executions per CPU second, with starting up.
    fn whole_rate(&self) -> f64 {
        self.executions as f64 / self.cpu
    }

    fn mark(&self) -> &'static str {
        if self.finished { "" } else { ">" }
    }
}

/// A test, and what each tool did with it.
struct Row {
    test: String,
    optimal: Option<u64>,
    unpick: Run,
    loom: Run,
    dfs: Run,
    random: Run,
    /// unpick's own samples.
    sampled: Run,
}

impl Peers {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let folder = target().join("peers");
        let mut build = cargo(["build", "--release", "--manifest-path", "benches/peers/Cargo.toml"]);
        run(build.arg("--target-dir").arg(&folder).env_remove("RUSTFLAGS"))?;
        let binaries = folder.join("release");
        let record = folder.join("peers.jsonl");
        let mut record =
            fs::File::create(&record).map_err(|error| format!("{}: {error}", record.display()))?;
        let mut rows = Vec::new();
        let list = output(Command::new(binaries.join("unpick-peers")).arg("list"))?;
        for line in list.lines() {
            let test: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let name = test["test"].as_str().unwrap_or_default().to_string();
            if self.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                continue;
            }
            eprintln!("{name} ...");
            let mut measure = |tool| self.measure(&binaries, tool, &name, &mut record);
            rows.push(Row {
                unpick: measure(UNPICK)?,
                loom: measure(LOOM)?,
                dfs: measure(DFS)?,
                random: measure(RANDOM)?,
                sampled: measure(SAMPLED)?,
                optimal: test["optimal"].as_u64(),
                test: name,
            });
        }
        println!("\n{}\n", self.counts(&rows));
        println!("{}\n", self.rates(&rows));
        self.print_conclusions(&rows);
        Ok(())
    }

    /// Runs a tool on a test; the fastest of several runs when it is quick.
    fn measure(
        &self,
        binaries: &std::path::Path,
        tool: &str,
        test: &str,
        record: &mut fs::File,
    ) -> Result<Run, Problem> {
        let binary: PathBuf =
            binaries.join(if tool.starts_with(UNPICK) { "unpick-side" } else { "unpick-peers" });
        let mut best: Option<Run> = None;
        for _ in 0..REPETITIONS {
            let mut command = Command::new(&binary);
            command.args([tool, test, "--limit-seconds", &self.seconds.to_string()]);
            let line = output(&mut command)?;
            record.write_all(line.as_bytes()).map_err(|error| error.to_string())?;
            let value: Value =
                serde_json::from_str(line.trim()).map_err(|error| format!("{line}: {error}"))?;
            let run = Run::parse(&value).ok_or_else(|| format!("not understood: {line}"))?;
            let is_long = run.cpu >= SHORT_SECONDS || run.gave_up();
            if best.as_ref().is_none_or(|best| run.cpu < best.cpu) {
                best = Some(run);
            }
            if is_long {
                break;
            }
        }
        best.ok_or_else(|| format!("{tool} did not run {test}"))
    }

    /// What it takes to explore everything.
    fn counts(&self, rows: &[Row]) -> String {
        let head = [
            "to exhaust",
            "optimal",
            "unpick",
            "CPU",
            "loom",
            "CPU",
            "loom/unpick",
            "shuttle DFS",
            "CPU",
            "DFS/unpick",
        ];
        let mut cells: Vec<Vec<String>> = vec![head.map(String::from).to_vec()];
        for row in rows {
            let mut line = vec![row.test.clone(), row.optimal.map_or_else(|| String::from("?"), grouped)];
            line.extend([count(&row.unpick), time(&row.unpick)]);
            for peer in [&row.loom, &row.dfs] {
                let ratio = match peer.gave_up() {
                    true => String::from("-"),
                    false => format!("{}{}", peer.mark(), short(peer.cpu / row.unpick.cpu)),
                };
                line.extend([count(peer), time(peer), ratio]);
            }
            cells.push(line);
        }
        table(&cells, self.markdown)
    }

    /// How fast the tools are per execution.
    fn rates(&self, rows: &[Row]) -> String {
        let head = [
            "executions per CPU second",
            "unpick",
            "loom",
            "unpick/loom",
            "shuttle random",
            "unpick/random",
            "unpick random",
            "random/random",
        ];
        let mut cells: Vec<Vec<String>> = vec![head.map(String::from).to_vec()];
        for row in rows {
            let mut line = vec![row.test.clone(), grouped(row.unpick.rate() as u64)];
            for peer in [&row.loom, &row.random] {
                line.extend(match peer.gave_up() {
                    true => [String::from("-"), String::from("-")],
                    false => [grouped(peer.rate() as u64), short(row.unpick.rate() / peer.rate())],
                });
            }
            let ratio = match row.random.gave_up() {
                true => String::from("-"),
                false => short(row.sampled.rate() / row.random.rate()),
            };
            line.extend([grouped(row.sampled.rate() as u64), ratio]);
            cells.push(line);
        }
        table(&cells, self.markdown)
    }

    fn print_conclusions(&self, rows: &[Row]) {
        let bullet = if self.markdown { "- " } else { "" };
        let known: Vec<&Row> = rows.iter().filter(|row| row.optimal.is_some()).collect();
        let above: Vec<&str> = known
            .iter()
            .filter(|row| {
                !row.unpick.finished || row.optimal.is_some_and(|most| row.unpick.executions > most)
            })
            .map(|row| row.test.as_str())
            .collect();
        println!(
            "{bullet}complete + blocked within the optimum: {} of {}{}",
            known.len() - above.len(),
            known.len(),
            if above.is_empty() { String::new() } else { format!(" (not {})", above.join(", ")) }
        );
        let promised: Vec<String> = rows
            .iter()
            .filter(|row| PROMISED.contains(&row.test.as_str()))
            .map(|row| format!("{} {}{}", row.test, row.loom.mark(), short(row.loom.cpu / row.unpick.cpu)))
            .collect();
        println!("{bullet}CPU, loom / unpick, where 1,000 is promised: {}", promised.join(", "));
        for (name, promise) in [("loom", 30), ("shuttle random", 3)] {
            let ratios = |rate: fn(&Run) -> f64| -> Vec<f64> {
                let runs = rows
                    .iter()
                    .map(|row| (&row.unpick, if name == "loom" { &row.loom } else { &row.random }))
                    .filter(|(_, run)| !run.gave_up());
                runs.map(|(unpick, run)| rate(unpick) / rate(run)).collect()
            };
            let (running, whole) = (ratios(Run::rate), ratios(Run::whole_rate));
            let mean = |ratios: &[f64]| geometric_mean(ratios).map_or_else(|| String::from("-"), short);
            println!(
                "{bullet}rate, unpick / {name}, geometric mean over {} tests, where {promise} is promised: {} \
                 ({} if starting up a single check is counted as well)",
                running.len(),
                mean(&running),
                mean(&whole),
            );
        }
        let sampled = rows.iter().filter(|row| !row.random.gave_up() && !row.sampled.gave_up());
        let ratios: Vec<f64> = sampled.map(|row| row.sampled.rate() / row.random.rate()).collect();
        println!(
            "{bullet}rate, samples of unpick / shuttle random, geometric mean over {} tests, where 3 is promised: {}",
            ratios.len(),
            geometric_mean(&ratios).map_or_else(|| String::from("-"), short),
        );
        for row in rows {
            for (tool, run) in [("loom", &row.loom), ("shuttle DFS", &row.dfs), ("unpick", &row.unpick)] {
                if run.gave_up() || (tool == "unpick" && !run.finished) {
                    println!("{bullet}{tool} on {}: {}", row.test, run.note);
                }
            }
        }
        println!("{bullet}runs were stopped after {} CPU seconds", self.seconds);
    }
}

fn count(run: &Run) -> String {
    if run.gave_up() { String::from("-") } else { format!("{}{}", run.mark(), grouped(run.executions)) }
}

fn time(run: &Run) -> String {
    if run.gave_up() { String::from("-") } else { format!("{}{}", run.mark(), seconds(run.cpu)) }
}
