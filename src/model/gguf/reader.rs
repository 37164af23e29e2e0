//! Reads a GGUF file: the header whole, tensors by position and only as much as asked for.
//!
//! The file is not trusted. Every count and size is checked against what is left of the file, and against a fixed
//! ceiling, before anything is allocated for it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::metadata::{Metadata, Value};
use super::tokenizer_json;
use crate::model::quant::TensorType;
use crate::{Error, Result};

/// Bytes that metadata and tensor list may take together; a vocabulary of 260,000 tokens with its merges takes 15 MB.
const MAX_HEADER: u64 = 256 << 20;
const MAX_STRING: u64 = 16 << 20;
/// Elements of a list that is kept: four times the largest vocabularies.
const MAX_ELEMENTS: u64 = 1 << 20;
/// Bytes of names, texts and lists that are kept, with what each takes beside its own bytes.
const MAX_KEPT: u64 = 128 << 20;
const STRING_OVERHEAD: u64 = 48;
const MAX_KEYS: u64 = 64 << 10;
const MAX_TENSORS: u64 = 64 << 10;
const MAX_DIMENSIONS: u32 = 4;
/// The least a tensor's entry can take: name length, dimension count, one dimension, type, offset.
const MIN_TENSOR_ENTRY: u64 = 8 + 4 + 8 + 4 + 8;
/// The least a metadata entry can take: key length, type, one byte.
const MIN_KEY_ENTRY: u64 = 8 + 4 + 1;

/// GGUF's numbers of the value types that are not plain numbers.
const TEXT: u32 = 8;
const LIST: u32 = 9;

/// Where a tensor lies and what it is. `dims` is in ggml's order: the length of a row first.
#[derive(Clone, Debug)]
pub(super) struct TensorEntry {
    pub name: String,
    pub kind: TensorType,
    pub dims: Vec<usize>,
    start: u64,
}

impl TensorEntry {
    /// Weights in a row.
    pub fn row_len(&self) -> usize {
        self.dims[0]
    }

    pub fn rows(&self) -> usize {
        self.dims[1..].iter().product()
    }

    /// Where in the file it begins, in bytes.
    pub fn start(&self) -> u64 {
        self.start
    }

    pub fn row_bytes(&self) -> usize {
        self.kind.bytes(self.row_len()).expect("checked when the entry was read")
    }
}

pub(super) struct Gguf {
    file: File,
    pub metadata: Metadata,
    tensors: HashMap<String, TensorEntry>,
}

impl Gguf {
    pub fn open(path: &Path) -> Result<Self> {
        let failed =
            |error: std::io::Error| Error::usage(error).context(format!("cannot read the model `{}`", path.display()));
        let file = File::open(path).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if !facts.is_file() {
            return Err(Error::usage(format!("the model `{}` is not a file", path.display())));
        }
        let (metadata, tensors) = header(BufReader::new(&file), facts.len()).map_err(|error| {
            error
                .context(format!("`{}` is not a GGUF file that can be used", path.display()))
                .advise("fetch the file again, or name another model")
        })?;
        Ok(Self { file, metadata, tensors })
    }

    pub fn tensor(&self, name: &str) -> Option<&TensorEntry> {
        self.tensors.get(name)
    }

    pub fn tensor_names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Reads `rows` whole rows of `tensor` from row `first` on into `buffer`, which is resized to fit.
    pub fn read_rows(&mut self, tensor: &TensorEntry, first: usize, rows: usize, buffer: &mut Vec<u8>) -> Result<()> {
        assert!(first + rows <= tensor.rows(), "rows of `{}` out of range", tensor.name);
        let row_bytes = tensor.row_bytes();
        buffer.resize(rows * row_bytes, 0);
        let start = tensor.start + (first * row_bytes) as u64;
        self.file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.file.read_exact(buffer))
            .map_err(|error| Error::model(error).context(format!("reading tensor `{}`", tensor.name)))
    }
}

/// What a file of `len` bytes says of itself, read from its beginning.
pub(super) fn header(from: impl Read, len: u64) -> Result<(Metadata, HashMap<String, TensorEntry>)> {
    Header { from, read: 0, len, kept: 0 }.parse()
}

/// The header as a stream that knows how much of the file is left.
struct Header<R> {
    from: R,
    read: u64,
    len: u64,
    /// Bytes of memory that its texts and lists take.
    kept: u64,
}

