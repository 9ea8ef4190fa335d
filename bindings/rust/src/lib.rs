//! faro in Rust: permutations of arrays at the speed of a copy.
//!
//! ```
//! let a: Vec<u16> = (0..6).collect();                             // 2 x 3
//! assert_eq!(faro::permute_dims(&a, &[2, 3], &[1, 0])?, [0, 3, 1, 4, 2, 5]);
//!
//! let plan = faro::Plan::new("bit_reversal(20)", &[], 4, &faro::Options::default())?;
//! let x: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
//! let mut y = vec![0f32; 1 << 20];
//! plan.run(&x, &mut y)?;                                          // planned once, run often, by any thread
//! assert_eq!(y[1 << 19], 1.0);
//! # Ok::<(), faro::Error>(())
//! ```
//!
//! Elements are any `Copy` types, moved as bytes. Engine cuda's arrays lie on a device and have no slices: [`Plan::run_raw`] takes
//! their pointers. What faro.h has and this has not is a declaration away in [`ffi`].
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::{fmt, mem, ptr};

/// The functions of faro.h that this crate calls, as that header tells them.
pub mod ffi {
    use super::*;

    #[repr(C)]
    pub struct FaroPlan {
        _private: [u8; 0],
    }

    #[repr(C)]
    #[derive(Default)]
    pub struct FaroOptions {
        pub engine: c_int,
        pub threads: c_int,
        pub device: c_int,
        pub in_place: c_int,
        pub batch: u64,
        pub repeats: u64,
        pub measure: u64,
        pub memory_bytes: u64,
        pub reserved: [u64; 2],
    }

    #[repr(C)]
    pub struct FaroView {
        pub rank: c_int,
        pub extents: *const u64,
        pub in_strides: *const i64,
        pub out_strides: *const i64,
        pub in_corner: i64,
        pub out_corner: i64,
    }

    #[repr(C)]
    pub struct FaroRows {
        pub entries: *const c_void,
        pub count: u64,
        pub entry_bytes: c_int,
        pub is_signed: c_int,
        pub rows: u64,
        pub outer: u64,
        pub row_bytes: u64,
        pub threads: c_int,
    }

    extern "C" {
        pub fn faro_last_message() -> *const c_char;
        pub fn faro_last_operation() -> *const c_char;
        pub fn faro_last_got() -> *const c_char;
        pub fn faro_last_wanted() -> *const c_char;
        pub fn faro_last_remedy() -> *const c_char;
        pub fn faro_version() -> *const c_char;
        pub fn faro_abi_version() -> c_int;
        pub fn faro_free(memory: *mut c_void);
        pub fn faro_plan_text(text: *const c_char, rank: c_int, shape: *const u64, element_bytes: u64,
                              options: *const FaroOptions, plan: *mut *mut FaroPlan) -> c_int;
        pub fn faro_plan_view(view: *const FaroView, element_bytes: u64, options: *const FaroOptions,
                              plan: *mut *mut FaroPlan) -> c_int;
        pub fn faro_plan_inverse(plan: *const FaroPlan, inverse: *mut *mut FaroPlan) -> c_int;
        pub fn faro_plan_run(plan: *const FaroPlan, input: *const c_void, out: *mut c_void, stream: *mut c_void) -> c_int;
        pub fn faro_plan_run_in_place(plan: *const FaroPlan, data: *mut c_void, stream: *mut c_void) -> c_int;
        pub fn faro_plan_facts(plan: *const FaroPlan, on_gpu: *mut c_int, in_place: *mut c_int) -> c_int;
        pub fn faro_plan_out_bytes(plan: *const FaroPlan, bytes: *mut u64) -> c_int;
        pub fn faro_plan_predicted_us(plan: *const FaroPlan, microseconds: *mut f64) -> c_int;
        pub fn faro_plan_explain(plan: *const FaroPlan, text: *mut *mut c_char) -> c_int;
        pub fn faro_plan_destroy(plan: *mut FaroPlan);
        pub fn faro_take(rows: *const FaroRows, fill: *const c_void, fill_bytes: u64, input: *const c_void,
                         out: *mut c_void) -> c_int;
        pub fn faro_put(rows: *const FaroRows, input: *const c_void, out: *mut c_void) -> c_int;
    }
}

/// What kind of fault it was: faro.h's statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    Internal,
    Usage,
    Spec,
    Value,
    Unsupported,
    Device,
    Verification,
    File,
    Memory,
    Ended,
}

/// Why a call failed, whole in `message` and in its parts; the remedy may be empty. Nothing was written, where the call does not
/// say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
    pub operation: String,
    pub got: String,
    pub wanted: String,
    pub remedy: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

unsafe fn text(from: *const c_char) -> String {
    CStr::from_ptr(from).to_string_lossy().into_owned()
}

