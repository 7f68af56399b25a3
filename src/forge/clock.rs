//! The present moment, handed in.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Tells the present moment. The roles make one that reads the machine's clock; a test makes one that it moves by hand.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that asks `read` each time.
    pub fn new(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The present moment.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
