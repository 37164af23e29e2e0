//! Tiny models of every architecture: the graphs compute what llama.cpp computes, and narrow blocks what wide ones do.

// The writer that the unit tests use, too.
#[path = "../../src/model/gguf/fixture.rs"]
pub mod fixture;
#[path = "../../src/model/gguf/tiny.rs"]
pub mod tiny;

use std::collections::BTreeMap;
use std::path::Path;

use slm_code_interpreter::model::parts::{Decoder, Network, Weights, build};
use slm_code_interpreter::{Cancel, Progress};

use self::tiny::{KINDS, Key, Q4_0, Tiny, VOCABULARY, WIDTH};
use crate::support::runtime;

/// Every architecture and what can vary in it.
fn variants() -> BTreeMap<&'static str, Tiny> {
    let heads_of = |architecture: &str, head_dim: u64| Tiny::new(architecture, head_dim);
    let mut variants = BTreeMap::new();
    variants.insert("llama", heads_of("llama", 16));

    let mut untied = heads_of("llama", 16);
    untied.tensor("output.weight", &[WIDTH, VOCABULARY]);
    untied.tensor("rope_freqs.weight", &[8]);
    untied.set("llama.rope.freq_base", Key::Float(500.0));
    biases(&mut untied, 64);
    untied.each_layer("attn_output.bias", &[WIDTH]);
    variants.insert("llama, untied, biases, rotary divisors", untied);

    let mut linear = heads_of("llama", 16);
    linear.set("llama.rope.scaling.type", Key::Text("linear".into()));
    linear.set("llama.rope.scaling.factor", Key::Float(4.0));
    variants.insert("llama, linear scaling", linear);

    let mut qwen2 = heads_of("qwen2", 16);
    qwen2.set("qwen2.rope.freq_base", Key::Float(1e6));
    biases(&mut qwen2, 64);
    variants.insert("qwen2", qwen2.clone());

    qwen2.set("qwen2.rope.freq_base", Key::Float(100.0));
    qwen2.set("qwen2.rope.scaling.type", Key::Text("yarn".into()));
    qwen2.set("qwen2.rope.scaling.factor", Key::Float(4.0));
    qwen2.set("qwen2.rope.scaling.original_context_length", Key::Number(128));
    variants.insert("qwen2, yarn", qwen2);

    let mut qwen3 = heads_of("qwen3", 32);
    head_norms(&mut qwen3, 32);
    variants.insert("qwen3", qwen3);
    variants.insert("smollm3", heads_of("smollm3", 16));

    variants.insert("gemma", heads_of("gemma", 32));
    let mut gemma2 = heads_of("gemma2", 32);
    post_norms(&mut gemma2);
    gemma2.set("gemma2.attention.sliding_window", Key::Number(8));
    gemma2.set("gemma2.attn_logit_softcapping", Key::Float(2.0));
    gemma2.set("gemma2.final_logit_softcapping", Key::Float(5.0));
    variants.insert("gemma2", gemma2);
    let mut gemma3 = heads_of("gemma3", 32);
    post_norms(&mut gemma3);
    head_norms(&mut gemma3, 32);
    gemma3.set("gemma3.attention.sliding_window", Key::Number(8));
    gemma3.set("gemma3.rope.freq_base", Key::Float(1e6));
    gemma3.set("gemma3.rope.scaling.type", Key::Text("linear".into()));
    gemma3.set("gemma3.rope.scaling.factor", Key::Float(8.0));
    variants.insert("gemma3", gemma3);
    variants
}

fn biases(tiny: &mut Tiny, query_rows: u64) {
    tiny.each_layer("attn_q.bias", &[query_rows]);
    tiny.each_layer("attn_k.bias", &[query_rows / 2]);
    tiny.each_layer("attn_v.bias", &[query_rows / 2]);
}

fn head_norms(tiny: &mut Tiny, head_dim: u64) {
    tiny.each_layer("attn_q_norm.weight", &[head_dim]);
    tiny.each_layer("attn_k_norm.weight", &[head_dim]);
}

fn post_norms(tiny: &mut Tiny) {
    tiny.each_layer("post_attention_norm.weight", &[WIDTH]);
    tiny.each_layer("post_ffw_norm.weight", &[WIDTH]);
}

/// The prompt that all are asked, and the token that is then decoded alone.
fn prompt() -> (Vec<u32>, u32) {
    ((0..24).map(|i| 2 + i * 37 % 256).collect(), 99)
}

