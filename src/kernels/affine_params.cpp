#include "kernels/affine_params.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "faro/error.hpp"
#include "faro/machine/access_counts.hpp"

namespace faro::kernels {
namespace {

using f2::Subspace;
using f2::Word;
using machine::log2_exact;

constexpr const char* kFitting = "fit the tile kernel";

std::string text(const AffineTileShape& shape) {
  return "shape of " + std::to_string(shape.element_bytes()) +
         "-byte elements, s = " + std::to_string(shape.segment_bits) +
         ", r = " + std::to_string(shape.row_bits) + ", v = " + std::to_string(shape.vector_bits) + ", " +
         std::to_string(shape.threads()) + " threads";
}

std::string text(const layout::Tile& tile) {
  return "tile of n = " + std::to_string(tile.index_bits) + ", s = " + std::to_string(tile.segment_bits) +
         ", r = " + std::to_string(tile.row_bits);
}

void require_batch(const char* operation, std::uint64_t batch, int index_bits) {
  if (batch == 0) fail(ErrorCode::value, operation, "a batch of 0", "at least one array");
  constexpr int max_total_bits = 63;
  if (index_bits > max_total_bits || batch > std::uint64_t{1} << (max_total_bits - index_bits)) {
    fail(ErrorCode::unsupported, operation,
         std::to_string(batch) + " arrays of 2^" + std::to_string(index_bits) + " elements",
         "at most 2^63 elements in all", "split the batch");
  }
}

void require_fit(const layout::Tile& tile, const AffineTileShape& shape) {
  if (fits(tile, shape)) return;
  fail(ErrorCode::unsupported, kFitting, text(tile), "what fits the " + text(shape),
       "choose a shape with the tile's s and r, or give the tile more rows");
}

Subspace unit_span(int dimension, int first, int end) {
  Subspace span(dimension);
  for (int i = first; i < std::min(end, dimension); ++i) span.insert(f2::unit(i));
  return span;
}

}  // namespace

bool fits(const layout::Tile& tile, const AffineTileShape& shape) {
  return is_valid(shape) && tile.segment_bits == shape.segment_bits && tile.row_bits == shape.row_bits &&
         tile.block_bits() <= kMaxBlockBits;
}

SharedPhases shared_phases(const layout::Tile& tile, const AffineTileShape& shape,
                           const machine::MemoryGeometry& geometry) {
  const int m = tile.tile_bits();
  // The lanes of a phase are consecutive threads, and these are consecutive vectors on either side.
  const auto vectors_end = [&](int access_bytes) {
    return shape.vector_bits +
           std::min(shape.thread_bits, log2_exact(geometry.lanes_per_phase(access_bytes)));
  };
  const auto inverse = tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  const Subspace lanes = unit_span(m, shape.vector_bits, vectors_end(shape.element_bytes()));
  return {unit_span(m, 0, vectors_end(shape.vector_bytes())), f2::image(*inverse, lanes)};
}

layout::Xor make_tile_layout(const layout::Tile& tile, const AffineTileShape& shape,
                             const machine::MemoryGeometry& geometry) {
  SharedPhases phases = shared_phases(tile, shape, geometry);
  return layout::make_xor(
      {tile.tile_bits(), shape.width_bits, std::move(phases.write), std::move(phases.read), geometry});
}

AffineTileParams make_affine_tile_params(const layout::Tile& tile, const AffineTileShape& shape,
                                         std::uint64_t batch, const machine::MemoryGeometry& geometry) {
  require_fit(tile, shape);
  return make_affine_tile_params(tile, shape, batch, make_tile_layout(tile, shape, geometry));
}

AffineTileParams make_affine_tile_params(const layout::Tile& tile, const AffineTileShape& shape,
                                         std::uint64_t batch, const layout::Xor& layout) {
  require_fit(tile, shape);
  require_batch(kFitting, batch, tile.index_bits);
  FARO_CHECK(layout.tile_bits == tile.tile_bits());

  AffineTileParams params{};
  for (int bit = 0; bit < tile.block_bits(); ++bit) {
    const int digit = bit / kBlockDigitBits;
    const int bit_of_digit = 1 << bit % kBlockDigitBits;
    for (int value = 0; value < kBlockDigitValues; ++value) {
      if ((value & bit_of_digit) == 0) continue;
      params.block_source[digit][value] ^= tile.block_sources[static_cast<std::size_t>(bit)];
      params.block_target[digit][value] ^= tile.block_targets[static_cast<std::size_t>(bit)];
    }
  }
  std::copy(tile.source_rows.begin(), tile.source_rows.end(), params.source_row);
  std::copy(tile.target_rows.begin(), tile.target_rows.end(), params.target_row);
  params.complement = tile.complement;
  params.batch = batch;
  params.index_bits = tile.index_bits;
  params.block_bits = tile.block_bits();

  const auto inverse = tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  for (int i = 0; i < tile.tile_bits(); ++i) {
    params.swizzle[i] = layout.mask_of_bit(i);
    params.read_address[i] = layout(static_cast<std::uint32_t>(inverse->column(i)));
  }
  return params;
}

AffineNaiveParams make_affine_naive_params(const Affine& map, std::uint64_t batch, int thread_bits) {
  constexpr const char* operation = "fit the naive kernel";
  AffineNaiveParams params{};
  const auto most = static_cast<int>(std::size(params.column));
  if (map.bits() > most) {
    fail(ErrorCode::unsupported, operation, std::to_string(map.bits()) + " index bits",
         "at most " + std::to_string(most), "use the tile kernel");
  }
  require_batch(operation, batch, map.bits());
  FARO_CHECK(thread_bits >= 0 && thread_bits <= kMaxThreadBits);
  for (int j = 0; j < map.bits(); ++j) params.column[j] = map.matrix().column(j);
  params.complement = map.complement();
  params.batch = batch;
  params.index_bits = map.bits();
  params.thread_bits = thread_bits;
  return params;
}

namespace {

using f2::Word;
void require_fit(const Affine& map, int vector_bits, std::uint64_t batch) {
  if (batch == 0)
    fail(ErrorCode::value, "fit the kernel of whole segments", "a batch of 0", "at least one array");
  if (!keeps_low_bits(map, vector_bits)) {
    fail(ErrorCode::unsupported, "fit the kernel of whole segments",
         "a map that moves elements inside 2^" + std::to_string(vector_bits),
         "low index bits that stay as they are", "take shorter vectors or the tile kernel");
  }
  constexpr int most = kMaxBlockBits + kSegmentsThreadBits;
  if (map.bits() - vector_bits > most) {
    fail(ErrorCode::unsupported, "fit the kernel of whole segments",
         "2^" + std::to_string(map.bits() - vector_bits) + " vectors an array",
         "at most 2^" + std::to_string(most));
  }
  constexpr int max_total_bits = 63;
  if (batch > std::uint64_t{1} << (max_total_bits - map.bits())) {
    fail(ErrorCode::unsupported, "fit the kernel of whole segments", "a batch of " + std::to_string(batch),
         "at most 2^63 elements in all", "split the batch");
  }
}

}  // namespace

bool keeps_low_bits(const Affine& map, int bits) {
  const Word low = f2::low_mask(bits);
  if (bits > map.bits() || (map.complement() & low) != 0) return false;
  for (int j = 0; j < map.bits(); ++j) {
    const Word column = map.matrix().column(j);
    if (j < bits ? column != f2::unit(j) : (column & low) != 0) return false;
  }
  return true;
}

AffineSegmentsParams make_affine_segments_params(const Affine& map, int vector_bits, std::uint64_t batch) {
  FARO_CHECK(vector_bits >= 0 && vector_bits <= machine::log2_exact(kMaxVectorBytes));
  require_fit(map, vector_bits, batch);
  const int n = map.bits() - vector_bits;
  // Where bit j of a vector's number leads; above n it is the array's number.
  const auto image = [&](int j) {
    return j < n ? map.matrix().column(vector_bits + j) >> vector_bits : f2::unit(j);
  };
  AffineSegmentsParams params{};
  for (int j = 0; j < kSegmentsThreadBits; ++j) params.thread_target[j] = image(j);
  params.block_bits = std::max(0, n - kSegmentsThreadBits);
  for (int bit = 0; bit < params.block_bits; ++bit) {
    const int digit = bit / kBlockDigitBits;
    const int bit_of_digit = 1 << bit % kBlockDigitBits;
    for (int value = 0; value < kBlockDigitValues; ++value) {
      if ((value & bit_of_digit) != 0) params.block_target[digit][value] ^= image(kSegmentsThreadBits + bit);
    }
  }
  params.complement = map.complement() >> vector_bits;
  params.vectors = batch << n;
  return params;
}

}  // namespace faro::kernels
