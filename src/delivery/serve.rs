//! The accept loop: who is let in, and how it ends.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, error, info, warn};

/// How many connections are open at once. Others wait in the system's own queue.
const CONNECTIONS: usize = 1024;
/// How long a connection may take to send the head of its next request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long requests in flight may take once the receiver is to stop. Longer than any request is given.
const GRACE: Duration = Duration::from_secs(10);
/// How long to wait when the system gives no more sockets.
const BREATH: Duration = Duration::from_secs(1);

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Stopped {
    /// Every request in flight was answered.
    Drained,
    /// This many connections were cut off at the end of the grace.
    CutOff(usize),
}

/// Answers requests until `shutdown`; then takes no new connection, finishes the requests in flight within ten seconds, and returns.
///
/// HTTP/1.1 without TLS: a proxy in front of it ends TLS. At most 1024 connections at once; one that sends no request head within ten
/// seconds is closed, so that slow ones cannot keep others out.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) -> Stopped {
    serve_within(listener, router, shutdown, GRACE).await
}

/// [`serve`] with another grace for the requests in flight.
pub async fn serve_within(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) -> Stopped {
    let connections = Connections {
        router,
        stopping: CancellationToken::new(),
        cut: CancellationToken::new(),
        open: TaskTracker::new(),
    };
    let mut shutdown = pin!(shutdown);
    tokio::select! {
        () = &mut shutdown => {}
        never = connections.accept(&listener) => match never {},
    }
    drop(listener);
    connections.finish(grace).await
}

struct Connections {
    router: Router,
    /// Each connection ends after the request that it is at.
    stopping: CancellationToken,
    /// Each connection ends at once.
    cut: CancellationToken,
    open: TaskTracker,
}

impl Connections {
    async fn accept(&self, listener: &TcpListener) -> std::convert::Infallible {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let place = room.clone().acquire_owned().await.expect("the room is never closed");
            match listener.accept().await {
                Ok((stream, _peer)) => self.open(stream, place),
                Err(error) if concerns_one_connection(&error) => {
                    debug!(%error, "a connection was gone before it was taken");
                }
                Err(error) => {
                    error!(%error, "no connection can be taken; trying again in a second");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }

    fn open(&self, stream: TcpStream, place: OwnedSemaphorePermit) {
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WITHIN)
            .serve_connection(TokioIo::new(stream), service);
        let (stopping, cut) = (self.stopping.clone(), self.cut.clone());
        self.open.spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = cut.cancelled() => return,
                () = stopping.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        ended = connection.as_mut() => ended,
                        () = cut.cancelled() => return,
                    }
                }
            };
            if let Err(error) = ended {
                debug!(%error, "a connection ended early");
            }
        });
    }

    async fn finish(self, grace: Duration) -> Stopped {
        info!(connections.open = self.open.len(), "no more connections are taken");
        self.stopping.cancel();
        self.open.close();
        if tokio::time::timeout(grace, self.open.wait()).await.is_ok() {
            return Stopped::Drained;
        }
        let left = self.open.len();
        warn!(connections.open = left, "connections are cut off: they did not end in time");
        self.cut.cancel();
        self.open.wait().await;
        Stopped::CutOff(left)
    }
}

/// Errors of `accept` that say nothing about the next connection.
fn concerns_one_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
