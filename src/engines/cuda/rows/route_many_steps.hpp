// The last steps of a routing with more buckets than a block can count. The items are in the order of their
// keys then (partition_queue.hpp: sort_items), so that a bucket's are side by side:
//
//     keys of 2 0 9 0     sorted     0 0 2 9     items 1 3 0 2
//     begins              0 2 2 3 3 …            the first position with a key of at least the bucket's
//     sizes, padded       2 0 2 0 …              to a multiple of 2; summed up they are the offsets
//     places              items 1 and 3 to 0 and 1, item 0 to 2
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/rows/partition_rows_steps.hpp"
#include "faro/device/division.hpp"

namespace faro::cuda {

/// begins[b]: how many of the sorted keys are below b, for b = 0 .. buckets.   Cost: log2(count) reads each,
/// which neighbours share.
template <typename Word>
struct BeginKeys : PlainKernel<> {
  const Word* keys = nullptr;
  std::uint64_t count = 0;
  const std::uint64_t* present = nullptr;  // unless null: how many there are
  std::uint64_t buckets = 0;
  Word* begins = nullptr;  // [buckets + 1]

  constexpr std::uint64_t blocks() const { return blocks_of(buckets + 1); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t bucket = thread_of(block);
    if (bucket > buckets) return;
    std::uint64_t low = 0;
    std::uint64_t high = present == nullptr ? count : *present;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (keys[middle] < bucket) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    begins[bucket] = static_cast<Word>(low);
  }
};

/// Places of each bucket; behind the last one 0, so that its sum is that of all.
template <typename Word>
struct SizeBuckets : PlainKernel<> {
  const Word* begins = nullptr;
  std::uint64_t buckets = 0;
  BucketRule rule;
  std::uint64_t* sizes = nullptr;  // [buckets + 1]
  std::int64_t* counts = nullptr;  // [buckets], unless null

  constexpr std::uint64_t blocks() const { return blocks_of(buckets + 1); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t bucket = thread_of(block);
    if (bucket > buckets) return;
    const std::uint64_t items = bucket < buckets ? begins[bucket + 1] - begins[bucket] : 0;
    sizes[bucket] = rule.places(items);
    if (counts != nullptr && bucket < buckets) counts[bucket] = static_cast<std::int64_t>(rule.kept(items));
  }
};

/// Places of items, items and rows of places, and the offsets. What no item has is -1 already.
template <typename Word>
struct PlaceSorted : PlainKernel<> {
  const Word* keys = nullptr;
  const Word* items = nullptr;
  std::uint64_t count = 0;
  const std::uint64_t* present = nullptr;
  std::uint64_t buckets = 0;
  const Word* begins = nullptr;
  const std::uint64_t* starts = nullptr;  // [buckets + 1]: of buckets, in places
  BucketRule rule;
  device::Division64 keys_per_row;
  std::int64_t* places = nullptr;   // [count], unless null
  std::int64_t* inverse = nullptr;  // unless null
  std::int64_t* rows = nullptr;     // unless null
  std::int64_t* offsets = nullptr;  // [buckets + 1], unless null

  constexpr std::uint64_t threads() const { return count > buckets ? count : buckets + 1; }
  constexpr std::uint64_t blocks() const { return blocks_of(threads()); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t i = thread_of(block);
    if (offsets != nullptr && i <= buckets) offsets[i] = static_cast<std::int64_t>(starts[i]);
    if (i >= *present) return;
    const std::uint64_t bucket = keys[i];
    const std::uint64_t rank = i - begins[bucket];
    if (rank >= rule.capacity) return;
    const std::uint64_t item = items[i];
    const std::uint64_t place = starts[bucket] + rank;
    if (places != nullptr) places[item] = static_cast<std::int64_t>(place);
    if (inverse != nullptr) inverse[place] = static_cast<std::int64_t>(item);
    if (rows != nullptr) rows[place] = static_cast<std::int64_t>(keys_per_row.quotient(item));
  }
};

}  // namespace faro::cuda
