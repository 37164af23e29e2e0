//! What the readers of model files fill in; the program keeps it beside the check of built models, which needs more
//! than a parser.

pub(crate) struct Description {
    pub name: String,
    pub parameters: Option<u64>,
    pub context_length: usize,
    pub chat_template: String,
    pub bos_token: String,
    pub eos_token: String,
    pub first_token: Option<u32>,
    pub end_of_turn: Vec<u32>,
}
