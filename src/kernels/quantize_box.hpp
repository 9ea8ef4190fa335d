// Boxes whose numbers have a scale for each block of them (kernels/block_scales.hpp), quantised on their way
// and back: MoveValues (value_box.hpp) with a step more between its loads and its stores.
//
//     in    vectors of wide numbers   -->  shared memory: whole blocks
//                                          largest of each block  -->  its scale, stored, and its factor, kept
//     out   vectors of 8 or 4 bits    <--  times the block's factor, rounded
//
//     in    vectors of 8 or 4 bits    -->  shared memory, a byte each
//                                          scale of each block  -->  its value, kept
//     out   vectors of wide numbers   <--  times the block's value, rounded
//
// A thread has a block at a time. Its numbers lie a step apart in shared memory, those of its neighbours
// beside them or a block away: each thread begins at another number, so that few lanes meet in a bank. Where
// they lie together they are read by words, and vectors of the output have one factor each; where they lie in
// rows the factors of a vector's numbers follow one another, and are read four at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block_scales.hpp"
#include "kernels/value_box.hpp"

namespace faro::kernels {

/// What a launch works on, of every format: beside the view, the blocks of a box and their scales.
struct ScaledArrays : ValueArrays {
  const ScaledBlock* blocks = nullptr;
  const std::uint16_t* row_blocks = nullptr;  // the block of a number is that of its row and that of its run
  const std::uint16_t* run_blocks = nullptr;
  std::uint8_t* scale_bytes = nullptr;
  std::uint32_t block_count = 0;
  std::uint32_t block_step = 0;
  BlocksOfVector of_vector = BlocksOfVector::any;
  BlockParams params;
  std::int32_t tiled = 0;
  TiledScales tiles;
};

/// A step that a factor is multiplied in, whose place goes with the corner of a box.
template <typename From, typename To>
using ScaledProgram = NumberProgram<From, To, float, Identity, ProgramStep::scale>;

/// What both ways have. `Results` are kOut numbers as they are stored.
template <typename Program, typename Shape>
struct ScaledBoxes : MoveValues<Program, Shape, ScaledArrays> {
  using Base = MoveValues<Program, Shape, ScaledArrays>;
  using Base::p;
  static constexpr int kMinBlocks = 4;  // 5 would leave too few registers

 protected:
  using From = typename Program::From;
  static constexpr int kOut = Shape::kOut;

  constexpr bool is_cut_off(const ValueCorner& corner, const ScaledBlock& block) const {
    return block.row >= corner.rows_of(p.out) || block.of_run >= corner.run_of(p.out);
  }
  constexpr std::uint8_t& scale_of(const ValueCorner& corner, const ScaledBlock& block) const {
    const auto place = static_cast<std::uint64_t>(corner.at.scale + block.scale);
    return this->scale_bytes[this->tiled != 0 ? this->tiles.place(place) : place];
  }

  // The factor of number i of a vector.
  struct OneFactor {
    float factor;
    constexpr float operator()(int /*i*/) const { return factor; }
  };
  struct NextFactors {
    static constexpr int kRead = kOut < 4 ? kOut : 4;
    Lanes<float, kRead> factors[kOut / kRead];
    explicit constexpr NextFactors(const float* first) {
      FARO_UNROLL
      for (Lanes<float, kRead>& some : factors) {
        some = *reinterpret_cast<const Lanes<float, kRead>*>(first);
        first += kRead;
      }
    }
    constexpr float operator()(int i) const { return factors[i / kRead].get(i % kRead); }
  };
  struct EachFactor {
    const float* of_row;
    const std::uint16_t* blocks;
    constexpr float operator()(int i) const { return of_row[blocks[i]]; }
  };

  /// Each vector of the output: what `results_of(its numbers, their factors)` gives.
  template <typename Kernel>
  constexpr void store_with(const Kernel& kernel, const ValueCorner& corner, std::uint32_t thread,
                            const From* held, const float* block_factors) const {
    const ValueWalk walk(p.out, thread, corner.run_of(p.out) / kOut, corner.rows_of(p.out));
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      ValueRows<Shape::kStores> rows(p.out, this->out_rows, walk.row, walk.row_step);
      const std::uint32_t first = slot * kOut;
      const std::uint32_t of_slot = this->run_blocks[first];
      for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step) {
        const ValueRow of_row = rows.next();
        const From* const numbers = held + of_row.place + first;
        const float* const factors = block_factors + this->row_blocks[row];
        const std::int64_t at = corner.at.out + of_row.at + std::int64_t{first};
        if (this->of_vector == BlocksOfVector::one) {
          kernel.put(at, kernel.results_of(numbers, OneFactor{factors[of_slot]}));
        } else if (this->of_vector == BlocksOfVector::neighbours) {
          kernel.put(at, kernel.results_of(numbers, NextFactors(factors + of_slot)));
        } else {
          kernel.put(at, kernel.results_of(numbers, EachFactor{factors, this->run_blocks + first}));
        }
      }
    }
  }
};

/// `out` is the data, two numbers to a byte where they have 4 bits: then kOut is even, and so are runs and
/// what they begin at.
template <typename Wide, typename Scaled, typename Shape>
struct QuantizeBoxes : ScaledBoxes<ScaledProgram<Wide, std::uint8_t>, Shape> {
  using Program = ScaledProgram<Wide, std::uint8_t>;
  using Base = ScaledBoxes<Program, Shape>;
  using Base::p;

