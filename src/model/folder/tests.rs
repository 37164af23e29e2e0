//! Folders of other makers: whole ones, ones that lie, and ones that lead somewhere else.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::model::local::LocalModel;
use crate::model::onnx::testing::{Attr, FLOAT, Graph, INT64, external, tensor};
use crate::model::onnx::tests::runtime;

fn open(path: &Path) -> Result<OpenFolder> {
    super::open(&Place::of(path))
}

/// A folder as exporters leave it, with a graph that says the same whatever it is asked.
struct Export {
    folder: TempDir,
}

const GRAPH: &str = "onnx/model.onnx";

impl Export {
    fn new() -> Self {
        let export = Self { folder: tempfile::tempdir().unwrap() };
        export.json("tokenizer.json", &tokenizer());
        export.json("config.json", &json!({"max_position_embeddings": 64, "eos_token_id": 1, "vocab_size": 6}));
        let configured = json!({"chat_template": TEMPLATE, "bos_token": "<s>", "eos_token": {"content": "</s>"}});
        export.json("tokenizer_config.json", &configured);
        export.graph(|_| ());
        export
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn json(&self, name: &str, value: &Value) {
        self.write(name, value.to_string());
    }

    fn graph(&self, change: impl FnOnce(&mut Fake)) {
        let mut fake = Fake::default();
        change(&mut fake);
        self.write(GRAPH, fake.write());
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).unwrap();
    }

    fn refusal(&self) -> String {
        let error = open(self.path()).unwrap_err();
        assert!(error.is_model() || error.is_usage(), "{error:?}");
        format!("{error} / {}", error.advice().unwrap_or_default())
    }

    /// Why it cannot be loaded, though it looks right from outside.
    fn failure(&self) -> Option<String> {
        open(self.path()).unwrap();
        let error = LocalModel::open(self.path(), &runtime(), 32, 1).err()?;
        assert!(error.is_model(), "{error:?}");
        Some(error.to_string())
    }
}

const TEMPLATE: &str = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";

fn tokenizer() -> Value {
    let vocabulary = json!({"<s>": 0, "</s>": 1, "a": 2, "b": 3, "ab": 4, "c": 5});
    let special = |id: u32, content: &str| json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    json!({
        "version": "1.0", "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": null, "added_tokens": [special(0, "<s>"), special(1, "</s>")], "normalizer": null,
        "pre_tokenizer": null, "decoder": null,
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b"]], "fuse_unk": false, "byte_fallback": false},
    })
}

