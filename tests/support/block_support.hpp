// Scaled blocks as tests have them: drawn, and quantised by one loop over all blocks that looks each number
// up among all that its type has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "faro/block_scales.hpp"
#include "number_support.hpp"

namespace faro::test {

// What a code of a type with so many bits of exponent and mantissa stands for: an independent reading.
struct SmallType {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // the last exponent is of infinities and NaN
  bool has_nan;       // all ones

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  double value(unsigned code) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned rest = code & ((1U << (bits() - 1)) - 1);
    const int exponent = static_cast<int>(rest >> mantissa_bits);
    const double fraction = std::ldexp(rest & ((1U << mantissa_bits) - 1), -mantissa_bits);
    const bool last = exponent == (1 << exponent_bits) - 1;
    double x = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    if (has_infinity && last) x = fraction == 0 ? HUGE_VAL : std::nan("");
    if (has_nan && rest == (1U << (bits() - 1)) - 1) x = std::nan("");
    return code >> (bits() - 1) != 0 ? -x : x;
  }
  // Magnitudes of all finite numbers, by code.
  std::vector<double> magnitudes() const {
    std::vector<double> all;
    for (unsigned code = 0; code < 1U << (bits() - 1) && std::isfinite(value(code)); ++code)
      all.push_back(value(code));
    return all;
  }
  // The nearest, of two the even one; what is beyond the largest is that.
  unsigned nearest(double x) const {
    static thread_local std::vector<std::vector<double>> kept(64);
    auto& all = kept[static_cast<std::size_t>(exponent_bits * 8 + mantissa_bits)];
    if (all.empty()) all = magnitudes();
    const double magnitude = std::abs(x);
    const unsigned sign = std::signbit(x) ? 1U << (bits() - 1) : 0;
    const auto above = std::upper_bound(all.begin(), all.end(), magnitude);
    if (above == all.end()) return sign | static_cast<unsigned>(all.size() - 1);
    const auto code = static_cast<unsigned>(above - all.begin() - 1);
    const double down = magnitude - all[code];
    const double up = all[code + 1] - magnitude;
    return sign | (down < up || (down == up && code % 2 == 0) ? code : code + 1);
  }
};

inline constexpr SmallType kE4M3{4, 3, false, true};
inline constexpr SmallType kE5M2{5, 2, true, false};
inline constexpr SmallType kE2M1{2, 1, false, false};

inline const SmallType& type_of(BlockFormat format) {
  return format == BlockFormat::mxfp8_e4m3 ? kE4M3 : format == BlockFormat::mxfp8_e5m2 ? kE5M2 : kE2M1;
}

struct QuantizedBlock {
  unsigned scale = 0;
  double factor = 0;  // numbers are multiplied by it
  double value = 0;   // and by that again
};

inline QuantizedBlock block_of_largest(const BlockScaling& of, double largest) {
  const double most = type_of(of.format).magnitudes().back();
  const double none = std::nan("");
  if (of.format == BlockFormat::nvfp4) {
    const auto global = static_cast<float>(of.global_scale);
    if (std::isnan(largest)) return {.scale = 127, .factor = 0, .value = none};
    const float wanted = static_cast<float>(largest) / 6.0F / global;
    const unsigned scale = kE4M3.nearest(std::clamp(static_cast<double>(wanted), 0x1p-6, 448.0));
    const auto of_scale = static_cast<float>(kE4M3.value(scale));
    return {.scale = scale, .factor = 1.0F / global / of_scale, .value = of_scale * global};
  }
  if (std::isnan(largest)) return {.scale = 255, .factor = 0, .value = none};
  int power = -127;
  if (of.rounding == ScaleRounding::floor) {
    // An infinity counts as 2^128.
    const int of_largest = std::isinf(largest) ? 128 : largest == 0 ? -1000 : std::ilogb(largest);
    power = std::max(of_largest - std::ilogb(most), -127);
  } else {
    const auto quotient = static_cast<double>(static_cast<float>(largest) / static_cast<float>(most));
    while (power < 127 && std::ldexp(1.0, power) < quotient) ++power;
  }
  return {.scale = static_cast<unsigned>(power + 127),
          .factor = std::ldexp(1.0, -power),
          .value = std::ldexp(1.0, power)};
}

