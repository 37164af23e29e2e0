//! The data file beside `model.onnx`: laid out first, then filled tensor by tensor from the GGUF, a few MiB at a time.
//!
//! Weights stay out of the protobuf so that ONNX Runtime maps them and its 2 GiB ceiling is never met.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;

use super::reader::{Gguf, TensorEntry};
use crate::model::quant::{BLOCK, SYMMETRIC, TensorType, q4_0_to_4_bits};
use crate::model::row_order::RowOrder;
use crate::{Cancel, Error, Progress, Result, Step};

/// Where tensors begin, so that any vector load of them is aligned.
const ALIGNMENT: u64 = 64;
/// Source bytes read at once.
const CHUNK: usize = 4 << 20;

/// One GGUF tensor on its way into a (possibly packed) matrix.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub tensor: TensorEntry,
    pub order: RowOrder,
}

/// Where a matrix of blocks goes: its numbers, a scale for each block, and zero points unless all are symmetric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// 8, or 4 with two numbers to a byte.
    pub bits: usize,
    pub bytes: u64,
    pub scales: u64,
    pub zeros: Option<u64>,
}

#[derive(Debug)]
enum Fill {
    Blocks { parts: Vec<Part>, at: Blocks },
    Floats { parts: Vec<Part>, at: u64 },
    Ready { bytes: Vec<u8>, at: u64 },
}

#[derive(Debug, Default)]
pub(super) struct DataFile {
    len: u64,
    fills: Vec<Fill>,
}

impl DataFile {
    /// Plans a matrix of `rows` × `row_len` weights in blocks: of 4 bits if it may be and all its parts are, of 8 if not.
    pub fn blocks(&mut self, parts: Vec<Part>, rows: usize, row_len: usize, may_be_4_bits: bool) -> Blocks {
        let blocks = rows * row_len / BLOCK;
        let symmetric = parts.iter().all(|part| part.tensor.kind.is_symmetric());
        let four = may_be_4_bits && parts.iter().all(|part| part.tensor.kind == TensorType::Q4_0);
        let bits = if four { 4 } else { 8 };
        let at = Blocks {
            bits,
            bytes: self.reserve(rows * row_len * bits / 8),
            scales: self.reserve(blocks * 4),
            zeros: (!symmetric).then(|| self.reserve(blocks)),
        };
        self.fills.push(Fill::Blocks { parts, at });
        at
    }

    pub fn floats(&mut self, parts: Vec<Part>, weights: usize) -> u64 {
        let at = self.reserve(weights * 4);
        self.fills.push(Fill::Floats { parts, at });
        at
    }

    pub fn ready(&mut self, bytes: Vec<u8>) -> u64 {
        let at = self.reserve(bytes.len());
        self.fills.push(Fill::Ready { bytes, at });
        at
    }

    fn reserve(&mut self, len: usize) -> u64 {
        let at = self.len.next_multiple_of(ALIGNMENT);
        self.len = at + len as u64;
        at
    }

    /// Bytes of the whole file.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn write(self, gguf: &mut Gguf, file: File, progress: &Progress, cancel: &Cancel) -> Result<()> {
        let mut filler = Filler { gguf, file, raw: Vec::new(), done: 0, progress, cancel };
        filler.file.set_len(self.len).map_err(unwritable)?;
        for fill in self.fills {
            match fill {
                Fill::Blocks { parts, at } => filler.blocks(&parts, at)?,
                Fill::Floats { parts, at } => filler.floats(&parts, at)?,
                Fill::Ready { bytes, at } => filler.put(at, &bytes)?,
            }
        }
        Ok(())
    }
}

struct Filler<'a> {
    gguf: &'a mut Gguf,
    file: File,
    raw: Vec<u8>,
    done: u64,
    progress: &'a Progress,
    cancel: &'a Cancel,
}

