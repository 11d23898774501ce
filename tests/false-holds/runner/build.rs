//! Makes a list of the programs in the folder above.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo runs this"));
    let folder = here.parent().expect("the programs are above").to_path_buf();
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    let (mut modules, mut arms) = (String::new(), String::new());
    for file in files {
        let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        modules += &format!("#[path = {file:?}]\nmod {name};\n");
        arms += &format!("        {name:?} => check.run({name}::program()),\n");
    }
    let text = format!(
        "{modules}
/// Explores the program with a name.
fn explore(name: &str, check: &unpick::Check) -> Result<unpick::Verdict, unpick::Error> {{
    match name {{
{arms}        _ => panic!(\"there is no program `{{name}}`\"),
    }}
}}
"
    );
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo runs this"));
    fs::write(out.join("programs.rs"), text).expect("the output folder can be written to");
}
