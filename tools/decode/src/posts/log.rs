// SPDX-License-Identifier: GPL-2.0
//! The kernel's log (`dmesg`, `journalctl -k`): what radeon, i915 and xe say of a hang. radeon has no error state: its
//! fences, its status register before and after each step of the reset, and who was refused are all there is.

use super::{memory, registers, Kind, Post};

/// More than a reader looks at.
const EVENTS: usize = 500;

/// Reads a log. Lines that say nothing of a hang are passed over.
pub fn read(text: &str) -> Post {
    let mut post = Post::new(Kind::Log);
    let mut last = (String::new(), 0u32);
    for line in text.lines() {
        let line = without_stamp(line.trim());
        chip(&mut post, line);
        let Some(event) = event(&mut post, line) else {
            continue;
        };
        // The same, again and again until the reset.
        if event == last.0 {
            last.1 += 1;
            continue;
        }
        again(&mut post, &mut last);
        if post.events.len() == EVENTS {
            post.events.push(String::from("and more"));
            break;
        }
        last = (event.clone(), 0);
        post.events.push(event);
    }
    again(&mut post, &mut last);
    post
}

fn again(post: &mut Post, last: &mut (String, u32)) {
    if let (Some(event), 1..) = (post.events.last_mut(), last.1) {
        event.push_str(&format!(" ({} times)", last.1 + 1));
    }
    last.1 = 0;
}

/// Without `[  659.736971] `.
fn without_stamp(line: &str) -> &str {
    match (line.starts_with('['), line.split_once("] ")) {
        (true, Some((stamp, rest)))
            if stamp.len() < 24 && stamp.contains(|c: char| c.is_ascii_digit()) =>
        {
            rest.trim()
        }
        _ => line,
    }
}

/// The number behind some words.
fn number(line: &str, words: &str) -> Option<u64> {
    let (_, rest) = line.split_once(words)?;
    memory::value(rest.trim_start_matches([' ', '=', ':']))
}

/// The word behind some words.
fn word<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(words)?;
    rest.split_ascii_whitespace().next()
}

/// `[drm] initializing kernel modesetting (RV515 0x1002:0x7187 0x1043:0x0146).`
fn chip(post: &mut Post, line: &str) {
    let Some((_, rest)) = line.split_once("initializing kernel modesetting (") else {
        return;
    };
    let value = rest.split(')').next().unwrap_or_default();
    if post.value("device").is_none() {
        post.head.push((String::from("device"), value.to_owned()));
    }
}

fn event(post: &mut Post, line: &str) -> Option<String> {
    radeon(post, line).or_else(|| intel(post, line))
}

