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
//     on_gpu.run(device_in, device_out, stream);   // queued; may be captured and replayed
//
//     on_gpu.check(stream);                        // waits, and tells of entries that were wrong
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/engines/cpu_routes.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/route.hpp"
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
  /// For engine cuda: the entries stay as they are, and the plan is run many times. Elements of 4 or 8 bytes
  /// are then taken, put and added, by a schedule that is made once, where they are too many for the caches.
  bool reused = false;
  /// For engine cpu. `meanwhile`: run() tells of a wrong entry when rows may have been written, and elements
  /// that are taken once go without a sweep of their entries.
  EntryCheck check = EntryCheck::before;
};

/// An array that goes by a plan, with rows of any width: a column of a table, a layer's blocks of a cache.
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
  /// ErrorCode::value for a width that is no whole number of numbers; for an output that overlaps another
  /// column's array.
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

// Routes: rows sent to buckets by their keys, and summed up when they come back. On the host route(),
// dispatch() and combine() do it (faro/engines/cpu_routes.hpp).
//
// On a GPU keys, places and weights lie on the device, and change from run to run; nothing waits for the
// host, the workspace has a fixed size, and all of it may be captured in a graph:
//
//     const auto route = faro::plan_route(keys, {.buckets = 256, .keys_per_row = 8, .multiple = 128});
//     route.run({.places = places, .rows = rows}, stream);     // rows: route.most_places() of them
//     dispatch.run(tokens, sent, stream);                      // of plan_dispatch({.places = places, …}, …)
//     combine.run(sent, back, stream);                         // of plan_combine({.places = places, …}, …)

namespace cuda {
class RouteExecutor;
class CombineExecutor;
class DispatchExecutor;
class SegmentsExecutor;
}  // namespace cuda

namespace cpu {
class SegmentMoves;
}  // namespace cpu

/// A routing on a device, for keys that are read by each run. Every const member may be called from many
/// threads at once.
class ExecutableRoute {
 public:
  /// Places that are needed at most, whatever the keys: the size of `inverse` and `rows`.
  std::uint64_t most_places() const;
  std::uint64_t workspace_bytes() const;

  /// Queues it, and nothing waits. A key that is no bucket sends its item nowhere, and check() tells of it.
  /// Memory for workspace_bytes() comes from the device's pool in the stream's order. Errors:
  /// ErrorCode::value for arrays that overlap, are not the device's or not aligned; ErrorCode::device.
  void run(const DeviceRoute& to, Stream stream = {}) const;
  /// The same, and allocates nothing. Errors: also ErrorCode::value for a workspace of less than
  /// workspace_bytes() or not aligned to 16 bytes.
  void run(const DeviceRoute& to, Workspace workspace, Stream stream) const;

  /// The same, and sends rows to their places as ExecutableDispatch does: row i of `in`, of which there are
  /// as many as keys have rows, to its places in `out`, which has most_places() rows; those that no item has
  /// become zeros. Up to 4096 keys to 1024 buckets are one launch, without a workspace. Errors: also
  /// ErrorCode::value for no places or rows in `to`, and arrays of other sizes or such that overlap.
  void run_and_send(const DeviceRoute& to, std::uint64_t row_bytes, std::span<const std::byte> in,
                    std::span<std::byte> out, Stream stream = {}) const;

  /// Waits for the stream. Errors: ErrorCode::value for keys that runs since the last check() found wrong,
  /// naming the first position of one.
  void check(Stream stream = {}) const;

 private:
  ExecutableRoute(const RowNumbers& keys, const RouteOptions& options,
                  std::shared_ptr<const cuda::RouteExecutor> executor);
  friend ExecutableRoute plan_route(const RowNumbers& keys, const RouteOptions& options, int device);
  RowNumbers keys_;
  RouteOptions options_;
  std::shared_ptr<const cuda::RouteExecutor> executor_;
};

/// Errors: those of route() but for the keys; ErrorCode::value for keys that are not the device's or not
/// aligned to a key; ErrorCode::device.
ExecutableRoute plan_route(const RowNumbers& keys, const RouteOptions& options,
                           int device = cuda::kCurrentDevice);

/// Rows sent on a device, by places that are read by each run.
class ExecutableDispatch {
 public:
  /// Queues what dispatch() says, and nothing waits. A place that is wrong is left out, and check() tells of
  /// it; of items with one place any is there in the end. Errors: ErrorCode::value for arrays of other sizes,
  /// that overlap, or are not the device's; ErrorCode::device.
  void run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream = {}) const;

  /// Waits for the stream. Errors: ErrorCode::value for places that runs since the last check() found wrong.
  void check(Stream stream = {}) const;

 private:
  ExecutableDispatch(const Dispatch& of, std::uint64_t row_bytes,
                     std::shared_ptr<const cuda::DispatchExecutor> executor);
  friend ExecutableDispatch plan_dispatch(const Dispatch& of, std::uint64_t row_bytes, int device);
  Dispatch of_;
  std::uint64_t in_bytes_;
  std::uint64_t out_bytes_;
  std::shared_ptr<const cuda::DispatchExecutor> executor_;
};