impl Filler<'_> {
    fn blocks(&mut self, parts: &[Part], mut at: Blocks) -> Result<()> {
        let (mut bytes, mut scales, mut zeros) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let kind = part.tensor.kind;
            for rows in chunks(part) {
                bytes.resize(rows.len() * part.tensor.row_len() * at.bits / 8, 0);
                scales.clear();
                zeros.clear();
                let mut out = bytes.chunks_exact_mut(kind.unit() * at.bits / 8);
                self.each_row(part, rows, |raw| {
                    for unit in raw.chunks_exact(kind.unit_bytes()) {
                        let out = out.next().expect("as many units as counted");
                        if at.bits == 4 {
                            scales.extend(q4_0_to_4_bits(unit, out).to_le_bytes());
                            continue;
                        }
                        kind.to_8_bits(unit, out, |affine| {
                            scales.extend(affine.scale.to_le_bytes());
                            zeros.push(affine.zero);
                        });
                    }
                })?;
                self.put(at.bytes, &bytes)?;
                self.put(at.scales, &scales)?;
                at.bytes += bytes.len() as u64;
                at.scales += scales.len() as u64;
                if let Some(place) = &mut at.zeros {
                    self.put(*place, &zeros)?;
                    *place += zeros.len() as u64;
                } else {
                    debug_assert!(zeros.iter().all(|&zero| zero == SYMMETRIC));
                }
            }
        }
        Ok(())
    }

    fn floats(&mut self, parts: &[Part], mut at: u64) -> Result<()> {
        let (mut weights, mut bytes) = (Vec::new(), Vec::new());
        for part in parts {
            for rows in chunks(part) {
                weights.resize(part.tensor.row_len(), 0.0_f32);
                bytes.clear();
                self.each_row(part, rows, |raw| {
                    part.tensor.kind.decode(raw, &mut weights);
                    bytes.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
                })?;
                self.put(at, &bytes)?;
                at += bytes.len() as u64;
            }
        }
        Ok(())
    }

    /// Reads `rows` of the part and hands them over in the order they shall have.
    fn each_row(&mut self, part: &Part, rows: Range<usize>, mut take: impl FnMut(&[u8])) -> Result<()> {
        self.cancel.check()?;
        self.gguf.read_rows(&part.tensor, rows.start, rows.len(), &mut self.raw)?;
        let row_bytes = part.tensor.row_bytes();
        for row in 0..rows.len() {
            let at = part.order.source(row) * row_bytes;
            take(&self.raw[at..at + row_bytes]);
        }
        Ok(())
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(bytes)).map_err(unwritable)?;
        self.done += bytes.len() as u64;
        self.progress.step(Step::Advance { done: self.done });
        Ok(())
    }
}

/// The part's rows in pieces of about [`CHUNK`] bytes that keep its groups whole.
fn chunks(part: &Part) -> impl Iterator<Item = Range<usize>> {
    let (rows, group) = (part.tensor.rows(), part.order.group());
    let step = (CHUNK / (part.tensor.row_bytes() * group)).max(1) * group;
    (0..rows).step_by(step).map(move |start| start..(start + step).min(rows))
}

fn unwritable(error: std::io::Error) -> Error {
    Error::internal(error).context("writing the model's weights").advise("check that the disk has room for them")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn gguf() -> (tempfile::NamedTempFile, Gguf) {
        let mut fixture = Fixture::new();
        let floats: Vec<f32> = (0..64 * 4).map(|i| i as f32 / 16.0).collect();
        let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
        fixture.tensor("a", &[64, 4], 0, &bytes);
        let mut quantised = Vec::new();
        for block in 0..4_u8 {
            quantised.extend(half::f16::from_f32(0.5).to_le_bytes());
            quantised.extend((0..32).map(|i| i + block));
        }
        fixture.tensor("b", &[64, 2], 8, &quantised);
        let file = fixture.write();
        let gguf = Gguf::open(file.path()).unwrap();
        (file, gguf)
    }

    #[test]
    fn packed_matrices_hold_their_parts_in_turn() {
        let (_source, mut gguf) = gguf();
        let part = |name: &str, order| Part { tensor: gguf.tensor(name).unwrap().clone(), order };
        let parts = vec![part("a", RowOrder::RotaryHalves { head_dim: 4 }), part("b", RowOrder::Stored)];
        let mut data = DataFile::default();
        data.ready(vec![1, 2, 3]);
        let floats = data.floats(parts.clone(), 6 * 64);
        let eight = data.blocks(parts, 6, 64, true);
        assert_eq!((floats, eight.bits, eight.bytes % ALIGNMENT, eight.scales % ALIGNMENT), (64, 8, 0, 0));
        assert_eq!(eight.zeros, None);
        let len = data.len() as usize;
        let out = tempfile::NamedTempFile::new().unwrap();
        data.write(&mut gguf, out.reopen().unwrap(), &Progress::default(), &Cancel::new()).unwrap();

        let bytes = std::fs::read(out.path()).unwrap();
        assert_eq!(bytes.len(), len);
        assert_eq!(bytes[..3], [1, 2, 3]);
        let mut read = vec![0.0; 6 * 64];
        TensorType::F32.decode(&bytes[floats as usize..][..6 * 64 * 4], &mut read);
        // Rows 0, 2, 1, 3 of `a` begin with 0, 8, 4, 12; `b` begins with 0, then with 1.
        assert_eq!([0, 1, 2, 3].map(|row| read[row * 64]), [0.0, 8.0, 4.0, 12.0]);
        assert_eq!((read[4 * 64 + 1], read[5 * 64 + 1]), (0.5, 1.5));
        for (i, weight) in read.iter().enumerate() {
            let at = eight.scales as usize + i / BLOCK * 4;
            let scale = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let ours = scale * (f32::from(bytes[eight.bytes as usize + i]) - 128.0);
            assert!((ours - weight).abs() <= scale * 0.5001, "weight {i}: {weight} became {ours}");
        }
    }

    #[test]
    fn a_cancelled_build_stops() {
        let (_source, mut gguf) = gguf();
        let mut data = DataFile::default();
        data.floats(vec![Part { tensor: gguf.tensor("a").unwrap().clone(), order: RowOrder::Stored }], 256);
        let cancel = Cancel::new();
        cancel.cancel();
        let out = tempfile::tempfile().unwrap();
        assert!(data.write(&mut gguf, out, &Progress::default(), &cancel).unwrap_err().is_cancelled());
    }
}
