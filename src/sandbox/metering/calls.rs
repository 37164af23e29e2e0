//! Who calls whom in a module, and what must count, besides loops, so that nothing runs uncounted for long.
//!
//! A program that passes no loop can still run for ever: `f` calls itself twice, and so on down the stack. (In Python:
//! `s = 0`, sixty times `s = slice(s, s, s)`, `hash(s)`; CPython hashes a slice's three parts without a loop.) So places
//! are chosen such that every cycle of the call graph holds one; a call through a table may reach every function of
//! that type that is in a table or whose address is taken. A count then pays for a piece of a finite tree of calls, and
//! functions whose piece would be large count too. What results is a bound on the operators that one count stands for,
//! computed for the module at hand. In a row there can be more of them: on the way back up each function that is on the
//! stack runs on to its end or to its next count.
//!
//! First candidates are calls through a table, of which CPython's protocols consist. The calls count, not the entries of the
//! functions that hold them, since many such calls are rarely made (`_Py_NewReference` tells a tracer that is seldom there).
//! Of what cycles are left the function with most calls within its cycle counts its entry.

use std::collections::HashMap;

use wasmparser::{ElementItems, FuncType, FunctionBody, Operator, Parser, Payload, TypeRef};

use crate::error::OrInternal;
use crate::{Error, Result};

/// Operators that a call may hide at most before the function is made to count: some microseconds.
const PIECE: u64 = 10_000;

/// What the rewriting has to know of a module before it begins.
#[derive(Default)]
pub(super) struct Shape<'a> {
    pub(super) types: u32,
    pub(super) imported_functions: u32,
    pub(super) memories: u32,
    /// Of these, what an ordinary program has: defined in the module, of 32 bits, not shared.
    pub(super) plain_memories: u32,
    /// It runs code while it is instantiated.
    pub(super) starts: bool,
    pub(super) bodies: Vec<FunctionBody<'a>>,
    /// By type index, a number that equal types share. `None`: not a function's.
    signatures: Vec<Option<u32>>,
    /// By function index, imported ones first: the index of its type.
    functions: Vec<u32>,
    /// Functions that a call through a table may reach.
    reachable: Vec<u32>,
}

impl<'a> Shape<'a> {
    pub(super) fn of(wasm: &'a [u8]) -> Result<Self> {
        let mut shape = Self::default();
        let mut known = HashMap::<FuncType, u32>::new();
        for payload in Parser::new(0).parse_all(wasm) {
            shape.take(payload.or_internal("reading Python")?, &mut known).or_internal("reading Python")?;
        }
        shape.reachable.sort_unstable();
        shape.reachable.dedup();
        Ok(shape)
    }

