// Blocks that share a scale (kernels/block_scales.hpp), in registers: a thread has kVector blocks beside one
// another, or kPart numbers of each.
//
//     along the block      x x x x … x x x x   -->   its largest, its scale   -->   q q q … q
//     kVector of them      x x x x … x x x x                                        q q q … q
//
// On either side what lies together is a block's numbers (the side is "along" blocks), or numbers of blocks
// that are neighbours. So a matrix is quantised along its rows or its columns, as it lies or transposed, by
// threads none of which waits for another. Which tile is a thread's are the digits of its number
// (plan/gpu/block_tiles.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/quantize_box.hpp"

namespace faro::kernels {

/// A "box" of the grid is the tile of a thread; p.row is from block to block there, p.column from number to
/// number of a block.
template <typename WideType, typename Scaled, int kPart, int kVector, bool kWideAlong, bool kDataAlong>
struct ScaledTiles : ScaledArrays {
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 2;

  constexpr std::uint32_t shared_bytes() const { return 0; }

 protected:
  using Wide = WideType;
  static constexpr int kTogether = kIsPacked<Scaled> ? 2 : 1;
  static constexpr int kWideRun = kWideAlong ? kPart : kVector;
  static constexpr int kWideRows = kWideAlong ? kVector : kPart;
  static constexpr int kDataRun = kDataAlong ? kPart : kVector;
  static constexpr int kDataRows = kDataAlong ? kVector : kPart;
  using WideVector = Lanes<Wide, kWideRun>;
  static_assert(kDataRun % kTogether == 0);

  constexpr bool has_tile(std::uint64_t number) const { return number < p.tiles; }
  template <typename Block>
  constexpr std::uint64_t number_of(const Block& block) const {
    return (block.index() + p.first_box) * kThreads + block.thread();
  }
  template <typename Program>
  constexpr ValueCorner corner_at(std::uint64_t number) const {
    return corner_of_tile<Program>(p, number);
  }
  constexpr std::uint8_t& scale_at(const ValueCorner& corner, int block) const {
    const auto place = static_cast<std::uint64_t>(corner.at.scale + block * p.row.scale);
    return scale_bytes[tiled != 0 ? tiles.place(place) : place];
  }

  /// Number `at` of `block` in rows of runs: which row, and where in it.
  struct Place {
    int row;
    int of_run;
  };
  static constexpr Place in_wide(int block, int at) {
    return kWideAlong ? Place{block, at} : Place{at, block};
  }
  static constexpr Place in_data(int block, int at) {
    return kDataAlong ? Place{block, at} : Place{at, block};
  }
  constexpr std::int64_t wide_step(std::int64_t ValuePlace::*side) const {
    return (kWideAlong ? p.row : p.column).*side;
  }
  constexpr std::int64_t data_step(std::int64_t ValuePlace::*side) const {
    return (kDataAlong ? p.row : p.column).*side;
  }
};

/// Whole blocks. `in` is the wide array, `out` the data.
template <typename WideType, typename Scaled, int kVector, bool kWideAlong, bool kDataAlong>
struct QuantizeTiles : ScaledTiles<WideType, Scaled, Scaled::kBlock, kVector, kWideAlong, kDataAlong> {
  using Base = ScaledTiles<WideType, Scaled, Scaled::kBlock, kVector, kWideAlong, kDataAlong>;
  using Wide = WideType;

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t number = this->number_of(block);
    if (!this->has_tile(number)) return;
    const ValueCorner corner = this->template corner_at<ScaledProgram<Wide, std::uint8_t>>(number);
    Vectors held;
    FARO_UNROLL
    for (int r = 0; r < Base::kWideRows; ++r) {
      held.row[r] = *reinterpret_cast<const typename Base::WideVector*>(
          static_cast<const Wide*>(this->in) + corner.at.in + r * this->wide_step(&ValuePlace::in));
    }
    Factors factors;
    FARO_UNROLL
    for (int b = 0; b < kVector; ++b) {
      const std::uint8_t scale = Scaled::scale_of(largest_of(held, b), this->params);
      factors.of[b] = Scaled::factor_of(scale, this->params);
      this->scale_at(corner, b) = scale;
    }
    FARO_UNROLL
    for (int r = 0; r < Base::kDataRows; ++r) {
      const auto block_of = [&](int i) { return kDataAlong ? r : i; };
      auto results = quantized<Scaled, Base::kDataRun>(
          [&](int i) {
            const auto place = Base::in_wide(block_of(i), kDataAlong ? i : r);
            return computed<float>(held.row[place.row].get(place.of_run));
          },
          [&](int i) { return factors.of[block_of(i)]; });
      const std::int64_t at = corner.at.out + r * this->data_step(&ValuePlace::out);
      *reinterpret_cast<decltype(results)*>(static_cast<std::uint8_t*>(this->out) + at / Base::kTogether) =
          results;
    }
  }

