#include "engines/cpu/values/block_run.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/block_formats.hpp"
#include "kernels/values.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/values/block_run.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

#ifndef FARO_BLOCK_RUN
#define FARO_BLOCK_RUN
namespace faro::cpu {

constexpr std::size_t kBlockColumns = 128;                 // side by side in a chunk
constexpr std::size_t kBlockNumbers = 32 * kBlockColumns;  // of a chunk

template <typename T>
T load_wide(const std::byte* from, std::size_t i) {
  T x;
  std::memcpy(&x, from + i * sizeof(T), sizeof(T));
  return x;
}

}  // namespace faro::cpu
#endif  // FARO_BLOCK_RUN

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

using kernels::BlockParams;

struct BlockBuffers {
  alignas(64) float numbers[kBlockNumbers];
  alignas(64) std::uint8_t bits[kBlockNumbers];
  alignas(64) std::uint32_t largest[kBlockColumns];
  alignas(64) float factors[kBlockColumns];
};

template <typename Wide>
void WidenBlocks(const std::byte* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = kernels::computed<float>(load_wide<Wide>(from, i));
}

// Two of 4 bits to a byte, or as they are.
template <typename Scaled>
void StoreBits(const std::uint8_t* bits, std::byte* to, std::size_t count) {
  if constexpr (kernels::kIsPacked<Scaled>) {
    for (std::size_t i = 0; i < count / 2; ++i)
      to[i] = static_cast<std::byte>(bits[2 * i] | bits[2 * i + 1] << 4);
  } else {
    std::memcpy(to, bits, count);
  }
}
template <typename Scaled>
void LoadBits(const std::byte* from, std::uint8_t* bits, std::size_t count) {
  if constexpr (kernels::kIsPacked<Scaled>) {
    for (std::size_t i = 0; i < count / 2; ++i) {
      const auto pair = static_cast<std::uint8_t>(from[i]);
      bits[2 * i] = pair & 15;
      bits[2 * i + 1] = static_cast<std::uint8_t>(pair >> 4);
    }
  } else {
    std::memcpy(bits, from, count);
  }
}
template <typename Scaled>
constexpr std::uint64_t DataBytes(std::uint64_t numbers) {
  return kernels::kIsPacked<Scaled> ? numbers / 2 : numbers;
}

template <typename Scaled>
void ScaleBlocks(const BlockParams& params, BlockBuffers& buffers, std::byte* scales, std::size_t blocks) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint8_t scale = Scaled::scale_of(buffers.largest[b], params);
    scales[b] = static_cast<std::byte>(scale);
    buffers.factors[b] = Scaled::factor_of(scale, params);
  }
}
template <typename Scaled>
void ReadScales(const BlockParams& params, BlockBuffers& buffers, const std::byte* scales,
                std::size_t blocks) {
  for (std::size_t b = 0; b < blocks; ++b)
    buffers.factors[b] = Scaled::value_of(static_cast<std::uint8_t>(scales[b]), params);
}

template <typename Wide, typename Scaled>
struct Lines {
  static constexpr std::size_t kBlock = Scaled::kBlock;
  static constexpr std::size_t kBlocks = kBlockColumns;  // of a chunk

  static void Quantize(const BlockParams& params, const QuantizedRun& run, std::uint64_t first,
                       std::size_t blocks, BlockBuffers& buffers) {
    const std::size_t count = blocks * kBlock;
    WidenBlocks<Wide>(run.wide + first * kBlock * sizeof(Wide), buffers.numbers, count);
    for (std::size_t b = 0; b < blocks; ++b) {
      std::uint32_t largest = 0;
      for (std::size_t i = 0; i < kBlock; ++i)
        largest = std::max(largest, kernels::magnitude_bits(buffers.numbers[b * kBlock + i]));
      buffers.largest[b] = largest;
    }
    ScaleBlocks<Scaled>(params, buffers, run.scales + first, blocks);
    for (std::size_t b = 0; b < blocks; ++b) {
      const float factor = buffers.factors[b];
      for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; ++i)
        buffers.bits[i] = kernels::quantized<Scaled>(buffers.numbers[i], factor);
    }
    StoreBits<Scaled>(buffers.bits, run.data + DataBytes<Scaled>(first * kBlock), count);
  }

  static void Dequantize(const BlockParams& params, const DequantizedRun& run, std::uint64_t first,
                         std::size_t blocks, BlockBuffers& buffers) {
    const std::size_t count = blocks * kBlock;
    LoadBits<Scaled>(run.data + DataBytes<Scaled>(first * kBlock), buffers.bits, count);
    ReadScales<Scaled>(params, buffers, run.scales + first, blocks);
    auto* const wide = reinterpret_cast<Wide*>(buffers.numbers);
    for (std::size_t b = 0; b < blocks; ++b) {
      const float value = buffers.factors[b];
      for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; ++i)
        wide[i] = kernels::dequantized<Wide, Scaled>(buffers.bits[i], value);
    }
    std::memcpy(run.wide + first * kBlock * sizeof(Wide), wide, count * sizeof(Wide));
  }
};

