// SPDX-License-Identifier: GPL-2.0
//! Numbers from a seed: splitmix64. A file names its seed, and the same numbers must come of it in every later
//! version of this program: so they are made here, and not by a crate that may change its mind.

/// A source of numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins with a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A stream of its own for a rule's name and the number of a case.
    pub fn of(seed: u64, name: &str, case: u32) -> Random {
        let mut random = Random(seed ^ u64::from(case).rotate_left(40));
        for byte in name.bytes() {
            random.0 = random.qword() ^ u64::from(byte);
        }
        random
    }

    /// The next 64 bits.
    pub fn qword(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next 32 bits.
    pub fn dword(&mut self) -> u32 {
        (self.qword() >> 32) as u32
    }

    /// A number from `low` on and below `high`.
    pub fn range(&mut self, low: i32, high: i32) -> i32 {
        let span = (high - low).max(1) as u64;
        low + (self.qword() % span) as i32
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.range(0, of.len() as i32) as usize]
    }

    /// True half the time.
    pub fn coin(&mut self) -> bool {
        self.qword() >> 63 != 0
    }

    /// Bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend(self.qword().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation of splitmix64, from seed 1234567.
    #[test]
    fn numbers_stay_what_they_are() {
        let mut random = Random::new(1_234_567);
        let first: [u64; 3] = std::array::from_fn(|_| random.qword());
        let known = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, known);
    }
}
