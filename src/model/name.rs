//! What `--model` can say.

use std::path::{Path, PathBuf};

use super::choice::is_gguf;
use super::folder;
use super::hub::HubName;
use super::known::Known;
use crate::{Error, Result};

const POSSIBLE: &str = "name qwen2.5-coder-1.5b, qwen2.5-coder-0.5b, smollm2-135m, a .gguf file, org/name[:file] on the hub, a folder with an ONNX model, one of its .onnx \
                        files, or scripted:FILE.jsonl";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// None was named.
    Default,
    Known(&'static Known),
    Gguf(PathBuf),
    /// A folder that holds what we built from a GGUF, or an ONNX model; or one of its graphs.
    Folder(PathBuf),
    Script(PathBuf),
    Hub(HubName),
}

impl ModelName {
    /// Reads a name; looks at the disk only to tell files from folders.
    pub fn parse(name: Option<&str>) -> Result<Self> {
        let Some(name) = name else { return Ok(Self::Default) };
        if let Some(known) = Known::named(name) {
            return Ok(Self::Known(known));
        }
        if let Some(script) = name.strip_prefix("scripted:") {
            return Ok(Self::Script(script.into()));
        }
        let path = Path::new(name);
        if folder::is_model(path) {
            return Ok(Self::Folder(path.into()));
        }
        if path.is_dir() {
            return Err(refused(format!("the folder `{name}` holds no model")));
        }
        // A file that is here comes before one that is on the hub.
        let hub = HubName::parse(name).filter(|hub| !path.exists() && (hub.file.is_some() || !is_gguf(name)));
        if let Some(hub) = hub {
            return Ok(Self::Hub(hub));
        }
        if is_gguf(name) {
            return match path.is_file() {
                true => Ok(Self::Gguf(path.into())),
                false => Err(refused(format!("there is no file `{name}`"))),
            };
        }
        if path.is_file() {
            return Err(refused(format!("the file `{name}` is neither a .gguf nor an .onnx file")));
        }
        Err(refused(format!("there is no model `{name}`")))
    }
}

fn refused(what: String) -> Error {
    Error::usage(what).advise(POSSIBLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str) -> String {
        let error = ModelName::parse(Some(name)).unwrap_err();
        assert!(error.is_usage() && error.advice() == Some(POSSIBLE), "{error:?}");
        error.to_string()
    }

    #[test]
    fn names_are_told_apart() {
        assert_eq!(ModelName::parse(None).unwrap(), ModelName::Default);
        for (name, known) in [("SmolLM2-135M-Instruct", "smollm2-135m"), ("Qwen2.5-Coder-1.5B", "qwen2.5-coder-1.5b")] {
            assert_eq!(ModelName::parse(Some(name)).unwrap(), ModelName::Known(Known::named(known).unwrap()));
        }
        assert_eq!(ModelName::parse(Some("scripted:a.jsonl")).unwrap(), ModelName::Script("a.jsonl".into()));
        let folder = tempfile::tempdir().unwrap();
        let gguf = folder.path().join("tiny.GGUF");
        std::fs::write(&gguf, "GGUF").unwrap();
        assert_eq!(ModelName::parse(gguf.to_str()).unwrap(), ModelName::Gguf(gguf));
        std::fs::write(folder.path().join("model.json"), "{}").unwrap();
        let path = folder.path().to_owned();
        assert_eq!(ModelName::parse(path.to_str()).unwrap(), ModelName::Folder(path));
    }

    #[test]
    fn two_names_with_a_slash_are_on_the_hub_unless_they_are_here() {
        for name in ["Qwen/Qwen2.5-Coder-0.5B-Instruct", "Qwen/Qwen2.5@v1:onnx/model.onnx", "a/b:x.gguf"] {
            assert_eq!(ModelName::parse(Some(name)).unwrap(), ModelName::Hub(HubName::parse(name).unwrap()));
        }
        // Tests run in the package's own folder.
        assert!(refusal("src/model").contains("holds no model"));
        assert!(refusal("src/lib.rs").contains("neither a .gguf"));
        assert!(refusal("a/b/c").contains("no model"));
    }

    #[test]
    fn what_is_not_possible_says_what_is() {
        assert!(refusal("folder/no-such.gguf").contains("no file"));
        assert!(refusal("no-such.gguf").contains("no file"));
        assert!(refusal("gpt-5").contains("no model"));
        assert!(refusal("/no/such/thing").contains("no model"));
        let folder = tempfile::tempdir().unwrap();
        assert!(refusal(folder.path().to_str().unwrap()).contains("holds no model"));
        let text = folder.path().join("model.bin");
        std::fs::write(&text, "x").unwrap();
        assert!(refusal(text.to_str().unwrap()).contains("neither a .gguf"));
    }
}
