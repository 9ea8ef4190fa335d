// Views with arithmetic on a device (kernels/value_box.hpp): the boxes of a plan, their tables on the device
// and the kernel, compiled with the library or by NVRTC.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "faro/engines/cuda.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/stream.hpp"
#include "kernels/value_arrays.hpp"
#include "plan/gpu/value_boxes.hpp"
#include "plan/gpu/value_tiles.hpp"
#include "plan/row_values.hpp"
#include "plan/value_plan.hpp"

namespace faro::cuda {

/// Boxes of one array in a group (kernels/group_values.hpp).
struct GroupedValues {
  std::string kind;             // of the kernel, which arrays of one share
  kernels::ValueArrays arrays;  // without addresses; the executor's as long as it lives
  std::uint64_t boxes = 0;
  std::uint64_t shared_bytes = 0;  // of a block, with what groups keep there
};

/// Cheap to move; run() may be called by many threads at once.
class ValueExecutor {
 public:
  /// Errors: ErrorCode::device without such a device, and where the kernel must be compiled and NVRTC is not
  /// found. Cost: milliseconds, and up to a second where a kernel is compiled that is not kept yet.
  ValueExecutor(const faro::detail::ValuePlan& plan, int device);
  ValueExecutor(ValueExecutor&&) noexcept;
  ValueExecutor& operator=(ValueExecutor&&) noexcept;
  ~ValueExecutor();

  /// Queues it. Arrays are the device's or managed, aligned to their numbers; `addend` where the plan has
  /// one. Errors: ErrorCode::value for other memory or alignments; ErrorCode::device.
  /// Factors begin `first` further on.
  void run(const void* in, const void* addend, void* out, Stream stream,
           const faro::detail::ValueStrides& first = {}) const;

  /// For arrays that are aligned so. Requires: no addend, at least a number. Errors: as the constructor's.
  GroupedValues grouped(const faro::detail::ValueAlignment& alignment) const;
  /// The kernel of groups, compiled or found where it is kept. Errors: as the constructor's.
  RuntimeKernel group_kernel(const faro::detail::ValueAlignment& alignment) const;

  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An affine map's tiles with arithmetic, in one sweep; its kernel is compiled by NVRTC. As ValueExecutor.
class ValueTileExecutor {
 public:
  ValueTileExecutor(const faro::detail::ValueTilePlan& plan, int device);
  ValueTileExecutor(ValueTileExecutor&&) noexcept;
  ValueTileExecutor& operator=(ValueTileExecutor&&) noexcept;
  ~ValueTileExecutor();

  void run(const void* in, const void* addend, void* out, Stream stream) const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The passes of an index array, a multiplication or a computed map, of which one changes numbers: the first
/// as it reads them, or the last as it writes them. Its kernels are compiled by NVRTC. As ValueExecutor.
class ValuePassExecutor {
 public:
  /// Whether these passes can.
  static bool takes(const Plan& plan, bool rounds_first);
  /// `plan`: of elements of the narrower type where `rounds_first`, else of the input's. Requires: takes().
  /// Errors: also those of Executor.
  ValuePassExecutor(const Plan& plan, const schedule::IndexSchedule* made, const Arithmetic& arithmetic,
                    bool rounds_first);
  ValuePassExecutor(ValuePassExecutor&&) noexcept;
  ValuePassExecutor& operator=(ValuePassExecutor&&) noexcept;
  ~ValuePassExecutor();

  void run(const void* in, const void* addend, void* out, Stream stream) const;
  std::uint64_t moved_bytes() const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Rows that are taken or put with arithmetic, in one sweep: those of rows and numbers alike (cuda_rows.hpp).
class RowValueExecutor {
 public:
  /// Errors: as ValueExecutor; ErrorCode::value for entries that are not the device's or not aligned.
  explicit RowValueExecutor(const faro::detail::RowValues& plan);
  RowValueExecutor(RowValueExecutor&&) noexcept;
  RowValueExecutor& operator=(RowValueExecutor&&) noexcept;
  ~RowValueExecutor();

  /// By as many entries as the plan's, there or elsewhere. Queues it. Errors: as ValueExecutor::run(), and
  /// the constructor's of the entries.
  void run(const void* entries, const void* in, const void* addend, void* out, Stream stream) const;
  /// Waits for the stream. Errors: ErrorCode::value for entries that runs since the last check() found wrong.
  void check(Stream stream) const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Rows of several numbers that are added with arithmetic: changed as their sums fetch them, by a kernel that
/// NVRTC compiles. As RowValueExecutor.
class AddedRowExecutor {
 public:
  static bool takes(const faro::detail::RowValues& plan);
  /// Requires: takes(plan).
  explicit AddedRowExecutor(const faro::detail::RowValues& plan);
  AddedRowExecutor(AddedRowExecutor&&) noexcept;
  AddedRowExecutor& operator=(AddedRowExecutor&&) noexcept;
  ~AddedRowExecutor();

  void run(const void* entries, const void* in, void* out, Stream stream) const;
  void check(Stream stream) const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct HostValues {
  const std::byte* in;
  const std::byte* addend;
  std::byte* out;
};

/// A plan whose arrays are the host's, by the device in pieces (plan/value_pieces.hpp). Requires: arrays as
/// cpu::ValueSweep takes them.   Errors: ErrorCode::unsupported where no piece fits options.device_bytes;
/// those of ValueExecutor; ErrorCode::device, which says how much of `out` is written.   Cost: pins three
/// pieces; each number crosses the bus once.
void run_staged_values(const faro::detail::ValuePlan& plan, const HostValues& arrays,
                       const StagingOptions& options, int device);

}  // namespace faro::cuda
