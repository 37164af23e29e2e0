//! `packages`: what programs can import besides the standard library.

use std::fmt::Write;

use clap::Args;
use serde::Serialize;

use super::with::{self, With};
use super::{Context, exit, interrupt};
use crate::Result;
use crate::sandbox::{Package, Packages, Python};

/// List the packages that programs can import: those inside, and those that --with adds
///
/// Each line has a name, a version, and whether it is inside in any session or added by the flags.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    with: With,
}

impl List {
    pub fn execute(self, context: &Context) -> Result<u8> {
        let request = self.with.request()?;
        let config = context.config()?;
        let cancel = interrupt::cancel()?;
        let progress = context.display.progress();
        let mut list = Packages::inside(&config, &progress, &cancel)?;
        if !request.is_empty() {
            let python = Python::open(&config, &progress, &cancel)?;
            let added = with::open(context, &request, &python, &config, &cancel)?;
            list.extend(added.iter().flat_map(Packages::list).cloned());
            list.sort_by_key(|package| package.name.to_lowercase());
        }
        context.display.clear();
        match context.console.json {
            true => context.console.document(&list.iter().map(Row::of).collect::<Vec<_>>()),
            false => context.console.print(&table(&list)),
        }
        Ok(exit::OK)
    }
}

fn place(package: &Package) -> &'static str {
    if package.added { "added" } else { "inside" }
}

fn table(list: &[Package]) -> String {
    let wide = |of: fn(&Package) -> &str| list.iter().map(|package| of(package).len()).max().unwrap_or_default();
    let (names, versions) = (wide(|package| &package.name), wide(|package| &package.version));
    let mut text = String::new();
    for package in list {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:names$}  {:versions$}  {}", package.name, package.version, place(package));
    }
    text
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    version: &'a str,
    place: &'static str,
}

impl<'a> Row<'a> {
    fn of(package: &'a Package) -> Self {
        Self { name: &package.name, version: &package.version, place: place(package) }
    }
}
