//! See the room of this name.
