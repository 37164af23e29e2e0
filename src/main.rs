fn main() -> std::process::ExitCode {
    slm_code_interpreter::frontend::cli::main()
}
