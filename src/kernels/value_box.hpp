// Boxes whose numbers change on their way: any view, in one pass (docs/theory/boxes.md; what is done to a
// number is kernels/number_program.hpp). MoveCopiedValues, below, where vectors of the input have 4 bytes at
// least; MoveValues where they have less, and for scales in blocks (quantize_box.hpp).
//
//     in    runs of the input            shared memory              out   runs of the output
//           vectors of kIn numbers  -->  one number a place    -->  vectors of kOut numbers
//           [rounded]                                               widened, scaled, added to, rounded
//
// The two sides have types of different widths, so each has vectors of its own. Between them numbers lie as
// they are stored in the input, or, where that is narrower and nothing is known of the output only when they
// are read, in the output: f32 to bf16 is rounded as it is read. A run of the output lies together in shared
// memory, too, and lanes are shared out so that few of them meet in a bank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/value_arrays.hpp"

namespace faro::kernels {

/// Vectors that a thread has on their way.
inline constexpr std::uint32_t kValueBatch = 4;

/// How boxes are moved, known when a kernel is compiled.
template <int kInVector, int kOutVector, ValueOrder kInOrder = ValueOrder::by_table,
          ValueOrder kOutOrder = ValueOrder::by_table, bool kRoundsFirst = false, bool kPairsRead = false>
struct ValueShape {
  static constexpr int kIn =
      kInVector;  // numbers of a vector, of which runs and what they begin at are multiples
  static constexpr int kOut = kOutVector;
  static constexpr ValueOrder kLoads = kInOrder;
  static constexpr ValueOrder kStores = kOutOrder;
  static constexpr bool kRounds = kRoundsFirst;  // as they are read; no addend, and no factors that differ
  static constexpr bool kPairs = kPairsRead;     // two numbers of the input to a byte; each is held in one
};

/// Numbers of 4 bits, the first of a byte in its lower half.
template <int kCount>
struct Pairs {
  Lanes<std::uint8_t, kCount / 2> bytes;
  constexpr std::uint8_t get(int i) const {
    return static_cast<std::uint8_t>(bytes.get(i / 2) >> 4 * (i % 2) & 15);
  }
};

/// Boxes by way of shared memory. The addend's runs lie as the output's.
template <typename Program, typename Shape, typename Arrays = ValueArrays>
struct MoveValues : Arrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Computed = typename Program::Computed;
  using Held = std::conditional_t<Shape::kRounds, To, From>;
  using Factors = ValueFactors<Program, !Shape::kRounds>;  // those that round first have one for all
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 5;
  using Arrays::p;

  constexpr std::uint32_t shared_bytes() const { return p.shared_bytes; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    auto* const held = reinterpret_cast<Held*>(block.shared());
    const ValueCorner corner = corner_of<Program>(p, block.index());
    Factors factors(*this, block.shared());
    if constexpr (Shape::kRounds) factors.begin({}, ValueRowFactors{});
    if constexpr (Program::kHasScale || Program::kHasOffset) {
      if (p.factors_vary != 0) factors.stage(*this, corner, corner.run_of(p.out), block);
    }
    load(corner, block.thread(), held, factors);
    block.barrier();
    store(corner, ValueWalk(p.out, block.thread(), corner.run_of(p.out) / kOut, corner.rows_of(p.out)), held,
          factors);
  }

 protected:
  static constexpr int kIn = Shape::kIn;
  static constexpr int kOut = Shape::kOut;
  // So many are read from shared memory at once, of a word.
  static constexpr int kWord =
      sizeof(Held) >= 4
          ? 1
          : (4 / static_cast<int>(sizeof(Held)) < kOut ? 4 / static_cast<int>(sizeof(Held)) : kOut);

  constexpr void load(const ValueCorner& corner, std::uint32_t thread, Held* held,
                      const Factors& factors) const {
    const ValueWalk walk(p.in, thread, corner.run_of(p.in) / kIn, corner.rows_of(p.in));
    if constexpr (Shape::kLoads == ValueOrder::along_runs) {
      load_along_runs(corner, walk, held, factors);
    } else {
      load_rows(corner, walk, held, factors);
    }
  }

 private:
  static constexpr std::uint32_t kBatch = kValueBatch;
  static constexpr std::uint32_t kStored = Program::kHasAddend ? kBatch : 1;  // at a time
  using Vector = std::conditional_t<Shape::kPairs, Pairs<kIn>, Lanes<From, kIn>>;
  using Places = Lanes<std::uint16_t, kIn>;
  using Results = Lanes<To, kOut>;
  using Others = Lanes<Addend, kOut>;

