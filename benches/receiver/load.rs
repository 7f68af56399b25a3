//! The load: so many connections, each with one request in flight.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::deliveries::Deliveries;
use crate::server::Server;

/// What the clients saw.
#[derive(Clone, Default)]
pub(crate) struct Run {
    pub(crate) acknowledged: Vec<String>,
    /// Answers other than 2xx.
    pub(crate) refused: usize,
    millis: Vec<f64>,
    seconds: f64,
    /// Processor time that the server took meanwhile.
    server_seconds: f64,
}

impl Run {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub(crate) fn per_second(&self) -> f64 {
        self.acknowledged.len() as f64 / self.seconds
    }

    /// Microseconds of processor time that one delivery cost the server.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    pub(crate) fn server_micros(&self) -> f64 {
        self.server_seconds * 1e6 / self.acknowledged.len() as f64
    }

    /// Milliseconds; the answers are sorted.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index"
    )]
    pub(crate) fn quantile(&self, part: f64) -> f64 {
        self.millis[((self.millis.len() - 1) as f64 * part) as usize]
    }

    fn absorb(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.refused += other.refused;
        self.millis.extend(other.millis);
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, p50, p99) = (self.per_second(), self.quantile(0.5), self.quantile(0.99));
        let cost = self.server_micros();
        write!(f, "{rate:7.0}/s   p50 {p50:5.1} ms   p99 {p99:5.1} ms   {cost:5.0} us of processor each")
    }
}

/// Delivers for that long.
pub(crate) fn run(server: &Server, deliveries: &Deliveries, connections: usize, length: Duration) -> Run {
    let before = server.processor_seconds();
    let mut run = drive(server.port(), deliveries, connections, |stop| {
        std::thread::sleep(length);
        stop();
    });
    run.server_seconds = server.processor_seconds() - before;
    run
}

/// Delivers for that long, kills the server, and stops.
pub(crate) fn run_until_killed(
    server: &mut Server,
    deliveries: &Deliveries,
    connections: usize,
    after: Duration,
) -> Run {
    drive(server.port(), deliveries, connections, |stop| {
        std::thread::sleep(after);
        server.kill();
        stop();
    })
}

/// All clients run on one thread, so that they leave the rest of the machine to the server.
fn drive(port: u16, deliveries: &Deliveries, connections: usize, story: impl FnOnce(&dyn Fn()) + Send) -> Run {
    let stopped = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let clients = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(clients(port, deliveries, connections, &stopped))
        });
        story(&|| stopped.store(true, Ordering::Relaxed));
        clients.join().unwrap()
    })
}

async fn clients(port: u16, deliveries: &Deliveries, connections: usize, stopped: &AtomicBool) -> Run {
    let start = Instant::now();
    let each = (0..connections).map(|_| client(port, deliveries, stopped));
    let mut whole = Run::default();
    for one in futures::future::join_all(each).await {
        whole.absorb(one);
    }
    whole.seconds = start.elapsed().as_secs_f64();
    whole.millis.sort_by(f64::total_cmp);
    whole
}

/// One connection, until it is told to stop or the server is gone.
async fn client(port: u16, deliveries: &Deliveries, stopped: &AtomicBool) -> Run {
    let mut run = Run::default();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut request, mut answer) = (Vec::new(), Vec::new());
    while !stopped.load(Ordering::Relaxed) {
        let id = deliveries.write_next(&mut request);
        let start = Instant::now();
        if stream.write_all(&request).await.is_err() {
            break;
        }
        let Some(status) = read_answer(&mut stream, &mut answer).await else { break };
        run.millis.push(start.elapsed().as_secs_f64() * 1e3);
        if (200..300).contains(&status) {
            run.acknowledged.push(id);
        } else {
            run.refused += 1;
        }
    }
    run
}

/// The status of a whole answer. `None`: the connection ended before it was whole.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> Option<u16> {
    answer.clear();
    loop {
        if stream.read_buf(answer).await.ok()? == 0 {
            return None;
        }
        let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&answer[..end]).ok()?.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        let whole = match length {
            Some(length) => answer.len() >= end + 4 + length,
            None => answer.ends_with(b"0\r\n\r\n"),
        };
        if whole {
            return head.split(' ').nth(1)?.parse().ok();
        }
    }
}
