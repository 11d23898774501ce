//! The examples in C and C++, built by the wrapper and explored: `cargo xtask native-examples`.
//!
//! The projects are configured and built as they are, with the wrapper for a compiler. libcds is fetched as a source package of Debian,
//! never kept here; a copy with the bug mended is made of it, by changing the memory order of one operation in two files.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Problem;
use crate::shell::{exists, output, root, run, target, unpick};

/// Where libcds comes from, and what its file must be.
const LIBCDS: &str = "http://deb.debian.org/debian/pool/main/libc/libcds/libcds_2.3.3.orig.tar.gz";
const LIBCDS_SUM: &str = "f090380ecd6b63a3c2b2f0bdb27260de2ccb22486ef7f47cc1175b70c6e4e388";
const LIBCDS_SOURCES: [&str; 7] =
    ["init", "hp", "dhp", "thread_data", "topology_linux", "urcu_gp", "urcu_sh"];

/// The operations that make a new head known without publishing it: the file, the line, and what is wrong on it.
const UNPUBLISHED: [(&str, usize, &str); 2] = [
    (
        "cds/intrusive/msqueue.h",
        396,
        "m_pHead.compare_exchange_strong( h, pNext, memory_model::memory_order_acquire",
    ),
    (
        "cds/intrusive/optimistic_queue.h",
        486,
        "m_pHead.compare_exchange_weak( pHead, pFirstNodePrev, memory_model::memory_order_acquire",
    ),
];

#[derive(clap::Args)]
pub(crate) struct NativeExamples {
    /// Only examples with this in their names.
    #[arg(long, default_value = "")]
    filter: String,
    /// Time for each exploration.
    #[arg(long, default_value = "60s")]
    time: String,
}

/// What an exploration must say.
#[derive(Clone, Copy)]
enum Expected {
    /// A violation, with this in its report.
    Violated(&'static str),
    /// No violation, whether everything was explored or not.
    Clean,
}

/// The tools that the examples are made with.
struct Tools {
    folder: PathBuf,
    binaries: PathBuf,
    filter: String,
    time: String,
}

impl NativeExamples {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        unpick()?;
        for (program, package) in
            [("cmake", "cmake"), ("autoreconf", "automake"), ("make", "make"), ("curl", "curl")]
        {
            if !exists(program) {
                return Err(format!("there is no `{program}`; on Debian, `apt-get install {package}`"));
            }
        }
        let tools = Tools {
            folder: target().join("native-examples"),
            binaries: target().join("debug"),
            filter: self.filter.clone(),
            time: self.time.clone(),
        };
        std::fs::create_dir_all(&tools.folder)
            .map_err(|error| format!("{}: {error}", tools.folder.display()))?;
        let mut wrong = tools.projects()?;
        wrong.extend(tools.boost()?);
        wrong.extend(tools.libcds()?);
        match wrong.len() {
            0 => Ok(()),
            count => Err(format!("{count} examples are not as they should be: {}", wrong.join(", "))),
        }
    }
}

impl Tools {
    fn wanted(&self, name: &str) -> bool {
        name.contains(&self.filter)
    }

