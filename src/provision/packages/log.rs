//! What pip's log tells: why it would not bring what was asked for, in words for a person, and which versions it saw.

use std::collections::BTreeMap;

use super::super::pip::shortened;
use super::{is_version, normal};
use crate::Error;

const INDEX_ADVICE: &str = "check the spelling, and the package index that pip is set up with (pip config list)";

/// What the log says, as an error with what to do; `why` is pip's last word.
pub(super) fn told(log: &str, why: &str) -> Error {
    let lines: Vec<_> = log.lines().map(message).collect();
    let told = conflict(&lines).or_else(|| built(&lines)).or_else(|| without_match(&lines, why));
    told.unwrap_or_else(|| {
        Error::unavailable(why)
            .advise("look at the network and at pip's settings (pip config list); what was fetched once needs neither")
    })
}

/// The versions of `names` that the index has, usable or not.
pub(super) fn offered(log: &str, names: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut offered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in log.lines().map(message) {
        let found = line.strip_prefix("Found link ").and_then(|line| wheel_in(line));
        let seen =
            found.or_else(|| skipped(line).filter(|skipped| skipped.why == Why::Compiled).map(|s| (s.name, s.version)));
        if let Some((name, version)) = seen
            && names.contains(&name.as_str())
        {
            let versions = offered.entry(name).or_default();
            if versions.last().is_none_or(|last| last != version) {
                versions.push(version.to_owned());
            }
        }
    }
    offered
}

/// Name and version of the wheel that a line names.
fn wheel_in(line: &str) -> Option<(String, &str)> {
    let mut parts = line.split(['/', '#', ' ', '?']).find(|part| part.ends_with(".whl"))?.split('-');
    Some((normal(parts.next()?), parts.next()?))
}

/// A line without the time before it.
fn message(line: &str) -> &str {
    match line.split_once(' ') {
        Some((time, rest)) if time.len() == 23 && time.starts_with("20") && time.contains('T') => rest.trim(),
        _ => line.trim(),
    }
}

/// Requirements that exclude each other.
fn conflict(lines: &[&str]) -> Option<Error> {
    let at = lines.iter().rposition(|line| *line == "The conflict is caused by:")?;
    let causes =
        lines[at + 1..].iter().take_while(|line| line.contains(" depends on ") || line.starts_with("The user "));
    let mut said = Vec::new();
    for cause in causes {
        let cause =
            match (cause.strip_prefix("The user requested (constraint) "), cause.strip_prefix("The user requested ")) {
                (Some(pin), _) => format!("{} is inside and stays", pin.replacen("==", " ", 1)),
                (None, Some(asked)) => format!("{asked} was asked for"),
                (None, None) => (*cause).to_owned(),
            };
        if !said.contains(&cause) {
            said.push(cause);
        }
    }
    if said.is_empty() {
        return None;
    }
    let advice = "name versions that go together, or leave versions open; what is inside cannot be replaced";
    Some(Error::unavailable(shortened(&said.join(", but "))).context("the packages exclude each other").advise(advice))
}

/// Something whose code would have run here.
fn built(lines: &[&str]) -> Option<Error> {
    lines.iter().any(|line| line.contains("refused: it would start a program")).then(|| {
        Error::unavailable("a package asks for one that would have to be built, which runs its code on this machine")
            .advise("build a wheel of it where you trust it, and add its folder to PIP_FIND_LINKS")
    })
}

