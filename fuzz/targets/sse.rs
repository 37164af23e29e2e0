#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slm_code_interpreter_fuzz::sse(bytes));
