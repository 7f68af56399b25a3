//! Nothing but properties is here.