  static constexpr Held held_of(From x, const Factors& factors) {
    if constexpr (Shape::kRounds) {
      return Program::rounded(factors.scaled(Program::widened(x), 0));
    } else {
      return x;
    }
  }
  static constexpr void hold(const Vector& vector, const Places& of_slot, std::uint32_t row_place, Held* held,
                             const Factors& factors) {
    FARO_UNROLL
    for (int j = 0; j < kIn; ++j)
      held[row_place + std::uint32_t{of_slot.get(j)}] = held_of(vector.get(j), factors);
  }
  constexpr const Vector* vector_at(std::int64_t begin, std::int64_t row) const {
    return reinterpret_cast<const Vector*>(static_cast<const From*>(this->in) +
                                           (begin + row) / (Shape::kPairs ? 2 : 1));
  }

  constexpr void load_along_runs(const ValueCorner& corner, const ValueWalk& walk, Held* held,
                                 const Factors& factors) const {
    const auto* const all_places = reinterpret_cast<const Places*>(this->places);
    for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
      const ValueRow of_row = this->in_rows[row];
      const Vector* const run = vector_at(corner.at.in, of_row.at);
      for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += kBatch * walk.slot_step) {
        Vector vectors[kBatch];
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots) vectors[i] = run[at];
        }
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kBatch; ++i) {
          const std::uint32_t at = slot + i * walk.slot_step;
          if (at < walk.slots) hold(vectors[i], all_places[at], of_row.place - corner.back, held, factors);
        }
      }
    }
  }

  constexpr void load_rows(const ValueCorner& corner, const ValueWalk& walk, Held* held,
                           const Factors& factors) const {
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      const Places of_slot = reinterpret_cast<const Places*>(this->places)[slot];
      const std::int64_t begin = corner.at.in + std::int64_t{slot} * kIn;
      ValueRows<Shape::kLoads> rows(p.in, this->in_rows, walk.row, walk.row_step);
      std::uint32_t row = walk.row;
      for (; row + (kBatch - 1) * walk.row_step < walk.rows; row += kBatch * walk.row_step)
        load_batch<true>(kBatch, begin, of_slot, corner.back, rows, held, factors);
      if (row >= walk.rows) continue;
      load_batch<false>((walk.rows - row - 1) / walk.row_step + 1, begin, of_slot, corner.back, rows, held,
                        factors);
    }
  }

  template <bool kWhole>
  constexpr void load_batch(std::uint32_t count, std::int64_t begin, const Places& of_slot,
                            std::uint32_t back, ValueRows<Shape::kLoads>& rows, Held* held,
                            const Factors& factors) const {
    ValueRow of_rows[kBatch];
    Vector vectors[kBatch];
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      if (kWhole || i < count) of_rows[i] = rows.next();
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      if (kWhole || i < count) vectors[i] = *vector_at(begin, of_rows[i].at);
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      if (kWhole || i < count) hold(vectors[i], of_slot, of_rows[i].place - back, held, factors);
    }
  }

  constexpr void store(const ValueCorner& corner, const ValueWalk& walk, const Held* held,
                       Factors& factors) const {
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      ValueRows<Shape::kStores> rows(p.out, this->out_rows, walk.row, walk.row_step);
      for (std::uint32_t row = walk.row; row < walk.rows; row += kStored * walk.row_step) {
        Others others[kStored];
        if constexpr (Program::kHasAddend) {
          FARO_UNROLL
          for (std::uint32_t i = 0; i < kStored; ++i) {
            const std::uint32_t at = row + i * walk.row_step;
            if (at < walk.rows) others[i] = other_at(corner, at, slot);
          }
        }
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kStored; ++i) {
          const std::uint32_t at = row + i * walk.row_step;
          if (at >= walk.rows) continue;
          if constexpr (Program::kHasScale || Program::kHasOffset)
            factors.begin(corner, this->row_factors[at]);
          finish(corner, rows.next(), slot * kOut, held, others[i], factors);
        }
      }
    }
  }

  constexpr Others other_at(const ValueCorner& corner, std::uint32_t row, std::uint32_t slot) const {
    const std::int64_t at = corner.at.addend + this->row_factors[row].addend + std::int64_t{slot} * kOut;
    return *reinterpret_cast<const Others*>(static_cast<const Addend*>(this->addend) + at);
  }

  constexpr void finish(const ValueCorner& corner, const ValueRow& of_row, std::uint32_t first,
                        const Held* held, const Others& others, Factors& factors) const {
    Results results;
    FARO_UNROLL
    for (int w = 0; w < kOut; w += kWord) {
      using Word = Lanes<Held, kWord>;
      const std::uint32_t of_run = first + static_cast<std::uint32_t>(w);
      const Word word = *reinterpret_cast<const Word*>(held + of_row.place + of_run);
      FARO_UNROLL
      for (int j = 0; j < kWord; ++j) {
        if constexpr (Shape::kRounds) {
          results.put(w + j, word.get(j));
        } else {
          Computed x = factors.scaled(Program::widened(word.get(j)), of_run + static_cast<std::uint32_t>(j));
          if constexpr (Program::kHasAddend) x = factors.added(x, others.get(w + j));
          results.put(w + j, Program::rounded(x));
        }
      }
    }
    const std::int64_t at = corner.at.out + of_row.at + std::int64_t{first};
    *reinterpret_cast<Results*>(static_cast<To*>(this->out) + at) = results;
  }
};

