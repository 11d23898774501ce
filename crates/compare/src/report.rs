//! The tables of a comparison.

use crate::comparison::Results;
use crate::measure::{End, Measured};
use crate::program::Form;
use crate::statistics::{at_time, executions_to, inefficiency, median, quantile};
use crate::table::{Table, number, time};

/// Bugs that each strategy found, for each group of programs.
pub fn bugs_found(results: &Results) -> Table {
    let note = "Programs in which the bug was found within the budget, of all. Where a strategy was run several \
                times, a program counts by the part of the runs that found it.";
    let mut table = Table::new("Bugs found", note, named("program", results));
    let mut groups: Vec<&str> = Vec::new();
    let mut kinds: Vec<&str> = Vec::new();
    for program in &results.comparison.programs {
        if !groups.contains(&program.group.as_str()) {
            groups.push(&program.group);
        }
        if !program.kind.is_empty() && !kinds.contains(&program.kind.as_str()) {
            kinds.push(&program.kind);
        }
    }
    for group in groups {
        table.row(shares(results, group.to_string(), |program| program.group == group));
    }
    for kind in kinds {
        table.row(shares(results, format!("all, {kind}"), |program| program.kind == kind));
    }
    table.row(shares(results, String::from("all"), |_| true));
    table
}

/// A row: under each strategy the bugs found, of all that are meant.
fn shares(results: &Results, name: String, meant: impl Fn(&crate::Program) -> bool) -> Vec<String> {
    let programs: Vec<&crate::Program> = results.comparison.programs.iter().filter(|p| meant(p)).collect();
    let share = |strategy: &str| {
        let runs = programs.iter().map(|program| results.runs(&program.name, Form::Buggy, strategy));
        // If the comparison was interrupted, some were not run.
        let found = runs
            .filter(|runs| !runs.is_empty())
            .map(|runs| runs.iter().filter(|run| run.found()).count() as f64 / runs.len() as f64);
        let found: Vec<f64> = found.collect();
        match found.len() {
            0 => String::from("not run"),
            count => format!("{}/{count}", number(found.iter().sum::<f64>())),
        }
    };
    std::iter::once(name).chain(results.strategies().map(share)).collect()
}

/// CPU time and executions to each bug, under each strategy.
pub fn times_to_bugs(results: &Results) -> Table {
    let note = "CPU time and executions until the bug was found; medians where there were several runs, and how many \
                of them found it. `-`: not found, with the executions that the budget allowed. `none`: the search came \
                to its end without it; `≤`: it came to its end, but leaves executions out by design.";
    let mut table = Table::new("Time and executions to the bug", note, named("program", results));
    for program in &results.comparison.programs {
        let runs = |strategy: &str| results.runs(&program.name, Form::Buggy, strategy);
        let cells = results.strategies().map(|strategy| to_bug(&runs(strategy)));
        table.row(std::iter::once(program.name.clone()).chain(cells));
    }
    table
}

fn to_bug(runs: &[&Measured]) -> String {
    let found: Vec<&&Measured> = runs.iter().filter(|run| run.found()).collect();
    let middle = |value: &dyn Fn(&Measured) -> f64, of: &[&&Measured]| {
        median(&of.iter().map(|run| value(run)).collect::<Vec<f64>>()).unwrap_or(0.0)
    };
    if !found.is_empty() {
        let seconds = middle(&|run| run.last.seconds, &found);
        let executions = middle(&|run| run.last.executions as f64, &found);
        let text = format!("{}, {executions:.0}", time(seconds));
        let errors = runs.iter().filter(|run| matches!(run.end, End::Failed(_))).count();
        let errors = if errors > 0 { format!(", {errors} errors") } else { String::new() };
        return match runs.len() {
            1 => text,
            all => format!("{text} ({} of {all}{errors})", found.len()),
        };
    }
    let Some(run) = runs.first() else { return String::from("not run") };
    let executions = run.last.executions;
    match &run.end {
        End::Failed(problem) => format!("error: {}", shortened(problem)),
        End::Exhausted => format!("none, {executions}"),
        End::Bounded => format!("≤, {executions}"),
        _ => format!("-, {executions}"),
    }
}

/// The first words of a message, for a cell.
fn shortened(problem: &str) -> String {
    let line = problem.lines().next().unwrap_or("");
    let cut: String = line.chars().take(60).collect();
    if cut.len() < line.len() { format!("{cut}...") } else { cut }
}

/// The parts of the budget at which curves are read.
const PARTS: [f64; 5] = [0.0625, 0.125, 0.25, 0.5, 1.0];

