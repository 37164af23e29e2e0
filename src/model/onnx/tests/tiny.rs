//! Small decoders with random weights, in every layout: as ONNX files, and computed whole in plain Rust to compare with.
//!
//! One is an embedding, optionally with positions added; causal attention of two heads; optionally a convolution over
//! the last three tokens; optionally a recurrence h' = tanh(h W + x); and a head. Each part adds to what came before.

use std::path::Path;

use half::{bf16, f16};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::super::testing::{Attr, BFLOAT16, BOOL, FLOAT, FLOAT16, Graph, INT64};

pub const WORDS: usize = 13;
const WIDTH: usize = 16;
const HEADS: usize = 2;
const HEAD: usize = 8;
pub const N_CTX: usize = 40;

/// How the attention keeps its keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    None,
    /// Plain operators: the past is concatenated with what is new.
    Concat,
    /// The operator that may write in place.
    Grouped,
    /// The same, with another reader of the past, so that it may not.
    GroupedAndRead,
}

#[derive(Clone, Debug)]
pub struct Tiny {
    pub attention: Attention,
    pub conv: bool,
    pub recurrent: bool,
    /// Element types in the file's numbers.
    pub ids: u64,
    pub mask: Option<u64>,
    /// Axes of the positions, if it takes them: 2, or 3 for a copy for each of three axes.
    pub positions: usize,
    pub cache: u64,
    pub logits: u64,
    /// Logits for the last tokens only, as many as it is told.
    pub keep: bool,
    /// Logits for the last token, without an axis of tokens.
    pub last: bool,
    pub use_cache: bool,
    /// Embeddings come from a graph of their own.
    pub split: bool,
    /// `past.key`, `present.key` with `%d`, and the same for values.
    pub names: [[&'static str; 2]; 2],
    pub logits_name: &'static str,
    pub seed: u64,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
            attention: Attention::Concat,
            conv: false,
            recurrent: false,
            ids: INT64,
            mask: Some(INT64),
            positions: 0,
            cache: FLOAT,
            logits: FLOAT,
            keep: false,
            last: false,
            use_cache: false,
            split: false,
            names: [["past_key_values.%d.key", "present.%d.key"], ["past_key_values.%d.value", "present.%d.value"]],
            logits_name: "logits",
            seed: 1,
        }
    }
}

/// A matrix of `rows` rows.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    floats: Vec<f32>,
}

impl Matrix {
    fn times(&self, x: &[f32]) -> Vec<f32> {
        assert_eq!(x.len(), self.rows);
        let width = self.floats.len() / self.rows;
        (0..width).map(|column| (0..self.rows).map(|row| x[row] * self.floats[row * width + column]).sum()).collect()
    }

    fn row(&self, row: usize) -> &[f32] {
        let width = self.floats.len() / self.rows;
        &self.floats[row * width..(row + 1) * width]
    }
}

struct Weights {
    embedding: Matrix,
    positions: Matrix,
    /// Query, key, value, output.
    attention: [Matrix; 4],
    /// One factor a channel for each of three tokens.
    conv: Matrix,
    recurrent: Matrix,
    head: Matrix,
}

impl Weights {
    fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut matrix = |rows: usize, width: usize| Matrix {
            rows,
            floats: (0..rows * width).map(|_| random.next_u32() as f32 / u32::MAX as f32 - 0.5).collect(),
        };
        Self {
            embedding: matrix(WORDS, WIDTH),
            positions: matrix(N_CTX, WIDTH),
            attention: [(); 4].map(|()| matrix(WIDTH, WIDTH)),
            conv: matrix(3, WIDTH),
            recurrent: matrix(WIDTH, WIDTH),
            head: matrix(WIDTH, WORDS),
        }
    }
}

/// What `float` is when it is kept in elements of `kind`.
fn kept(kind: u64, float: f32) -> f32 {
    match kind {
        FLOAT16 => f16::from_f32(float).to_f32(),
        BFLOAT16 => bf16::from_f32(float).to_f32(),
        _ => float,
    }
}

