// Boxes whose numbers are quantised on their way, with a scale for each block of them
// (kernels/block_scales.hpp): MoveValues (value_box.hpp) with a step more between its loads and its stores.
//
//     in    vectors of wide numbers  -->  shared memory: whole blocks
//                                         largest of each block  -->  its scale, stored, and its factor, kept
//     out   vectors of 8 or 4 bits   <--  times the block's factor, rounded
//
// A thread has a block at a time. Its numbers lie a step apart in shared memory, those of its neighbours
// beside them or a block away: each thread begins at another number, so that few lanes meet in a bank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block_scales.hpp"
#include "kernels/value_box.hpp"

namespace faro::kernels {

template <typename Wide>
using Quantizing = NumberProgram<Wide, std::uint8_t, float, Identity, ProgramStep::scale>;

/// `out` is the data, two numbers to a byte where they have 4 bits: then kOut is even, and so are runs and
/// what they begin at.
template <typename Wide, typename Scaled, typename Shape>
struct QuantizeBoxes : MoveValues<Quantizing<Wide>, Shape> {
  using Base = MoveValues<Quantizing<Wide>, Shape>;
  using Base::p;
  static constexpr int kMinBlocks = 4;  // 5 would leave too few registers

  const ScaledBlock* blocks = nullptr;
  const std::uint16_t* row_blocks = nullptr;  // the block of a number is that of its row and that of its run
  const std::uint16_t* run_blocks = nullptr;
  std::uint8_t* scale_bytes = nullptr;
  std::uint32_t block_count = 0;
  std::uint32_t block_step = 0;
  BlockParams params;
  std::int32_t tiled = 0;
  TiledScales tiles;

  template <typename Block>
  constexpr void operator()(Block& block) const {
    auto* const held = reinterpret_cast<Wide*>(block.shared());
    auto* const block_factors = reinterpret_cast<float*>(block.shared() + p.factors_at);
    const ValueCorner corner = corner_of<Quantizing<Wide>>(p, block.index());
    this->load(corner, block.thread(), held, ValueFactors<Quantizing<Wide>>(*this, block.shared()));
    block.barrier();
    scale_blocks(corner, block.thread(), held, block_factors);
    block.barrier();
    store(corner, ValueWalk(p.out, block.thread(), corner.run_of(p.out) / kOut, corner.rows_of(p.out)), held,
          block_factors);
  }

 private:
  static constexpr int kOut = Shape::kOut;
  static constexpr int kOutBytes = kIsPacked<Scaled> ? kOut / 2 : kOut;
  static_assert(!kIsPacked<Scaled> || kOut % 2 == 0);
  using Results = Lanes<std::uint8_t, kOutBytes>;

  constexpr void scale_blocks(const ValueCorner& corner, std::uint32_t thread, const Wide* held,
                              float* block_factors) const {
    constexpr auto kNumbers = static_cast<std::uint32_t>(Scaled::kBlock);
    const std::uint32_t rows = corner.rows_of(p.out);
    const std::uint32_t run = corner.run_of(p.out);
    for (std::uint32_t b = thread; b < block_count; b += kValueThreads) {
      const ScaledBlock of = blocks[b];
      if (of.row >= rows || of.of_run >= run) continue;
      std::uint32_t largest = 0;
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kNumbers; ++i) {
        const std::uint32_t number = (i + thread) % kNumbers;
        const std::uint32_t bits = magnitude_bits(computed<float>(held[of.place + number * block_step]));
        largest = bits > largest ? bits : largest;
      }
      const std::uint8_t scale = Scaled::scale_of(largest, params);
      block_factors[b] = Scaled::factor_of(scale, params);
      const auto place = static_cast<std::uint64_t>(corner.at.scale + of.scale);
      scale_bytes[tiled != 0 ? tiles.place(place) : place] = scale;
    }
  }

  constexpr void store(const ValueCorner& corner, const ValueWalk& walk, const Wide* held,
                       const float* block_factors) const {
    for (std::uint32_t slot = walk.slot; slot < walk.slots; slot += walk.slot_step) {
      ValueRows<Shape::kStores> rows(p.out, this->out_rows, walk.row, walk.row_step);
      for (std::uint32_t row = walk.row; row < walk.rows; row += walk.row_step)
        finish(corner, rows.next(), slot * kOut, held, block_factors + row_blocks[row]);
    }
  }

  constexpr void finish(const ValueCorner& corner, const ValueRow& of_row, std::uint32_t first,
                        const Wide* held, const float* factors_of_row) const {
    constexpr int kTogether = kOut / kOutBytes;
    Results results;
    FARO_UNROLL
    for (int i = 0; i < kOutBytes; ++i) {
      std::uint32_t byte = 0;
      FARO_UNROLL
      for (int j = 0; j < kTogether; ++j) {
        const std::uint32_t of_run = first + static_cast<std::uint32_t>(i * kTogether + j);
        const float x = computed<float>(held[of_row.place + of_run]);
        byte |= static_cast<std::uint32_t>(quantized<Scaled>(x, factors_of_row[run_blocks[of_run]])) << 4 * j;
      }
      results.put(i, static_cast<std::uint8_t>(byte));
    }
    const std::int64_t at = (corner.at.out + of_row.at + std::int64_t{first}) / kTogether;
    *reinterpret_cast<Results*>(static_cast<std::uint8_t*>(this->out) + at) = results;
  }
};

}  // namespace faro::kernels
