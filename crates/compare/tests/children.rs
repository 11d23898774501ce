//! Cells that hang or die are results like others.
//!
//! This test is a program that compares: it starts itself for each cell, so it has a `main` of its own.

use std::process::ExitCode;
use std::time::Duration;

use unpick_compare::measure::{Budget, Cell, End};
use unpick_compare::program::Form;
use unpick_compare::{Program, children};

fn programs() -> Vec<Program> {
    let wrong = || assert_eq!(unpick::choose(2), 0, "the number is wrong");
    vec![
        Program::new("wrong", wrong).fixed(|| {}),
        Program::new("loud", || {
            unpick::outside(|| drop(std::io::Write::write(&mut std::io::stdout(), b"{}")))
        }),
        Program::new("exits", || unpick::outside(|| std::process::exit(0))),
        Program::new("dies", || unpick::outside(|| std::process::abort())),
        Program::new("hangs", || {
            unpick::outside(|| {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            })
        }),
    ]
}

fn run(program: &str, form: Form, strategy: &str) -> End {
    let (program, strategy) = (program.to_string(), strategy.to_string());
    let budget = Budget { cpu: Duration::from_millis(50), executions: None, events: None, model: None };
    let measured = children::run(&Cell { program, form, strategy, seed: 1 }, &budget);
    measured.expect("it is not interrupted").end
}

fn failure(end: End) -> String {
    match end {
        End::Failed(problem) => problem,
        other => panic!("it did not fail: {other:?}"),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if words.iter().any(|word| word == children::CELL) {
        return unpick_compare::main(&programs());
    }
    assert_eq!(run("wrong", Form::Buggy, "optimal"), End::Found(String::from("panic")));
    assert_eq!(run("wrong", Form::Fixed, "optimal"), End::Exhausted);
    assert_eq!(run("loud", Form::Fixed, "optimal"), End::Exhausted, "what a program prints is no result");
    for (program, message) in [("exits", "exit status: 0"), ("dies", "signal")] {
        let problem = failure(run(program, Form::Buggy, "optimal"));
        assert!(problem.contains(message), "{program}: {problem}");
    }
    assert!(failure(run("wrong", Form::Buggy, "tea")).contains("there is no strategy `tea`"));
    assert!(failure(run("nobody", Form::Buggy, "optimal")).contains("exit status: 2"));
    let problem = failure(run("hangs", Form::Buggy, "optimal"));
    assert!(problem.contains("hang") || problem.contains("nothing"), "{problem}");
    ExitCode::SUCCESS
}
