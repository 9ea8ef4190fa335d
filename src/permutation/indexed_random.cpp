// Indexed::random: every element draws a bucket, then each bucket is shuffled on its own. That is as uniform
// as one shuffle of the whole (Rao 1961, Sandelius 1962), but the buckets stay in a cache and all threads
// work.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/split_mix.hpp"
#include "index_check.hpp"
#include "io/buffer.hpp"
#include "permutation/random_entries.hpp"

namespace faro {
namespace {

using detail::SplitMix64;

constexpr int kBucketBits = 16;  // a bucket has 2^15 to 2^16 elements on the mean

int bit_width(std::uint64_t x) { return static_cast<int>(std::bit_width(x)); }

// Below `bound`: the high word of a product, whose bias is below bound / 2^64.
std::uint64_t below(std::uint64_t bound, SplitMix64& random) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{random.next()} * bound >> 64);
}

}  // namespace

detail::RandomEntries::RandomEntries(std::uint64_t count, std::uint64_t seed)
    : count_(count),
      seed_(seed),
      bits_(count <= (std::uint64_t{1} << kBucketBits) ? 0 : bit_width(count - 1) - kBucketBits) {}

template <typename Word>
std::vector<Word> detail::RandomEntries::of_buckets(std::uint64_t first, std::uint64_t end) const {
  const std::uint64_t buckets = end - first;
  // For those before `first`, a number that is too large.
  const auto bucket_of = [&](std::uint64_t i) {
    return (bits_ == 0 ? 0 : SplitMix64::at(seed_, i) >> (64 - bits_)) - first;
  };
  // Elements are listed bucket by bucket, ascending within one: each of `parts` stretches counts, then
  // writes.
  const int threads = threads_for(count_);
  const auto parts = static_cast<std::uint64_t>(threads);
  const auto part_begin = [&](std::uint64_t part) {
    return count_ / parts * part + std::min(part, count_ % parts);
  };
  std::vector<std::uint64_t> next(parts * buckets);
  const auto for_each_element = [&](const auto& visit) {
    take_turns_at(parts, threads, 1, [&](std::uint64_t part, std::uint64_t) {
      std::uint64_t* const mine = next.data() + part * buckets;
      const std::uint64_t part_end = part_begin(part + 1);
      for (std::uint64_t i = part_begin(part); i < part_end; ++i) {
        const std::uint64_t bucket = bucket_of(i);
        if (bucket < buckets) visit(i, mine[bucket]);
      }
    });
  };
  for_each_element([](std::uint64_t /*i*/, std::uint64_t& of_bucket) { ++of_bucket; });
  std::vector<std::uint64_t> begin(buckets + 1);
  std::uint64_t sum = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    begin[bucket] = sum;
    for (std::uint64_t part = 0; part < parts; ++part) {
      sum += std::exchange(next[part * buckets + bucket], sum);
    }
  }
  begin[buckets] = sum;
  std::vector<Word> list(sum);
  for_each_element(
      [&](std::uint64_t i, std::uint64_t& of_bucket) { list[of_bucket++] = static_cast<Word>(i); });
  // Each bucket by the method of Fisher and Yates, from the top, with a generator of its own.
  take_turns_at(buckets, threads, 1, [&](std::uint64_t b, std::uint64_t) {
    SplitMix64 random(SplitMix64::at(seed_, count_ + first + b));
    Word* const mine = list.data() + begin[b];
    for (std::uint64_t left = begin[b + 1] - begin[b]; left > 1; --left) {
      std::swap(mine[left - 1], mine[below(left, random)]);
    }
  });
  return list;
}

template std::vector<std::uint32_t> detail::RandomEntries::of_buckets(std::uint64_t, std::uint64_t) const;
template std::vector<std::uint64_t> detail::RandomEntries::of_buckets(std::uint64_t, std::uint64_t) const;

Indexed Indexed::random(std::uint64_t count, std::uint64_t seed) {
  const std::string text = "random(" + std::to_string(count) + ", " + std::to_string(seed) + ")";
  if (count > kMaxCount) {
    fail(ErrorCode::value, "random", std::to_string(count) + " elements", "at most 2^40");
  }
  const bool wide = count > (std::uint64_t{1} << 32);
  detail::require_memory("random", text, count * (wide ? 8 : 4));
  const detail::RandomEntries entries(count, seed);
  const auto all = entries.buckets();
  return wide ? of_valid(entries.of_buckets<std::uint64_t>(0, all), Direction::scatter).labelled(text)
              : of_valid(entries.of_buckets<std::uint32_t>(0, all), Direction::scatter).labelled(text);
}

}  // namespace faro