/// The logits after the prompt and after one more token.
fn logits(tiny: &Tiny, weights: Weights) -> [Vec<f32>; 2] {
    let (file, folder) = (tiny.fixture().write(), tempfile::tempdir().unwrap());
    build(file.path(), folder.path(), "tiny", weights, &Progress::default(), &Cancel::new()).unwrap();
    let mut decoder = Decoder::open(&runtime(), &folder.path().join("model.onnx"), 64, 1).unwrap();
    let (ids, next) = prompt();
    decoder.append(&ids, 1).unwrap();
    let first = decoder.logits(0).to_vec();
    decoder.append(&[next], 1).unwrap();
    [first, decoder.logits(0).to_vec()]
}

/// The largest difference, and how far the expected ones lie apart.
fn difference(ours: &[f32], theirs: &[f32]) -> (f32, f32) {
    assert_eq!(ours.len(), theirs.len());
    let largest = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let (low, high) = theirs.iter().fold((f32::MAX, f32::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    (largest, high - low)
}

/// `tiny_logits.json` was made by `tiny_logits.mjs` beside it, of the files that `tiny_models_are_written` leaves.
#[test]
fn graphs_compute_what_llama_cpp_computes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny_logits.json");
    let expected: BTreeMap<String, [Vec<f32>; 2]> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (name, tiny) in variants() {
        let theirs = expected.get(name).unwrap_or_else(|| panic!("no reference for {name}"));
        for (at, (ours, theirs)) in logits(&tiny, Weights::F32).iter().zip(theirs).enumerate() {
            let (largest, range) = difference(ours, theirs);
            println!("{name} {at}: off by {largest:.5} of {range:.2}");
            assert!(largest <= range * 0.002, "{name} {at}: off by {largest} of {range}");
        }
    }
}

/// The same numbers in 4 bits and in 8: two kernels, one model.
#[test]
fn four_bits_compute_what_their_widening_computes() {
    for (name, mut tiny) in variants() {
        tiny.tensors.iter_mut().filter(|(_, dims, _)| dims.len() == 2).for_each(|tensor| tensor.2 = Q4_0);
        let [four, eight, full] =
            [Weights::Blocks, Weights::EightBits, Weights::F32].map(|weights| logits(&tiny, weights));
        for at in 0..2 {
            let (largest, range) = difference(&four[at], &eight[at]);
            let (rounding, _) = difference(&eight[at], &full[at]);
            println!(
                "{name} {at}: 4 and 8 bits off by {largest:.5}, 8 bits and floats by {rounding:.5}, of {range:.2}"
            );
            // Both round what they are multiplied with to 8 bits, each in its own way.
            assert!(largest <= range * 0.02, "{name} {at}: off by {largest} of {range}");
        }
    }
}

/// Matrices as the file has them, of several kinds, beside blocks of 8 bits: kernels of ours and ONNX Runtime's.
#[test]
fn matrices_in_the_file_compute_what_their_widening_computes() {
    if Weights::fastest() != Weights::Stored {
        return println!("skipped: this processor lacks what our kernels need");
    }
    for (name, mut tiny) in variants() {
        let matrices = tiny.tensors.iter_mut().filter(|(_, dims, _)| dims.len() == 2);
        for ((_, _, kind), of) in matrices.zip(KINDS.into_iter().cycle()) {
            *kind = of;
        }
        let [stored, eight, full] =
            [Weights::Stored, Weights::EightBits, Weights::F32].map(|weights| logits(&tiny, weights));
        for at in 0..2 {
            let (largest, range) = difference(&stored[at], &full[at]);
            let (rounding, _) = difference(&eight[at], &full[at]);
            println!("{name} {at}: off by {largest:.5}, 8 bits by {rounding:.5}, of {range:.2}");
            // Either rounds activations to 8 bits, each in its own way, which is what moves the logits.
            assert!(largest <= 2.0 * rounding, "{name} {at}: off by {largest}, 8 bits by {rounding}, of {range}");
        }
    }
}

/// Leaves the files for llama.cpp: `TINY_MODELS=FOLDER cargo test --release tiny_models_are_written -- --ignored`.
#[test]
#[ignore = "writes what the reference is computed of"]
fn tiny_models_are_written() {
    let folder = std::path::PathBuf::from(std::env::var_os("TINY_MODELS").expect("TINY_MODELS"));
    for (name, tiny) in variants() {
        std::fs::write(folder.join(format!("{name}.gguf")), tiny.fixture().bytes()).unwrap();
    }
}