/// Executions, and those of them that are not equivalent, over time: sums over all programs.
pub fn over_time(results: &Results) -> Table {
    let budget = results.comparison.budget.cpu.as_secs_f64();
    let note = "Distinct executions, of all executions, after so much CPU time for each program; summed over the \
                programs. A search that has come to its end stays where it was. Last: programs that it has exhausted.";
    let columns = PARTS.iter().map(|part| time(part * budget));
    let columns = std::iter::once(String::from("strategy")).chain(columns).chain([String::from("exhausted")]);
    let mut table = Table::new("Distinct executions over time", note, columns);
    for strategy in results.strategies() {
        let runs = first_runs(results, strategy);
        let after = |part: &f64| {
            // The last point of a search that was stopped lies a little beyond the budget.
            let seconds = if *part == 1.0 { f64::INFINITY } else { part * budget };
            let points = runs.iter().map(|run| at_time(run, seconds));
            let (distinct, all) = points.fold((0, 0), |(d, a), p| (d + p.distinct, a + p.executions));
            format!("{distinct} of {all}")
        };
        let exhausted = runs.iter().filter(|run| run.end == End::Exhausted).count();
        let cells = PARTS.iter().map(after).chain([format!("{exhausted}/{}", runs.len())]);
        table.row(std::iter::once(strategy.to_string()).chain(cells));
    }
    table
}

/// How many executions it takes for one that is distinct, over all programs.
pub fn inefficiencies(results: &Results) -> Table {
    let note = "Executions for each distinct one, when the budget was used up or the search had come to its end: the \
                distribution over the programs. 1 is the best there is. Last: programs without one complete execution.";
    let columns = ["strategy", "least", "25 %", "median", "75 %", "90 %", "most", "none"];
    let mut table = Table::new("Inefficiency", note, columns);
    for strategy in results.strategies() {
        let runs = first_runs(results, strategy);
        let values: Vec<f64> = runs.iter().filter_map(|run| inefficiency(run)).collect();
        let at = |part: f64| quantile(&values, part).map_or_else(|| String::from("-"), two_digits);
        let cells = [0.0, 0.25, 0.5, 0.75, 0.9, 1.0].map(at).into_iter();
        let cells = cells.chain([(runs.len() - values.len()).to_string()]);
        table.row(std::iter::once(strategy.to_string()).chain(cells));
    }
    table
}

fn two_digits(value: f64) -> String {
    if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// Up to how many preemptions everything was explored, under strategies that count them.
pub fn bounds_reached(results: &Results) -> Table {
    let note = "Programs by the number of preemptions up to which everything was explored within the budget. `all`: the \
                search came to its end. Strategies that do not count preemptions are left out.";
    let columns = ["strategy", "not even 0", "0", "1", "2", "3", "more", "all"];
    let mut table = Table::new("Preemptions explored", note, columns);
    for strategy in results.strategies() {
        let runs = first_runs(results, strategy);
        if runs.iter().all(|run| run.bound.is_none()) {
            continue;
        }
        let mut counts = [0; 7];
        for run in runs {
            let place = match (&run.end, run.explored) {
                (End::Exhausted, _) => 6,
                (_, None) => 0,
                (_, Some(bound)) => (bound as usize + 1).min(5),
            };
            counts[place] += 1;
        }
        table.row(std::iter::once(strategy.to_string()).chain(counts.map(|count: usize| count.to_string())));
    }
    table
}

/// Executions until so many distinct ones were seen.
pub fn to_coverage(results: &Results) -> Table {
    let note = "Executions until so many distinct ones had been seen: for each program the median of what the \
                strategies have seen in the end, so that about half of them get there. `-`: not reached.";
    let columns = ["program", "distinct"].into_iter().chain(results.strategies());
    let mut table = Table::new("Executions to coverage", note, columns);
    for program in &results.comparison.programs {
        let run = |strategy: &str| results.runs(&program.name, Form::Fixed, strategy).first().copied();
        let ends: Vec<f64> =
            results.strategies().filter_map(|s| run(s).map(|run| run.last.distinct as f64)).collect();
        let target = median(&ends).unwrap_or(0.0).floor() as u64;
        let reached = |strategy: &str| {
            let Some(run) = run(strategy) else { return String::from("not run") };
            if let End::Failed(problem) = &run.end {
                return format!("error: {}", shortened(problem));
            }
            executions_to(run, target).map_or_else(|| String::from("-"), |count| count.to_string())
        };
        let cells = results.strategies().map(reached);
        table.row([program.name.clone(), target.to_string()].into_iter().chain(cells));
    }
    table
}

/// Executions until everything was explored.
pub fn to_the_end(results: &Results) -> Table {
    let note = "Executions until the search came to its end, with those that were given up half way. `>`: the budget \
                was used up before.";
    let mut table = Table::new("Executions until exhausted", note, named("program", results));
    for program in &results.comparison.programs {
        let cells = results.strategies().map(|strategy| {
            let runs = results.runs(&program.name, Form::Fixed, strategy);
            let Some(run) = runs.first() else { return String::from("not run") };
            match &run.end {
                End::Exhausted => run.last.executions.to_string(),
                End::Bounded => format!("≤ {}", run.last.executions),
                End::Spent => format!("> {}", run.last.executions),
                End::Found(title) => format!("{title} after {}", run.last.executions),
                End::Failed(problem) => format!("error: {}", shortened(problem)),
            }
        });
        table.row(std::iter::once(program.name.clone()).chain(cells));
    }
    table
}

/// The first run of each program under a strategy, in the form that is to be exhausted.
pub(crate) fn first_runs<'a>(results: &'a Results, strategy: &str) -> Vec<&'a Measured> {
    let programs = results.comparison.programs.iter();
    programs
        .filter_map(|program| results.runs(&program.name, Form::Fixed, strategy).first().copied())
        .collect()
}

