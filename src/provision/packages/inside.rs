//! The packages that the interpreter has already, read off its library without starting it, and their stand-ins for pip.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::normal;
use crate::error::OrInternal;
use crate::provision::{Folder, PYTHON_LIB};
use crate::{Error, Result};

const LIBRARY: &str = "python315.zip";
const MAX_METADATA: u64 = 1 << 20;

/// A package of the interpreter's own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inside {
    /// As its authors write it.
    pub(crate) name: String,
    pub(crate) version: String,
    /// The lines of its metadata that tell what its extras need.
    extras: Vec<String>,
}

impl Inside {
    /// All of them, sorted by name without regard to case, from the unpacked wheel of the interpreter.
    pub(crate) fn all(python: &Folder) -> Result<Vec<Self>> {
        let path = python.path().join(PYTHON_LIB).join(LIBRARY);
        let doing = || format!("reading {}", path.display());
        let mut archive = ZipArchive::new(File::open(&path).or_internal(doing())?).or_internal(doing())?;
        let mut all = Vec::new();
        for index in 0..archive.len() {
            let entry = archive.by_index(index).or_internal(doing())?;
            let is_metadata = |name: &str| name.ends_with(".dist-info/METADATA") && name.matches('/').count() == 1;
            if !entry.name().is_ok_and(|name| is_metadata(&name)) {
                continue;
            }
            let mut text = String::new();
            entry.take(MAX_METADATA).read_to_string(&mut text).or_internal(doing())?;
            let inside = Self::of(&text).ok_or_else(|| Error::internal("a package has no name").context(doing()))?;
            all.push(inside);
        }
        all.sort_by_key(|inside| normal(&inside.name));
        Ok(all)
    }

    pub(super) fn of(metadata: &str) -> Option<Self> {
        let head = metadata.split("\n\n").next()?;
        let field =
            |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
        let of_extras = |line: &&str| {
            line.starts_with("Provides-Extra:") || line.starts_with("Requires-Dist:") && line.contains("extra")
        };
        let extras = head.lines().filter(of_extras).map(str::to_owned).collect();
        Some(Self { name: field("Name:")?, version: field("Version:")?, extras })
    }

    pub(crate) fn normal_name(&self) -> String {
        normal(&self.name)
    }

    /// Writes a wheel of this name and version that holds nothing, so that pip counts with it and fetches no other. What
    /// it needs itself is inside as well, what its extras need may not be.
    pub(super) fn stand_in(&self, folder: &Path) -> Result<()> {
        let stem = format!("{}-{}", self.normal_name().replace('-', "_"), self.version);
        let extras = self.extras.iter().fold(String::new(), |lines, line| lines + line + "\n");
        let metadata = format!("Metadata-Version: 2.1\nName: {}\nVersion: {}\n{extras}", self.name, self.version);
        let wheel = "Wheel-Version: 1.0\nGenerator: slm-code-interpreter\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
        let info = format!("{stem}.dist-info");
        // With a build number, so that it comes before a wheel of the same version from elsewhere.
        let path = folder.join(format!("{stem}-{STAND_IN}-py3-none-any.whl"));
        let mut writer = ZipWriter::new(File::create(&path).or_internal(path.display())?);
        for (name, text) in [("METADATA", metadata.as_str()), ("WHEEL", wheel), ("RECORD", "")] {
            writer.start_file(format!("{info}/{name}"), SimpleFileOptions::default()).or_internal(path.display())?;
            writer.write_all(text.as_bytes()).or_internal(path.display())?;
        }
        writer.finish().map(drop).or_internal(path.display())
    }
}

/// The build number of stand-ins.
const STAND_IN: &str = "99999999slm";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_version_and_extras_come_from_the_head() {
        let text = "Metadata-Version: 2.4\nName: Foo.Bar\nVersion: 1.2\nRequires-Dist: numpy>=1\n\
                    Requires-Dist: x; extra == \"all\"\nProvides-Extra: all\n\nName: not this\n";
        let inside = Inside::of(text).unwrap();
        assert_eq!((inside.name.as_str(), inside.version.as_str()), ("Foo.Bar", "1.2"));
        assert_eq!(inside.extras, ["Requires-Dist: x; extra == \"all\"", "Provides-Extra: all"]);
        assert_eq!(Inside::of("Name: a\n\nVersion: 1\n"), None);
    }
}
