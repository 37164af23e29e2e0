//! The list of programs that differ, and why.

use std::collections::BTreeMap;

/// Program → reason.
pub fn read() -> BTreeMap<String, String> {
    let path = super::program::folder().join("known.toml");
    let text = std::fs::read_to_string(path).expect("known.toml");
    toml::from_str(&text).expect("names with reasons")
}
