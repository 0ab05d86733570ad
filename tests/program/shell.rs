//! What a shell and its reader are given: completions that the shell itself takes, and a man page for each subcommand.

use std::process::Command;

use super::eval_job;

#[test]
fn bash_takes_the_completions_and_completes_by_them() {
    let folder = tempfile::tempdir().unwrap();
    let output = eval_job(folder.path()).args(["completions", "bash"]).output().unwrap();
    assert!(output.status.success());
    std::fs::write(folder.path().join("eval-job.bash"), &output.stdout).unwrap();
    for (typed, expected) in [
        ("eval-job va", "validate"),
        ("eval-job run --scorer-mod", "--scorer-model"),
        ("eval-job run --condition with-", "with-facts"),
        ("eval-job baseline s", "set"),
        ("eval-job cache prune --older", "--older-than"),
        ("eval-job demo-agent --po", "--port"),
        ("eval-job graph serve --po", "--port"),
    ] {
        let words: Vec<&str> = typed.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let script = format!(
            "source ./eval-job.bash; COMP_WORDS=({typed}); COMP_CWORD={}; _eval__job eval-job {last} {before}; echo ${{COMPREPLY[@]}}",
            words.len() - 1
        );
        let completed = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(String::from_utf8(completed.stdout).unwrap(), format!("{expected}\n"), "{typed}");
    }
}

#[test]
fn a_shell_that_there_is_not_is_told_which_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let output = eval_job(folder.path()).args(["completions", "csh"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("bash, elvish, fish, powershell, zsh"), "{message}");
}

#[test]
fn each_subcommand_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = eval_job(folder.path()).args(["man", "pages/man1"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "pages/man1/eval-job.1\n");
    for page in ["eval-job.1", "eval-job-run.1", "eval-job-graph-serve.1"] {
        let page = std::fs::read_to_string(folder.path().join("pages/man1").join(page)).unwrap();
        assert!(page.contains(".TH eval-job") && page.contains(".SH OPTIONS"), "{page}");
    }
    std::fs::write(folder.path().join("file"), "").unwrap();
    let output = eval_job(folder.path()).args(["man", "file"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("file can't be written"), "{message}");
}