template <typename Wide, typename Scaled>
struct Columns {
  static constexpr std::size_t kBlock = Scaled::kBlock;
  static constexpr std::size_t kBlocks = kBlockColumns;

  static void Quantize(const BlockParams& params, const QuantizedRun& run, std::uint64_t first,
                       std::size_t blocks, BlockBuffers& buffers) {
    std::fill_n(buffers.largest, blocks, 0U);
    for (std::size_t i = 0; i < kBlock; ++i) {
      float* const row = buffers.numbers + i * kBlockColumns;
      const std::byte* const from = run.wide + static_cast<std::int64_t>(i) * run.wide_pitch_bytes;
      WidenBlocks<Wide>(from + first * sizeof(Wide), row, blocks);
      for (std::size_t b = 0; b < blocks; ++b)
        buffers.largest[b] = std::max(buffers.largest[b], kernels::magnitude_bits(row[b]));
    }
    ScaleBlocks<Scaled>(params, buffers, run.scales + first, blocks);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float* const row = buffers.numbers + i * kBlockColumns;
      for (std::size_t b = 0; b < blocks; ++b)
        buffers.bits[b] = kernels::quantized<Scaled>(row[b], buffers.factors[b]);
      std::byte* const to = run.data + static_cast<std::int64_t>(i) * run.data_pitch_bytes;
      StoreBits<Scaled>(buffers.bits, to + DataBytes<Scaled>(first), blocks);
    }
  }

  static void Dequantize(const BlockParams& params, const DequantizedRun& run, std::uint64_t first,
                         std::size_t blocks, BlockBuffers& buffers) {
    ReadScales<Scaled>(params, buffers, run.scales + first, blocks);
    auto* const wide = reinterpret_cast<Wide*>(buffers.numbers);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::byte* const from = run.data + static_cast<std::int64_t>(i) * run.data_pitch_bytes;
      LoadBits<Scaled>(from + DataBytes<Scaled>(first), buffers.bits, blocks);
      for (std::size_t b = 0; b < blocks; ++b)
        wide[b] = kernels::dequantized<Wide, Scaled>(buffers.bits[b], buffers.factors[b]);
      std::byte* const to = run.wide + static_cast<std::int64_t>(i) * run.wide_pitch_bytes;
      std::memcpy(to + first * sizeof(Wide), wide, blocks * sizeof(Wide));
    }
  }
};

template <typename Wide, typename Scaled, typename Run>
void RunBlocks(const BlockProgram& program, const Run& run) {
  BlockBuffers buffers;
  const auto go = [&]<typename Blocks>() HWY_ATTR {
    for (std::uint64_t first = 0; first < run.blocks; first += Blocks::kBlocks) {
      const std::size_t blocks = std::min<std::uint64_t>(Blocks::kBlocks, run.blocks - first);
      if constexpr (std::is_same_v<Run, QuantizedRun>) {
        Blocks::Quantize(program.params, run, first, blocks, buffers);
      } else {
        Blocks::Dequantize(program.params, run, first, blocks, buffers);
      }
    }
  };
  if (program.in_columns) return go.template operator()<Columns<Wide, Scaled>>();
  go.template operator()<Lines<Wide, Scaled>>();
}

template <typename Run>
void RunAnyBlocks(const BlockProgram& program, const Run& run) {
  kernels::with_format(program.format, [&]<typename Scaled>() HWY_ATTR {
    switch (program.wide) {
      case Number::f16:
        return RunBlocks<kernels::Half, Scaled>(program, run);
      case Number::bf16:
        return RunBlocks<kernels::BrainHalf, Scaled>(program, run);
      default:
        return RunBlocks<float, Scaled>(program, run);
    }
  });
}

void QuantizeBlocks(const BlockProgram& program, const QuantizedRun& run) { RunAnyBlocks(program, run); }
void DequantizeBlocks(const BlockProgram& program, const DequantizedRun& run) { RunAnyBlocks(program, run); }

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {
HWY_EXPORT(QuantizeBlocks);
HWY_EXPORT(DequantizeBlocks);

void quantize_run(const BlockProgram& program, const QuantizedRun& run) {
  HWY_DYNAMIC_DISPATCH(QuantizeBlocks)(program, run);
}
void dequantize_run(const BlockProgram& program, const DequantizedRun& run) {
  HWY_DYNAMIC_DISPATCH(DequantizeBlocks)(program, run);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
