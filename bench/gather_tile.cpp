#include "bench/gather_tile.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/layout/tile.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace faro::bench {
namespace {

constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kTileBytesMax = std::uint64_t{256} << 10;
// The second buffer begins a few lines off, so that the row being filled and the one being gathered from do
// not meet in one cache set.
constexpr std::uint64_t kBufferGapBytes = 256;

std::uint64_t arena_bytes(GatherTile::Shape shape, std::uint64_t element_bytes) {
  const std::uint64_t tile_bytes = element_bytes << (shape.segment_bits + shape.row_bits);
  const std::uint64_t bytes = 2 * (tile_bytes + kBufferGapBytes);
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

GatherTile::Tables make_tables(const Affine& map, GatherTile::Shape shape) {
  const int s = shape.segment_bits;
  FARO_CHECK(s + shape.row_bits <= map.bits());
  const layout::Tile tile = layout::make_tile(map, {.segment_bits = s, .min_row_bits = shape.row_bits});
  FARO_CHECK(tile.row_bits == shape.row_bits);
  const auto from_target = tile.local.inverse();
  FARO_CHECK(from_target.has_value());

  GatherTile::Tables tables;
  tables.segment_bits = s;
  tables.complement = tile.complement;
  tables.block_sources = tile.block_sources;
  tables.block_targets = tile.block_targets;
  for (f2::Word row = 0; row < f2::unit(tile.row_bits); ++row) {
    tables.source_rows.push_back(tile.source_row(row));
    tables.target_rows.push_back(tile.target_row(row));
    tables.row_place.push_back(static_cast<std::uint32_t>(*from_target * (row << s)));
  }
  for (f2::Word column = 0; column < f2::unit(s); ++column) {
    tables.column_place.push_back(static_cast<std::uint32_t>(*from_target * column));
  }
  return tables;
}

#if defined(__x86_64__)

// Only the functions marked so may use the instructions: the rest of the program must run everywhere.
#define FARO_AVX512 __attribute__((target("avx512f")))

constexpr std::size_t kPrefetchRows = 4;

template <int kWidth>
using Narrow = std::conditional_t<kWidth == 1, std::uint8_t, std::uint16_t>;

// One line of output: element m comes from place `base ^ column_place[m]` of the buffer.
template <int kWidth>
FARO_AVX512 inline __m512i gather_line(const std::byte* buffer, std::uint32_t base,
                                       const std::uint32_t* column_place) {
  const auto places = [=](int m) { return column_place + m; };
  if constexpr (kWidth == 4) {
    const __m512i place =
        _mm512_xor_si512(_mm512_set1_epi32(static_cast<int>(base)), _mm512_loadu_si512(places(0)));
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), __mmask16(0xffff), place, buffer, 4);
  } else if constexpr (kWidth == 8) {
    const __m256i place = _mm256_xor_si256(_mm256_set1_epi32(static_cast<int>(base)),
                                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places(0))));
    return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), __mmask8(0xff), place, buffer, 8);
  } else if constexpr (kWidth == 16) {
    const auto load = [=](int m) {
      return reinterpret_cast<const __m128i*>(buffer + std::size_t{base ^ *places(m)} * 16);
    };
    __m512i line = _mm512_castsi128_si512(_mm_load_si128(load(0)));
    line = _mm512_inserti32x4(line, _mm_load_si128(load(1)), 1);
    line = _mm512_inserti32x4(line, _mm_load_si128(load(2)), 2);
    return _mm512_inserti32x4(line, _mm_load_si128(load(3)), 3);
  } else {
    // Narrow elements go through a general register, 8 bytes at a time: 10 to 20% faster than gathers of 32
    // bits that are then narrowed, which cost a step for every element too.
    constexpr int kPerWord = 8 / kWidth;
    std::array<std::uint64_t, 8> words;
    for (int word = 0; word < 8; ++word) {
      std::uint64_t value = 0;
      for (int m = 0; m < kPerWord; ++m) {
        Narrow<kWidth> element;
        std::memcpy(&element, buffer + std::size_t{base ^ *places(word * kPerWord + m)} * kWidth, kWidth);
        value |= std::uint64_t{element} << (8 * kWidth * m);
      }
      words[static_cast<std::size_t>(word)] = value;
    }
    return _mm512_loadu_si512(words.data());
  }
}

FARO_AVX512 inline void copy_row(const std::byte* from, std::byte* to, std::size_t row_bytes) {
  for (std::size_t at = 0; at < row_bytes; at += kLineBytes) {
    _mm512_store_si512(to + at, _mm512_loadu_si512(from + at));
  }
}

inline void prefetch_row(const std::byte* row, std::size_t row_bytes) {
  for (std::size_t at = 0; at < row_bytes; at += kLineBytes) _mm_prefetch(row + at, _MM_HINT_T0);
}