impl Tiny {
    /// The logits after each of `ids`, computed from the first token on.
    pub fn logits(&self, ids: &[u32]) -> Vec<Vec<f32>> {
        let weights = Weights::new(self.seed);
        let add = |x: &mut [f32], y: &[f32]| x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        let mut xs: Vec<Vec<f32>> = ids.iter().map(|&id| weights.embedding.row(id as usize).to_vec()).collect();
        if self.positions > 0 {
            xs.iter_mut().enumerate().for_each(|(at, x)| add(x, weights.positions.row(at)));
        }
        if self.attention != Attention::None {
            let [query, key, value, output] = &weights.attention;
            let stored = |matrix: &Matrix, x: &[f32]| -> Vec<f32> {
                matrix.times(x).into_iter().map(|float| kept(self.cache, float)).collect()
            };
            let keys: Vec<Vec<f32>> = xs.iter().map(|x| stored(key, x)).collect();
            let values: Vec<Vec<f32>> = xs.iter().map(|x| stored(value, x)).collect();
            for at in 0..xs.len() {
                let q = query.times(&xs[at]);
                let mut mixed = vec![0.0; WIDTH];
                for head in (0..HEADS).map(|head| head * HEAD..(head + 1) * HEAD) {
                    let score = |key: &Vec<f32>| -> f32 {
                        let dot: f32 = head.clone().map(|i| q[i] * key[i]).sum();
                        (dot / (HEAD as f32).sqrt()).exp()
                    };
                    let scores: Vec<f32> = keys[..=at].iter().map(score).collect();
                    let sum: f32 = scores.iter().sum();
                    for (score, value) in scores.iter().zip(&values) {
                        head.clone().for_each(|i| mixed[i] += score / sum * value[i]);
                    }
                }
                add(&mut xs[at], &output.times(&mixed));
            }
        }
        if self.conv {
            let before = xs.iter().map(|x| x.iter().map(|&float| kept(self.cache, float)).collect::<Vec<f32>>());
            let zeros = [vec![0.0; WIDTH], vec![0.0; WIDTH]];
            let window: Vec<Vec<f32>> = zeros.into_iter().chain(before).collect();
            for (at, x) in xs.iter_mut().enumerate() {
                for (i, float) in x.iter_mut().enumerate() {
                    *float += (0..3).map(|tap| window[at + tap][i] * weights.conv.row(tap)[i]).sum::<f32>();
                }
            }
        }
        if self.recurrent {
            let mut h = vec![0.0; WIDTH];
            for x in &mut xs {
                h = weights.recurrent.times(&h).iter().zip(&*x).map(|(h, x)| (h + x).tanh()).collect();
                add(x, &h);
            }
        }
        let row = |x: &Vec<f32>| weights.head.times(x).into_iter().map(|float| kept(self.logits, float)).collect();
        xs.iter().map(row).collect()
    }

    /// Writes the decoder's graph to `decoder`, and that of the embeddings to `embeddings` if it has its own.
    pub fn write(&self, decoder: &Path, embeddings: &Path) {
        let weights = Weights::new(self.seed);
        let mut graph = Graph::default();
        let mut x = if self.split {
            let mut first = Graph::default();
            embed(&mut first, &weights, self.ids);
            first.output("inputs_embeds", FLOAT, &["batch_size", "sequence_length", "16"]);
            let embedded = first.node("Gather", &["embedding", "input_ids"], &[]);
            first.node_to("", "Identity", &[&embedded], &["inputs_embeds"], &[]);
            std::fs::write(embeddings, first.model()).unwrap();
            graph.input("inputs_embeds", FLOAT, &["batch_size", "sequence_length", "16"]);
            "inputs_embeds".into()
        } else {
            embed(&mut graph, &weights, self.ids);
            graph.node("Gather", &["embedding", "input_ids"], &[])
        };
        if let Some(mask) = self.mask {
            graph.input("attention_mask", mask, &["batch_size", "total_sequence_length"]);
        }
        x = self.add_positions(&mut graph, &weights, x);
        if self.attention != Attention::None {
            let attended = self.add_attention(&mut graph, &weights, &x);
            x = graph.node("Add", &[&x, &attended], &[]);
        }
        if self.conv {
            x = self.add_conv(&mut graph, &weights, &x);
        }
        if self.recurrent {
            x = self.add_recurrence(&mut graph, &weights, &x);
        }
        self.add_head(&mut graph, &weights, &x);
        std::fs::write(decoder, graph.model()).unwrap();
    }

