//! Puts a counter into a module: a global that goes down at every loop head and at the entries that [`calls`](super::calls)
//! chooses. Below zero the host is asked, which looks at the clock, at the cancel handle and at the budget, and fills
//! it up again or ends the program. The program cannot reach the counter: wasm has no way to a global but by its index.
//!
//! The idea is old (Wasm metering in blockchains, DTrace's loop counters before it); that loop heads suffice where entries cut
//! the cycles of calls is what makes it cheap.

use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    BlockType, BranchHint, BranchHints, CodeSection, ConstExpr, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, Module, SectionId, TypeSection, ValType,
};
use wasmparser::{FunctionBody, Operator, Parser};

use super::bulk;
use super::calls::{Plan, Shape};
use super::{COUNTER, REFILL};
use crate::error::OrInternal;
use crate::{Error, Result};

/// A module that computes what `wasm` does, and counts. Custom sections are dropped.
///
/// # Errors
/// A module with what cannot be counted: several memories or one of 64 bits, instructions that move tables or arrays at once.
pub(in super::super) fn rewrite(wasm: &[u8]) -> Result<Vec<u8>> {
    let doing = "making Python countable";
    let shape = Shape::of(wasm)?;
    if shape.memories > 1 {
        return Err(Error::internal("it has several memories").context(doing));
    }
    let plan = Plan::of(&shape)?;
    log::debug!(
        "{} of {} functions count their entries; one count stands for {} operators at most",
        plan.counts.iter().filter(|counts| **counts).count(),
        plan.counts.len(),
        plan.piece
    );
    let mut rewriter = Rewriter::new(&shape);
    for (body, counts) in shape.bodies.iter().zip(&plan.counts[shape.imported_functions as usize..]) {
        let function = rewriter.body(body, *counts).map_err(|error| Error::internal(error).context(doing))?;
        rewriter.functions.push(function);
    }
    for body in [bulk::fill(&rewriter.tick), bulk::copy(&rewriter.tick)] {
        rewriter.functions.push((body, Vec::new()));
    }
    let mut module = Module::new();
    reencode::utils::parse_core_module(&mut rewriter, &mut module, Parser::new(0), wasm).or_internal(doing)?;
    Ok(module.finish())
}

/// The instructions of one count.
pub(super) struct Tick {
    counter: u32,
    refill: u32,
}

impl Tick {
    /// Writes them; `amount` leaves an i64 on the stack. Tells where the unlikely branch is.
    pub(super) fn write<'i>(
        &self,
        function: &mut Function,
        amount: impl IntoIterator<Item = Instruction<'i>>,
    ) -> BranchHint {
        function.instruction(&Instruction::GlobalGet(self.counter));
        amount.into_iter().for_each(|instruction| {
            function.instruction(&instruction);
        });
        for instruction in [
            Instruction::I64Sub,
            Instruction::GlobalSet(self.counter),
            Instruction::GlobalGet(self.counter),
            Instruction::I64Const(0),
            Instruction::I64LtS,
        ] {
            function.instruction(&instruction);
        }
        let branch = BranchHint {
            branch_func_offset: u32::try_from(function.byte_len()).unwrap_or(u32::MAX),
            branch_hint_value: 0,
        };
        for instruction in [Instruction::If(BlockType::Empty), Instruction::Call(self.refill), Instruction::End] {
            function.instruction(&instruction);
        }
        branch
    }
}

struct Rewriter {
    tick: Tick,
    imported: u32,
    /// The index of the type `() -> ()`; that of [`bulk`]'s functions is the next.
    nothing: u32,
    fill: u32,
    copy: u32,
    /// The new bodies, with what is unlikely in them.
    functions: Vec<(Function, Vec<BranchHint>)>,
}

impl Rewriter {
    fn new(shape: &Shape<'_>) -> Self {
        let imported = shape.imported_functions;
        let defined = u32::try_from(shape.bodies.len()).unwrap_or(u32::MAX);
        // After the imported ones comes the one to ask the host, after the defined ones those of `bulk`.
        let fill = imported + 1 + defined;
        Self {
            tick: Tick { counter: shape.globals, refill: imported },
            imported,
            nothing: shape.types,
            fill,
            copy: fill + 1,
            functions: Vec::with_capacity(shape.bodies.len() + 2),
        }
    }

