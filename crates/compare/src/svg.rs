//! Plots as SVG: lines and marks over two axes, readable without colour.
//!
//! Each series has a dash, a mark and a shade of its own, and the legend shows all three.

use std::fmt::Write;

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal factors. What is not above 0 is left out.
    Log,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// How values are laid out.
    pub scale: Scale,
}

/// Points with a name.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name, for the legend.
    pub name: String,
    /// The points, in the order of the line.
    pub points: Vec<(f64, f64)>,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is plotted.
    pub series: Vec<Series>,
    /// Names of rows: if there are any, the vertical axis has these names from the top, at 0, 1, ...,
    /// and marks are not joined by lines.
    pub rows: Vec<String>,
}

const LEFT: f64 = 70.0;
const ROW_NAMES: f64 = 190.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const ROW: f64 = 16.0;

const DASHES: [&str; 6] = ["", "8 3", "2 3", "8 3 2 3", "14 4", "4 2 1 2 1 2"];
const SHADES: [&str; 4] = ["#000000", "#3d6a9e", "#a3542a", "#4d7a3a"];
const MARKS: usize = 14;

/// The values between which an axis runs, and where values are on it.
struct Range {
    scale: Scale,
    least: f64,
    most: f64,
}

impl Range {
    fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Range {
        let good = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(good) {
            (least, most) = (least.min(value), most.max(value));
        }
        let (least, most) = match scale {
            _ if least > most => (1.0, 10.0),
            Scale::Linear => (least.min(0.0), if most > 0.0 { most } else { 1.0 }),
            Scale::Log => {
                let (low, high) = (least.log10().floor(), most.log10().ceil());
                (10f64.powf(low), 10f64.powf(if high > low { high } else { low + 1.0 }))
            }
        };
        Range { scale, least, most }
    }

    /// Where a value is, from 0 to 1; `None` if it is not on the axis.
    fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Linear => (value - self.least) / (self.most - self.least),
            Scale::Log => (value / self.least).log10() / (self.most / self.least).log10(),
        };
        place.is_finite().then_some(place)
    }

    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Log => {
                let (low, high) = (self.least.log10().round() as i32, self.most.log10().round() as i32);
                let every = ((high - low) / 8 + 1) as usize;
                (low..=high).step_by(every).map(|power| 10f64.powi(power)).collect()
            }
            Scale::Linear => {
                let rough = (self.most - self.least) / 5.0;
                let power = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
                let step = step.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(rough);
                let first = (self.least / step).ceil() as i64;
                (first..).map(|n| n as f64 * step).take_while(|tick| *tick <= self.most * 1.0001).collect()
            }
        }
    }
}

impl Plot {
    /// The plot as an SVG file.
    pub fn svg(&self) -> String {
        let by_rows = !self.rows.is_empty();
        let left = if by_rows { ROW_NAMES } else { LEFT };
        let legend = self.series.len() as f64 * 20.0;
        let height = if by_rows { (self.rows.len() as f64 * ROW).max(legend) } else { HEIGHT.max(legend) };
        let values = || self.series.iter().flat_map(|series| &series.points);
        let x = Range::new(self.x.scale, values().map(|point| point.0));
        let y = Range::new(self.y.scale, values().map(|point| point.1));
        let mut out = Drawing::new(left + WIDTH + RIGHT, TOP + height + BOTTOM);
        out.text(left, 22.0, "start", 15, &self.title);
        let frame = format!(
            r##"<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{height}" fill="none" stroke="#888888"/>"##
        );
        out.push(&frame);
        for tick in x.ticks() {
            let Some(place) = x.place(tick) else { continue };
            let at = left + place * WIDTH;
            out.line((at, TOP), (at, TOP + height));
            out.text(at, TOP + height + 16.0, "middle", 11, &tick_name(tick));
        }
        out.text(left + WIDTH / 2.0, TOP + height + 38.0, "middle", 12, &self.x.label);
        let row_place = |row: f64| TOP + (row + 0.5) * ROW;
        if by_rows {
            for (row, name) in self.rows.iter().enumerate() {
                let at = row_place(row as f64);
                out.line((left, at), (left + WIDTH, at));
                out.text(left - 6.0, at + 4.0, "end", 11, name);
            }
        } else {
            for tick in y.ticks() {
                let Some(place) = y.place(tick) else { continue };
                let at = TOP + (1.0 - place) * height;
                out.line((left, at), (left + WIDTH, at));
                out.text(left - 6.0, at + 4.0, "end", 11, &tick_name(tick));
            }
            out.text(4.0, TOP - 9.0, "start", 12, &self.y.label);
        }
        for (index, series) in self.series.iter().enumerate() {
            let placed = series.points.iter().filter_map(|&(horizontal, vertical)| {
                let across = left + x.place(horizontal)? * WIDTH;
                let down = match by_rows {
                    true => row_place(vertical),
                    false => TOP + (1.0 - y.place(vertical)?) * height,
                };
                Some((across, down))
            });
            out.series(index, &placed.collect::<Vec<_>>(), !by_rows);
            let at = TOP + 10.0 + index as f64 * 20.0;
            let from = left + WIDTH + 12.0;
            out.series(index, &[(from, at), (from + 28.0, at)], !by_rows);
            out.text(from + 36.0, at + 4.0, "start", 12, &series.name);
        }
        out.end()
    }
}

