//! A body in memory, within bounds.
//!
//! Whoever can reach the port can make the receiver read before any signature is known, so what is held is bounded three ways:
//! each body by a hard cap, all long bodies together by a budget, and the time by the answer's deadline. A long body takes its
//! whole share of the budget before it grows, so that several of them never wait for each other half-read.

use std::sync::Arc;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;

/// What is left of the memory for long bodies, in KiB.
#[derive(Clone)]
pub(super) struct Budget(Arc<Semaphore>);

/// A body, and its share of the budget for as long as it is held.
pub(super) struct Held {
    pub(super) bytes: Bytes,
    /// Given back when it is dropped.
    pub(super) _share: Option<OwnedSemaphorePermit>,
}

/// Why there is no body.
#[derive(Debug)]
pub(super) enum BodyFault {
    /// It is longer than the cap.
    TooLarge,
    /// It ended before its time: the sender went away, or wrote no proper chunks.
    Broken(axum::Error),
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        // One body of the greatest length must fit, or none would ever be read.
        Self(Arc::new(Semaphore::new(kib(limits.long_bodies.max(limits.body)) as usize)))
    }

    async fn share(&self, bytes: usize) -> OwnedSemaphorePermit {
        self.0.clone().acquire_many_owned(kib(bytes)).await.expect("the budget is never closed")
    }
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

/// Reads a body of up to `limits.body` bytes. Not one byte more is kept.
pub(super) async fn read(headers: &HeaderMap, body: Body, limits: &Limits, budget: &Budget) -> Result<Held, BodyFault> {
    let declared = declared_length(headers);
    if declared.is_some_and(|length| length > limits.body) {
        return Err(BodyFault::TooLarge);
    }
    let longest = declared.unwrap_or(limits.body);
    let mut bytes = BytesMut::with_capacity(longest.min(limits.small_body));
    let mut share = None;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(BodyFault::Broken)?;
        let length = bytes.len() + chunk.len();
        if length > limits.body {
            return Err(BodyFault::TooLarge);
        }
        if length > limits.small_body && share.is_none() {
            share = Some(budget.share(longest).await);
            // Reserved in one step: growing by doubling would hold two copies for a moment.
            bytes.reserve(longest.max(length) - bytes.len());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Held { bytes: bytes.freeze(), _share: share })
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
