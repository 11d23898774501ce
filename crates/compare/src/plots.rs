//! The plots of a comparison.

use crate::comparison::Results;
use crate::measure::Measured;
use crate::program::Form;
use crate::report::first_runs;
use crate::statistics::{cumulative, inefficiency, median};
use crate::svg::{Axis, Plot, Scale, Series};

/// CPU time to each bug: a row for each program, a mark for each strategy that found it.
pub fn times_to_bugs(results: &Results) -> Plot {
    let programs = &results.comparison.programs;
    let seconds = |program: &str, strategy: &str| {
        let runs = results.runs(program, Form::Buggy, strategy);
        let found: Vec<f64> = runs.iter().filter(|run| run.found()).map(|run| run.last.seconds).collect();
        median(&found)
    };
    let points = |strategy: &str| {
        let rows = programs.iter().enumerate();
        rows.filter_map(|(row, program)| Some((seconds(&program.name, strategy)?, row as f64))).collect()
    };
    Plot {
        title: String::from("CPU time to the bug"),
        x: axis("seconds; no mark: not found", Scale::Log),
        y: axis("", Scale::Linear),
        series: series(results, points),
        rows: programs.iter().map(|program| program.name.clone()).collect(),
    }
}

/// How the inefficiency of each strategy is distributed over the programs.
pub fn inefficiencies(results: &Results) -> Plot {
    let points = |strategy: &str| {
        let runs = first_runs(results, strategy);
        let values: Vec<f64> = runs.iter().filter_map(|run| inefficiency(run)).collect();
        let mut steps = Vec::new();
        let mut before = 0.0;
        for (value, part) in cumulative(&values) {
            steps.extend([(value, before), (value, part)]);
            before = part;
        }
        steps
    };
    Plot {
        title: String::from("Inefficiency: part of the programs up to a value"),
        x: axis("executions for each distinct one", Scale::Log),
        y: axis("part", Scale::Linear),
        series: series(results, points),
        rows: Vec::new(),
    }
}

/// Distinct executions against all executions of a program, under each strategy.
pub fn curve(results: &Results, program: &str) -> Plot {
    let points = |strategy: &str| {
        let runs = results.runs(program, Form::Fixed, strategy);
        runs.first().map(|run| points_of(run)).unwrap_or_default()
    };
    Plot {
        title: format!("{program}: distinct executions against all"),
        x: axis("executions", Scale::Log),
        y: axis("distinct", Scale::Log),
        series: series(results, points),
        rows: Vec::new(),
    }
}

fn points_of(run: &Measured) -> Vec<(f64, f64)> {
    let points = run.history.iter().chain([&run.last]);
    points.map(|point| (point.executions as f64, point.distinct as f64)).collect()
}

fn axis(label: &str, scale: Scale) -> Axis {
    Axis { label: label.to_string(), scale }
}

fn series(results: &Results, points: impl Fn(&str) -> Vec<(f64, f64)>) -> Vec<Series> {
    results.strategies().map(|name| Series { name: name.to_string(), points: points(name) }).collect()
}