/// No file that would do.
fn without_match(lines: &[&str], why: &str) -> Option<Error> {
    if why.contains("cannot be reached") {
        return None;
    }
    let found = |start: &str| lines.iter().rev().find_map(|line| line.split_once(start)).map(|(_, rest)| rest);
    let wanted = found("No matching distribution found for ")?.split_whitespace().next()?;
    let end = wanted.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(wanted.len());
    let name = normal(&wanted[..end]);
    let pinned = wanted.split_once("==").map(|(_, version)| version).filter(|version| is_version(version));
    let skipped: Vec<_> =
        lines.iter().filter_map(|line| skipped(line)).filter(|skipped| skipped.name == name).collect();
    let versions = found("(from versions: ").map(|rest| rest.trim_end_matches(')')).filter(|rest| *rest != "none");
    // Where other versions would do, only a version that was named tells that it is this one.
    let counts = versions.is_none() || pinned.is_some();
    let fits = |skipped: &Skipped<'_>| counts && pinned.is_none_or(|version| version == skipped.version);
    let last = |why: Why| skipped.iter().rev().find(|skipped| skipped.why == why && fits(skipped));
    if let Some(Skipped { file, .. }) = last(Why::Compiled) {
        let text = format!("{name} holds compiled code ({file}), and only pure Python runs inside");
        return Some(Error::unavailable(text).advise(format!(
            "name an older version of {name} that is pure Python, or do without it; `packages` lists what is inside"
        )));
    }
    if let Some(Skipped { file, .. }) = last(Why::Source) {
        let text =
            format!("{name} is to be had as source only ({file}), and building it would run its code on this machine");
        return Some(Error::unavailable(text).advise(format!(
            "build a wheel of it where you trust it (pip wheel --no-deps {wanted}), and add its folder to PIP_FIND_LINKS"
        )));
    }
    if let Some(versions) = versions {
        let newest: Vec<_> = versions.rsplit(", ").take(3).collect();
        let newest = newest.into_iter().rev().collect::<Vec<_>>().join(", ");
        let text = format!("no pure-Python version of {name} fits {wanted}; the newest are {newest}");
        return Some(Error::unavailable(text).advise("name one of these, or no version"));
    }
    Some(if skipped.iter().any(|skipped| skipped.why == Why::Python) {
        Error::unavailable(format!("no version of {name} is for Python 3.15")).advise("look for another package")
    } else {
        Error::unavailable(format!("the package index knows no wheel of {name}")).advise(INDEX_ADVICE)
    })
}

#[derive(Debug, PartialEq)]
enum Why {
    Compiled,
    Source,
    Python,
}

/// A file that pip passed over.
struct Skipped<'a> {
    name: String,
    version: &'a str,
    file: &'a str,
    why: Why,
}