/// A graph with the ports of a decoder and next to nothing in it: logits from a table, and a past that grows by zeros.
struct Fake {
    /// Logits of each of six tokens.
    table: Vec<f32>,
    words: i64,
    /// Positions that come back for each that goes in.
    growth: i64,
    heads: &'static str,
    logits: [&'static str; 3],
    weights: Option<Vec<u8>>,
    domain: &'static str,
    op: &'static str,
    /// One of its logits is cut off, in a way that nobody sees before it runs.
    cut: bool,
    never: bool,
    huge: bool,
}

impl Default for Fake {
    fn default() -> Self {
        let logits = ["batch_size", "sequence_length", "6"];
        let table = (0..36).map(|i| (i * 7 % 11) as f32).collect();
        Self {
            table,
            words: 6,
            growth: 1,
            heads: "2",
            logits,
            weights: None,
            domain: "",
            op: "Identity",
            cut: false,
            never: false,
            huge: false,
        }
    }
}

impl Fake {
    fn write(&self) -> Vec<u8> {
        let mut graph = Graph::default();
        graph.input("input_ids", INT64, &["batch_size", "sequence_length"]);
        graph.input("past_key_values.0.key", FLOAT, &["batch_size", self.heads, "past_sequence_length", "4"]);
        graph.output("present.0.key", FLOAT, &["batch_size", self.heads, "total_sequence_length", "4"]);
        graph.output("logits", FLOAT, &self.logits);
        graph.floats("table", &[self.table.len() as i64 / self.words, self.words], &self.table);
        if let Some(weights) = &self.weights {
            graph.initializer(weights);
            graph.node("Identity", &["w"], &[]);
        }
        let mut logits = graph.node("Gather", &["table", "input_ids"], &[]);
        if self.cut {
            let sum = graph.node("ReduceSum", &["input_ids"], &[Attr::Int("keepdims", 0)]);
            let [zero, five] = [0, 5].map(|number| graph.ints(&[], &[number]));
            let nothing = graph.node("Mul", &[&sum, &zero], &[]);
            let end = graph.node("Add", &[&nothing, &five], &[]);
            let [flat, start, axis] = [1, 0, 2].map(|number| graph.ints(&[1], &[number]));
            let end = graph.node("Reshape", &[&end, &flat], &[]);
            logits = graph.node("Slice", &[&logits, &start, &end, &axis], &[]);
        }
        if self.never {
            graph.input("past_mean", FLOAT, &["batch_size", "4"]);
            graph.output("present_mean", FLOAT, &["batch_size", "4"]);
            let ones = graph.floats("ones", &[6], &[1.0; 6]);
            let inputs = [logits.as_str(), logits.as_str(), &ones];
            graph.node_to("com.microsoft", "SkipLayerNormalization", &inputs, &["normed", "present_mean"], &[]);
            logits = "normed".into();
        }
        if self.huge {
            let shape = graph.node("Shape", &["input_ids"], &[]);
            let size = graph.ints(&[2], &[1 << 44, 1]);
            let shape = graph.node("Mul", &[&shape, &size], &[]);
            let huge = graph.node("ConstantOfShape", &[&shape], &[]);
            let sum = graph.node("ReduceSum", &[&huge], &[Attr::Int("keepdims", 0)]);
            logits = graph.node("Add", &[&logits, &sum], &[]);
        }
        graph.node_to(self.domain, self.op, &[&logits], &["logits"], &[]);
        let shape = graph.node("Shape", &["input_ids"], &[]);
        let one = graph.ints(&[1], &[1]);
        let len = graph.node("Gather", &[&shape, &one], &[]);
        let growth = graph.ints(&[1], &[self.growth]);
        let len = graph.node("Mul", &[&len, &growth], &[]);
        let (before, after) = (graph.ints(&[2], &[1, 2]), graph.ints(&[1], &[4]));
        let all = graph.node("Concat", &[&before, &len, &after], &[Attr::Int("axis", 0)]);
        let zeros = graph.node("ConstantOfShape", &[&all], &[]);
        let joined = [Attr::Int("axis", 2)];
        graph.node_to("", "Concat", &["past_key_values.0.key", &zeros], &["present.0.key"], &joined);
        graph.model()
    }
}

#[test]
fn a_folder_is_opened_with_what_a_conversation_needs() {
    let export = Export::new();
    assert!(is_model(export.path()) && is_model(&export.path().join(GRAPH)) && !is_model(&export.path().join("x")));
    let description = open(export.path()).unwrap().description;
    assert_eq!((description.context_length, description.end_of_turn), (64, vec![0, 1]));
    assert_eq!((description.bos_token.as_str(), description.eos_token.as_str()), ("<s>", "</s>"));
    assert_eq!((description.chat_template.as_str(), description.first_token), (TEMPLATE, None));
    // The same model by its graph.
    assert_eq!(open(&export.path().join(GRAPH)).unwrap().description.end_of_turn, [0, 1]);

    let mut model = LocalModel::open(export.path(), &runtime(), 2048, 1).unwrap();
    assert_eq!(model.n_ctx(), 64);
    let messages = [crate::model::Message { role: crate::model::Role::User, content: "abcab".into() }];
    let sampling = crate::model::Sampling::default();
    // Neither cut nor begun twice, whatever the tokenizer's own settings are.
    let ids = model.prompt_ids(&crate::model::Prompt::new(&messages, &sampling)).unwrap();
    assert_eq!(ids, [0, 4, 5, 4]);
    let context = model.context();
    assert!(context.prefill(&ids, &crate::Cancel::new()).unwrap().is_some());
    assert_eq!(context.logits(0), &Fake::default().table[24..30]);
}

#[test]
fn turn_ends_are_known_by_name_as_in_a_gguf() {
    let export = Export::new();
    let mut tokenizer = tokenizer();
    let added = tokenizer["added_tokens"].as_array_mut().unwrap();
    let token = |id: u32, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": false, "special": true})
    };
    added.extend([
        token(6, "<|eom_id|>"),
        token(7, "<|tool|>"),
        token(8, "<\u{ff5c}end\u{2581}of\u{2581}sentence\u{ff5c}>"),
    ]);
    export.json("tokenizer.json", &tokenizer);
    assert_eq!(open(export.path()).unwrap().description.end_of_turn, [0, 1, 6, 8]);
}

