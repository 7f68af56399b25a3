//! Collects the facts and calls the rooms in order.
