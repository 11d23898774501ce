//! What the arguments of a compiler ask for.
//!
//! Only what matters here is understood: whether something is linked, into which file, and what cannot work.
//! Everything else is the compiler's business. Response files (`@file`) are looked into, and passed on as they are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// How far the compiler goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It answers a question, and compiles nothing.
    Ask,
    /// It stops before linking.
    Compile,
    /// It makes a program or a shared library.
    Link,
}

/// The arguments, understood.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) step: Step,
    output: Option<PathBuf>,
    words: Vec<OsString>,
}

/// Options that take the next argument.
const WITH_ARGUMENT: [&str; 46] = [
    "-o",
    "-x",
    "-I",
    "-L",
    "-l",
    "-D",
    "-U",
    "-A",
    "-B",
    "-F",
    "-G",
    "-T",
    "-u",
    "-z",
    "-e",
    "-h",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-specs",
    "--param",
    "--sysroot",
    "--output",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
];

/// Options that end the compiler's work before linking.
const BEFORE_LINKING: [&str; 9] =
    ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--compile", "--assemble", "--preprocess"];

/// Options after which the compiler only answers, whatever the inputs.
const QUESTIONS: [&str; 8] = [
    "--version",
    "--help",
    "-###",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "-dumpspecs",
    "--target-help",
];

/// Endings of header files, which are compiled, not linked.
const HEADERS: [&str; 9] = ["h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc"];

/// Sanitizers that no program can have together with that for threads.
const OTHER_SANITIZERS: [&str; 6] =
    ["address", "hwaddress", "kernel-address", "kernel-hwaddress", "leak", "memory"];

impl Line {
    /// Reads arguments.
    pub(super) fn of(arguments: &[OsString]) -> Result<Line, Error> {
        let mut words = Vec::new();
        expand(arguments, 0, &mut words)?;
        let mut output = None;
        let (mut asks, mut stops, mut inputs, mut headers) = (false, false, 0, 0);
        let mut header_language = false;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = word.to_string_lossy();
            let text = text.as_ref();
            if !text.starts_with('-') || text == "-" {
                inputs += 1;
                headers += usize::from(header_language || is_header(word));
                continue;
            }
            asks |= QUESTIONS.contains(&text) || text.starts_with("-print-") || text.starts_with("--print-");
            asks |= text.starts_with("--help=");
            stops |= BEFORE_LINKING.contains(&text);
            if let Some(joined) = text.strip_prefix("--output=") {
                output = Some(PathBuf::from(joined));
            } else if WITH_ARGUMENT.contains(&text) {
                let Some(argument) = rest.next() else { continue };
                match text {
                    "-o" | "--output" => output = Some(PathBuf::from(argument)),
                    "-x" => header_language = argument.as_bytes().ends_with(b"-header"),
                    // A library is an input of its own: `cc -l x` links.
                    "-l" => inputs += 1,
                    _ => {}
                }
            } else if let Some(joined) = word.as_bytes().strip_prefix(b"-o") {
                output = Some(PathBuf::from(OsStr::from_bytes(joined)));
            } else if let Some(language) = text.strip_prefix("-x") {
                header_language = language.ends_with("-header");
            } else if text.starts_with("-l") {
                inputs += 1;
            }
        }
        let step = match () {
            () if inputs == 0 || asks => Step::Ask,
            () if stops || headers == inputs => Step::Compile,
            () => Step::Link,
        };
        Ok(Line { step, output, words })
    }

    /// The file that is linked.
    pub(super) fn program(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from("a.out"))
    }

    /// Refuses what cannot work, and says what would.
    pub(super) fn refuse(&self) -> Result<(), Error> {
        let refused = |what: &str, instead: &str| {
            Err(Error::Refused { what: what.to_string(), instead: instead.to_string() })
        };
        for word in &self.words {
            let text = word.to_string_lossy();
            let text = text.as_ref();
            match text {
                "-m32" | "-mx32" | "-m16" => {
                    return refused(text, "only 64-bit x86 programs can be checked; leave it out");
                }
                "-static-libtsan" => {
                    return refused(
                        text,
                        "the runtime of unpick takes the place of that library; leave it out",
                    );
                }
                "-static" | "--static" | "-static-pie" if self.step == Step::Link => {
                    return refused(
                        text,
                        "the runtime is a shared library that stands in for parts of the system's; link dynamically \
                         (-static-libgcc and -static-libstdc++ are fine)",
                    );
                }
                _ => {}
            }
            let sanitizers = text.strip_prefix("-fsanitize=").into_iter().flat_map(|list| list.split(','));
            if let Some(other) = sanitizers.into_iter().find(|name| OTHER_SANITIZERS.contains(name)) {
                return refused(
                    &format!("-fsanitize={other}"),
                    "compilers do not combine it with the instrumentation that checking needs; leave it out \
                     (memory errors are found without it)",
                );
            }
        }
        Ok(())
    }

    /// Whether the output is to be linked again.
    pub(super) fn is_partial(&self) -> bool {
        self.words.iter().any(|word| ["-r", "--relocatable", "-Wl,-r"].iter().any(|option| word == option))
    }
}

