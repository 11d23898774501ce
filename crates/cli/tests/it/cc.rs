//! `unpick cc` and `unpick c++`, with the compilers of the machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder for what tests build.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cc")
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs").join(name)
}

/// A runtime that does what programs ask for, built once.
fn runtime() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        std::fs::create_dir_all(folder()).expect("a folder can be made");
        let path = folder().join("runtime.so");
        let options = ["-shared", "-fPIC", "-O1", "-Wno-builtin-declaration-mismatch", "-o"];
        let status = Command::new("cc").args(options).arg(&path).arg(source("runtime.c")).status();
        assert!(status.is_ok_and(|status| status.success()));
        path
    })
}

/// A wrapper, ready to be given arguments.
fn wrapper(program: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder());
    command.env("UNPICK_RUNTIME", runtime()).env("UNPICK_CACHE", folder().join("cache"));
    ["UNPICK_CC", "UNPICK_CXX", "UNPICK_LINT"].iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

fn unpick(words: &[&str]) -> Command {
    runtime();
    wrapper(Path::new(env!("CARGO_BIN_EXE_unpick")), words)
}

fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("it can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// Runs a command that must end well and say nothing.
fn quietly(command: &mut Command) {
    let shown = format!("{command:?}");
    assert_eq!(ended(command), (Some(0), String::new(), String::new()), "{shown}");
}

/// Asserts that a program has our runtime before all other libraries and not that of the compiler, and that it runs.
fn is_ours(program: &str) {
    let path = folder().join(program);
    let (_, tables, _) = ended(Command::new("readelf").arg("-d").arg(&path));
    let needed: Vec<&str> = tables.lines().filter(|line| line.contains("(NEEDED)")).collect();
    let ours = format!("[{}/", folder().join("cache").display());
    assert!(needed[0].contains(&ours) && needed[0].contains("/libunpick_native.so]"), "{tables}");
    assert_eq!(needed.iter().filter(|line| line.contains("libunpick_native.so")).count(), 1, "{tables}");
    assert!(!tables.contains("libtsan"), "{tables}");
    // Without the variables: the program keeps the path.
    assert_eq!(ended(&mut Command::new(path)), (Some(0), String::from("count 2\n"), String::new()));
}

/// The compilers that are here.
fn compilers() -> Vec<&'static str> {
    let there =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|ended| ended.status.success());
    ["gcc", "clang", "clang-16", "clang-19"].into_iter().filter(there).collect()
}

#[test]
fn programs_are_built_in_one_step_and_in_two() {
    let hello = source("hello.c").display().to_string();
    for compiler in compilers() {
        let call = |words: &[&str]| {
            let mut command = unpick(&["cc"]);
            command.args(words).env("UNPICK_CC", compiler);
            command
        };
        let (one, two, object) =
            (&format!("one-{compiler}"), &format!("two-{compiler}"), &format!("{compiler}.o"));
        quietly(&mut call(&[&hello, "-o", one]));
        is_ours(one);
        quietly(&mut call(&["-c", &hello, "-o", object]));
        quietly(&mut call(&[object, "-o", two, "-pthread"]));
        is_ours(two);
        // As CMake calls it for one who asks for the sanitizer, and as distributions do.
        quietly(&mut call(&["-fsanitize=thread", "-Wl,--as-needed", "-O2", &hello, "-o", one]));
        is_ours(one);
    }
}

#[test]
fn shared_libraries_are_built() {
    let hello = source("hello.c").display().to_string();
    quietly(&mut unpick(&["cc", "-fPIC", "-shared", "-Dmain=hello", &hello, "-o", "libhello.so"]));
    std::fs::write(folder().join("main.c"), "int hello(void);\nint main(void) { return hello(); }\n")
        .expect("a file can be written");
    quietly(&mut unpick(&["cc", "main.c", "-L.", "-lhello", "-Wl,-rpath,$ORIGIN", "-o", "with-library"]));
    is_ours("with-library");
}

#[test]
fn objects_that_are_linked_again_get_no_runtime() {
    let hello = source("hello.c").display().to_string();
    quietly(&mut unpick(&["cc", "-c", &hello, "-o", "part.o"]));
    quietly(&mut unpick(&["cc", "-r", "part.o", "-o", "whole.o"]));
    quietly(&mut unpick(&["cc", "whole.o", "-o", "from-parts"]));
    is_ours("from-parts");
}

#[test]
fn cxx_is_built() {
    let text = "#include <atomic>\n#include <iostream>\n#include <thread>\n#include <unpick.h>\nstd::atomic<int> count;\n\
                int main() { std::thread t([] { ++count; }); ++count; t.join(); unpick_require(count == 2);\n\
                std::cout << \"count \" << count << std::endl; }\n";
    std::fs::write(folder().join("hello.cpp"), text).expect("a file can be written");
    quietly(&mut unpick(&["c++", "-std=c++20", "hello.cpp", "-o", "hello-cxx"]));
    is_ours("hello-cxx");
    // The programs of one word, and a link that has the name of a compiler.
    quietly(wrapper(Path::new(env!("CARGO_BIN_EXE_unpick-cxx")), &[]).args([
        "hello.cpp",
        "-o",
        "hello-cxx-word",
    ]));
    is_ours("hello-cxx-word");
    let link = folder().join("unpick-c++");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_unpick"), &link).expect("a link can be made");
    quietly(wrapper(&link, &[]).args(["hello.cpp", "-o", "hello-cxx-link"]));
    is_ours("hello-cxx-link");
}

