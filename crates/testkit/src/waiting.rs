//! Random small programs with loops that wait.
//!
//! One thread or two have a loop of one to three pieces: loads, exchanges, updates that undo each other, stores of the
//! value that is there, critical sections, choices, fences, and registers that remember the rounds. The other threads
//! write what is waited for, or not. The rule: programs are well formed, as those of [`crate::generate`], and no loop sends
//! a signal. Same random numbers, same program.

use crate::Program;
use crate::random::Random;

/// Draws a program.
///
/// # Panics
///
/// Never: what is drawn is well formed.
pub fn generate(random: &mut Random) -> Program {
    let threads = 2 + random.weighted(&[5, 4]);
    let loops = if threads == 2 { 1 + random.weighted(&[8, 2]) } else { 1 + random.weighted(&[8, 1]) };
    let places = 2 + random.weighted(&[7, 3]);
    let locks = random.chance(25);
    let plain = random.chance(8);
    let mut draft = Draft { random, places, locks, plain, registers: 0 };
    let mut texts: Vec<String> = Vec::new();
    for thread in 0..threads {
        draft.registers = 0;
        let statements = match thread < loops {
            true => draft.waiter(),
            false => {
                let length = 1 + draft.random.weighted(&[4, 5, 2]);
                draft.bystander(length)
            }
        };
        texts.push(statements.join("; "));
    }
    if draft.random.chance(50) {
        texts.rotate_left(1);
    }
    let text = texts.join(" || ");
    let start = if draft.random.chance(15) { "{x=1} " } else { "" };
    let text = format!("{start}{text}");
    Program::parse(&text)
        .unwrap_or_else(|error| panic!("a generated program is well formed: {text}: {error}"))
}

struct Draft<'r> {
    random: &'r mut Random,
    places: usize,
    locks: bool,
    plain: bool,
    registers: usize,
}

