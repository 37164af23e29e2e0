//! GGUF files: headers that claim what is not there, models that cannot be, and what is no file at all.

use std::fs;
use std::path::Path;

use super::{Lie, write_sparse};
use crate::gguf::fixture::{Fixture, text};
use crate::gguf::tiny::{F32, Key, Q4_0, Tiny, VOCABULARY, WIDTH};

const TEXT: u32 = 8;
const LIST: u32 = 9;

/// A lie that is a file of `bytes`.
fn file(name: &'static str, says: &'static str, bytes: impl Fn() -> Vec<u8> + 'static) -> Lie {
    let make = move |folder: &Path| {
        // A model that can be built is kept in the cache under its name and content: the same in each run of the tests.
        let path = folder.join(format!("{}.gguf", name.replace([' ', '/'], "-")));
        fs::write(&path, bytes()).unwrap();
        path
    };
    Lie { name, make: Box::new(make), says }
}

/// A true file but for what is written beside it.
fn written(name: &'static str, says: &'static str, change: impl Fn(&mut Fixture) + 'static) -> Lie {
    file(name, says, move || {
        let mut fixture = Tiny::new("llama", 16).fixture();
        change(&mut fixture);
        fixture.bytes()
    })
}

/// A true file but for its keys and tensors.
fn changed(name: &'static str, says: &'static str, change: impl Fn(&mut Tiny) + 'static) -> Lie {
    file(name, says, move || {
        let mut tiny = Tiny::new("llama", 16);
        change(&mut tiny);
        tiny.fixture().bytes()
    })
}

fn set(name: &'static str, says: &'static str, key: &'static str, value: Key) -> Lie {
    changed(name, says, move |tiny| tiny.set(key, value.clone()))
}

fn template(name: &'static str, says: &'static str, source: &str) -> Lie {
    set(name, says, "tokenizer.chat_template", Key::Text(source.into()))
}

/// Something of another kind under the name of a model.
fn thing(name: &'static str, says: &'static str, make: impl Fn(&Path) + 'static) -> Lie {
    let make = move |folder: &Path| {
        let path = folder.join("model.gguf");
        make(&path);
        path
    };
    Lie { name, make: Box::new(make), says }
}

pub fn lies() -> Vec<Lie> {
    [headers(), tensors(), models(), tokenizers(), things()].into_iter().flatten().collect()
}