    /// A call of a program that is found next to the command line first.
    fn call(&self, program: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.binaries.clone()).chain(std::env::split_paths(&path));
        let mut command = Command::new(program);
        command.env("PATH", std::env::join_paths(folders).unwrap_or(path));
        command
    }

    /// The projects: configured and built without a change, then explored.
    fn projects(&self) -> Result<Vec<String>, Problem> {
        let mut wrong = Vec::new();
        if self.wanted("cmake-project") {
            let build = self.empty("cmake-project")?;
            let source = root().join("examples/cmake-project");
            let mut configure = self.call("cmake");
            configure.arg("-S").arg(source).arg("-B").arg(&build);
            output(configure.env("CC", "unpick-cc").env("CXX", "unpick-cxx"))?;
            output(self.call("cmake").arg("--build").arg(&build))?;
            let race = Expected::Violated("data race");
            wrong.extend(self.explored("cmake-project", &build.join("letters"), &[], race)?);
        }
        if self.wanted("autotools-project") {
            let build = self.empty("autotools-project")?;
            for name in ["configure.ac", "Makefile.am", "ticket.c"] {
                let from = root().join("examples/autotools-project").join(name);
                std::fs::copy(&from, build.join(name))
                    .map_err(|error| format!("{}: {error}", from.display()))?;
            }
            output(self.call("autoreconf").args(["--force", "--install"]).current_dir(&build))?;
            output(self.call("./configure").arg("CC=unpick cc").current_dir(&build))?;
            output(self.call("make").arg("check").current_dir(&build))?;
            wrong.extend(self.explored("autotools-project", &build.join("ticket"), &[], Expected::Clean)?);
        }
        Ok(wrong)
    }

    /// Boost.Lockfree, as the system has it.
    fn boost(&self) -> Result<Vec<String>, Problem> {
        let mut wrong = Vec::new();
        for name in ["boost_queue", "boost_stack"].into_iter().filter(|name| self.wanted(name)) {
            let program = self.folder.join(name);
            let source = root().join(format!("examples/cpp/{name}.cpp"));
            self.built(Command::new(self.binaries.join("unpick-cxx")).arg(source).arg("-o").arg(&program))?;
            wrong.extend(self.explored(name, &program, &[], Expected::Violated("data race"))?);
        }
        Ok(wrong)
    }

    /// libcds: as it is, and with the bug mended.
    fn libcds(&self) -> Result<Vec<String>, Problem> {
        let unpublished = Expected::Violated("use of an unpublished object");
        let table = [
            ("MSQUEUE", unpublished),
            ("OPTIMISTIC_QUEUE", unpublished),
            ("MOIR_QUEUE", Expected::Clean),
            ("BASKET_QUEUE", Expected::Clean),
            ("TREIBER_STACK", Expected::Clean),
            ("VYUKOV_QUEUE", Expected::Clean),
        ];
        let named = |name: &str| format!("libcds-{}", name.to_lowercase());
        if !table.iter().any(|(name, _)| self.wanted(&named(name))) && !self.wanted("libcds-attach") {
            return Ok(Vec::new());
        }
        let source = self.fetched()?;
        let mended = self.mended(&source)?;
        let mut wrong = Vec::new();
        for (name, expected) in table.into_iter().filter(|(name, _)| self.wanted(&named(name))) {
            let program = self.client(&source, "libcds_queue", Some(name), &named(name))?;
            wrong.extend(self.explored(&named(name), &program, &["--model", "cpp20"], expected)?);
            wrong.extend(self.explored(&named(name), &program, &["--model", "sc"], Expected::Clean)?);
            if matches!(expected, Expected::Violated(_)) {
                let name = &format!("{}-mended", named(name));
                let define = name.trim_start_matches("libcds-").trim_end_matches("-mended").to_uppercase();
                let program = self.client(&mended, "libcds_queue", Some(&define), name)?;
                wrong.extend(self.explored(name, &program, &["--model", "cpp20"], Expected::Clean)?);
            }
        }
        if self.wanted("libcds-attach") {
            let program = self.client(&source, "libcds_attach", None, "libcds-attach")?;
            wrong.extend(self.explored("libcds-attach", &program, &[], Expected::Violated("race"))?);
        }
        Ok(wrong)
    }

    /// The sources of libcds.
    fn fetched(&self) -> Result<PathBuf, Problem> {
        let folder = self.folder.join("libcds-2.3.3");
        if folder.is_dir() {
            return Ok(folder);
        }
        let archive = self.folder.join("libcds.tar.gz");
        run(Command::new("curl")
            .args(["--fail", "--silent", "--show-error", "--location", "--output"])
            .arg(&archive)
            .arg(LIBCDS))?;
        let sum = output(Command::new("sha256sum").arg(&archive))?;
        if !sum.starts_with(LIBCDS_SUM) {
            return Err(format!("{LIBCDS} is not the file that it was: {sum}"));
        }
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&self.folder))?;
        Ok(folder)
    }

    /// A copy in which the new head is published.
    fn mended(&self, source: &Path) -> Result<PathBuf, Problem> {
        let folder = self.folder.join("libcds-mended");
        if folder.is_dir() {
            return Ok(folder);
        }
        run(Command::new("cp").arg("-r").arg(source).arg(&folder))?;
        for (file, number, operation) in UNPUBLISHED {
            let path = folder.join(file);
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
            let line = lines.get_mut(number - 1).filter(|line| line.contains(operation));
            let line = line.ok_or_else(|| format!("{file}:{number} is not what it was"))?;
            *line =
                line.replace(operation, &operation.replace("memory_order_acquire", "memory_order_acq_rel"));
            std::fs::write(&path, lines.join("\n") + "\n").map_err(failed)?;
        }
        Ok(folder)
    }

    /// A client of libcds, with the sources of libcds built as well.
    fn client(
        &self,
        libcds: &Path,
        name: &str,
        define: Option<&str>,
        shown: &str,
    ) -> Result<PathBuf, Problem> {
        let mut objects = Vec::new();
        for source in LIBCDS_SOURCES {
            let object = libcds.join(format!("src/{source}.o"));
            if !object.is_file() {
                let mut command = self.cxx(libcds);
                self.built(
                    command.arg("-c").arg(libcds.join(format!("src/{source}.cpp"))).arg("-o").arg(&object),
                )?;
            }
            objects.push(object);
        }
        let program = self.folder.join(shown);
        let mut command = self.cxx(libcds);
        command.args(define.map(|define| format!("-D{define}")));
        command.arg(root().join(format!("examples/cpp/{name}.cpp"))).args(objects).arg("-o").arg(&program);
        self.built(&mut command)?;
        Ok(program)
    }

    fn cxx(&self, libcds: &Path) -> Command {
        let mut command = Command::new(self.binaries.join("unpick-cxx"));
        command.args(["-std=c++11", "-I"]).arg(libcds);
        command
    }

    /// An empty folder.
    fn empty(&self, name: &str) -> Result<PathBuf, Problem> {
        let folder = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    fn built(&self, command: &mut Command) -> Result<(), Problem> {
        output(command).map(|_| ())
    }

    /// Explores a program; gives its name if the result is not as expected.
    fn explored(
        &self,
        name: &str,
        program: &Path,
        options: &[&str],
        expected: Expected,
    ) -> Result<Option<String>, Problem> {
        let mut command = Command::new(self.binaries.join("unpick"));
        command.args(["run", "--time", &self.time]).args(options).arg("--").arg(program);
        let ended = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
        let said =
            [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        let starts = ["holds ", "violated: ", "inconclusive: "];
        let verdict = said.lines().find(|line| starts.iter().any(|start| line.starts_with(start)));
        let right = match (expected, ended.status.code()) {
            (Expected::Violated(text), Some(1)) => said.contains(text),
            (Expected::Clean, Some(0 | 3)) => true,
            _ => false,
        };
        let shown = verdict.unwrap_or("no verdict").split("; ").next().unwrap_or_default();
        println!("{} {name} {}: {shown}", if right { "as expected:" } else { "WRONG:" }, options.join(" "));
        if !right {
            println!("{said}");
        }
        Ok((!right).then(|| name.to_string()))
    }
}