  template <typename Block>
  constexpr void operator()(Block& block) const {
    auto* const held = reinterpret_cast<Wide*>(block.shared());
    auto* const block_factors = reinterpret_cast<float*>(block.shared() + p.factors_at);
    const ValueCorner corner = corner_of<Program>(p, block.index());
    this->load(corner, block.thread(), held, ValueFactors<Program>(*this, block.shared()));
    block.barrier();
    scale_blocks(corner, block.thread(), held, block_factors);
    block.barrier();
    this->store_with(*this, corner, block.thread(), held, block_factors);
  }

 private:
  friend Base;
  static constexpr int kOut = Shape::kOut;
  static constexpr int kTogether = kIsPacked<Scaled> ? 2 : 1;
  static_assert(kOut % kTogether == 0);
  using Results = decltype(quantized<Scaled, kOut>([](int) { return 0.0F; }, [](int) { return 0.0F; }));

  constexpr void scale_blocks(const ValueCorner& corner, std::uint32_t thread, const Wide* held,
                              float* block_factors) const {
    for (std::uint32_t b = thread; b < this->block_count; b += kValueThreads) {
      const ScaledBlock of = this->blocks[b];
      if (this->is_cut_off(corner, of)) continue;
      const Wide* const numbers = held + of.place;
      const std::uint32_t largest = this->block_step == 1 ? largest_of<Base::kWord>(numbers, 1, thread)
                                                          : largest_of<1>(numbers, this->block_step, thread);
      const std::uint8_t scale = Scaled::scale_of(largest, this->params);
      block_factors[b] = Scaled::factor_of(scale, this->params);
      this->scale_of(corner, of) = scale;
    }
  }

  // Bits of the largest of a block's numbers, `step` apart, read kCount at a time.
  template <int kCount>
  static constexpr std::uint32_t largest_of(const Wide* numbers, std::uint32_t step, std::uint32_t thread) {
    constexpr auto kReads = static_cast<std::uint32_t>(Scaled::kBlock / kCount);
    std::uint32_t largest = 0;
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kReads; ++i) {
      const std::uint32_t number = (i + thread) % kReads * kCount;
      const auto read = *reinterpret_cast<const Lanes<Wide, kCount>*>(numbers + number * step);
      FARO_UNROLL
      for (int j = 0; j < kCount; ++j) {
        const std::uint32_t bits = magnitude_bits(computed<float>(read.get(j)));
        largest = bits > largest ? bits : largest;
      }
    }
    return largest;
  }

  template <typename Factors>
  static constexpr Results results_of(const Wide* numbers, const Factors& factors) {
    constexpr int kWord = Base::kWord;
    Lanes<Wide, kWord> words[kOut / kWord];
    FARO_UNROLL
    for (int w = 0; w < kOut / kWord; ++w)
      words[w] = *reinterpret_cast<const Lanes<Wide, kWord>*>(numbers + w * kWord);
    return quantized<Scaled, kOut>([&](int i) { return computed<float>(words[i / kWord].get(i % kWord)); },
                                   factors);
  }
  constexpr void put(std::int64_t at, const Results& results) const {
    *reinterpret_cast<Results*>(static_cast<std::uint8_t*>(this->out) + at / kTogether) = results;
  }
};

/// `in` is the data, of Shape::kPairs where numbers have 4 bits: then kIn is even, and so are runs and what
/// they begin at.
template <typename Wide, typename Scaled, typename Shape>
struct DequantizeBoxes : ScaledBoxes<ScaledProgram<std::uint8_t, Wide>, Shape> {
  using Program = ScaledProgram<std::uint8_t, Wide>;
  using Base = ScaledBoxes<Program, Shape>;
  using Base::p;
  static_assert(Shape::kPairs == kIsPacked<Scaled>);

  template <typename Block>
  constexpr void operator()(Block& block) const {
    auto* const held = reinterpret_cast<std::uint8_t*>(block.shared());
    auto* const block_values = reinterpret_cast<float*>(block.shared() + p.factors_at);
    const ValueCorner corner = corner_of<Program>(p, block.index());
    this->load(corner, block.thread(), held, ValueFactors<Program>(*this, block.shared()));
    for (std::uint32_t b = block.thread(); b < this->block_count; b += kValueThreads) {
      const ScaledBlock of = this->blocks[b];
      if (!this->is_cut_off(corner, of))
        block_values[b] = Scaled::value_of(this->scale_of(corner, of), this->params);
    }
    block.barrier();
    this->store_with(*this, corner, block.thread(), held, block_values);
  }

 private:
  friend Base;
  static constexpr int kOut = Shape::kOut;
  using Results = Lanes<Wide, kOut>;

  template <typename Factors>
  static constexpr Results results_of(const std::uint8_t* numbers, const Factors& values) {
    using Word = Lanes<std::uint8_t, Base::kWord>;
    Results results;
    FARO_UNROLL
    for (int w = 0; w < kOut; w += Base::kWord) {
      const Word word = *reinterpret_cast<const Word*>(numbers + w);
      FARO_UNROLL
      for (int j = 0; j < Base::kWord; ++j)
        results.put(w + j, dequantized<Wide, Scaled>(word.get(j), values(w + j)));
    }
    return results;
  }
  constexpr void put(std::int64_t at, const Results& results) const {
    *reinterpret_cast<Results*>(static_cast<Wide*>(this->out) + at) = results;
  }
};

}  // namespace faro::kernels
