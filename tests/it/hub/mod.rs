//! The built program with a hub of the tests' own: a model by its name, from the network to an answer.

mod export;
// The writer that the unit tests use, too.
#[path = "../../../src/model/onnx/testing.rs"]
#[expect(dead_code, reason = "the unit tests use all of it")]
pub mod onnx;
mod server;

use std::path::Path;
use std::process::Command;

use self::server::{Act, Seen, Server};
use crate::gguf::fixture::{Fixture, text};
use crate::tool::{Done, finish, ready, tool};

const REPO: &str = "org/tiny-GGUF";
const FILE: &str = "tiny-q8_0.gguf";

/// A llama of one layer that knows bytes and says nothing of use: all its weights are 0.
fn tiny() -> Vec<u8> {
    const WIDTH: u64 = 64;
    let mut fixture = Fixture::new();
    let number = |n: u32| n.to_le_bytes();
    let list = |kind: u32, items: Vec<Vec<u8>>| {
        [&number(kind)[..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat()
    };
    let mut tokens: Vec<String> = byte_letters();
    let bytes = tokens.len();
    tokens.extend(["ab", "<|im_start|>", "<|im_end|>"].map(str::to_owned));
    fixture.key("general.architecture", 8, &text("llama"));
    for (key, value) in [
        ("llama.block_count", 1),
        ("llama.context_length", 8192),
        ("llama.embedding_length", WIDTH as u32),
        ("llama.feed_forward_length", 96),
        ("llama.attention.head_count", 2),
        ("llama.attention.head_count_kv", 1),
        ("tokenizer.ggml.bos_token_id", bytes as u32 + 1),
        ("tokenizer.ggml.eos_token_id", bytes as u32 + 2),
    ] {
        fixture.key(key, 4, &number(value));
    }
    fixture.key("llama.attention.layer_norm_rms_epsilon", 6, &1e-5_f32.to_le_bytes());
    fixture.key(
        "tokenizer.chat_template",
        8,
        &text("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"),
    );
    fixture.key("tokenizer.ggml.model", 8, &text("gpt2"));
    fixture.key("tokenizer.ggml.pre", 8, &text("smollm"));
    let kinds = (0..tokens.len()).map(|at| (if at > bytes { 3_i32 } else { 1 }).to_le_bytes().to_vec());
    fixture.key("tokenizer.ggml.token_type", 9, &list(5, kinds.collect()));
    fixture.key("tokenizer.ggml.tokens", 9, &list(8, tokens.iter().map(|token| text(token)).collect()));
    fixture.key("tokenizer.ggml.merges", 9, &list(8, vec![text("a b")]));
    let vocabulary = tokens.len() as u64;
    for (name, dims) in [
        ("token_embd.weight", vec![WIDTH, vocabulary]),
        ("output_norm.weight", vec![WIDTH]),
        ("blk.0.attn_norm.weight", vec![WIDTH]),
        ("blk.0.attn_q.weight", vec![WIDTH, WIDTH]),
        ("blk.0.attn_k.weight", vec![WIDTH, 32]),
        ("blk.0.attn_v.weight", vec![WIDTH, 32]),
        ("blk.0.attn_output.weight", vec![WIDTH, WIDTH]),
        ("blk.0.ffn_norm.weight", vec![WIDTH]),
        ("blk.0.ffn_gate.weight", vec![WIDTH, 96]),
        ("blk.0.ffn_up.weight", vec![WIDTH, 96]),
        ("blk.0.ffn_down.weight", vec![96, WIDTH]),
    ] {
        fixture.tensor(name, &dims, 0, &vec![0; dims.iter().product::<u64>() as usize * 4]);
    }
    fixture.bytes()
}

/// The letters that stand for the 256 bytes in a byte-level vocabulary.
fn byte_letters() -> Vec<String> {
    let printable =
        |byte: u32| (0x21..=0x7e).contains(&byte) || (0xa1..=0xac).contains(&byte) || (0xae..=0xff).contains(&byte);
    let mut strange = 0x100;
    let letters = (0..256).map(|byte| {
        let letter = if printable(byte) { byte } else { strange };
        strange += u32::from(!printable(byte));
        char::from_u32(letter).unwrap().to_string()
    });
    letters.collect()
}

fn with_hub(endpoint: &str, home: &Path, arguments: &[&str]) -> Command {
    let mut command = tool(arguments);
    command.env("HF_ENDPOINT", endpoint).env("HF_HOME", home);
    command
}

fn serve(repo: &str, file: &str, decide: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Server {
    Server::start(repo, &[(file, &tiny())], decide)
}

fn ask(endpoint: &str, home: &Path, flags: &[&str]) -> Done {
    ready();
    let arguments = ["run", "Print 1.", "--json", "--max-retries", "1", "--max-tokens", "5", "--n-ctx", "8192"];
    finish(with_hub(endpoint, home, &[&arguments[..], flags].concat()))
}

#[test]
fn a_name_becomes_an_answer_and_is_fetched_once() {
    let home = tempfile::tempdir().unwrap();
    let server =
        serve(REPO, FILE, |seen| if seen.is_file() && seen.before == 0 { Act::Cut(50_000) } else { Act::Serve });
    // All weights are 0, so it says nothing but its first token; but it is this model that says it.
    let answer = ask(&server.url(), home.path(), &["--model", REPO]).exits(1).json();
    assert_eq!((answer["model"].as_str(), answer["attempts"].as_u64()), (Some("tiny-q8_0"), Some(1)), "{answer}");
    assert!(answer["response"].as_str().unwrap().ends_with("\0\0\0\0\0"), "{answer}");
    assert_eq!(server.starts(), [0, 50_000]);
    let nobody = "http://127.0.0.1:9";
    let again = |flags: &[&str]| ask(nobody, home.path(), flags).exits(1).json()["model"].clone();
    assert_eq!(again(&["--model", REPO]), "tiny-q8_0");
    assert_eq!(again(&["--offline", "--model", &format!("{REPO}:{FILE}")]), "tiny-q8_0");
    let listing =
        finish(with_hub(nobody, home.path(), &["setup", "--check", "--json", "--model", REPO])).exits(0).json();
    assert_eq!(listing["complete"], true, "{listing}");
    // What is built of it does not need it any more.
    std::fs::remove_dir_all(home.path()).unwrap();
    assert_eq!(again(&["--offline", "--model", REPO]), "tiny-q8_0");
}

/// Serves the files of an ONNX model that describe it, at the top, and `others`.
fn serve_onnx(repo: &str, others: &[(&str, Vec<u8>)]) -> Server {
    let config = br#"{"max_position_embeddings": 8192, "eos_token_id": 1}"#;
    let top = [
        ("tokenizer.json", export::tokenizer()),
        ("tokenizer_config.json", export::tokenizer_config()),
        ("config.json", config.to_vec()),
    ];
    let files: Vec<(&str, &[u8])> = top.iter().chain(others).map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    Server::start(repo, &files, |_| Act::Serve)
}

#[test]
fn an_onnx_model_is_found_with_its_tokenizer_at_the_top_of_the_repository() {
    let home = tempfile::tempdir().unwrap();
    let [a, b] = [2, 3].map(export::graph);
    let genai = br#"{"model": {"eos_token_id": 1, "decoder": {"filename": "decoder.onnx"}}}"#.to_vec();
    let (repo, other) = ("org/tiny-onnx", "org/tiny-genai");
    let cpu = [("cpu/genai_config.json", genai), ("cpu/decoder.onnx", a.clone()), ("cpu/other.onnx", b.clone())];
    let exports = [("onnx/model.onnx", a), ("export/model.onnx", b)];
    let (exports, cpu) = (serve_onnx(repo, &exports), serve_onnx(other, &cpu));
    for (server, name, letter) in [
        (&exports, repo, 'a'),
        (&exports, "org/tiny-onnx:export/model.onnx", 'b'),
        (&cpu, other, 'a'),
        (&cpu, "org/tiny-genai:cpu/other.onnx", 'b'),
    ] {
        let answer = ask(&server.url(), home.path(), &["--model", name]).exits(1).json();
        let said = answer["response"].as_str().unwrap();
        assert!(said.ends_with(&letter.to_string().repeat(5)), "{name}: {answer}");
        assert_eq!(answer["model"], *name.split(':').next().unwrap());
    }
}

#[test]
fn pruning_leaves_the_hubs_cache_alone() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("hub/models--org--tiny-GGUF/blobs");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("blob"), "x").unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut prune = with_hub("http://127.0.0.1:9", home.path(), &["setup", "--prune", "--cache-dir"]);
    prune.arg(cache.path());
    finish(prune).exits(0);
    assert!(place.join("blob").is_file());
}

#[test]
fn a_refusal_is_three_lines_and_exit_code_69() {
    let home = tempfile::tempdir().unwrap();
    let gated = serve(REPO, FILE, |_| Act::Status(403, vec![("X-Error-Code", "GatedRepo".into())]));
    ready();
    let done = finish(with_hub(&gated.url(), home.path(), &["run", "Print 1.", "--model", REPO])).exits(69);
    assert!(done.stderr.contains("owner wants to know") && done.stderr.contains("HF_TOKEN"), "{}", done.stderr);
    assert!(done.stderr.lines().count() <= 3 && done.stdout.is_empty(), "{}", done.stderr);
    let error = ask("http://127.0.0.1:9", home.path(), &["--model", REPO]).exits(69).json()["error"].clone();
    assert!(error.as_str().unwrap().contains("cannot be reached"), "{error}");
    let mut offline = with_hub(&gated.url(), home.path(), &["run", "Print 1.", "--model", REPO]);
    let before = gated.seen().len();
    offline.env("HF_HUB_OFFLINE", "1");
    let done = finish(offline).exits(69);
    assert!(done.stderr.contains("setup --model org/tiny-GGUF"), "{}", done.stderr);
    assert_eq!(gated.seen().len(), before);
}
