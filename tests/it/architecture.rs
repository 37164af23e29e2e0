//! The arrows between the rooms, kept true: who may use what, read off the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Every source file under `src`, its path relative to it and its text without test modules.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("src can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                files.push(path);
            }
        }
    }
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&src, &mut files);
    assert!(files.len() > 20, "the sources are not where they were");
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file");
            let text = text.split("\nmod tests").next().unwrap_or_default().to_owned();
            let name = path.strip_prefix(&src).expect("under src").to_string_lossy().replace('\\', "/");
            (name, text)
        })
        .collect()
}

/// Fails for each line of code that holds one of `words` in a file that is not below one of `rooms`.
fn only_in(words: &[&str], rooms: &[&str]) {
    let mut strays = Vec::new();
    for (name, text) in sources() {
        if rooms.iter().any(|room| name.starts_with(room)) {
            continue;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            if words.iter().any(|word| line.contains(word)) {
                strays.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(strays.is_empty(), "{words:?} belong to {rooms:?} alone:\n{}", strays.join("\n"));
}

#[test]
fn one_room_knows_wasmtime() {
    only_in(&["wasmtime::", "wasmtime_wasi::", "wasmtime_wizer::"], &["sandbox/"]);
}

#[test]
fn one_file_configures_the_engine() {
    only_in(&["Config::new()", "increment_epoch"], &["sandbox/engine.rs"]);
}

#[test]
fn one_room_knows_onnx_runtime() {
    only_in(&["ort::"], &["model/onnx/"]);
}

#[test]
fn unsafe_code_stays_where_it_is_explained() {
    only_in(&["unsafe "], &["sandbox/image.rs"]);
}

#[test]
fn programs_are_started_by_provisioning_alone() {
    only_in(&["Command::new"], &["provision/"]);
}

#[test]
fn printing_is_the_front_ends_business() {
    only_in(&["println!(", "print!(", "eprintln!(", "eprint!("], &["frontend/"]);
}

#[test]
fn the_model_and_the_sandbox_never_meet() {
    only_in(&["sandbox::"], &["sandbox/", "agent/", "frontend/", "interpreter.rs", "answer.rs", "lib.rs"]);
    only_in(&["model::"], &["model/", "agent/", "frontend/", "interpreter.rs", "request.rs", "lib.rs"]);
}

#[test]
fn no_room_looks_up_to_the_front_ends() {
    only_in(&["frontend::"], &["frontend/", "main.rs", "lib.rs"]);
}

#[test]
fn core_types_have_no_wire_form() {
    // The edges that read or write JSON or TOML for others, and the formats of our own files.
    let edges = ["frontend/", "config.rs", "provision/", "model/", "sandbox/wire.rs"];
    only_in(&["derive(Serialize", "Serialize)", "Deserialize)", ", Deserialize"], &edges);
}
