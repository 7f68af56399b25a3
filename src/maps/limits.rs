//! How large a map may be.

/// Bounds that keep one map from filling memory or disk. They lie far above the largest suites that are known.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes after unpacking.
    pub unpacked: u64,
    /// Tests, collected or run.
    pub tests: usize,
    /// Files.
    pub files: usize,
    /// Bytes of a node id or of a path.
    pub name: usize,
    /// The largest line number.
    pub line: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { unpacked: 4 << 30, tests: 2_000_000, files: 500_000, name: 8_192, line: 4_000_000 }
    }
}
