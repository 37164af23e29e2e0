use super::onnx::Layout;
use super::*;

fn listing(names: &[&str]) -> Vec<Listed> {
    names.iter().map(|name| Listed { name: (*name).into(), bytes: None }).collect()
}

fn chosen(names: &[&str], named: Option<&str>) -> Choice {
    choose(&listing(names), named).unwrap()
}

fn gguf(names: &[&str], named: Option<&str>) -> String {
    match chosen(names, named) {
        Choice::Gguf(name) => name,
        other => panic!("{other:?}"),
    }
}

fn onnx(names: &[&str], named: Option<&str>) -> OnnxChoice {
    match chosen(names, named) {
        Choice::Onnx(choice) => choice,
        other => panic!("{other:?}"),
    }
}

fn refusal(names: &[&str], named: Option<&str>) -> (String, String) {
    let error = choose(&listing(names), named).unwrap_err();
    assert!(error.is_usage());
    (error.to_string(), error.advice().unwrap_or_default().to_owned())
}

const QWEN: [&str; 8] = [
    "README.md",
    "qwen2.5-coder-1.5b-instruct-fp16.gguf",
    "qwen2.5-coder-1.5b-instruct-q2_k.gguf",
    "qwen2.5-coder-1.5b-instruct-q4_0.gguf",
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    "qwen2.5-coder-1.5b-instruct-q5_k_m.gguf",
    "qwen2.5-coder-1.5b-instruct-q6_k.gguf",
    "qwen2.5-coder-1.5b-instruct-q8_0.gguf",
];

#[test]
fn the_best_gguf_comes_first_and_the_next_best_without_it() {
    let best = |count: usize| gguf(&QWEN[..count], None);
    assert_eq!(best(8), QWEN[7]);
    assert_eq!(best(7), QWEN[6]);
    assert_eq!(best(6), QWEN[5]);
    assert_eq!(best(5), QWEN[4]);
    assert_eq!(best(4), QWEN[3]);
    assert_eq!(best(3), QWEN[1], "16 bits before two");
    assert_eq!(gguf(&["m.IQ1_S.gguf", "m.Q3_K_S.gguf"], None), "m.Q3_K_S.gguf");
    assert_eq!(gguf(&["only.gguf"], None), "only.gguf");
}

#[test]
fn a_quantization_is_read_off_the_names_end_and_whole() {
    assert_eq!(gguf(&["m-f16-Q4_K_S.gguf", "m-Q4_K_M.gguf"], None), "m-Q4_K_M.gguf");
    assert_eq!(gguf(&QWEN, Some("Q4_K_M")), QWEN[4]);
    assert_eq!(gguf(&["a.Q6_K_L.gguf", "a.Q6_K.gguf"], Some("q6_k")), "a.Q6_K.gguf");
    assert_eq!(gguf(&["q8_0/m-Q8_0.gguf", "m-Q8_0.gguf"], None), "m-Q8_0.gguf");
    assert_eq!(refusal(&QWEN, Some("q3_k_m")).0, "there is no model `q3_k_m`");
}

#[test]
fn what_is_no_model_and_what_is_in_pieces_is_left_alone() {
    assert_eq!(gguf(&["mmproj-m-Q8_0.gguf", "m-Q4_0.gguf", "m.imatrix.gguf"], None), "m-Q4_0.gguf");
    let pieces = ["m-q8_0-00001-of-00002.gguf", "m-q8_0-00002-of-00002.gguf", "m-q4_k_m.gguf"];
    assert_eq!(gguf(&pieces, None), "m-q4_k_m.gguf");
    let (what, advice) = refusal(&pieces[..2], None);
    assert!(what.contains("one piece") && advice.contains("smaller quantization"), "{what} {advice}");
    assert!(refusal(&pieces, Some(pieces[0])).0.contains("one piece"));
    assert!(refusal(&pieces, Some("q8_0")).0.contains("one piece"));
}

#[test]
fn a_named_file_is_that_file_or_an_error_that_tells_others() {
    assert_eq!(gguf(&QWEN, Some(QWEN[2])), QWEN[2]);
    let (what, advice) = refusal(&QWEN, Some("qwen.gguf"));
    assert_eq!(what, "there is no file `qwen.gguf`");
    assert!(advice.contains(QWEN[1]) && advice.ends_with("and 1 more"), "{advice}");
    assert!(!advice.contains("README"), "{advice}");
    assert_eq!(refusal(&["README.md"], None).0, "there is no GGUF and no ONNX model");
    assert_eq!(refusal(&[], None).0, "there is no GGUF and no ONNX model");
    assert!(refusal(&[".gguf"], None).0.contains("no GGUF"), "a name of nothing but its ending");
}

const TRANSFORMERS_JS: [&str; 13] = [
    "config.json",
    "onnx/model.onnx",
    "onnx/model.onnx_data",
    "onnx/model_bnb4.onnx",
    "onnx/model_fp16.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_q4.onnx",
    "onnx/model_q4.onnx_data",
    "onnx/model_q4f16.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_uint8.onnx",
    "pytorch_model.bin",
    "tokenizer.json",
];

