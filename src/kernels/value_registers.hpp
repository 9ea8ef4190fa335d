// Numbers that change on their way and stay in registers: runs that both sides have, and few columns, as the
// channels of images, of which a thread has k numbers each.
//
//     r g b r g b r g b r g b   <-->   r r r r  g g g g  b b b b        3 columns, k = 4
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/value_arrays.hpp"

namespace faro::kernels {

/// Runs that are the same on both sides, a vector of k numbers at a time, and what is left at their ends.
template <typename Program, int k>
struct MoveValueRuns : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Computed = typename Program::Computed;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 6;

  constexpr std::uint32_t shared_bytes() const { return p.shared_bytes; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const ValueCorner corner = corner_of<Program>(p, block.index());
    ValueFactors<Program> factors(*this, block.shared());
    if constexpr (Program::kHasScale || Program::kHasOffset) {
      if (p.factors_vary != 0) {
        factors.stage(*this, corner, corner.run_of(p.out), block);
        block.barrier();
      }
    }
    move(corner, block.thread(), factors);
    if constexpr (k > 1) move_ends(corner, block.thread(), factors);
  }

 private:
  using Vector = Lanes<From, k>;
  using Results = Lanes<To, k>;
  using Others = Lanes<Addend, k>;

  constexpr void move(const ValueCorner& corner, std::uint32_t thread, ValueFactors<Program>& factors) const {
    constexpr std::uint32_t kBatch = Program::kHasAddend ? 2 : 4;  // more would not fit 40 registers
    const ValueWalk walk(p.out, thread, corner.run_of(p.out) / k, corner.rows_of(p.out));
    // One number after another, along the run first: vectors of long runs and of many short ones alike.
    const std::uint32_t slots =
        walk.slot < walk.slots ? (walk.slots - walk.slot - 1) / walk.slot_step + 1 : 0;
    const std::uint32_t rows = walk.row < walk.rows ? (walk.rows - walk.row - 1) / walk.row_step + 1 : 0;
    std::uint32_t slot = walk.slot;
    std::uint32_t row = walk.row;
    for (std::uint32_t left = slots * rows; left > 0; left = left > kBatch ? left - kBatch : 0) {
      Vector vectors[kBatch];
      Others others[kBatch];
      std::uint32_t at_slot[kBatch];
      std::uint32_t at_row[kBatch];
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        at_slot[i] = slot;
        at_row[i] = row;
        if (i >= left) continue;
        const std::int64_t first = std::int64_t{slot} * k;
        vectors[i] = *reinterpret_cast<const Vector*>(static_cast<const From*>(in) +
                                                      (corner.at.in + in_rows[row].at + first));
        if constexpr (Program::kHasAddend) {
          others[i] = *reinterpret_cast<const Others*>(static_cast<const Addend*>(addend) +
                                                       (corner.at.addend + row_factors[row].addend + first));
        }
        row += walk.row_step;
        if (row < walk.rows) continue;
        row = walk.row;
        slot += walk.slot_step;
      }
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        if (i < left) finish(corner, at_row[i], at_slot[i], vectors[i], others[i], factors);
      }
    }
  }

  // Numbers of runs behind their last whole vectors.
  constexpr void move_ends(const ValueCorner& corner, std::uint32_t thread,
                           ValueFactors<Program>& factors) const {
    const std::uint32_t run = corner.run_of(p.out);
    const std::uint32_t end = run % k;
    if (end == 0) return;
    const std::uint32_t numbers = end * corner.rows_of(p.out);
    for (std::uint32_t i = thread; i < numbers; i += kThreads) {
      const std::uint32_t row = i / end;
      const std::uint32_t of_run = run - end + i % end;
      if constexpr (Program::kHasScale || Program::kHasOffset) factors.begin(corner, row_factors[row]);
      const From number = static_cast<const From*>(in)[corner.at.in + in_rows[row].at + std::int64_t{of_run}];
      Computed x = factors.scaled(Program::widened(number), of_run);
      if constexpr (Program::kHasAddend) {
        const std::int64_t at = corner.at.addend + row_factors[row].addend + std::int64_t{of_run};
        x = factors.added(x, static_cast<const Addend*>(addend)[at]);
      }
      static_cast<To*>(out)[corner.at.out + out_rows[row].at + std::int64_t{of_run}] = Program::rounded(x);
    }
  }

  constexpr void finish(const ValueCorner& corner, std::uint32_t row, std::uint32_t slot,
                        const Vector& vector, const Others& others, ValueFactors<Program>& factors) const {
    if constexpr (Program::kHasScale || Program::kHasOffset) factors.begin(corner, row_factors[row]);
    const std::uint32_t first = slot * k;
    Results results;
    FARO_UNROLL
    for (int j = 0; j < k; ++j) {
      const std::uint32_t of_run = first + static_cast<std::uint32_t>(j);
      Computed x = factors.scaled(Program::widened(vector.get(j)), of_run);
      if constexpr (Program::kHasAddend) x = factors.added(x, others.get(j));
      results.put(j, Program::rounded(x));
    }
    const std::int64_t at = corner.at.out + out_rows[row].at + std::int64_t{first};
    *reinterpret_cast<Results*>(static_cast<To*>(out) + at) = results;
  }
};

