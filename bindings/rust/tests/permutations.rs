//! The crate beside definitions of its own.
use faro::{Error, Kind, Options, Plan};

/// A multiplicative generator: the tests draw the same shapes every time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}

fn transposed<T: Copy>(x: &[T], shape: &[u64], order: &[usize]) -> Vec<T> {
    let rank = shape.len();
    let mut strides = vec![1u64; rank];
    for axis in (1..rank).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    (0..x.len() as u64)
        .map(|place| {
            let (mut rest, mut from) = (place, 0);
            for &axis in order.iter().rev() {
                from += rest % shape[axis] * strides[axis];
                rest /= shape[axis];
            }
            x[from as usize]
        })
        .collect()
}

fn every_order<T: Copy + PartialEq + std::fmt::Debug>(draw: &mut Draw, make: impl Fn(u64) -> T) -> Result<(), Error> {
    for _ in 0..40 {
        let rank = draw.below(6) as usize;
        let shape: Vec<u64> = (0..rank).map(|_| draw.below(9)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            order.swap(i, draw.below(i as u64 + 1) as usize);
        }
        let x: Vec<T> = (0..shape.iter().product()).map(&make).collect();
        assert_eq!(faro::permute_dims(&x, &shape, &order)?, transposed(&x, &shape, &order), "{shape:?} {order:?}");
    }
    Ok(())
}

#[test]
fn axes_of_elements_of_any_width() -> Result<(), Error> {
    let mut draw = Draw(1);
    every_order(&mut draw, |i| i as u8)?;
    every_order(&mut draw, |i| i as f64)?;
    every_order(&mut draw, |i| [i as u16, 1, i as u16])?;
    every_order(&mut draw, |_| ())
}

#[test]
fn texts_there_and_back_in_place_and_between_threads() -> Result<(), Error> {
    let plan = Plan::new("bit_reversal(11)", &[], 4, &Options::default())?;
    let back = plan.inverse()?;
    let x: Vec<u32> = (0..2048).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (mut y, mut z) = (vec![0; 2048], vec![0; 2048]);
                plan.run(&x, &mut y).unwrap();
                back.run(&y, &mut z).unwrap();
                assert!(y.iter().enumerate().all(|(i, &v)| v == (i as u32).reverse_bits() >> 21));
                assert_eq!(x, z);
            });
        }
    });
    assert!(plan.explain()?.contains("bit_reversal(11)"));
    let inside = Plan::new("transpose(30, 50)", &[], 2, &Options { in_place: true, ..Options::default() })?;
    let mut data: Vec<u16> = (0..1500).collect();
    let want = transposed(&data, &[30, 50], &[1, 0]);
    inside.run_in_place(&mut data)?;
    assert_eq!(data, want);
    Ok(())
}

#[test]
fn rows() -> Result<(), Error> {
    let x: Vec<f32> = (0..60).map(|i| i as f32).collect();
    assert_eq!(faro::take(&x, 3, &[19, 0, 0])?, [57., 58., 59., 0., 1., 2., 0., 1., 2.]);
    let mut out = vec![-1f32; 9];
    faro::put(&x[..6], 3, &[2, 0], &mut out)?;
    assert_eq!(out, [3., 4., 5., -1., -1., -1., 0., 1., 2.]);
    Ok(())
}

#[test]
fn faults_say_what_was_wrong() {
    let kind = |spec: &str, bytes| Plan::new(spec, &[], bytes, &Options::default()).err().unwrap().kind;
    assert_eq!(kind("bit_reversal(", 4), Kind::Spec);
    assert_eq!(kind("bit_reversal(4)", 0), Kind::Value);
    assert_eq!(kind("bit\0", 4), Kind::Value);
    let plan = Plan::new("bit_reversal(4)", &[], 4, &Options::default()).unwrap();
    let (x, mut y) = ([7u32; 16], [1u32; 15]);
    let fault = plan.run(&x, &mut y).unwrap_err();
    assert_eq!((fault.kind, fault.wanted.as_str()), (Kind::Value, "one of 64"));
    assert!(plan.run_in_place(&mut y).is_err());
    assert!(faro::permute_dims(&x, &[4, 4], &[0, 0]).is_err());
    assert!(faro::permute_dims(&x, &[4, 5], &[1, 0]).is_err());
    assert_eq!(faro::take(&x, 4, &[4]).unwrap_err().kind, Kind::Value);
    assert!(faro::take(&x, 5, &[0]).is_err());
    assert!(faro::put(&x[..8], 4, &[1, 1], &mut [0u32; 16]).is_err());
    assert_eq!(y, [1; 15]);
}
