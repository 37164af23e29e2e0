//! The names that exports give to a decoder's inputs and outputs.

use super::Role;

/// Which input is which, and how a state's output is found from its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    roles: Vec<(String, Role)>,
    pub logits: String,
    /// Pairs of patterns with `%d` for the layer.
    pairs: Vec<(String, String)>,
}

/// What the usual exporters write.
const ROLES: [(&str, Role); 13] = [
    ("input_ids", Role::Ids),
    ("inputs_embeds", Role::Embeddings),
    ("attention_mask", Role::Mask),
    ("position_ids", Role::Positions),
    ("cache_position", Role::Positions),
    ("seqlens_k", Role::LastPosition),
    ("total_sequence_length", Role::Total),
    ("total_seq_len", Role::Total),
    ("num_logits_to_keep", Role::Keep),
    ("logits_to_keep", Role::Keep),
    ("use_cache_branch", Role::UseCache),
    ("use_cache", Role::UseCache),
    ("num_logits", Role::Keep),
];

/// How the beginning of a state's input becomes that of its output; the rest is equal.
const PREFIXES: [(&str, &str); 5] = [
    ("past_key_values", "present"),
    ("past_key_values", "present_key_values"),
    ("past_", "present_"),
    ("past_", "present."),
    ("past", "present"),
];

impl Default for Names {
    fn default() -> Self {
        let roles = ROLES.iter().map(|(name, role)| ((*name).into(), *role)).collect();
        Self { roles, logits: "logits".into(), pairs: Vec::new() }
    }
}

impl Names {
    /// `name` is the input of this role, whatever else goes by that name.
    pub fn set_role(&mut self, name: &str, role: Role) {
        self.roles.insert(0, (name.into(), role));
    }

    /// States whose inputs are called `past` come back as `present`; both hold `%d` for the layer.
    pub fn add_pair(&mut self, past: &str, present: &str) {
        self.pairs.push((past.into(), present.into()));
    }

    pub fn role(&self, input: &str) -> Option<Role> {
        self.roles.iter().find(|(name, _)| name == input).map(|(_, role)| *role)
    }

    /// The names that the output of the state `past` may have, the likeliest first.
    pub fn presents(&self, past: &str) -> Vec<String> {
        let said = self.pairs.iter().filter_map(|(from, to)| {
            let (before, after) = from.split_once("%d")?;
            let layer = past.strip_prefix(before)?.strip_suffix(after)?;
            let digits = !layer.is_empty() && layer.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| to.replacen("%d", layer, 1))
        });
        let usual = PREFIXES.iter().filter_map(|(from, to)| past.strip_prefix(from).map(|rest| format!("{to}{rest}")));
        said.chain(usual).collect()
    }
}
