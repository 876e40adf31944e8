//! Feeds `graph`; what it does is told there.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| treepie_fuzz::graph(data));
