//! `memory.fill` and `memory.copy`, as functions that count what they move and do it in pieces.
//!
//! One of these instructions can move gigabytes, and nothing interrupts it. What is out of bounds must trap before
//! anything is written, as the instruction itself does: so that case is left to the instruction.

use wasm_encoder::{BlockType, BranchHint, Function, Instruction, ValType};

use super::rewrite::Tick;

/// Bytes that are moved for one count.
const BYTES_PER_COUNT: u32 = 256;
/// Bytes that are moved at once, a fraction of a millisecond.
const PIECE: i32 = 256 << 10;
const COUNTS_PER_PIECE: i64 = (PIECE / BYTES_PER_COUNT as i32) as i64;

/// Below this length an instruction is left as it is when its length is a constant.
pub(super) const SHORT: i32 = BYTES_PER_COUNT as i32;

const TO: u32 = 0;
const FROM: u32 = 1;
const LEN: u32 = 2;

/// `(to, value, len)`.
pub(super) fn fill(tick: &Tick) -> (Function, Vec<BranchHint>) {
    let mut body = Body::new(tick);
    let all = [
        Instruction::LocalGet(TO),
        Instruction::LocalGet(FROM),
        Instruction::LocalGet(LEN),
        Instruction::MemoryFill(0),
    ];
    body.at_once_if_short(&all);
    body.at_once_if_outside(&[TO], &all);
    body.while_more_than_a_piece(|body| {
        body.add([
            Instruction::LocalGet(TO),
            Instruction::LocalGet(FROM),
            Instruction::I32Const(PIECE),
            Instruction::MemoryFill(0),
        ]);
        body.advance(TO);
        body.shorten();
    });
    body.rest(&all);
    body.finish()
}

/// `(to, from, len)`, which may overlap: then it goes from the end when `to` lies behind `from`.
pub(super) fn copy(tick: &Tick) -> (Function, Vec<BranchHint>) {
    let mut body = Body::new(tick);
    let all = [
        Instruction::LocalGet(TO),
        Instruction::LocalGet(FROM),
        Instruction::LocalGet(LEN),
        Instruction::MemoryCopy { src_mem: 0, dst_mem: 0 },
    ];
    body.at_once_if_short(&all);
    body.at_once_if_outside(&[TO, FROM], &all);
    body.add([
        Instruction::LocalGet(TO),
        Instruction::LocalGet(FROM),
        Instruction::I32LeU,
        Instruction::If(BlockType::Empty),
    ]);
    body.while_more_than_a_piece(|body| {
        body.add([
            Instruction::LocalGet(TO),
            Instruction::LocalGet(FROM),
            Instruction::I32Const(PIECE),
            Instruction::MemoryCopy { src_mem: 0, dst_mem: 0 },
        ]);
        body.advance(TO);
        body.advance(FROM);
        body.shorten();
    });
    body.add([Instruction::Else]);
    body.while_more_than_a_piece(|body| {
        body.shorten();
        for at in [TO, FROM] {
            body.add([Instruction::LocalGet(at), Instruction::LocalGet(LEN), Instruction::I32Add]);
        }
        body.add([Instruction::I32Const(PIECE), Instruction::MemoryCopy { src_mem: 0, dst_mem: 0 }]);
    });
    body.add([Instruction::End]);
    body.rest(&all);
    body.finish()
}

struct Body<'t> {
    function: Function,
    /// What is unlikely in it.
    hints: Vec<BranchHint>,
    tick: &'t Tick,
}

impl<'t> Body<'t> {
    fn new(tick: &'t Tick) -> Self {
        Self { function: Function::new([]), hints: Vec::new(), tick }
    }

    fn add<'i>(&mut self, instructions: impl IntoIterator<Item = Instruction<'i>>) {
        for instruction in instructions {
            self.function.instruction(&instruction);
        }
    }

    /// Nothing is counted: it takes as long as a few other operators.
    fn at_once_if_short(&mut self, all: &[Instruction<'_>]) {
        self.add([
            Instruction::LocalGet(LEN),
            Instruction::I32Const(SHORT),
            Instruction::I32LtU,
            Instruction::If(BlockType::Empty),
        ]);
        self.add(all.iter().cloned());
        self.add([Instruction::Return, Instruction::End]);
    }

    /// It traps, and has written nothing.
    fn at_once_if_outside(&mut self, places: &[u32], all: &[Instruction<'_>]) {
        for place in places {
            self.add([
                Instruction::LocalGet(*place),
                Instruction::I64ExtendI32U,
                Instruction::LocalGet(LEN),
                Instruction::I64ExtendI32U,
                Instruction::I64Add,
                Instruction::MemorySize(0),
                Instruction::I64ExtendI32U,
                Instruction::I64Const(16),
                Instruction::I64Shl,
                Instruction::I64GtU,
                Instruction::If(BlockType::Empty),
            ]);
            self.add(all.iter().cloned());
            self.add([Instruction::Return, Instruction::End]);
        }
    }

    fn while_more_than_a_piece(&mut self, work: impl FnOnce(&mut Self)) {
        self.add([
            Instruction::Block(BlockType::Empty),
            Instruction::Loop(BlockType::Empty),
            Instruction::LocalGet(LEN),
            Instruction::I32Const(PIECE),
            Instruction::I32LeU,
            Instruction::BrIf(1),
        ]);
        self.hints.push(self.tick.write(&mut self.function, [Instruction::I64Const(COUNTS_PER_PIECE)]));
        work(self);
        self.add([Instruction::Br(0), Instruction::End, Instruction::End]);
    }

    fn rest(&mut self, all: &[Instruction<'_>]) {
        let shift = BYTES_PER_COUNT.trailing_zeros().cast_signed();
        let counts = [
            Instruction::LocalGet(LEN),
            Instruction::I32Const(shift),
            Instruction::I32ShrU,
            Instruction::I64ExtendI32U,
        ];
        self.hints.push(self.tick.write(&mut self.function, counts));
        self.add(all.iter().cloned());
    }

    fn advance(&mut self, place: u32) {
        self.add([
            Instruction::LocalGet(place),
            Instruction::I32Const(PIECE),
            Instruction::I32Add,
            Instruction::LocalSet(place),
        ]);
    }

    fn shorten(&mut self) {
        self.add([
            Instruction::LocalGet(LEN),
            Instruction::I32Const(PIECE),
            Instruction::I32Sub,
            Instruction::LocalSet(LEN),
        ]);
    }

    fn finish(mut self) -> (Function, Vec<BranchHint>) {
        self.add([Instruction::End]);
        (self.function, self.hints)
    }
}

/// Parameters of both functions.
pub(super) const PARAMETERS: [ValType; 3] = [ValType::I32; 3];