// Where a scale lies in tiles of 128 rows and 4 columns: cuBLAS's drawing of them.
inline std::uint64_t tiled_place(std::uint64_t row, std::uint64_t column, std::uint64_t columns) {
  const std::uint64_t tiles = (columns + 3) / 4;
  const std::uint64_t tile = (row / 128) * tiles + column / 4;
  return tile * 512 + (row % 32) * 16 + (row % 128) / 32 * 4 + column % 4;
}

// All indices of extents, one after another.
template <typename Call>
void for_each_index(const std::vector<std::uint64_t>& extents, const Call& call) {
  const std::uint64_t count =
      std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
  std::vector<std::uint64_t> at(extents.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i;
    for (std::size_t axis = at.size(); axis-- > 0; rest /= extents[axis]) at[axis] = rest % extents[axis];
    call(at, i);
  }
}

struct BlockPlaces {
  std::uint64_t wide;  // of number 0 of a block, in numbers
  std::int64_t wide_step;
  std::uint64_t data;
  std::uint64_t data_step;
  std::uint64_t scale;
};

// Calls call(places) of every block.
template <typename Call>
void for_each_block(const BlockScaling& of, const Call& call) {
  std::vector<std::uint64_t> blocks = of.extents;
  const std::uint64_t block = block_of(of.format);
  blocks[of.axis] /= block;
  std::vector<std::int64_t> dense(of.extents.size());
  std::vector<std::int64_t> of_scales(of.extents.size());
  std::int64_t next = 1;
  std::int64_t next_scale = 1;
  for (std::size_t i = dense.size(); i-- > 0;) {
    dense[i] = next;
    of_scales[i] = next_scale;
    next *= static_cast<std::int64_t>(of.extents[i]);
    next_scale *= static_cast<std::int64_t>(blocks[i]);
  }
  const auto& strides = of.strides.empty() ? dense : of.strides;
  if (!of.scale_strides.empty()) of_scales = of.scale_strides;
  for_each_index(blocks, [&](const std::vector<std::uint64_t>& at, std::uint64_t) {
    auto wide = static_cast<std::int64_t>(of.first);
    std::int64_t data = 0;
    std::int64_t scale = 0;
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto index = static_cast<std::int64_t>(at[i]);
      const auto first = i == of.axis ? index * static_cast<std::int64_t>(block) : index;
      wide += first * strides[i];
      data += first * dense[i];
      scale += index * of_scales[i];
      if (i != of.axis) row = row * blocks[i] + at[i];
    }
    if (of.layout == ScaleLayout::tiled)
      scale = static_cast<std::int64_t>(tiled_place(row, at[of.axis], blocks[of.axis]));
    call(BlockPlaces{.wide = static_cast<std::uint64_t>(wide),
                     .wide_step = strides[of.axis],
                     .data = static_cast<std::uint64_t>(data),
                     .data_step = static_cast<std::uint64_t>(dense[of.axis]),
                     .scale = static_cast<std::uint64_t>(scale)});
  });
}

inline double wide_at(const BlockScaling& of, const std::byte* wide, const BlockPlaces& places,
                      std::uint64_t i) {
  const auto place = static_cast<std::int64_t>(places.wide) + static_cast<std::int64_t>(i) * places.wide_step;
  return static_cast<double>(read(of.wide, wide, place, false).real());
}

