//! Protobuf's wire format: fields one after the other, each with its number and its kind.

use std::io::{BufRead, BufReader, Read, Seek};

use crate::{Error, Result};

/// A file read field by field.
pub(super) struct Wire<R> {
    input: BufReader<R>,
    at: u64,
    /// Bytes beside weights that were met and may be met.
    structure: u64,
    most: u64,
    /// Bytes of the file.
    len: u64,
}

/// What follows a field's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    Number(u64),
    /// So many bytes, which come next.
    Bytes(u64),
}

impl<R: Read + Seek> Wire<R> {
    pub fn new(file: R, len: u64, most: u64) -> Self {
        Self { input: BufReader::with_capacity(64 << 10, file), at: 0, structure: 0, most, len }
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next field of the message that ends at `end`: its payload ends there too at the latest.
    pub fn field(&mut self, end: u64) -> Result<(u64, Payload)> {
        let start = self.at;
        let tag = self.varint()?;
        let payload = match tag & 7 {
            0 => Payload::Number(self.varint()?),
            1 => Payload::Number(u64::from_le_bytes(self.bytes()?)),
            5 => Payload::Number(u64::from(u32::from_le_bytes(self.bytes()?))),
            2 => Payload::Bytes(self.varint()?),
            // Groups, which the format has never had.
            _ => return Err(damaged()),
        };
        let len = if let Payload::Bytes(len) = payload { len } else { 0 };
        if tag >> 3 == 0 || self.at.checked_add(len).is_none_or(|after| after > end) {
            return Err(damaged());
        }
        self.count(self.at - start)?;
        Ok((tag >> 3, payload))
    }

    pub fn text(&mut self, len: u64, most: u64) -> Result<String> {
        if len > most {
            return Err(Error::model(format!("it has a name of {len} bytes, more than {most}")));
        }
        let mut text = vec![0; len as usize];
        self.input.read_exact(&mut text).map_err(unreadable)?;
        self.at += len;
        self.count(len)?;
        String::from_utf8(text).map_err(|_| damaged())
    }

    pub fn skip(&mut self, len: u64) -> Result<()> {
        self.count(len)?;
        self.skip_weights(len)
    }

    pub fn skip_weights(&mut self, len: u64) -> Result<()> {
        let step = i64::try_from(len).map_err(|_| damaged())?;
        self.input.seek_relative(step).map_err(unreadable)?;
        self.at += len;
        Ok(())
    }

    fn count(&mut self, len: u64) -> Result<()> {
        self.structure += len;
        if self.structure > self.most {
            return Err(Error::model(format!("it has more than {} bytes beside its weights", self.most)));
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.bytes()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(damaged());
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        if self.at + N as u64 > self.len {
            return Err(damaged());
        }
        let mut bytes = [0; N];
        // Most are in the buffer already.
        match self.input.fill_buf().map_err(unreadable)?.first_chunk::<N>() {
            Some(ready) => {
                bytes = *ready;
                self.input.consume(N);
            }
            None => self.input.read_exact(&mut bytes).map_err(unreadable)?,
        }
        self.at += N as u64;
        Ok(bytes)
    }
}

fn damaged() -> Error {
    Error::model("it is damaged, or not an ONNX file")
}

fn unreadable(error: std::io::Error) -> Error {
    Error::model(error).context("reading it failed")
}