#[test]
fn settings_are_found_wherever_exporters_put_them() {
    let export = Export::new();
    export.json("generation_config.json", &json!({"eos_token_id": [3, 5]}));
    export.json("config.json", &json!({"text_config": {"max_position_embeddings": 48, "eos_token_id": 2}}));
    export.write("chat_template.jinja", "from a file");
    let description = open(export.path()).unwrap().description;
    assert_eq!((description.end_of_turn, description.context_length), (vec![0, 1, 2, 3, 5], 48));
    assert_eq!(description.chat_template, "from a file");
    export.remove("chat_template.jinja");
    let named = json!([{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]);
    export.json("tokenizer_config.json", &json!({"chat_template": named}));
    assert_eq!(open(export.path()).unwrap().description.chat_template, "plain");
}

#[test]
fn a_configuration_of_genai_names_graph_ports_and_context() {
    let export = Export::new();
    fs::rename(export.path().join(GRAPH), export.path().join("decoder.onnx")).unwrap();
    let decoder = json!({"filename": "decoder.onnx", "inputs": {"past_key_names": "past_key_values.%d.key"},
        "outputs": {"logits": "logits", "present_key_names": "present.%d.key"}});
    let config = |decoder: &Value| json!({"model": {"context_length": 24, "eos_token_id": [1, 4], "decoder": decoder}, "search": {}});
    export.json("genai_config.json", &config(&decoder));
    let opened = open(export.path()).unwrap();
    assert_eq!((opened.description.context_length, opened.description.end_of_turn), (24, vec![0, 1, 4]));
    LocalModel::open(export.path(), &runtime(), 2048, 1).unwrap();
    for filename in ["../decoder.onnx", "/etc/passwd", "", "a/../../x"] {
        export.json("genai_config.json", &config(&json!({"filename": filename})));
        assert!(export.refusal().contains("not a plain path"), "{filename}: {}", export.refusal());
    }
    export.json("genai_config.json", &config(&json!({"pipeline": [{}]})));
    assert!(export.refusal().contains("pipeline"));
}

/// Where the graph ends up of what is in `top` and named `part`.
fn graph_of(top: &Path, part: &str) -> PathBuf {
    let opened = super::open(&Place { part: Some(part.into()), ..Place::whole(top.into()) }).unwrap();
    opened.graphs.decoder.strip_prefix(fs::canonicalize(top).unwrap()).unwrap().into()
}

#[test]
fn a_part_is_opened_with_what_is_at_the_top() {
    let export = Export::new();
    let graph = fs::read(export.path().join(GRAPH)).unwrap();
    for name in ["model.onnx", "a/b/c/d/model.onnx", "cpu/decoder.onnx", "cpu/other.onnx"] {
        export.write(name, &graph);
        assert_eq!(graph_of(export.path(), name), Path::new(name));
    }
    let config = json!({"model": {"eos_token_id": 3, "decoder": {"filename": "decoder.onnx"}}});
    export.json("cpu/genai_config.json", &config);
    let place = |part: &str| Place { part: Some(part.into()), ..Place::whole(export.path().into()) };
    for (part, graph) in [("cpu", "cpu/decoder.onnx"), ("cpu/other.onnx", "cpu/other.onnx")] {
        assert_eq!(graph_of(export.path(), part), Path::new(graph));
        assert_eq!(super::open(&place(part)).unwrap().description.end_of_turn, [0, 1, 3]);
    }
    assert_eq!(graph_of(export.path(), "onnx/model.onnx"), Path::new(GRAPH));
    // By its path alone: the folder it is in is all that is known of it.
    export.json("cpu/tokenizer.json", &tokenizer());
    export.write("cpu/chat_template.jinja", TEMPLATE);
    let opened = open(&export.path().join("cpu/other.onnx")).unwrap();
    assert!(opened.graphs.decoder.ends_with("cpu/other.onnx"));
    assert!(super::open(&place("missing.onnx")).unwrap_err().to_string().contains("no file `missing.onnx`"));
}

#[test]
fn names_in_capitals_are_names_of_graphs_too() {
    let export = Export::new();
    let capital = export.path().join("MODEL.ONNX");
    fs::rename(export.path().join(GRAPH), &capital).unwrap();
    assert!(is_model(export.path()) && is_model(&capital));
    for path in [export.path(), &capital] {
        assert!(open(path).unwrap().graphs.decoder.ends_with("MODEL.ONNX"));
    }
}

#[test]
fn what_is_missing_or_damaged_is_said_with_advice() {
    let check = |change: &dyn Fn(&Export), why: &str| {
        let export = Export::new();
        change(&export);
        let refusal = export.refusal();
        assert!(refusal.contains(why), "{why}: {refusal}");
    };
    check(&|export| export.remove("tokenizer.json"), "there is no `tokenizer.json`");
    check(
        &|export| {
            export.remove("tokenizer.json");
            export.write("tokenizer.model", "x")
        },
        "convert it with transformers",
    );
    check(&|export| export.json("tokenizer_config.json", &json!({})), "no chat template / take the model's `Instruct`");
    check(&|export| export.write("tokenizer_config.json", "{"), "`tokenizer_config.json`");
    check(&|export| export.write("config.json", "[".repeat(100_000)), "`config.json`");
    check(&|export| export.write("config.json", vec![b' '; (1 << 20) + 1]), "`config.json` has 1048577 bytes");
    check(&|export| export.write("chat_template.jinja", [0xff]), "`chat_template.jinja`");
    check(&|export| export.write(GRAPH, "not a graph"), "the graph");
    check(&|export| export.remove(GRAPH), "no ONNX model");
    check(
        &|export| {
            let mut tokens = tokenizer();
            tokens["added_tokens"] = json!([]);
            export.json("tokenizer.json", &tokens);
            export.json("config.json", &json!({}));
        },
        "no token that ends a turn",
    );
}

#[test]
fn graphs_that_lie_end_with_an_error() {
    let check = |change: &dyn Fn(&mut Fake), why: &str| {
        let export = Export::new();
        export.graph(change);
        let failure = export.failure();
        assert!(failure.as_ref().is_some_and(|failure| failure.contains(why)), "{why}: {failure:?}");
    };
    // More positions come back than went in, or none.
    check(&|fake| fake.growth = 2, "present.0.key");
    check(&|fake| fake.growth = 0, "present.0.key");
    // Sizes that are not those of the values.
    check(&|fake| fake.heads = "3", "");
    check(&|fake| fake.heads = "1099511627776", "1099511627776 is not a size");
    check(&|fake| fake.heads = "num_heads", "how large `num_heads` is");
    check(&|fake| fake.cut = true, "rows of 5");
    check(&|fake| fake.table = vec![f32::NAN; 36], "invalid numbers");
    check(&|fake| fake.table = vec![f32::INFINITY; 36], "invalid numbers");
    // Operators that nobody has.
    check(&|fake| fake.domain = "evil", "evil");
    check(&|fake| fake.op = "RunCommand", "RunCommand");
    // An output that never comes: the operator has one in its list that its kernel does not make.
    check(&|fake| fake.never = true, "");
    // A value as large as no memory.
    check(&|fake| fake.huge = true, "");
}

#[test]
fn tokenizers_that_take_too_much_to_read_are_refused() {
    let export = Export::new();
    let mut tokens = tokenizer();
    let split = json!({"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": false});
    tokens["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": vec![split; 65]});
    export.json("tokenizer.json", &tokens);
    let failure = export.failure();
    assert!(failure.as_ref().is_some_and(|failure| failure.contains("65 patterns")), "{failure:?}");
}