    fn take(&mut self, payload: Payload<'a>, known: &mut HashMap<FuncType, u32>) -> wasmparser::Result<()> {
        match payload {
            Payload::TypeSection(section) => {
                for group in section {
                    for kind in group?.into_types() {
                        self.types += 1;
                        self.signatures.push(match kind.composite_type.inner {
                            wasmparser::CompositeInnerType::Func(function) => {
                                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                                Some(*known.entry(function).or_insert(next))
                            }
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    match import?.ty {
                        TypeRef::Func(kind) => {
                            self.functions.push(kind);
                            self.imported_functions += 1;
                        }
                        TypeRef::Memory(_) => self.memories += 1,
                        _ => {}
                    }
                }
            }
            Payload::FunctionSection(section) => {
                for kind in section {
                    self.functions.push(kind?);
                }
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    let memory = memory?;
                    self.memories += 1;
                    self.plain_memories += u32::from(!memory.memory64 && !memory.shared);
                }
            }
            Payload::StartSection { .. } => self.starts = true,
            Payload::GlobalSection(section) => {
                for global in section {
                    self.take_addresses(global?.init_expr.get_operators_reader())?;
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    if let wasmparser::TableInit::Expr(expression) = table?.init {
                        self.take_addresses(expression.get_operators_reader())?;
                    }
                }
            }
            Payload::ExportSection(section) => {
                // Whoever embeds it may put an exported function into a table.
                for export in section {
                    let export = export?;
                    if export.kind == wasmparser::ExternalKind::Func {
                        self.reachable.push(export.index);
                    }
                }
            }
            Payload::ElementSection(section) => {
                for element in section {
                    match element?.items {
                        ElementItems::Functions(functions) => {
                            for function in functions {
                                self.reachable.push(function?);
                            }
                        }
                        ElementItems::Expressions(_, expressions) => {
                            for expression in expressions {
                                self.take_addresses(expression?.get_operators_reader())?;
                            }
                        }
                    }
                }
            }
            Payload::CodeSectionEntry(body) => {
                self.take_addresses(body.get_operators_reader()?)?;
                self.bodies.push(body);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_addresses(&mut self, operators: wasmparser::OperatorsReader<'_>) -> wasmparser::Result<()> {
        for operator in operators {
            if let Operator::RefFunc { function_index } = operator? {
                self.reachable.push(function_index);
            }
        }
        Ok(())
    }
}

/// Where a function counts, besides its loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) entry: bool,
    /// Before each call through a table.
    pub(super) table_calls: bool,
}

/// Where the functions of a module count.
pub(super) struct Plan {
    /// By function index, imported ones first.
    pub(super) places: Vec<Places>,
    /// Operators that one count pays for at most, calls of the host and moves of memory taken for one each.
    pub(super) piece: u64,
}

impl Plan {
    pub(super) fn of(shape: &Shape<'_>) -> Result<Self> {
        let mut graph = Graph::of(shape)?;
        let component = graph.components();
        for function in 0..graph.functions {
            graph.places[function].table_calls =
                component.is_cyclic(function, &graph) && graph.calls_through_a_table(function);
        }
        loop {
            let cyclic = graph.components().busiest(&graph);
            if cyclic.is_empty() {
                break;
            }
            for function in cyclic {
                graph.places[function].entry = true;
            }
        }
        let piece = graph.bound_pieces();
        graph.places.truncate(graph.functions);
        Ok(Self { places: graph.places, piece })
    }
}

/// Nodes are functions and, after them, the types of calls through tables.
struct Graph {
    functions: usize,
    calls: Vec<Vec<u32>>,
    operators: Vec<u64>,
    /// What counts is no edge for cycles and pieces.
    places: Vec<Places>,
}

impl Graph {
    fn of(shape: &Shape<'_>) -> Result<Self> {
        let functions = shape.functions.len();
        let kinds = shape.signatures.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let mut graph = Self {
            functions,
            calls: vec![Vec::new(); functions + kinds],
            operators: vec![1; functions + kinds],
            places: vec![Places::default(); functions + kinds],
        };
        let node_of_type = |index: u32| {
            let signature = shape.signatures.get(index as usize).copied().flatten();
            signature.and_then(|signature| u32::try_from(functions).ok()?.checked_add(signature))
        };
        for (index, body) in shape.bodies.iter().enumerate() {
            let caller = shape.imported_functions as usize + index;
            let (calls, operators) = scan(body, node_of_type).or_internal("reading Python")?;
            (graph.calls[caller], graph.operators[caller]) = (calls, operators);
        }
        for function in &shape.reachable {
            let kind = shape.functions.get(*function as usize).copied().and_then(node_of_type);
            let kind = kind.ok_or("a function without a type").or_internal("reading Python")?;
            graph.calls[kind as usize].push(*function);
        }
        if graph.calls.iter().flatten().any(|callee| *callee as usize >= graph.calls.len()) {
            return Err(Error::internal("a call of a function that is not there").context("reading Python"));
        }
        Ok(graph)
    }

    /// What `node` enters without counting.
    fn uncounted(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.calls[node].iter().map(|callee| *callee as usize).filter(move |callee| !self.is_counted(node, *callee))
    }

    fn is_counted(&self, node: usize, callee: usize) -> bool {
        self.places[callee].entry || self.places[node].table_calls && callee >= self.functions
    }

    fn calls_through_a_table(&self, function: usize) -> bool {
        self.calls[function].iter().any(|callee| *callee as usize >= self.functions)
    }

    /// Tarjan's algorithm, without recursion. Components come out callees first.
    fn components(&self) -> Components {
        const UNSEEN: usize = usize::MAX;
        let nodes = self.calls.len();
        let (mut found, mut low) = (vec![UNSEEN; nodes], vec![0; nodes]);
        let (mut open, mut of) = (Vec::new(), vec![UNSEEN; nodes]);
        let (mut next, mut members) = (0, Vec::<Vec<usize>>::new());
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..nodes {
            if found[root] == UNSEEN {
                path.push((root, 0));
            }
            while let Some((node, at)) = path.pop() {
                if at == 0 {
                    (found[node], low[node]) = (next, next);
                    next += 1;
                    open.push(node);
                }
                if let Some(callee) = self.calls[node].get(at).map(|callee| *callee as usize) {
                    path.push((node, at + 1));
                    if self.is_counted(node, callee) {
                    } else if found[callee] == UNSEEN {
                        path.push((callee, 0));
                    } else if of[callee] == UNSEEN {
                        low[node] = low[node].min(found[callee]);
                    }
                    continue;
                }
                if low[node] == found[node] {
                    let start = open.iter().rposition(|open| *open == node).unwrap_or_default();
                    let component = open.split_off(start);
                    component.iter().for_each(|member| of[*member] = members.len());
                    members.push(component);
                }
                if let Some((caller, _)) = path.last() {
                    low[*caller] = low[*caller].min(low[node]);
                }
            }
        }
        Components { of, members }
    }

    /// Makes the functions count that would hide too much from their callers. The graph has no cycle left.
    fn bound_pieces(&mut self) -> u64 {
        let mut pieces = vec![0_u64; self.calls.len()];
        let mut longest = 0;
        for component in self.components().members {
            let node = component[0];
            let below = self.uncounted(node).map(|callee| pieces[callee]);
            let is_type = node >= self.functions;
            // One of a type's functions is entered; of a function's calls each.
            let below = if is_type { below.max().unwrap_or_default() } else { below.fold(0, u64::saturating_add) };
            let piece = below.saturating_add(self.operators[node]);
            if is_type || piece <= PIECE {
                pieces[node] = piece;
            } else {
                self.places[node].entry = true;
            }
            longest = longest.max(piece);
        }
        longest
    }
}

/// The nodes that a body calls, one entry for each call, and its operators.
fn scan(body: &FunctionBody<'_>, node_of_type: impl Fn(u32) -> Option<u32>) -> wasmparser::Result<(Vec<u32>, u64)> {
    let (mut calls, mut operators) = (Vec::new(), 0);
    for operator in body.get_operators_reader()? {
        operators += 1;
        match operator? {
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => calls.push(function_index),
            operator => calls.extend(table_call(&operator).and_then(&node_of_type)),
        }
    }
    Ok((calls, operators))
}

/// The type of the function that a call through a table, or through a reference, is made to.
fn table_call(operator: &Operator<'_>) -> Option<u32> {
    match *operator {
        Operator::CallIndirect { type_index, .. }
        | Operator::ReturnCallIndirect { type_index, .. }
        | Operator::CallRef { type_index }
        | Operator::ReturnCallRef { type_index } => Some(type_index),
        _ => None,
    }
}

pub(super) fn is_table_call(operator: &Operator<'_>) -> bool {
    table_call(operator).is_some()
}

/// The strongly connected components of the calls that are not counted.
struct Components {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Components {
    /// Whether something that `node` calls comes back to it.
    fn is_cyclic(&self, node: usize, graph: &Graph) -> bool {
        self.members[self.of[node]].len() > 1 || graph.uncounted(node).any(|callee| callee == node)
    }

    /// Of each component with a cycle the function with most calls within it.
    fn busiest(&self, graph: &Graph) -> Vec<usize> {
        let mut within = vec![0_u64; graph.calls.len()];
        for node in 0..graph.calls.len() {
            for callee in graph.uncounted(node).filter(|callee| self.of[*callee] == self.of[node]) {
                within[node] += 1;
                within[callee] += 1;
            }
        }
        let cyclic = self.members.iter().filter(|members| self.is_cyclic(members[0], graph));
        // A cycle always holds a function: types call functions only.
        cyclic
            .filter_map(|members| {
                members.iter().copied().filter(|node| *node < graph.functions).max_by_key(|node| within[*node])
            })
            .collect()
    }
}
