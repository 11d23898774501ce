//! Medians, distributions, and points of curves.

use crate::measure::{Measured, Point};

/// The value below which a part of the values lies, from 0 (the least) to 1 (the largest); between two
/// values it is in proportion. `None` if there are no values.
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = part.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// The value in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The steps of a cumulative distribution: each value, and the part of all values up to it.
pub fn cumulative(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = sorted.len() as f64;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (index, &value) in sorted.iter().enumerate() {
        let part = (index + 1) as f64 / all;
        match steps.last_mut() {
            Some(last) if last.0 == value => last.1 = part,
            _ => steps.push((value, part)),
        }
    }
    steps
}

/// Executions for each one that is not equivalent to another: 1 is the best. `None` if there is none that
/// was run to its end.
pub fn inefficiency(measured: &Measured) -> Option<f64> {
    let Point { executions, distinct, .. } = measured.last;
    (distinct > 0).then(|| executions as f64 / distinct as f64)
}

/// How a search stood after some CPU time: the last point up to then. One that had ended stays as it was.
pub fn at_time(measured: &Measured, seconds: f64) -> Point {
    let mut points = measured.history.iter().chain([&measured.last]);
    points.rfind(|point| point.seconds <= seconds).copied().unwrap_or_default()
}

/// The executions after which so many distinct ones had been seen, as far as noted: an eighth too many at
/// most. `None` if there were never so many.
pub fn executions_to(measured: &Measured, distinct: u64) -> Option<u64> {
    let mut points = measured.history.iter().chain([&measured.last]);
    points.find(|point| point.distinct >= distinct).map(|point| point.executions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::End;

    fn searched(points: &[(u64, u64, f64)]) -> Measured {
        let point =
            |&(executions, distinct, seconds): &(u64, u64, f64)| Point { executions, distinct, seconds };
        let mut history: Vec<Point> = points.iter().map(point).collect();
        let last = history.pop().unwrap_or_default();
        Measured { end: End::Spent, last, stuck: 0, bound: None, explored: None, history }
    }

    #[test]
    fn quantiles() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values), Some(2.5));
        assert_eq!(median(&values[..3]), Some(3.0));
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (Some(1.0), Some(4.0)));
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_distribution_has_a_step_for_each_value() {
        assert_eq!(cumulative(&[2.0, 1.0, 2.0, 8.0]), [(1.0, 0.25), (2.0, 0.75), (8.0, 1.0)]);
        assert!(cumulative(&[]).is_empty());
    }

    #[test]
    fn curves_are_read_at_a_time_and_at_a_count() {
        let curve = searched(&[(1, 1, 0.1), (10, 4, 0.5), (40, 5, 2.0)]);
        assert_eq!(at_time(&curve, 0.05), Point::default());
        assert_eq!(at_time(&curve, 0.5).executions, 10);
        assert_eq!(at_time(&curve, 60.0).executions, 40);
        assert_eq!((executions_to(&curve, 4), executions_to(&curve, 5)), (Some(10), Some(40)));
        assert_eq!(executions_to(&curve, 6), None);
        assert_eq!(inefficiency(&curve), Some(8.0));
        assert_eq!(inefficiency(&searched(&[(3, 0, 0.1)])), None);
    }
}
