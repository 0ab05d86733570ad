//! Everything that reads a Bolt client's bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| eval_job::graph::bolt::fuzz_bolt_reader(bytes));