// Blocks [first, last), the next one read while the current one is written.
template <int kWidth>
FARO_AVX512 void run_blocks(const GatherTile::Tables& tables, const std::byte* in, std::byte* out,
                            std::byte* arena, std::uint64_t first, std::uint64_t last) {
  if (first == last) return;
  constexpr std::size_t kLineElements = kLineBytes / kWidth;
  const std::size_t columns = std::size_t{1} << tables.segment_bits;
  const std::size_t rows = tables.row_place.size();
  const std::size_t row_bytes = columns * kWidth;
  const std::uint64_t column_mask = columns - 1;
  std::byte* current = arena;
  std::byte* next = arena + rows * row_bytes + kBufferGapBytes;

  const std::uint64_t* const source_rows = tables.source_rows.data();
  const std::uint64_t first_source = f2::combine(tables.block_sources.data(), first);
  for (std::size_t row = 0; row < rows; ++row) {
    copy_row(in + (first_source ^ source_rows[row]) * kWidth, current + row * row_bytes, row_bytes);
  }
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t target = tables.complement ^ f2::combine(tables.block_targets.data(), block);
    const std::uint64_t target_segment = target & ~column_mask;
    const std::uint32_t target_place = tables.column_place[target & column_mask];
    // The last block reads itself again: cheaper than a second loop without reads.
    const std::uint64_t next_source =
        f2::combine(tables.block_sources.data(), block + 1 < last ? block + 1 : block);
    for (std::size_t row = 0; row < rows; ++row) {
      if (row + kPrefetchRows < rows) {
        prefetch_row(in + (next_source ^ source_rows[row + kPrefetchRows]) * kWidth, row_bytes);
      }
      copy_row(in + (next_source ^ source_rows[row]) * kWidth, next + row * row_bytes, row_bytes);
      std::byte* const target_row = out + (target_segment ^ tables.target_rows[row]) * kWidth;
      const std::uint32_t base = tables.row_place[row] ^ target_place;
      for (std::size_t column = 0; column < columns; column += kLineElements) {
        const __m512i line = gather_line<kWidth>(current, base, tables.column_place.data() + column);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(target_row + column * kWidth), line);
      }
    }
    std::swap(current, next);
  }
  _mm_sfence();
}

using RunBlocks = void (*)(const GatherTile::Tables&, const std::byte*, std::byte*, std::byte*, std::uint64_t,
                           std::uint64_t);

RunBlocks kernel_for(std::uint64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return run_blocks<1>;
    case 2:
      return run_blocks<2>;
    case 4:
      return run_blocks<4>;
    case 8:
      return run_blocks<8>;
    default:
      FARO_CHECK(element_bytes == 16);
      return run_blocks<16>;
  }
}

#endif

}  // namespace

bool GatherTile::available() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

std::vector<GatherTile::Shape> GatherTile::shapes(std::uint64_t element_bytes) {
  std::vector<Shape> shapes;
  for (std::uint64_t segment_bytes = kLineBytes; segment_bytes <= 1024; segment_bytes *= 2) {
    const int s = std::countr_zero(segment_bytes / element_bytes);
    for (const int row_bits : {s, s + 1}) {
      if (segment_bytes << row_bits <= kTileBytesMax)
        shapes.push_back({.segment_bits = s, .row_bits = row_bits});
    }
  }
  return shapes;
}

GatherTile::GatherTile(const Affine& map, std::uint64_t element_bytes, Shape shape, int threads)
    : element_bytes_(element_bytes),
      threads_(threads > 0 ? threads : omp_get_max_threads()),
      tables_(make_tables(map, shape)),
      arena_bytes_(arena_bytes(shape, element_bytes)),
      arenas_(arena_bytes_ * static_cast<std::uint64_t>(threads_)) {
  FARO_CHECK(available());
}

void GatherTile::run(const void* in, void* out) const {
#if defined(__x86_64__)
  const RunBlocks kernel = kernel_for(element_bytes_);
  const std::uint64_t blocks = f2::unit(static_cast<int>(tables_.block_sources.size()));
#pragma omp parallel num_threads(threads_)
  {
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    const auto count = static_cast<std::uint64_t>(omp_get_num_threads());
    kernel(tables_, static_cast<const std::byte*>(in), static_cast<std::byte*>(out),
           arenas_.data() + thread * arena_bytes_, blocks * thread / count, blocks * (thread + 1) / count);
  }
#else
  static_cast<void>(in);
  static_cast<void>(out);
#endif
}

std::string to_text(GatherTile::Shape shape, std::uint64_t element_bytes) {
  return fmt::format("{} B x {}", element_bytes << shape.segment_bits, f2::unit(shape.row_bits));
}

}  // namespace faro::bench