/// Sizes that follow from the nodes are told by these, whatever the ports say.
#[test]
fn ports_that_contradict_the_nodes_are_overruled() {
    let export = Export::new();
    export.graph(|fake| fake.logits = ["batch_size", "sequence_length", "7"]);
    let mut model = LocalModel::open(export.path(), &runtime(), 32, 1).unwrap();
    assert!(model.context().prefill(&[2, 3], &crate::Cancel::new()).unwrap().is_some());
    assert_eq!(model.context().logits(0), &Fake::default().table[18..24]);
}

#[test]
fn padding_beyond_the_tokenizer_is_cut_off_and_missing_logits_are_fine() {
    for (words, seen) in [(9, 6), (4, 4)] {
        let export = Export::new();
        let last = words.to_string();
        export.graph(|fake| {
            (fake.words, fake.table) = (words, vec![0.5; 6 * words as usize]);
            fake.logits = ["batch_size", "sequence_length", last.clone().leak()];
        });
        let mut model = LocalModel::open(export.path(), &runtime(), 32, 1).unwrap();
        let context = model.context();
        assert!(context.prefill(&[2, 3, 4], &crate::Cancel::new()).unwrap().is_some());
        assert_eq!(context.logits(0).len(), seen);
    }
}

fn with_weights(location: &str, length: &str) -> Export {
    let export = Export::new();
    export.write("onnx/weights", [0; 16]);
    export.write("secret", [0; 16]);
    export.graph(|fake| {
        fake.weights = Some(external("w", &[("location", location), ("offset", "0"), ("length", length)]))
    });
    export
}

