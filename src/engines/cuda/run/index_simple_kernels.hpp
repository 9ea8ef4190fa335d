// The methods that need one pass, ready to be launched: axes, cyclic, window, runs.
//
//     const OnePass pass = make_axes_pass(axes, element_bytes, batch);       // once; loads the kernels
//     pass.launch(in, out, stream);                                          // any number of times
//
// A pass runs all arrays of its batch in one launch (very long batches in a few), allocates nothing, keeps no
// pointer but to tables it owns or was given, and may be launched from many threads and while a stream is
// captured. Arrays that are aligned to 16 bytes get the widest accesses; others, any alignment to the unit,
// a slower kernel. No CUDA header is needed.
//
//     kernel        kernels/…                 one block moves
//     axes plane    axes_plane.hpp            a tile of a transpose, long both ways, rows aligned
//     axes turned   axes_turned.hpp           the same, narrow elements or rows that begin anywhere
//     axes skinny   axes_skinny.hpp           a tile of a transpose of few rows or few columns
//     axes lines    axes_lines.hpp            a tile of any other transpose: wide elements
//     axes          axes_tile.hpp             a tile of any other axes
//     axes rows     axes_rows.hpp             some rows, where the fastest axis stays
//     cyclic        cyclic.hpp                some kilobytes of output
//     window        window.hpp                a tile with its margins, through shared memory
//     runs          runs.hpp                  some kilobytes of output
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/permutation/cyclic.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::cuda {

/// Value type; copies share what was made.
class OnePass {
 public:
  /// Queues the pass. Requires: the device that it was made on is the current one, arrays of it without
  /// overlap, aligned to the unit (the widest power of two up to 16 that divides the element; checked).
  /// Errors: ErrorCode::value for misaligned arrays; ErrorCode::device for a failed launch.
  void launch(const void* in, void* out, Stream stream) const;

  /// Of the kernels for aligned arrays, in the order launched.
  std::vector<KernelResources> resources() const;
  /// Bytes of tables on the device, made for this pass beyond the schedule.
  std::uint64_t table_bytes() const;

  struct State;
  explicit OnePass(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

// All of the following work on the current device. Counts and batches of 0 give a pass that does nothing.
// Errors: ErrorCode::device for failed calls; ErrorCode::unsupported where sizes pass 2^62 bytes.

using faro::detail::AxesVariant;

/// out[axes(x)] = in[x], elements of any width.
OnePass make_axes_pass(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                       const AxesVariant& variant = {});
OnePass make_cyclic_pass(const Cyclic& cyclic, std::uint64_t element_bytes, std::uint64_t batch);

/// `applied` as in IndexSchedule: scatter runs the schedule forwards, gather backwards. The schedule must
/// outlive the pass; only pointers are kept.
OnePass make_window_pass(const DeviceWindow& window, Direction applied, std::uint64_t element_bytes,
                         std::uint64_t batch);
/// Makes tables: runs sorted by where they are written (forwards), and the first run of every 4096 elements:
/// at most 16 bytes a run. `device` is the current one.
OnePass make_runs_pass(const DeviceRuns& runs, Direction applied, std::uint64_t element_bytes,
                       std::uint64_t batch, int device);

/// Tables of runs on a device: sorted by where they are written, which a schedule's are backwards only, and
/// the first run of every stretch of output.
class RunTables {
 public:
  RunTables() = default;
  /// The schedule must outlive this. `device` is the current one. Waits. Errors: ErrorCode::device.
  RunTables(const DeviceRuns& runs, Direction applied, int device);

  /// Begins, froms and firsts.
  std::vector<const void*> bound() const { return {begins_, froms_, firsts_.data()}; }
  std::uint64_t bytes() const { return sorted_.bytes() + sources_.bytes() + firsts_.bytes(); }

 private:
  const std::uint64_t* begins_ = nullptr;
  const std::uint64_t* froms_ = nullptr;
  DeviceBuffer<std::uint64_t> sorted_;   // forwards only: targets in order,
  DeviceBuffer<std::uint64_t> sources_;  // and what goes there
  DeviceBuffer<std::uint64_t> firsts_;
};

}  // namespace faro::cuda
