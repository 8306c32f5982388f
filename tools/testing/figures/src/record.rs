// SPDX-License-Identifier: GPL-2.0
//! The files of figures: `tools/testing/bench/figures-GPU` at each commit that changed it, and `upstream-GPU`.

use anyhow::{ensure, Context, Result};
use std::path::Path;
use std::process::Command;

/// Instructions of each call, in the order of the file. Of median and least, the least: it repeats to within 2 %.
pub type Figures = Vec<(String, u64)>;

/// Figures as one commit recorded them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The commit's abbreviated id.
    pub commit: String,
    /// Its date, `YYYY-MM-DD`.
    pub date: String,
    /// What it recorded.
    pub figures: Figures,
}

/// Reads a file of figures: lines `NAME MEDIAN LEAST`, or `NAME MEDIAN` where the least was not recorded, and the median
/// stands for it; a line that begins with `#` is a comment.
///
/// # Errors
/// A line has other than a name and one or two numbers.
pub fn figures(text: &str) -> Result<Figures> {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|text| line(text).with_context(|| format!("not a name and its instructions: {text}")))
        .collect()
}

fn line(text: &str) -> Result<(String, u64)> {
    let mut words = text.split_whitespace();
    let name = words.next().context("no name")?;
    let numbers = words.map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    ensure!((1..=2).contains(&numbers.len()), "one or two numbers");
    Ok((name.to_owned(), numbers[numbers.len() - 1]))
}

/// Returns the figures of all commits that changed those of `gpu`, the oldest first.
///
/// # Errors
/// `top` is not a checkout, has no such commit, or a commit's file cannot be read.
pub fn history(top: &Path, gpu: &str) -> Result<Vec<Record>> {
    let file = format!("tools/testing/bench/figures-{gpu}");
    let log = git(top, &["log", "--reverse", "--format=%h %cs", "--", &file])?;
    let records: Vec<_> = log
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(commit, date)| {
            let text = git(top, &["show", &format!("{commit}:{file}")])?;
            Ok(Record {
                commit: commit.to_owned(),
                date: date.to_owned(),
                figures: figures(&text).with_context(|| format!("{file} of {commit}"))?,
            })
        })
        .collect::<Result<_>>()?;
    ensure!(!records.is_empty(), "no commit here recorded {file}");
    Ok(records)
}

/// Returns the upstream driver's figures on `gpu` as they are in the checkout; none without a file.
///
/// # Errors
/// The file cannot be read.
pub fn upstream(top: &Path, gpu: &str) -> Result<Figures> {
    let path = top.join(format!("tools/testing/bench/upstream-{gpu}"));
    if !path.exists() {
        return Ok(Figures::new());
    }
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    figures(&text).with_context(|| path.display().to_string())
}

fn git(top: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(top)
        .args(arguments)
        .output()
        .context("git cannot be run")?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_a_call_is_its_figure() {
        let read = figures("# a comment\nempty-bcs 9645 9586\n\nbusy-idle 1083\n").unwrap();
        assert_eq!(
            read,
            [("empty-bcs".into(), 9586), ("busy-idle".into(), 1083)]
        );
    }

    #[test]
    fn a_line_that_is_no_figure_is_named() {
        for text in [
            "empty-bcs",
            "empty-bcs 9645 few",
            "empty-bcs x 9645",
            "a 1 2 3",
        ] {
            let error = figures(text).unwrap_err();
            assert!(format!("{error:#}").contains(text), "{error:#}");
        }
    }

    /// A repository with two records, and a commit between them that did not change the file.
    #[test]
    fn a_record_is_a_commit_that_changed_the_file() {
        let top = std::env::temp_dir().join(format!("ouro-figures-{}", std::process::id()));
        let file = top.join("tools/testing/bench/figures-snb");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let run = |arguments: &[&str]| git(&top, arguments).unwrap();
        run(&["init", "--quiet"]);
        let commit = |subject: &str| {
            run(&["add", "."]);
            let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
            run(&[&who[..], &["commit", "--quiet", "-m", subject]].concat());
        };
        std::fs::write(&file, "busy-idle 1983 1980\n").unwrap();
        commit("first");
        std::fs::write(top.join("other"), "").unwrap();
        commit("another file");
        std::fs::write(&file, "busy-idle 1090 1083\n").unwrap();
        commit("faster");
        let records = history(&top, "snb");
        let none = history(&top, "dg2");
        std::fs::remove_dir_all(&top).unwrap();
        let least: Vec<_> = records
            .unwrap()
            .iter()
            .map(|record| record.figures[0].1)
            .collect();
        assert_eq!(least, [1980, 1083]);
        assert!(none.unwrap_err().to_string().contains("figures-dg2"));
    }
}
