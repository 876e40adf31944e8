//! From documents to a durable commit.

pub(crate) mod commit;
