//! Which packages are asked for, in the words of pip's users: `rich`, `tomlkit==0.13`, `pandas[excel]>=2; …`.
//!
//! Only names that the index is asked for, never an address, a path or an option: those could make pip build something.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{is_version, normal};
use crate::{Error, Result};

const MAX_FILE: u64 = 1 << 20;
const MAX_LINE: usize = 1_000;
pub(super) const MAX_REQUIREMENTS: usize = 500;

/// Which packages sessions are to have besides those inside, and where they are locked.
///
/// ```
/// use slm_code_interpreter::PackageRequest;
///
/// # fn main() -> slm_code_interpreter::Result<()> {
/// let request = PackageRequest::new().with("rich")?.with("tomlkit==0.13")?;
/// assert!(!request.is_empty());
/// assert!(PackageRequest::new().with("./a/folder").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackageRequest {
    pub(super) requirements: Vec<Requirement>,
    pub(super) lock: Option<PathBuf>,
}

/// One line of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Requirement {
    pub(super) name: String,
    /// As pip reads it, without spaces before the marker.
    pub(super) text: String,
    /// SHA-256 digests, one of which the wheel must have; none: any.
    pub(super) hashes: Vec<String>,
}

impl PackageRequest {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more package of the index, as pip takes it: a name, with extras, versions and a marker if need be.
    ///
    /// # Errors
    /// An address, a path, an option, or what is no requirement.
    pub fn with(mut self, requirement: &str) -> Result<Self> {
        self.add(requirement.trim()).map_err(|error| error.context(format!("the package {requirement:?}")))?;
        Ok(self)
    }

    /// All of a requirements file: one requirement a line, comments, `--hash=sha256:…` behind them.
    ///
    /// # Errors
    /// A file that cannot be read, and lines as for [`with`](Self::with), named by their numbers.
    pub fn with_requirements(mut self, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read(path).map_err(|error| error.context(format!("requirements file {}", path.display())))?;
        for (number, line) in lines(&text) {
            let context = |error: Error| error.context(format!("{}, line {number}", path.display()));
            self.add(&line).map_err(context)?;
        }
        Ok(self)
    }

    /// A file that holds the choice: written when it is not there, obeyed when it is, so that another machine gets the
    /// same bytes.
    pub fn lock(mut self, path: impl Into<PathBuf>) -> Self {
        self.lock = Some(path.into());
        self
    }

    /// Whether nothing at all was asked for.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty() && self.lock.is_none()
    }

    fn add(&mut self, line: &str) -> Result<()> {
        if self.requirements.len() == MAX_REQUIREMENTS {
            return Err(Error::usage(format!("more than {MAX_REQUIREMENTS} requirements")));
        }
        let requirement = Requirement::parse(line)?;
        if !self.requirements.contains(&requirement) {
            self.requirements.push(requirement);
        }
        Ok(())
    }

    /// All lines as pip reads them, sorted.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<_> = self.requirements.iter().map(|requirement| requirement.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    /// All that decides what is chosen, in the same words for requests of the same meaning, mostly.
    pub(super) fn identity(&self) -> String {
        let mut lines: Vec<_> = self
            .requirements
            .iter()
            .map(|requirement| format!("{} {}", requirement.text, requirement.hashes.join(" ")))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines.join("\n")
    }
}

