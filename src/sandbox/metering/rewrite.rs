//! Puts a counter into a module: a number in a memory of its own that goes down before every branch that goes back to the
//! head of a loop and where [`calls`](super::calls) says. Below zero the program ends. The program cannot reach the
//! counter: no instruction of it names that memory.
//!
//! The idea is old (Wasm metering in blockchains, DTrace's loop counters before it); that loops suffice where something
//! counts in every cycle of calls is what makes it cheap. So does that the program ends by an instruction: a call of the
//! host in its place, however rarely it is made, costs registers in every round of the loop.

use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    BlockType, BranchHint, BranchHints, CodeSection, ExportKind, ExportSection, Function, FunctionSection, Instruction,
    MemArg, MemorySection, MemoryType, Module, SectionId, TypeSection,
};
use wasmparser::{FunctionBody, Operator, Parser};

use super::bulk;
use super::calls::{Places, Plan, Shape, is_table_call};
use super::labels::Labels;
use crate::error::OrInternal;
use crate::{Error, Result};

/// The export of a rewritten module that holds its counter.
pub(in super::super) const COUNTER: &str = "metering.counter";

/// A module that computes what `wasm` does, and counts. Custom sections are dropped.
///
/// # Errors
/// A module with what cannot be counted: instructions that move tables or arrays at once, code that runs before anything is
/// granted, any memory but one of its own of 32 bits. It must have sections for types, functions and exports.
pub(in super::super) fn rewrite(wasm: &[u8]) -> Result<Vec<u8>> {
    let doing = "making Python countable";
    let shape = Shape::of(wasm)?;
    if (shape.memories, shape.plain_memories) != (1, 1) {
        return Err(Error::internal("it has not one memory of its own, of 32 bits").context(doing));
    }
    if shape.starts {
        return Err(Error::internal("it has a start function").context(doing));
    }
    let plan = Plan::of(&shape)?;
    log::debug!(
        "of {} functions {} count their entries and {} their calls through tables; one count stands for {} operators at most",
        plan.places.len(),
        plan.places.iter().filter(|places| places.entry).count(),
        plan.places.iter().filter(|places| places.table_calls).count(),
        plan.piece
    );
    let mut rewriter = Rewriter::new(&shape);
    for (body, places) in shape.bodies.iter().zip(&plan.places[shape.imported_functions as usize..]) {
        let function = rewriter.body(body, *places).map_err(|error| Error::internal(error).context(doing))?;
        rewriter.functions.push(function);
    }
    for function in [bulk::fill(&rewriter.tick), bulk::copy(&rewriter.tick)] {
        rewriter.functions.push(function);
    }
    let mut module = Module::new();
    reencode::utils::parse_core_module(&mut rewriter, &mut module, Parser::new(0), wasm).or_internal(doing)?;
    Ok(module.finish())
}

/// The instructions of one count: what is at address 0 of the counter's memory goes down, and the program ends below zero.
pub(super) struct Tick {
    memory: u32,
}

impl Tick {
    /// Writes them; `amount` leaves an i64 on the stack. They may stand anywhere: what else is on the stack stays there.
    /// Tells where the unlikely branch is.
    pub(super) fn write<'i>(
        &self,
        function: &mut Function,
        amount: impl IntoIterator<Item = Instruction<'i>>,
    ) -> BranchHint {
        let counter = MemArg { offset: 0, align: 3, memory_index: self.memory };
        let add = |function: &mut Function, instructions: &[Instruction<'_>]| {
            instructions.iter().for_each(|instruction| {
                function.instruction(instruction);
            });
        };
        add(function, &[Instruction::I32Const(0), Instruction::I32Const(0), Instruction::I64Load(counter)]);
        amount.into_iter().for_each(|instruction| {
            function.instruction(&instruction);
        });
        add(function, &[Instruction::I64Sub, Instruction::I64Store(counter)]);
        // The compiler knows what it has just stored.
        add(
            function,
            &[Instruction::I32Const(0), Instruction::I64Load(counter), Instruction::I64Const(0), Instruction::I64LtS],
        );
        let branch = BranchHint {
            branch_func_offset: u32::try_from(function.byte_len()).unwrap_or(u32::MAX),
            branch_hint_value: 0,
        };
        add(function, &[Instruction::If(BlockType::Empty), Instruction::Unreachable, Instruction::End]);
        branch
    }
}

struct Rewriter {
    tick: Tick,
    imported: u32,
    /// The index of the type of [`bulk`]'s functions.
    moves: u32,
    fill: u32,
    copy: u32,
    /// The new bodies, with what is unlikely in them.
    functions: Vec<(Function, Vec<BranchHint>)>,
}

impl Rewriter {
    fn new(shape: &Shape<'_>) -> Self {
        let imported = shape.imported_functions;
        let defined = u32::try_from(shape.bodies.len()).unwrap_or(u32::MAX);
        // After all others come those of `bulk`.
        let fill = imported + defined;
        Self {
            tick: Tick { memory: shape.memories },
            imported,
            moves: shape.types,
            fill,
            copy: fill + 1,
            functions: Vec::with_capacity(shape.bodies.len() + 2),
        }
    }

    fn body(&mut self, body: &FunctionBody<'_>, places: Places) -> Result<(Function, Vec<BranchHint>), String> {
        let text = |error: reencode::Error<Infallible>| error.to_string();
        let mut function = self.new_function_with_parsed_locals(body).map_err(text)?;
        let mut hints = Vec::new();
        let one = || [Instruction::I64Const(1)];
        if places.entry {
            hints.push(self.tick.write(&mut function, one()));
        }
        let mut labels = Labels::default();
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
            if labels.goes_back(&operator).map_err(|error| error.to_string())?
                || places.table_calls && is_table_call(&operator)
            {
                hints.push(self.tick.write(&mut function, one()));
            }
            labels.pass(&operator);
            function.instruction(&self.instruction(operator).map_err(text)?);
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

    fn parse_type_section(&mut self, types: &mut TypeSection, section: wasmparser::TypeSectionReader<'_>) -> Done {
        reencode::utils::parse_type_section(self, types, section)?;
        types.ty().function(bulk::PARAMETERS, []);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_function_section(self, functions, section)?;
        functions.function(self.moves).function(self.moves);
        Ok(())
    }

    fn parse_memory_section(
        &mut self,
        memories: &mut MemorySection,
        section: wasmparser::MemorySectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_memory_section(self, memories, section)?;
        memories.memory(MemoryType {
            minimum: 1,
            maximum: Some(1),
            memory64: false,
            shared: true,
            page_size_log2: None,
        });
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: wasmparser::ExportSectionReader<'_>,
    ) -> Done {
        reencode::utils::parse_export_section(self, exports, section)?;
        exports.export(COUNTER, ExportKind::Memory, self.tick.memory);
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
            for ((_, unlikely), index) in self.functions.iter().zip(self.imported..) {
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
