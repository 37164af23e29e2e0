//! Writes small GGUF files for tests, true ones and lying ones.

use std::io::Write;

use tempfile::NamedTempFile;

pub(crate) struct Fixture {
    pub magic: [u8; 4],
    pub version: u32,
    pub tensor_count: Option<u64>,
    pub key_count: Option<u64>,
    keys: Vec<u8>,
    keys_written: u64,
    entries: Vec<u8>,
    tensors_written: u64,
    data: Vec<u8>,
}

impl Fixture {
    pub fn new() -> Self {
        Self {
            magic: *b"GGUF",
            version: 3,
            tensor_count: None,
            key_count: None,
            keys: Vec::new(),
            keys_written: 0,
            entries: Vec::new(),
            tensors_written: 0,
            data: Vec::new(),
        }
    }

    pub fn key(&mut self, name: &str, kind: u32, value: &[u8]) {
        self.keys.extend(text(name));
        self.keys.extend(kind.to_le_bytes());
        self.keys.extend(value);
        self.keys_written += 1;
    }

    pub fn tensor(&mut self, name: &str, dims: &[u64], kind: u32, data: &[u8]) {
        self.data.resize(self.data.len().next_multiple_of(32), 0);
        self.tensor_at(name, dims, kind, self.data.len() as u64);
        self.data.extend(data);
    }

    /// A tensor that says its data begin at `start`.
    pub fn tensor_at(&mut self, name: &str, dims: &[u64], kind: u32, start: u64) {
        self.entries.extend(text(name));
        self.entries.extend((dims.len() as u32).to_le_bytes());
        self.entries.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
        self.entries.extend(kind.to_le_bytes());
        self.entries.extend(start.to_le_bytes());
        self.tensors_written += 1;
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.magic.to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.tensor_count.unwrap_or(self.tensors_written).to_le_bytes());
        bytes.extend(self.key_count.unwrap_or(self.keys_written).to_le_bytes());
        bytes.extend(&self.keys);
        bytes.extend(&self.entries);
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.data);
        bytes
    }

    pub fn write(&self) -> NamedTempFile {
        Self::write_bytes(&self.bytes())
    }

    pub fn write_bytes(bytes: &[u8]) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}
