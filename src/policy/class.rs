//! What a path is.

use serde::{Deserialize, Serialize};

/// What a path is. The order is the order of matching: the first class with a matching pattern wins (DESIGN 4.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The gate's own rules.
    Policy,
    /// The list of known flaky failures.
    FreezeLedger,
    /// Properties, seeds, samples, coverage maps.
    Oracle,
    /// Recorded outputs.
    Snapshot,
    /// Recorded inputs.
    Fixture,
    /// Made by a tool from something else.
    Generated,
    /// Tests that agents may write freely: recorded, never scored, never counted.
    Intent,
    /// What configures the runner of the tests.
    TestConfig,
    /// What builds the product and brings its dependencies.
    Build,
    /// Tests.
    Test,
    /// Paths that a review may ignore.
    Allowed,
    /// The product.
    Product,
    /// Everything else.
    Other,
}

impl Class {
    /// All classes in the order of matching.
    pub const ALL: [Self; 13] = [
        Self::Policy,
        Self::FreezeLedger,
        Self::Oracle,
        Self::Snapshot,
        Self::Fixture,
        Self::Generated,
        Self::Intent,
        Self::TestConfig,
        Self::Build,
        Self::Test,
        Self::Allowed,
        Self::Product,
        Self::Other,
    ];

    /// Whether the class decides what the product is judged by: a pull request may not change it.
    pub fn is_evidence(self) -> bool {
        matches!(self, Self::Policy | Self::FreezeLedger | Self::Oracle | Self::Snapshot | Self::Fixture)
    }

    /// The word of the policy file and of the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::FreezeLedger => "freeze_ledger",
            Self::Oracle => "oracle",
            Self::Snapshot => "snapshot",
            Self::Fixture => "fixture",
            Self::Generated => "generated",
            Self::Intent => "intent",
            Self::TestConfig => "test_config",
            Self::Build => "build",
            Self::Test => "test",
            Self::Allowed => "allowed",
            Self::Product => "product",
            Self::Other => "other",
        }
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
