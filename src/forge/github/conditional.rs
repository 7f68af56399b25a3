//! Answers that are asked for again with "only if it changed": the forge's 304 costs nothing of the budget.

use std::time::Duration;

use bytes::Bytes;
use moka::future::Cache;
use serde::de::DeserializeOwned;
use url::Url;

use super::answer::Answer;
use crate::forge::ForgeError;

/// A page as it was.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) etag: String,
    pub(super) answer: Page,
    pub(super) next: Option<Url>,
}

/// What stood on it. Lists of pull requests only, so no body holds a token.
#[derive(Clone)]
pub(super) struct Page(Bytes);

impl From<Answer> for Page {
    fn from(answer: Answer) -> Self {
        Self(answer.body)
    }
}

impl Page {
    pub(super) fn json<T: DeserializeOwned>(&self, doing: &'static str) -> Result<T, ForgeError> {
        serde_json::from_slice(&self.0).map_err(|error| {
            let why = format!("the answer has another shape than GitHub documents (column {})", error.column());
            ForgeError::GiveUp { doing, why }
        })
    }
}

/// Pages by address, at most 64 MiB of them.
pub(super) fn pages() -> Cache<String, Known> {
    Cache::builder()
        .weigher(|_, known: &Known| u32::try_from(known.answer.0.len()).unwrap_or(u32::MAX))
        .max_capacity(64 << 20)
        .time_to_idle(Duration::from_hours(6))
        .build()
}