#[test]
fn one_graph_with_its_weights_and_what_describes_it() {
    let choice = onnx(&TRANSFORMERS_JS, None);
    assert_eq!((choice.layout, choice.folder.as_str()), (Layout::Single, "onnx"));
    assert_eq!(choice.graphs, ["onnx/model_q4.onnx"]);
    assert_eq!(choice.files, ["config.json", "onnx/model_q4.onnx", "onnx/model_q4.onnx_data", "tokenizer.json"]);
    let without = |gone: &[&str]| -> Vec<&str> {
        TRANSFORMERS_JS.into_iter().filter(|name| !gone.iter().any(|gone| name.contains(gone))).collect()
    };
    assert_eq!(onnx(&without(&["q4"]), None).graphs, ["onnx/model.onnx"]);
    assert_eq!(onnx(&without(&["q4", "model.onnx"]), None).graphs, ["onnx/model_int8.onnx"]);
    assert_eq!(onnx(&["onnx/model_fp16.onnx", "onnx/model_q4f16.onnx"], None).graphs, ["onnx/model_q4f16.onnx"]);
    assert_eq!(onnx(&["onnx/model_q4.onnx", "onnx/model_q8.onnx"], None).graphs, ["onnx/model_q8.onnx"]);
    assert_eq!(onnx(&TRANSFORMERS_JS, Some("fp16")).graphs, ["onnx/model_fp16.onnx"]);
    let named = onnx(&TRANSFORMERS_JS, Some("onnx/model.onnx"));
    assert_eq!(named.files, ["config.json", "onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json"]);
}

#[test]
fn weights_in_numbered_parts_belong_to_their_graph_alone() {
    let names = [
        "model.onnx",
        "model.onnx.data",
        "model.onnx_data_1",
        "model.onnx_data_2",
        "model.data",
        "model.onnx_database",
        "model_q4x.onnx_data",
    ];
    assert_eq!(onnx(&names, None).files, names[..5]);
}

#[test]
fn split_models_keep_to_one_precision() {
    let names = [
        "onnx/decoder_model_merged_fp16.onnx",
        "onnx/decoder_model_merged_q4.onnx",
        "onnx/decoder_model_merged_q4.onnx_data",
        "onnx/embed_tokens_fp16.onnx",
        "onnx/embed_tokens_q4.onnx",
        "onnx/vision_encoder_q4.onnx",
        "tokenizer_config.json",
    ];
    let choice = onnx(&names, None);
    assert_eq!(choice.layout, Layout::Split);
    assert_eq!(choice.graphs, ["onnx/embed_tokens_q4.onnx", "onnx/decoder_model_merged_q4.onnx"]);
    assert_eq!(choice.files, [names[1], names[2], names[4], names[6]]);
    assert_eq!(onnx(&names, Some(names[0])).graphs, ["onnx/embed_tokens_fp16.onnx", names[0]]);
    let other = ["onnx/decoder_model_merged_q4.onnx", "onnx/embed_tokens.onnx"];
    assert_eq!(onnx(&other, None).graphs, ["onnx/embed_tokens.onnx", other[0]]);
}

#[test]
fn of_genai_folders_the_one_for_processors() {
    let names = [
        "cpu_and_mobile/cpu-int4-rtn-block-32/genai_config.json",
        "cpu_and_mobile/cpu-int4-rtn-block-32/model.onnx",
        "cpu_and_mobile/cpu-int4-rtn-block-32-acc-level-4/genai_config.json",
        "cpu_and_mobile/cpu-int4-rtn-block-32-acc-level-4/model.onnx",
        "cpu_and_mobile/cpu-int4-rtn-block-32-acc-level-4/model.onnx.data",
        "cpu_and_mobile/cpu-int4-rtn-block-32-acc-level-4/tokenizer.json",
        "cuda/cuda-fp16/genai_config.json",
        "cuda/cuda-fp16/model.onnx",
        "cuda/cuda-fp16/tokenizer.json",
        "config.json",
    ];
    let choice = onnx(&names, None);
    assert_eq!((choice.layout, choice.graphs), (Layout::Genai, vec![names[3].to_owned()]));
    assert_eq!(choice.files, [names[2], names[3], names[4], names[5], names[9]]);
    assert_eq!(onnx(&names, Some(names[7])).folder, "cuda/cuda-fp16");
    assert_eq!(onnx(&names[6..], None).folder, "cuda/cuda-fp16", "if there is no other");
    let top = onnx(&["genai_config.json", "model.onnx", "model.onnx.data"], None);
    assert_eq!((top.layout, top.files.len()), (Layout::Genai, 3));
    assert!(refusal(&["genai_config.json"], None).0.contains("no ONNX model"), "a description of nothing");
}

#[test]
fn only_names_that_can_be_chosen_matter() {
    for name in QWEN[1..].iter().chain(&TRANSFORMERS_JS[..11]) {
        assert!(matters(name), "{name}");
    }
    for name in ["README.md", "pytorch_model.bin", "model.safetensors", "evil.py", "data.json"] {
        assert!(!matters(name), "{name}");
    }
}