// Copied boxes lie in shared memory as in the input: by the machine's own copies, which take no registers, so
// that all of a box is on its way at a time, with what is added.
//
//     in      runs of the input    -- copies -->  shared memory, run by run  -- number by number -->  out
//     addend  vectors of a thread  -- copies -->  its own place there
//
// Numbers of the output are gathered: those of a run of the output are a row of the input apart each. So that
// the lanes of a warp, which write vectors of neighbouring numbers, read different banks, groups of kOut rows
// are p.group_place further apart.

/// Copies 4, 8 or 16 bytes to shared memory, where they are after await_copies() and a barrier.
template <int kBytes>
constexpr void copy_later(std::byte* shared, const std::byte* from) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#if defined(__CUDA_ARCH__)
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
  }
#else
  using Moved = device::Packet<kBytes>;
  *reinterpret_cast<Moved*>(shared) = *reinterpret_cast<const Moved*>(from);
#endif
}
constexpr void await_copies() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Runs that begin anywhere are copied by aligned vectors all the same (kAligned): rows lie apart in shared
// memory by what is, modulo a vector, how far apart they are in the input, and the box as far from a vector
// as its corner is. A vector that reaches beyond a run brings what nobody reads; beyond the array's ends
// numbers are copied one by one.
//
//     input    | . . . a b c d e | f g h . . . . . |          a run of 8 in vectors of 8
//     shared   | * * * a b c d e | f g h * * * * * |
template <typename Program, int kIn, int kOut, ValueOrder kLoads, ValueOrder kStores, ValueFactorsOf kFactors,
          bool kAligned = false>
