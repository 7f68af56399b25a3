//! The policy as read. (Skeleton: the policy room fills it.)

/// The rules of one repository.
#[derive(Clone, Debug, Default)]
pub struct Policy {}