    fn body(&mut self, body: &FunctionBody<'_>, counts: bool) -> Result<(Function, Vec<BranchHint>), String> {
        let text = |error: reencode::Error<Infallible>| error.to_string();
        let mut function = self.new_function_with_parsed_locals(body).map_err(text)?;
        let mut hints = Vec::new();
        let one = || [Instruction::I64Const(1)];
        if counts {
            hints.push(self.tick.write(&mut function, one()));
        }
        // The length of what is moved, where it is a constant just before.
        let mut constant = None;
        for operator in body.get_operators_reader().map_err(|error| error.to_string())? {
            let operator = operator.map_err(|error| error.to_string())?;
            let short = constant.is_some_and(|length| (0..bulk::SHORT).contains(&length));
            constant = if let Operator::I32Const { value } = operator { Some(value) } else { None };
            match operator {
                Operator::MemoryFill { .. } if !short => {
                    function.instruction(&Instruction::Call(self.fill));
                    continue;
                }
                Operator::MemoryCopy { .. } if !short => {
                    function.instruction(&Instruction::Call(self.copy));
                    continue;
                }
                _ => {}
            }
            if let Some(name) = uncountable(&operator) {
                return Err(format!("{name} cannot be counted"));
            }
            let is_loop = matches!(operator, Operator::Loop { .. });
            function.instruction(&self.instruction(operator).map_err(text)?);
            if is_loop {
                hints.push(self.tick.write(&mut function, one()));
            }
        }
        Ok((function, hints))
    }
}

/// Instructions whose work has no bound that is known here. CPython has none of them.
fn uncountable(operator: &Operator<'_>) -> Option<&'static str> {
    Some(match operator {
        Operator::MemoryInit { .. } => "memory.init",
        Operator::TableInit { .. } => "table.init",
        Operator::TableCopy { .. } => "table.copy",
        Operator::TableFill { .. } => "table.fill",
        Operator::TableGrow { .. } => "table.grow",
        Operator::ArrayNew { .. }
        | Operator::ArrayNewDefault { .. }
        | Operator::ArrayNewData { .. }
        | Operator::ArrayNewElem { .. }
        | Operator::ArrayFill { .. }
        | Operator::ArrayCopy { .. }
        | Operator::ArrayInitData { .. }
        | Operator::ArrayInitElem { .. } => "an array that is made or moved at once",
        _ => return None,
    })
}

type Done = Result<(), reencode::Error<Infallible>>;

impl Reencode for Rewriter {
    type Error = Infallible;

    /// One import was added after the imported functions.
    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error<Infallible>> {
        Ok(if function < self.imported { function } else { function + 1 })
    }

    fn parse_type_section(&mut self, types: &mut TypeSection, section: wasmparser::TypeSectionReader<'_>) -> Done {
        reencode::utils::parse_type_section(self, types, section)?;
        types.ty().function([], []);
        types.ty().function(bulk::PARAMETERS, []);
        Ok(())
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: wasmparser::ImportSectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_import_section(self, imports, section)?;
        imports.import(REFILL.0, REFILL.1, EntityType::Function(self.nothing));
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_function_section(self, functions, section)?;
        functions.function(self.nothing + 1).function(self.nothing + 1);
        Ok(())
    }

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: wasmparser::GlobalSectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_global_section(self, globals, section)?;
        globals.global(GlobalType { val_type: ValType::I64, mutable: true, shared: false }, &ConstExpr::i64_const(0));
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: wasmparser::ExportSectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_export_section(self, exports, section)?;
        exports.export(COUNTER, ExportKind::Global, self.tick.counter);
        Ok(())
    }

    /// The hints come before the code that they are about.
    fn intersperse_section_hook(
        &mut self,
        module: &mut Module,
        _after: Option<SectionId>,
        before: Option<SectionId>,
    ) -> Done {
        if before == Some(SectionId::Code) {
            let mut hints = BranchHints::new();
            for ((_, unlikely), index) in self.functions.iter().zip(self.imported + 1..) {
                if !unlikely.is_empty() {
                    hints.function_hints(index, unlikely.iter().copied());
                }
            }
            module.section(&hints);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, _: wasmparser::CodeSectionReader<'_>) -> Done {
        for (function, _) in self.functions.drain(..) {
            code.function(&function);
        }
        Ok(())
    }

    fn parse_custom_section(&mut self, _: &mut Module, _: wasmparser::CustomSectionReader<'_>) -> Done {
        Ok(())
    }
}
