//! `setup`, and machines on which something is missing.

use crate::tool::{bare_tool, finish, run};

#[test]
fn an_empty_cache_is_not_complete() {
    let cache = tempfile::tempdir().unwrap();
    let done = finish(bare_tool(cache.path(), &["setup", "--check"])).exits(69);
    assert!(done.stdout.contains("missing") && done.stdout.contains("MB"), "{}", done.stdout);
    let document = finish(bare_tool(cache.path(), &["setup", "--check", "--json"])).exits(69).json();
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