impl Draft<'_> {
    /// A thread without a loop. Some look only once they have seen something that the thread with the loop may do
    /// after it.
    fn bystander(&mut self, length: usize) -> Vec<String> {
        if self.random.chance(75) {
            return self.others(length);
        }
        let (register, load) = self.load();
        let test = self.test(&register);
        let others = self.others(length).join("; ");
        vec![load, format!("if({test}){{{others}}}")]
    }

    /// A thread with a loop.
    fn waiter(&mut self) -> Vec<String> {
        let before = self.random.weighted(&[6, 3]);
        let mut body = self.others(before);
        let mut round: Vec<String> = Vec::new();
        let mut tests: Vec<String> = Vec::new();
        let pieces = 1 + self.random.weighted(&[4, 5, 2]);
        for piece in 0..pieces {
            self.piece(piece == 0, &mut body, &mut round, &mut tests);
        }
        if tests.is_empty() {
            let (register, load) = self.load();
            round.push(load);
            tests.push(self.test(&register));
        }
        let mut until = tests.remove(self.random.below(tests.len()));
        if !tests.is_empty() && self.random.chance(35) {
            let joined = self.random.pick(&["and", "or"]);
            until = format!("{until} {joined} {}", tests[0]);
        }
        body.push(format!("do{{{}}}until({until})", round.join("; ")));
        let after = self.random.weighted(&[3, 6, 3]);
        body.extend(self.others(after));
        body
    }

    /// A part of a round, and the conditions that it makes possible. What it remembers is set up in `body`.
    fn piece(
        &mut self,
        first: bool,
        body: &mut Vec<String>,
        round: &mut Vec<String>,
        tests: &mut Vec<String>,
    ) {
        let known = (self.registers > 0).then(|| format!("r{}", self.registers - 1));
        // load, compare-and-swap, exchange, undo pair, same value, section, trylock, choice, fence, memory of rounds, back-off
        let weights = match (first, self.locks) {
            (true, false) => [40, 12, 6, 12, 10, 0, 0, 2, 3, 0, 0],
            (true, true) => [20, 4, 3, 5, 4, 22, 14, 1, 1, 0, 14],
            (false, false) => [26, 8, 5, 16, 14, 0, 0, 3, 5, 14, 0],
            (false, true) => [18, 3, 3, 6, 5, 16, 10, 1, 3, 10, 6],
        };
        match self.random.weighted(&weights) {
            0 => {
                let (register, load) = self.load();
                tests.push(self.test(&register));
                round.push(load);
            }
            1 => {
                let (old, ok) = (self.fresh(), self.fresh());
                let (weak, mode, failure) = (self.random.pick(&["", "W"]), self.update(), self.read());
                let (place, expected, new) = (self.place(), self.random.below(2), self.random.below(3));
                round.push(format!("{old},{ok}={weak}CAS{mode}/{failure} {place} {expected} {new}"));
                tests.push(format!("{ok}==1"));
            }
            2 => {
                let (old, mode, place) = (self.fresh(), self.update(), self.place());
                round.push(format!("{old}=XCHG{mode} {place} {}", self.random.below(2)));
                tests.push(self.test(&old));
            }
            3 => {
                let (place, up, down) = (self.place(), self.update(), self.update());
                let mut pair = match self.random.below(4) {
                    0 => vec![format!("W{} {place} 1", self.write()), format!("W{} {place} 0", self.write())],
                    _ => vec![format!("FADD{up} {place} 1"), format!("FADD{down} {place} -1")],
                };
                if self.random.chance(35) {
                    let (register, load) = self.load();
                    pair.insert(1, load);
                    tests.push(self.test(&register));
                    round.extend(pair);
                } else {
                    round.push(self.perhaps(known.filter(|_| !first), &pair.join("; ")));
                }
            }
            4 => {
                let (place, mode, value) = (self.place(), self.write(), self.random.weighted(&[5, 4]));
                let store = format!("W{mode} {place} {value}");
                if self.random.chance(45) {
                    let register = self.fresh();
                    round.push(format!("{register}=R{} {place}", self.read()));
                    round.push(format!("if({register}=={value}){{{store}}}"));
                    tests.push(self.test(&register));
                } else {
                    round.push(self.perhaps(known.filter(|_| !first), &store));
                }
            }
            5 => {
                let (register, load) = self.load();
                tests.push(self.test(&register));
                round.push(format!("lock l; {load}; unlock l"));
            }
            6 => {
                let taken = self.fresh();
                round.push(format!("{taken}=trylock l"));
                if self.random.chance(60) {
                    let (register, load) = self.load();
                    round.push(format!("if({taken}==1){{{load}; unlock l}}"));
                    tests.push(format!("{taken}==1 and {register}==1"));
                } else {
                    round.push(format!("if({taken}==1){{unlock l}}"));
                    tests.push(format!("{taken}==1"));
                }
            }
            7 => {
                let register = self.fresh();
                round.push(format!("{register}=choose 2"));
                tests.push(format!("{register}==1"));
            }
            8 => round.push(format!("F{}", self.random.pick(&["acq", "rel", "ar", "sc", "sc"]))),
            10 => {
                let taken = self.fresh();
                let (outer, inner) = self.random.pick(&[("l", "m"), ("m", "l")]);
                let store = format!("W{} {} 1; ", self.write(), self.place());
                let within = if self.random.chance(50) { store } else { String::new() };
                round.push(format!(
                    "lock {outer}; {taken}=trylock {inner}; if({taken}==1){{{within}unlock {inner}}}; unlock {outer}"
                ));
                tests.push(format!("{taken}==1"));
            }
            _ => {
                let kept = self.fresh();
                body.push(format!("let {kept}=0"));
                let known = known.unwrap_or_else(|| kept.clone());
                round.push(match self.random.below(4) {
                    0 => format!("let {kept}=1"),
                    1 => format!("if({known}==0){{let {kept}=1}}"),
                    2 => format!("let {kept}={known}"),
                    _ => format!("if({kept}<1){{let {kept}={kept}+1}}"),
                });
                if self.random.chance(20) {
                    tests.push(format!("{kept}==1"));
                }
            }
        }
    }

    /// Statements, or the same under a condition.
    fn perhaps(&mut self, known: Option<String>, statements: &str) -> String {
        match known.filter(|_| self.random.chance(60)) {
            Some(known) => format!("if({known}=={}){{{statements}}}", self.random.weighted(&[7, 3])),
            None => statements.to_string(),
        }
    }

    /// Statements outside of loops.
    fn others(&mut self, length: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut left = length;
        while left > 0 {
            left -= 1;
            // store, load, update, fence, section, branch
            let weights =
                [40, 28, 14, 3, if self.locks { 30 } else { 0 }, if self.registers > 0 { 6 } else { 0 }];
            out.push(match self.random.weighted(&weights) {
                0 => self.store(),
                1 => self.load().1,
                2 => self.update_statement(),
                3 => format!("F{}", self.random.pick(&["acq", "rel", "ar", "sc"])),
                4 => {
                    let lock = self.random.pick(&["l", "l", "m"]);
                    match self.random.below(4) {
                        0 => format!("lock {lock}; unlock {lock}"),
                        1 => {
                            let taken = self.fresh();
                            format!("{taken}=trylock {lock}; if({taken}==1){{unlock {lock}}}")
                        }
                        _ => format!("lock {lock}; {}; unlock {lock}", self.store()),
                    }
                }
                _ => {
                    let known = self.known();
                    format!("if({known}=={}){{{}}}", self.random.below(2), self.store())
                }
            });
        }
        out
    }

    fn update_statement(&mut self) -> String {
        let (mode, place) = (self.update(), self.place());
        match self.random.below(3) {
            0 => format!("FADD{mode} {place} 1"),
            1 => {
                let register = self.fresh();
                format!("{register}=XCHG{mode} {place} {}", self.random.below(3))
            }
            _ => {
                let register = self.fresh();
                format!("{register}=CAS{mode} {place} {} {}", self.random.below(2), self.random.below(3))
            }
        }
    }

    fn store(&mut self) -> String {
        let mode = if self.plain && self.random.chance(25) { "na" } else { self.write() };
        let place = self.place();
        if self.registers > 0 && self.random.chance(20) {
            return format!("W{mode} {place} {}", self.known());
        }
        format!("W{mode} {place} {}", self.random.weighted(&[2, 7, 2]))
    }

    /// A load, and the register that it is into.
    fn load(&mut self) -> (String, String) {
        let mode = if self.plain && self.random.chance(25) { "na" } else { self.read() };
        let (place, register) = (self.place(), self.fresh());
        let text = format!("{register}=R{mode} {place}");
        (register, text)
    }

    fn test(&mut self, register: &str) -> String {
        let value = self.random.weighted(&[2, 8]);
        format!("{register}{}{value}", self.random.pick(&["==", "==", "==", "!="]))
    }

    fn place(&mut self) -> &'static str {
        ["x", "y", "z"][self.random.below(self.places)]
    }

    fn known(&mut self) -> String {
        format!("r{}", self.random.below(self.registers))
    }

    fn fresh(&mut self) -> String {
        self.registers += 1;
        format!("r{}", self.registers - 1)
    }

    fn read(&mut self) -> &'static str {
        self.random.pick(&["rlx", "rlx", "acq", "acq", "sc"])
    }

    fn write(&mut self) -> &'static str {
        self.random.pick(&["rlx", "rlx", "rel", "rel", "sc"])
    }

    fn update(&mut self) -> &'static str {
        self.random.pick(&["rlx", "rlx", "acq", "rel", "ar", "sc"])
    }
}
