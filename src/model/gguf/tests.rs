//! What is built of true files, and why lying ones are not.

use super::fixture::Fixture;
use super::tiny::{Key, Q4_0, Tiny, WIDTH};
use super::*;

fn built(tiny: &Tiny, weights: Weights) -> Result<Description> {
    let file = tiny.fixture().write();
    let folder = tempfile::tempdir().unwrap();
    build(file.path(), folder.path(), "tiny", weights, &Progress::default(), &Cancel::new())?;
    Ok(built::open(folder.path())?.description)
}

fn refusal(change: impl FnOnce(&mut Tiny)) -> String {
    refusal_of("llama", change)
}

fn refusal_of(architecture: &str, change: impl FnOnce(&mut Tiny)) -> String {
    let mut tiny = Tiny::new(architecture, 16);
    change(&mut tiny);
    let error = built(&tiny, Weights::Blocks).unwrap_err();
    assert!(error.is_model(), "{error:?}");
    error.to_string()
}

fn number(name: &str, value: u32) -> impl FnOnce(&mut Tiny) {
    move |tiny| tiny.set(name, Key::Number(value))
}

fn float(name: &str, value: f32) -> impl FnOnce(&mut Tiny) {
    move |tiny| tiny.set(name, Key::Float(value))
}

fn word(name: &str, value: &str) -> impl FnOnce(&mut Tiny) {
    move |tiny| tiny.set(name, Key::Text(value.into()))
}

#[test]
fn a_model_is_built_and_recognised() {
    for weights in [Weights::Blocks, Weights::EightBits, Weights::F32] {
        let description = built(&Tiny::new("llama", 16), weights).unwrap();
        assert_eq!((description.name.as_str(), description.context_length), ("tiny", 64));
        assert_eq!((description.end_of_turn, description.first_token), (vec![0, 1], None));
    }
}

#[test]
fn matrices_of_4_bits_stay_so_only_when_all_their_parts_are() {
    let bits = |change: &dyn Fn(&mut Tiny)| {
        let mut tiny = Tiny::new("llama", 16);
        tiny.tensors.iter_mut().filter(|(_, dims, _)| dims.len() == 2).for_each(|tensor| tensor.2 = Q4_0);
        change(&mut tiny);
        let file = tiny.fixture().write();
        let (model, ..) = plan(&mut Gguf::open(file.path()).unwrap(), "tiny", Weights::Blocks).unwrap();
        let mut bits = Vec::new();
        for node in model.graph.unwrap().node {
            let found = node.attribute.iter().find(|attribute| attribute.name.as_deref() == Some("bits"));
            bits.extend(found.and_then(|attribute| attribute.i));
        }
        bits
    };
    // Embedding, four products a layer, and the head.
    assert_eq!(bits(&|_| ()), [4; 1 + 6 * 4 + 1]);
    let mixed = bits(&|tiny| {
        tiny.tensors.iter_mut().find(|(name, ..)| name == "blk.0.attn_v.weight").unwrap().2 = tiny::F32;
    });
    assert_eq!((mixed[1], mixed.iter().filter(|&&bits| bits == 8).count()), (8, 1));
}

