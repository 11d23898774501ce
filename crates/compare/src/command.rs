//! The command line of a comparison.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use serde_json::{Value, json};
use unpick::Check;
use unpick_check::config::parse_duration;
use unpick_runtime::interrupt;

use crate::comparison::{Comparison, Results};
use crate::measure::{Budget, Cell};
use crate::program::{Form, Program};
use crate::svg::Plot;
use crate::table::{Format, Table, time};
use crate::{children, plots, report};

const HELP: &str = "\
Tables:
  bugs      bugs found by each strategy; CPU time and executions to each bug
  searches  on programs without their bugs: distinct executions over time, how many executions it takes for a
            distinct one, preemptions explored, executions to coverage
  ends      on programs without their bugs: executions until everything was explored

Each program is run under each strategy in a process of its own, one after the other. Budgets are of CPU time of the
search, so other work on the machine changes little. A cell that hangs or dies is an `error` in its place.

Ctrl-C ends the comparison after the cells that have been run, and prints the tables of these.

Exit codes: 0 the comparison was made, 2 error, 3 interrupted.";

/// Runs programs under several strategies, with equal budgets of CPU time, and prints what came of it
#[derive(Debug, Parser)]
#[command(name = "unpick compare", after_help = HELP)]
struct Options {
    /// Strategies, with their parameters, such as cb-dpor:2; `unpick strategies` lists them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    strategies: Vec<String>,
    /// Programs, or groups of programs; all unless given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    programs: Vec<String>,
    /// What to find out
    #[arg(long, value_name = "TABLES", value_delimiter = ',', default_value = "bugs,searches")]
    tables: Vec<Tables>,
    /// CPU time at most for each program and strategy, such as 500ms, 5s, 1m
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    time: Duration,
    /// Executions at most for each program and strategy
    #[arg(long, value_name = "N")]
    executions: Option<u64>,
    /// Events of one execution at most; longer ones are cut
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    events: usize,
    /// Runs for each bug under strategies that draw at random, with seeds 1, 2, ...
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Memory model for all programs; that of each program unless given
    #[arg(long)]
    model: Option<String>,
    /// A folder to write plots into
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Output {
    /// Prints Markdown
    #[arg(long)]
    markdown: bool,
    /// Prints values between commas
    #[arg(long)]
    csv: bool,
    /// Prints JSON: the tables, and what came of every cell
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tables {
    Bugs,
    Searches,
    Ends,
}

/// The exit code of a comparison of which some cells are missing.
const INTERRUPTED: u8 = 3;

/// The strategies unless others are given.
const STRATEGIES: [&str; 10] =
    ["optimal", "source-dpor", "dpor", "cb-dpor", "icb", "chess", "chess-atomic", "random", "pct:3", "pos"];

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = parse_duration(text).filter(|time| !time.is_zero());
    parsed.ok_or_else(|| String::from("this is not a time such as 500ms, 5s or 1m"))
}

/// The whole of a program that compares: reads the arguments of the process, runs the programs under
/// strategies, prints tables, and returns the exit code. It starts itself for each cell.
pub fn main(programs: &[Program]) -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let done = match (words.next(), words.next()) {
        (Some(word), Some(cell)) if word == children::CELL => {
            children::child(programs, &cell.to_string_lossy()).map(|()| ExitCode::SUCCESS)
        }
        // Wrong arguments end the process here, with a message and code 2.
        _ => compare(programs, &Options::parse()),
    };
    match done {
        Ok(code) => code,
        Err(problem) => {
            // Standard error that has gone away leaves nobody to tell.
            let _ = writeln!(io::stderr(), "error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn compare(programs: &[Program], options: &Options) -> Result<ExitCode, String> {
    let comparison = comparison(programs, options)?;
    if let Some(folder) = &options.svg {
        fs::create_dir_all(folder)
            .map_err(|error| format!("the folder {} cannot be made: {error}", folder.display()))?;
    }
    let asked = |tables: Tables| options.tables.contains(&tables);
    let mut forms = Vec::new();
    forms.extend(asked(Tables::Bugs).then_some(Form::Buggy));
    forms.extend((asked(Tables::Searches) || asked(Tables::Ends)).then_some(Form::Fixed));
    let mut progress = Progress { shown: io::stderr().is_terminal() };
    let listening = interrupt::listen();
    let results =
        comparison.run(&forms, &children::run, &mut |done, all, cell| progress.show(done, all, cell));
    drop(listening);
    progress.clear();
    let mut tables = Vec::new();
    let mut drawn: Vec<(String, Plot)> = Vec::new();
    if asked(Tables::Bugs) {
        tables.extend([report::bugs_found(&results), report::times_to_bugs(&results)]);
        drawn.push((String::from("times-to-bugs"), plots::times_to_bugs(&results)));
    }
    if asked(Tables::Searches) {
        tables.extend([report::over_time(&results), report::inefficiencies(&results)]);
        tables.extend([report::bounds_reached(&results), report::to_coverage(&results)]);
        drawn.push((String::from("inefficiency"), plots::inefficiencies(&results)));
        let curves = comparison.programs.iter().map(|program| {
            (format!("curve-{}", file_name(&program.name)), plots::curve(&results, &program.name))
        });
        drawn.extend(curves);
    }
    if asked(Tables::Ends) {
        tables.push(report::to_the_end(&results));
    }
    if let Some(folder) = &options.svg {
        draw(folder, &drawn)?;
    }
    say(&written(&results, &tables, &options.output))?;
    Ok(if interrupt::requested() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// What is asked for; an error if some of it does not exist.
fn comparison(programs: &[Program], options: &Options) -> Result<Comparison, String> {
    let chosen = |program: &&Program| {
        options.programs.is_empty() || options.programs.iter().any(|word| program.answers_to(word))
    };
    if let Some(word) = options.programs.iter().find(|word| !programs.iter().any(|p| p.answers_to(word))) {
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        return Err(format!("there is no program `{word}`; there are {}", names.join(", ")));
    }
    let names = match options.strategies.is_empty() {
        true => STRATEGIES.map(String::from).to_vec(),
        false => options.strategies.clone(),
    };
    if let Some((index, twice)) =
        names.iter().enumerate().find(|(index, name)| names[..*index].contains(name))
    {
        return Err(format!("the strategy `{twice}` is named twice, at place {}; once is enough", index + 1));
    }
    let model = options.model.as_deref();
    let mut strategies = Vec::new();
    for name in names {
        let runs = runs(&name, model, options.repeat)?;
        strategies.push((name, runs));
    }
    let budget = Budget {
        cpu: options.time,
        executions: options.executions,
        events: Some(options.events),
        model: options.model.clone(),
    };
    Ok(Comparison { programs: programs.iter().filter(chosen).cloned().collect(), strategies, budget })
}

/// How often a strategy is run on each program; an error if it does not exist.
fn runs(strategy: &str, model: Option<&str>, repeat: u64) -> Result<u64, String> {
    let mut check = Check::new().strategy(strategy);
    if let Some(model) = model {
        check = check.model(model);
    }
    let mut task = check.task(|| {}).map_err(|error| error.to_string())?;
    let draws = task.plan.begin().strategy().samples();
    Ok(if draws { repeat } else { 1 })
}

/// A line on the terminal that says how far the comparison is.
struct Progress {
    shown: bool,
}

impl Progress {
    fn show(&mut self, done: usize, all: usize, cell: &Cell) {
        if self.shown {
            let Cell { program, form, strategy, seed } = cell;
            let line =
                format!("\r\x1b[K{done} of {all}: {program} ({}) under {strategy}, run {seed}", form.name());
            // A terminal that has gone away is no reason to fail.
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    fn clear(&mut self) {
        if self.shown {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

fn written(results: &Results, tables: &[Table], output: &Output) -> String {
    if output.json {
        let value = json!({
            "seconds": results.comparison.budget.cpu.as_secs_f64(),
            "executions": results.comparison.budget.executions,
            "events": results.comparison.budget.events,
            "model": results.comparison.budget.model,
            "interrupted": interrupt::requested(),
            "tables": tables.iter().map(Table::to_json).collect::<Vec<Value>>(),
            "cells": results.cells().iter().map(|(cell, measured)| {
                let mut value = measured.to_json();
                value["program"] = json!(cell.program);
                value["form"] = json!(cell.form.name());
                value["strategy"] = json!(cell.strategy);
                value["seed"] = json!(cell.seed);
                value
            }).collect::<Vec<Value>>(),
        });
        return format!("{value:#}\n");
    }
    let format = match output {
        Output { markdown: true, .. } => Format::Markdown,
        Output { csv: true, .. } => Format::Csv,
        _ => Format::Text,
    };
    let tables: Vec<String> = tables.iter().map(|table| table.written(format)).collect();
    let head = match format {
        Format::Csv => String::new(),
        _ => format!("{}\n\n", rules(results)),
    };
    format!("{head}{}", tables.join("\n"))
}

/// The rules of the comparison, in a sentence.
fn rules(results: &Results) -> String {
    let Comparison { programs, strategies, budget } = &results.comparison;
    let executions = budget.executions.map_or_else(String::new, |most| format!(" and {most} executions"));
    let model = budget.model.as_deref().unwrap_or("the memory model of each program");
    let looked = results.cells().keys().any(|cell| cell.form == Form::Buggy);
    let random = strategies.iter().filter(|_| looked).map(|(_, runs)| *runs).max().filter(|runs| *runs > 1);
    let runs = random
        .map_or_else(String::new, |runs| format!(", {runs} runs for each bug where it draws at random"));
    let missing = match (interrupt::requested(), results.cells().len()) {
        (false, _) => String::new(),
        (true, 1) => String::from(" Interrupted after 1 cell, of which the tables are."),
        (true, cells) => format!(" Interrupted after {cells} cells, of which the tables are."),
    };
    format!(
        "{} programs under {model}, with at most {} of CPU time{executions} for each strategy{runs}.{missing}",
        programs.len(),
        time(budget.cpu.as_secs_f64())
    )
}

fn draw(folder: &Path, plots: &[(String, Plot)]) -> Result<(), String> {
    for (name, plot) in plots {
        let path = folder.join(format!("{name}.svg"));
        fs::write(&path, plot.svg())
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// Writes a text to standard output; a reader who has seen enough is no error.
fn say(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(problem) if problem.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("the tables cannot be written: {problem}"))
        }
        _ => Ok(()),
    }
}