inline unsigned code_at(const BlockScaling& of, const std::byte* data, std::uint64_t place) {
  if (bits_of(of.format) == 8) return static_cast<unsigned>(data[place]);
  return static_cast<unsigned>(data[place / 2]) >> (place % 2 * 4) & 15;
}
inline void put_code(const BlockScaling& of, std::byte* data, std::uint64_t place, unsigned code) {
  if (bits_of(of.format) == 8) {
    data[place] = static_cast<std::byte>(code);
    return;
  }
  const unsigned shift = place % 2 * 4;
  const unsigned kept = static_cast<unsigned>(data[place / 2]) & ~(15U << shift);
  data[place / 2] = static_cast<std::byte>(kept | code << shift);
}

/// Whether a code may stand for NaN: of 4 bits, which have none, the largest.
inline bool may_be_none(BlockFormat format, unsigned code) {
  const SmallType& type = type_of(format);
  return type.bits() == 4 ? (code & 7) == 7 : std::isnan(type.value(code));
}

// By one loop. What a NaN becomes, whose bits are not said, is taken from `got` where it is none there
// either.
inline void quantize_by_loop(const BlockScaling& of, const std::byte* wide, const std::byte* got,
                             std::byte* data, std::byte* scales) {
  const SmallType& type = type_of(of.format);
  for_each_block(of, [&](const BlockPlaces& places) {
    double largest = 0;
    for (std::uint64_t i = 0; i < block_of(of.format); ++i) {
      const double x = std::abs(wide_at(of, wide, places, i));
      if (!(x <= largest)) largest = std::isnan(largest) ? largest : x;
    }
    const QuantizedBlock block = block_of_largest(of, largest);
    scales[places.scale] = static_cast<std::byte>(block.scale);
    for (std::uint64_t i = 0; i < block_of(of.format); ++i) {
      const std::uint64_t place = places.data + i * places.data_step;
      const double x = wide_at(of, wide, places, i);
      const auto scaled = static_cast<float>(static_cast<float>(x) * static_cast<float>(block.factor));
      const unsigned of_got = code_at(of, got, place);
      const bool no_number = std::isnan(scaled);
      const bool agrees = may_be_none(of.format, of_got);
      put_code(of, data, place, !no_number ? type.nearest(scaled) : agrees ? of_got : 0x55);
    }
  });
}

inline void dequantize_by_loop(const BlockScaling& of, const std::byte* data, const std::byte* scales,
                               std::byte* wide) {
  const SmallType& type = type_of(of.format);
  for_each_block(of, [&](const BlockPlaces& places) {
    const auto scale = static_cast<unsigned>(scales[places.scale]);
    const float value = of.format == BlockFormat::nvfp4
                            ? static_cast<float>(kE4M3.value(scale)) * static_cast<float>(of.global_scale)
                        : scale == 255 ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(std::ldexp(1.0, static_cast<int>(scale) - 127));
    for (std::uint64_t i = 0; i < block_of(of.format); ++i) {
      const auto x =
          static_cast<float>(type.value(code_at(of, data, places.data + i * places.data_step))) * value;
      const auto place =
          static_cast<std::int64_t>(places.wide) + static_cast<std::int64_t>(i) * places.wide_step;
      with_type(of.wide, [&](auto stored) {
        using T = decltype(stored);
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, kernels::Half> ||
                      std::is_same_v<T, kernels::BrainHalf>) {
          const T made = kernels::stored<T>(x, {});
          std::memcpy(wide + place * static_cast<std::int64_t>(sizeof(T)), &made, sizeof(T));
        }
      });
    }
  });
}

/// NaN has any bits: where both are none, those of `got` stand in `wanted`.
inline void forget_bits_of_nan(Number number, const std::byte* got, std::byte* wanted, std::uint64_t count) {
  const std::uint64_t width = bytes_of(number);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (std::isnan(read(number, got, at, false).real()) && std::isnan(read(number, wanted, at, false).real()))
      std::memcpy(wanted + i * width, got + i * width, width);
  }
}

