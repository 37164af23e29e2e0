//! Flags and files that cannot be: exit code 2, told in three lines or fewer, and nothing touched.

use crate::tool::{bare_tool, finish, tool};

#[test]
fn what_cannot_be_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    for arguments in [
        &["exec"][..],
        &["exec", "--", "x"],
        &["exec", "-c", "1", "file.py"],
        &["exec", "-c", "1", "--timeout", "0"],
        &["exec", "-c", "1", "--memory", "x"],
        &["exec", "-c", "1", "--no-such-flag"],
        &["exec", "/nowhere/at/all.py"],
        &["exec", "-", "-"],
        &["exec", "-c", "1", "--scratch", "0.5"],
        &["exec", "-c", "1", "--entries", "1000001"],
        &["exec", "-c", "1", "--depth", "-1"],
        &["exec", "-c", "1", "--open-files", "0"],
        &["exec", "-c", "1", "--max-display", "257"],
        &["run", "x", "--max-displays", "257"],
        &["run", "x", "--deterministic=x"],
        &["exec", "-c", "1", "--on-error", "forget"],
        &["exec", "-c", "1", "--load", "/nowhere/at/all.slm"],
        &["exec", "-c", "1", "--load", "/"],
        &["exec", "-c", "1", "--load", "Cargo.toml", "--deterministic"],
        &["exec", "-c", "1", "--load", "Cargo.toml", "--", "x"],
        &["exec", "-c", "1", "--save", "/nowhere/at/all.slm"],
        &["exec", "-c", "1", "--save", "/"],
        &["exec", "-c", "1", "--file", "/nowhere/at/all.csv"],
        &["run"],
        &["run", " "],
        &["run", "x", "--max-retries", "0"],
        &["run", "x", "--user-input", "@/nowhere/at/all"],
        &["run", "x", "--save-code", "/nowhere/at/all.py"],
        &["serve", "--host", "0.0.0.0"],
        &["setup", "--check", "--prune"],
        &["no-such-verb"],
    ] {
        let done = finish(bare_tool(&cache, arguments)).exits(2);
        assert_eq!(done.stdout, "", "{arguments:?}");
        assert!(done.stderr.starts_with("error: "), "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.lines().count() <= 3, "{arguments:?}: {}", done.stderr);
        assert!(!cache.exists(), "{arguments:?} touched the disk");
    }
}

#[test]
fn a_failure_before_the_document_is_a_document() {
    for arguments in [
        &["exec", "--json"][..],
        &["--json", "exec", "/nowhere/at/all.py"],
        &["exec", "-c", "1", "--timeout", "0", "--json"],
        &["run", "", "--json"],
    ] {
        let done = finish(tool(arguments)).exits(2);
        let document = done.json();
        assert!(!document["error"].as_str().unwrap().is_empty(), "{arguments:?}");
        assert_eq!(document.as_object().unwrap().len(), 1);
        assert_eq!(done.stderr, "", "{arguments:?}");
    }
}

#[test]
fn help_and_completions_touch_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    for arguments in [&["--help"][..], &["run", "--help"], &["exec", "--help"], &["--version"]] {
        let done = finish(bare_tool(&cache, arguments)).exits(0);
        assert!(done.stdout.contains("slm-code-interpreter"), "{arguments:?}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(finish(bare_tool(&cache, &["completions", shell])).exits(0).stdout.contains("keep-going"), "{shell}");
    }
    assert!(!cache.exists());
}
