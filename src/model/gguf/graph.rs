//! Builds an ONNX graph node by node: names, constants, ports, and matrices in the data file.

use super::Weights;
use super::proto::{
    ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_INTS, Attribute, Dimension, EXTERNAL, Entry, Extent, FLOAT, Graph, INT32,
    INT64, Model, Node, OperatorSet, Port, Shape, Tensor, TensorType, Type, UINT8,
};
use super::weights::{DataFile, Part};
use crate::model::built::{DATA_FILE, stored};
use crate::model::kernel;
use crate::model::quant::BLOCK;
use crate::model::row_order::RowOrder;

/// The operator domain of ONNX Runtime's own kernels.
const CONTRIB: &str = "com.microsoft";
const OPSET: i64 = 21;
const IR_VERSION: i64 = 10;
/// `MatMulNBits`: compute in 8-bit integers, which is what makes it fast on CPUs.
const ACCURACY_INT8: i64 = 4;

/// The name of a value in the graph.
pub(super) type Edge = String;

pub(super) enum Attr {
    Int(i64),
    Float(f32),
    Ints(Vec<i64>),
}

/// A matrix, ready to be multiplied with or gathered from.
pub(super) struct Matrix {
    name: String,
    rows: usize,
    row_len: usize,
    form: Form,
}

/// Where a matrix is, and in what form.
enum Form {
    /// In the GGUF file.
    Stored(Vec<Part>),
    /// In the data file, in blocks with so many bits for a weight.
    Blocks { bits: usize, zeros: bool },
    /// In the data file.
    Floats,
}

pub(super) struct GraphBuilder {
    graph: Graph,
    weights: Weights,
    pub data: DataFile,
}

impl GraphBuilder {
    pub fn new(weights: Weights) -> Self {
        let graph = Graph { name: Some("decoder".into()), ..Graph::default() };
        Self { graph, weights, data: DataFile::default() }
    }

