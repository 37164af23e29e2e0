//! Which GGUF file of several.

use super::{Choice, is_gguf, split};
use crate::{Error, Result};

/// How names tell how weights are kept, best first.
const QUANTIZATIONS: [&str; 24] = [
    "q8_0", "q6_k", "q6_k_l", "q5_k_m", "q5_k_l", "q5_k_s", "q5_1", "q5_0", "q4_k_m", "q4_k_l", "q4_k_s", "q4_1",
    "q4_0", "iq4_nl", "iq4_xs", "f16", "fp16", "bf16", "f32", "fp32", "q3_k_l", "q3_k_m", "q3_k_s", "q2_k",
];

/// The best whole file, or the best one that is kept as `tag` says.
pub(super) fn best(names: &[&str], tag: Option<&str>) -> Result<Option<Choice>> {
    let mut models: Vec<&str> = names.iter().copied().filter(|name| is_model(name) && fits(name, tag)).collect();
    // Of two that are kept alike the plainer name is the model itself, the other a variant of it.
    models.sort_by_key(|name| (!is_whole(name), rank(name), name.len(), *name));
    let Some(first) = models.first() else { return Ok(None) };
    whole(first)?;
    Ok(Some(Choice::Gguf((*first).into())))
}

/// Refuses a file that is one of several pieces.
pub(super) fn whole(name: &str) -> Result<()> {
    if is_whole(name) {
        return Ok(());
    }
    Err(Error::usage(format!("`{name}` is one piece of a model that was cut up, and only whole files are supported"))
        .advise("name a smaller quantization, or join the pieces with `llama-gguf-split --merge` and name the file"))
}

/// Beside models lie projectors for images and tables of importance.
fn is_model(name: &str) -> bool {
    let file = split(name).1.to_ascii_lowercase();
    is_gguf(name) && !file.contains("mmproj") && !file.contains("imatrix")
}

fn is_whole(name: &str) -> bool {
    let stem = &name[..name.len() - ".gguf".len()];
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let piece = stem.rsplit_once("-of-").is_some_and(|(before, count)| {
        digits(count) && before.rsplit_once('-').is_some_and(|(_, number)| digits(number))
    });
    !piece
}

fn fits(name: &str, tag: Option<&str>) -> bool {
    tag.is_none_or(|tag| quantization(name).is_some_and(|found| found.eq_ignore_ascii_case(tag)))
}

fn rank(name: &str) -> usize {
    let known = quantization(name).and_then(|found| QUANTIZATIONS.iter().position(|other| *other == found));
    known.unwrap_or(QUANTIZATIONS.len())
}

/// The last part of the name that tells how the weights are kept; the longest one that fits there.
fn quantization(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let parts = |tag: &str| {
        name.match_indices(tag)
            .filter(|(at, _)| {
                let edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
                edge(name[..*at].chars().next_back()) && edge(name[at + tag.len()..].chars().next())
            })
            .map(|(at, _)| at)
            .last()
    };
    QUANTIZATIONS.into_iter().filter_map(|tag| parts(tag).map(|at| (at, tag.len(), tag))).max().map(|found| found.2)
}
