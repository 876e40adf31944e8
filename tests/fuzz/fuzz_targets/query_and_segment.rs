//! Feeds `query_and_segment`; what it does is told there.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| treepie_fuzz::query_and_segment(data));
