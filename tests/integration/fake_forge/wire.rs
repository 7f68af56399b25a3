//! Sockets that can be cut: a connection that ends without an answer is one of the faults that a forge shows.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{self, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Cuts the connection that a request came on.
#[derive(Clone)]
pub struct Scissors(Arc<AtomicBool>);

impl Scissors {
    /// From now on no byte leaves on this connection.
    pub fn cut(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Connected<IncomingStream<'_, Wire>> for Scissors {
    fn connect_info(stream: IncomingStream<'_, Wire>) -> Self {
        Self(Arc::clone(&stream.io().cut))
    }
}

/// A listener on loopback whose connections can be cut.
pub struct Wire(pub TcpListener);

impl Listener for Wire {
    type Io = CutStream;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (CutStream, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        (CutStream { stream, cut: Arc::default() }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// One connection.
pub struct CutStream {
    stream: TcpStream,
    cut: Arc<AtomicBool>,
}

impl AsyncRead for CutStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for CutStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.cut.load(Ordering::SeqCst) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
