//! Tokens that end a turn by what they are called, whatever else a model's files say of them.

/// llama.cpp's list.
const NAMES: [&str; 17] = [
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|return|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<end_of_turn>",
    "<end_of_utterance>",
    "<eos>",
    "</s>",
    "<EOT>",
    "_<EOT>",
    "<\u{ff5c}end\u{2581}of\u{2581}sentence\u{ff5c}>",
];

pub(crate) fn ends_turn(token: &str) -> bool {
    NAMES.contains(&token)
}
