//! The law of many hinges against the sum of their own.

use std::sync::Arc;

use super::{Hinge, Hinges, Segment};

/// Hinges with limits that meet, and one without a price.
fn hinges() -> Hinges {
    let d = [3.0, 0.5, 1.0, 1.0, 0.5, 2.25, 0.9];
    let (over, under) = ([0.5, 0.25, 1.0, 0.125, 0.5, 0.25, 0.0], [0.0, 0.5, 0.25, 0.0, 0.5, 1.0, 0.0]);
    let members: Arc<[u32]> = (0..7).collect();
    let (hinges, middle) = Hinges::new(0, &members, [&d, &over, &under], None);
    assert_eq!((middle, hinges.kinks().len()), (1.0, 4));
    hinges
}

/// Upwards and downwards again over every segment: lines meet at the ends, and what is between belongs to the segment.
fn walk(hinges: &Hinges) -> usize {
    let (mut at, mut seen) = (Segment::flat(0), vec![Segment::flat(0)]);
    while at != Segment::flat(hinges.kinks().len()) {
        let (down, up) = hinges.ends(at);
        let middle = if down.is_finite() { f64::midpoint(down, up) } else { up - 1.0 };
        assert!(down <= up);
        if up - down > 1e-9 {
            assert_eq!(hinges.locate(middle), at);
        }
        let next = hinges.next(at, true);
        assert!((hinges.multiplier(at, up) - hinges.multiplier(next, up)).abs() < 1e-12);
        assert_eq!(hinges.ends(next).0, up);
        at = next;
        seen.push(at);
    }
    let count = seen.len();
    while let Some(expected) = seen.pop() {
        assert_eq!(at, expected);
        if !seen.is_empty() {
            at = hinges.next(at, false);
        }
    }
    count
}

#[test]
fn segments_follow_each_other() {
    let mut hinges = hinges();
    for (sharpness, segments) in [(100.0, 9), (0.5, 9), (0.05, 9)] {
        hinges.smooth(sharpness);
        assert_eq!(walk(&hinges), segments);
    }
    for at in [-3.0, 0.0, 1.5] {
        hinges.proximal(10.0, at);
        assert_eq!(walk(&hinges), 9);
    }
}

/// The law and the cost are sums over the hinges, one by one; a multiplier is found again where it is.
#[test]
fn many_hinges_are_their_sum() {
    let mut hinges = hinges();
    for sharpness in [100.0, 0.5, 0.05] {
        hinges.smooth(sharpness);
        for step in -400..400 {
            let z = f64::from(step) / 97.0;
            let sum: f64 = hinges.laws().map(|(limit, law)| law.clipped(z - limit)).sum();
            assert!((hinges.clipped(z) - sum).abs() < 1e-12);
            let hinge = |h: Hinge| h.over * (z - h.limit).max(0.0) + h.under * (h.limit - z).max(0.0);
            assert!((hinges.cost(z) - hinges.each().map(hinge).sum::<f64>()).abs() < 1e-12);
            let (at, there) = hinges.with_multiplier(sum, hinges.locate(z).piece(), z);
            assert!((hinges.multiplier(at, there) - sum).abs() < 1e-12);
            assert!(hinges.slope(at) == 0.0 || (there - z).abs() < 1e-9);
        }
    }
}
