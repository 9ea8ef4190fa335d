// Rows taken, put and added, by index arrays that need not be permutations.
//
//     std::vector<std::int32_t> from{2, 0, 2, -1};
//     const auto rows = faro::plan_rows(faro::Take{.from = faro::RowNumbers(std::span(from)),
//                                                  .rows = 3,
//                                                  .fill = faro::Fill::zero()},
//                                       {.row_bytes = 8 * sizeof(float)});
//     rows.run(in_bytes, out_bytes);          // out[i] = in[from[i]], and 0 for the last
//
// The entries are the caller's: a plan keeps their address, checks them when it is made, and again, block by
// block, in the sweep that moves the rows, so that entries that were changed meanwhile never lead out of an
// array. Several arrays go by one plan in one call, each with rows of its own width: the columns of a table.
//
// On a GPU the entries lie on the device with the arrays, and are read and checked by each run:
//
//     const auto on_gpu = faro::plan_rows(faro::Take{.from = {device_entries, count, {.bytes = 4}}, …},
//                                         {.row_bytes = 14336}, {.engine = faro::Engine::cuda});
//     on_gpu.run(device_in, device_out, stream);   // queued; may be captured, and replayed with other
//     entries on_gpu.check(stream);                        // waits, and tells of entries that were wrong
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "faro/permutation/take.hpp"
#include "faro/plan/row_plan.hpp"

namespace faro {

namespace cuda {
class RowExecutor;
}  // namespace cuda

namespace detail {
class ReusedRows;
}  // namespace detail

struct RowOptions {
  int threads = 0;  // 0: what OpenMP would use
  /// `automatic`: cuda for entries in a device's memory.
  Engine engine = Engine::automatic;
  int device = cuda::kCurrentDevice;  // of engine cuda
  /// Of engine cuda: the entries stay as they are, and the plan is run many times. Elements of 4 or 8 bytes
  /// are then taken, put and added, by a schedule that is made once, where they are too many for the caches.
  bool reused = false;
  /// Of engine cpu. `meanwhile`: run() tells of a wrong entry when rows may have been written, and elements
  /// that are taken once go without a sweep of their entries.
  EntryCheck check = EntryCheck::before;
};

/// An array that goes by a plan, with rows of another width than the plan's.
struct RowColumn {
  std::span<const std::byte> in;
  std::span<std::byte> out;
  std::uint64_t row_bytes = 1;
};

/// A plan with its engine. Every const member may be called from many threads at once.
class ExecutableRows {
 public:
  /// The arrays, of any alignment, must hold plan().in_bytes() and plan().out_bytes(). Errors:
  /// ErrorCode::value for other sizes, null pointers or arrays that overlap, nothing is written then; and for
  /// entries that were changed since they were planned and are now wrong, when rows may have been written.
  ///
  /// Engine cuda: arrays of the plan's device; queued on `stream`, and nothing waits. An entry that is wrong
  /// leaves its row as it was, and check() tells of it; of Put, entries that are wrong or name one row twice
  /// leave everything as it was. Memory for workspace_bytes() comes from the device's pool in the stream's
  /// order. Errors: also ErrorCode::value for memory that is not the device's, and for a stream for engine
  /// cpu; ErrorCode::device.
  void run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream = {}) const;

  /// The same of several arrays with rows of any widths; of engine cuda in one launch for up to 128 of one
  /// width. Errors: before anything is written, those of RowPlan for each width, of Add also
  /// ErrorCode::value for a width that is no whole number of numbers.
  void run(std::span<const RowColumn> columns, Stream stream = {}) const;

  /// The same of engine cuda, and allocates nothing. Errors: also ErrorCode::value for a workspace of less
  /// than workspace_bytes() or not aligned to 16 bytes, and for engine cpu.
  void run(std::span<const RowColumn> columns, Workspace workspace, Stream stream) const;

  /// The same plan of engine cuda by as many entries of the same type elsewhere, without its schedule. Shares
  /// what was made for this one, and its faults: check() of either tells of both. Errors: ErrorCode::value
  /// for entries that are not the device's or not aligned to an entry; ErrorCode::unsupported for engine cpu.
  /// Cost: a microsecond.
  ExecutableRows with_entries_at(const void* entries) const;

  /// What a run needs beside its arrays: plan().workspace_bytes(), or with a schedule what its steps keep.
  std::uint64_t workspace_bytes() const;
  /// Whether elements go by a schedule.
  bool is_scheduled() const { return reused_ != nullptr; }

  /// Engine cuda: waits for the stream. Errors: ErrorCode::value for entries that runs since the last check()
  /// found wrong, naming the first position of one. Engine cpu: nothing, for run() tells.
  void check(Stream stream = {}) const;

  const RowPlan& plan() const { return plan_; }
  std::string explain() const;

 private:
  ExecutableRows(RowPlan plan, const RowOptions& options);
  friend ExecutableRows plan_rows(const RowMove& move, const RowLayout& layout, const RowOptions& options);
  void run_on_device(std::span<const RowColumn> columns, const std::vector<RowPlan>& plans, void* workspace,
                     Stream stream) const;
  RowPlan plan_;
  std::shared_ptr<const cuda::RowExecutor> on_device_;  // of engine cuda
  std::shared_ptr<const detail::ReusedRows> reused_;    // where a schedule pays
};

/// Errors: those of RowPlan; ErrorCode::value for entries in the memory of another device, or of the host for
/// engine cuda; ErrorCode::device without that engine or device.   Cost: a sweep of the entries; of engine
/// cuda none.
ExecutableRows plan_rows(const RowMove& move, const RowLayout& layout, const RowOptions& options = {});

}  // namespace faro
