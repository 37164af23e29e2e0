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
fn one_file_knows_the_grammars() {
    only_in(&["llguidance::"], &["model/local/guide.rs"]);
}

#[test]
fn one_room_knows_wasmtime() {
    only_in(&["wasmtime::", "wasmtime_wizer::"], &["sandbox/"]);
}

#[test]
fn the_file_system_knows_no_wasm_and_one_file_of_it_the_host() {
    for (name, text) in sources().iter().filter(|(name, _)| name.starts_with("sandbox/files/")) {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            assert!(!line.contains("wasmtime"), "{name}: {line}");
            let is_host = line.contains("std::fs") || line.contains("cap_std") || line.contains("std::io");
            assert!(!is_host || name.starts_with("sandbox/files/mounts"), "{name}: {line}");
        }
    }
}

#[test]
fn one_file_configures_the_engine() {
    only_in(&["wasmtime::Config", "Config::new()"], &["sandbox/engine.rs"]);
    only_in(&["increment_epoch"], &["sandbox/watcher.rs"]);
}

#[test]
fn one_room_knows_onnx_runtime() {
    only_in(&["ort::"], &["model/onnx/"]);
}

#[test]
fn one_room_knows_the_http_client() {
    only_in(&["ureq::"], &["model/http/", "model/hub/", "model/openai/"]);
    // How an agent is set up, and by which way it goes, in one of the three alone.
    only_in(&["config_builder()", "Proxy::new", "try_from_env", "TlsConfig"], &["model/http/"]);
}

#[test]
fn unsafe_code_stays_where_it_is_explained() {
    let rooms = [
        "sandbox/image.rs",
        "sandbox/memory/linux.rs",
        "sandbox/metering/counter.rs",
        "model/kernel/output.rs",
        "model/kernel/x86/",
        "model/onnx/stored.rs",
    ];
    only_in(&["unsafe "], &rooms);
}

#[test]
fn programs_are_started_by_provisioning_alone() {
    only_in(&["Command::new"], &["provision/"]);
}

#[test]
fn printing_is_the_front_ends_business() {
    only_in(&["println!(", "print!(", "eprintln!(", "eprint!("], &["frontend/"]);
}

/// The names that `text` takes from the root of the crate, in `use` groups and in paths.
fn taken_from_the_root(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let (group, single) = match rest.strip_prefix('{') {
            Some(group) => (group.split('}').next().unwrap_or_default(), false),
            None => (rest, true),
        };
        for part in group.split(',').take(if single { 1 } else { usize::MAX }) {
            let part = part.trim();
            let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
            names.push(&part[..end]);
        }
    }
    names
}

/// The public names that the library's root takes from the module `room`.
fn shown_from(room: &str, root: &str) -> Vec<String> {
    let shown = root.split(';').filter_map(|item| item.trim().strip_prefix(&format!("pub use {room}::")));
    let names = shown.flat_map(|item| item.trim_matches(['{', '}']).split(','));
    names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_root_is_read_right() {
    let text = "use crate::error::OrInternal;\nuse crate::{Cancel,\n    Session as S};\nfn f(_: crate::Answer) {}";
    assert_eq!(taken_from_the_root(text), ["error", "Cancel", "Session", "Answer"]);
    assert_eq!(shown_from("a", "pub use a::{B, C};\npub use ab::D;\npub use a::E;"), ["B", "C", "E"]);
}

#[test]
fn the_model_and_the_sandbox_never_meet() {
    only_in(&["sandbox::"], &["sandbox/", "agent/", "frontend/", "interpreter", "answer.rs", "lib.rs"]);
    only_in(&["model::"], &["model/", "agent/", "frontend/", "interpreter", "request.rs", "lib.rs"]);
    // The same names by way of the root.
    let sources = sources();
    let root = &sources.iter().find(|(name, _)| name == "lib.rs").expect("lib.rs").1;
    for (room, others) in [("model/", ["sandbox"]), ("sandbox/", ["model"])] {
        let strange: Vec<_> = [&others[..], &["agent", "answer", "request", "interpreter", "frontend"]].concat();
        let mut forbidden: Vec<_> = strange.iter().flat_map(|other| shown_from(other, root)).collect();
        assert!(forbidden.iter().any(|name| name == "CodeInterpreter"), "lib.rs is not read right: {forbidden:?}");
        forbidden.extend(strange.iter().map(|name| (*name).to_owned()));
        for (name, text) in sources.iter().filter(|(name, _)| name.starts_with(room)) {
            for taken in taken_from_the_root(text) {
                assert!(!forbidden.iter().any(|other| other == taken), "{name} takes {taken} from the root");
            }
        }
    }
}

#[test]
fn no_room_looks_up_to_the_front_ends() {
    only_in(&["frontend::"], &["frontend/", "main.rs", "lib.rs"]);
}

#[test]
fn core_types_have_no_wire_form() {
    // The edges that read or write JSON or TOML for others, and the formats of our own files.
    let edges = ["frontend/", "config.rs", "provision/", "model/", "sandbox/wire.rs", "sandbox/saved"];
    only_in(&["derive(Serialize", "Serialize)", "Deserialize)", ", Deserialize"], &edges);
}
