//! What a request became: names, versions and digests, as a requirements file with hashes, which pip reads too.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::request::{Requirement, lines};
use crate::{Error, Result};

/// Wheels by name, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lock {
    pub(crate) pins: BTreeMap<String, Pin>,
}

/// One wheel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pin {
    pub(crate) version: String,
    /// SHA-256 digests in hexadecimal digits, at least one: those of the files that will do.
    pub(crate) hashes: Vec<String>,
}

impl Lock {
    /// # Errors
    /// Usage, naming the line.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut pins = BTreeMap::new();
        for (number, line) in lines(text) {
            let context = |error: Error| error.context(format_args!("line {number}"));
            let requirement = Requirement::parse(&line).map_err(context)?;
            let version = requirement.pinned().filter(|_| !requirement.hashes.is_empty()).map(str::to_owned);
            let version = version.ok_or_else(|| {
                context(Error::usage("a lock names one version and its hashes, as a==1.0 --hash=sha256:…"))
            })?;
            let name = requirement.name;
            if pins.insert(name.clone(), Pin { version, hashes: requirement.hashes }).is_some() {
                return Err(context(Error::usage(format!("{name} is locked twice"))));
            }
        }
        Ok(Self { pins })
    }

    /// As a file, for people and for pip.
    pub(crate) fn text(&self, requested: &[&str]) -> String {
        let mut text =
            String::from("# Pure-Python packages for slm-code-interpreter, locked. --lock FILE obeys this file;\n");
        text.push_str("# remove it to choose anew.\n");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Asked for: {}", requested.join(", "));
        for line in self.lines() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// A requirement of one wheel by its hashes.
    pub(super) fn line(name: &str, pin: &Pin) -> String {
        let hashes = pin.hashes.iter().map(|hash| format!(" --hash=sha256:{hash}"));
        hashes.fold(format!("{name}=={}", pin.version), |line, hash| line + &hash)
    }

    fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.pins.iter().map(|(name, pin)| Self::line(name, pin))
    }

    /// Names its content.
    pub(super) fn digest(&self) -> String {
        format!("{:x}", Sha256::digest(self.lines().collect::<Vec<_>>().join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_read_as_it_was_written() {
        let pin = |version: &str, digits: &[&str]| Pin {
            version: version.into(),
            hashes: digits.iter().map(|digit| digit.repeat(64)).collect(),
        };
        let pins = [("b".to_owned(), pin("2.0+x", &["a"])), ("a-b".to_owned(), pin("1!1.0", &["b", "0"]))];
        let lock = Lock { pins: pins.into() };
        let text = lock.text(&["a.b", "b>1"]);
        assert!(text.contains("# Asked for: a.b, b>1\n"), "{text}");
        assert_eq!(Lock::parse(&text).unwrap(), lock);
        let other = Lock { pins: [("b".to_owned(), pin("2.0+x", &["c"]))].into() };
        assert_ne!(lock.digest(), other.digest());
    }

    #[test]
    fn what_is_not_locked_is_refused_with_its_line() {
        let hash = format!("--hash=sha256:{}", "a".repeat(64));
        for (text, told) in [
            (format!("a==1 {hash}\nb>=1 {hash}\n"), "line 2: a lock names one version"),
            ("a==1\n".into(), "line 1: a lock names one version"),
            (format!("a==1.* {hash}\n"), "line 1"),
            (format!("A==1 {hash}\na==2 {hash}\n"), "a is locked twice"),
            (format!("--index-url https://h/\na==1 {hash}\n"), "line 1: not the name"),
        ] {
            let error = Lock::parse(&text).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(told), "{error}");
        }
    }
}
