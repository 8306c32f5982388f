// SPDX-License-Identifier: GPL-2.0
//! Core dumps of xe (`/sys/class/devcoredump/devcd1/data`).
//!
//! Headings between `****`; below them `NAME: VALUE`, indented where it belongs to something: the queue whose job did
//! not end (`GuC ID`), the engines that could run it (`rcs0 (physical), logical instance=0`). Memory is
//! `[NAME].data: ` and dwords to the base 85: `HWSP` and `HWCTX` of the context, and under `VM state` the program's,
//! by address. The batch is where `Job` says.

use super::chips;
use super::{bare, memory, pair, Buffer, Kind, Post, Role, State};
use std::collections::HashMap;

/// Reads a text. Everything is passed over that is not known.
pub fn read(text: &str) -> Post {
    let mut post = Post::new(Kind::Xe);
    let mut section = String::new();
    // The queue is the first engine, under its own name; the engines follow.
    let mut queue: Option<State> = None;
    let mut engine: Option<State> = None;
    for line in text.lines() {
        let line = bare(line).trim_start();
        if let Some(rest) = line.strip_prefix("**** ") {
            section = rest.trim_end_matches(['*', ' ']).to_owned();
            post.engines.extend(engine.take());
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            memory_of(&mut post, rest, &section, queue.as_ref());
            continue;
        }
        // `rcs0 (physical), logical instance=0`, in later kernels `rcs0 (physical), gt_id=0, ...`.
        if let Some((name, _)) = line.split_once(" (physical)") {
            post.engines.extend(engine.take());
            engine = Some(State {
                name: name.to_owned(),
                ..State::default()
            });
            continue;
        }
        let Some((name, value)) = pair(line) else {
            continue;
        };
        let both = (name.to_owned(), value.to_owned());
        match (name, &mut engine, &mut queue) {
            ("GuC ID", _, _) => {
                let mut new = State::default();
                new.registers.push(both);
                queue = Some(new);
            }
            (_, _, _) if name.starts_with("batch_addr[") && post.batches.len() < 64 => {
                post.batches.extend(memory::value(value))
            }
            (_, Some(e), _) => e.registers.push(both),
            ("Name", None, Some(q)) => q.name = value.to_owned(),
            ("Job", None, Some(q)) => q.requests.extend(job(value)),
            (_, None, Some(q)) if section == "GuC CT" || section == "Contexts" => {
                q.registers.push(both)
            }
            _ => post.head.push(both),
        }
    }
    post.engines.extend(engine);
    finish(&mut post, queue);
    post
}

/// `seqno=5, fence=1, finished=0`.
fn job(value: &str) -> Option<super::Request> {
    let part = |wanted: &str| {
        let mut parts = value.split(',').filter_map(|p| p.trim().split_once('='));
        parts.find(|(name, _)| *name == wanted).map(|(_, v)| v)
    };
    Some(super::Request {
        // A number of 32 bits, printed with its sign.
        seqno: part("seqno")?.parse::<i64>().ok()? as u64 & 0xffff_ffff,
        done: part("finished") == Some("1"),
        ..super::Request::default()
    })
}

/// `HWCTX].data: ...`, `7f0000001000].length: 0x1000`, `7f0000001000].error: -14`.
fn memory_of(post: &mut Post, rest: &str, section: &str, queue: Option<&State>) {
    let Some((name, rest)) = rest.split_once("].") else {
        return;
    };
    let Some((what, value)) = rest.split_once(':') else {
        return;
    };
    let of_vm = section.starts_with("VM");
    let address = u64::from_str_radix(name.trim_start_matches("0x"), 16)
        .ok()
        .filter(|_| of_vm);
    let engine = queue.map_or("", |q| q.name.as_str());
    let room = post.room();
    let same = |b: &Buffer| b.name == name;
    let n = match post.buffers.iter().rposition(same) {
        // Each of several contexts has an image.
        Some(n) if of_vm || what != "length" => n,
        _ if post.buffers.len() == super::ITEMS => return,
        _ => {
            post.buffers.push(Buffer {
                engine: engine.to_owned(),
                role: if of_vm { Role::User } else { Role::Other },
                name: name.to_owned(),
                owner: None,
                address: address.unwrap_or(0),
                dwords: Vec::new(),
                damage: None,
            });
            post.buffers.len() - 1
        }
    };
    let Some(buffer) = post.buffers.get_mut(n) else {
        return;
    };
    match what {
        "data" => (buffer.dwords, buffer.damage) = memory::packed(value, room),
        "error" => buffer.damage = Some(format!("could not be copied: error {}", value.trim())),
        "length" => {
            let length = memory::value(value).unwrap_or(0);
            let all = format!("{length} bytes were there");
            post.objects
                .push((address.unwrap_or(0), length, format!("{name}: {all}")));
        }
        _ => {}
    }
}

fn finish(post: &mut Post, queue: Option<State>) {
    post.chip = post.number("PCI ID").and_then(chips::by_id);
    if let Some(mut queue) = queue {
        queue.context = post.value("Process").map(str::to_owned);
        if queue.name.is_empty() {
            queue.name = String::from("queue");
        }
        post.engines.insert(0, queue);
    }
    let lengths: HashMap<u64, u64> = post.objects.iter().map(|o| (o.0, o.1)).collect();
    // A copy that a batch begins in is a batch.
    for buffer in &mut post.buffers {
        let begins = post.batches.iter().any(|a| buffer.index(*a).is_some());
        if buffer.role == Role::User && begins {
            buffer.role = Role::Batch;
        }
        let there = buffer.dwords.len() as u64 * 4;
        let whole = lengths
            .get(&buffer.address)
            .filter(|l| buffer.role != Role::Other && there < **l);
        if let (Some(length), None) = (whole, &buffer.damage) {
            buffer.damage = Some(format!("{there} of {length} bytes are there"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs() {
        let one = job("seqno=-126, fence=1, finished=0").expect("a job");
        assert_eq!((one.seqno, one.done), (0xffff_ff82, false));
        assert!(job("seqno=7, fence=1, finished=1").is_some_and(|j| j.done));
        assert_eq!(job("fence=1"), None);
    }
}
