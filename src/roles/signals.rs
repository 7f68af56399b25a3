//! How a role learns that it is to stop.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;

/// A token that is cancelled by SIGTERM or SIGINT. A second signal ends the process at once, as usual.
pub(super) fn stop_on_signal() -> std::io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let token = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => info!("told to stop (SIGTERM)"),
            _ = interrupt.recv() => info!("told to stop (SIGINT)"),
        }
        token.cancel();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        #[expect(
            clippy::exit,
            reason = "a person who asks twice does not want to wait; nothing that was acknowledged is lost"
        )]
        std::process::exit(130);
    });
    Ok(stop)
}

/// Asks the kernel to stop this process when its parent dies, so that `serve` leaves no orphan behind even when it is killed.
#[cfg(target_os = "linux")]
pub(super) fn stop_with_parent() -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    Ok(())
}

/// Elsewhere the kernel has no such promise, and nothing is done.
#[cfg(not(target_os = "linux"))]
pub(super) fn stop_with_parent() -> std::io::Result<()> {
    Ok(())
}
