// SPDX-License-Identifier: GPL-2.0
//! R5xx: the streams that Mesa's r300 has sent, through the checker and on the modelled card.

use gpu_model::r5xx::Unit;
use ouro_cross::{
    r5xx_machine::{Named, Object},
    recorded, R5xxMachine,
};

/// Streams in the file, which are all different.
const STREAMS: usize = 69;

#[test]
fn what_r300_sends_is_taken_whole_and_touches_its_objects_alone() {
    let streams = recorded::r300();
    assert_eq!(streams.len(), STREAMS);
    let mut card = R5xxMachine::new("rv515");
    // A place for each object of a stream, as large as any that comes to lie there.
    let most = streams.iter().map(|s| s.objects.len()).max().unwrap_or(0);
    let size = |n: usize| streams.iter().filter_map(|s| s.objects.get(n)).max();
    let places: Vec<Object> = (0..most)
        .map(|n| match n % 2 {
            0 => card.local(*size(n).expect("there is one")),
            _ => card.system(*size(n).expect("there is one")),
        })
        .collect();
    for (n, stream) in streams.iter().enumerate() {
        let objects = places.iter().zip(&stream.objects);
        let objects: Vec<Object> = objects.map(|(place, bytes)| place.cut(*bytes)).collect();
        card.gpu.take_accesses();
        let named = Named::new(&objects);
        if let Err(refusal) = card.check(&stream.dwords, &named) {
            panic!("stream {n}: {refusal:?}");
        }
        assert_eq!(card.exec(1, &stream.dwords, &named), Ok(()));
        assert!(!card.gpu.vap_stuck(), "stream {n}");
        let (accesses, lost) = card.gpu.take_accesses();
        assert_eq!(lost, 0);
        for a in accesses {
            let kernels = matches!(a.unit, Unit::Ring | Unit::Indirect | Unit::WriteBack);
            let inside = objects.iter().any(|o| {
                let from = u64::from(o.addr);
                a.addr >= from && a.end() <= from + u64::from(o.bytes)
            });
            assert!(kernels || inside, "stream {n}: {a:x?} {objects:x?}");
        }
    }
    card.assert_lawful();
}