impl Requirement {
    pub(super) fn parse(line: &str) -> Result<Self> {
        let strange = || {
            Error::usage("not the name of a package, with versions if need be")
                .advise("write it as rich, rich>=14 or pandas[excel]; addresses, paths and options are not taken")
        };
        if line.len() > MAX_LINE || line.chars().any(char::is_control) {
            return Err(strange());
        }
        let (line, hashes) = split_hashes(line)?;
        let (package, marker) = line.split_once(';').unwrap_or((line, ""));
        let words: Vec<_> = package.split_whitespace().collect();
        let end = |c: char| c.is_ascii_alphanumeric();
        if words.windows(2).any(|pair| pair[0].ends_with(end) && pair[1].starts_with(end)) {
            return Err(strange());
        }
        let package = words.concat();
        let length = package.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(package.len());
        let (name, rest) = package.split_at(length);
        let sound = |name: &str| name.len() <= 100 && name.starts_with(end) && name.ends_with(end);
        let (extras, versions) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(strange)?,
            None => ("", rest),
        };
        let versions = versions.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(versions);
        let mut versions: Vec<_> = versions.split(',').filter(|version| !version.is_empty()).collect();
        versions.sort_unstable();
        let mut extras: Vec<_> = extras.split(',').filter(|extra| !extra.is_empty()).map(normal).collect();
        extras.sort_unstable();
        let plain = |extra: &String| extra.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let versions_sound = versions.iter().all(|version| is_specifier(version));
        if !sound(name) || !extras.iter().all(plain) || !versions_sound || !is_marker(marker) {
            return Err(strange());
        }
        let name = normal(name);
        let mut text = name.clone();
        if !extras.is_empty() {
            text.push_str(&format!("[{}]", extras.join(",")));
        }
        text.push_str(&versions.join(","));
        if !marker.trim().is_empty() {
            text.push_str(&format!(" ; {}", marker.trim()));
        }
        Ok(Self { name, text, hashes })
    }

    /// Whether any version would do.
    pub(super) fn is_open(&self) -> bool {
        !self.text.split(" ;").next().unwrap_or_default().contains(['<', '>', '=', '~', '!'])
    }

    /// The one version it allows, if it names it.
    pub(super) fn pinned(&self) -> Option<&str> {
        let package = self.text.split_once(" ;").map_or(self.text.as_str(), |(package, _)| package);
        let (before, version) = package.split_once("==")?;
        (!before.contains(['<', '>', '=', '!', '~', ',']) && is_version(version)).then_some(version)
    }
}

/// A comparison and a version, which may end in `.*`.
fn is_specifier(text: &str) -> bool {
    let versions = ["===", "==", "~=", "!=", ">=", "<=", ">", "<"].into_iter().find_map(|sign| text.strip_prefix(sign));
    versions.is_some_and(|version| is_version(version.strip_suffix(".*").unwrap_or(version)))
}

/// Whether nothing in it means more to pip than a marker: no `${VARIABLE}`, comment or address, and no word that it takes
/// for an option.
fn is_marker(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" '\"<>=!~().,+*_-:/".contains(&byte);
    text.bytes().all(plain) && !text.split(' ').any(|word| word.starts_with('-'))
}

/// What stands before the first `--hash`, and the digests.
fn split_hashes(line: &str) -> Result<(&str, Vec<String>)> {
    let Some((before, rest)) = line.split_once(" --hash") else { return Ok((line.trim(), Vec::new())) };
    let hashes = format!("--hash{rest}").split_whitespace().map(digest).collect::<Option<Vec<_>>>();
    let strange = || Error::usage("hashes are written as --hash=sha256:, with 64 hexadecimal digits");
    Ok((before.trim(), hashes.ok_or_else(strange)?))
}

fn digest(word: &str) -> Option<String> {
    let digest = word.strip_prefix("--hash=sha256:")?;
    let whole = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| digest.to_ascii_lowercase())
}

/// The lines that say something, with their numbers; a line that ends in a backslash goes on in the next.
pub(super) fn lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let (number, mut whole) = open.take().unwrap_or((at + 1, String::new()));
        let line = if line.trim_start().starts_with('#') { "" } else { line };
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
        match line.strip_suffix('\\') {
            Some(line) => {
                whole.push_str(line);
                whole.push(' ');
                open = Some((number, whole));
            }
            None => {
                whole.push_str(line);
                lines.push((number, whole.trim().to_owned()));
            }
        }
    }
    lines.extend(open);
    lines.retain(|(_, line)| !line.is_empty());
    lines
}

