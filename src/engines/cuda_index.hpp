// The CUDA engine for permutations that are not affine: index arrays, axes, rolls and flips; and the work on
// index arrays that live on a device: checked, recognised, scheduled, inverted, composed there.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
// docs/notes/index-experiments.md tells what it costs and what was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/recognise.hpp"
#include "faro/plan/index_calibration.hpp"
#include "faro/plan/index_plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// Index array `indices` of a device's memory as a permutation; nothing is copied, so it must live as long as
/// any copy of the result, and plan only while no work on it is pending. Checked for being a permutation when
/// it is planned, or by validate(). Errors: ErrorCode::value for memory that is not the device's (naming
/// where it is) or misaligned entries.
Indexed indexed_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                          int device = kCurrentDevice);
/// A copy on the device, of an array of the host; an array that is there already is returned as it is.
Indexed to_device(const Indexed& indexed, int device = kCurrentDevice);
/// A copy on the host, checked as Indexed's constructors do.
Indexed to_host(const Indexed& indexed);

/// All of the following take arrays on a device and do their work there. Errors: ErrorCode::value for an
/// array of the host; ErrorCode::device for failed calls and too little memory, saying how much is needed.

/// Errors: ErrorCode::value as Indexed's constructors say it, the first offending positions named.
/// Cost: one sweep; where it fails, a few more.
void validate(const Indexed& indexed);
Recognition recognise(const Indexed& indexed, const RecogniseLimits& limits = {});
/// The same permutation by the other direction's array.   Cost: a random store an element.
Indexed redirected(const Indexed& indexed, Direction direction);
/// a o b, as a scatter array on a's device. Errors: ErrorCode::value for other counts or devices.
Indexed compose(const Indexed& a, const Indexed& b);
/// The permutation drawn from `seed` of Indexed::random is a host's; this one is drawn on the device, is a
/// scatter, and is for tests and benchmarks: a Feistel network with cycle walking.
Indexed random_on_device(std::uint64_t count, std::uint64_t seed, int device = kCurrentDevice);

/// A plan made ready on its target's device: schedule made there, kernels loaded.
class IndexExecutor {
 public:
  /// Requires: a plan whose target is this engine (checked). The index array may be on the host, then it is
  /// sent; where it is no permutation, that is found here. Errors: ErrorCode::value for that and for another
  /// device's array; ErrorCode::device, saying what the schedule needs, where memory is too small.
  /// Cost: 20 ms at 2^30 elements, and what it takes to send the array.
  explicit IndexExecutor(const IndexPlan& plan);
  /// With a schedule that was made before. Errors: ErrorCode::value where its count is not the plan's.
  IndexExecutor(const IndexPlan& plan, const schedule::IndexSchedule& schedule);
  IndexExecutor(IndexExecutor&&) noexcept;
  IndexExecutor& operator=(IndexExecutor&&) noexcept;
  ~IndexExecutor();

  /// Queues the plan on `stream` and returns, all arrays of the batch. May be called from many threads and
  /// for many streams at once, each with a workspace of its own, and while a stream is captured. `workspace`:
  /// workspace_bytes() of the device, aligned to 16; null: taken from the device's pool and returned to it in
  /// the stream's order. Requires: arrays of the device of plan.array_bytes(), aligned to the unit (checked),
  /// without overlap (unchecked). Errors: as Executor::run.
  void run(const void* in, void* out, void* workspace = nullptr, Stream stream = {}) const;

  std::uint64_t workspace_bytes() const;

  /// The schedule, fetched to the host: for saving. Errors: ErrorCode::unsupported for axes and cyclic.
  schedule::IndexSchedule schedule() const;
  std::uint64_t schedule_bytes() const;

  /// Of the kernels of a run.
  std::vector<KernelResources> resources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The schedule of a partition made on the device, timed there: for tests and benchmarks.
struct SchedulingTimes {
  double milliseconds = 0;    // of the whole
  std::vector<double> steps;  // histogram, scan, partition, … of each level
};

/// Measures the device's curves. `quick`: fewer sizes and widths.   Cost: some seconds; memory as needed, all
/// returned. Errors: ErrorCode::device.
IndexCalibration tune(int device = kCurrentDevice, bool quick = false);

}  // namespace faro::cuda
