//! Path change -> class. Total: every path gets exactly one class.
