//! A GGUF's key-value pairs, asked for by name and kind.

use std::collections::HashMap;

use crate::{Error, Result};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    /// Numbers of any kind; what we read from lists fits an `f64` exactly.
    Numbers(Vec<f64>),
}

impl Value {
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Unsigned(n) => Some(n as f64),
            Self::Signed(n) => Some(n as f64),
            Self::Float(x) => Some(x),
            Self::Bool(b) => Some(b.into()),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Metadata(HashMap<String, Value>);

impl Metadata {
    pub fn insert(&mut self, key: String, value: Value) -> Result<()> {
        match self.0.insert(key.clone(), value) {
            None => Ok(()),
            Some(_) => Err(Error::model(format!("its metadata has `{key}` twice"))),
        }
    }

    pub fn unsigned(&self, key: &str) -> Result<Option<u64>> {
        self.get(key, "a whole number", |value| match *value {
            Value::Unsigned(n) => Some(n),
            Value::Signed(n) => u64::try_from(n).ok(),
            _ => None,
        })
    }

    pub fn float(&self, key: &str) -> Result<Option<f64>> {
        self.get(key, "a number", Value::as_f64)
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.get(key, "true or false", |value| match *value {
            Value::Bool(b) => Some(b),
            _ => None,
        })
    }

    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        self.get(key, "a text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub fn texts(&self, key: &str) -> Result<Option<&[String]>> {
        self.get(key, "a list of texts", |value| match value {
            Value::Texts(texts) => Some(texts.as_slice()),
            _ => None,
        })
    }

    pub fn numbers(&self, key: &str) -> Result<Option<&[f64]>> {
        self.get(key, "a list of numbers", |value| match value {
            Value::Numbers(numbers) => Some(numbers.as_slice()),
            _ => None,
        })
    }

    fn get<'a, T>(&'a self, key: &str, kind: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Result<Option<T>> {
        match self.0.get(key) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(found) => Ok(Some(found)),
                None => Err(Error::model(format!("its metadata `{key}` is not {kind}"))),
            },
        }
    }
}

/// Turns "not there" into an error that names the key.
pub(super) fn required<T>(key: &str, found: Result<Option<T>>) -> Result<T> {
    found?.ok_or_else(|| Error::model(format!("its metadata lacks `{key}`")))
}
