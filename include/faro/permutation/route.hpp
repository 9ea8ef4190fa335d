// Rows sent to buckets by their keys, and summed up when they come back: tokens to experts, records to
// shards.
//
//     keys      2 0 2 1 0                  of five items, three buckets
//     counts    2 1 2
//     offsets   0 2 3 5                    bucket b has places offsets[b] .. offsets[b + 1] - 1
//     places    3 0 4 2 1                  where each item goes: by bucket, and in order within it
//     inverse   1 4 3 0 2                  the item at each place
//
// With places to a multiple of 2 the offsets are 0 2 4 6, and the inverse is 1 4 3 - 0 2 with -1 for padding.
// With a capacity of 1 the second item of a bucket is dropped: its place is -1.
//
// A row with k keys is k items, one after another. `dispatch` brings rows to their buckets, reading each
// once; so does taking them by `taken_rows` (Take, with a fill for padding), which writes in
// order. `combine` brings them back, each row the sum of its k, with weights, in the order of its keys. All
// is the same for every number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/permutation/take.hpp"

namespace faro {

struct RouteOptions {
  std::uint64_t buckets = 0;
  std::uint64_t keys_per_row = 1;
  /// Each bucket's places are a multiple of this, its last ones without an item.
  std::uint64_t multiple = 1;
  /// Items that a bucket takes, the first ones; others are dropped.
  std::optional<std::uint64_t> capacity = {};
  /// Keys of items that go nowhere, sign-extended; without, -1 of signed keys.
  std::optional<std::uint64_t> marker = {};
  int threads = 0;  // 0: what OpenMP would use
};

struct Route {
  std::vector<std::int64_t> places;   // of each item; -1: it goes nowhere
  std::vector<std::int64_t> inverse;  // of each place; -1: padding
  std::vector<std::int64_t> offsets;  // one more than buckets; the last is the number of places
  std::vector<std::int64_t> counts;   // items that each bucket has
  std::uint64_t dropped = 0;          // items past the capacity
  std::uint64_t absent = 0;           // items that the keys send nowhere
  std::uint64_t keys_per_row = 1;

  /// The row at each place, inverse / keys_per_row, -1 for padding: what Take is given.
  std::vector<std::int64_t> taken_rows() const;
};

/// Arrays of a device that a routing there fills; null ones are not wanted.
struct DeviceRoute {
  std::int64_t* places = nullptr;   // [keys]
  std::int64_t* inverse = nullptr;  // [most_places()]: -1 for padding, and behind the last place
  std::int64_t* rows = nullptr;     // [most_places()]: inverse / keys_per_row, what Take is given
  std::int64_t* offsets = nullptr;  // [buckets + 1]
  std::int64_t* counts = nullptr;   // [buckets]
};

struct Dispatch {
  RowNumbers places = {};          // of each item, as Route has them; each of one item
  std::uint64_t rows = 0;          // of the output
  std::uint64_t keys_per_row = 1;  // items of a row of the input
  /// The item of each row of the output, as Route::taken_rows() and DeviceRoute::rows: where it is absent the
  /// row becomes zeros. None: rows without an item stay as they are.
  RowNumbers taken = {};
};

struct Combine {
  RowNumbers places = {};          // of each item, as Route has them
  std::uint64_t rows = 0;          // of the input
  std::uint64_t keys_per_row = 1;  // items of a row of the output
  /// The weight of each item; empty: all 1.
  std::span<const float> weights = {};
  Number number = Number::f32;  // f16, bf16, f32 or f64
  Sums sums = Sums::usual;      // usual, fp32 or fp64
};

/// Segments of any lengths: segment s has elements offsets[s] .. offsets[s + 1] - 1.
struct Segments {
  RowNumbers offsets = {};
  std::uint64_t element_bytes = 1;
};

}  // namespace faro
