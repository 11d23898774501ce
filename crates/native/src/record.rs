//! What is kept of one execution that is run again, to tell about it.

use std::collections::BTreeMap;

use unpick_core::op::{Site, ThreadId};
use unpick_core::violation::Point;
use unpick_driver::witness::Wanted;

use crate::frames::Frame;

/// Functions at most that are kept of the stack of each event.
const CALLERS: usize = 8;

/// Keeps call stacks.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// The points whose stacks are wanted.
    wanted: Vec<Point>,
    /// Their stacks, as return addresses.
    pub(crate) stacks: Vec<(Point, Vec<usize>)>,
    /// All frames that threads were seen in, by thread, canonical frame address and place in the code: the stack pointer, and a
    /// number that is the higher the later they were seen.
    pub(crate) frames: BTreeMap<(usize, usize, usize), (usize, usize)>,
    /// What called the function that a thread stood in before an event, by thread and index, innermost first.
    pub(crate) callers: BTreeMap<(ThreadId, u32), Vec<usize>>,
    /// What called the function that has allocated a block, by the address of the block.
    pub(crate) blocks: BTreeMap<usize, Vec<usize>>,
    /// How often stacks were looked at.
    looks: usize,
    /// Remarks: who made them, before which event, and where.
    pub(crate) labels: Vec<(Point, String)>,
    /// The memory that the violation is about.
    pub(crate) range: Option<(usize, usize)>,
}

impl Recorder {
    /// Keeps what is wanted, and where the violation shows.
    pub(crate) fn new(Wanted { mut points, at, .. }: Wanted) -> Recorder {
        if let Some(at) = at.filter(|at| !points.contains(at)) {
            points.push(at);
        }
        Recorder { wanted: points, ..Recorder::default() }
    }

    /// Forgets what was kept.
    pub(crate) fn begin(&mut self) {
        self.stacks.clear();
        self.frames.clear();
        self.callers.clear();
        self.blocks.clear();
        self.labels.clear();
        self.range = None;
    }

    /// Keeps a remark.
    pub(crate) fn label(&mut self, thread: ThreadId, index: u32, site: Site, text: String) {
        self.labels.push((Point { thread, index, site }, text));
    }

    /// Keeps the stack of a thread that stands at a point: its registers are at `frame`, and its stack ends at
    /// `top`.
    pub(crate) fn note(&mut self, point: Point, frame: usize, top: usize) {
        let frames = crate::frames::walk(frame, top);
        self.keep(point, &frames);
    }

    /// Whether the stack at a point is wanted, and not there yet.
    pub(crate) fn wants(&self, point: Point) -> bool {
        self.wanted.contains(&point) && !self.stacks.iter().any(|(known, _)| *known == point)
    }

    /// Keeps who has called the function that allocates a block, whose stack this is.
    pub(crate) fn keep_block(&mut self, block: usize, frames: &[Frame]) {
        self.blocks.insert(block, outer(frames));
    }

    /// Keeps the stack of a thread that stands at a point.
    pub(crate) fn keep(&mut self, point: Point, frames: &[Frame]) {
        self.looks += 1;
        for frame in frames {
            let key = (point.thread.index(), frame.base, frame.address);
            self.frames.insert(key, (frame.stack, self.looks));
        }
        self.callers.insert((point.thread, point.index), outer(frames));
        if self.wants(point) && !frames.is_empty() {
            self.stacks.push((point, frames.iter().map(|frame| frame.address).collect()));
        }
    }
}

/// The functions around the innermost.
fn outer(frames: &[Frame]) -> Vec<usize> {
    frames.iter().skip(1).take(CALLERS).map(|frame| frame.address).collect()
}
