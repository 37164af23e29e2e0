//! Tiny models of every architecture for tests: their weights come of their names, so that no file need be kept.

use super::fixture::{Fixture, text};

pub(crate) const WIDTH: u64 = 64;
const HIDDEN: u64 = 96;
/// Enough for every pattern of layers that an architecture has.
pub(crate) const LAYERS: u64 = 6;
/// One token for each byte, and the two control tokens before them.
pub(crate) const VOCABULARY: u64 = 258;

#[derive(Clone, Debug)]
pub(crate) enum Key {
    Number(u32),
    Float(f32),
    Flag(bool),
    Text(String),
    Texts(Vec<String>),
    Numbers(Vec<i32>),
    Floats(Vec<f32>),
}

/// A model as lists of keys and tensors, to be changed before it is written.
#[derive(Clone, Debug)]
pub(crate) struct Tiny {
    pub keys: Vec<(String, Key)>,
    /// Name, dimensions, ggml's type: one of those below.
    pub tensors: Vec<(String, Vec<u64>, u32)>,
}

pub(crate) const F32: u32 = 0;
pub(crate) const Q4_0: u32 = 2;
const Q4_1: u32 = 3;
const Q5_0: u32 = 6;
const Q8_0: u32 = 8;
#[allow(dead_code, reason = "only some of those who include this file use it")]
pub(crate) const KINDS: [u32; 4] = [Q4_0, Q4_1, Q5_0, Q8_0];

impl Tiny {
    /// A model with the tensors that every architecture has, for heads of `head_dim`.
    pub fn new(architecture: &str, head_dim: u64) -> Self {
        let mut this = Self { keys: Vec::new(), tensors: Vec::new() };
        this.set("general.architecture", Key::Text(architecture.into()));
        for (key, value) in [
            ("block_count", LAYERS as u32),
            ("context_length", 64),
            ("embedding_length", WIDTH as u32),
            ("feed_forward_length", HIDDEN as u32),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
            ("attention.key_length", head_dim as u32),
            ("attention.value_length", head_dim as u32),
            ("rope.dimension_count", head_dim as u32),
        ] {
            this.set(&format!("{architecture}.{key}"), Key::Number(value));
        }
        this.set(&format!("{architecture}.attention.layer_norm_rms_epsilon"), Key::Float(1e-5));
        this.tokenizer();
        this.tensor("token_embd.weight", &[WIDTH, VOCABULARY]);
        this.tensor("output_norm.weight", &[WIDTH]);
        this.each_layer("attn_norm.weight", &[WIDTH]);
        this.each_layer("attn_q.weight", &[WIDTH, 4 * head_dim]);
        this.each_layer("attn_k.weight", &[WIDTH, 2 * head_dim]);
        this.each_layer("attn_v.weight", &[WIDTH, 2 * head_dim]);
        this.each_layer("attn_output.weight", &[4 * head_dim, WIDTH]);
        this.each_layer("ffn_norm.weight", &[WIDTH]);
        this.each_layer("ffn_gate.weight", &[WIDTH, HIDDEN]);
        this.each_layer("ffn_up.weight", &[WIDTH, HIDDEN]);
        this.each_layer("ffn_down.weight", &[HIDDEN, WIDTH]);
        this
    }

    fn tokenizer(&mut self) {
        let bytes = (0..=255).map(|byte| stand_in(byte).to_string());
        let tokens: Vec<String> = ["<s>", "</s>"].map(String::from).into_iter().chain(bytes).collect();
        assert_eq!(tokens.len() as u64, VOCABULARY);
        let kinds = (0..tokens.len()).map(|id| if id < 2 { 3 } else { 1 }).collect();
        self.set("tokenizer.ggml.model", Key::Text("gpt2".into()));
        self.set("tokenizer.ggml.pre", Key::Text("smollm".into()));
        self.set("tokenizer.ggml.tokens", Key::Texts(tokens));
        self.set("tokenizer.ggml.token_type", Key::Numbers(kinds));
        self.set("tokenizer.ggml.merges", Key::Texts(Vec::new()));
        self.set("tokenizer.ggml.bos_token_id", Key::Number(0));
        self.set("tokenizer.ggml.eos_token_id", Key::Number(1));
        self.set("tokenizer.chat_template", Key::Text("{{ messages }}".into()));
    }

    /// Sets a key, in the place of one of the same name.
    pub fn set(&mut self, name: &str, value: Key) {
        self.drop_key(name);
        self.keys.push((name.into(), value));
    }

