//! The language in which the stories are told.
