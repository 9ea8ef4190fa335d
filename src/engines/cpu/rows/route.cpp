// A stable counting partition by key: counts of each thread's share, sums over buckets and shares, places.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "engines/cpu/team.hpp"
#include "faro/engines/cpu_routes.hpp"
#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "permutation/index_rows.hpp"
#include "permutation/route_checks.hpp"
#include "rounding.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kRouteBlock = 1024;

// Calls use(position, bucket) for each key of a share, kNoRow for one that goes nowhere. Returns whether all
// are buckets that there are.
template <typename Use>
bool for_each_key(const detail::RowReader& reader, std::uint64_t begin, std::uint64_t end, const Use& use) {
  std::uint64_t buckets[kRouteBlock];
  bool fine = true;
  for (std::uint64_t at = begin; at < end; at += kRouteBlock) {
    const std::uint64_t size = std::min(kRouteBlock, end - at);
    fine = reader.read(at, size, buckets) && fine;
    for (std::uint64_t i = 0; i < size; ++i) use(at + i, buckets[i]);
  }
  return fine;
}

[[noreturn]] void fail_key(const detail::RowReader& reader, const RowMove& keys) {
  const std::uint64_t buckets = numbered_rows(keys);
  const auto marker = absent_marker(keys);
  std::uint64_t i = 0;
  while (reader.entry(i) == marker || reader.entry(i) < buckets) ++i;
  const std::uint64_t key = reader.entry(i);
  const bool is_signed = row_numbers(keys).type.is_signed;
  fail(ErrorCode::value, "route",
       "key " + (is_signed ? std::to_string(static_cast<std::int64_t>(key)) : std::to_string(key)) +
           " at position " + std::to_string(i),
       "keys from 0 to " + std::to_string(buckets - 1));
}

// Where each bucket begins, and how many places there are.
void set_offsets(Route& made, const RouteOptions& options) {
  std::uint64_t sum = 0;
  for (std::uint64_t bucket = 0; bucket < options.buckets; ++bucket) {
    made.offsets[bucket] = static_cast<std::int64_t>(sum);
    sum += detail::round_up(static_cast<std::uint64_t>(made.counts[bucket]), options.multiple);
    if (sum > detail::kMostPlaces)
      fail(ErrorCode::value, "route", "more than 2^40 places", "a smaller multiple, or fewer buckets");
  }
  made.offsets[options.buckets] = static_cast<std::int64_t>(sum);
  detail::require_memory("route", std::to_string(sum) + " places", sum * sizeof(std::int64_t));
  made.inverse.assign(sum, -1);
}

}  // namespace

Route route(const RowNumbers& keys, const RouteOptions& options) {
  detail::require_route(keys, options);
  const RowMove as_move = Add{.to = keys, .rows = options.buckets, .marker = options.marker};
  const detail::RowReader reader(as_move);
  const std::uint64_t buckets = options.buckets;
  // As many shares as there are threads, but not more counts than keys.
  constexpr std::uint64_t kShareKeys = 1 << 14;
  const auto most = static_cast<std::uint64_t>(detail::thread_count(options.threads));
  const std::uint64_t shares =
      std::max<std::uint64_t>(std::min({most, keys.count / kShareKeys, keys.count / buckets}), 1);
  detail::require_memory("route",
                         std::to_string(keys.count) + " keys and " + std::to_string(buckets) + " buckets",
                         (keys.count + (shares + 2) * buckets) * sizeof(std::int64_t));
  Route made;
  made.keys_per_row = options.keys_per_row;
  made.places.resize(keys.count);
  made.offsets.resize(buckets + 1);
  made.counts.resize(buckets);
  std::vector<std::uint64_t> ranks(shares * buckets);  // of the next item, by share and bucket
  const auto begin_of = [&](std::uint64_t share) {
    return keys.count / shares * share + std::min(share, keys.count % shares);
  };
  std::atomic<bool> wrong{false};
  cpu::share_out(shares, static_cast<int>(shares), [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t share = first; share < last; ++share) {
      std::uint64_t* const count = ranks.data() + share * buckets;
      const bool fine = for_each_key(reader, begin_of(share), begin_of(share + 1),
                                     [&](std::uint64_t, std::uint64_t bucket) {
                                       if (bucket != detail::kNoRow) ++count[bucket];
                                     });
      if (!fine) wrong.store(true);
    }
  });
  if (wrong.load()) fail_key(reader, as_move);
  const std::uint64_t capacity = options.capacity.value_or(~std::uint64_t{0});
  std::uint64_t present = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    std::uint64_t items = 0;
    for (std::uint64_t share = 0; share < shares; ++share) {
      std::uint64_t& rank = ranks[share * buckets + bucket];
      const std::uint64_t count = rank;
      rank = items;
      items += count;
    }
    made.counts[bucket] = static_cast<std::int64_t>(std::min(items, capacity));
    made.dropped += items - std::min(items, capacity);
    present += items;
  }
  made.absent = keys.count - present;
  set_offsets(made, options);
  cpu::share_out(shares, static_cast<int>(shares), [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t share = first; share < last; ++share) {
      std::uint64_t* const next = ranks.data() + share * buckets;
      for_each_key(reader, begin_of(share), begin_of(share + 1),
                   [&](std::uint64_t item, std::uint64_t bucket) {
                     std::int64_t& place = made.places[item];
                     place = -1;
                     if (bucket == detail::kNoRow) return;
                     const std::uint64_t rank = next[bucket]++;
                     if (rank >= capacity) return;
                     place = made.offsets[bucket] + static_cast<std::int64_t>(rank);
                     made.inverse[static_cast<std::uint64_t>(place)] = static_cast<std::int64_t>(item);
                   });
    }
  });
  return made;
}

}  // namespace faro
