// Rows moved on a device by a row plan for engine cuda (faro/plan/row_plan.hpp): entries and arrays lie
// there, everything is queued on a stream, and nothing waits for the host.
//
// What a run finds wrong with the entries is noted on the device, where check() finds it.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/permutation/paged_cache.hpp"
#include "faro/permutation/route.hpp"
#include "faro/plan/row_plan.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// Arrays whose rows have one width, by the plan of that width.
struct RowGroup {
  const RowPlan* plan = nullptr;
  struct Arrays {
    const void* in = nullptr;
    void* out = nullptr;
  };
  std::span<const Arrays> arrays;
};

class RowExecutor {
 public:
  /// Errors: ErrorCode::value for entries that are not the device's or not aligned; ErrorCode::device.
  explicit RowExecutor(const RowPlan& plan);
  RowExecutor(RowExecutor&&) noexcept;
  RowExecutor& operator=(RowExecutor&&) noexcept;
  ~RowExecutor();

  /// Queues all groups, whose plans differ from this one's in the width only. `workspace`: of the plan's
  /// workspace_bytes(), aligned to 16; null: taken from the stream's pool. Requires: sizes, no overlap
  /// (unchecked). Errors: ErrorCode::value for memory that is not the device's, nothing is queued then;
  /// ErrorCode::device for a failed launch.
  void run(std::span<const RowGroup> groups, Stream stream, void* workspace) const;

  /// Checks the entries of plans whose entries lie elsewhere. Errors: ErrorCode::value for entries that are
  /// not the device's or not aligned.
  void require_entries(const void* entries) const;

  /// Waits for the stream. Errors: ErrorCode::value for entries that runs since the last check() found wrong.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The entries of a plan in their own order, for good: items[k] are their positions, of equal ones in order.
/// For Take and Put keys[k] are the entries; for Add begins[r] is where those of row r begin, rows + 1 of
/// them. Numbers of 32 bits.
struct SortedRows {
  std::shared_ptr<const DeviceArray> keys;
  std::shared_ptr<const DeviceArray> begins;
  std::shared_ptr<const DeviceArray> items;
};

/// Sorts them and waits; nothing where some name no row, or there are 2^32 of them. Errors: ErrorCode::value
/// for entries that are wrong, or of Put two of one row; ErrorCode::device for too little memory: four arrays
/// of 32-bit entries.
std::optional<SortedRows> sorted_rows(const RowPlan& plan);

/// For Take, rows of 4 or 8 bytes (checked): writes what is taken, in the order of `sorted`. Queues. Errors:
/// ErrorCode::value for an input that is not the device's or not aligned to an element.
void take_sorted(const RowPlan& plan, const SortedRows& sorted, const void* in, void* taken, Stream stream);

/// For Put, rows of 4 or 8 bytes (checked): writes `values`, which are in the order of `sorted`, where they
/// go. Queues. Errors: likewise, for the output.
void put_sorted(const RowPlan& plan, const SortedRows& sorted, const void* values, void* out, Stream stream);

/// Elements of 4 or 8 bytes taken by a partition whose first pass takes them as it permutes within chunks
/// (rows/reused_steps.hpp).
class TakePasses {
 public:
  /// `sorted`: the plan's entries, of Take. `permutation`: of the positions that they came from, gathered, a
  /// plan of the same device. Nothing where that is no partition of two passes or more, or a chunk's entries
  /// lie too far apart for a block. Waits. Errors: those of making the schedule.
  static std::unique_ptr<const TakePasses> of(const RowPlan& plan, const SortedRows& sorted,
                                              const Plan& permutation);
  ~TakePasses();

  std::uint64_t workspace_bytes() const;
  /// Queues. `workspace`: of workspace_bytes(), aligned to 16. Errors: ErrorCode::value for arrays that are
  /// not the device's, or not aligned to an element.
  void run(const void* in, void* out, void* workspace, Stream stream) const;