/// Errors: those of dispatch() but for places and arrays; ErrorCode::value for places and rows' numbers that
/// are not the device's or not aligned; ErrorCode::device.
ExecutableDispatch plan_dispatch(const Dispatch& of, std::uint64_t row_bytes,
                                 int device = cuda::kCurrentDevice);

/// Rows combined on a device, by places and weights that are read by each run.
class ExecutableCombine {
 public:
  /// Queues what combine() says, and nothing waits. A place that is wrong is left out, and check() tells of
  /// it. Errors: ErrorCode::value for arrays of other sizes, that overlap, are not the device's, or not
  /// aligned to a number; ErrorCode::device.
  void run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream = {}) const;

  /// Waits for the stream. Errors: ErrorCode::value for places that runs since the last check() found wrong.
  void check(Stream stream = {}) const;

 private:
  ExecutableCombine(const Combine& of, std::uint64_t row_bytes,
                    std::shared_ptr<const cuda::CombineExecutor> executor);
  friend ExecutableCombine plan_combine(const Combine& of, std::uint64_t row_bytes, int device);
  Combine of_;
  std::uint64_t in_bytes_;
  std::uint64_t out_bytes_;
  std::shared_ptr<const cuda::CombineExecutor> executor_;
};

/// Errors: those of combine() but for places and arrays; ErrorCode::value for places and weights that are not
/// the device's or not aligned; ErrorCode::device.
ExecutableCombine plan_combine(const Combine& of, std::uint64_t row_bytes, int device = cuda::kCurrentDevice);

struct SegmentOptions {
  int threads = 0;  // 0: what OpenMP would use
  /// `automatic`: cuda for offsets in a device's memory.
  Engine engine = Engine::automatic;
  int device = cuda::kCurrentDevice;  // of engine cuda
};

/// Segments taken by one plan.
///
/// Engine cpu: offsets and numbers are read when the plan is made, and not again.
///
/// Engine cuda: they lie on the device and are read by each run: how long the output gets is for the device
/// to find out, and nothing waits for it. A segment that is wrong is taken as an empty one, elements that
/// have no room are left out, and check() tells of both.
class ExecutableSegments {
 public:
  bool on_gpu() const { return on_device_ != nullptr; }
  /// What engine cuda needs beside the arrays; else 0.
  std::uint64_t workspace_bytes() const;

  /// How many elements are taken. Errors: ErrorCode::unsupported for engine cuda, where the host does not
  /// know.
  std::uint64_t elements() const;

  /// Writes where the segments begin in the output, one more than are taken, for an input of so many bytes;
  /// of engine cuda to the device, queued. Errors: ErrorCode::value for an input that is no whole number of
  /// elements or, of engine cpu, shorter than the offsets say; for a null pointer; ErrorCode::device.
  void offsets(std::uint64_t in_bytes, std::int64_t* to, Stream stream = {}) const;

  /// `out` has room for as many elements as there may be; what the segments leave of it stays as it was.
  /// `offsets`: becomes what offsets() writes; may be null. Engine cuda queues it. Errors: ErrorCode::value
  /// for arrays that overlap, are no whole number of elements, or are not in the engine's memory, of engine
  /// cpu also for too short ones, before anything is written; ErrorCode::device.
  void run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets = nullptr,
           Stream stream = {}) const;
  /// The same, and allocates nothing. Errors: also ErrorCode::value for a workspace of less than
  /// workspace_bytes() or not aligned to 16 bytes, and for engine cpu.
  void run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets,
           Workspace workspace, Stream stream) const;

  /// Engine cuda: waits for the stream. Errors: ErrorCode::value for entries that runs since the last check()
  /// found wrong, and for segments that had no room. Engine cpu: nothing, for the plan and run() tell.
  void check(Stream stream = {}) const;

 private:
  ExecutableSegments(const Segments& segments, const RowNumbers& from, const SegmentOptions& options);
  friend ExecutableSegments plan_segments(const Segments& segments, const RowNumbers& from,
                                          const SegmentOptions& options);
  void require(std::span<const std::byte> in, std::span<const std::byte> out, const std::int64_t* offsets,
               Stream stream) const;
  std::uint64_t element_bytes_;
  int threads_;
  RowNumbers offsets_;
  RowNumbers from_;
  std::shared_ptr<const cpu::SegmentMoves> on_host_;         // of engine cpu
  std::shared_ptr<const cuda::SegmentsExecutor> on_device_;  // of engine cuda
};

/// Errors: those of taken_offsets(), of engine cuda but for what the entries say; ErrorCode::value for
/// offsets and numbers that are not in the engine's memory, of engine cuda also for such that are not
/// aligned; ErrorCode::device.   Cost: of engine cpu a sweep of both, and 16 bytes a segment taken.
ExecutableSegments plan_segments(const Segments& segments, const RowNumbers& from,
                                 const SegmentOptions& options = {});

}  // namespace faro
