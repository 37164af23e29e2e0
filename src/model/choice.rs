//! Which of the files in a folder or a repository make the model that is run here: a pure function of their names.
//!
//! A name that says more than one thing about precision is read from its end. What is best is what answers best on a
//! processor without a graphics card: 8-bit weights lose nothing that can be seen and decode fast; fewer bits decode
//! faster and lose some; half precision only costs memory, since processors widen it to full precision.

mod gguf;
mod onnx;

pub(crate) use onnx::{Layout, OnnxChoice, is_beside};

use crate::{Error, Result};

/// One file that could be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Relative, with `/` between the parts.
    pub name: String,
    pub bytes: Option<u64>,
}

/// What to take of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The name of the one file.
    Gguf(String),
    Onnx(OnnxChoice),
}

impl Choice {
    /// The names of all files that are needed.
    pub fn files(&self) -> Vec<&str> {
        match self {
            Self::Gguf(file) => vec![file],
            Self::Onnx(onnx) => onnx.files.iter().map(String::as_str).collect(),
        }
    }
}

/// How many of the names that are there an error tells.
const TOLD: usize = 6;

/// The best model in `listing`, or the one that `named` means: a file's name, or how its weights are kept (`Q4_K_M`,
/// `q4`).
///
/// # Errors
/// Usage, when there is none or it is in pieces; the advice tells some that are there.
pub(crate) fn choose(listing: &[Listed], named: Option<&str>) -> Result<Choice> {
    let names: Vec<&str> = listing.iter().map(|file| file.name.as_str()).collect();
    let found = match named {
        Some(named) if is_model_file(named) => exactly(&names, named)?,
        _ => gguf::best(&names, named)?.or_else(|| onnx::best(&names, named)),
    };
    found.ok_or_else(|| {
        let what =
            named.map_or("there is no GGUF and no ONNX model".into(), |tag| format!("there is no model `{tag}`"));
        Error::usage(what).advise(what_is_there(&names))
    })
}

/// Whether `name` can only mean one file.
pub(crate) fn is_model_file(name: &str) -> bool {
    is_gguf(name) || is_onnx(name)
}

pub(crate) fn is_onnx(name: &str) -> bool {
    has_extension(name, "onnx")
}

pub(crate) fn is_gguf(name: &str) -> bool {
    has_extension(name, "gguf")
}

/// Whether a file of this name can be part of a choice at all.
pub(crate) fn matters(name: &str) -> bool {
    is_model_file(name) || onnx::is_data(name) || is_beside(name)
}

/// The choice that the file `named` stands for, if it is there.
fn exactly(names: &[&str], named: &str) -> Result<Option<Choice>> {
    if !names.contains(&named) {
        return Err(Error::usage(format!("there is no file `{named}`")).advise(what_is_there(names)));
    }
    if is_gguf(named) {
        gguf::whole(named)?;
        return Ok(Some(Choice::Gguf(named.into())));
    }
    Ok(onnx::of_graph(names, named))
}

fn what_is_there(names: &[&str]) -> String {
    let models: Vec<_> = names.iter().filter(|name| is_model_file(name)).map(|name| format!("`{name}`")).collect();
    match models.len() {
        0 => "name a repository or folder with a .gguf file or an ONNX model".into(),
        many if many > TOLD => format!("there are {} and {} more", models[..TOLD].join(", "), many - TOLD),
        _ => format!("there are {}", models.join(", ")),
    }
}

fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.eq_ignore_ascii_case(extension))
}

/// Folder (empty at the top) and file name.
pub(crate) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

#[cfg(test)]
mod tests;