fn radeon(post: &mut Post, line: &str) -> Option<String> {
    let has = |word: &str| line.contains(word);
    if has(" stalled for more than ") {
        let ring = number(line, "ring ").unwrap_or(0);
        let time = number(line, "stalled for more than ")?;
        return raised(post, &format!("ring {ring} has not moved for"), time, " ms");
    }
    if has("CP stall for more than ") {
        let time = number(line, "CP stall for more than ")?;
        return raised(post, "the command processor has not moved for", time, " ms");
    }
    if has("GPU lockup (") {
        let ring = number(line, " on ring ").unwrap_or(0);
        // In the order of the kernels: until 3.14 it waited for one, from then on it tells what came.
        let waited = number(line, "waiting for ").or_else(|| number(line, "last fence id "));
        let came = match has("waiting for ") {
            true => number(line, "last fence id "),
            false => number(line, "current fence id "),
        };
        let text = fences(ring, came, waited);
        // The same fence, while more and more are waited for.
        let same = text
            .split_once(" came,")
            .map(|(same, _)| format!("{same} came,"));
        let told = same.and_then(|s| post.events.iter_mut().find(|e| e.starts_with(&s)));
        return match told {
            Some(event) => {
                *event = text;
                None
            }
            None => Some(text),
        };
    }
    if let Some(status) = number(line, "RBBM_STATUS") {
        let value = u32::try_from(status).ok()?;
        let function = line.split('(').nth(1).and_then(|t| t.split(':').next());
        let when = function.map_or(String::from("the log"), |f| step(post, f));
        let words = registers::rbbm_status(value);
        return Some(format!("{when}: RBBM_STATUS {value:#010x}: {words}"));
    }
    // `GRBM_STATUS = 0xA2701CA0`: of chips after R5xx.
    let (name, value) = line.rsplit_once('=').unwrap_or(("", ""));
    let name = name
        .split_ascii_whitespace()
        .next_back()
        .unwrap_or_default();
    if name.contains("_STAT") && memory::value(value).is_some() {
        return Some(format!("{name} {}", value.trim()));
    }
    let said = [
        (
            "Saved ",
            "commands that were not done were saved for after the reset",
        ),
        ("GPU reset succeed", "the reset went well, says the driver"),
        ("failed to reset GPU", "the reset failed"),
        ("GPU softreset", "the driver resets the chip"),
        ("GPU reset failed", "the reset failed"),
        (
            "ring test failed",
            "after the reset the ring did not answer",
        ),
        (
            "failed testing IB",
            "after the reset an indirect buffer did not run",
        ),
        (
            "Failed to parse relocation",
            "a command stream was refused: a relocation is wrong",
        ),
        ("Invalid command stream", "a command stream was refused"),
        (
            "Forbidden register",
            "a command stream was refused: it writes a register that it may not",
        ),
        (
            "[drm:r100_cs_track_check",
            "a command stream was refused: it draws outside of its buffers",
        ),
    ];
    let radeon = has("radeon") || has("[drm") || has("drmn") || has("reset");
    let found = said
        .iter()
        .find(|(words, _)| radeon && line.contains(words))?;
    let detail = match found.0 {
        "Saved " => number(line, "Saved ").map(|n| format!("{n} dwords of ")),
        _ => None,
    };
    let register = word(line, "Forbidden register ").map(|r| format!(": {r}"));
    Some(format!(
        "{}{}{}",
        detail.unwrap_or_default(),
        found.1,
        register.unwrap_or_default()
    ))
}

/// Which step of a reset a line is of: the functions of R300 to R500 tell the status before the first and after each
/// (digest of R5xx, engine reset).
fn step(post: &Post, function: &str) -> String {
    const STEPS: [&str; 4] = ["before it", "after VAP and GA", "after CP", "after MC"];
    if !["r300_asic_reset", "rs600_asic_reset"].contains(&function) {
        return function.to_owned();
    }
    // A second reset begins anew.
    let since = post
        .events
        .iter()
        .rev()
        .take_while(|e| !e.starts_with("the reset "));
    let told = since.filter(|e| e.starts_with("reset, ")).count();
    format!("reset, {}", STEPS.get(told).unwrap_or(&"later"))
}

/// A time that grows line by line: only its last value is told.
fn raised(post: &mut Post, what: &str, time: u64, unit: &str) -> Option<String> {
    let text = format!("{what} {time}{unit}");
    if let Some(event) = post.events.iter_mut().find(|e| e.starts_with(what)) {
        *event = text;
        return None;
    }
    Some(text)
}

fn fences(ring: u64, came: Option<u64>, waited: Option<u64>) -> String {
    match (came, waited) {
        (Some(came), Some(waited)) => {
            let behind = waited.wrapping_sub(came);
            format!(
                "ring {ring}: fence {came:#x} came, {waited:#x} was waited for: {behind} not done, the first of them hangs"
            )
        }
        _ => format!("ring {ring}: the driver found a lockup"),
    }
}

fn intel(post: &mut Post, line: &str) -> Option<String> {
    if let Some((_, code)) = line.split_once("GPU HANG: ") {
        if post.value("GPU HANG").is_none() {
            post.head.push((String::from("GPU HANG"), code.to_owned()));
        }
        return Some(format!("i915: {}", ecode(code)));
    }
    let after = |words: &str| line.split_once(words).map(|(_, rest)| rest.trim());
    if let Some(ring) = after("stuck on ") {
        return Some(format!("i915: {ring} does not move"));
    }
    if let Some(what) = after("Hangcheck timer elapsed... ") {
        return Some(format!("i915: {what}"));
    }
    let kept = [
        "GPU crash dump saved to",
        "Xe device coredump has been created",
        "Timedout job",
        "Engine reset",
        "engine reset request failed",
        "declared device",
        "GPU recovery",
        "reset chip",
        "Resetting chip",
        "Resetting rcs",
        "Resetting vcs",
        "Resetting bcs",
        "context reset due to GPU hang",
        "hung too fast",
        "Fault response",
        "VM job timed out",
    ];
    let found = kept.iter().find(|words| line.contains(*words))?;
    let from = line.find(found)?;
    Some(line[from..].to_owned())
}

