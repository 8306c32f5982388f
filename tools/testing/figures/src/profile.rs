// SPDX-License-Identifier: GPL-2.0
//! The profile of a call: blocks that were executed, summed up by function.

use anyhow::{ensure, Context, Result};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// The name that stands for what is executed below the kernel's addresses.
const USER: &str = "(user space)";
/// The first address of the kernel's half.
const KERNEL: u64 = 1 << 63;

/// Returns the instructions of each function, the most first. `blocks` has lines `ADDRESS INSTRUCTIONS`, `symbols` is
/// a /proc/kallsyms. What was inlined counts as its caller's.
///
/// # Errors
/// A line is of another form; the symbols have no addresses, which only root can read.
pub fn functions(blocks: &str, symbols: &str) -> Result<Vec<(String, u64)>> {
    let symbols = addresses(symbols)?;
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for line in blocks.lines() {
        let block = block(line).with_context(|| format!("not a block: {line}"))?;
        let (address, instructions) = block;
        let name = match address {
            ..KERNEL => USER,
            _ => symbols.range(..=address).next_back().map_or("?", |s| s.1),
        };
        *sums.entry(name).or_default() += instructions;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(name, instructions)| (u64::MAX - instructions, *name));
    Ok(sums
        .into_iter()
        .map(|(name, instructions)| {
            (
                format!("{:#}", rustc_demangle::demangle(name)),
                instructions,
            )
        })
        .collect())
}

/// Returns the functions by their addresses.
fn addresses(symbols: &str) -> Result<BTreeMap<u64, &str>> {
    let mut found = BTreeMap::new();
    for line in symbols.lines() {
        let mut words = line.split_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let address =
            u64::from_str_radix(address, 16).with_context(|| format!("not a symbol: {line}"))?;
        if matches!(kind, "t" | "T" | "w" | "W") && address != 0 {
            found.entry(address).or_insert(name);
        }
    }
    ensure!(
        !found.is_empty(),
        "the symbols have no addresses: root has to read them"
    );
    Ok(found)
}

fn block(line: &str) -> Result<(u64, u64)> {
    let (address, instructions) = line.split_once(' ').context("no address")?;
    Ok((u64::from_str_radix(address, 16)?, instructions.parse()?))
}

/// Returns a table of the first `most` functions, in instructions for each of `calls`, with the sum of all.
///
/// # Errors
/// There were no calls.
pub fn table(functions: &[(String, u64)], calls: u64, most: usize) -> Result<String> {
    ensure!(calls != 0, "there were no calls");
    let mut text = String::new();
    let each = |instructions: u64| (instructions + calls / 2) / calls;
    let all = functions.iter().map(|f| f.1).sum();
    writeln!(text, "{:>9}  all", each(all))?;
    for (name, instructions) in functions.iter().take(most) {
        writeln!(text, "{:>9}  {name}", each(*instructions))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
0000000000001000 A fixed_percpu_data
ffffffff81000000 T first
ffffffff81000040 t second
ffffffff81000050 d data
ffffffffa0000000 t _RNvNtCs1_1a1b1f\t[ouro]
";

    #[test]
    fn blocks_are_of_the_function_before() {
        let blocks =
            "ffffffff8100003f 5\nffffffff81000000 2\nffffffff81000060 30\n0000000000401000 8\n";
        let found = functions(blocks, SYMBOLS).unwrap();
        let found: Vec<_> = found.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(found, [("second", 30), (USER, 8), ("first", 7)]);
    }

    #[test]
    fn names_are_as_in_the_source() {
        let found = functions("ffffffffa0000004 1\n", SYMBOLS).unwrap();
        assert_eq!(found, [("a::b::f".to_owned(), 1)]);
    }

    #[test]
    fn the_table_is_of_a_call() {
        let functions = [("second".to_owned(), 30), ("first".to_owned(), 7)];
        let text = table(&functions, 10, 1).unwrap();
        assert_eq!(text, "        4  all\n        3  second\n");
        assert!(table(&functions, 0, 1).is_err());
    }

    #[test]
    fn symbols_without_addresses_are_an_error() {
        let hidden = "0000000000000000 T first\n";
        let error = functions("ffffffff81000000 2\n", hidden).unwrap_err();
        assert!(error.to_string().contains("root"), "{error}");
        assert!(functions("ffffffff81000000\n", SYMBOLS).is_err());
    }
}
