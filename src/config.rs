//! The one place that reads the configuration file and the environment.
