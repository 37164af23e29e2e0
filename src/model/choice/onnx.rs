//! Which ONNX graphs of several, and what lies beside them.

use super::{Choice, has_extension, split};

/// How the graphs of a model divide its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One graph from tokens to logits.
    Single,
    /// One graph from tokens to embeddings, one from these to logits.
    Split,
    /// As onnxruntime-genai keeps them: `genai_config.json` beside the graphs says which does what.
    Genai,
}

/// An ONNX model in a folder or repository; all names are relative to its top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnnxChoice {
    pub layout: Layout,
    /// Where the graphs lie; empty at the top.
    pub folder: String,
    /// Of [`Layout::Single`] the one, of [`Layout::Split`] embeddings and decoder, of [`Layout::Genai`] all in the folder.
    pub graphs: Vec<String>,
    /// All that is needed: the graphs, their weights, and what describes the model.
    pub files: Vec<String>,
}

/// What describes a model, at the top or beside the graphs.
const BESIDE: [&str; 8] = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    GENAI_CONFIG,
    "tokenizer.model",
];
const GENAI_CONFIG: &str = "genai_config.json";
const SINGLE: &str = "model";
const EMBEDDINGS: &str = "embed_tokens";
const DECODER: &str = "decoder_model_merged";

/// What stands between a graph's name and `.onnx`, best first. `q8` and `q4` keep weights alone in few bits and compute
/// in full precision; `int8`, `quantized` and `uint8` also round what flows between the layers, which small models
/// do not bear, so full precision goes before them. `bnb4` has the slowest kernels. Half precision, also that of
/// `q4f16`, is widened at every step.
const PRECISIONS: [&str; 10] = ["_q8", "_q4", "", "_fp32", "_int8", "_quantized", "_uint8", "_bnb4", "_q4f16", "_fp16"];

/// The best model, or the best one in the precision `tag`.
pub(super) fn best(names: &[&str], tag: Option<&str>) -> Option<Choice> {
    let wanted = |suffix: &&&str| tag.is_none_or(|tag| suffix.trim_start_matches('_').eq_ignore_ascii_case(tag));
    for folder in ["onnx", ""] {
        for suffix in PRECISIONS.iter().filter(wanted) {
            let graph = |stem| find(names, &path(folder, &format!("{stem}{suffix}.onnx")));
            let decoder = graph(DECODER).filter(|decoder| embeddings(names, decoder).is_some());
            if let Some(found) = decoder.or_else(|| graph(SINGLE)) {
                return of_graph(names, found);
            }
        }
    }
    genai(names).filter(|_| tag.is_none())
}

/// The model that the graph `named` belongs to.
pub(super) fn of_graph(names: &[&str], named: &str) -> Option<Choice> {
    let folder = split(named).0;
    if names.contains(&path(folder, GENAI_CONFIG).as_str()) {
        return Some(choice(names, Layout::Genai, folder, in_folder(names, folder)));
    }
    if let Some(embeddings) = embeddings(names, named) {
        return Some(choice(names, Layout::Split, folder, vec![embeddings.to_owned(), named.to_owned()]));
    }
    Some(choice(names, Layout::Single, folder, vec![named.to_owned()]))
}

/// The folders that hold a `genai_config.json` and a graph; those made for processors first.
fn genai(names: &[&str]) -> Option<Choice> {
    let folders =
        names.iter().map(|name| split(name)).filter(|(_, file)| *file == GENAI_CONFIG).map(|(folder, _)| folder);
    let mut folders: Vec<_> = folders.filter(|folder| !in_folder(names, folder).is_empty()).collect();
    folders.sort_by_key(|folder| {
        let lower = folder.to_ascii_lowercase();
        let other = ["cuda", "directml", "dml", "gpu", "npu", "qnn"].iter().any(|device| lower.contains(device));
        (other && !lower.contains("cpu"), !lower.contains("cpu"), !lower.contains("acc-level-4"), folder.len(), *folder)
    });
    let folder = folders.first()?;
    Some(choice(names, Layout::Genai, folder, in_folder(names, folder)))
}

/// The graph for embeddings that fits `graph`, if that is a decoder: of the same precision, or the best there is.
fn embeddings<'a>(names: &[&'a str], graph: &str) -> Option<&'a str> {
    let (folder, file) = split(graph);
    let file = file.to_ascii_lowercase();
    let rest = file.strip_prefix(DECODER)?;
    let suffixes = rest.strip_suffix(".onnx").into_iter().chain(PRECISIONS);
    let mut paths = suffixes.map(|suffix| path(folder, &format!("{EMBEDDINGS}{suffix}.onnx")));
    paths.find_map(|path| find(names, &path))
}

/// Exporters write all names small; whoever copied them since may not have.
fn find<'a>(names: &[&'a str], wanted: &str) -> Option<&'a str> {
    names.iter().copied().find(|name| name.eq_ignore_ascii_case(wanted))
}

fn choice(names: &[&str], layout: Layout, folder: &str, graphs: Vec<String>) -> Choice {
    let is_needed = |name: &&&str| {
        let (place, file) = split(name);
        let beside = BESIDE.contains(&file) && (place == folder || place.is_empty());
        graphs.iter().any(|graph| graph == **name || holds_weights_of(name, graph)) || beside
    };
    let files = names.iter().filter(is_needed).map(|name| (*name).to_owned()).collect();
    Choice::Onnx(OnnxChoice { layout, folder: folder.into(), graphs, files })
}

/// `model.onnx_data`, `model.onnx_data_1`, `model.onnx.data`, `model.data` belong to `model.onnx`.
fn holds_weights_of(name: &str, graph: &str) -> bool {
    let numbered = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || "_-.".contains(c));
    let beside = name.strip_prefix(graph).and_then(|rest| rest.strip_prefix("_data").or(rest.strip_prefix(".data")));
    beside.is_some_and(numbered) || graph.strip_suffix(".onnx").is_some_and(|stem| name == format!("{stem}.data"))
}

/// Whether a file of this name could hold the weights of some graph.
pub(super) fn is_data(name: &str) -> bool {
    let file = split(name).1;
    file.contains(".onnx_data") || file.contains(".onnx.data") || has_extension(file, "data")
}

/// Whether a file of this name describes a model, and is small.
pub(crate) fn is_beside(name: &str) -> bool {
    BESIDE.contains(&split(name).1)
}

fn in_folder(names: &[&str], folder: &str) -> Vec<String> {
    let graphs = names.iter().filter(|name| split(name).0 == folder && has_extension(name, "onnx"));
    graphs.map(|name| (*name).to_owned()).collect()
}

fn path(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.into() } else { format!("{folder}/{file}") }
}
