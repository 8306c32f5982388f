// SPDX-License-Identifier: GPL-2.0
//! What is in a command, in words: dword by dword, or all of it in a line.

use crate::command::{Command, Field, Generation, Show, Tail};
use crate::stream::Item;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Dwords without a described field that a line shows as numbers.
const NUMBERS: usize = 6;
/// Dwords that a line shows at all.
const SHOWN: usize = 24;

/// The words of a generation.
#[derive(Clone, Copy)]
pub struct Words(pub &'static Generation);

impl Words {
    /// A whole command in a line.
    pub fn line(self, item: &Item<'_>) -> String {
        let mut out = String::new();
        let mut numbers = 0;
        for (n, dword) in item.dwords.iter().enumerate() {
            let text = self.dword(item, n, *dword);
            let text = text.trim_start();
            // Of fields that say nothing, nothing is said.
            let described = |c: &Command| {
                let row = match c.tail {
                    Tail::Layout(fields) => fields(item.dwords, n),
                    _ => &[],
                };
                !row.is_empty() || c.fields().any(|f| f.dword == n)
            };
            if text == "." && item.command.is_some_and(described) {
                continue;
            }
            let told = n == 0 || text != ".";
            match n {
                0 => {}
                _ if out == item.name => out.push_str(": "),
                _ => out.push_str(", "),
            }
            if told && n < SHOWN {
                out.push_str(text);
                continue;
            }
            if told || numbers == NUMBERS {
                let more = item.dwords.len() - n;
                // Writing to a string cannot fail.
                let _ = write!(out, "and {more} more");
                break;
            }
            numbers += 1;
            let _ = write!(out, "{dword:#x}");
        }
        if item.is_cut() {
            let missing = item.length - item.dwords.len();
            let _ = write!(out, ", cut off: {missing} dwords are missing");
        }
        out
    }

    /// A dword of a command: the name first if it is the header, else with two blanks before it.
    pub fn dword(self, item: &Item<'_>, n: usize, dword: u32) -> String {
        let mut parts = Vec::new();
        if let Some(c) = item.command {
            let mine = c.fields().filter(|f| f.dword == n);
            parts.extend(mine.filter_map(|f| self.field(f, dword)));
            parts.extend(self.tail(c, item.dwords, n, dword));
            // Of a command that is cut off nothing can be said.
            let rules = c.warnings.iter().filter(|w| w.dword == n && !item.is_cut());
            let broken = rules.filter(|w| (w.broken)(item.dwords));
            parts.extend(broken.map(|w| format!("WRONG: {}", w.text)));
        }
        let text = parts.join(", ");
        match (n, text.is_empty()) {
            (0, true) => item.name.to_owned(),
            (0, false) => format!("{}: {text}", item.name),
            (_, true) => String::from("  ."),
            (_, false) => format!("  {text}"),
        }
    }

    fn field(self, field: &Field, dword: u32) -> Option<String> {
        let value = field.of(dword);
        let name = field.name;
        let mut text = String::new();
        let written = match field.show {
            Show::Flag | Show::Some if value == 0 => return None,
            Show::Flag => write!(text, "{name}"),
            Show::Number => write!(text, "{name} {value}"),
            Show::Signed => {
                let unused = 31 - u32::from(field.high - field.low);
                write!(text, "{name} {}", (value << unused) as i32 >> unused)
            }
            Show::Hex | Show::Some => write!(text, "{name} {value:#x}"),
            Show::Address => write!(text, "{name} {value:#010x}"),
            Show::Register => write!(text, "{name} {}", self.register(value)),
            Show::RegisterIndex => write!(text, "{name} {}", self.register(value << 2)),
            Show::Choice(of) => match of.iter().find(|c| c.0 == value) {
                Some((_, meaning)) => write!(text, "{name} {meaning}"),
                None => write!(text, "{name} {value:#x}"),
            },
        };
        // Writing to a string cannot fail.
        written.ok().map(|()| text)
    }

    fn register(self, offset: u32) -> String {
        match (self.0.register)(offset) {
            Some(name) => format!("{offset:#07x} ({name})"),
            None => format!("{offset:#07x}"),
        }
    }

    /// What a register is given: its name, the value, and what that is made of.
    fn value(self, offset: u32, dword: u32) -> String {
        let name = (self.0.register)(offset)
            .unwrap_or_else(|| Cow::Owned(format!("register {offset:#07x}")));
        let fields = (self.0.fields)(offset).iter();
        let parts: Vec<_> = fields.filter_map(|f| self.field(f, dword)).collect();
        match parts.is_empty() {
            true => format!("{name} = {dword:#010x}"),
            false => format!("{name} = {dword:#010x}: {}", parts.join(", ")),
        }
    }

    fn tail(self, command: &Command, all: &[u32], n: usize, dword: u32) -> Option<String> {
        match command.tail {
            Tail::Data(from, name) if n >= from => Some(format!("{name} {dword:#010x}")),
            Tail::Registers if n % 2 == 1 => {
                Some(format!("register {}", self.register(dword & 0x7f_fffc)))
            }
            Tail::Registers if n > 0 => Some(format!("value {dword:#010x}")),
            Tail::Values(register) if n > 0 => {
                let header = all.first().copied().unwrap_or(0);
                Some(self.value(register(header, n), dword))
            }
            Tail::Layout(fields) if n > 0 => {
                let mine = fields(all, n).iter().filter_map(|f| self.field(f, dword));
                let parts: Vec<_> = mine.collect();
                (!parts.is_empty()).then(|| parts.join(", "))
            }
            _ => None,
        }
    }
}