impl<R: Read> Header<R> {
    fn parse(&mut self) -> Result<(Metadata, HashMap<String, TensorEntry>)> {
        if &self.array::<4>()? != b"GGUF" {
            return Err(Error::model("it does not begin with `GGUF`"));
        }
        let version = self.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(Error::model(format!(
                "its format version is {version}; 2 and 3 are supported (little-endian)"
            )));
        }
        let tensor_count = self.count("tensors", MIN_TENSOR_ENTRY, MAX_TENSORS)?;
        let key_count = self.count("metadata keys", MIN_KEY_ENTRY, MAX_KEYS)?;
        let mut metadata = Metadata::default();
        for _ in 0..key_count {
            let key = self.string()?;
            let kind = self.u32()?;
            // Most lists that files hold are no use here, and some are long.
            let value = match kind {
                LIST if !tokenizer_json::LISTS.contains(&key.as_str()) => self.skip_list().map(|()| None),
                LIST => self.list().map(Some),
                _ => self.value(kind).map(Some),
            };
            if let Some(value) = value.map_err(|error| error.context(format!("metadata `{key}`")))? {
                metadata.insert(key, value)?;
            }
        }
        let mut entries = Vec::new();
        for _ in 0..tensor_count {
            entries.push(self.tensor_entry()?);
        }
        let tensors = self.place(entries, &metadata)?;
        Ok((metadata, tensors))
    }

    /// A count of things that take at least `each` bytes of what is left.
    fn count(&mut self, what: &str, each: u64, most: u64) -> Result<u64> {
        let count = self.u64()?;
        let room = (self.len - self.read) / each;
        if count > room.min(most) {
            return Err(Error::model(format!("it claims {count} {what}, more than {}", room.min(most))));
        }
        Ok(count)
    }

    fn bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.claim(len)?;
        // `claim` bounds it by the file's length and the header's ceiling.
        let mut bytes = vec![0; len as usize];
        self.from.read_exact(&mut bytes).map_err(truncated)?;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.claim(N as u64)?;
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(truncated)?;
        Ok(bytes)
    }

    /// Takes `len` bytes off what is left, or fails before anything is allocated for them.
    fn claim(&mut self, len: u64) -> Result<()> {
        if len > self.len - self.read {
            return Err(Error::model(format!(
                "its header needs {len} more bytes where {} are left",
                self.len - self.read
            )));
        }
        if len > MAX_HEADER - self.read.min(MAX_HEADER) {
            return Err(Error::model(format!("its header is longer than {MAX_HEADER} bytes")));
        }
        self.read += len;
        Ok(())
    }

    fn skip(&mut self, len: u64) -> Result<()> {
        self.claim(len)?;
        match io::copy(&mut self.from.by_ref().take(len), &mut io::sink()) {
            Ok(skipped) if skipped == len => Ok(()),
            Ok(_) => Err(truncated(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(truncated(error)),
        }
    }

    /// Takes `bytes` off what may be kept in memory, before they are.
    fn keep(&mut self, bytes: u64) -> Result<()> {
        self.kept = self.kept.saturating_add(bytes);
        if self.kept > MAX_KEPT {
            return Err(Error::model(format!("its header's texts and lists take more than {MAX_KEPT} bytes")));
        }
        Ok(())
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn string(&mut self) -> Result<String> {
        let len = self.u64()?;
        if len > MAX_STRING {
            return Err(Error::model(format!("it claims a text of {len} bytes, more than {MAX_STRING}")));
        }
        self.keep(len + STRING_OVERHEAD)?;
        // Vocabularies hold texts that are not UTF-8 in some files; a replacement keeps the count of tokens right.
        Ok(String::from_utf8(self.bytes(len)?)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn value(&mut self, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 => Value::Unsigned(u8::from_le_bytes(self.array()?).into()),
            1 => Value::Signed(i8::from_le_bytes(self.array()?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.array()?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.array()?).into()),
            4 => Value::Unsigned(self.u32()?.into()),
            5 => Value::Signed(i32::from_le_bytes(self.array()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array()?).into()),
            7 => Value::Bool(self.array::<1>()?[0] != 0),
            TEXT => Value::Text(self.string()?),
            10 => Value::Unsigned(self.u64()?),
            11 => Value::Signed(i64::from_le_bytes(self.array()?)),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            _ => return Err(Error::model(format!("unknown value type {kind}"))),
        })
    }

    fn list(&mut self) -> Result<Value> {
        let (kind, count) = self.list_head(MAX_ELEMENTS)?;
        if kind == TEXT {
            return Ok(Value::Texts((0..count).map(|_| self.string()).collect::<Result<_>>()?));
        }
        self.keep(count * size_of::<f64>() as u64)?;
        Ok(Value::Numbers(
            (0..count).map(|_| Ok(self.value(kind)?.as_f64().unwrap_or_default())).collect::<Result<_>>()?,
        ))
    }

    fn skip_list(&mut self) -> Result<()> {
        let (kind, count) = self.list_head(MAX_HEADER)?;
        if kind != TEXT {
            return self.skip(count * element_bytes(kind)?);
        }
        for _ in 0..count {
            let len = self.u64()?;
            self.skip(len)?;
        }
        Ok(())
    }

    /// What kind of elements a list has, and how many.
    fn list_head(&mut self, most: u64) -> Result<(u32, u64)> {
        let kind = self.u32()?;
        let count = self.count("list elements", element_bytes(kind)?, most)?;
        Ok((kind, count))
    }

    /// A tensor's entry; `start` is still relative to the data.
    fn tensor_entry(&mut self) -> Result<TensorEntry> {
        let name = self.string()?;
        let dimensions = self.u32()?;
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(Error::model(format!("tensor `{name}` has {dimensions} dimensions; 1 to 4 are possible")));
        }
        let dims: Vec<u64> = (0..dimensions).map(|_| self.u64()).collect::<Result<_>>()?;
        let kind = TensorType::from_code(self.u32()?, &name)?;
        let start = self.u64()?;
        let dims = dims.into_iter().map(|dim| usize::try_from(dim).ok()).collect::<Option<Vec<usize>>>();
        let dims = dims.filter(|dims| !dims.contains(&0) && dims[0] % kind.granularity() == 0);
        match dims {
            Some(dims) => Ok(TensorEntry { name, kind, dims, start }),
            None => Err(Error::model(format!("tensor `{name}` has a shape that its type cannot have"))),
        }
    }

    /// Checks that every tensor lies inside the file, and makes their places absolute.
    fn place(&self, entries: Vec<TensorEntry>, metadata: &Metadata) -> Result<HashMap<String, TensorEntry>> {
        let alignment = metadata.unsigned("general.alignment")?.unwrap_or(32);
        if !alignment.is_power_of_two() || alignment > 1 << 20 {
            return Err(Error::model(format!("its alignment is {alignment}")));
        }
        let data = self.read.next_multiple_of(alignment);
        let mut tensors = HashMap::with_capacity(entries.len());
        let mut room = self.len - self.read;
        for mut entry in entries {
            let weights = entry.dims.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim));
            let bytes = weights.and_then(|weights| entry.kind.bytes(weights)).map(|bytes| bytes as u64);
            let start = data.checked_add(entry.start);
            let end = start.zip(bytes).and_then(|(start, bytes)| start.checked_add(bytes));
            match (start, end) {
                (Some(start), Some(end)) if end <= self.len => entry.start = start,
                _ => {
                    return Err(Error::model(format!(
                        "tensor `{}` would lie outside the file of {} bytes",
                        entry.name, self.len
                    )));
                }
            }
            // Tensors that share their bytes would make a small file into a model of any size.
            room = bytes.and_then(|bytes| room.checked_sub(bytes)).ok_or_else(|| {
                Error::model(format!("its tensors overlap: they have more bytes than the file's {}", self.len))
            })?;
            if let Some(twin) = tensors.insert(entry.name.clone(), entry) {
                return Err(Error::model(format!("it holds tensor `{}` twice", twin.name)));
            }
        }
        Ok(tensors)
    }
}

/// The least that an element of a list takes: a text is its length at least.
fn element_bytes(kind: u32) -> Result<u64> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        TEXT | 10..=12 => Ok(8),
        _ => Err(Error::model(format!("a list of values of type {kind} is not supported"))),
    }
}

fn truncated(error: std::io::Error) -> Error {
    Error::model(error).context("its header cannot be read")
}

// Its path is explicit so that this file can be included from elsewhere, to be fuzzed.
#[cfg(test)]
#[path = "reader/tests.rs"]
mod tests;