/// A number below an axis.
fn tick_name(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{}M", short(value / 1e6)),
        v if v >= 1e4 => format!("{}k", short(value / 1e3)),
        _ => short(value),
    }
}

fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A drawing as it grows.
struct Drawing(String);

impl Drawing {
    fn new(width: f64, height: f64) -> Drawing {
        Drawing(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        ))
    }

    fn push(&mut self, text: &str) {
        writeln!(self.0, "{text}").expect("a string takes everything");
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let line = format!(
            r##"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="#dddddd" stroke-width="0.7"/>"##
        );
        self.push(&line);
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, size: u32, text: &str) {
        let text = escaped(text);
        let text =
            format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}">{text}</text>"#);
        self.push(&text);
    }

    /// A line through points, if it is to have one, with marks that are not too close to each other.
    fn series(&mut self, index: usize, points: &[(f64, f64)], joined: bool) {
        let shade = SHADES[index % SHADES.len()];
        if joined && points.len() > 1 {
            let dash = DASHES[index % DASHES.len()];
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            self.push(&format!(
                r#"<polyline points="{}" fill="none" stroke="{shade}" stroke-width="1.4" stroke-dasharray="{dash}"/>"#,
                path.join(" ")
            ));
        }
        let mut last: Option<(f64, f64)> = None;
        for (place, &(x, y)) in points.iter().enumerate() {
            let ends = place == 0 || place + 1 == points.len();
            let far = last.is_none_or(|(lx, ly)| (lx - x).hypot(ly - y) >= 40.0);
            if !joined || far || ends {
                self.mark(index, x, y, shade);
                last = Some((x, y));
            }
        }
    }

    fn mark(&mut self, index: usize, x: f64, y: f64, shade: &str) {
        let path = |points: &[(f64, f64)]| {
            let words: Vec<String> =
                points.iter().map(|(dx, dy)| format!("{:.1} {:.1}", x + dx, y + dy)).collect();
            words.join(" L")
        };
        let slanted = [path(&[(-3.5, -3.5), (3.5, 3.5)]), path(&[(-3.5, 3.5), (3.5, -3.5)])].join(" M");
        let upright = [path(&[(-4.2, 0.0), (4.2, 0.0)]), path(&[(0.0, -4.2), (0.0, 4.2)])].join(" M");
        let closed = [
            vec![(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)],
            vec![(0.0, -4.2), (4.0, 3.2), (-4.0, 3.2)],
            vec![(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)],
            vec![(0.0, 4.2), (4.0, -3.2), (-4.0, -3.2)],
        ];
        // Two rounds, the first one hollow; shapes that cannot be filled differ.
        let mark = index % MARKS;
        let fill = if mark < 7 { "#ffffff" } else { shade };
        let shape = match mark {
            0 | 7 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5""#),
            5 => format!(r#"<path d="M{slanted}""#),
            6 => format!(r#"<path d="M{upright}""#),
            12 => format!(r#"<path d="M{slanted} M{upright}""#),
            13 => format!(r#"<path d="M{}""#, path(&[(-1.2, -5.0), (1.2, -5.0), (1.2, 5.0), (-1.2, 5.0)])),
            _ => format!(r#"<path d="M{} Z""#, path(&closed[mark % 7 - 1])),
        };
        self.push(&format!(r#"{shape} fill="{fill}" stroke="{shade}" stroke-width="1.2"/>"#));
    }

    fn end(mut self) -> String {
        self.0 += "</svg>\n";
        self.0
    }
}

/// Text that is safe inside XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(scale: Scale, series: Vec<Series>) -> Plot {
        let axis = |label: &str| Axis { label: label.to_string(), scale };
        Plot { title: String::from("a < b & c"), x: axis("x"), y: axis("y"), series, rows: Vec::new() }
    }

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series { name: name.to_string(), points: points.to_vec() }
    }

    /// Every element that is opened is closed, and attributes are in quotes.
    fn assert_well_formed(svg: &str) {
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').expect("a tag ends");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let name: String =
                tag.trim_start_matches('/').chars().take_while(|c| c.is_alphanumeric()).collect();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn points_are_where_their_values_say() {
        let svg = plot(Scale::Linear, vec![series("line", &[(0.0, 0.0), (10.0, 4.0)])]).svg();
        assert_well_formed(&svg);
        // From the lower left corner of the frame to its upper right one.
        assert!(svg.contains(r#"points="70.0,380.0 590.0,40.0""#), "{svg}");
        assert!(svg.contains("a &lt; b &amp; c"), "{svg}");
        let svg = plot(Scale::Log, vec![series("line", &[(1.0, 1.0), (10.0, 1000.0), (100.0, 0.0)])]).svg();
        assert_well_formed(&svg);
        assert!(svg.contains(r#"points="70.0,380.0 330.0,40.0""#), "what is not above 0 is left out: {svg}");
    }

    #[test]
    fn series_differ_without_colour() {
        let mark = |index: usize| {
            let mut drawing = Drawing(String::new());
            drawing.mark(index, 0.0, 0.0, "#123456");
            let element = drawing.0;
            // A line is not filled, so that filling it makes no difference.
            let closed = element.contains(" Z") || element.contains("circle") || index == 13;
            let filled = closed && !element.contains(r##"fill="#ffffff""##);
            let shape = element.split(" fill=").next().map(str::to_string);
            (shape, filled)
        };
        for (one, other) in (0..MARKS).flat_map(|one| (0..one).map(move |other| (one, other))) {
            assert_ne!(mark(one), mark(other), "{one} and {other}");
        }
        let many = (0..5).map(|n| series(&format!("s{n}"), &[(1.0, f64::from(n)), (2.0, f64::from(n))]));
        let svg = plot(Scale::Linear, many.collect()).svg();
        assert_well_formed(&svg);
        for dash in &DASHES[..5] {
            let lines = svg.matches(&format!(r#"stroke-dasharray="{dash}""#)).count();
            assert_eq!(lines, 2, "one in the plot and one in the legend: {dash}");
        }
    }

    #[test]
    fn rows_have_names_and_no_lines() {
        let mut dots = plot(Scale::Log, vec![series("a", &[(0.01, 0.0), (5.0, 1.0)])]);
        dots.rows = vec![String::from("first"), String::from("second")];
        let svg = dots.svg();
        assert_well_formed(&svg);
        assert!(svg.contains(">first<") && svg.contains(">second<") && !svg.contains("polyline"), "{svg}");
    }

    #[test]
    fn nothing_to_plot_is_a_plot() {
        for scale in [Scale::Linear, Scale::Log] {
            assert_well_formed(&plot(scale, Vec::new()).svg());
            assert_well_formed(&plot(scale, vec![series("one", &[(3.0, 3.0)])]).svg());
        }
    }

    #[test]
    fn ticks_are_round() {
        let linear = Range::new(Scale::Linear, [0.0, 43.0].into_iter());
        assert_eq!(linear.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        let log = Range::new(Scale::Log, [0.02, 300.0].into_iter());
        assert_eq!(log.ticks().len(), 6);
        assert_eq!([0.01, 5.0, 20_000.0, 3e6].map(tick_name), ["0.01", "5", "20k", "3M"]);
    }
}
