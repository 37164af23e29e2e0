//! What must be on the machine before anything runs: pinned artefacts fetched by pip and verified, and folders built once.
