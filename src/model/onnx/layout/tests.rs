use super::*;

fn dim(text: &str) -> Dim {
    text.parse().map_or_else(|_| Dim::Named(text.into()), Dim::Fixed)
}

fn port(name: &str, element: Element, dims: &str) -> Port {
    Port { name: name.into(), element: Some(element), dims: dims.split_whitespace().map(dim).collect() }
}

const CACHE: &str = "batch_size 3 past_sequence_length 64";
const PRESENT: &str = "batch_size 3 total_sequence_length 64";

/// A usual export, changed.
struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            inputs: vec![
                port("input_ids", Element::I64, "batch_size sequence_length"),
                port("attention_mask", Element::I64, "batch_size total_sequence_length"),
                port("position_ids", Element::I64, "batch_size sequence_length"),
                port("past_key_values.0.key", Element::F32, CACHE),
                port("past_key_values.0.value", Element::F32, CACHE),
            ],
            outputs: vec![
                port("logits", Element::F32, "batch_size sequence_length 100"),
                port("present.0.key", Element::F32, PRESENT),
                port("present.0.value", Element::F32, PRESENT),
            ],
        }
    }
}

impl Ports {
    fn set(mut self, port: Port) -> Self {
        let place = self.inputs.iter_mut().chain(&mut self.outputs).find(|old| old.name == port.name);
        *place.unwrap() = port;
        self
    }

    fn input(mut self, port: Port) -> Self {
        self.inputs.push(port);
        self
    }

    fn output(mut self, port: Port) -> Self {
        self.outputs.push(port);
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.inputs.retain(|port| port.name != name);
        self.outputs.retain(|port| port.name != name);
        self
    }

    fn plan(&self, shared: &[Pair]) -> Result<Plan> {
        Plan::read(&self.inputs, &self.outputs, &Names::default(), shared)
    }

    fn refusal(&self) -> String {
        let error = self.plan(&[]).unwrap_err();
        assert!(error.is_model(), "{error:?}");
        error.to_string()
    }
}

#[test]
fn a_usual_export_is_read_off_its_ports() {
    let plan = Ports::default().plan(&[]).unwrap();
    let roles: Vec<Role> = plan.inputs.iter().map(|input| input.role).collect();
    assert_eq!(roles, [Role::Ids, Role::Mask, Role::Positions]);
    let shapes: Vec<Vec<i64>> = plan.inputs.iter().map(|input| input.shape(7, 2)).collect();
    assert_eq!(shapes, [[1, 2], [1, 9], [1, 2]]);
    let state = &plan.states[0];
    assert_eq!((state.dims.as_slice(), state.sequence, state.shared), (&[1, 3, 0, 64][..], Some(2), false));
    assert_eq!((state.shape(5), state.runs(), state.bytes(5)), (vec![1, 3, 5, 64], (3, 64), Some(3 * 5 * 64 * 4)));
    assert_eq!((plan.logits.vocabulary, plan.logits.last_only), (Some(100), false));
    let shown = format!("{plan:?}");
    assert!(
        shown.contains("present.0.key -> past_key_values.0.key (F32 [1, 3, 0, 64]): tokens along axis 2, grows"),
        "{shown}"
    );
}

#[test]
fn buffers_are_shared_where_the_nodes_allow_it_and_the_shape_fits() {
    let pair = Pair { past: "past_key_values.0.key".into(), present: "present.0.key".into() };
    let other = Pair { past: "past_key_values.0.value".into(), present: "present.0.key".into() };
    let plan = Ports::default().plan(&[pair.clone(), other]).unwrap();
    assert_eq!(plan.states.iter().map(|state| state.shared).collect::<Vec<_>>(), [true, false]);
    let turned = Ports::default()
        .set(port("past_key_values.0.key", Element::F32, "batch_size 3 64 past_sequence_length"))
        .set(port("present.0.key", Element::F32, "batch_size 3 64 total_sequence_length"));
    assert!(!turned.plan(&[pair]).unwrap().states[0].shared);
}

#[test]
fn states_of_other_shapes_are_carried() {
    let ports = Ports::default()
        .input(port("past_conv.3", Element::F16, "batch_size 2048 3"))
        .output(port("present_conv.3", Element::F16, "batch_size 2048 3"))
        .input(port("past_2", Element::F32, "2 batch 12 past_sequence_length 64"))
        .output(port("present_2", Element::F32, "2 batch 12 n 64"));
    let plan = ports.plan(&[]).unwrap();
    assert_eq!((plan.states[2].dims.as_slice(), plan.states[2].sequence), (&[1, 2048, 3][..], None));
    assert_eq!((plan.states[3].shape(4), plan.states[3].runs()), (vec![2, 1, 12, 4, 64], (24, 64)));
}

#[test]
fn positions_may_have_three_axes() {
    for (dims, shape) in [
        ("3 batch_size sequence_length", vec![3, 1, 5]),
        ("axes batch_size sequence_length", vec![3, 1, 5]),
        ("4 batch_size sequence_length", vec![4, 1, 5]),
        ("sequence_length", vec![5]),
    ] {
        let plan = Ports::default().set(port("position_ids", Element::I64, dims)).plan(&[]).unwrap();
        assert_eq!(plan.inputs[2].shape(9, 5), shape, "{dims}");
    }
}

