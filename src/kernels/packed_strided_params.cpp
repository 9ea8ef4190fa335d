#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "kernels/packed_affine_params.hpp"
#include "kernels/packed_launch.hpp"
#include "kernels/packed_strided.hpp"

namespace faro::kernels {
namespace {

using f2::Word;

// A bit of the index, or an odd part of it: strides in elements.
struct IndexPart {
  std::uint64_t extent = 2;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

struct IndexParts {
  std::vector<IndexPart> bits;
  std::vector<IndexPart> odd;
};

std::optional<IndexParts> parts_of(const faro::detail::AxisMap& part, std::uint32_t element_bits) {
  const auto element = static_cast<std::int64_t>(element_bits);
  IndexParts made;
  for (const faro::detail::StridedAxis& axis : part.axes) {
    if (axis.extent == 0 || axis.in <= 0 || axis.out <= 0 || axis.in % element != 0 ||
        axis.out % element != 0)
      return std::nullopt;
    IndexPart rest{.extent = axis.extent,
                   .in = static_cast<std::uint64_t>(axis.in / element),
                   .out = static_cast<std::uint64_t>(axis.out / element)};
    for (; rest.extent % 2 == 0; rest.extent /= 2, rest.in *= 2, rest.out *= 2)
      made.bits.push_back({.in = rest.in, .out = rest.out});
    if (rest.extent > 1) made.odd.push_back(rest);
  }
  return made;
}

// Strides of bits in order: 1, 2, 4 .. of a segment, then multiples of vectors.
bool has_segments(const std::vector<std::uint64_t>& strides, int segment_bits, std::uint64_t vector) {
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (i < static_cast<std::size_t>(segment_bits) ? strides[i] != f2::unit(static_cast<int>(i))
                                                   : strides[i] % vector != 0)
      return false;
  }
  return true;
}

// What places of words become whose bits have strides; false where one is a sum of others.
class WordStrides {
 public:
  WordStrides(const std::vector<std::uint64_t>& strides, int word_index_bits) {
    for (std::size_t i = static_cast<std::size_t>(word_index_bits); i < strides.size(); ++i)
      words_.push_back(strides[i] >> word_index_bits);
  }
  std::uint64_t operator()(Word place) const {
    std::uint64_t sum = 0;
    for (; place != 0; place &= place - 1) sum += words_[static_cast<std::size_t>(f2::trailing_bit(place))];
    return sum;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

std::optional<PackedStridedParams> make_packed_strided_params(const faro::detail::AxisMap& part,
                                                              std::uint32_t element_bits,
                                                              const PackedAffineShape& shape) {
  if (shape.squares == PackedSquares::stored) {
    faro::detail::AxisMap back = part;
    std::swap(back.in_first, back.out_first);
    for (faro::detail::StridedAxis& axis : back.axes) std::swap(axis.in, axis.out);
    PackedAffineShape loaded = shape;
    loaded.squares = PackedSquares::loaded;
    return make_packed_strided_params(back, element_bits, loaded);
  }
  const std::uint64_t vector_bits = std::uint64_t{8} * kMaxVectorBytes;
  const std::uint64_t vector = vector_bits / element_bits;
  const int q = shape.word_index_bits;
  const int segment_bits = shape.words.segment_bits + q;
  auto parts = parts_of(part, element_bits);
  if (!parts || parts->odd.size() > kMostOuterAxes || part.in_first < 0 || part.out_first < 0 ||
      static_cast<std::uint64_t>(part.in_first | part.out_first) % vector_bits != 0)
    return std::nullopt;
  for (const IndexPart& odd : parts->odd) {
    if ((odd.in | odd.out) % vector != 0) return std::nullopt;
  }
  const int n = static_cast<int>(parts->bits.size());
  if (n < element_tile_bits(shape) || n - element_tile_bits(shape) > kMaxBlockBits) return std::nullopt;

  // Bits in the order of the input's strides are the index; in the output's they are where it goes.
  std::sort(parts->bits.begin(), parts->bits.end(),
            [](const IndexPart& a, const IndexPart& b) { return a.in < b.in; });
  std::vector<std::size_t> by_out(parts->bits.size());
  std::iota(by_out.begin(), by_out.end(), std::size_t{0});
  std::sort(by_out.begin(), by_out.end(),
            [&](std::size_t a, std::size_t b) { return parts->bits[a].out < parts->bits[b].out; });
  std::vector<std::uint64_t> in;
  std::vector<std::uint64_t> out;
  f2::Matrix matrix = f2::Matrix::zero(n, n);
  for (std::size_t i = 0; i < by_out.size(); ++i) {
    in.push_back(parts->bits[i].in);
    out.push_back(parts->bits[by_out[i]].out);
    matrix.set_column(static_cast<int>(by_out[i]), f2::unit(static_cast<int>(i)));
  }
  if (!has_segments(in, segment_bits, vector) || !has_segments(out, segment_bits, vector))
    return std::nullopt;

  if (!fits(Affine(matrix, 0), shape)) return std::nullopt;
  PackedStridedParams params{};
  params.affine = make_packed_affine_params(Affine(matrix, 0), shape, 1);
  const WordStrides in_words(in, q);
  const WordStrides out_words(out, q);
  AffineTileParams& tile = params.affine.tile;
  // By squares what leads from row to row is in bytes.
  const int unit = shape.has_squares() ? kWordBytesBits : 0;
  const auto all_single = [](const std::uint64_t* rows, int count) {
    return std::all_of(rows, rows + count, [](Word row) { return f2::is_power_of_two(row); });
  };
  FARO_CHECK(all_single(tile.source_row, shape.words.row_bits) &&
             all_single(tile.target_row, shape.words.row_bits));
  for (int j = 0; j < shape.words.row_bits; ++j) {
    tile.source_row[j] = in_words(tile.source_row[j]);
    tile.target_row[j] = out_words(tile.target_row[j] >> unit) << unit;
  }
  if (shape.has_squares()) {
    if (params.affine.steps != SquareSteps::transpose) return std::nullopt;
    FARO_CHECK(all_single(params.affine.group_source + shape.words.vector_bits, shape.words.thread_bits) &&
               all_single(params.affine.word_source, q));
    for (std::uint64_t& source : params.affine.group_source) source = in_words(source >> unit) << unit;
    for (std::uint64_t& source : params.affine.word_source) source = in_words(source >> unit) << unit;
  }
  for (int d = 0; d < kBlockDigits; ++d) {
    for (int v = 0; v < kBlockDigitValues; ++v) {
      tile.block_source[d][v] = in_words(tile.block_source[d][v]);
      tile.block_target[d][v] = out_words(tile.block_target[d][v]);
    }
  }
  for (const IndexPart& odd : parts->odd) {
    params.outer[params.outer_count++] = {
        .extent = device::Division64(odd.extent), .in = odd.in >> q, .out = odd.out >> q};
    params.outers *= odd.extent;
  }
  params.in_first = static_cast<std::uint64_t>(part.in_first) / 32;
  params.out_first = static_cast<std::uint64_t>(part.out_first) / 32;
  return params;
}

namespace {

bool is_of_width(const PackedAffineShape& shape, std::uint32_t element_bits) {
  return element_bits << shape.word_index_bits == kWordBits;
}

}  // namespace

PackedTiles make_packed_tiles(std::uint32_t element_bits, const Affine& map, std::uint64_t batch) {
  PackedTiles made;
  for (std::size_t i = 0; i < kPackedTileCount; ++i) {
    const PackedAffineShape& shape = kPackedTiles[i].shape;
    if (is_of_width(shape, element_bits) && fits(map, shape))
      made.affine[i] = make_packed_affine_params(map, shape, batch);
  }
  return made;
}

PackedTiles make_packed_tiles(const PackedWork& work, const std::vector<faro::detail::AxisMap>& parts) {
  PackedTiles made;
  for (const faro::detail::AxisMap& part : parts) {
    PackedPartTiles& tiles = made.parts.emplace_back();
    tiles.box = make_packed_box(part, work.element_bits, work.in_high_first != work.out_high_first);
    for (std::size_t i = 0; i < kPackedTileCount; ++i) {
      const PackedAffineShape& shape = kPackedTiles[i].shape;
      if (is_of_width(shape, work.element_bits))
        tiles.strided[i] = make_packed_strided_params(part, work.element_bits, shape);
    }
  }
  return made;
}

}  // namespace faro::kernels
