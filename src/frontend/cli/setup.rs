//! `setup`: fetch, verify and build everything now, or say what is there, or tidy the cache.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::suggestion::Consent;
use super::with::{self, With};
use super::{Context, NAME, exit, interrupt};
use crate::frontend::progress::size;
use crate::provision::{Cache, Item};
use crate::sandbox::Python;
use crate::{Cancel, Config, Error, PackageRequest, Result, model};

/// Fetch, verify and build everything now, so that later runs start at once
///
/// The model is the one that --model names, else the best that is here, else the one that suits this machine; with --with
/// these packages too.
///
/// Exit codes: 0 all is there, 2 usage, 69 something is missing and not to be had, 130 cancelled.
#[derive(Debug, Args)]
pub struct Setup {
    /// Say what is there and what is not, and change nothing
    #[arg(long)]
    check: bool,

    /// Remove from the cache what no current version uses
    #[arg(long, conflicts_with = "check")]
    prune: bool,

    #[command(flatten)]
    consent: Consent,

    #[command(flatten)]
    with: With,
}

impl Setup {
    pub fn execute(self, context: &Context) -> Result<u8> {
        let packages = self.with.request()?;
        if (self.check || self.prune) && !packages.is_empty() {
            return Err(Error::usage("--check and --prune look at no packages")
                .advise("leave them or the packages out; packages are fetched and built by `setup --with …`"));
        }
        let mut config = context.config()?;
        if self.prune {
            return prune(&context.console, &config);
        }
        if !self.check {
            let cancel = interrupt::cancel()?;
            self.consent.settle(true, &context.console, &mut config, &cancel)?;
            build(context, &config, &packages, &cancel)?;
        }
        let items = [Python::inventory(&config)?, model::inventory(&config)?].concat();
        let complete = is_complete(&items);
        if context.console.json {
            context.console.document(&Inventory::of(&items, complete));
        } else {
            context.console.print(&listing(&items));
            if !complete {
                let model = config.model.as_deref().map(|model| format!(" --model {model}")).unwrap_or_default();
                context.console.say(&format!("not complete; `{NAME} setup{model}` fetches and builds what is missing"));
            }
        }
        Ok(if complete { exit::OK } else { exit::UNAVAILABLE })
    }
}

fn is_complete(items: &[Item]) -> bool {
    items.iter().all(|item| item.present || item.optional)
}

/// Opening is what fetches and builds.
fn build(context: &Context, config: &Config, packages: &PackageRequest, cancel: &Cancel) -> Result<()> {
    let progress = context.display.progress();
    let python = Python::open(config, &progress, cancel)?;
    with::open(context, packages, &python, config, cancel)?;
    model::open(config, &progress, cancel)?;
    context.display.clear();
    Ok(())
}

/// One line a part: whether it is there, how large, where it lies or what it is needed for.
fn listing(items: &[Item]) -> String {
    let mut text = String::new();
    for Item { what, why, present, bytes, path, optional } in items {
        let state = match (present, optional) {
            (true, _) => "present ",
            (false, false) => "missing ",
            (false, true) => "optional",
        };
        let bytes = bytes.map(size).unwrap_or_else(|| "-".into());
        let rest = match path {
            Some(path) if *present => path.display().to_string(),
            _ if *optional => why.clone(),
            _ => format!("needed: {why}"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{state} {bytes:>9}  {what}  {rest}");
    }
    text
}

fn prune(console: &Console, config: &Config) -> Result<u8> {
    let keep = |kind: &str, key: &str| Python::keeps(kind, key) || model::keeps(kind, key);
    let removed = Cache::open(&config.cache_dir)?.prune(keep)?;
    let bytes = removed.iter().map(|(_, bytes)| bytes).sum();
    if console.json {
        let removed = removed.iter().map(|(path, bytes)| Removed { path: path.display().to_string(), bytes: *bytes });
        console.document(&Pruned { removed: removed.collect(), bytes });
    } else {
        for (path, bytes) in &removed {
            console.print(&format!("removed  {:>9}  {}\n", size(*bytes), path.display()));
        }
        console.say(&format!("{} freed", size(bytes)));
    }
    Ok(exit::OK)
}

#[derive(Serialize)]
struct Inventory {
    complete: bool,
    items: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    what: String,
    why: String,
    present: bool,
    bytes: Option<u64>,
    path: Option<String>,
    optional: bool,
}

impl Inventory {
    fn of(items: &[Item], complete: bool) -> Self {
        let part = |item: &Item| Part {
            what: item.what.clone(),
            why: item.why.clone(),
            present: item.present,
            bytes: item.bytes,
            path: item.path.as_ref().map(|path: &PathBuf| path.display().to_string()),
            optional: item.optional,
        };
        Self { complete, items: items.iter().map(part).collect() }
    }
}

#[derive(Serialize)]
struct Pruned {
    removed: Vec<Removed>,
    bytes: u64,
}

#[derive(Serialize)]
struct Removed {
    path: String,
    bytes: u64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items() -> Vec<Item> {
        let item = |what: &str, present, path: Option<&str>| Item {
            what: what.into(),
            why: "to run Python".into(),
            present,
            bytes: present.then_some(98_000_000),
            path: path.map(Into::into),
            optional: false,
        };
        vec![item("Python runtime", true, Some("/cache/x")), item("image", false, None)]
    }

    #[test]
    fn the_listing_says_what_is_there_and_why_the_rest_is_needed() {
        let expected =
            "present    98.0 MB  Python runtime  /cache/x\nmissing          -  image  needed: to run Python\n";
        assert_eq!(listing(&items()), expected);
        let mut better = items().remove(1);
        better.optional = true;
        assert_eq!(listing(&[better]), "optional         -  image  to run Python\n");
    }

    #[test]
    fn the_document_says_whether_it_is_complete() {
        let document = serde_json::to_value(Inventory::of(&items(), is_complete(&items()))).unwrap();
        assert_eq!(document["complete"], false);
        let second = json!({
            "what": "image", "why": "to run Python", "present": false, "bytes": null, "path": null, "optional": false,
        });
        assert_eq!(document["items"][1], second);
        let mut items = items();
        items[1].optional = true;
        assert!(is_complete(&items) && is_complete(&items[..1]));
    }
}
