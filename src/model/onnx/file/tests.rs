use super::*;
use crate::model::onnx::testing::{Attr, FLOAT, Graph, bytes, external, int, port, tensor, text};

fn look(model: &[u8]) -> Result<Facts> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), model).unwrap();
    inspect(file.path())
}

fn refusal(model: &[u8]) -> String {
    let error = look(model).unwrap_err();
    assert!(error.is_model(), "{error:?}");
    error.to_string()
}

fn weights(location: &str) -> Vec<u8> {
    external("w", &[("location", location), ("offset", "4"), ("length", "10")])
}

/// A graph that names `location` as its own weights.
fn naming(location: &str) -> Graph {
    let mut graph = Graph::default();
    graph.initializer(&weights(location));
    graph
}

#[test]
fn weights_are_found_wherever_the_format_has_room_for_them() {
    let mut nodes = Graph::default();
    let sparse = |location| [bytes(1, &weights(location)), bytes(2, &weights("indices"))].concat();
    nodes.node("Constant", &[], &[Attr::Raw("value", bytes(5, &weights("attribute")))]);
    nodes.node("X", &[], &[Attr::Raw("values", [bytes(10, &weights("many")), bytes(10, &weights("more"))].concat())]);
    nodes.node("X", &[], &[Attr::Raw("sparse", bytes(22, &sparse("sparse attribute")))]);
    nodes.node("X", &[], &[Attr::Raw("sparse", bytes(23, &sparse("sparse attributes")))]);
    nodes.node("If", &["c"], &[Attr::Graph("then_branch", &naming("branch"))]);
    nodes.node("X", &[], &[Attr::Raw("bodies", bytes(11, &naming("bodies").write()))]);
    let mut around = Graph::default();
    around.node(
        "Loop",
        &["c"],
        &[Attr::Graph("body", &{
            let mut body = Graph::default();
            body.node("If", &["d"], &[Attr::Graph("else_branch", &naming("inner"))]);
            body
        })],
    );
    nodes.fields.extend(around.fields);
    nodes.fields.extend(bytes(15, &sparse("sparse")));
    nodes.initializer(&weights("weights"));
    let node = [text(4, "Constant"), bytes(5, &[text(1, "value"), bytes(5, &weights("function"))].concat())].concat();
    let preset = [text(1, "preset"), bytes(5, &weights("preset"))].concat();
    let function = bytes(25, &[text(1, "f"), bytes(7, &node), bytes(11, &preset)].concat());
    let found = look(&nodes.model_with(&function)).unwrap().external;
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    let wanted = [
        "attribute",
        "bodies",
        "branch",
        "function",
        "indices",
        "inner",
        "many",
        "more",
        "preset",
        "sparse",
        "sparse attribute",
        "sparse attributes",
        "weights",
    ];
    assert_eq!(names, wanted);
    assert!(found.values().all(|&end| end == 14));
}

#[test]
fn what_describes_weights_is_read_strictly() {
    let model = |entries: &[(&str, &str)]| {
        let mut graph = Graph::default();
        graph.initializer(&external("w", entries));
        graph.model()
    };
    assert_eq!(look(&model(&[("location", "a")])).unwrap().external["a"], 0);
    let at = |offset, length| refusal(&model(&[("location", "a"), ("offset", offset), ("length", length)]));
    for (offset, length) in [("-1", "1"), ("1", "x"), ("18446744073709551615", "1"), ("", "1"), ("1 ", "1")] {
        assert!(at(offset, length).contains("where its weights are"), "{offset} {length}");
    }
    assert!(refusal(&model(&[("offset", "1")])).contains("where its weights are"));
    assert!(refusal(&model(&[("location", "")])).contains("where its weights are"));
    assert!(refusal(&model(&[])).contains("where its weights are"));
    assert!(refusal(&model(&[("location", "a"), ("location", "/etc/passwd")])).contains("twice"));
    assert!(refusal(&model(&[("location", "a"), ("basepath", "/etc")])).contains("`basepath`, which is not known"));
}

#[test]
fn what_is_not_in_the_format_is_refused() {
    let good = naming("w").model();
    look(&good).unwrap();
    // Training, a field that does not exist, a second graph, a message that is a number, a group.
    for (more, why) in [
        (bytes(20, &bytes(1, &naming("/etc/passwd").write())), "field 20"),
        (bytes(99, b"x"), "field 99"),
        (bytes(7, &naming("/etc/passwd").write()), "twice"),
        (int(25, 1), "wrong kind"),
        (vec![3 << 3 | 3], "damaged"),
        (vec![0, 1], "damaged"),
        (vec![2 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0x0f], "damaged"),
        (vec![2 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], "damaged"),
    ] {
        let error = refusal(&[&good[..], &more].concat());
        assert!(error.contains(why), "{why}: {error}");
    }
    let mut twice = Graph::default();
    twice.node("Constant", &[], &[Attr::Raw("value", [bytes(5, &weights("a")), bytes(5, &weights("b"))].concat())]);
    assert!(refusal(&twice.model()).contains("twice"));
    assert!(refusal(b"not an onnx file").contains("the graph"));
    // Cut anywhere but between two of its fields it is damaged; it never makes the walk read on.
    for len in 0..good.len() {
        let _ = look(&good[..len]);
    }
    assert!(refusal(&good[..good.len() - 1]).contains("damaged"));
}