/// `ecode 9:1:0xeeffefa1, in Xorg [1234], reason: ...`: generation, engines, and the command xor the units that are done.
pub fn ecode(code: &str) -> String {
    let rest = code.strip_prefix("ecode ").unwrap_or(code);
    let (numbers, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let mut parts = numbers.splitn(3, ':');
    let (generation, engine, hash) = (parts.next(), parts.next(), parts.next());
    match (generation, engine, hash) {
        (Some(generation), Some(engine), Some(hash)) => {
            format!(
                "hang on Gen{generation}, engine {engine}, code {hash} (command xor done units){}",
                match rest.trim() {
                    "" => String::new(),
                    more => format!(", {more}"),
                }
            )
        }
        _ => code.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lockup_of_r500() {
        let text = "\
[    2.1] [drm] initializing kernel modesetting (RV515 0x1002:0x7187 0x1043:0x0146).\n\
[  120.0] radeon 0000:01:00.0: ring 0 stalled for more than 10003msec\n\
[  120.1] radeon 0000:01:00.0: GPU lockup (current fence id 0x000000000000100e last fence id 0x0000000000001011 on ring 0)\n\
[  120.5] radeon 0000:01:00.0: ring 0 stalled for more than 10503msec\n\
[  120.6] radeon 0000:01:00.0: GPU lockup (current fence id 0x000000000000100e last fence id 0x0000000000001011 on ring 0)\n\
[  121.0] radeon 0000:01:00.0: Saved 82 dwords of commands on ring 0.\n\
[  121.1] radeon 0000:01:00.0: (rs600_asic_reset:348) RBBM_STATUS=0x9401C100\n\
[  121.6] radeon 0000:01:00.0: (rs600_asic_reset:368) RBBM_STATUS=0x80010140\n\
[  122.1] radeon 0000:01:00.0: (rs600_asic_reset:376) RBBM_STATUS=0x00000040\n\
[  122.1] radeon 0000:01:00.0: GPU reset succeed\n\
[  199.0] radeon 0000:01:00.0: (rs600_asic_reset:348) RBBM_STATUS=0x00000140\n";
        let post = read(text);
        assert_eq!(
            post.value("device"),
            Some("RV515 0x1002:0x7187 0x1043:0x0146")
        );
        assert_eq!(
            post.events,
            [
                "ring 0 has not moved for 10503 ms",
                "ring 0: fence 0x100e came, 0x1011 was waited for: 3 not done, the first of them hangs",
                "82 dwords of commands that were not done were saved for after the reset",
                // Bits 8, 14 to 16, 26, 28, 31.
                "reset, before it: RBBM_STATUS 0x9401c100: busy: the chip (GUI active), geometry assembly (GA), \
                 host interface (HI), command stream (CP)",
                "reset, after VAP and GA: RBBM_STATUS 0x80010140: busy: the chip (GUI active), command stream (CP)",
                "reset, after CP: RBBM_STATUS 0x00000040: idle",
                "the reset went well, says the driver",
                "reset, before it: RBBM_STATUS 0x00000140: idle",
            ]
        );
    }

    #[test]
    fn the_lines_of_old_kernels() {
        let text = "radeon 0000:01:05.0: GPU lockup CP stall for more than 10020msec\n\
            radeon 0000:01:05.0: GPU lockup (waiting for 0x000028E2 last fence id 0x000028E1)\n\
            [drm:radeon_cs_ioctl] *ERROR* Invalid command stream !\n";
        assert_eq!(
            read(text).events,
            [
                "the command processor has not moved for 10020 ms",
                "ring 0: fence 0x28e1 came, 0x28e2 was waited for: 1 not done, the first of them hangs",
                "a command stream was refused",
            ]
        );
    }

    #[test]
    fn the_lines_of_i915() {
        let text = "[ 1.0] [drm] stuck on render ring\n\
            [ 1.1] [drm] GPU HANG: ecode 7:0:0x87c3ffff, reason: Ring hung, action: reset\n";
        assert_eq!(
            read(text).events,
            [
                "i915: render ring does not move",
                "i915: hang on Gen7, engine 0, code 0x87c3ffff (command xor done units), reason: Ring hung, action: reset",
            ]
        );
    }
}