fn is_header(word: &OsStr) -> bool {
    let ending = Path::new(word).extension().map(|ending| ending.to_string_lossy().into_owned());
    ending.is_some_and(|ending| HEADERS.contains(&ending.as_str()))
}

/// How deep response files may name others; those that name themselves end there.
const DEEPEST: usize = 16;

/// The arguments, those in response files included.
fn expand(arguments: &[OsString], depth: usize, out: &mut Vec<OsString>) -> Result<(), Error> {
    for argument in arguments {
        let path = argument.as_bytes().strip_prefix(b"@").map(|path| Path::new(OsStr::from_bytes(path)));
        // A file that cannot be read is an argument like any other, for gcc and for clang.
        match path.and_then(|path| std::fs::read(path).ok()) {
            Some(_) if depth == DEEPEST => {
                return Err(Error::Refused {
                    what: argument.to_string_lossy().into_owned(),
                    instead: String::from(
                        "response files that name each other go too deep; write the arguments out",
                    ),
                });
            }
            Some(text) => expand(&split(&text), depth + 1, out)?,
            None => out.push(argument.clone()),
        }
    }
    Ok(())
}

/// The words of a response file: apart by white space, with quotes and backslashes as the compilers read them.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let arguments: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        Line::of(&arguments).expect("it can be understood")
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        let table = [
            (
                Step::Ask,
                &["", "-v", "--version", "-print-search-dirs", "-dumpmachine", "-Wl,--version", "-o x"][..],
            ),
            (Step::Ask, &["--version a.c", "-### a.c", "--help=warnings"]),
            (
                Step::Compile,
                &[
                    "-c a.c",
                    "-S a.c -o a.s",
                    "-E -",
                    "-M a.c",
                    "-x c-header a",
                    "a.h",
                    "-fsyntax-only a.c",
                    "-dM -E a.c",
                ],
            ),
            (
                Step::Link,
                &["a.c", "a.o b.o -o x", "-v a.c", "-shared a.o", "-x c -", "-l x", "-lx", "-MD a.c", "a.s"],
            ),
        ];
        for (step, lines) in table {
            for text in lines {
                assert_eq!(line(text).step, step, "{text}");
            }
        }
    }

    #[test]
    fn arguments_of_options_are_no_inputs() {
        assert_eq!(line("-include a.c -isystem b -D C -Xlinker d --param e=1").step, Step::Ask);
        assert_eq!(line("-MF a.d -c").step, Step::Ask);
    }

    #[test]
    fn the_program_is_found() {
        for text in ["a.c -o x", "-ox a.c", "--output=x a.c", "--output x a.c"] {
            assert_eq!(line(text).program(), PathBuf::from("x"), "{text}");
        }
        assert_eq!(line("a.c").program(), PathBuf::from("a.out"));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let message = |text: &str| line(text).refuse().expect_err(text).to_string();
        assert!(message("-static a.o").contains("link dynamically"));
        assert!(message("a.c -static-pie").contains("link dynamically"));
        assert!(message("-fsanitize=undefined,address a.c").contains("-fsanitize=address"));
        assert!(message("-m32 -c a.c").contains("64-bit"));
        assert!(message("-static-libtsan a.c").contains("leave it out"));
        for fine in
            ["-static -c a.c", "-fsanitize=thread a.c", "-fsanitize=undefined a.c", "-static-libgcc a.c"]
        {
            assert!(line(fine).refuse().is_ok(), "{fine}");
        }
    }

    #[test]
    fn response_files_are_looked_into() {
        let folder = std::env::temp_dir().join(format!("unpick-line-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a file can be written");
            format!("@{}", path.display())
        };
        let inner = file("inner", "'a b.c' \"c\\\"d.c\"\n e\\ f.c");
        let outer = file("outer", &format!("{inner} -c"));
        let understood = line(&outer);
        assert_eq!(understood.step, Step::Compile);
        assert_eq!(understood.words, ["a b.c", "c\"d.c", "e f.c", "-c"]);
        assert_eq!(line("@no/such/file").words, ["@no/such/file"]);
        let itself = file("itself", &format!("@{}", folder.join("itself").display()));
        assert!(Line::of(&[OsString::from(itself)]).is_err());
        std::fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
