//! An ONNX model as exporters leave it, that says one letter for ever.

use serde_json::json;

use super::onnx::{Attr, FLOAT, Graph, INT64};

pub const LETTERS: [&str; 4] = ["<s>", "</s>", "a", "b"];

/// A decoder's ports with next to nothing between them: logits from a table, and a past that grows by zeros.
pub fn graph(letter: usize) -> Vec<u8> {
    let mut graph = Graph::default();
    graph.input("input_ids", INT64, &["batch_size", "sequence_length"]);
    graph.input("past_key_values.0.key", FLOAT, &["batch_size", "1", "past_sequence_length", "1"]);
    graph.output("present.0.key", FLOAT, &["batch_size", "1", "total_sequence_length", "1"]);
    graph.output("logits", FLOAT, &["batch_size", "sequence_length", "4"]);
    let table: Vec<f32> = (0..16).map(|at| if at % 4 == letter { 9.0 } else { 0.0 }).collect();
    graph.floats("table", &[4, 4], &table);
    graph.node_to("", "Gather", &["table", "input_ids"], &["logits"], &[]);
    let shape = graph.node("Shape", &["input_ids"], &[]);
    let one = graph.ints(&[1], &[1]);
    let step = graph.node("Gather", &[&shape, &one], &[]);
    let around = graph.ints(&[1], &[1]);
    let all = graph.node("Concat", &[&around, &one, &step, &around], &[Attr::Int("axis", 0)]);
    let zeros = graph.node("ConstantOfShape", &[&all], &[]);
    let joined = [Attr::Int("axis", 2)];
    graph.node_to("", "Concat", &["past_key_values.0.key", &zeros], &["present.0.key"], &joined);
    graph.model()
}

pub fn tokenizer() -> Vec<u8> {
    let vocabulary: serde_json::Map<_, _> =
        LETTERS.iter().zip(0..).map(|(token, id)| ((*token).into(), json!(id))).collect();
    let special = |id: usize| {
        json!({"id": id, "content": LETTERS[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [special(0), special(1)],
        "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "Fuse"},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": [], "fuse_unk": false, "byte_fallback": false},
    });
    file.to_string().into()
}

pub fn tokenizer_config() -> Vec<u8> {
    let template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";
    json!({"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"}).to_string().into()
}
