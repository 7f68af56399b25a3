//! Serves the page until the App is registered, and says what to do next.

use std::time::Duration;

use super::args::SetupArgs;
use super::place::{Place, Written};
use super::site::Site;
use crate::desk::{Failure, out};
use crate::score::visible;

/// GitHub gives a person one hour from the first step to the last.
const LONGEST: Duration = Duration::from_hours(1);

/// Registers the App. Ends when it is done, or after an hour.
pub fn setup(args: &SetupArgs) -> Result<(), Failure> {
    let addresses = args.addresses()?;
    let place = Place::make(&args.directory)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))?;
    let written = runtime.block_on(async {
        let site = Site::bind(args.port).await?;
        out::print(&format!("Open {} in a browser on this machine, and follow the two steps.\n", site.address()))?;
        let late = |_| Failure::Usage("nobody came back from GitHub within an hour; begin again".to_owned());
        tokio::time::timeout(LONGEST, site.until_registered(place, addresses, args)).await.map_err(late)?
    })?;
    out::print(&next_steps(&written))
}

fn next_steps(written: &Written) -> String {
    let config = visible(&written.config.display().to_string());
    format!(
        "\nThe App {slug} is registered. Key and secrets lie beside {config}, for you alone.\n\n\
         1. Install it on the repositories to be gated: {install}\n\
         2. Start receiver and worker:  evidence-gate serve --config {config}\n\
         3. See whether all is well:    evidence-gate doctor --config {config}\n",
        slug = visible(&written.slug),
        install = visible(&written.install),
    )
}