fn headers() -> Vec<Lie> {
    let cut = |len: fn(usize) -> usize| {
        move || {
            let mut bytes = Tiny::new("llama", 16).fixture().bytes();
            bytes.truncate(len(bytes.len()));
            bytes
        }
    };
    let of = |kind: u32, count: u64| [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat();
    vec![
        file("an empty file", "header needs 4 more bytes where 0 are left", Vec::new),
        file("no GGUF", "does not begin with `GGUF`", || b"PK\x03\x04 and so on".to_vec()),
        file("a cut header", "claims 258 list elements", cut(|_| 2000)),
        file("cut data", "would lie outside the file", cut(|len| len - 1000)),
        written("version 99", "format version is 99", |file| file.version = 99),
        written("2^60 tensors", "claims 1152921504606846976 tensors", |file| file.tensor_count = Some(1 << 60)),
        written("2^60 keys", "claims 1152921504606846976 metadata keys", |file| file.key_count = Some(1 << 60)),
        written("a list of 2^60 texts", "claims 1152921504606846976 list elements", move |file| {
            file.key("tokenizer.ggml.more", LIST, &of(TEXT, 1 << 60));
        }),
        written("a list of 2^61 numbers that is kept", "claims 2305843009213693952 list elements", move |file| {
            file.key("tokenizer.ggml.scores", LIST, &of(6, 1 << 61));
        }),
        written("a list of lists", "a list of values of type 9 is not supported", move |file| {
            file.key("deep", LIST, &[of(LIST, 1), of(LIST, 1)].concat());
        }),
        written("a text of 2^62 bytes", "claims a text of 4611686018427387904 bytes", |file| {
            file.key("general.name", TEXT, &(1_u64 << 62).to_le_bytes());
        }),
        written("a value of no type", "unknown value type 77", |file| file.key("x", 77, &[0; 8])),
        written("a key twice", "has `general.architecture` twice", |file| {
            file.key("general.architecture", TEXT, &text("llama"));
        }),
        set("alignment 3", "alignment is 3", "general.alignment", Key::Number(3)),
        set("alignment 2^31", "alignment is 2147483648", "general.alignment", Key::Number(1 << 31)),
        thing("texts of 160 MB", "texts and lists take more than 134217728 bytes", long_texts),
        thing("a vocabulary of a million empty texts", "lacks `general.architecture`", move |path| {
            let mut fixture = Fixture::new();
            fixture.key("tokenizer.ggml.tokens", LIST, &of(TEXT, 1 << 20));
            write_sparse(path, &[(0, fixture.bytes())], 300 << 20);
        }),
    ]
}

/// Ten texts as long as a text may be, all of zeros.
fn long_texts(path: &Path) {
    const LEN: u64 = 16 << 20;
    let head = [&b"GGUF"[..], &3_u32.to_le_bytes(), &0_u64.to_le_bytes(), &10_u64.to_le_bytes()].concat();
    let mut at = head.len() as u64;
    let mut pieces = vec![(0, head)];
    for key in 0..10 {
        let piece = [text(&format!("text.{key}")), TEXT.to_le_bytes().to_vec(), LEN.to_le_bytes().to_vec()].concat();
        let end = at + piece.len() as u64 + LEN;
        pieces.push((at, piece));
        at = end;
    }
    write_sparse(path, &pieces, at);
}

fn tensors() -> Vec<Lie> {
    let at =
        |dims: &'static [u64], kind: u32, start: u64| move |file: &mut Fixture| file.tensor_at("x", dims, kind, start);
    vec![
        written("a tensor beyond the file", "tensor `x` would lie outside the file", at(&[32], F32, 1 << 40)),
        written("a tensor that begins at 2^64", "tensor `x` would lie outside", at(&[32], F32, u64::MAX - 31)),
        written("dimensions beyond a number", "tensor `x` would lie outside", at(&[1 << 40, 1 << 40], F32, 0)),
        written("a dimension of 2^63", "tensor `x` would lie outside", at(&[1 << 63], F32, 0)),
        written("a dimension of none", "tensor `x` has a shape that its type cannot have", at(&[32, 0], F32, 0)),
        written("a row that is no block", "tensor `x` has a shape that its type cannot have", at(&[33], Q4_0, 0)),
        written("a type of none", "`x`", at(&[32], 77, 0)),
        written("no dimensions", "tensor `x` has 0 dimensions", at(&[], F32, 0)),
        written("tensors that overlap", "its tensors overlap", |file| {
            for copy in 0..100 {
                file.tensor_at(&format!("copy.{copy}"), &[WIDTH, VOCABULARY], F32, 0);
            }
        }),
        written("a tensor twice", "holds tensor `output_norm.weight` twice", |file| {
            file.tensor_at("output_norm.weight", &[1], F32, 0);
        }),
        changed("a tensor of another shape", "`blk.0.ffn_up.weight` has the shape", |tiny| {
            tiny.drop_tensor("blk.0.ffn_up.weight");
            tiny.tensor("blk.0.ffn_up.weight", &[WIDTH, 32]);
        }),
        changed("a layer that lacks", "lacks the tensor `blk.3.attn_q.weight`", |tiny| {
            tiny.drop_tensor("blk.3.attn_q.weight");
        }),
    ]
}

fn models() -> Vec<Lie> {
    vec![
        set("an architecture of none", "architecture is `rwkv99`", "general.architecture", Key::Text("rwkv99".into())),
        changed("no architecture", "lacks `general.architecture`", |tiny| tiny.drop_key("general.architecture")),
        set("rope of NaN", "rope.freq_base", "llama.rope.freq_base", Key::Float(f32::NAN)),
        set("no heads", "head_count` is 0", "llama.attention.head_count", Key::Number(0)),
        set("2^32 heads", "head_count", "llama.attention.head_count", Key::Number(u32::MAX)),
        set("2^32 layers", "block_count", "llama.block_count", Key::Number(u32::MAX)),
        set("a context of 2^32", "context_length", "llama.context_length", Key::Number(u32::MAX)),
        set("a size that is a flag", "block_count` is not a whole number", "llama.block_count", Key::Flag(true)),
        set("a size that is a text", "block_count` is not a whole number", "llama.block_count", Key::Text("4".into())),
    ]
}

fn tokenizers() -> Vec<Lie> {
    let merges = |merge: &str| Key::Texts(vec![merge.into()]);
    vec![
        set("a tokenizer of none", "its tokenizer is `bert`", "tokenizer.ggml.model", Key::Text("bert".into())),
        set("a pattern of none", "tekken-9", "tokenizer.ggml.pre", Key::Text("tekken-9".into())),
        set("merges of unknown tokens", "the model's tokenizer", "tokenizer.ggml.merges", merges("zz zz")),
        set("merges of no pair", "not a pair", "tokenizer.ggml.merges", merges("ab")),
        set("fewer types than tokens", "258 tokens but 3", "tokenizer.ggml.token_type", Key::Numbers(vec![1; 3])),
        set("tokens twice", "twice", "tokenizer.ggml.tokens", Key::Texts(vec!["a".into(); VOCABULARY as usize])),
        set("tokens that are numbers", "tokenizer.ggml.tokens", "tokenizer.ggml.tokens", Key::Numbers(vec![1; 258])),
        changed("scores of NaN", "the score NaN", |tiny| {
            tiny.set("tokenizer.ggml.model", Key::Text("llama".into()));
            tiny.set("tokenizer.ggml.scores", Key::Floats(vec![f32::NAN; VOCABULARY as usize]));
        }),
        set("an end beyond the tokens", "eos", "tokenizer.ggml.eos_token_id", Key::Number(u32::MAX)),
        changed("no end of a turn", "names no token that ends a turn", |tiny| {
            tiny.drop_key("tokenizer.ggml.bos_token_id");
            tiny.drop_key("tokenizer.ggml.eos_token_id");
            for (_, value) in &mut tiny.keys {
                if let Key::Texts(tokens) = value
                    && let Some(end) = tokens.get_mut(1)
                {
                    *end = "<nothing>".into();
                }
            }
        }),
        changed("no template", "no chat template", |tiny| tiny.drop_key("tokenizer.chat_template")),
        template("a template that is none", "chat template cannot be used", "{% for %}"),
        template(
            "a template that loops",
            "chat template cannot be used",
            "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
        ),
        template("a template that calls itself", "chat template", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
        template("a template of a terabyte", "chat template", "{{ 'x' * 1000000000000 }}"),
        template("a template with braces inside braces", "chat template", &"{{ [".repeat(60_000)),
        template("a deep template", "chat template", &format!("{{{{ {}1 }}}}", "(".repeat(100_000))),
        template("a long template", "chat template has 300000 bytes", &"x".repeat(300_000)),
    ]
}

fn things() -> Vec<Lie> {
    let mut things = vec![
        thing("a folder", "holds no model", |path| fs::create_dir(path).unwrap()),
        thing("nothing at all", "there is no file", |_| ()),
    ];
    #[cfg(unix)]
    things.extend([
        thing("a pipe", "there is no file", pipe),
        thing("a link to endless zeros", "there is no file", |path| {
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        }),
        thing("a link to itself", "there is no file", |path| std::os::unix::fs::symlink(path, path).unwrap()),
        Lie { name: "a device", make: Box::new(|_| "/dev/zero".into()), says: "there is no model `/dev/zero`" },
    ]);
    things
}

/// A pipe to which nobody will write.
#[cfg(unix)]
pub fn pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}