template <typename Random>
BlockScaling draw_blocks(Random& random) {
  const auto below = [&](std::uint64_t end) { return random() % end; };
  BlockScaling of;
  of.format = static_cast<BlockFormat>(below(4));
  constexpr Number kWide[] = {Number::f32, Number::f16, Number::bf16};
  of.wide = kWide[below(3)];
  of.rounding = below(2) == 0 ? ScaleRounding::floor : ScaleRounding::ceil;
  if (of.format == BlockFormat::nvfp4 && below(2) == 0)
    of.global_scale =
        std::ldexp(1.0 + static_cast<double>(below(100)) / 100, static_cast<int>(below(20)) - 10);
  const std::size_t rank = 1 + below(4);
  of.axis = below(rank);
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t extent = 1 + below(std::clamp<std::uint64_t>(6000 / count, 1, below(2) == 0 ? 8 : 200));
    if (i == of.axis) extent = block_of(of.format) * (1 + below(below(3) == 0 ? 9 : 3));
    if (i + 1 == rank && bits_of(of.format) == 4) extent += extent % 2;
    of.extents.push_back(extent);
    count *= extent;
  }
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shuffle = [&] {
    for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  };
  if (below(4) != 0) {
    shuffle();
    of.strides.resize(rank);
    std::int64_t next = below(6) == 0 ? 2 : 1;
    for (const std::size_t axis : order) {
      of.strides[axis] = next;
      next *= static_cast<std::int64_t>(of.extents[axis]);
      if (below(6) == 0) next += static_cast<std::int64_t>(below(5));
    }
    for (std::size_t i = 0; i < rank; ++i) {
      if (below(8) != 0) continue;
      of.first += static_cast<std::uint64_t>(of.strides[i]) * (of.extents[i] - 1);
      of.strides[i] = -of.strides[i];
    }
  }
  of.layout = below(3) == 0 ? ScaleLayout::tiled : ScaleLayout::strided;
  if (of.layout == ScaleLayout::strided && below(2) == 0) {
    shuffle();
    of.scale_strides.resize(rank);
    std::int64_t next = below(4) == 0 ? 3 : 1;
    for (const std::size_t axis : order) {
      of.scale_strides[axis] = next;
      next *= static_cast<std::int64_t>(axis == of.axis ? of.extents[axis] / block_of(of.format)
                                                        : of.extents[axis]);
      if (below(6) == 0) next += 1;
    }
  }
  return of;
}

// Numbers as they come in blocks: of one size each, some 0, tiny, infinite or none.
template <typename Random>
void fill_blocks(std::byte* array, std::uint64_t count, const BlockScaling& of, Random& random) {
  const std::uint64_t width = bytes_of(of.wide);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random();
    const double power = static_cast<double>(drawn >> 8 & 15) - 8 + (drawn % 64 == 0 ? -30 : 0);
    double x = std::exp2(power) * (static_cast<double>(drawn >> 16 & 0xffff) / 32768 - 1);
    if (drawn % 128 == 1) x = 0;
    if (drawn % 2048 == 2) x = HUGE_VAL;
    if (drawn % 2048 == 3) x = std::nan("");
    if (drawn % 512 == 4) x = std::ldexp(x, -140);
    with_type(of.wide, [&](auto stored) {
      using T = decltype(stored);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, kernels::Half> ||
                    std::is_same_v<T, kernels::BrainHalf>) {
        const T made = kernels::stored<T>(static_cast<float>(x), {});
        std::memcpy(array + i * width, &made, width);
      }
    });
  }
}

inline std::string text_of(const BlockScaling& of) {
  const auto list = [](const auto& values) {
    std::string text;
    for (const auto value : values) text += std::to_string(value) + " ";
    return text;
  };
  return std::string(name(of.format)) + " of " + name(of.wide) + ", extents " + list(of.extents) +
         "strides " + list(of.strides) + "from " + std::to_string(of.first) + ", axis " +
         std::to_string(of.axis) + (of.rounding == ScaleRounding::ceil ? ", ceil" : ", floor") +
         (of.layout == ScaleLayout::tiled ? ", tiled" : ", scale strides " + list(of.scale_strides)) +
         ", global " + std::to_string(of.global_scale);
}

}  // namespace faro::test