    /// A node with one output, which is named after it.
    pub fn node(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attr)]) -> Edge {
        let output = format!("{op}_{}", self.graph.node.len());
        self.node_to(op, inputs, &[&output], attributes);
        output
    }

    /// A node with named outputs; an empty name is an input or output left out.
    pub fn node_to(&mut self, op: &str, inputs: &[&str], outputs: &[&str], attributes: &[(&str, Attr)]) {
        let attribute = |(name, value): &(&str, Attr)| {
            let mut attribute = Attribute { name: Some((*name).into()), ..Attribute::default() };
            match value {
                Attr::Int(i) => (attribute.i, attribute.kind) = (Some(*i), Some(ATTRIBUTE_INT)),
                Attr::Float(f) => (attribute.f, attribute.kind) = (Some(*f), Some(ATTRIBUTE_FLOAT)),
                Attr::Ints(ints) => (attribute.ints, attribute.kind) = (ints.clone(), Some(ATTRIBUTE_INTS)),
            }
            attribute
        };
        self.graph.node.push(Node {
            input: inputs.iter().map(ToString::to_string).collect(),
            output: outputs.iter().map(ToString::to_string).collect(),
            name: Some(format!("{op}_{}", self.graph.node.len())),
            op_type: Some(op.into()),
            attribute: attributes.iter().map(attribute).collect(),
            domain: domain(op).map(Into::into),
        });
    }

    /// A small constant of whole numbers, kept in the graph itself; once, when it is asked for again. An empty `dims`
    /// makes a scalar.
    pub fn ints(&mut self, name: &str, dims: &[i64], values: &[i64]) -> Edge {
        if self.graph.initializer.iter().any(|tensor| tensor.name.as_deref() == Some(name)) {
            return name.into();
        }
        self.graph.initializer.push(Tensor {
            dims: dims.to_vec(),
            data_type: Some(INT64),
            name: Some(name.into()),
            raw_data: Some(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
            ..Tensor::default()
        });
        name.into()
    }

    /// Floats computed here, kept in the data file.
    pub fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> Edge {
        let at = self.data.ready(values.iter().flat_map(|value| value.to_le_bytes()).collect());
        self.external(name, FLOAT, dims, at);
        name.into()
    }

    /// The parts one after the other as one vector of floats.
    pub fn vector(&mut self, name: &str, parts: Vec<Part>) -> Edge {
        let len = parts.iter().map(|part| part.tensor.row_len() * part.tensor.rows()).sum();
        let at = self.data.floats(parts, len);
        self.external(name, FLOAT, &[len], at);
        name.into()
    }

    /// The parts one below the other as one matrix, in the build's own precision.
    pub fn matrix(&mut self, name: &str, parts: Vec<Part>) -> Matrix {
        let row_len = parts[0].tensor.row_len();
        let rows = parts.iter().map(|part| part.tensor.rows()).sum();
        let form = match self.weights {
            Weights::Stored if parts.iter().all(|part| kernel::takes(part.tensor.kind, row_len)) => Form::Stored(parts),
            Weights::F32 => {
                let at = self.data.floats(parts, rows * row_len);
                self.external(&format!("{name}.weight"), FLOAT, &[rows, row_len], at);
                Form::Floats
            }
            Weights::Stored | Weights::Blocks | Weights::EightBits => {
                let at = self.data.blocks(parts, rows, row_len, self.weights != Weights::EightBits);
                let (blocks, packed) = (row_len / BLOCK, 8 / at.bits);
                self.external(&format!("{name}.bytes"), UINT8, &[rows, blocks, BLOCK / packed], at.bytes);
                // The same bytes as rows: gathering wants two dimensions where multiplying wants three.
                self.external(&format!("{name}.rows"), UINT8, &[rows, row_len / packed], at.bytes);
                self.external(&format!("{name}.scales"), FLOAT, &[rows, blocks], at.scales);
                if let Some(at) = at.zeros {
                    self.external(&format!("{name}.zeros"), UINT8, &[rows, blocks], at);
                }
                Form::Blocks { bits: at.bits, zeros: at.zeros.is_some() }
            }
        };
        Matrix { name: name.into(), rows, row_len, form }
    }

    /// `x` times the matrix's transpose, one output for each of its rows, plus the bias if there is one.
    pub fn multiply(&mut self, x: &str, matrix: &Matrix, bias: Option<&str>) -> Edge {
        let name = &matrix.name;
        match &matrix.form {
            Form::Stored(parts) => {
                let inputs = [x, bias.unwrap_or_default()];
                let given = if bias.is_some() { 2 } else { 1 };
                self.node(stored::PRODUCT, &inputs[..given], &places(matrix.row_len, parts))
            }
            Form::Floats => {
                let product = self.node("FusedMatMul", &[x, &format!("{name}.weight")], &[("transB", Attr::Int(1))]);
                bias.map_or(product.clone(), |bias| self.node("Add", &[&product, bias], &[]))
            }
            Form::Blocks { bits, zeros } => {
                let (bytes, scales) = (format!("{name}.bytes"), format!("{name}.scales"));
                let given_zeros = if *zeros { format!("{name}.zeros") } else { String::new() };
                let inputs = [x, &bytes, &scales, &given_zeros, "", bias.unwrap_or_default()];
                let attributes = [
                    ("K", Attr::Int(matrix.row_len as i64)),
                    ("N", Attr::Int(matrix.rows as i64)),
                    ("bits", Attr::Int(*bits as i64)),
                    ("block_size", Attr::Int(BLOCK as i64)),
                    ("accuracy_level", Attr::Int(ACCURACY_INT8)),
                ];
                let given = match (bias, zeros) {
                    (Some(_), _) => 6,
                    (None, true) => 4,
                    (None, false) => 3,
                };
                self.node("MatMulNBits", &inputs[..given], &attributes)
            }
        }
    }

    /// The matrix's rows at `ids`.
    pub fn gather(&mut self, matrix: &Matrix, ids: &str) -> Edge {
        let name = &matrix.name;
        match &matrix.form {
            Form::Stored(parts) => self.node(stored::ROWS, &[ids], &places(matrix.row_len, parts)),
            Form::Floats => self.node("Gather", &[&format!("{name}.weight"), ids], &[]),
            Form::Blocks { bits, zeros } => {
                let inputs = ["rows", "scales", "zeros"].map(|part| format!("{name}.{part}"));
                let inputs = [&inputs[0], ids, &inputs[1], &inputs[2]];
                let attributes = [
                    ("bits", Attr::Int(*bits as i64)),
                    ("block_size", Attr::Int(BLOCK as i64)),
                    ("gather_axis", Attr::Int(0)),
                    ("quantize_axis", Attr::Int(1)),
                ];
                self.node("GatherBlockQuantized", &inputs[..if *zeros { 4 } else { 3 }], &attributes)
            }
        }
    }

    /// Gives the output of the node made last the name of a graph output.
    pub fn rename_last_output(&mut self, name: &str) {
        if let Some(node) = self.graph.node.last_mut() {
            node.output = vec![name.into()];
        }
    }

    pub fn input(&mut self, name: &str, elem_type: i32, dims: &[Extent]) {
        self.graph.input.push(port(name, elem_type, dims));
    }

    pub fn output(&mut self, name: &str, elem_type: i32, dims: &[Extent]) {
        self.graph.output.push(port(name, elem_type, dims));
    }

    fn external(&mut self, name: &str, data_type: i32, dims: &[usize], at: u64) {
        let width = if data_type == UINT8 { 1 } else { 4 };
        let len = dims.iter().product::<usize>() * width;
        let entry = |key: &str, value: String| Entry { key: Some(key.into()), value: Some(value) };
        self.graph.initializer.push(Tensor {
            dims: dims.iter().map(|&dim| dim as i64).collect(),
            data_type: Some(data_type),
            name: Some(name.into()),
            external_data: vec![
                entry("location", DATA_FILE.into()),
                entry("offset", at.to_string()),
                entry("length", len.to_string()),
            ],
            data_location: Some(EXTERNAL),
            ..Tensor::default()
        });
    }

    /// The finished graph as a model, without the initializers that no node reads.
    pub fn finish(mut self, producer_version: &str) -> (Model, DataFile) {
        let used: std::collections::HashSet<&str> =
            self.graph.node.iter().flat_map(|node| node.input.iter().map(String::as_str)).collect();
        self.graph.initializer.retain(|tensor| tensor.name.as_deref().is_some_and(|name| used.contains(name)));
        let opset = |domain: &str, version| OperatorSet { domain: Some(domain.into()), version: Some(version) };
        let mut opsets = vec![opset("", OPSET), opset(CONTRIB, 1)];
        if self.graph.node.iter().any(|node| node.domain.as_deref() == Some(stored::DOMAIN)) {
            opsets.push(opset(stored::DOMAIN, 1));
        }
        let model = Model {
            ir_version: Some(IR_VERSION),
            producer_name: Some(env!("CARGO_PKG_NAME").into()),
            producer_version: Some(producer_version.into()),
            opset_import: opsets,
            graph: Some(self.graph),
        };
        (model, self.data)
    }
}