    fn add_positions(&self, graph: &mut Graph, weights: &Weights, x: String) -> String {
        if self.positions == 0 {
            return x;
        }
        put(graph, "positions", &weights.positions);
        let dims = ["3", "batch_size", "sequence_length"];
        graph.input("position_ids", INT64, &dims[3 - self.positions..]);
        let mut rows = graph.node("Gather", &["positions", "position_ids"], &[]);
        if self.positions == 3 {
            let axis = graph.ints(&[1], &[0]);
            rows = graph.node("ReduceMean", &[&rows, &axis], &[Attr::Int("keepdims", 0)]);
        }
        graph.node("Add", &[&x, &rows], &[])
    }

    fn add_attention(&self, graph: &mut Graph, weights: &Weights, x: &str) -> String {
        let parts = ["query", "key", "value", "output"];
        parts.iter().zip(&weights.attention).for_each(|(name, matrix)| put(graph, name, matrix));
        let [query, key, value] = ["query", "key", "value"].map(|name| graph.node("MatMul", &[x, name], &[]));
        let dims = |tokens| ["batch_size", "2", tokens, "8"];
        let names = self.names.map(|pair| pair.map(|name| name.replace("%d", "0")));
        for [past, present] in &names {
            graph.input(past, self.cache, &dims("past_sequence_length"));
            graph.output(present, self.cache, &dims("total_sequence_length"));
        }
        let mixed = match self.attention {
            Attention::Grouped | Attention::GroupedAndRead => self.grouped(graph, [&query, &key, &value], &names),
            _ => self.concatenated(graph, [&query, &key, &value], &names),
        };
        graph.node("MatMul", &[&mixed, "output"], &[])
    }

    fn grouped(&self, graph: &mut Graph, [query, key, value]: [&str; 3], names: &[[String; 2]; 2]) -> String {
        let (last, total) = match self.mask {
            None => {
                graph.input("seqlens_k", super::super::testing::INT32, &["batch_size"]);
                graph.input("total_sequence_length", super::super::testing::INT32, &[]);
                ("seqlens_k".to_owned(), "total_sequence_length".to_owned())
            }
            Some(_) => {
                let (axis, one) = (graph.ints(&[1], &[1]), graph.ints(&[], &[1]));
                let cast = Attr::Int("to", 6);
                let numbers = graph.node("Cast", &["attention_mask"], &[Attr::Int("to", 7)]);
                let sum = graph.node("ReduceSum", &[&numbers, &axis], &[Attr::Int("keepdims", 0)]);
                let less = graph.node("Sub", &[&sum, &one], &[]);
                let shape = graph.node("Shape", &["attention_mask"], &[]);
                let total = graph.node("Gather", &[&shape, &one], &[]);
                let last = graph.node("Cast", &[&less], std::slice::from_ref(&cast));
                (last, graph.node("Cast", &[&total], &[cast]))
            }
        };
        let [[past_key, key_out], [past_value, value_out]] = names;
        if self.attention == Attention::GroupedAndRead {
            graph.node("Shape", &[past_key], &[]);
            graph.node("Shape", &[past_value], &[]);
        }
        let [query, key, value] = [query, key, value].map(|edge| match self.cache {
            FLOAT => edge.to_owned(),
            kind => graph.node("Cast", &[edge], &[Attr::Int("to", kind as i64)]),
        });
        graph.node_to(
            "com.microsoft",
            "GroupQueryAttention",
            &[&query, &key, &value, past_key, past_value, &last, &total],
            &["mixed", key_out, value_out],
            &[
                Attr::Int("num_heads", 2),
                Attr::Int("kv_num_heads", 2),
                Attr::Float("scale", (HEAD as f32).sqrt().recip()),
            ],
        );
        match self.cache {
            FLOAT => "mixed".into(),
            _ => graph.node("Cast", &["mixed"], &[Attr::Int("to", FLOAT as i64)]),
        }
    }

