// Paged caches moved on a device (engines/cuda_rows.hpp).
#include <string>
#include <vector>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/rows/cache_queue.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/run/row_checks.hpp"

namespace faro::cuda {
namespace {

std::vector<kernels::CachePair> pairs_of(std::span<const CacheArrays> arrays) {
  std::vector<kernels::CachePair> pairs;
  for (const CacheArrays& each : arrays) {
    pairs.push_back({.in = static_cast<const std::byte*>(each.in),
                     .out = static_cast<std::byte*>(each.out),
                     .in_scale = each.in_scale,
                     .out_scale = each.out_scale});
  }
  return pairs;
}

void require_cache_arrays(const CacheMove& move, std::span<const CacheArrays> arrays, int device) {
  constexpr const char* operation = faro::detail::kMovingCache;
  for (const CacheArrays& each : arrays) {
    if (move.from.blocks > 0) require_accessible(each.in, "source", device);
    if (move.to.blocks > 0) require_accessible(each.out, "target", device);
    require_aligned(address(each.in), bytes_of(move.from.number), {.operation = operation, .what = "source"});
    require_aligned(address(each.out), bytes_of(move.to.number), {.operation = operation, .what = "target"});
  }
}

}  // namespace

struct CacheExecutor::State {
  int device;
  CacheMove move;
  DeviceBuffer<kernels::CachePair> pairs;
  DeviceFaults table_faults;
  DeviceFaults length_faults;
  CacheWork work;

  State(const CacheMove& of, std::span<const CacheArrays> arrays, int ordinal)
      : device(ordinal),
        move(of),
        pairs(DeviceBuffer<kernels::CachePair>::of(pairs_of(arrays), ordinal)),
        table_faults(ordinal, faro::detail::kMovingCache),
        length_faults(ordinal, faro::detail::kMovingCache) {
    move.from = faro::detail::whole_layout(of.from, of.of);
    move.to = faro::detail::whole_layout(of.to, of.of);
    require_cache_arrays(move, arrays, device);
    const bool converts = faro::detail::is_converted(move, arrays);
    work = {.move = move,
            .pairs = pairs.data(),
            .arrays = pairs.size(),
            .converts = converts,
            .piece_numbers = cache_piece_numbers(move, arrays, converts),
            .table_faults = table_faults.data(),
            .length_faults = length_faults.data()};
  }
};

CacheExecutor::CacheExecutor(const CacheMove& move, std::span<const CacheArrays> arrays, int device) {
  require_available();
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  state_ = std::make_unique<State>(move, arrays, ordinal);
}

CacheExecutor::CacheExecutor(CacheExecutor&&) noexcept = default;
CacheExecutor& CacheExecutor::operator=(CacheExecutor&&) noexcept = default;
CacheExecutor::~CacheExecutor() = default;

std::uint64_t CacheExecutor::piece_bytes() const {
  return state_->work.piece_numbers * bytes_of(state_->move.from.number);
}

void CacheExecutor::run(const CacheTables& tables, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  require_device_entries(tables.from, faro::detail::kMovingCache, "the source's table", state.device);
  require_device_entries(tables.to, faro::detail::kMovingCache, "the target's table", state.device);
  require_device_entries(tables.lengths, faro::detail::kMovingCache, "numbers of tokens", state.device);
  RowStream queue(stream, faro::detail::kMovingCache);
  move_cache(queue, state.work, tables);
}

void CacheExecutor::check(Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  const kernels::RowFaults lengths = state.length_faults.take(stream);
  kernels::RowFaults tables = state.table_faults.take(stream);
  if (lengths.out_of_range != kernels::kNoFault) {
    fail(ErrorCode::value, faro::detail::kMovingCache,
         "a wrong number of tokens, of sequence " + std::to_string(lengths.out_of_range),
         "at most as many as the run was for", "the sequence was left out");
  }
  require_in_range(faro::detail::kMovingCache, "an entry of the source's table that is no block", tables,
                   state.move.from.blocks);
  tables.out_of_range = tables.twice;
  require_in_range(faro::detail::kMovingCache, "an entry of the target's table that is no block", tables,
                   state.move.to.blocks);
}

}  // namespace faro::cuda