/// The attributes that say where matrices are in the GGUF file.
fn places(row_len: usize, parts: &[Part]) -> [(&'static str, Attr); 5] {
    let each = |of: &dyn Fn(&Part) -> i64| Attr::Ints(parts.iter().map(of).collect());
    [
        (stored::ROW_LEN, Attr::Int(row_len as i64)),
        (stored::KINDS, each(&|part| part.tensor.kind.code().into())),
        (stored::HEIGHTS, each(&|part| part.tensor.rows() as i64)),
        (stored::STARTS, each(&|part| part.tensor.start() as i64)),
        (
            stored::HEADS,
            each(&|part| match part.order {
                RowOrder::Stored => 0,
                RowOrder::RotaryHalves { head_dim } => head_dim as i64,
            }),
        ),
    ]
}

/// Whose operator it is, unless it is ONNX's own.
fn domain(op: &str) -> Option<&'static str> {
    match op {
        "MatMulNBits"
        | "GatherBlockQuantized"
        | "GroupQueryAttention"
        | "SkipSimplifiedLayerNormalization"
        | "FusedMatMul"
        | "QuickGelu"
        | "FastGelu" => Some(CONTRIB),
        stored::PRODUCT | stored::ROWS => Some(stored::DOMAIN),
        _ => None,
    }
}

fn port(name: &str, elem_type: i32, dims: &[Extent]) -> Port {
    debug_assert!([FLOAT, INT32, INT64].contains(&elem_type));
    let dim = dims.iter().map(|extent| Dimension { extent: Some(extent.clone()) }).collect();
    let tensor = TensorType { elem_type: Some(elem_type), shape: Some(Shape { dim }) };
    Port { name: Some(name.into()), kind: Some(Type { tensor: Some(tensor) }) }
}