fn checked(status: c_int) -> Result<()> {
    let kind = match status {
        0 => return Ok(()),
        2 => Kind::Usage,
        3 => Kind::Spec,
        4 => Kind::Value,
        5 => Kind::Unsupported,
        6 => Kind::Device,
        7 => Kind::Verification,
        8 => Kind::File,
        9 => Kind::Memory,
        10 => Kind::Ended,
        _ => Kind::Internal,
    };
    // SAFETY: valid until this thread's next failure.
    unsafe {
        Err(Error {
            kind,
            message: text(ffi::faro_last_message()),
            operation: text(ffi::faro_last_operation()),
            got: text(ffi::faro_last_got()),
            wanted: text(ffi::faro_last_wanted()),
            remedy: text(ffi::faro_last_remedy()),
        })
    }
}

fn refused<T>(operation: &str, got: String, wanted: String) -> Result<T> {
    let message = format!("{operation}: got {got}; wanted {wanted}");
    Err(Error { kind: Kind::Value, message, operation: operation.into(), got, wanted, remedy: String::new() })
}

fn expect_bytes<T>(operation: &str, what: &str, slice: &[T], bytes: u64) -> Result<()> {
    if mem::size_of_val(slice) as u64 == bytes {
        return Ok(());
    }
    refused(operation, format!("{what} of {} bytes", mem::size_of_val(slice)), format!("one of {bytes}"))
}

/// The library's version, such as "0.2.0".
pub fn version() -> String {
    // SAFETY: a constant.
    unsafe { text(ffi::faro_version()) }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    #[default]
    Auto,
    Cpu,
    Cuda,
}

/// Defaults are what is usual: the engine that there is, as many threads as OpenMP would use, one array.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub engine: Engine,
    pub threads: usize,
    /// One array, permuted where it is.
    pub in_place: bool,
    /// Arrays that follow one another, each permuted alike; 0: one.
    pub batch: u64,
    /// Some ways are tried on this machine, and the fastest remembered.
    pub measure: bool,
}

impl Options {
    fn as_ffi(&self) -> ffi::FaroOptions {
        ffi::FaroOptions {
            engine: self.engine as c_int,
            threads: self.threads.min(1 << 20) as c_int,
            in_place: self.in_place.into(),
            batch: self.batch,
            measure: self.measure.into(),
            ..Default::default()
        }
    }
}

/// A permutation that was planned for elements of one width.
pub struct Plan(*mut ffi::FaroPlan);

// SAFETY: plans do not change after they are made; any number of threads may run one at once.
unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: made by faro_plan_..., destroyed once.
        unsafe { ffi::faro_plan_destroy(self.0) }
    }
}

impl Plan {
    /// The permutation `spec` (docs/guide/maps.md), of an array of `shape`, or none, of elements of 1 to 4096 bytes.
    pub fn new(spec: &str, shape: &[u64], element_bytes: usize, options: &Options) -> Result<Plan> {
        let Ok(spec) = CString::new(spec) else {
            return refused("plan", "a text with a zero byte".into(), "one without".into());
        };
        let mut plan = ptr::null_mut();
        // SAFETY: all pointers outlive the call.
        checked(unsafe {
            ffi::faro_plan_text(spec.as_ptr(), shape.len() as c_int, shape.as_ptr(), element_bytes as u64, &options.as_ffi(), &mut plan)
        })?;
        Ok(Plan(plan))
    }

    /// out[pi(x)] = input[x]. Errors: slices of other sizes than the plan's, or of a plan in place.
    pub fn run<T: Copy>(&self, input: &[T], out: &mut [T]) -> Result<()> {
        self.expect_host("run")?;
        let bytes = self.out_bytes()?;
        expect_bytes("run", "an input", input, bytes)?;
        expect_bytes("run", "an output", out, bytes)?;
        // SAFETY: two slices of the plan's size, which do not overlap.
        checked(unsafe { ffi::faro_plan_run(self.0, input.as_ptr().cast(), out.as_mut_ptr().cast(), ptr::null_mut()) })
    }

    /// Of a plan that was made with `in_place`.
    pub fn run_in_place<T: Copy>(&self, data: &mut [T]) -> Result<()> {
        self.expect_host("run in place")?;
        expect_bytes("run in place", "an array", data, self.out_bytes()?)?;
        // SAFETY: a slice of the plan's size.
        checked(unsafe { ffi::faro_plan_run_in_place(self.0, data.as_mut_ptr().cast(), ptr::null_mut()) })
    }

    /// As `run`, of memory wherever the plan's engine takes it.
    ///
    /// # Safety
    /// `input` and `out` hold the plan's bytes, do not overlap, and live until the work that is queued on `stream` is done.
    pub unsafe fn run_raw(&self, input: *const c_void, out: *mut c_void, stream: *mut c_void) -> Result<()> {
        checked(ffi::faro_plan_run(self.0, input, out, stream))
    }

    /// The way back.
    pub fn inverse(&self) -> Result<Plan> {
        let mut plan = ptr::null_mut();
        // SAFETY: as above.
        checked(unsafe { ffi::faro_plan_inverse(self.0, &mut plan) })?;
        Ok(Plan(plan))
    }

