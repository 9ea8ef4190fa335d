// A stable counting partition of contributions by bucket: each thread counts its share, the counts are summed
// in the order of buckets and threads, and each thread places its share.
#include <bit>
#include <cstring>

#include "engines/cpu/rows/row_work.hpp"
#include "rounding.hpp"

namespace faro::cpu {

PartedRows::PartedRows(const RowWork& work)
    : work_(work),
      narrow_(work.row_bytes <= sizeof(std::uint64_t)),
      bucket_bits_(std::countr_zero(work.plan.bucket_rows())),
      buckets_(detail::ceil_div(work.rows, work.plan.bucket_rows())),
      begins_(buckets_ + 1),
      next_(static_cast<std::size_t>(work.threads) * buckets_),
      rows_(std::min(work.count, work.plan.wave_rows())),
      what_(rows_.size()) {}

template <typename Narrow>
void PartedRows::place(Narrow narrow, std::uint64_t first, std::uint64_t last, std::uint64_t* next) {
  EntryBlocks blocks(work_);
  const auto in_bucket = static_cast<std::uint32_t>(work_.plan.bucket_rows() - 1);
  const std::byte* const in = work_.in + array_ * work_.count * work_.row_bytes;
  for (std::uint64_t at = first; at < last;) {
    const EntryBlocks::Block block = blocks.read(at, last);
    for (std::uint64_t i = 0; i < block.size; ++i) {
      if (block.rows[i] == kNoRow) continue;
      const std::uint64_t to = next[block.rows[i] >> bucket_bits_]++;
      rows_[to] = static_cast<std::uint32_t>(block.rows[i]) & in_bucket;
      if constexpr (narrow()) {
        std::memcpy(&what_[to], in + (at + i) * work_.row_bytes, work_.row_bytes);
      } else {
        what_[to] = at + i;
      }
    }
    at += block.size;
  }
}

void PartedRows::part(std::uint64_t array, std::uint64_t first, std::uint64_t last) {
  array_ = array;
  std::fill(next_.begin(), next_.end(), 0);
  const int threads = work_.threads;
  const auto shares = static_cast<std::uint64_t>(threads);
  const auto share_begin = [&](std::uint64_t share) { return first + (last - first) * share / shares; };
  const auto for_each_share = [&](const auto& body) {
    share_out(shares, threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t share = begin; share < end; ++share)
        body(share_begin(share), share_begin(share + 1), next_.data() + share * buckets_);
    });
  };
  for_each_share([&](std::uint64_t begin, std::uint64_t end, std::uint64_t* next) {
    EntryBlocks blocks(work_);
    for (std::uint64_t at = begin; at < end;) {
      const EntryBlocks::Block block = blocks.read(at, end);
      for (std::uint64_t i = 0; i < block.size; ++i)
        if (block.rows[i] != kNoRow) ++next[block.rows[i] >> bucket_bits_];
      at += block.size;
    }
  });
  std::uint64_t sum = 0;
  for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    begins_[bucket] = sum;
    for (std::uint64_t share = 0; share < shares; ++share) {
      std::uint64_t& next = next_[share * buckets_ + bucket];
      const std::uint64_t size = next;
      next = sum;
      sum += size;
    }
  }
  begins_[buckets_] = sum;
  for_each_share([&](std::uint64_t begin, std::uint64_t end, std::uint64_t* next) {
    if (narrow_) {
      place(std::true_type{}, begin, end, next);
    } else {
      place(std::false_type{}, begin, end, next);
    }
  });
}

}  // namespace faro::cpu