/// How columns are written: past the first-level cache, and where runs are `whole` sectors, so that they
/// leave the second-level one first.
class ColumnStores {
 public:
  constexpr ColumnStores([[maybe_unused]] const void* array, [[maybe_unused]] bool whole) {
#if defined(__CUDA_ARCH__)
    constexpr std::uintptr_t kSectorBytes = 32;
    if (whole && reinterpret_cast<std::uintptr_t>(array) % kSectorBytes == 0) {
      asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy_));
    } else {
      asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy_));
    }
#endif
  }

  template <typename Vector>
  constexpr void store(Vector* to, const Vector& vector) const {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(Vector) == 16) {
      const auto* const word = reinterpret_cast<const std::uint32_t*>(&vector);
      asm volatile(
          "st.global.L1::no_allocate.L2::cache_hint.v4.u32 [%4], {%0, %1, %2, %3}, %5;" ::"r"(word[0]),
          "r"(word[1]), "r"(word[2]), "r"(word[3]), "l"(to), "l"(policy_)
          : "memory");
      return;
    }
#endif
    *to = vector;
  }

 private:
  [[maybe_unused]] std::uint64_t policy_ = 0;
};

/// A run of pairs, triples, … on one side, and of so many columns on the other. The run of kInterleaved is
/// counted in those tuples.
template <typename Program, int kColumns, int k, Interleaved kInterleaved>
struct MoveValueColumns : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Computed = typename Program::Computed;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 4;

  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const ValueCorner corner = corner_of<Program>(p, block.index());
    const ValueWalk walk(p.out, block.thread(), corner.run_of(p.out) / k, corner.rows_of(p.out));
    for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
      for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += kBatch * walk.slot_step) {
        Parts<From> parts[kBatch];
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots)
            parts[i] = read<From, kFrom>(in, corner.at.in + in_rows[row].at, p.column.in, at);
        }
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots) finish(corner, row, at, parts[i]);
        }
      }
    }
  }

 private:
  // Tuples on their way take so many registers.
  static constexpr std::uint32_t kPartWords = (sizeof(From) * kColumns * k + 3) / 4;
  static constexpr std::uint32_t kBatch = kPartWords <= 6 ? 4 : kPartWords <= 12 ? 2 : 1;
  static constexpr bool kFrom = kInterleaved == Interleaved::input;

  // k tuples of numbers, as they lie: those of a column together, or those of a tuple.
  template <typename T>
  struct Parts {
    Lanes<T, k> part[kColumns];

    // Number j of a column.
    template <bool kTogether>
    constexpr T get(int column, int j) const {
      const int flat = kTogether ? j * kColumns + column : column * k + j;
      return part[flat / k].get(flat % k);
    }
    template <bool kTogether>
    constexpr void put(int column, int j, T x) {
      const int flat = kTogether ? j * kColumns + column : column * k + j;
      part[flat / k].put(flat % k, x);
    }
  };

  template <bool kTogether>
  static constexpr std::int64_t part_at(std::int64_t begin, std::int64_t column_step, std::uint32_t slot,
                                        int part) {
    if constexpr (kTogether) return begin + (std::int64_t{slot} * kColumns + part) * k;
    return begin + std::int64_t{slot} * k + part * column_step;
  }

  template <typename T, bool kTogether>
  static constexpr Parts<T> read(const void* array, std::int64_t begin, std::int64_t column_step,
                                 std::uint32_t slot) {
    Parts<T> parts;
    FARO_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      parts.part[i] = *reinterpret_cast<const Lanes<T, k>*>(static_cast<const T*>(array) +
                                                            part_at<kTogether>(begin, column_step, slot, i));
    }
    return parts;
  }

  constexpr void finish(const ValueCorner& corner, std::uint32_t row, std::uint32_t slot,
                        Parts<From>& parts) const {
    using Others = Parts<std::conditional_t<Program::kHasAddend, Addend, char>>;
    const ValueRowFactors of_row = row_factors[row];
    Others others;
    if constexpr (Program::kHasAddend) {
      others = read<Addend, !kFrom>(addend, corner.at.addend + of_row.addend, p.column.addend, slot);
    }
    Parts<To> results;
    ValueFactors<Program> factors(*this, nullptr);
    FARO_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      if constexpr (Program::kHasScale || Program::kHasOffset) {
        factors.begin(corner, {.addend = 0,
                               .scale = of_row.scale + c * static_cast<std::int32_t>(p.column.scale),
                               .offset = of_row.offset + c * static_cast<std::int32_t>(p.column.offset)});
      }
      FARO_UNROLL
      for (int j = 0; j < k; ++j) {
        Computed x = factors.scaled(Program::widened(parts.template get<kFrom>(c, j)), 0);
        if constexpr (Program::kHasAddend) x = factors.added(x, others.template get<!kFrom>(c, j));
        results.template put<!kFrom>(c, j, Program::rounded(x));
      }
    }
    const std::int64_t begin = corner.at.out + out_rows[row].at;
    const ColumnStores stores(out, p.out_sectors != 0);
    FARO_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      auto* const to = reinterpret_cast<Lanes<To, k>*>(static_cast<To*>(out) +
                                                       part_at<!kFrom>(begin, p.column.out, slot, i));
      if constexpr (kFrom) {
        stores.store(to, results.part[i]);
      } else {
        *to = results.part[i];
      }
    }
  }
};

}  // namespace faro::kernels
