// The kernels of axes, rolls and flips, windows and runs as addresses that cudaLaunchKernel takes, and the
// tables of runs.
// No CUDA header is needed.
//
//     axes box      AxesBoxParams, in, out                     dynamic shared memory: params.shared_bytes()
//     axes lines    AxesLinesParams, in, out                   dynamic shared memory: params.shared_bytes
//     axes plane, axes turned, axes skinny    the same
//     axes whole    AxesWholeParams, in, out                  dynamic shared memory: params.shared_bytes()
//     axes rows     AxesRowsParams, in, out
//     axes elements, view rows    AxesElementsParams, ViewRowsParams, in, out
//     cyclic        CyclicParams, in, out
//     window        WindowParams, in, out, shifts              dynamic shared memory: params.shared_bytes
//     runs          RunsParams, in, out, begins, froms, firsts dynamic shared memory: kRunsSharedBytes
//
// Params by value, all else pointers. Where params hold a skew, in and out are the arrays' addresses rounded
// down to 16, out to 32 for axes lines and all after it. One-dimensional grids, blockIdx.x being the block of
// the phases. A null function: not compiled.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/kernels.hpp"
#include "faro/stream.hpp"
#include "kernels/axes_box.hpp"
#include "kernels/axes_registers.hpp"
#include "kernels/axes_skinny.hpp"
#include "kernels/axes_turned.hpp"
#include "kernels/axes_view_rows.hpp"

namespace faro::cuda {

KernelEntry axes_box_kernel(const kernels::BoxShape& shape);
KernelEntry axes_whole_kernel(int unit_bytes);
KernelEntry axes_lines_kernel(int unit_bytes);
KernelEntry axes_plane_kernel(const kernels::AxesPlaneShape& shape, bool aligned);
KernelEntry axes_turned_kernel(const kernels::AxesPlaneShape& shape, bool words);
KernelEntry axes_skinny_kernel(const kernels::AxesSkinnyShape& shape);
KernelEntry axes_rows_kernel(int unit_bytes);
KernelEntry axes_elements_kernel(int unit_bytes, int units);
KernelEntry axes_registers_kernel(const kernels::AxesRegistersShape& shape);
KernelEntry view_rows_kernel(const kernels::ViewRowsShape& shape);
KernelEntry cyclic_kernel(int unit_bytes, bool reversed, bool several_units);
/// `direct`: without shared memory.
KernelEntry window_kernel(int unit_bytes, bool backwards, bool vectors, bool direct);
KernelEntry runs_kernel(int unit_bytes);

/// What sorting so many runs needs on the device while it is done. Errors: ErrorCode::device.
std::uint64_t sort_runs_bytes(std::uint64_t runs);
/// Queues: begins = the targets in ascending order, froms = their sources. `memory`: sort_runs_bytes().
/// Errors: ErrorCode::device.
void sort_runs(const std::uint64_t* target, const std::uint64_t* source, std::uint64_t runs,
               std::uint64_t* begins, std::uint64_t* froms, void* memory, std::uint64_t memory_bytes,
               Stream stream);
/// Queues: firsts[s] = the run that element 4096 s belongs to, firsts[stretches] = runs - 1.
void find_first_runs(const std::uint64_t* begins, std::uint64_t runs, std::uint64_t stretches,
                     std::uint64_t* firsts, Stream stream);

}  // namespace faro::cuda