#[test]
fn variants_that_would_come_out_wrong_are_refused_by_name() {
    assert!(refusal_of("mamba", |_| ()).contains("its architecture is `mamba`; supported are llama, qwen2"));
    for (key, value) in [
        ("llama.expert_count", 8.0),
        ("llama.attention.scale", 0.25),
        ("llama.attention.clamp_kqv", 8.0),
        ("llama.logit_scale", 0.5),
        ("llama.rope.scaling.attn_factor", 2.0),
        ("llama.attn_logit_softcapping", 50.0),
    ] {
        let text = refusal(float(key, value));
        assert!(text.contains("not supported") && text.contains(key) || text.contains("caps its logits"), "{text}");
    }
    assert!(refusal(word("llama.rope.scaling.type", "longrope")).contains("`longrope`, which is not supported"));
    let extra = |name: &'static str| move |tiny: &mut Tiny| tiny.tensor(name, &[WIDTH]);
    for name in ["blk.0.attn_q_norm.weight", "blk.0.attn_sinks.weight", "rope_factors_long.weight"] {
        let text = refusal(extra(name));
        assert!(text.contains(name) && text.contains("plain `llama` models"), "{text}");
    }
    assert!(refusal(number("llama.attention.value_length", 32)).contains("keys are 16 wide and its values 32"));
    assert!(refusal(number("llama.rope.dimension_count", 8)).contains("8 rotated dimensions"));
    assert!(refusal_of("gemma2", |_| ()).contains("lacks `gemma2.attention.sliding_window`"));
    let some_biases = refusal(|tiny| tiny.tensor("blk.0.attn_q.bias", &[WIDTH]));
    assert!(some_biases.contains("lacks the tensor `blk.0.attn_k.bias`"), "{some_biases}");
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    for key in ["attention.head_count", "attention.head_count_kv", "block_count", "embedding_length"] {
        let text = refusal(number(&format!("llama.{key}"), 0));
        assert!(text.contains(key) && text.contains("is 0"), "{text}");
    }
    assert!(refusal(number("llama.attention.head_count_kv", 3)).contains("do not go together"));
    assert!(refusal(number("llama.attention.head_count", 3)).contains("do not go together"));
    assert!(refusal(number("llama.attention.head_count", 8)).contains("`blk.0.attn_q.weight` has the shape"));
    assert!(refusal(number("llama.embedding_length", 1 << 21)).contains("embedding_length"));
    let wide = refusal(|tiny| {
        tiny.set("llama.attention.key_length", Key::Number(2048));
        tiny.set("llama.attention.value_length", Key::Number(2048));
    });
    assert!(wide.contains("heads are 2048 wide"), "{wide}");
    assert!(refusal(number("llama.context_length", (1 << 20) + 1)).contains("context_length` is 1048577"));
    assert!(refusal(word("llama.block_count", "four")).contains("block_count` is not a whole number"));
    assert!(refusal(|tiny| tiny.drop_key("llama.block_count")).contains("lacks `llama.block_count`"));
    let lacking = refusal(|tiny| tiny.drop_tensor("blk.0.ffn_up.weight"));
    assert!(lacking.contains("lacks the tensor `blk.0.ffn_up.weight`"), "{lacking}");
    let quantised = refusal(|tiny| {
        tiny.tensors.iter_mut().find(|(name, ..)| name == "output_norm.weight").unwrap().2 = Q4_0;
    });
    assert!(quantised.contains("norms and biases never are"), "{quantised}");
}

#[test]
fn numbers_that_are_none_are_refused() {
    for value in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        for key in ["rope.freq_base", "rope.scaling.factor", "attention.layer_norm_rms_epsilon"] {
            let text = refusal(float(&format!("llama.{key}"), value));
            assert!(text.contains(key), "{key} {value}: {text}");
        }
    }
    // The values of a tensor come of its name; as biases they would be about 0.
    let divisors = |len: u64| move |tiny: &mut Tiny| tiny.tensor("rope_freqs.weight", &[len]);
    assert!(refusal(divisors(16)).contains("rotary divisors for heads of another size"));
    assert!(refusal(divisors(2048)).contains("not a list of divisors"));
    let mut zeros = Tiny::new("llama", 16).fixture();
    zeros.tensor("rope_freqs.weight", &[8], tiny::F32, &[0; 32]);
    assert!(refused_file(&zeros).contains("not a list of divisors"));
    let base = refusal(|tiny| {
        tiny.set("llama.rope.scaling.type", Key::Text("yarn".into()));
        tiny.set("llama.rope.freq_base", Key::Float(1.0));
    });
    assert!(base.contains("cannot be scaled by `yarn`"), "{base}");
}

fn refused_file(fixture: &Fixture) -> String {
    let (file, folder) = (fixture.write(), tempfile::tempdir().unwrap());
    let built = build(file.path(), folder.path(), "tiny", Weights::Blocks, &Progress::default(), &Cancel::new());
    built.unwrap_err().to_string()
}

/// What is built must be taken again when it is opened.
#[test]
fn the_deepest_graph_is_not_too_large_to_open() {
    let mut tiny = Tiny::new("gemma3", 16);
    tiny.set("gemma3.attention.sliding_window", Key::Number(8));
    for name in ["post_attention_norm.weight", "post_ffw_norm.weight"] {
        tiny.each_layer(name, &[WIDTH]);
    }
    for name in ["attn_q_norm.weight", "attn_k_norm.weight"] {
        tiny.each_layer(name, &[16]);
    }
    let file = tiny.fixture().write();
    let (model, ..) = plan(&mut Gguf::open(file.path()).unwrap(), "tiny", Weights::Blocks).unwrap();
    let each = model.encoded_len() / tiny::LAYERS as usize;
    println!("{each} bytes a layer");
    // Numbers of layers and offsets in the data grow by a few digits.
    assert!(((each + 500) * architecture::MAX_LAYERS) as u64 <= built::MAX_MODEL, "{each} bytes a layer");
}