fn skipped(line: &str) -> Option<Skipped<'_>> {
    let why = match line {
        _ if line.contains("none of the wheel's tags (") => {
            let tags = line.split_once("tags (")?.1.split_once(')')?.0;
            // For Python 2 alone is as good as not there.
            if tags.split(", ").all(|tag| tag.ends_with("-none-any")) {
                return None;
            }
            Why::Compiled
        }
        _ if line.contains("No sources permitted for ") => Why::Source,
        _ if line.contains("requires a different Python") => Why::Python,
        _ => return None,
    };
    let file = line
        .split(['/', '#', ' ', '?'])
        .rfind(|part| part.ends_with(".whl") || part.ends_with(".tar.gz") || part.ends_with(".zip"))?;
    let (name, version) = if file.ends_with(".whl") {
        let mut parts = file.split('-');
        (parts.next()?, parts.next()?)
    } else {
        file.trim_end_matches(".tar.gz").trim_end_matches(".zip").rsplit_once('-')?
    };
    Some(Skipped { name: normal(name), version, file, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, why: &str, message: &str, advice: &str) {
        let error = told(log, why);
        assert!(error.is_unavailable());
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.advice().unwrap().contains(advice), "{error:?}");
        assert!(error.to_string().lines().count() + error.advice().unwrap().lines().count() <= 3, "{error:?}");
    }

    fn none(name: &str, versions: &str) -> String {
        format!(
            "2026-11-30T02:42:37,559 ERROR: Could not find a version that satisfies the requirement {name} (from x) (from versions: {versions})\n\
             2026-11-30T02:42:37,559 ERROR: No matching distribution found for {name}\n"
        )
    }

    const COMPILED: &str = "2026-11-30T02:42:38,089   Skipping link: none of the wheel's tags (cp313-cp313-manylinux_2_28_x86_64) are compatible (run pip debug --verbose to show compatible tags): https://h/a/comp-1.0-cp313-cp313-manylinux_2_28_x86_64.whl#sha256=00 (from https://h/simple/comp/) (requires-python:>=3.9)\n";
    const SOURCE: &str =
        "2026-11-30T02:42:38,861 Skipping link: No sources permitted for only-src: file:///l/only_src-1.0.tar.gz\n";

    #[test]
    fn each_reason_is_told_with_its_remedy() {
        check(
            &(COMPILED.to_owned() + &none("comp", "none")),
            "x",
            "comp holds compiled code (comp-1.0-cp313",
            "older version of comp",
        );
        check(&(COMPILED.to_owned() + &none("comp==1.0", "0.1, 0.2")), "x", "comp holds compiled code", "older");
        check(
            &(COMPILED.to_owned() + &none("comp>=1", "0.1, 0.2")),
            "x",
            "no pure-Python version of comp fits comp>=1; the newest are 0.1, 0.2",
            "name one",
        );
        check(
            &(SOURCE.to_owned() + &none("Only.Src>=1", "none")),
            "x",
            "only-src is to be had as source only",
            "pip wheel --no-deps",
        );
        // Files of other packages in the same folder say nothing about this one.
        check(&(SOURCE.to_owned() + COMPILED + &none("nosuch", "none")), "x", "knows no wheel of nosuch", "spelling");
        let python2 = COMPILED.replace("cp313-cp313-manylinux_2_28_x86_64", "py2-none-any");
        check(&(python2 + &none("comp", "none")), "x", "knows no wheel of comp", "spelling");
        let newer =
            "Link requires a different Python (3.15.0 not in: '<3.15'): https://h/new-1.0-py3-none-any.whl (from x)\n";
        check(
            &(newer.to_owned() + &none("new", "none")),
            "x",
            "no version of new is for Python 3.15",
            "another package",
        );
        check(
            "PermissionError: refused: it would start a program, as for building a package",
            "x",
            "built",
            "PIP_FIND_LINKS",
        );
        check(
            &none("a", "none"),
            "python3: the package index cannot be reached: 'timed out'",
            "cannot be reached",
            "network",
        );
    }

    #[test]
    fn the_versions_of_the_index_are_seen() {
        let log = "2026-11-30T02:42:38,089   Found link https://h/a/Comp-2.0-py3-none-any.whl#sha256=0 (from x), version: 2.0\n\
                   2026-11-30T02:42:38,089   Found link https://h/a/other-9.0-py3-none-any.whl, version: 9.0\n";
        let offered = offered(&(log.to_owned() + COMPILED), &["comp"]);
        assert_eq!(offered, [("comp".to_owned(), vec!["2.0".to_owned(), "1.0".to_owned()])].into());
    }

    #[test]
    fn a_conflict_names_both_sides_once() {
        let log = "2026-11-30T02:42:36,366 The conflict is caused by:\n\
                   2026-11-30T02:42:36,366     wants 1.0 depends on numpy>3\n\
                   2026-11-30T02:42:36,366     wants 1.0 depends on numpy>3\n\
                   2026-11-30T02:42:36,366     The user requested (constraint) numpy==2.5.2\n\
                   2026-11-30T02:42:36,366 To fix this you could try to:\n";
        let error = told(log, "x");
        let expected =
            "the packages exclude each other: wants 1.0 depends on numpy>3, but numpy 2.5.2 is inside and stays";
        assert_eq!(error.to_string(), expected);
        let asked = log.replace("wants 1.0 depends on numpy>3", "The user requested six<1");
        assert!(told(&asked, "x").to_string().contains("six<1 was asked for, but numpy"), "{error}");
    }
}
