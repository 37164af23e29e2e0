//! `setup`, and machines on which something is missing.

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
