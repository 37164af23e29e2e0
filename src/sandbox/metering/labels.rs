//! Which operators may go back to the head of a loop.

use wasmparser::{BinaryReaderError, Catch, Operator};

/// The labels around an operator, the innermost last: whether each is a loop's. That of the body itself is none.
#[derive(Default)]
pub(super) struct Labels(Vec<bool>);

impl Labels {
    /// Whether `operator` may go back to where it was: a branch to the head of a loop, or the beginning of what catches
    /// exceptions there, which is entered again before it can catch again.
    pub(super) fn goes_back(&self, operator: &Operator<'_>) -> Result<bool, BinaryReaderError> {
        Ok(match operator {
            Operator::Br { relative_depth }
            | Operator::BrIf { relative_depth }
            | Operator::BrOnNull { relative_depth }
            | Operator::BrOnNonNull { relative_depth }
            | Operator::BrOnCast { relative_depth, .. }
            | Operator::BrOnCastFail { relative_depth, .. } => self.is_loop(*relative_depth),
            Operator::BrTable { targets } => {
                let mut any = self.is_loop(targets.default());
                for target in targets.targets() {
                    any |= self.is_loop(target?);
                }
                any
            }
            Operator::TryTable { try_table } => try_table.catches.iter().any(|catch| {
                let (Catch::One { label, .. }
                | Catch::OneRef { label, .. }
                | Catch::All { label }
                | Catch::AllRef { label }) = catch;
                self.is_loop(*label)
            }),
            _ => false,
        })
    }

    /// From what stands before `operator` to what stands after it.
    pub(super) fn pass(&mut self, operator: &Operator<'_>) {
        match operator {
            Operator::Loop { .. } => self.0.push(true),
            Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => self.0.push(false),
            Operator::End => {
                self.0.pop();
            }
            _ => {}
        }
    }

    fn is_loop(&self, depth: u32) -> bool {
        self.0.iter().rev().nth(depth as usize).copied().unwrap_or_default()
    }
}