struct MoveCopiedValues : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = std::conditional_t<Program::kHasAddend, typename Program::Addend, std::uint32_t>;
  using Computed = typename Program::Computed;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 6;

  constexpr std::uint32_t shared_bytes() const { return p.shared_bytes; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const ValueCorner corner = corner_of<Program>(p, block.index());
    const std::uint32_t thread = block.thread();
    const ValueWalk walk(p.out, thread, corner.run_of(p.out) / kOut, corner.rows_of(p.out));
    std::uint32_t phase = 0;  // numbers from a vector on
    if constexpr (kAligned)
      phase = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(in) / sizeof(From) +
                                         static_cast<std::uint64_t>(corner.at.in)) %
              kIn;
    copy(corner, thread, block.shared(), phase);
    if constexpr (Program::kHasAddend) copy_others(corner, walk, block.shared());
    Factors factors(*this, block.shared());
    if constexpr (kFactors == ValueFactorsOf::all) factors.begin({}, {});
    if constexpr (kFactors == ValueFactorsOf::runs) factors.stage(*this, corner, corner.run_of(p.out), block);
    await_copies();
    block.barrier();
    store(corner, walk, block.shared(), phase, factors);
  }

 private:
  static constexpr std::uint32_t kRows = 4;  // looked up at a time
  static constexpr int kInBytes = kIn * static_cast<int>(sizeof(From));
  static constexpr int kOtherBytes = kOut * static_cast<int>(sizeof(Addend));
  using Results = Lanes<To, kOut>;
  using Others = Lanes<Addend, kOut>;
  using Places = Lanes<std::uint16_t, kOut>;
  using Factors = ValueFactors<Program, kFactors == ValueFactorsOf::runs>;

  constexpr void copy(const ValueCorner& corner, std::uint32_t thread, std::byte* shared,
                      std::uint32_t phase) const {
    const std::uint32_t run = corner.run_of(p.in);
    const ValueWalk walk(p.in, thread, kAligned ? (run + 2 * (kIn - 1)) / kIn : run / kIn,
                         corner.rows_of(p.in));
    ValueRows<kLoads> rows(p.in, in_rows, walk.row, walk.row_step);
    for (std::uint32_t row = walk.row; row < walk.rows; row += kRows * walk.row_step) {
      ValueRow of_rows[kRows];
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kRows; ++i) {
        const std::uint32_t at = row + i * walk.row_step;
        if (at >= walk.rows) continue;
        of_rows[i] = rows.next();
        if constexpr (kLoads == ValueOrder::by_steps) of_rows[i].place += at / kOut * p.group_place;
      }
      for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
        const std::uint32_t first = slot * kIn;
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kRows; ++i) {
          if (row + i * walk.row_step >= walk.rows) continue;
          if constexpr (kAligned) {
            copy_aligned(corner.at.in + of_rows[i].at, of_rows[i].place + phase, run, first, shared);
            continue;
          }
          copy_later<kInBytes>(
              shared + (of_rows[i].place + first) * sizeof(From),
              reinterpret_cast<const std::byte*>(static_cast<const From*>(in) +
                                                 (corner.at.in + of_rows[i].at + std::int64_t{first})));
        }
      }
    }
  }

  // The vector at so many numbers from the one in which a run begins.
  constexpr void copy_aligned(std::int64_t run_at, std::uint32_t place, std::uint32_t run,
                              std::uint32_t first, std::byte* shared) const {
    const std::uint32_t head = place % kIn;
    if (first >= head + run) return;
    const From* const from = static_cast<const From*>(in) + run_at;
    auto* const held = reinterpret_cast<From*>(shared) + place;
    const std::int32_t of_run = static_cast<std::int32_t>(first) - static_cast<std::int32_t>(head);
    const std::int64_t at = run_at + of_run;
    if (at >= p.in_begin && at + kIn <= p.in_end) {
      copy_later<kInBytes>(reinterpret_cast<std::byte*>(held + of_run),
                           reinterpret_cast<const std::byte*>(from + of_run));
      return;
    }
    FARO_NO_UNROLL
    for (std::int32_t i = of_run < 0 ? 0 : of_run; i < of_run + kIn && i < static_cast<std::int32_t>(run);
         ++i)
      held[i] = from[i];
  }

  // Where store() takes them, by the same thread.
  constexpr void copy_others(const ValueCorner& corner, const ValueWalk& walk, std::byte* shared) const {
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      const Addend* const from =
          static_cast<const Addend*>(addend) + (corner.at.addend + std::int64_t{slot} * kOut);
      for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
        copy_later<kOtherBytes>(other_of(walk, slot, row, shared),
                                reinterpret_cast<const std::byte*>(from + row_factors[row].addend));
      }
    }
  }
  constexpr std::byte* other_of(const ValueWalk& walk, std::uint32_t slot, std::uint32_t row,
                                std::byte* shared) const {
    return shared + p.others_at + (row * walk.slots + slot) * kOtherBytes;
  }

  constexpr void store(const ValueCorner& corner, const ValueWalk& walk, std::byte* shared,
                       std::uint32_t phase, Factors& factors) const {
    const auto* const held = reinterpret_cast<const From*>(shared) + phase;
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      const Places of_slot = reinterpret_cast<const Places*>(places)[slot];
      const std::uint32_t first = slot * kOut;
      To* const to = static_cast<To*>(out) + (corner.at.out + std::int64_t{first});
      ValueRows<kStores> rows(p.out, out_rows, walk.row, walk.row_step);
      for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
        const ValueRow of_row = rows.next();
        const From* const of_held = held + static_cast<std::int32_t>(of_row.place - corner.back);
        if constexpr (kFactors != ValueFactorsOf::all) factors.begin(corner, row_factors[row]);
        Others other;
        if constexpr (Program::kHasAddend) {
          other = *reinterpret_cast<const Others*>(other_of(walk, slot, row, shared));
        }
        Results results;
        FARO_UNROLL
        for (int j = 0; j < kOut; ++j) {
          Computed x = factors.scaled(Program::widened(of_held[of_slot.get(j)]),
                                      first + static_cast<std::uint32_t>(j));
          if constexpr (Program::kHasAddend) x = factors.added(x, other.get(j));
          results.put(j, Program::rounded(x));
        }
        *reinterpret_cast<Results*>(to + of_row.at) = results;
      }
    }
  }
};

}  // namespace faro::kernels