#[test]
fn what_cannot_be_fed_or_carried_is_refused() {
    let usual = Ports::default;
    for (ports, why) in [
        (usual().input(port("pixel_values", Element::F32, "a b")), "`pixel_values`, which this program does not know"),
        (usual().without("input_ids"), "no input `input_ids`"),
        (usual().input(port("inputs_embeds", Element::F32, "batch sequence 64")), "or several"),
        (usual().without("logits"), "no output `logits`"),
        (usual().without("present.0.key"), "does not come back: there is no output `present.0.key`"),
        (usual().without("past_key_values.0.key").without("past_key_values.0.value"), "keeps nothing between tokens"),
        (usual().set(port("present.0.key", Element::F16, PRESENT)), "another type or rank"),
        (usual().set(port("present.0.key", Element::F32, "a b c")), "another type or rank"),
        (usual().set(port("present.0.key", Element::F32, "batch_size 4 n 64")), "axis 1"),
        (
            usual().set(port("past_key_values.0.key", Element::F32, "batch_size num_heads past 64")),
            "how large `num_heads` is",
        ),
        (usual().set(port("past_key_values.0.key", Element::F32, "batch_size 0 past 64")), "0 is not a size"),
        (
            usual().set(port("past_key_values.0.key", Element::F32, "batch_size 1099511627776 past 64")),
            "1099511627776 is not",
        ),
        (
            usual().set(port("past_key_values.0.key", Element::F32, "1 3 512 64")).set(port(
                "present.0.key",
                Element::F32,
                "1 3 512 64",
            )),
            "a fixed number of tokens",
        ),
        (usual().set(port("input_ids", Element::F32, "batch_size n")), "`input_ids` is F32"),
        (usual().set(port("input_ids", Element::I64, "batch_size 1")), "steps of any length"),
        (usual().set(port("input_ids", Element::I64, "8 n")), "the fixed shape [8, n]"),
        (usual().set(port("attention_mask", Element::I64, "batch_size 1 n m")), "with 4 dimensions"),
        (usual().set(port("position_ids", Element::I64, "900 batch_size n")), "the fixed shape"),
        (usual().set(port("logits", Element::F32, "batch_size 7 100")), "the fixed shape [batch_size, 7, 100]"),
        (usual().set(port("logits", Element::F32, "batch_size n 0")), "has the shape"),
        (usual().set(port("logits", Element::F32, "batch_size n 99999999")), "has the shape"),
        (usual().set(port("logits", Element::I64, "batch_size n 100")), "is I64"),
        (usual().set(port("logits", Element::F32, "100")), "with 1 dimensions"),
        (usual().set(Port { element: None, ..port("logits", Element::F32, "b n 100") }), "an element type"),
    ] {
        let refusal = ports.refusal();
        assert!(refusal.contains(why), "{why}: {refusal}");
    }
}

#[test]
fn caches_that_would_not_fit_are_refused_with_the_numbers() {
    let wide = "batch_size 16777216 past 16777216";
    let ports = Ports::default().set(port("past_key_values.0.key", Element::F32, wide)).set(port(
        "present.0.key",
        Element::F32,
        "batch_size 16777216 n 16777216",
    ));
    let plan = ports.plan(&[]).unwrap();
    let error = plan.check_size(2048, 1 << 35).unwrap_err();
    assert!(error.to_string().contains("4611686018430533632 bytes, more than the 34359738368"), "{error}");
    assert!(error.advice().unwrap().contains("--n-ctx"));
    let error = plan.check_size(usize::MAX, 1 << 35).unwrap_err();
    assert!(error.to_string().contains("more than 2^64 bytes"), "{error}");
    assert!(Ports::default().plan(&[]).unwrap().check_size(1 << 20, 1 << 35).is_ok());
}

#[test]
fn states_are_counted_as_often_as_they_exist_in_a_step() {
    let takes = |plan: &Plan, bytes: u64| {
        assert!(plan.check_size(100, bytes).is_ok());
        let refusal = plan.check_size(100, bytes - 1).unwrap_err().to_string();
        assert!(refusal.contains(&format!("takes {bytes} bytes")), "{refusal}");
    };
    let pair = |part: &str| Pair { past: format!("past_key_values.0.{part}"), present: format!("present.0.{part}") };
    let each = 100 * 3 * 64 * 4;
    takes(&Ports::default().plan(&[pair("key"), pair("value")]).unwrap(), 2 * each);
    takes(&Ports::default().plan(&[]).unwrap(), 4 * each);
    for (width, bytes, kept) in [(1 << 8, 1 << 10, 8), (1 << 24, 1 << 26, 4), (1 << 23, 1 << 29, 1)] {
        let dims = format!("batch_size {} {width}", bytes / 4 / width);
        let ports = Ports::default().input(port("past_conv.0", Element::F32, &dims)).output(port(
            "present_conv.0",
            Element::F32,
            &dims,
        ));
        let plan = ports.plan(&[]).unwrap();
        assert_eq!(plan.most_kept(), kept, "{dims}");
        takes(&plan, 4 * each + bytes * (2 + kept));
    }
}
