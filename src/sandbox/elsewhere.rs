//! Where there is no sandbox: the namespaces that it is made of are Linux's.

use super::{Line, Sandbox, SandboxError};
use crate::config;

const WHY: &str = "it needs Linux: run the worker there, in a virtual machine for example";

/// Always [`SandboxError::Unavailable`].
pub fn open(_settings: &config::Sandbox) -> Result<Box<dyn Sandbox>, SandboxError> {
    Err(SandboxError::Unavailable(WHY.to_owned()))
}

/// Always [`SandboxError::Unavailable`].
pub fn proven(settings: &config::Sandbox) -> Result<Box<dyn Sandbox>, SandboxError> {
    open(settings)
}

/// One line, which says so.
pub fn check(_settings: &config::Sandbox) -> Vec<Line> {
    vec![Line::fault("start", "no program can be started in a sandbox", WHY)]
}