/// A text of at most 1 MiB.
pub(super) fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    // Before it is opened: a pipe would wait for whoever writes to it.
    if !path.metadata().map_err(Error::usage)?.is_file() {
        return Err(Error::usage("not a regular file"));
    }
    let file = File::open(path).map_err(Error::usage)?;
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(Error::usage)?;
    if text.len() as u64 > MAX_FILE {
        return Err(Error::usage("longer than 1 MiB"));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> String {
        Requirement::parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).text
    }

    #[test]
    fn requirements_are_read_as_pip_reads_them() {
        for (line, expected) in [
            ("rich", "rich"),
            ("  Foo.Bar__baz ", "foo-bar-baz"),
            ("tomlkit == 0.13", "tomlkit==0.13"),
            ("a>=1, <2", "a<2,>=1"),
            ("a (>=1,<2)", "a<2,>=1"),
            ("a==1.*", "a==1.*"),
            ("a===1.0+local.1", "a===1.0+local.1"),
            ("pandas[ Excel , html ]>=2", "pandas[excel,html]>=2"),
            ("a; python_version >= '3.8'", "a ; python_version >= '3.8'"),
        ] {
            assert_eq!(text(line), expected, "{line}");
        }
        assert_eq!(Requirement::parse("A_b==1.0 ; x").unwrap().pinned(), Some("1.0"));
        assert!(Requirement::parse("a[b] ; x == '1'").unwrap().is_open());
        for open in ["a", "a>=1", "a==1.*", "a==1,<2"] {
            assert_eq!(Requirement::parse(open).unwrap().pinned(), None, "{open}");
        }
    }

    #[test]
    fn what_could_make_pip_build_or_obey_is_refused() {
        for line in [
            "",
            ".",
            "./a",
            "/a",
            "../a",
            "a/b",
            "a @ https://h/a.whl",
            "a@file:///a",
            "https://h/a.whl",
            "git+https://h/a",
            "-e .",
            "-r other.txt",
            "--index-url=x",
            "--with",
            "a --global-option=x",
            "a b",
            "a[b",
            "a==1\n--index-url x",
            "a==1\r--index-url x",
            "a==1 --index-url x",
            "a==1 ; os_name == 'posix' --index-url x",
            "a==1 ; os_name == 'posix' -e.",
            "a==1 ; os_name == '${AWS_SECRET_ACCESS_KEY}'",
            "a==${AWS_SECRET_ACCESS_KEY}",
            "a[${X}]",
            "${X}",
            "a @ https://h/${X}/a-1-py3-none-any.whl",
            "a ; x @ https://h",
            "a ; os_name \\",
            "a ; os_name # x",
            "a ; \u{2028}x",
            "a>=",
            "a=1",
            "a==1;",
            "é",
            "a\0b",
            "_a",
            "a-",
        ] {
            let parsed = PackageRequest::new().with(line);
            // A marker may be empty.
            if line == "a==1;" {
                assert_eq!(parsed.unwrap().texts(), ["a==1"]);
                continue;
            }
            let error = parsed.expect_err(line);
            assert!(error.is_usage(), "{line}: {error}");
        }
        assert!(PackageRequest::new().with(&"a".repeat(2_000)).is_err());
    }

    #[test]
    fn a_requirements_file_is_read_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requirements.txt");
        let digest = "ab".repeat(32);
        let text = format!(
            "# ours\n\nrich>=14  # tables\ntomlkit==0.13 \\\n    --hash=sha256:{digest} \\\n    --hash=sha256:{digest}\nrich>=14\n"
        );
        std::fs::write(&path, text).unwrap();
        let request = PackageRequest::new().with_requirements(&path).unwrap();
        assert_eq!(request.texts(), ["rich>=14", "tomlkit==0.13"]);
        assert_eq!(request.requirements[1].hashes, [digest.clone(), digest]);
        for (text, told) in [
            ("rich\n-r other.txt\n", "line 2: not the name"),
            ("a==1 --hash=md5:00\n", "line 1: hashes are written as"),
            ("ok\n\nhttps://h/a.whl # x\n", "line 3"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = PackageRequest::new().with_requirements(&path).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(told), "{error}");
        }
        let missing = PackageRequest::new().with_requirements(folder.path().join("none")).unwrap_err();
        assert!(missing.is_usage() && missing.to_string().contains("none"), "{missing}");
    }
}
