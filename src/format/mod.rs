//! (skeleton)

#[cfg(test)]
mod doc_check;
pub(crate) mod terms;
