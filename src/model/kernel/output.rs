//! The products, written by several threads at once.

use std::marker::PhantomData;

/// Rows of products, whose columns are shared out among threads.
pub(super) struct Output<'a> {
    first: *mut f32,
    rows: usize,
    columns: usize,
    bias: Option<&'a [f32]>,
    products: PhantomData<&'a mut [f32]>,
}

#[expect(unsafe_code, reason = "threads write to columns of their own")]
// SAFETY: it gives no access but by `put`, whose callers promise that no two of them write to the same place.
unsafe impl Sync for Output<'_> {}

impl<'a> Output<'a> {
    pub fn new(products: &'a mut [f32], columns: usize, bias: Option<&'a [f32]>) -> Self {
        let rows = products.len().checked_div(columns).unwrap_or(0);
        Self { first: products.as_mut_ptr(), rows, columns, bias, products: PhantomData }
    }

    /// Writes `products` into row `row`, from `column` on, and adds the bias to them.
    ///
    /// # Safety
    /// Nobody else writes to these places.
    #[expect(unsafe_code, reason = "the columns of a row lie side by side, so no thread can own them as a slice")]
    pub unsafe fn put(&self, row: usize, column: usize, products: &[f32]) {
        assert!(row < self.rows && column + products.len() <= self.columns, "inside the output");
        // SAFETY: the place is inside the slice, which is borrowed for as long as this value lives, and is the caller's.
        let to = unsafe { std::slice::from_raw_parts_mut(self.first.add(row * self.columns + column), products.len()) };
        to.copy_from_slice(products);
        if let Some(bias) = self.bias {
            for (product, bias) in to.iter_mut().zip(&bias[column..]) {
                *product += bias;
            }
        }
    }
}
