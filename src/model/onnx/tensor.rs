//! Tensors whose element type is known only when a graph has been read: made, filled, cut and written down.

use half::{bf16, f16};
use ort::memory::Allocator;
use ort::value::{DynTensor, DynValue, TensorElementType};

use super::layout::Element;

/// `$do` with `$T` as the Rust type of the elements.
macro_rules! with_type {
    ($element:expr, $T:ident => $do:expr) => {
        match $element {
            Element::F32 => {
                type $T = f32;
                $do
            }
            Element::F16 => {
                type $T = f16;
                $do
            }
            Element::Bf16 => {
                type $T = bf16;
                $do
            }
            Element::I64 => {
                type $T = i64;
                $do
            }
            Element::I32 => {
                type $T = i32;
                $do
            }
            Element::Bool => {
                type $T = bool;
                $do
            }
        }
    };
}

/// An element as bytes, and made of a number.
trait Plain: Copy {
    fn put(self, bytes: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
    fn of(number: i64) -> Self;
}

macro_rules! plain {
    ($T:ty, $of:expr) => {
        impl Plain for $T {
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }

            fn of(number: i64) -> Self {
                $of(number)
            }
        }
    };
}

plain!(f32, |number| number as f32);
plain!(f16, |number| f16::from_f32(number as f32));
plain!(bf16, |number| bf16::from_f32(number as f32));
plain!(i64, |number| number);
plain!(i32, |number| number as i32);

impl Plain for bool {
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }

    fn get(bytes: &[u8]) -> Self {
        bytes != [0]
    }

    fn of(number: i64) -> Self {
        number != 0
    }
}

impl Element {
    pub fn of(kind: TensorElementType) -> Option<Self> {
        Some(match kind {
            TensorElementType::Float32 => Self::F32,
            TensorElementType::Float16 => Self::F16,
            TensorElementType::Bfloat16 => Self::Bf16,
            TensorElementType::Int64 => Self::I64,
            TensorElementType::Int32 => Self::I32,
            TensorElementType::Bool => Self::Bool,
            _ => return None,
        })
    }

    fn kind(self) -> TensorElementType {
        match self {
            Self::F32 => TensorElementType::Float32,
            Self::F16 => TensorElementType::Float16,
            Self::Bf16 => TensorElementType::Bfloat16,
            Self::I64 => TensorElementType::Int64,
            Self::I32 => TensorElementType::Int32,
            Self::Bool => TensorElementType::Bool,
        }
    }
}

/// A tensor of zeros.
pub(super) fn zeros(allocator: &Allocator, element: Element, shape: &[i64]) -> ort::Result<DynValue> {
    Ok(DynTensor::new(allocator, element.kind(), shape)?.into_dyn())
}

/// Writes `numbers` into the first elements of `tensor`.
pub(super) fn fill(tensor: &mut DynValue, element: Element, numbers: impl Iterator<Item = i64>) -> ort::Result<()> {
    with_type!(element, T => {
        for (place, number) in tensor.try_extract_tensor_mut::<T>()?.1.iter_mut().zip(numbers) {
            *place = T::of(number);
        }
    });
    Ok(())
}

/// Element type and shape of a value that came out of a graph.
pub(super) fn facts(value: &DynValue) -> Option<(Element, &[i64])> {
    let kind = value.dtype();
    Some((Element::of(kind.tensor_type()?)?, kind.tensor_shape()?))
}

/// Copies floats, widening those of 16 bits. `from` counts elements.
pub(super) fn widen(value: &DynValue, element: Element, from: usize, into: &mut [f32]) -> ort::Result<()> {
    match element {
        Element::F16 => {
            let all = value.try_extract_tensor::<f16>()?.1.get(from..).unwrap_or_default();
            into.iter_mut().zip(all).for_each(|(place, float)| *place = float.to_f32());
        }
        Element::Bf16 => {
            let all = value.try_extract_tensor::<bf16>()?.1.get(from..).unwrap_or_default();
            into.iter_mut().zip(all).for_each(|(place, float)| *place = float.to_f32());
        }
        _ => {
            let all = value.try_extract_tensor::<f32>()?.1.get(from..).unwrap_or_default();
            into.iter_mut().zip(all).for_each(|(place, float)| *place = *float);
        }
    }
    Ok(())
}

/// A tensor seen as runs of tokens: `runs` of them, each with room for `room` tokens of `width` elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    pub element: Element,
    pub runs: usize,
    pub room: usize,
    pub width: usize,
}

impl Runs {
    /// Where the first `len` tokens of each run are.
    fn filled(self, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        (0..self.runs).map(move |run| run * self.room * self.width..(run * self.room + len) * self.width)
    }

    /// Copies the first `len` tokens of each run of `from` into `into`, which is laid out as `other`.
    pub fn copy(self, from: &DynValue, into: &mut DynValue, other: Self, len: usize) -> ort::Result<()> {
        with_type!(self.element, T => {
            let from = from.try_extract_tensor::<T>()?.1;
            let into = into.try_extract_tensor_mut::<T>()?.1;
            for (source, target) in self.filled(len).zip(other.filled(len)) {
                into[target].copy_from_slice(&from[source]);
            }
        });
        Ok(())
    }

    /// Appends the first `len` tokens of each run to `bytes`.
    pub fn write(self, from: &DynValue, len: usize, bytes: &mut Vec<u8>) -> ort::Result<()> {
        with_type!(self.element, T => {
            let all = from.try_extract_tensor::<T>()?.1;
            for range in self.filled(len) {
                all[range].iter().for_each(|element: &T| element.put(bytes));
            }
        });
        Ok(())
    }

    /// Reads what [`write`](Self::write) wrote, off the front of `bytes`; `None` if there is less.
    pub fn read(self, into: &mut DynValue, len: usize, bytes: &mut &[u8]) -> ort::Result<Option<()>> {
        let size = self.runs * len * self.width * self.element.width();
        let Some((own, rest)) = bytes.split_at_checked(size) else { return Ok(None) };
        *bytes = rest;
        with_type!(self.element, T => {
            let all = into.try_extract_tensor_mut::<T>()?.1;
            let mut elements = own.chunks_exact(self.element.width());
            for range in self.filled(len) {
                for (place, element) in all[range].iter_mut().zip(&mut elements) {
                    *place = T::get(element);
                }
            }
        });
        Ok(Some(()))
    }
}