/// A window is no different from none for as long as the conversation fits into it.
#[test]
fn a_window_that_is_not_built_bounds_the_context() {
    let mut tiny = Tiny::new("llama", 16);
    tiny.set("llama.attention.sliding_window", Key::Number(48));
    assert_eq!(built(&tiny, Weights::F32).unwrap().context_length, 48);
    tiny.set("llama.attention.sliding_window", Key::Number(0));
    assert_eq!(built(&tiny, Weights::F32).unwrap().context_length, 64);
}

/// The sizes alone would make tables of a terabyte.
#[test]
fn what_is_computed_is_bounded_before_it_is() {
    let mut metadata = metadata::Metadata::default();
    metadata.insert("general.architecture".into(), metadata::Value::Text("llama".into())).unwrap();
    for (key, value) in [
        ("block_count", 1),
        ("context_length", 1 << 20),
        ("embedding_length", 1024),
        ("feed_forward_length", 32),
        ("attention.head_count", 1),
    ] {
        metadata.insert(format!("llama.{key}"), metadata::Value::Unsigned(value)).unwrap();
    }
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    metadata.insert(epsilon.into(), metadata::Value::Float(1e-5)).unwrap();
    assert_eq!(Shape::read(&metadata, 1, None).unwrap().context, 1 << 14);
}

#[test]
fn tokenizers_that_cannot_be_are_refused() {
    assert!(refusal(word("tokenizer.ggml.model", "bert")).contains("its tokenizer is `bert`; supported are"));
    assert!(refusal(word("tokenizer.ggml.pre", "tekken-9")).contains("pre-tokenizer is `tekken-9`"));
    assert!(refusal(|tiny| tiny.drop_key("tokenizer.ggml.pre")).contains("lacks `tokenizer.ggml.pre`"));
    assert!(refusal(|tiny| tiny.drop_key("tokenizer.chat_template")).contains("no chat template"));
    assert!(refusal(word("tokenizer.chat_template", "{% for %}")).contains("chat template cannot be used"));
    let merges = |merge: &'static str| {
        move |tiny: &mut Tiny| {
            tiny.set("tokenizer.ggml.merges", Key::Texts(vec![merge.into()]));
        }
    };
    assert!(refusal(merges("ab")).contains("not a pair"));
    assert!(refusal(merges("a b")).contains("the model's tokenizer"));
    let types = refusal(|tiny| tiny.set("tokenizer.ggml.token_type", Key::Numbers(vec![1; 3])));
    assert!(types.contains("258 tokens but 3 in `tokenizer.ggml.token_type`"), "{types}");
    let twins = refusal(|tiny| tiny.set("tokenizer.ggml.tokens", Key::Texts(vec!["a".into(); 258])));
    assert!(twins.contains("the token \"a\" twice"), "{twins}");
    for kind in ["bos", "eos", "eot", "eom", "unknown"] {
        let text = refusal(number(&format!("tokenizer.ggml.{kind}_token_id"), 258));
        assert!(text.contains(kind) && text.contains("beyond its 258 tokens"), "{text}");
    }
    let sentencepiece = |scores: Vec<f32>| {
        refusal(move |tiny| {
            tiny.set("tokenizer.ggml.model", Key::Text("llama".into()));
            tiny.set("tokenizer.ggml.scores", Key::Floats(scores));
        })
    };
    assert!(sentencepiece(vec![0.0; 257]).contains("258 tokens but 257 in `tokenizer.ggml.scores`"));
    assert!(sentencepiece(vec![f32::NAN; 258]).contains("the score NaN"));
    let no_scores = refusal(word("tokenizer.ggml.model", "llama"));
    assert!(no_scores.contains("lacks `tokenizer.ggml.scores`"), "{no_scores}");
    let flag = refusal(word("tokenizer.ggml.add_bos_token", "yes"));
    assert!(flag.contains("add_bos_token` is not true or false"), "{flag}");
}

#[test]
fn what_begins_a_prompt_and_ends_a_turn_is_the_files_or_usual() {
    let mut tiny = Tiny::new("qwen2", 16);
    tiny.set("tokenizer.ggml.eot_token_id", Key::Number(7));
    tiny.set("tokenizer.ggml.eom_token_id", Key::Number(9));
    let description = built(&tiny, Weights::F32).unwrap();
    assert_eq!((description.end_of_turn, description.first_token), (vec![0, 1, 7, 9], None));
    tiny.set("tokenizer.ggml.pre", Key::Text("llama-bpe".into()));
    assert_eq!(built(&tiny, Weights::F32).unwrap().first_token, Some(0));
    tiny.set("tokenizer.ggml.add_bos_token", Key::Flag(false));
    assert_eq!(built(&tiny, Weights::F32).unwrap().first_token, None);
}