#[test]
fn questions_are_passed_on() {
    for question in ["--version", "-dumpmachine", "-print-search-dirs", "-v"] {
        let own = ended(unpick(&["cc"]).arg(question));
        let system = ended(Command::new("cc").arg(question));
        assert_eq!(own, system, "{question}");
    }
}

#[test]
fn compilers_fail_as_they_do() {
    let (code, _, err) = ended(&mut unpick(&["cc", "-c", "no-such-file.c"]));
    assert_eq!(code, Some(1));
    assert!(err.contains("no-such-file.c"), "{err}");
    let (code, _, err) = ended(&mut unpick(&["cc"]));
    assert_eq!(code, Some(1));
    assert!(err.contains("no input files"), "{err}");
}

#[test]
fn sources_are_compiled_as_the_user_says() {
    let macros = |words: &[&str]| {
        let (code, out, err) = ended(unpick(&["cc", "-dM", "-E", "-x", "c", "/dev/null"]).args(words));
        assert_eq!(code, Some(0), "{err}");
        out
    };
    assert!(macros(&[]).contains("__SANITIZE_THREAD__ 1"));
    assert!(macros(&[]).contains("__OPTIMIZE__ 1"));
    assert!(!macros(&["-O0"]).contains("__OPTIMIZE__"));
    assert!(macros(&["-Os"]).contains("__OPTIMIZE_SIZE__ 1"));
}

#[test]
fn what_cannot_work_is_refused() {
    let hello = source("hello.c").display().to_string();
    for (words, message) in [
        (&["-static", &hello][..], "link dynamically"),
        (&["-fsanitize=address", "-c", &hello], "-fsanitize=address"),
        (&["-m32", "-c", &hello], "64-bit"),
    ] {
        let (code, out, err) = ended(unpick(&["cc"]).args(words));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{words:?}");
        assert!(err.contains(message), "{err}");
    }
    std::fs::write(folder().join("static.arguments"), format!("-static '{hello}'"))
        .expect("a file can be written");
    let (code, _, err) = ended(&mut unpick(&["cc", "@static.arguments"]));
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn compilers_that_are_not_there_are_told() {
    let (code, _, err) = ended(unpick(&["cc", "a.c"]).env("UNPICK_CC", "no-such-compiler"));
    assert_eq!(code, Some(2));
    assert!(err.contains("no-such-compiler") && err.contains("UNPICK_CC"), "{err}");
}

#[test]
fn atomics_that_are_not_seen_are_told_with_function_and_line() {
    let hidden = source("hidden.c").display().to_string();
    let build = |words: &[&str]| {
        let (code, out, err) = ended(unpick(&["cc", &hidden, "-latomic", "-o", "hidden"]).args(words));
        assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
        err
    };
    let place = |text: &str| {
        let source = std::fs::read_to_string(&hidden).expect("it can be read");
        let line = source.lines().position(|line| line.contains(text)).expect("it is there") + 1;
        format!("{hidden}:{line}: warning: ")
    };
    for options in [&["-O0"][..], &["-O2"], &["-O1", "-fno-plt"], &["-O1", "-no-pie"]] {
        let told = build(options);
        for (text, what, function) in [
            ("lock xaddl", "an atomic instruction (`lock`)", "locked"),
            ("xchgl %0", "an atomic instruction (`xchg` with memory)", "exchanged"),
            ("\"mfence\"", "a fence (`mfence`)", "fenced"),
            ("copy = wide", "a call of `__atomic_load`", "loaded"),
        ] {
            let line = format!("{}{what} in `{function}` is not seen", place(text));
            assert!(told.contains(&line), "{options:?}: {line}\n{told}");
        }
        assert_eq!(told.lines().count(), 4, "{told}");
    }
    assert_eq!(build(&["-g0"]).lines().count(), 4);
    let (_, _, err) = ended(unpick(&["cc", &hidden, "-latomic", "-o", "hidden"]).env("UNPICK_LINT", "off"));
    assert_eq!(err, "");
}

#[test]
fn the_kit_is_unpacked_where_it_can_be() {
    let hello = source("hello.c").display().to_string();
    let mut command = unpick(&["cc", "-c", &hello, "-o", "unpacked.o"]);
    let (code, _, err) = ended(command.env("UNPICK_CACHE", "/dev/null/cache"));
    assert_eq!(code, Some(2));
    assert!(err.contains("UNPICK_CACHE"), "{err}");
    let mut command = unpick(&["cc", "-c", &hello, "-o", "unpacked.o"]);
    ["UNPICK_CACHE", "XDG_CACHE_HOME", "HOME"].iter().for_each(|name| {
        command.env_remove(OsStr::new(name));
    });
    let (code, _, err) = ended(&mut command);
    assert_eq!(code, Some(2));
    assert!(err.contains("UNPICK_CACHE"), "{err}");
}