#[test]
fn depth_and_size_are_bounded() {
    let mut graph = Graph::default();
    for _ in 0..40 {
        let mut around = Graph::default();
        around.node("If", &["c"], &[Attr::Graph("then_branch", &graph)]);
        graph = around;
    }
    assert!(refusal(&graph.model()).contains("deep"));
    let mut long = Graph::default();
    long.node(&"x".repeat(5000), &[], &[]);
    assert!(refusal(&long.model()).contains("bytes, more than 4096"));
    // Weights inside do not count, whatever their size; texts do.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes(6, &vec![b'x'; 10_000])).unwrap();
    let mut wire = Wire::new(File::open(file.path()).unwrap(), 10_003, 9_999);
    let (_, Payload::Bytes(len)) = wire.field(10_003).unwrap() else { panic!("not bytes") };
    assert!(wire.skip(len).unwrap_err().to_string().contains("more than 9999 bytes beside its weights"));
    let mut wire = Wire::new(File::open(file.path()).unwrap(), 10_003, 9_999);
    wire.field(10_003).unwrap();
    wire.skip_weights(len).unwrap();
    assert_eq!(wire.at(), 10_003);
}

#[test]
fn what_is_small_in_the_file_and_large_in_memory_is_bounded() {
    let many = "more names and numbers than any model needs";
    let texts = MAX_KEPT / KEPT_OVERHEAD;
    let model = |fields: &[u8]| {
        let mut graph = Graph::default();
        graph.fields.extend(fields);
        graph.model()
    };
    // Two bytes each: inputs without a name, places of weights.
    let node = |count: u64| model(&bytes(1, &text(1, "").repeat(count as usize)));
    look(&node(texts)).unwrap();
    assert!(refusal(&node(texts + 1)).contains(many));
    assert!(refusal(&model(&bytes(5, &int(14, 1).repeat(texts as usize + 1)))).contains(many));
    assert!(refusal(&model(&bytes(5, &bytes(13, &[]).repeat(texts as usize + 1)))).contains(many));
    // Names that are kept until the end, over many nodes.
    let named = |count: u64| -> Vec<u8> {
        let node = |at: u64| bytes(1, &[text(1, &format!("{at:x}")), text(2, "y"), text(4, "X")].concat());
        model(&(0..count).flat_map(node).collect::<Vec<_>>())
    };
    look(&named(100_000)).unwrap();
    assert!(refusal(&named(1_000_000)).contains(many));
}

#[test]
fn ports_are_tensors_of_plain_numbers() {
    let with = |port: Vec<u8>| {
        let mut graph = Graph::default();
        graph.fields.extend(bytes(11, &port));
        graph.model()
    };
    look(&with(port("x", FLOAT, &["n", "2"]))).unwrap();
    assert!(refusal(&with(port("x", 23, &["n"]))).contains("`x` is not a tensor of plain numbers"));
    assert!(refusal(&with(text(1, "y"))).contains("`y` is not"));
    let sequence = bytes(4, &bytes(1, &bytes(1, &int(1, FLOAT))));
    assert!(refusal(&with([text(1, "z"), bytes(2, &sequence)].concat())).contains("`z` is not"));
}

#[test]
fn only_what_the_attention_alone_sees_is_shared() {
    let attention = |graph: &mut Graph| {
        let inputs = ["q", "k", "v", "past.key", "past.value", "last", "total"];
        graph.node_to("com.microsoft", "GroupQueryAttention", &inputs, &["y", "present.key", "present.value"], &[]);
    };
    let shared = |change: &dyn Fn(&mut Graph)| {
        let mut graph = Graph::default();
        attention(&mut graph);
        change(&mut graph);
        let mut pasts: Vec<String> = look(&graph.model()).unwrap().shared.into_iter().map(|pair| pair.past).collect();
        pasts.sort();
        pasts
    };
    assert_eq!(shared(&|_| ()), ["past.key", "past.value"]);
    assert_eq!(shared(&|graph| _ = graph.node("Shape", &["past.key"], &[])), ["past.value"]);
    assert_eq!(shared(&|graph| _ = graph.node("Shape", &["present.key"], &[])), ["past.value"]);
    assert_eq!(shared(&attention), [""; 0]);
    // A body of a branch sees the values of the graph around it.
    let mut body = Graph::default();
    body.node("Identity", &["past.value"], &[]);
    assert_eq!(shared(&|graph| _ = graph.node("If", &["c"], &[Attr::Graph("then_branch", &body)])), ["past.key"]);
    // The same operator there writes in place of something else, and one of another maker is another operator.
    let mut body = Graph::default();
    attention(&mut body);
    assert_eq!(shared(&|graph| _ = graph.node("If", &["c"], &[Attr::Graph("then_branch", &body)])), [""; 0]);
    let mut foreign = Graph::default();
    foreign.node_to("other", "GroupQueryAttention", &["q", "k", "v", "past"], &["y", "present"], &[]);
    assert_eq!(look(&foreign.model()).unwrap().shared, []);
}

#[test]
fn weights_inside_are_passed_over() {
    let mut graph = Graph::default();
    graph.initializer(&tensor("w", FLOAT, &[1 << 18], &vec![1; 1 << 20]));
    graph.node("Identity", &["w"], &[]);
    assert_eq!(look(&graph.model()).unwrap(), Facts::default());
}
