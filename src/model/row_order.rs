//! In which order the rows of a matrix come out.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOrder {
    Stored,
    /// Query and key rows, which llama.cpp keeps with the two halves of each rotary pair side by side. Split into
    /// halves again, `GroupQueryAttention` can rotate them in its usual form.
    RotaryHalves {
        head_dim: usize,
    },
}

impl RowOrder {
    /// The rows that must be read together.
    pub fn group(self) -> usize {
        match self {
            Self::Stored => 1,
            Self::RotaryHalves { head_dim } => head_dim,
        }
    }

    /// Which row of the file becomes row `row`; both are of the same group.
    pub fn source(self, row: usize) -> usize {
        match self {
            Self::Stored => row,
            Self::RotaryHalves { head_dim } => {
                let (head, within) = (row / head_dim, row % head_dim);
                let (half, pair) = (within / (head_dim / 2), within % (head_dim / 2));
                head * head_dim + pair * 2 + half
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotary_halves_undo_the_interleaving() {
        // llama.cpp's converter puts row (half, pair) of a head at pair * 2 + half; this must be its inverse.
        let order = RowOrder::RotaryHalves { head_dim: 8 };
        assert_eq!((0..8).map(|row| order.source(row)).collect::<Vec<_>>(), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(order.source(8), 8);
        assert_eq!(order.source(9), 10);
    }
}
