// Rows added up. Each element's sum takes the input's rows in their order, whatever the way and the threads:
// a thread owns whole arrays, a part of every row, a range of the output's rows, or a bucket of them.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>

#include "engines/cpu/rows/row_work.hpp"
#include "faro/error.hpp"
#include "kernels/row_numbers.hpp"

namespace faro::cpu {
namespace {

using kernels::BrainHalf;
using kernels::CompensatedSum;
using kernels::Half;
using kernels::OwnSum;
using kernels::WideSum;

// The sums of one array, `elements` a row: in the output where they are of its type, else beside it.
template <typename Sum>
class RowSums {
 public:
  using Stored = typename Sum::Stored;

  explicit RowSums(const RowWork& work) : elements_(work.row_bytes / sizeof(Stored)), rows_(work.rows) {
    if constexpr (!Sum::kInPlace) beside_ = std::make_unique<Sum[]>(rows_ * elements_);
  }

  std::uint64_t elements() const { return elements_; }

  // Loads elements begin .. end - 1 of all rows together.
  void load(const std::byte* out, std::uint64_t begin, std::uint64_t end) {
    if constexpr (!Sum::kInPlace) {
      for (std::uint64_t i = begin; i < end; ++i) beside_[i].start(stored(out, i));
    }
  }
  // Rows to which nothing was added keep their bytes, those of a NaN as well.
  void store(std::byte* out, std::uint64_t begin, std::uint64_t end) const {
    if constexpr (!Sum::kInPlace) {
      for (std::uint64_t i = begin; i < end; ++i) {
        Sum begun;
        begun.start(stored(out, i));
        using Bytes = std::array<std::byte, sizeof(Sum)>;
        if (std::bit_cast<Bytes>(begun) == std::bit_cast<Bytes>(beside_[i])) continue;
        const Stored result = beside_[i].result();
        std::memcpy(out + i * sizeof(Stored), &result, sizeof(Stored));
      }
    }
  }

  // Elements begin .. end - 1 of a row of the input.
  void add(std::byte* out, std::uint64_t row, const std::byte* in, std::uint64_t begin, std::uint64_t end) {
    if constexpr (Sum::kInPlace) {
      std::byte* const to = out + row * elements_ * sizeof(Stored);
      for (std::uint64_t i = begin; i < end; ++i) {
        Sum sum;
        sum.start(stored(to, i));
        sum.add(stored(in, i));
        std::memcpy(to + i * sizeof(Stored), &sum.sum, sizeof(Stored));
      }
    } else {
      Sum* const to = beside_.get() + row * elements_;
      for (std::uint64_t i = begin; i < end; ++i) to[i].add(stored(in, i));
    }
  }

  void fetch(const std::byte* out, std::uint64_t row) const {
    if constexpr (Sum::kInPlace) {
      __builtin_prefetch(out + row * elements_ * sizeof(Stored), 1, 2);
    } else {
      __builtin_prefetch(beside_.get() + row * elements_, 1, 2);
    }
  }

 private:
  static Stored stored(const std::byte* from, std::uint64_t i) {
    Stored x;
    std::memcpy(&x, from + i * sizeof(Stored), sizeof(Stored));
    return x;
  }

