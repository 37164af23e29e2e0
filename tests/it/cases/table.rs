//! What became of each program: one row each, which travels from the child to the test as a line of JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::inventory;
use super::runner::WALL;

/// Marks a row in what a child prints beside it.
const MARK: &str = "\u{1e}row ";

#[derive(Default)]
pub struct Row {
    pub name: String,
    /// What each cell came to, with its seconds as the host measured them.
    pub cells: Vec<(String, f64)>,
    /// Bytes of resident memory before and after, and the most between.
    pub resident: [Option<u64>; 3],
    pub descriptors: [Option<usize>; 2],
    /// What should not be.
    pub findings: Vec<String>,
}

impl Row {
    /// On a line of its own: the test harness leaves one open.
    #[expect(clippy::print_stdout, reason = "it goes to the test that started this process")]
    pub fn print(&self) {
        let row = json!({
            "name": self.name, "cells": self.cells, "resident": self.resident,
            "descriptors": self.descriptors, "findings": self.findings,
        });
        println!("\n{MARK}{row}");
    }

    /// The rows in what a child printed.
    pub fn all_in(printed: &str) -> Vec<Self> {
        let rows = printed.lines().filter_map(|line| line.strip_prefix(MARK));
        rows.map(|row| Self::from_json(&serde_json::from_str(row).expect("a row"))).collect()
    }

    fn from_json(row: &Value) -> Self {
        let list = |name: &str| row[name].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let [before, after, peak] = std::array::from_fn(|n| row["resident"][n].as_u64());
        Self {
            name: text(&row["name"]),
            cells: list("cells").iter().map(|cell| (text(&cell[0]), cell[1].as_f64().unwrap_or_default())).collect(),
            resident: [before, after, peak],
            descriptors: std::array::from_fn(|n| row["descriptors"][n].as_u64().map(|count| count as usize)),
            findings: list("findings").iter().map(text).collect(),
        }
    }

    pub fn complaints(&self) -> Vec<String> {
        self.findings.iter().map(|finding| format!("{}: {finding}", self.name)).collect()
    }
}

/// The table of programs, then that of the ids whose proof is elsewhere.
pub fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| case | status | wall, s | stopped after its limit, ms | RSS before → after (peak), MiB | descriptors |\n\
         |---|---|---|---|---|---|\n",
    );
    for row in rows {
        let statuses: Vec<&str> = row.cells.iter().map(|(status, _)| status.as_str()).collect();
        let walls: Vec<String> = row.cells.iter().map(|(_, wall)| format!("{wall:.2}")).collect();
        let stops =
            row.cells.iter().filter(|(status, _)| status == "timeout").map(|(_, wall)| wall - WALL.as_secs_f64());
        let late = stops.reduce(f64::max).map_or("–".to_owned(), |late| format!("{:.1}", late * 1e3));
        let mib = |bytes: Option<u64>| bytes.map_or("–".to_owned(), |bytes| (bytes >> 20).to_string());
        let count = |count: Option<usize>| count.map_or("–".to_owned(), |count| count.to_string());
        let [before, after, peak] = row.resident.map(mib);
        let [opened, open] = row.descriptors.map(count);
        let mark = if row.findings.is_empty() { "" } else { " **!**" };
        let _ = writeln!(
            text,
            "| {}{mark} | {} | {} | {late} | {before} → {after} ({peak}) | {opened} → {open} |",
            row.name,
            runs(&statuses).join(", "),
            if walls.len() > 8 {
                format!("at most {:.2}", row.cells.iter().map(|cell| cell.1).fold(0.0, f64::max))
            } else {
                walls.join(", ")
            },
        );
    }
    text + "\n" + &inventory::render()
}

/// The same word many times over as one.
fn runs(words: &[&str]) -> Vec<String> {
    let groups = words.chunk_by(|a, b| a == b);
    groups
        .map(|group| if group.len() < 3 { group.join(", ") } else { format!("{} × {}", group.len(), group[0]) })
        .collect()
}
