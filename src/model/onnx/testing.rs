//! Writes ONNX files for tests, true ones and lying ones, field by field: the format's numbers are said once more here,
//! apart from those that the walk goes by.

pub(crate) const FLOAT: u64 = 1;
pub(crate) const INT32: u64 = 6;
pub(crate) const INT64: u64 = 7;
pub(crate) const BOOL: u64 = 9;
pub(crate) const FLOAT16: u64 = 10;
pub(crate) const BFLOAT16: u64 = 16;

/// A field that is a number.
pub(crate) fn int(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field that is bytes: a text, a message, packed numbers.
pub(crate) fn bytes(field: u64, bytes: &[u8]) -> Vec<u8> {
    [&varint(field << 3 | 2), &varint(bytes.len() as u64), bytes].concat()
}

pub(crate) fn text(field: u64, text: &str) -> Vec<u8> {
    bytes(field, text.as_bytes())
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// An attribute of a node.
pub(crate) enum Attr<'a> {
    Int(&'a str, i64),
    Ints(&'a str, &'a [i64]),
    Float(&'a str, f32),
    Graph(&'a str, &'a Graph),
    /// Any kind, given as the fields after the name.
    Raw(&'a str, Vec<u8>),
}

impl Attr<'_> {
    fn write(&self) -> Vec<u8> {
        let (name, rest) = match self {
            Self::Int(name, value) => (name, [int(3, *value as u64), int(20, 2)].concat()),
            Self::Ints(name, values) => {
                (name, [values.iter().flat_map(|value| int(8, *value as u64)).collect(), int(20, 7)].concat())
            }
            Self::Float(name, value) => (name, [varint(2 << 3 | 5), value.to_le_bytes().to_vec(), int(20, 1)].concat()),
            Self::Graph(name, graph) => (name, [bytes(6, &graph.write()), int(20, 5)].concat()),
            Self::Raw(name, rest) => (name, rest.clone()),
        };
        [text(1, name), rest].concat()
    }
}

/// A tensor with its bytes in it.
pub(crate) fn tensor(name: &str, kind: u64, dims: &[i64], raw: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&dim| int(1, dim as u64)).collect();
    [dims, int(2, kind), text(8, name), bytes(9, raw)].concat()
}

/// A tensor of 10 bytes that lie elsewhere.
pub(crate) fn external(name: &str, entries: &[(&str, &str)]) -> Vec<u8> {
    let entry = |(key, value): &(&str, &str)| bytes(13, &[text(1, key), text(2, value)].concat());
    [int(1, 10), int(2, 3), text(8, name), entries.iter().flat_map(entry).collect(), int(14, 1)].concat()
}

/// A graph as it grows; its fields are in no order of their own.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    pub fields: Vec<u8>,
    made: usize,
}

impl Graph {
    /// A node with one output, whose name is given back.
    pub fn node(&mut self, op: &str, inputs: &[&str], attributes: &[Attr<'_>]) -> String {
        self.made += 1;
        let output = format!("{op}.{}.{}", self.made, inputs.first().copied().unwrap_or_default());
        self.node_to("", op, inputs, &[&output], attributes);
        output
    }

    pub fn node_to(&mut self, domain: &str, op: &str, inputs: &[&str], outputs: &[&str], attributes: &[Attr<'_>]) {
        let inputs: Vec<u8> = inputs.iter().flat_map(|name| text(1, name)).collect();
        let outputs: Vec<u8> = outputs.iter().flat_map(|name| text(2, name)).collect();
        let attributes: Vec<u8> = attributes.iter().flat_map(|attribute| bytes(5, &attribute.write())).collect();
        self.fields.extend(bytes(1, &[inputs, outputs, text(4, op), attributes, text(7, domain)].concat()));
    }

    pub fn initializer(&mut self, tensor: &[u8]) {
        self.fields.extend(bytes(5, tensor));
    }

    pub fn floats(&mut self, name: &str, dims: &[i64], values: &[f32]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.initializer(&tensor(name, FLOAT, dims, &raw));
        name.into()
    }

    /// A constant; without dimensions when `dims` is empty.
    pub fn ints(&mut self, dims: &[i64], values: &[i64]) -> String {
        self.made += 1;
        let name = format!("ints.{}", self.made);
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.initializer(&tensor(&name, INT64, dims, &raw));
        name
    }

    /// An input; dimensions are numbers or names.
    pub fn input(&mut self, name: &str, kind: u64, dims: &[&str]) {
        self.fields.extend(bytes(11, &port(name, kind, dims)));
    }

    pub fn output(&mut self, name: &str, kind: u64, dims: &[&str]) {
        self.fields.extend(bytes(12, &port(name, kind, dims)));
    }

    pub fn write(&self) -> Vec<u8> {
        [text(2, "graph"), self.fields.clone()].concat()
    }

    /// The graph as a file, with more fields of the model's behind it.
    pub fn model_with(&self, more: &[u8]) -> Vec<u8> {
        let opset = |domain: &str, version| bytes(8, &[text(1, domain), int(2, version)].concat());
        [int(1, 10), opset("", 21), opset("com.microsoft", 1), bytes(7, &self.write()), more.to_vec()].concat()
    }

    pub fn model(&self) -> Vec<u8> {
        self.model_with(&[])
    }
}

pub(crate) fn port(name: &str, kind: u64, dims: &[&str]) -> Vec<u8> {
    let dim = |dim: &&str| match dim.parse::<i64>() {
        Ok(size) => bytes(1, &int(1, size as u64)),
        Err(_) => bytes(1, &text(2, dim)),
    };
    let dims: Vec<u8> = dims.iter().flat_map(dim).collect();
    [text(1, name), bytes(2, &bytes(1, &[int(1, kind), bytes(2, &dims)].concat()))].concat()
}
