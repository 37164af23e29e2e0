//! What a conversation needs to know of a model that others exported: chat template, control tokens, context.

use std::path::Path;

use serde::Deserialize;

use super::genai::Genai;
use super::ground::Ground;
use crate::model::built::Description;
use crate::model::template::MAX_TEMPLATE;
use crate::model::turn_ends::ends_turn;
use crate::{Error, Result};

/// Bytes that are read of each file. The largest are lists of the control tokens of a tokenizer.
const MAX_TOKENIZER_CONFIG: u64 = 16 << 20;
const MAX_CONFIG: u64 = 1 << 20;

const CONFIG: &str = "config.json";
const GENERATION: &str = "generation_config.json";
const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
const TEMPLATE: &str = "chat_template.jinja";

/// Ids as the files give them: none, one or several.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Ids {
    One(i64),
    Many(Vec<i64>),
    #[default]
    None,
}

impl Ids {
    fn list(&self) -> Vec<u32> {
        let all = match self {
            Self::None => &[][..],
            Self::One(id) => std::slice::from_ref(id),
            Self::Many(ids) => ids,
        };
        all.iter().filter_map(|id| u32::try_from(*id).ok()).collect()
    }
}

/// A token's text, bare or with how it is matched.
#[derive(Deserialize)]
#[serde(untagged)]
enum Token {
    Text(String),
    Added { content: String },
}

impl Token {
    fn text(self) -> String {
        match self {
            Self::Text(text) | Self::Added { content: text } => text,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Template {
    One(String),
    Named(Vec<NamedTemplate>),
}

#[derive(Deserialize)]
struct NamedTemplate {
    name: String,
    template: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TokenizerConfig {
    chat_template: Option<Template>,
    bos_token: Option<Token>,
    eos_token: Option<Token>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    eos_token_id: Ids,
    max_position_embeddings: Option<u64>,
    n_positions: Option<u64>,
    n_ctx: Option<u64>,
    seq_length: Option<u64>,
    /// Models that also see or hear keep these here.
    text_config: Option<Box<Config>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Generation {
    eos_token_id: Ids,
}

#[derive(Deserialize)]
struct Tokenizer {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

/// What the files say.
pub(super) struct Chat {
    template: Option<String>,
    bos_token: String,
    eos_token: String,
    config: Config,
    generation: Generation,
    added: Vec<AddedToken>,
}

impl Chat {
    /// Reads the files in `folder` or at the top of the model's. `tokenizer` is the content of its `tokenizer.json`.
    pub fn read(ground: &Ground, folder: &Path, tokenizer: &[u8]) -> Result<Self> {
        let of_tokenizer: TokenizerConfig =
            ground.json(folder, TOKENIZER_CONFIG, MAX_TOKENIZER_CONFIG)?.unwrap_or_default();
        let tokenizer: Tokenizer =
            serde_json::from_slice(tokenizer).map_err(|error| Error::model(error).context("`tokenizer.json`"))?;
        let text = |token: Option<Token>| token.map(Token::text).unwrap_or_default();
        Ok(Self {
            template: template(ground, folder, of_tokenizer.chat_template)?,
            bos_token: text(of_tokenizer.bos_token),
            eos_token: text(of_tokenizer.eos_token),
            config: ground.json(folder, CONFIG, MAX_CONFIG)?.unwrap_or_default(),
            generation: ground.json(folder, GENERATION, MAX_CONFIG)?.unwrap_or_default(),
            added: tokenizer.added_tokens,
        })
    }

    pub fn describe(self, name: &str, genai: Option<&Genai>) -> Result<Description> {
        let end_of_turn = self.end_of_turn(genai);
        if end_of_turn.is_empty() {
            return Err(Error::model("it names no token that ends a turn")
                .advise(format!("give its id as `eos_token_id` in `{GENERATION}`")));
        }
        let chat_template = self.template.ok_or_else(|| {
            Error::model("it has no chat template")
                .advise("take the model's `Instruct` version: a base model cannot follow instructions")
        })?;
        let own = self.config.context().into_iter().chain(genai.and_then(Genai::context_length));
        // Without a word about it the context is as long as it is asked for.
        let context_length = own.filter(|&len| len > 0).min().map_or(usize::MAX, |len| len as usize);
        Ok(Description {
            name: name.into(),
            parameters: None,
            context_length,
            chat_template,
            bos_token: self.bos_token,
            eos_token: self.eos_token,
            // Templates write it themselves, as transformers expects of them.
            first_token: None,
            end_of_turn,
        })
    }

    fn end_of_turn(&self, genai: Option<&Genai>) -> Vec<u32> {
        let text = self.config.text_config.as_ref().map(|config| &config.eos_token_id);
        let said =
            [Some(&self.generation.eos_token_id), Some(&self.config.eos_token_id), text, genai.map(Genai::end_of_turn)];
        let mut ids: Vec<u32> = said.into_iter().flatten().flat_map(Ids::list).collect();
        // A beginning, too, means that the turn before it is over: a model may forget to end its own.
        let named = |token: &&AddedToken| {
            let text = token.content.as_str();
            ends_turn(text) || (!text.is_empty() && (text == self.bos_token || text == self.eos_token))
        };
        ids.extend(self.added.iter().filter(named).map(|token| token.id));
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl Config {
    fn context(&self) -> Option<u64> {
        let own = [self.max_position_embeddings, self.n_positions, self.n_ctx, self.seq_length];
        own.into_iter().flatten().next().or_else(|| self.text_config.as_ref()?.context())
    }
}

/// The template in a file of its own, else the one in the tokenizer's configuration: of several that without a purpose.
fn template(ground: &Ground, folder: &Path, configured: Option<Template>) -> Result<Option<String>> {
    if let Some(bytes) = ground.beside(folder, TEMPLATE, MAX_TEMPLATE as u64)? {
        let text = String::from_utf8(bytes).map_err(|error| Error::model(error).context(format!("`{TEMPLATE}`")))?;
        return Ok(Some(text));
    }
    Ok(match configured {
        None => None,
        Some(Template::One(text)) => Some(text),
        Some(Template::Named(all)) => {
            let default = all.iter().position(|one| one.name == "default");
            default.and_then(|place| all.into_iter().nth(place)).map(|one| one.template)
        }
    })
}