 private:
  struct State;
  explicit TakePasses(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

/// For Add, rows of one number of 4 or 8 bytes (checked): adds `values`, which are in the order of `sorted`.
/// Queues. Errors: likewise, for the output.
void add_sorted(const RowPlan& plan, const SortedRows& sorted, const void* values, void* out, Stream stream);

/// Rows that a routing sends; of 0 bytes: none.
struct SentRows {
  std::uint64_t row_bytes = 0;
  const void* in = nullptr;
  void* out = nullptr;
};

/// A routing by keys on the device.
class RouteExecutor {
 public:
  /// Errors: those of faro::route but for the keys; ErrorCode::value for keys that are not the device's or
  /// not aligned; ErrorCode::device.
  RouteExecutor(const RowNumbers& keys, const RouteOptions& options, int device);
  RouteExecutor(RouteExecutor&&) noexcept;
  RouteExecutor& operator=(RouteExecutor&&) noexcept;
  ~RouteExecutor();

  std::uint64_t most_places() const;
  std::uint64_t workspace_bytes() const;

  /// Queues it, with rows that are sent to their places. `workspace`: as RowExecutor::run. Requires: places
  /// and rows in `to` where rows are sent (unchecked). Errors: as there.
  void run(const DeviceRoute& to, const SentRows& sent, Stream stream, void* workspace) const;
  /// Waits for the stream. Errors: ErrorCode::value for keys that runs since the last check() found wrong.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Rows that are sent to their places; places and rows' numbers lie on the device.
class DispatchExecutor {
 public:
  /// Errors: those of faro::dispatch but for the places; ErrorCode::value for places and rows' numbers that
  /// are not the device's or not aligned; ErrorCode::device.
  DispatchExecutor(const Dispatch& of, std::uint64_t row_bytes, int device);
  DispatchExecutor(DispatchExecutor&&) noexcept;
  DispatchExecutor& operator=(DispatchExecutor&&) noexcept;
  ~DispatchExecutor();

  /// Queues it. Requires: sizes, no overlap (unchecked). Errors: as RowExecutor::run.
  void run(const void* in, void* out, Stream stream) const;
  /// Waits for the stream. Errors: ErrorCode::value for places that runs since the last check() found wrong.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Rows that come back from their buckets; places and weights lie on the device.
class CombineExecutor {
 public:
  /// Errors: those of faro::combine but for the places; ErrorCode::value for places and weights that are not
  /// the device's or not aligned; ErrorCode::device.
  CombineExecutor(const Combine& of, std::uint64_t row_bytes, int device);
  CombineExecutor(CombineExecutor&&) noexcept;
  CombineExecutor& operator=(CombineExecutor&&) noexcept;
  ~CombineExecutor();

  /// Queues it. Requires: sizes, no overlap (unchecked). Errors: as RowExecutor::run.
  void run(const void* in, void* out, Stream stream) const;
  /// Waits for the stream. Errors: ErrorCode::value for places that runs since the last check() found wrong.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Blocks of a paged cache moved between arrays that are known; tables and lengths lie on the device.
class CacheExecutor {
 public:
  /// Requires: what detail::require_cache_move() asks for (unchecked). Errors: ErrorCode::value for arrays
  /// that are not the device's or not aligned to a number; ErrorCode::device.
  CacheExecutor(const CacheMove& move, std::span<const CacheArrays> arrays, int device);
  CacheExecutor(CacheExecutor&&) noexcept;
  CacheExecutor& operator=(CacheExecutor&&) noexcept;
  ~CacheExecutor();

  /// What a thread reads at a time.
  std::uint64_t piece_bytes() const;
  /// Queues it, one launch. Requires: what detail::require_cache_tables() asks for, no block of the target
  /// twice (unchecked). Errors: as RowExecutor::run.
  void run(const CacheTables& tables, Stream stream) const;
  /// Waits for the stream. Errors: ErrorCode::value for entries that runs since the last check() found wrong.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Segments that are taken; offsets and numbers lie on the device.
class SegmentsExecutor {
 public:
  /// Errors: those of faro::take_segments but for what the entries say; ErrorCode::value for entries that are
  /// not the device's or not aligned; ErrorCode::device.
  SegmentsExecutor(const Segments& segments, const RowNumbers& from, int device);
  ~SegmentsExecutor();

  std::uint64_t workspace_bytes() const;
  /// Queues what finds out where the segments begin, of an input of so many elements. Errors: as run().
  void offsets(std::uint64_t in_elements, std::int64_t* to, Stream stream) const;
  /// Queues it. `offsets`: where the segments begin, one more than are taken; may be null. `workspace`: as
  /// RowExecutor::run. Requires: no overlap (unchecked). Errors: as there.
  void run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets, Stream stream,
           void* workspace) const;
  /// Waits for the stream. Errors: ErrorCode::value for entries that runs since the last check() found wrong,
  /// and for segments that had no room.
  void check(Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