/// The names of columns: one, and a strategy each.
fn named<'a>(first: &'a str, results: &'a Results) -> impl Iterator<Item = &'a str> {
    std::iter::once(first).chain(results.strategies())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Program;
    use crate::comparison::Comparison;
    use crate::measure::{Budget, Cell, Point};

    /// Results without running anything: `found` is found by `a` and by every second run of `b`, `open`
    /// by nobody.
    fn results() -> Results {
        let program = |name: &str| Program::new(name, || {}).group("both").kind("SC");
        let comparison = Comparison {
            programs: vec![program("found"), program("open")],
            strategies: vec![(String::from("a"), 1), (String::from("b"), 4)],
            budget: Budget { cpu: Duration::from_secs(8), executions: None, events: None, model: None },
        };
        let runner = |cell: &Cell, _: &Budget| {
            let lucky = cell.strategy == "a" || cell.seed.is_multiple_of(2);
            let found = cell.form == Form::Buggy && cell.program == "found" && lucky;
            let point = |seconds: f64| Point {
                executions: (seconds * 10.0) as u64,
                distinct: if cell.strategy == "a" { (seconds * 10.0) as u64 } else { 5 },
                seconds,
            };
            let end = match (found, cell.strategy.as_str()) {
                (true, _) => End::Found(String::from("panic")),
                (_, "a") => End::Exhausted,
                _ => End::Spent,
            };
            let history = vec![point(0.5), point(1.0), point(2.0)];
            let bound = (cell.strategy == "b").then_some(2);
            Some(Measured { end, last: point(8.0), stuck: 0, bound, explored: bound.map(|_| 1), history })
        };
        comparison.run(&[Form::Buggy, Form::Fixed], &runner, &mut |_, _, _| {})
    }

    #[test]
    fn bugs_are_counted_by_group_and_by_chance() {
        let table = bugs_found(&results());
        assert_eq!(table.columns, ["program", "a", "b"]);
        assert_eq!(table.rows[0], ["both", "1/2", "0.50/2"]);
        assert_eq!(table.rows[1][0], "all, SC");
        assert_eq!(table.rows[2], ["all", "1/2", "0.50/2"]);
    }

    #[test]
    fn the_matrix_tells_all_endings_apart() {
        let table = times_to_bugs(&results());
        assert_eq!(table.rows[0], ["found", "8.00 s, 80", "8.00 s, 80 (2 of 4)"]);
        assert_eq!(table.rows[1], ["open", "none, 80", "-, 80"]);
        let failed = Measured::failed(format!("{}\nmore", "x".repeat(80)));
        assert_eq!(to_bug(&[&failed]), format!("error: {}...", "x".repeat(60)));
    }

    #[test]
    fn searches_are_told_by_how_far_they_came() {
        let table = over_time(&results());
        assert_eq!(table.rows[0], ["a", "10 of 10", "20 of 20", "40 of 40", "40 of 40", "160 of 160", "2/2"]);
        assert_eq!(table.rows[1][5..], ["10 of 160", "0/2"]);
        let table = inefficiencies(&results());
        assert_eq!(table.rows[0][1..], ["1.00", "1.00", "1.00", "1.00", "1.00", "1.00", "0"]);
        assert_eq!(table.rows[1][1], "16.00");
        assert_eq!(bounds_reached(&results()).rows, [["b", "0", "0", "2", "0", "0", "0", "0"]]);
        let table = to_coverage(&results());
        assert_eq!(table.rows[0], ["found", "42", "80", "-"]);
        let table = to_the_end(&results());
        assert_eq!(table.rows[1], ["open", "80", "> 80"]);
    }
}