    /// Of the output.
    pub fn out_bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        // SAFETY: as above.
        checked(unsafe { ffi::faro_plan_out_bytes(self.0, &mut bytes) })?;
        Ok(bytes)
    }

    /// Microseconds that a run should take; NaN where nothing is known.
    pub fn predicted_us(&self) -> Result<f64> {
        let mut us = 0.0;
        // SAFETY: as above.
        checked(unsafe { ffi::faro_plan_predicted_us(self.0, &mut us) })?;
        Ok(us)
    }

    /// What the plan does, in words.
    pub fn explain(&self) -> Result<String> {
        let mut told = ptr::null_mut();
        // SAFETY: the text is ours until it is freed.
        unsafe {
            checked(ffi::faro_plan_explain(self.0, &mut told))?;
            let words = text(told);
            ffi::faro_free(told.cast());
            Ok(words)
        }
    }

    fn expect_host(&self, operation: &str) -> Result<()> {
        let (mut on_gpu, mut in_place) = (0, 0);
        // SAFETY: as above.
        checked(unsafe { ffi::faro_plan_facts(self.0, &mut on_gpu, &mut in_place) })?;
        if on_gpu == 0 {
            return Ok(());
        }
        refused(operation, "a plan of engine cuda and slices of the host".into(), "run_raw with the device's pointers, or Engine::Cpu".into())
    }
}

/// numpy.transpose(x, order) of a dense array in C's order: the result's axis i is the input's axis order[i].
pub fn permute_dims<T: Copy>(x: &[T], shape: &[u64], order: &[usize]) -> Result<Vec<T>> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..shape.len()) {
        return refused("permute_dims", format!("the order {order:?}"), format!("each of the axes 0 to {} once", shape.len()));
    }
    let count = shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
    if count != Some(x.len() as u64) {
        return refused("permute_dims", format!("{} elements", x.len()), format!("as many as the shape {shape:?} has"));
    }
    let strides = dense_strides(shape);
    let extents: Vec<u64> = order.iter().map(|&axis| shape[axis]).collect();
    let in_strides: Vec<i64> = order.iter().map(|&axis| strides[axis]).collect();
    let out_strides = dense_strides(&extents);
    let mut out = Vec::with_capacity(x.len());
    let view = ffi::FaroView {
        rank: extents.len() as c_int,
        extents: extents.as_ptr(),
        in_strides: in_strides.as_ptr(),
        out_strides: out_strides.as_ptr(),
        in_corner: 0,
        out_corner: 0,
    };
    if x.is_empty() || mem::size_of::<T>() == 0 {
        return Ok(x.to_vec());
    }
    let mut plan = ptr::null_mut();
    // SAFETY: the view is of x's elements, and fills the output's.
    unsafe {
        let options = Options { engine: Engine::Cpu, ..Options::default() }.as_ffi();
        checked(ffi::faro_plan_view(&view, mem::size_of::<T>() as u64, &options, &mut plan))?;
        checked(ffi::faro_plan_run(Plan(plan).0, x.as_ptr().cast(), out.as_mut_ptr() as *mut c_void, ptr::null_mut()))?;
        out.set_len(x.len());
    }
    Ok(out)
}

fn dense_strides(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as i64;
    }
    strides
}

/// Rows of `row` elements: the result's row i is `x`'s row rows[i].
pub fn take<T: Copy>(x: &[T], row: usize, rows: &[i64]) -> Result<Vec<T>> {
    let told = listed(x.len(), row, rows, mem::size_of::<T>())?;
    let mut out = Vec::with_capacity(rows.len() * row);
    // SAFETY: the output has room for a row an entry, and all of it is written.
    unsafe {
        checked(ffi::faro_take(&told, ptr::null(), 0, x.as_ptr().cast(), out.as_mut_ptr() as *mut c_void))?;
        out.set_len(rows.len() * row);
    }
    Ok(out)
}

/// The other way round: out's row rows[i] becomes x's row i. Errors: two rows that go to one.
pub fn put<T: Copy>(x: &[T], row: usize, rows: &[i64], out: &mut [T]) -> Result<()> {
    let told = listed(out.len(), row, rows, mem::size_of::<T>())?;
    expect_bytes("put", "an input", x, (rows.len() * row * mem::size_of::<T>()) as u64)?;
    // SAFETY: slices of the sizes that are told.
    checked(unsafe { ffi::faro_put(&told, x.as_ptr().cast(), out.as_mut_ptr().cast()) })
}

fn listed(elements: usize, row: usize, rows: &[i64], element_bytes: usize) -> Result<ffi::FaroRows> {
    if row == 0 || element_bytes == 0 || elements % row != 0 {
        return refused("rows", format!("{elements} elements in rows of {row}"), "whole rows of at least one byte".into());
    }
    Ok(ffi::FaroRows {
        entries: rows.as_ptr().cast(),
        count: rows.len() as u64,
        entry_bytes: 8,
        is_signed: 1,
        rows: (elements / row) as u64,
        outer: 1,
        row_bytes: (row * element_bytes) as u64,
        threads: 0,
    })
}
