//! Folders with ONNX graphs: weights elsewhere, graphs that cannot be, and what else lies beside a graph.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Lie, write_sparse};
use crate::hub::onnx::{Attr, FLOAT, Graph, INT64, external, tensor};

const GRAPH: &str = "onnx/model.onnx";
const SECRET: &[u8] = b"sixteen bytes...";

/// A lie that is a true folder but for what `change` does to it.
fn folder(name: &'static str, says: &'static str, change: impl Fn(&Path) + 'static) -> Lie {
    let make = move |around: &Path| {
        let folder = around.join("model");
        fs::create_dir_all(folder.join("onnx")).unwrap();
        fs::write(around.join("secret"), SECRET).unwrap();
        fs::write(folder.join("onnx/weights"), SECRET).unwrap();
        write_json(&folder, "tokenizer.json", &tokenizer());
        write_json(&folder, "config.json", &json!({"max_position_embeddings": 2048, "eos_token_id": 1}));
        write_json(&folder, "tokenizer_config.json", &template(TEMPLATE));
        fs::write(folder.join(GRAPH), Decoder::default().graph().model()).unwrap();
        change(&folder);
        folder
    };
    Lie { name, make: Box::new(make), says }
}

const TEMPLATE: &str = "{% for m in messages %}{{ m.content }}{% endfor %}";

fn template(source: &str) -> Value {
    json!({"chat_template": source, "bos_token": "<s>", "eos_token": "</s>"})
}

fn tokenizer() -> Value {
    let special = |id: u64, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "pre_tokenizer": null,
        "added_tokens": [special(0, "<s>"), special(1, "</s>")], "decoder": null, "post_processor": null,
        "model": {"type": "BPE", "vocab": {"<s>": 0, "</s>": 1, "e": 2, "t": 3}, "merges": []},
    })
}

/// A step that makes 16^12 bytes of one.
fn growing() -> Value {
    let step = json!({"type": "Replace", "pattern": {"Regex": "."}, "content": "e".repeat(16)});
    json!({"type": "Sequence", "normalizers": vec![step; 12]})
}

fn write_json(folder: &Path, name: &str, value: &Value) {
    fs::write(folder.join(name), value.to_string()).unwrap();
}