  std::uint64_t elements_;
  std::uint64_t rows_;
  std::unique_ptr<Sum[]> beside_;
};

// Elements begin .. end - 1 of every row of one array, in order.
template <typename Sum>
void add_in_order(const RowWork& work, std::uint64_t array, RowSums<Sum>& sums, std::uint64_t begin,
                  std::uint64_t end) {
  EntryBlocks blocks(work);
  const std::uint64_t ahead = elements_ahead(work.row_bytes);
  const std::byte* in = work.in + array * work.count * work.row_bytes;
  std::byte* const out = work.out + array * work.rows * work.row_bytes;
  for (std::uint64_t at = 0; at < work.count;) {
    const EntryBlocks::Block block = blocks.read(at, work.count);
    for (std::uint64_t i = 0; i < block.size; ++i, in += work.row_bytes) {
      if (i + ahead < block.size + block.ahead) {
        const std::uint64_t row = block.rows[i + ahead];
        sums.fetch(out, row == kNoRow ? 0 : row);
      }
      if (block.rows[i] != kNoRow) sums.add(out, block.rows[i], in, begin, end);
    }
    at += block.size;
  }
}

template <typename Sum>
void add_arrays(const RowWork& work) {
  const int threads = work.outer < 2 ? 1 : work.threads_for(work.plan.in_bytes());
  share_out(work.outer, threads, [&](std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    RowSums<Sum> sums(work);
    const std::uint64_t elements = work.rows * sums.elements();
    for (std::uint64_t array = begin; array < end; ++array) {
      std::byte* const out = work.out + array * work.rows * work.row_bytes;
      sums.load(out, 0, elements);
      add_in_order(work, array, sums, 0, sums.elements());
      sums.store(out, 0, elements);
    }
  });
}

template <typename Sum>
void add_columns(const RowWork& work) {
  RowSums<Sum> sums(work);
  const std::uint64_t elements = sums.elements();
  for (std::uint64_t array = 0; array < work.outer; ++array) {
    std::byte* const out = work.out + array * work.rows * work.row_bytes;
    // Parts of whole lines, so that two threads never write to one but at its ends.
    const std::uint64_t unit = kLineBytes / sizeof(typename Sum::Stored);
    share_out((elements + unit - 1) / unit, work.threads, [&](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t begin = first * unit;
      const std::uint64_t end = std::min(last * unit, elements);
      for (std::uint64_t row = 0; row < work.rows; ++row)
        sums.load(out, row * elements + begin, row * elements + end);
      add_in_order(work, array, sums, begin, end);
      for (std::uint64_t row = 0; row < work.rows; ++row)
        sums.store(out, row * elements + begin, row * elements + end);
    });
  }
}

// Rows begin .. end - 1 of the output: of each block of entries those that go there, in their order.
template <typename Sum>
void add_range(const RowWork& work, std::uint64_t array, RowSums<Sum>& sums, std::uint64_t begin,
               std::uint64_t end) {
  EntryBlocks blocks(work);
  const std::byte* const in = work.in + array * work.count * work.row_bytes;
  std::byte* const out = work.out + array * work.rows * work.row_bytes;
  std::array<std::uint32_t, EntryBlocks::kBlock> own;
  for (std::uint64_t at = 0; at < work.count;) {
    const EntryBlocks::Block block = blocks.read(at, work.count);
    std::uint64_t number = 0;
    for (std::uint64_t i = 0; i < block.size; ++i) {
      own[number] = static_cast<std::uint32_t>(i);
      number += block.rows[i] - begin < end - begin ? 1 : 0;  // kNoRow is past every range
    }
    for (std::uint64_t k = 0; k < number; ++k) {
      constexpr std::uint64_t kFetched = 16;
      if (k + kFetched < number) sums.fetch(out, block.rows[own[k + kFetched]]);
      sums.add(out, block.rows[own[k]], in + (at + own[k]) * work.row_bytes, 0, sums.elements());
    }
    at += block.size;
  }
}

template <typename Sum>
void add_ranges(const RowWork& work) {
  RowSums<Sum> sums(work);
  const std::uint64_t elements = sums.elements();
  for (std::uint64_t array = 0; array < work.outer; ++array) {
    std::byte* const out = work.out + array * work.rows * work.row_bytes;
    share_out(work.rows, work.threads, [&](std::uint64_t begin, std::uint64_t end) {
      sums.load(out, begin * elements, end * elements);
      add_range(work, array, sums, begin, end);
      sums.store(out, begin * elements, end * elements);
    });
  }
}

template <typename Sum>
void add_buckets(const RowWork& work) {
  RowSums<Sum> sums(work);
  PartedRows parted(work);
  const std::uint64_t all = work.rows * sums.elements();
  for (std::uint64_t array = 0; array < work.outer; ++array) {
    std::byte* const out = work.out + array * work.rows * work.row_bytes;
    share_out(all, work.threads, [&](std::uint64_t begin, std::uint64_t end) { sums.load(out, begin, end); });
    for (std::uint64_t first = 0; first < work.count; first += work.plan.wave_rows()) {
      parted.part(array, first, std::min(work.count, first + work.plan.wave_rows()));
      detail::take_turns_at(parted.buckets(), work.threads, 1, [&](std::uint64_t b, std::uint64_t) {
        for (std::uint64_t at = parted.begin(b); at < parted.end(b); ++at)
          sums.add(out, parted.row(b, at), parted.bytes(at), 0, sums.elements());
      });
    }
    share_out(all, work.threads,
              [&](std::uint64_t begin, std::uint64_t end) { sums.store(out, begin, end); });
  }
}

template <typename Sum>
void add_by(const RowWork& work) {
  switch (work.plan.way()) {
    case RowWay::columns:
      return add_columns<Sum>(work);
    case RowWay::ranges:
      return add_ranges<Sum>(work);
    case RowWay::buckets:
      return add_buckets<Sum>(work);
    default:
      return add_arrays<Sum>(work);
  }
}

template <typename Short>
void add_short_floats(const RowWork& work, Sums sums) {
  if (sums == Sums::fp64) return add_by<WideSum<Short, double>>(work);
  if (sums == Sums::compensated) return add_by<CompensatedSum<Short, float>>(work);
  add_by<WideSum<Short, float>>(work);
}

}  // namespace

void run_add(const RowWork& work) {
  const Add& add = std::get<Add>(work.plan.move());
  if (work.count == 0 || work.rows == 0 || work.outer == 0) return;
  switch (add.number) {
    // Sums that wrap are the same of signed and of unsigned numbers.
    case Number::i8:
    case Number::u8:
      return add_by<OwnSum<std::uint8_t>>(work);
    case Number::i16:
    case Number::u16:
      return add_by<OwnSum<std::uint16_t>>(work);
    case Number::i32:
    case Number::u32:
      return add_by<OwnSum<std::uint32_t>>(work);
    case Number::i64:
    case Number::u64:
      return add_by<OwnSum<std::uint64_t>>(work);
    case Number::f16:
      return add_short_floats<Half>(work, add.sums);
    case Number::bf16:
      return add_short_floats<BrainHalf>(work, add.sums);
    case Number::f32:
      if (add.sums == Sums::fp64) return add_by<WideSum<float, double>>(work);
      if (add.sums == Sums::compensated) return add_by<CompensatedSum<float, float>>(work);
      return add_by<OwnSum<float>>(work);
    case Number::f64:
      if (add.sums == Sums::compensated) return add_by<CompensatedSum<double, double>>(work);
      return add_by<OwnSum<double>>(work);
    default:
      FARO_CHECK(is_summed(add.number));
  }
}

}  // namespace faro::cpu