 private:
  struct Vectors {
    typename Base::WideVector row[Base::kWideRows];
  };
  struct Factors {
    float of[kVector];
  };

  static constexpr int kOfWord = 4 / static_cast<int>(sizeof(Wide));

  // Bits of the largest of a block's magnitudes, which are in the order of the numbers; those of two are
  // compared at once where they share a word.
  static constexpr std::uint32_t largest_of(const Vectors& held, int block) {
    std::uint32_t largest = 0;
    if constexpr (kWideAlong) {
      FARO_UNROLL
      for (int w = 0; w < Base::kWideRun / kOfWord; ++w)
        largest = larger_magnitudes<kOfWord>(largest, held.row[block].word(w));
      if constexpr (kOfWord == 2) largest = larger_magnitudes<2>(largest, largest >> 16);
      return as_float_bits(largest);
    } else {
      FARO_UNROLL
      for (int r = 0; r < Base::kWideRows; ++r)
        largest = larger_magnitudes<kOfWord>(largest, held.row[r].word(block / kOfWord));
      return as_float_bits(block % kOfWord == 0 ? largest : largest >> 16);
    }
  }
  static constexpr std::uint32_t as_float_bits(std::uint32_t magnitude) {
    if constexpr (kOfWord == 1) {
      return magnitude;
    } else {
      return magnitude_bits(to_float(Wide{static_cast<typename Wide::Bits>(magnitude)}));
    }
  }
};

/// `in` is the data, `out` the wide array.
template <typename WideType, typename Scaled, int kPart, int kVector, bool kWideAlong, bool kDataAlong>
struct DequantizeTiles : ScaledTiles<WideType, Scaled, kPart, kVector, kWideAlong, kDataAlong> {
  using Base = ScaledTiles<WideType, Scaled, kPart, kVector, kWideAlong, kDataAlong>;
  using Wide = WideType;

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t number = this->number_of(block);
    if (!this->has_tile(number)) return;
    const ValueCorner corner = this->template corner_at<ScaledProgram<std::uint8_t, Wide>>(number);
    Bytes held;
    FARO_UNROLL
    for (int r = 0; r < Base::kDataRows; ++r) {
      const std::int64_t at = corner.at.in + r * this->data_step(&ValuePlace::in);
      held.row[r] = *reinterpret_cast<const DataVector*>(static_cast<const std::uint8_t*>(this->in) +
                                                         at / Base::kTogether);
    }
    Values values;
    FARO_UNROLL
    for (int b = 0; b < kVector; ++b)
      values.of[b] = Scaled::value_of(this->scale_at(corner, b), this->params);
    FARO_UNROLL
    for (int r = 0; r < Base::kWideRows; ++r) {
      typename Base::WideVector results;
      FARO_UNROLL
      for (int i = 0; i < Base::kWideRun; ++i) {
        const int of_block = kWideAlong ? r : i;
        const auto place = Base::in_data(of_block, kWideAlong ? i : r);
        std::uint8_t bits = held.row[place.row].get(place.of_run / Base::kTogether);
        if constexpr (kIsPacked<Scaled>)
          bits = static_cast<std::uint8_t>(bits >> 4 * (place.of_run % 2) & 0xfU);
        results.put(i, dequantized<Wide, Scaled>(bits, values.of[of_block]));
      }
      *reinterpret_cast<typename Base::WideVector*>(static_cast<Wide*>(this->out) + corner.at.out +
                                                    r * this->wide_step(&ValuePlace::out)) = results;
    }
  }

 private:
  using DataVector = Lanes<std::uint8_t, Base::kDataRun / Base::kTogether>;
  struct Bytes {
    DataVector row[Base::kDataRows];
  };
  struct Values {
    float of[kVector];
  };
};

}  // namespace faro::kernels