/// Logits from a table, and a past of zeros.
struct Decoder {
    table: [f32; 4],
    /// Logits of a token.
    words: i64,
    /// Positions that come back for each that goes in.
    growth: i64,
    past: [&'static str; 4],
    present: [&'static str; 4],
}

impl Default for Decoder {
    fn default() -> Self {
        let dims = |len| ["batch_size", "2", len, "4"];
        Self {
            table: [1.0; 4],
            words: 4,
            growth: 1,
            past: dims("past_sequence_length"),
            present: dims("total_sequence_length"),
        }
    }
}

impl Decoder {
    fn graph(&self) -> Graph {
        self.graph_to("logits")
    }

    /// One that leaves its logits in the value `made`.
    fn graph_to(&self, made: &str) -> Graph {
        let mut graph = Graph::default();
        graph.input("input_ids", INT64, &["batch_size", "sequence_length"]);
        graph.input("past_key_values.0.key", FLOAT, &self.past);
        graph.output("present.0.key", FLOAT, &self.present);
        let words = self.words.to_string();
        graph.output("logits", FLOAT, &["batch_size", "sequence_length", &words]);
        let table: Vec<f32> = self.table.iter().flat_map(|&row| vec![row; self.words as usize]).collect();
        graph.floats("table", &[4, self.words], &table);
        graph.node_to("", "Gather", &["table", "input_ids"], &[made], &[]);
        let shape = graph.node("Shape", &["input_ids"], &[]);
        let [one, growth] = [1, self.growth].map(|number| graph.ints(&[1], &[number]));
        let len = graph.node("Gather", &[&shape, &one], &[]);
        let len = graph.node("Mul", &[&len, &growth], &[]);
        let (before, after) = (graph.ints(&[2], &[1, 2]), graph.ints(&[1], &[4]));
        let dims = graph.node("Concat", &[&before, &len, &after], &[Attr::Int("axis", 0)]);
        let zeros = graph.node("ConstantOfShape", &[&dims], &[]);
        let both = ["past_key_values.0.key", zeros.as_str()];
        graph.node_to("", "Concat", &both, &["present.0.key"], &[Attr::Int("axis", 2)]);
        graph
    }
}

/// Another decoder than the true one.
fn decoder(name: &'static str, says: &'static str, change: impl Fn(&mut Decoder) + 'static) -> Lie {
    folder(name, says, move |folder| {
        let mut decoder = Decoder::default();
        change(&mut decoder);
        fs::write(folder.join(GRAPH), decoder.graph().model()).unwrap();
    })
}

/// The true decoder with something beside it.
fn graph(name: &'static str, says: &'static str, change: impl Fn(&mut Graph) + 'static) -> Lie {
    folder(name, says, move |folder| write_graph(folder, &change))
}

fn write_graph(folder: &Path, change: impl Fn(&mut Graph)) {
    let mut graph = Decoder::default().graph();
    change(&mut graph);
    fs::write(folder.join(GRAPH), graph.model()).unwrap();
}

/// Weights that lie where `location` says.
fn add_weights(graph: &mut Graph, [location, offset, length]: [&str; 3]) {
    graph.initializer(&external("w", &[("location", location), ("offset", offset), ("length", length)]));
    graph.node("Identity", &["w"], &[]);
}

fn weights(name: &'static str, says: &'static str, place: [&'static str; 3]) -> Lie {
    graph(name, says, move |graph| add_weights(graph, place))
}

/// A file of text in the place of another.
fn text(name: &'static str, says: &'static str, file: &'static str, content: impl Fn() -> String + 'static) -> Lie {
    folder(name, says, move |folder| fs::write(folder.join(file), content()).unwrap())
}

pub fn lies() -> Vec<Lie> {
    let lies = [places(), graphs(), decoders(), files(), tokenizers(), templates()];
    lies.into_iter().flatten().collect()
}

fn places() -> Vec<Lie> {
    const PLAIN: &str = "not a plain path inside the folder";
    let mut places = vec![
        weights("weights at /etc/passwd", "the weights `/etc/passwd` of", ["/etc/passwd", "0", "10"]),
        weights("weights above", PLAIN, ["../../secret", "0", "10"]),
        weights("weights above, hidden", PLAIN, ["x/../../../secret", "0", "10"]),
        weights("weights in memory", PLAIN, ["*/_ORT_MEM_ADDR_/*", "0", "10"]),
        weights("weights beyond the file", "it has 16 bytes, and weights up to 1010", ["weights", "1000", "10"]),
        weights("weights to 2^64", "where its weights are", ["weights", "18446744073709551615", "10"]),
        weights("weights from before the file", "where its weights are", ["weights", "-8", "10"]),
        weights("weights that are not there", "`onnx/missing`", ["missing", "0", "10"]),
        folder("a decoder above, by genai", "not a plain path", |folder| {
            let decoder = json!({"filename": "../model/onnx/model.onnx"});
            write_json(folder, "onnx/genai_config.json", &json!({"model": {"decoder": decoder}}));
        }),
    ];
    #[cfg(unix)]
    places.extend(links());
    places
}

#[cfg(unix)]
fn links() -> Vec<Lie> {
    use std::os::unix::fs::symlink;

    const OUT: &str = "leads out of the model's folder";
    let replaced = |name, says, file: &'static str, end: &'static str| {
        folder(name, says, move |folder| {
            write_graph(folder, |graph| add_weights(graph, ["weights", "0", "10"]));
            let _ = fs::remove_file(folder.join(file));
            symlink(end, folder.join(file)).unwrap();
        })
    };
    vec![
        replaced("weights by a link out", OUT, "onnx/weights", "../../secret"),
        replaced("weights by a link to /etc/passwd", OUT, "onnx/weights", "/etc/passwd"),
        replaced("a tokenizer by a link to /dev/zero", OUT, "tokenizer.json", "/dev/zero"),
        replaced("a template by a link out", OUT, "chat_template.jinja", "../secret"),
        replaced("a graph by a link to /dev/zero", "holds no model", GRAPH, "/dev/zero"),
        folder("weights through a folder that is a link", OUT, |folder| {
            write_graph(folder, |graph| add_weights(graph, ["etc/passwd", "0", "10"]));
            symlink("/etc", folder.join("onnx/etc")).unwrap();
        }),
        folder("a configuration that is a pipe", "not a regular file", |folder| {
            fs::remove_file(folder.join("config.json")).unwrap();
            super::gguf::pipe(&folder.join("config.json"));
        }),
        folder("a graph that is a pipe", "holds no model", |folder| {
            fs::remove_file(folder.join(GRAPH)).unwrap();
            super::gguf::pipe(&folder.join(GRAPH));
        }),
    ]
}

fn graphs() -> Vec<Lie> {
    let nested = || {
        let mut inner = Graph::default();
        for _ in 0..1000 {
            let mut around = Graph::default();
            around.node("If", &["c"], &[Attr::Graph("then_branch", &inner)]);
            inner = around;
        }
        inner.model()
    };
    vec![
        text("a graph of nothing", "cannot load", GRAPH, String::new),
        text("a graph of text", "damaged, or not an ONNX file", GRAPH, || "version https://git-lfs".into()),
        folder("a cut graph", "damaged, or not an ONNX file", |folder| {
            let bytes = Decoder::default().graph().model();
            fs::write(folder.join(GRAPH), &bytes[..bytes.len() - 20]).unwrap();
        }),
        folder("a graph 1000 deep", "messages are more than 64 deep", move |folder| {
            fs::write(folder.join(GRAPH), nested()).unwrap();
        }),
        folder("a graph of 3 GB", "not a file of at most", |folder| {
            write_sparse(&folder.join(GRAPH), &[(0, vec![8, 10])], 3 << 30)
        }),
        graph("a node that feeds itself", "cannot load", |graph| {
            graph.node_to("", "Identity", &["circle"], &["circle"], &[]);
        }),
        graph("nodes that feed each other", "cannot load", |graph| {
            graph.node_to("", "Identity", &["b"], &["a"], &[]);
            graph.node_to("", "Identity", &["a"], &["b"], &[]);
        }),
        graph("an operator of none", "RunCommand", |graph| {
            graph.node("RunCommand", &["input_ids"], &[]);
        }),
        graph("weights larger than they are", "cannot load", |graph| {
            graph.initializer(&tensor("w", FLOAT, &[1 << 40], &[0; 4]));
            graph.node("Identity", &["w"], &[]);
        }),
        graph("weights of a negative size", "cannot load", |graph| {
            graph.initializer(&tensor("w", FLOAT, &[-4], &[0; 16]));
            graph.node("Identity", &["w"], &[]);
        }),
        graph("an input of none", "the input `eyes`", |graph| graph.input("eyes", FLOAT, &["batch_size", "64"])),
        graph("an input of texts", "the input `names`", |graph| graph.input("names", 8, &["batch_size"])),
        folder("a value of 64 TB", "the model failed", |folder| {
            let mut graph = Decoder::default().graph_to("table.logits");
            let shape = graph.node("Shape", &["input_ids"], &[]);
            let size = graph.ints(&[2], &[1 << 44, 1]);
            let shape = graph.node("Mul", &[&shape, &size], &[]);
            let huge = graph.node("ConstantOfShape", &[&shape], &[]);
            let sum = graph.node("ReduceSum", &[&huge], &[Attr::Int("keepdims", 0)]);
            graph.node_to("", "Add", &["table.logits", &sum], &["logits"], &[]);
            fs::write(folder.join(GRAPH), graph.model()).unwrap();
        }),
    ]
}

fn decoders() -> Vec<Lie> {
    vec![
        decoder("presents that grow twice", "present.0.key", |decoder| decoder.growth = 2),
        decoder("presents that do not grow", "present.0.key", |decoder| decoder.growth = 0),
        decoder("presents that shrink", "the model failed", |decoder| decoder.growth = -1),
        decoder("pasts of more heads than presents", "present.0.key", |decoder| decoder.past[1] = "3"),
        decoder("2^40 heads", "1099511627776 is not a size", |decoder| {
            (decoder.past[1], decoder.present[1]) = ("1099511627776", "1099511627776");
        }),
        decoder("heads of 2^30", "1073741824 is not a size", |decoder| {
            (decoder.past[3], decoder.present[3]) = ("1073741824", "1073741824");
        }),
        decoder("heads that nobody counts", "how large `num_heads` is", |decoder| {
            (decoder.past[1], decoder.present[1]) = ("num_heads", "num_heads");
        }),
        decoder("logits of NaN", "invalid numbers", |decoder| decoder.table = [f32::NAN; 4]),
        decoder("logits of infinity", "invalid numbers", |decoder| decoder.table = [f32::INFINITY; 4]),
        // The token that it is tried out with has numbers.
        decoder("logits of NaN, later", "gives no number for any", |decoder| decoder.table[1..].fill(f32::NAN)),
        decoder("no logits", "its output `logits` has the shape", |decoder| decoder.words = 0),
    ]
}

fn files() -> Vec<Lie> {
    let sparse = |name, says, file: &'static str, len: u64| {
        folder(name, says, move |folder| write_sparse(&folder.join(file), &[], len))
    };
    vec![
        folder("a tokenizer of four million tokens", "4000000 tokens or merges", |folder| {
            let tokens: Vec<String> = (0..4_000_000).map(|id| format!("\"{id:x}\":{id}")).collect();
            let content =
                format!("{{\"model\":{{\"type\":\"BPE\",\"vocab\":{{{}}},\"merges\":[]}}}}", tokens.join(","));
            fs::write(folder.join("tokenizer.json"), content).unwrap();
        }),
        text("a configuration of brackets", "`config.json`", "config.json", || "[".repeat(100_000)),
        text("a tokenizer of brackets", "`tokenizer.json`", "tokenizer.json", || "[".repeat(100_000)),
        text("texts inside texts", "`config.json`", "config.json", || r#"{"text_config":"#.repeat(10_000)),
        text("a broken tokenizer", "`tokenizer.json`", "tokenizer.json", || r#"{"version": "1.0", "#.into()),
        text("a tokenizer of none", "the model's tokenizer", "tokenizer.json", || {
            r#"{"model": {"type": "Oracle"}}"#.into()
        }),
        sparse("a tokenizer of 200 MB", "has 209715200 bytes", "tokenizer.json", 200 << 20),
        sparse("a tokenizer of 120 MB", "`tokenizer.json`", "tokenizer.json", 120 << 20),
        sparse("a configuration of a terabyte", "has 1099511627776 bytes", "config.json", 1 << 40),
        text("an end of a turn that is no number", "`config.json`", "config.json", || {
            r#"{"eos_token_id": {"a": "b"}}"#.into()
        }),
        text("no template", "no chat template", "tokenizer_config.json", || "{}".into()),
        folder("no tokenizer", "there is no `tokenizer.json`", |folder| {
            fs::remove_file(folder.join("tokenizer.json")).unwrap();
        }),
        text("a model of ours that is none", "model.onnx`", "model.json", || "{}".into()),
    ]
}

fn tokenizers() -> Vec<Lie> {
    let changed = |name, says, change: fn(&mut Value)| {
        folder(name, says, move |folder| {
            let mut tokenizer = tokenizer();
            change(&mut tokenizer);
            write_json(folder, "tokenizer.json", &tokenizer);
        })
    };
    fn split(tokenizer: &mut Value, pattern: &str) {
        tokenizer["pre_tokenizer"] =
            json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    }
    vec![
        changed("a pattern as large as no memory", "the model's tokenizer", |tokenizer| {
            split(tokenizer, "((a{1000}){1000}){1000}")
        }),
        changed("a pattern 100,000 deep", "too deeply nested", |tokenizer| {
            split(tokenizer, &["(".repeat(100_000), ")".repeat(100_000)].concat());
        }),
        changed("merges of unknown tokens", "Token `y` out of vocabulary", |tokenizer| {
            tokenizer["model"]["merges"] = json!([["y", "z"]])
        }),
        changed("no words", "no token can be said", |tokenizer| {
            tokenizer["added_tokens"] = json!([]);
            tokenizer["model"]["vocab"] = json!({});
        }),
        changed("a token beyond the graph's", "out of data bounds", |tokenizer| {
            tokenizer["model"]["vocab"]["e"] = json!(u32::MAX);
        }),
        folder("a replacement that grows for ever, in a folder like ours", "bytes of one", |folder| {
            let mut tokenizer = tokenizer();
            tokenizer["normalizer"] = growing();
            write_json(folder, "tokenizer.json", &tokenizer);
            write_json(
                folder,
                "model.json",
                &json!({"name": "x", "context_length": 64, "chat_template": TEMPLATE,
                "bos_token": "", "eos_token": "", "first_token": null, "end_of_turn": [1]}),
            );
            for empty in ["model.onnx", "model.onnx.data"] {
                fs::write(folder.join(empty), []).unwrap();
            }
        }),
        changed("a replacement that grows for ever", "bytes of one", |tokenizer| {
            tokenizer["normalizer"] = growing();
        }),
    ]
}

fn templates() -> Vec<Lie> {
    let template = |name, says, source: &'static str| {
        folder(name, says, move |folder| write_json(folder, "tokenizer_config.json", &template(source)))
    };
    const UNUSABLE: &str = "chat template cannot be used";
    vec![
        template("a template that is none", UNUSABLE, "{% if %}"),
        template(
            "a template that loops",
            UNUSABLE,
            "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
        ),
        template(
            "a template that doubles",
            UNUSABLE,
            "{% set ns = namespace(x='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        ),
        template("a template that pads", UNUSABLE, "{{ '%1000000000000d' % 1 }}"),
        template("a template that joins", UNUSABLE, "{{ range(90000) | map('string') | join('x' * 100000) }}"),
        template("a template that indents", UNUSABLE, "{{ ('\n' * 100000) | indent(100000) }}"),
        template("a template that replaces", UNUSABLE, "{{ ('x' * 100000) | replace('x', 'y' * 100000) }}"),
        template("a template that refuses", "not for you", "{{ raise_exception('not for you') }}"),
        folder("a template that is no text", "`chat_template.jinja`", |folder| {
            fs::write(folder.join("chat_template.jinja"), [0xff, 0xfe]).unwrap();
        }),
    ]
}
