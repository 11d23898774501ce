//! How far a check came that could not explore everything.

use std::fmt;

use unpick_core::plan::Outlook;

/// What a check has covered when its time was up, or when it was interrupted.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// The highest number of preemptions up to which every execution was explored.
    pub preemptions: Option<u32>,
    /// The same for sequentially consistent executions only.
    pub traces: Option<u32>,
    /// Executions that were run.
    pub executions: u64,
    /// Those of them that were drawn at random.
    pub sampled: u64,
    /// Where the random numbers started.
    pub seed: u64,
    /// How many executions there are, about.
    pub estimate: Option<f64>,
    /// The part of them that the search for all has visited, from 0 to 1.
    pub share: Option<f64>,
    /// Distinct pairs of a write and a read that sees it, by their places in the source, among the
    /// executions that were drawn at random.
    pub pairs: Option<usize>,
}

impl Effort {
    /// The effort that an outlook tells of.
    pub fn new(outlook: &Outlook, executions: u64, seed: u64) -> Effort {
        Effort {
            preemptions: outlook.explored,
            traces: outlook.explored_traces,
            executions,
            sampled: outlook.sampled,
            seed,
            estimate: outlook.estimate.map(|estimate| estimate.total),
            share: outlook.estimate.map(|estimate| estimate.progress),
            pairs: outlook.pairs,
        }
    }

    /// What was covered, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::from("not every execution was explored")];
        let explored = |what: &str, most: u32| {
            let plural = if most == 1 { "" } else { "s" };
            format!("every {what} with at most {most} preemption{plural} was explored")
        };
        lines.extend(self.preemptions.map(|most| explored("execution", most)));
        // What all executions were explored for need not be said of some.
        let traces = self.traces.filter(|&most| self.preemptions.is_none_or(|all| all < most));
        lines.extend(traces.map(|most| explored("sequentially consistent execution", most)));
        if self.preemptions.is_none() && traces.is_none() {
            lines.push(String::from("no bound on preemptions was exhausted"));
        }
        let Effort { executions, sampled, seed, .. } = self;
        let plural = if *executions == 1 { " was" } else { "s were" };
        let drawn = match sampled {
            0 => String::new(),
            sampled => format!(", {sampled} of them drawn at random with seed {seed}"),
        };
        lines.push(format!("{executions} execution{plural} run{drawn}"));
        if let (Some(estimate), Some(share)) = (self.estimate, self.share) {
            let percent = share * 100.0;
            lines.push(format!(
                "the search for all saw about {percent:.1} % of some {estimate:.0} executions"
            ));
        }
        if let Some(pairs) = self.pairs {
            lines.push(format!("{pairs} reads-from pairs were seen at random"));
        }
        lines
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_says_one_thing() {
        let effort = Effort {
            preemptions: Some(1),
            traces: Some(2),
            executions: 900,
            sampled: 300,
            seed: 7,
            estimate: Some(20_000.0),
            share: Some(0.0213),
            pairs: Some(12),
        };
        let lines = [
            "not every execution was explored",
            "every execution with at most 1 preemption was explored",
            "every sequentially consistent execution with at most 2 preemptions was explored",
            "900 executions were run, 300 of them drawn at random with seed 7",
            "the search for all saw about 2.1 % of some 20000 executions",
            "12 reads-from pairs were seen at random",
        ];
        assert_eq!(effort.lines(), lines);
        assert_eq!(effort.to_string(), lines.join("; "));
        let less = Effort { preemptions: Some(2), ..effort.clone() };
        assert_eq!(less.lines()[1..3], ["every execution with at most 2 preemptions was explored", lines[3]]);
        let none = Effort { preemptions: None, traces: None, executions: 1, sampled: 0, ..effort };
        assert_eq!(none.lines()[1..3], ["no bound on preemptions was exhausted", "1 execution was run"]);
    }
}