    fn concatenated(&self, graph: &mut Graph, [query, key, value]: [&str; 3], names: &[[String; 2]; 2]) -> String {
        let split = graph.ints(&[4], &[0, 0, 2, 8]);
        let mut heads = |edge: &str| {
            let split = graph.node("Reshape", &[edge, &split], &[]);
            graph.node("Transpose", &[&split], &[Attr::Ints("perm", &[0, 2, 1, 3])])
        };
        let [query, key, value] = [heads(query), heads(key), heads(value)];
        let [keys, values] = [(key, &names[0]), (value, &names[1])].map(|(new, [past, present])| {
            let past = self.past(graph, past);
            let new = graph.node("Cast", &[&new], &[Attr::Int("to", self.cache as i64)]);
            graph.node_to("", "Concat", &[&past, &new], &[present], &[Attr::Int("axis", 2)]);
            graph.node("Cast", &[present], &[Attr::Int("to", FLOAT as i64)])
        });
        let turned = graph.node("Transpose", &[&keys], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
        let scores = graph.node("MatMul", &[&query, &turned], &[]);
        let scale = graph.floats("scale", &[], &[(HEAD as f32).sqrt().recip()]);
        let scores = graph.node("Mul", &[&scores, &scale], &[]);
        // Which keys are not after the query: those of the last n rows of a triangle as large as the mask says.
        let size = |graph: &mut Graph, of: &str, axis: i64| {
            let shape = graph.node("Shape", &[of], &[]);
            let axis = graph.ints(&[], &[axis]);
            graph.node("Gather", &[&shape, &axis], &[])
        };
        let total = if self.mask.is_some() { size(graph, "attention_mask", 1) } else { size(graph, &keys, 2) };
        let step = size(graph, &query, 2);
        let (zero, one, negative) = (graph.ints(&[], &[0]), graph.ints(&[], &[1]), graph.floats("never", &[], &[-1e9]));
        let first = graph.node("Sub", &[&total, &step], &[]);
        let rows = graph.node("Range", &[&first, &total, &one], &[]);
        let columns = graph.node("Range", &[&zero, &total, &one], &[]);
        let axis = graph.ints(&[1], &[1]);
        let rows = graph.node("Unsqueeze", &[&rows, &axis], &[]);
        let allowed = graph.node("LessOrEqual", &[&columns, &rows], &[]);
        let masked = graph.node("Where", &[&allowed, &scores, &negative], &[]);
        let shares = graph.node("Softmax", &[&masked], &[Attr::Int("axis", -1)]);
        let mixed = graph.node("MatMul", &[&shares, &values], &[]);
        let joined = graph.node("Transpose", &[&mixed], &[Attr::Ints("perm", &[0, 2, 1, 3])]);
        let flat = graph.ints(&[3], &[0, 0, WIDTH as i64]);
        graph.node("Reshape", &[&joined, &flat], &[])
    }

    /// The past as it is, or what a merged decoder makes of it: nothing, unless it is told to use it.
    fn past(&self, graph: &mut Graph, past: &str) -> String {
        if !self.use_cache {
            return past.into();
        }
        if past.ends_with(".key") {
            graph.input("use_cache_branch", BOOL, &["1"]);
        }
        let (mut then, mut otherwise) = (Graph::default(), Graph::default());
        let dims = ["batch_size", "2", "some_length", "8"];
        let (used, empty) = (format!("{past}.used"), format!("{past}.empty"));
        then.node_to("", "Identity", &[past], &[&used], &[]);
        then.output(&used, self.cache, &dims);
        let shape = otherwise.ints(&[4], &[1, 2, 0, 8]);
        otherwise.node_to("", "ConstantOfShape", &[&shape], &[&empty], &[]);
        otherwise.output(&empty, self.cache, &dims);
        graph.node(
            "If",
            &["use_cache_branch"],
            &[Attr::Graph("then_branch", &then), Attr::Graph("else_branch", &otherwise)],
        )
    }

    fn add_conv(&self, graph: &mut Graph, weights: &Weights, x: &str) -> String {
        let dims = ["batch_size", "16", "2"];
        graph.input("past_conv.0", self.cache, &dims);
        graph.output("present_conv.0", self.cache, &dims);
        let turned = graph.node("Transpose", &[x], &[Attr::Ints("perm", &[0, 2, 1])]);
        let new = graph.node("Cast", &[&turned], &[Attr::Int("to", self.cache as i64)]);
        let all = graph.node("Concat", &["past_conv.0", &new], &[Attr::Int("axis", 2)]);
        let (axis, end) = (graph.ints(&[1], &[2]), graph.ints(&[1], &[i64::MAX]));
        let back = graph.ints(&[1], &[-2]);
        graph.node_to("", "Slice", &[&all, &back, &end, &axis], &["present_conv.0"], &[]);
        let all = graph.node("Cast", &[&all], &[Attr::Int("to", FLOAT as i64)]);
        let mut sum = x.to_owned();
        for tap in 0..3 {
            let taps = graph.floats(&format!("tap.{tap}"), &[1, WIDTH as i64, 1], weights.conv.row(tap));
            let start = graph.ints(&[1], &[tap as i64]);
            let end = graph.ints(&[1], &[if tap == 2 { i64::MAX } else { tap as i64 - 2 }]);
            let shifted = graph.node("Slice", &[&all, &start, &end, &axis], &[]);
            let product = graph.node("Mul", &[&shifted, &taps], &[]);
            let product = graph.node("Transpose", &[&product], &[Attr::Ints("perm", &[0, 2, 1])]);
            sum = graph.node("Add", &[&sum, &product], &[]);
        }
        sum
    }

    fn add_recurrence(&self, graph: &mut Graph, weights: &Weights, x: &str) -> String {
        let dims = ["batch_size", "16"];
        graph.input("past_recurrent.0", FLOAT, &dims);
        graph.output("present_recurrent.0", FLOAT, &dims);
        put(graph, "recurrent", &weights.recurrent);
        let mut body = Graph::default();
        body.input("h", FLOAT, &["batch_size", "16"]);
        body.input("x", FLOAT, &["batch_size", "16"]);
        let product = body.node("MatMul", &["h", "recurrent"], &[]);
        let sum = body.node("Add", &[&product, "x"], &[]);
        body.node_to("", "Tanh", &[&sum], &["next"], &[]);
        body.node_to("", "Identity", &["next"], &["said"], &[]);
        body.output("next", FLOAT, &["batch_size", "16"]);
        body.output("said", FLOAT, &["batch_size", "16"]);
        graph.node_to(
            "",
            "Scan",
            &["past_recurrent.0", x],
            &["present_recurrent.0", "hs"],
            &[
                Attr::Graph("body", &body),
                Attr::Int("num_scan_inputs", 1),
                Attr::Ints("scan_input_axes", &[1]),
                Attr::Ints("scan_output_axes", &[1]),
            ],
        );
        graph.node("Add", &[x, "hs"], &[])
    }

    fn add_head(&self, graph: &mut Graph, weights: &Weights, x: &str) {
        put(graph, "head", &weights.head);
        let mut x = x.to_owned();
        if self.keep || self.last {
            let (axis, end) = (graph.ints(&[1], &[1]), graph.ints(&[1], &[i64::MAX]));
            let start = if self.keep {
                graph.input("num_logits_to_keep", INT64, &[]);
                let flat = graph.ints(&[1], &[1]);
                let back = graph.node("Neg", &["num_logits_to_keep"], &[]);
                graph.node("Reshape", &[&back, &flat], &[])
            } else {
                graph.ints(&[1], &[-1])
            };
            x = graph.node("Slice", &[&x, &start, &end, &axis], &[]);
        }
        let mut logits = graph.node("MatMul", &[&x, "head"], &[]);
        if self.last {
            let axis = graph.ints(&[1], &[1]);
            logits = graph.node("Squeeze", &[&logits, &axis], &[]);
        }
        graph.node_to("", "Cast", &[&logits], &[self.logits_name], &[Attr::Int("to", self.logits as i64)]);
        let dims = ["batch_size", "num_logits", "13"];
        let dims: &[&str] = if self.last { &["batch_size", "13"] } else { &dims };
        graph.output(self.logits_name, self.logits, dims);
    }
}

fn embed(graph: &mut Graph, weights: &Weights, ids: u64) {
    put(graph, "embedding", &weights.embedding);
    graph.input("input_ids", ids, &["batch_size", "sequence_length"]);
}

fn put(graph: &mut Graph, name: &str, matrix: &Matrix) {
    graph.floats(name, &[matrix.rows as i64, (matrix.floats.len() / matrix.rows) as i64], &matrix.floats);
}