#[test]
fn weights_lie_in_the_folder_and_are_long_enough() {
    let export = with_weights("weights", "10");
    open(export.path()).unwrap();
    LocalModel::open(export.path(), &runtime(), 32, 1).unwrap();
    for location in [
        "/etc/passwd",
        "../secret",
        "./weights",
        "../onnx/weights",
        "a/../../secret",
        "*/_ORT_MEM_ADDR_/*",
        "..\\secret",
        "C:secret",
        "weights\u{0}",
        "a/./b/..",
    ] {
        let refusal = with_weights(location, "10").refusal();
        assert!(refusal.contains("not a plain path inside the folder"), "{location:?}: {refusal}");
    }
    assert!(with_weights("weights", "17").refusal().contains("it has 16 bytes, and weights up to 17"));
    assert!(with_weights("missing", "10").refusal().contains("`onnx/missing`"));
    assert!(with_weights("", "10").refusal().contains("where its weights are"));
    let export = with_weights("weights", "10");
    export.graph(|fake| fake.weights = Some(tensor("w", FLOAT, &[1 << 40], &[0; 4])));
    assert!(export.failure().is_some());
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_that_leave_the_folder_are_refused() {
        let outside = tempfile::tempdir().unwrap();
        for name in ["tokenizer.json", "config.json", GRAPH, "onnx/weights"] {
            let export = with_weights("weights", "10");
            let end = outside.path().join("file");
            fs::copy(export.path().join(name), &end).unwrap();
            export.remove(name);
            symlink(&end, export.path().join(name)).unwrap();
            assert!(export.refusal().contains("leads out of the model's folder"), "{name}: {}", export.refusal());
        }
        // One that stays inside is harmless.
        let export = with_weights("weights", "10");
        fs::rename(export.path().join("onnx/weights"), export.path().join("onnx/other")).unwrap();
        symlink("other", export.path().join("onnx/weights")).unwrap();
        open(export.path()).unwrap();
    }

    /// A model in a hub's cache: everything in it is a link to a blob.
    fn in_hub(export: &Export) -> (TempDir, PathBuf) {
        let hub = tempfile::tempdir().unwrap();
        let repository = hub.path().join("models--org--tiny");
        let (blobs, snapshot) = (repository.join("blobs"), repository.join("snapshots/0123"));
        fs::create_dir_all(snapshot.join("onnx")).unwrap();
        fs::create_dir_all(&blobs).unwrap();
        for name in ["tokenizer.json", "config.json", "tokenizer_config.json", GRAPH, "onnx/weights"] {
            let blob = name.replace('/', "-");
            fs::copy(export.path().join(name), blobs.join(&blob)).unwrap();
            let up = if name.contains('/') { "../../../blobs" } else { "../../blobs" };
            symlink(Path::new(up).join(blob), snapshot.join(name)).unwrap();
        }
        (hub, snapshot)
    }

    #[test]
    fn links_of_a_snapshot_lead_to_the_blobs_of_its_own_repository() {
        let (hub, snapshot) = in_hub(&with_weights("weights", "10"));
        assert_eq!(open(&snapshot).unwrap().description.name, "org/tiny");
        LocalModel::open(&snapshot, &runtime(), 32, 1).unwrap();
        let other = hub.path().join("models--org--other/blobs");
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("weights"), [0; 16]).unwrap();
        fs::remove_file(snapshot.join("onnx/weights")).unwrap();
        symlink(other.join("weights"), snapshot.join("onnx/weights")).unwrap();
        assert!(open(&snapshot).unwrap_err().to_string().contains("leads out of the model's folder"));
    }

    #[test]
    fn folders_of_ours_are_refused_whole_when_others_can_write_them() {
        let folder = tempfile::tempdir().unwrap();
        let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let files = built::files(folder.path());
        for file in &files {
            fs::write(file, "x").unwrap();
            allow(file, 0o644);
        }
        refuse_others(folder.path()).unwrap();
        for path in files.iter().map(PathBuf::as_path).chain([folder.path()]) {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            for bit in [0o020, 0o002] {
                allow(path, mode | bit);
                let error = refuse_others(folder.path()).unwrap_err();
                assert!(error.to_string().contains("can be written by other users"), "{}: {error}", path.display());
            }
            allow(path, mode);
        }
        refuse_others(folder.path()).unwrap();
    }

    #[test]
    fn what_others_can_write_is_refused() {
        let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let export = with_weights("weights", "10");
        for name in ["", "onnx", "tokenizer.json", "config.json", GRAPH, "onnx/weights"] {
            let path = export.path().join(name);
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            allow(&path, mode | 0o002);
            let refusal = export.refusal();
            assert!(
                refusal.contains("can be written by other users") && refusal.contains("chmod"),
                "{name}: {refusal}"
            );
            allow(&path, mode & !0o022);
        }
        open(export.path()).unwrap();
        let (_hub, snapshot) = in_hub(&export);
        let blobs = snapshot.join("../../blobs");
        allow(&blobs, 0o777);
        assert!(open(&snapshot).unwrap_err().to_string().contains("can be written by other users"));
    }
}
