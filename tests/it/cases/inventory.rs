//! What the sandbox must withstand, by id: each has a program in `tests/cases`, or tests elsewhere that are named here.
//! A proof that is named and is not there fails.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Classes of programs with their highest id: time, memory and stack, output, files, isolation.
const PROGRAMS: [(char, usize); 5] = [('T', 16), ('M', 12), ('O', 11), ('F', 13), ('S', 15)];

/// What no program in the guest can try: the id, what it is, the tests that prove it.
const ELSEWHERE: [(&str, &str, &[&str]); 20] = [
    (
        "H01",
        "a Host that is not this machine's",
        &[
            "only_this_machines_names_are_hosts",
            "another_name_in_the_request_line_is_refused",
            "other_sites_and_other_names_are_refused",
        ],
    ),
    (
        "H02",
        "a foreign Origin, a POST that is no JSON",
        &["only_the_daemons_own_pages_are_origins", "a_post_is_json", "every_refusal_is_json"],
    ),
    ("H03", "no token where one is required", &[]),
    (
        "H04",
        "bodies that are too large, announced or not",
        &[
            "a_body_is_bounded_announced_or_not",
            "a_body_that_is_not_json_or_too_large_is_refused",
            "a_large_body_needs_leave_and_a_small_one_does_not",
            "only_what_is_asked_for_is_built",
        ],
    ),
    ("H05", "bodies that do not come", &["a_body_that_does_not_come_is_not_waited_for"]),
    ("H06", "floods of sessions over HTTP", &[]),
    ("H07", "guessing of session names", &[]),
    ("H08", "names and links in uploads", &[]),
    ("H09", "names and links in downloads", &[]),
    ("H12", "two cells at once in one HTTP session", &[]),
    (
        "H13",
        "a client that goes away",
        &[
            "a_client_that_leaves_ends_its_work",
            "work_nobody_waits_for_is_cancelled",
            "status_answers_while_a_cell_spins_and_a_client_that_leaves_ends_its_cell",
        ],
    ),
    (
        "H14",
        "slow cells beside `/status`",
        &[
            "status_is_there_while_the_model_loads",
            "no_more_than_so_many_at_once",
            "a_slow_reader_is_not_silent",
            "an_answer_that_nobody_reads_is_not_kept",
            "who_does_not_read_keeps_others_from_large_answers_and_not_from_small_ones",
            "status_answers_while_a_cell_spins_and_a_client_that_leaves_ends_its_cell",
        ],
    ),
    (
        "C01",
        "machine code in the cache that is not as it was built",
        &[
            "a_flipped_byte_is_found_behind_the_old_modification_time",
            "what_others_can_write_is_refused_though_the_content_is_the_same",
            "a_link_in_place_of_a_file_or_folder_is_refused",
            "a_seal_cut_anywhere_or_with_any_byte_changed_is_none",
            "a_damaged_folder_is_built_again_and_the_reason_told",
        ],
    ),
    (
        "C03",
        "an artefact exchanged after its check",
        &[
            "a_wheel_with_another_hash_is_refused_before_it_is_unpacked",
            "a_wheel_that_is_not_the_pinned_one_is_not_unpacked",
        ],
    ),
    (
        "C04",
        "model files of other kinds, pickles among them",
        &["other_files_are_named_as_such", "anything_we_do_not_write_is_foreign"],
    ),
    (
        "C05",
        "weights outside the model's folder",
        &[
            "weights_outside_the_folder_are_refused",
            "a_second_location_cannot_hide_behind_the_first",
            "links_are_refused",
        ],
    ),
    ("C06", "a chat template that loops or allocates", &["endless_and_greedy_templates_end"]),
    (
        "C07",
        "a GGUF header that lies",
        &[
            "headers_that_lie_are_refused_before_they_cost_anything",
            "tensors_that_do_not_fit_are_refused",
            "every_truncation_is_an_error",
            "what_is_computed_is_bounded_before_it_is",
        ],
    ),
    (
        "C08",
        "an interpreter that untrusted code touched as the base of another",
        &["no_two_sessions_draw_the_same", "errors_exits_and_results_follow_a_rehearsal_that_left_no_trace"],
    ),
    (
        "O06",
        "fences and roles in what a prompt quotes",
        &[
            "a_fence_outgrows_its_text",
            "data_and_old_programs_cannot_leave_their_fences_and_stay_what_they_are",
            "only_the_template_says_control_tokens",
            "contents_cannot_say_user_defined_tokens_either_and_templates_can",
        ],
    ),
];

pub fn render() -> String {
    let mut text = String::from("| id | what | proved by |\n|---|---|---|\n");
    for (id, what, proofs) in ELSEWHERE {
        let proofs =
            if proofs.is_empty() { "no such surface".to_owned() } else { format!("`{}`", proofs.join("`, `")) };
        let _ = writeln!(text, "| {id} | {what} | {proofs} |");
    }
    text
}

/// Every source file below `folder`.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_id_has_its_proof() {
    let names: Vec<String> = super::programs().into_iter().map(|program| program.name).collect();
    let ids = PROGRAMS.iter().flat_map(|(class, last)| (1..=*last).map(move |n| format!("{class}{n:02}_")));
    let missing: Vec<String> = ids.filter(|id| !names.iter().any(|name| name.starts_with(id.as_str()))).collect();
    assert!(missing.is_empty(), "no program for {missing:?}");

    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).expect("a source")).collect();
    for (id, _, proofs) in ELSEWHERE {
        for proof in proofs {
            let there = texts.iter().any(|text| {
                text.split(&format!("fn {proof}()")).next().is_some_and(|before| {
                    before.len() < text.len() && before.trim_end().ends_with(']') && before.contains("#[test]")
                })
            });
            assert!(there, "{id}: there is no test {proof}");
        }
    }
}
