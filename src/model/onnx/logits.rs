//! The rows of logits that a step makes: where they are written to, and how they are read.

use ort::memory::Allocator;
use ort::session::IoBinding;
use ort::value::DynValue;

use super::layout::{self, Element};
use super::{broken, tensor, unexpected};
use crate::Result;

/// What the last step said of the next token.
pub(super) struct Logits {
    /// Logits in a row; 0 until the first step has told.
    width: usize,
    /// How many of them are tokens.
    tokens: usize,
    /// Bound when one row comes of a step.
    one: Option<DynValue>,
    one_is_bound: bool,
    /// The rows, unless `one` holds them as they are wanted.
    rows: Vec<f32>,
    in_place: bool,
}

impl Logits {
    pub fn new(width: usize) -> Self {
        Self { width, tokens: width, one: None, one_is_bound: false, rows: Vec::new(), in_place: false }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Rows are cut to the first `tokens` logits.
    pub fn limit(&mut self, tokens: usize) {
        self.tokens = self.width.min(tokens);
    }

    pub fn set_rows(&mut self, rows: Vec<f32>) {
        (self.rows, self.in_place) = (rows, false);
    }

    /// Binds the output for a step that makes `one` row, or for one that makes any number.
    pub fn bind(
        &mut self,
        port: &layout::Logits,
        one: bool,
        allocator: &Allocator,
        binding: &mut IoBinding,
    ) -> ort::Result<()> {
        if !one {
            self.one_is_bound = false;
            return binding.bind_output_to_device(port.name.as_str(), allocator.memory_info());
        }
        if self.one_is_bound {
            return Ok(());
        }
        if self.one.is_none() {
            let shape = [1, 1, self.width as i64];
            self.one = Some(tensor::zeros(allocator, port.element, &shape[3 - port.rank..])?);
        }
        if let Some(value) = &mut self.one {
            binding.bind_output(port.name.as_str(), value)?;
            self.one_is_bound = true;
        }
        Ok(())
    }

    /// Copies the last `rows` of the `made` rows in `value`; whether it has but the last row, whatever was asked.
    pub fn read(&mut self, value: &DynValue, element: Element, made: usize, rows: usize) -> Result<bool> {
        let wrong = |found: String| unexpected("logits", found, format!("{element:?} for {made} tokens"));
        let (there, width) = match tensor::facts(value) {
            Some((found, &[1, there, width])) if found == element => (there as usize, width as usize),
            Some((found, &[1, width])) if found == element => (1, width as usize),
            other => return Err(wrong(format!("{other:?}"))),
        };
        if self.width == 0 {
            (self.width, self.tokens) = (width, width);
        }
        let last_only = there == 1 && made > 1;
        if width == 0 || width != self.width || there < rows || !(there == made || last_only) {
            return Err(wrong(format!("{there} rows of {width}")));
        }
        self.rows.resize(rows * width, 0.0);
        tensor::widen(value, element, (there - rows) * width, &mut self.rows).map_err(|error| broken(&error))?;
        self.in_place = false;
        Ok(last_only)
    }

    /// What is bound for one row has been written to.
    pub fn widen_one(&mut self, element: Element) -> ort::Result<()> {
        self.in_place = element == Element::F32;
        if let (false, Some(one)) = (self.in_place, &self.one) {
            self.rows.resize(self.width, 0.0);
            tensor::widen(one, element, 0, &mut self.rows)?;
        }
        Ok(())
    }

    /// Row `row`, as far as it is tokens.
    pub fn row(&self, row: usize) -> &[f32] {
        self.whole_row(row).get(..self.tokens).unwrap_or_default()
    }

    /// Row `row` with what is padding.
    pub fn whole_row(&self, row: usize) -> &[f32] {
        let all = match &self.one {
            Some(one) if self.in_place => one.try_extract_tensor::<f32>().map(|(_, all)| all).unwrap_or_default(),
            _ => &self.rows,
        };
        all.get(row * self.width..(row + 1) * self.width).unwrap_or_default()
    }
}