    pub fn drop_key(&mut self, name: &str) {
        self.keys.retain(|(key, _)| key != name);
    }

    pub fn tensor(&mut self, name: &str, dims: &[u64]) {
        self.tensors.push((name.into(), dims.to_vec(), F32));
    }

    pub fn each_layer(&mut self, name: &str, dims: &[u64]) {
        for layer in 0..LAYERS {
            self.tensor(&format!("blk.{layer}.{name}"), dims);
        }
    }

    pub fn drop_tensor(&mut self, name: &str) {
        self.tensors.retain(|(tensor, ..)| tensor != name);
    }

    pub fn fixture(&self) -> Fixture {
        let mut fixture = Fixture::new();
        for (name, value) in &self.keys {
            let (kind, bytes) = encoded(value);
            fixture.key(name, kind, &bytes);
        }
        for (name, dims, kind) in &self.tensors {
            let len = dims.iter().product::<u64>() as usize;
            let bytes = match *kind {
                // The bytes of a block's numbers, how large a scale is to them, and whether there is a minimum.
                Q4_0 => blocks(name, len, 16, 0x26, false),
                Q4_1 => blocks(name, len, 16, 0x26, true),
                Q5_0 => blocks(name, len, 20, 0x22, false),
                Q8_0 => blocks(name, len, 32, 0x16, false),
                _ => floats(name, len, dims),
            };
            fixture.tensor(name, dims, *kind, &bytes);
        }
        fixture
    }
}

fn encoded(value: &Key) -> (u32, Vec<u8>) {
    let list = |kind: u32, items: Vec<Vec<u8>>| {
        (9, [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat())
    };
    match value {
        Key::Number(number) => (4, number.to_le_bytes().to_vec()),
        Key::Float(number) => (6, number.to_le_bytes().to_vec()),
        Key::Flag(flag) => (7, vec![u8::from(*flag)]),
        Key::Text(content) => (8, text(content)),
        Key::Texts(texts) => list(8, texts.iter().map(|content| text(content)).collect()),
        Key::Numbers(numbers) => list(5, numbers.iter().map(|number| number.to_le_bytes().to_vec()).collect()),
        Key::Floats(numbers) => list(6, numbers.iter().map(|number| number.to_le_bytes().to_vec()).collect()),
    }
}

/// GPT-2's printable stand-ins for bytes.
fn stand_in(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    match printable(byte) {
        true => char::from(byte),
        false => char::from_u32(256 + (0..byte).filter(|&b| !printable(b)).count() as u32).unwrap(),
    }
}

/// 24 random bits for each number, seeded by the tensor's name.
fn random(name: &str) -> impl Iterator<Item = u32> {
    let mut state =
        name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32
    })
}

/// Weights such that a model's logits differ by a few units: norms about 1, divisors from 1 on, the rest about 0.
fn floats(name: &str, len: usize, dims: &[u64]) -> Vec<u8> {
    let (middle, spread) = match name {
        "rope_freqs.weight" => (2.5, 1.5),
        _ if name.contains("norm") => (1.0, 0.3),
        _ if name.ends_with(".bias") => (0.0, 0.5),
        "token_embd.weight" => (0.0, 1.0),
        _ => (0.0, 2.0 / (dims[0] as f32).sqrt()),
    };
    random(name)
        .take(len)
        .flat_map(|bits| (middle + spread * (bits as f32 / (1 << 23) as f32 - 1.0)).to_le_bytes())
        .collect()
}

/// Blocks of 32 weights: a scale on either side of zero whose upper byte is `scale` (a 40th for 0x26), a minimum if the
/// kind has one, and `numbers` bytes of numbers.
fn blocks(name: &str, len: usize, numbers: usize, scale: u8, minimum: bool) -> Vec<u8> {
    let mut random = random(name);
    let mut next = move || random.next().unwrap();
    let mut bytes = Vec::new();
    for _ in 0..len / 32 {
        let sign = (next() & 0x80) as u8;
        bytes.extend([(next() & 0xff) as u8, scale | sign]);
        if minimum {
            // Eight times the scale, on the other side of zero.
            bytes.extend([(next() & 0xff) as u8, (scale + 0x0c) | (sign ^ 0x80)]);
        }
        bytes.extend((0..numbers).map(|_| (next() & 0xff) as u8));
    }
    bytes
}
