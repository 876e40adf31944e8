//! Tests that see the library as its users do, in one binary.

mod allocations;
mod naive;
mod oracle;
mod plans;
