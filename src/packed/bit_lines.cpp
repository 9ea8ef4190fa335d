#include "packed/bit_lines.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

#include "engines/cpu/tile/micro_tile.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::packed {
namespace {

using f2::Matrix;
using f2::Word;

constexpr int kByteNumberBits = kPlaceBits - kBitsInByte;
constexpr Word kInByte = f2::unit(kBitsInByte) - 1;
constexpr std::size_t kNearLines = 256;  // that stay in the nearest cache beside others

Matrix stacked(const Matrix& upper, const Matrix& lower) {
  Matrix result = Matrix::zero(upper.rows() + lower.rows(), upper.columns());
  for (int j = 0; j < upper.columns(); ++j)
    result.set_column(j, upper.column(j) | lower.column(j) << upper.rows());
  return result;
}

Matrix beside(const Matrix& left, const Matrix& right) {
  Matrix result = Matrix::zero(left.rows(), left.columns() + right.columns());
  for (int j = 0; j < left.columns(); ++j) result.set_column(j, left.column(j));
  for (int j = 0; j < right.columns(); ++j) result.set_column(left.columns() + j, right.column(j));
  return result;
}

// The index that puts byte `source` p at byte p; before squares are turned, which an instruction does with
// the eight rows upside down, at the place from below.
LineImage index_of(const Matrix& source, bool before_squares) {
  LineImage image;
  for (Word p = 0; p < kLineSize; ++p)
    image.bytes[p] = static_cast<std::uint8_t>(source * (before_squares ? p ^ kInByte : p));
  return image;
}

// The matrix, as the instruction has it, that moves bit b of a byte to place `turn` b + added.
std::uint64_t matrix_of_places(const Matrix& turn, Word added) {
  std::uint64_t matrix = 0;
  for (Word b = 0; b < 8; ++b) matrix |= f2::unit(static_cast<int>(b)) << 8 * (7 - ((turn * b) ^ added));
  return matrix;
}

Matrix inverse_of(const Matrix& matrix) {
  const auto inverse = matrix.inverse();
  FARO_CHECK(inverse.has_value());
  return *inverse;
}

// Vectors of `ambient` bits that make a basis together with `vectors`, drawn.
Matrix complement_of(const Matrix& vectors, std::mt19937_64& random) {
  const int n = vectors.rows();
  Matrix all = vectors;
  while (all.columns() < n) {
    const Word drawn = random() & f2::low_mask(n);
    const Matrix more = beside(all, Matrix::from_columns(n, std::span(&drawn, 1)));
    if (more.rank() == more.columns()) all = more;
  }
  return all.block(0, vectors.columns(), n, n - vectors.columns());
}

// Three independent sums of `vectors`, drawn.
Matrix three_of(const std::vector<Word>& vectors, std::mt19937_64& random) {
  Matrix three = Matrix::zero(kByteNumberBits, kBitsInByte);
  do {
    for (int k = 0; k < kBitsInByte; ++k) {
      three.set_column(
          k, vectors.size() == kBitsInByte
                 ? vectors[static_cast<std::size_t>(k)]
                 : f2::combine(vectors.data(), random() & f2::low_mask(static_cast<int>(vectors.size()))));
    }
  } while (three.rank() < kBitsInByte);
  return three;
}

}  // namespace

// With b and l a place in a byte and the byte's number, c and m what they become:
//
//     l = T t + I i        c does not depend on t, and depends on b and i through W: (c, u) = W (b, i)
//     m = A t + B u + C c  = A (t + Y c) + B (u + X c)
//
// so that u + X c is taken for u, and t + Y c is S; chosen so that Y is 0, where a few draws find such.
LineTurn::LineTurn(const Matrix& turn) {
  FARO_CHECK(turn.rows() == kPlaceBits && turn.rank() == kPlaceBits);
  const Matrix c_of_b = turn.block(0, 0, kBitsInByte, kBitsInByte);
  const Matrix c_of_l = turn.block(0, kBitsInByte, kBitsInByte, kByteNumberBits);
  const Matrix m_of_b = turn.block(kBitsInByte, 0, kByteNumberBits, kBitsInByte);
  const Matrix m_of_l = turn.block(kBitsInByte, kBitsInByte, kByteNumberBits, kByteNumberBits);
  if (c_of_l.rank() == 0 && m_of_b.rank() == 0) {
    bits = c_of_b;
    outer = inverse_of(m_of_l);
    inner = Matrix::zero(kByteNumberBits, kBitsInByte);
    last = index_of(outer, false);
    return;
  }
  constexpr int kDraws = 64;
  std::mt19937_64 random(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Matrix t = three_of(c_of_l.kernel(), random);
    const Matrix i = complement_of(t, random);
    const Matrix c = beside(c_of_b, c_of_l * i);
    const Matrix u = complement_of(c.transposed(), random).transposed();
    const Matrix of_cu = beside(m_of_b, m_of_l * i) * inverse_of(stacked(c, u));
    const Matrix of_tu = beside(m_of_l * t, of_cu.block(0, kBitsInByte, kByteNumberBits, kBitsInByte));
    const Matrix outer_place = inverse_of(of_tu);
    const Matrix yx = outer_place * of_cu.block(0, 0, kByteNumberBits, kBitsInByte);
    const Matrix y = yx.block(0, 0, kBitsInByte, kBitsInByte);
    const Matrix x = yx.block(kBitsInByte, 0, kBitsInByte, kBitsInByte);
    if (y.rank() != 0 && draw + 1 < kDraws) continue;

    const Matrix middle = inverse_of(stacked(c, u + x * c));
    kind = y.rank() == 0 ? Kind::squares : Kind::sheared;
    first = index_of(beside(t, i), true);
    outer = outer_place;
    last = index_of(outer, false);
    if (kind == Kind::squares) {
      inner = middle.block(0, 0, kByteNumberBits, kBitsInByte);
      second = index_of(middle, true);
    } else {
      const auto half = [&](int from) { return middle.block(0, from, kByteNumberBits, kBitsInByte); };
      second = index_of(beside(half(kBitsInByte), half(0)), false);
      for (Word eight = 0; eight < 8; ++eight) {
        const std::uint64_t matrix = matrix_of_places(Matrix::identity(kBitsInByte), y * eight);
        for (Word byte = 0; byte < 8; ++byte)
          shear.bytes[eight * 8 + byte] = static_cast<std::uint8_t>(matrix >> 8 * byte);
      }
      Matrix halves = Matrix::zero(kByteNumberBits, kByteNumberBits);
      for (int k = 0; k < kByteNumberBits; ++k)
        halves.set_column(k, f2::unit((k + kBitsInByte) % kByteNumberBits));
      inner = halves.block(0, 0, kByteNumberBits, kBitsInByte);
      third = index_of(halves, true);
    }
    return;
  }
}

namespace {

std::uint32_t in_each_byte(Word value) { return static_cast<std::uint32_t>(value) * 0x01010101U; }

TurnFlip flip_of(const LineTurn& turn, Word added) {
  const Word in_byte = added & kInByte;
  TurnFlip flip{.outer = in_each_byte(turn.outer * (added >> kBitsInByte))};
  flip.inner = turn.kind == LineTurn::Kind::bytes ? static_cast<std::uint32_t>(in_byte)
                                                  : in_each_byte(turn.inner * in_byte);
  return flip;
}

// log2 of how many of `count` lines lie side by side, from the first on.
template <typename Place>
int bits_together(std::size_t count, const Place& place) {
  int bits = 0;
  while (bits < kMostTogetherBits && std::size_t{2} << bits <= count &&
         (place(0) ^ place(std::size_t{1} << bits)) == kLineSize << bits) {
    ++bits;
  }
  return bits;
}

// Of elements to those of bits, of which the lowest stay.
Matrix with_bits_below(const Matrix& matrix, int bits) {
  return f2::direct_sum(Matrix::identity(bits), matrix);
}

}  // namespace

BitLines::BitLines(const layout::Tile& tile, std::uint32_t element_bits, TileSource source)
    : element_shift(std::countr_zero(element_bits)),
      block_bits(tile.block_bits()),
      array_bytes(f2::unit(tile.index_bits + element_shift) / 8),
      tile_bytes(f2::unit(tile.tile_bits() + element_shift) / 8),
      block_sources(
          source == TileSource::array ? tile.block_sources : std::vector<Word>(tile.block_sources.size(), 0),
          0, element_shift),
      block_targets(tile.block_targets, tile.complement, element_shift),
      turn(Matrix::identity(kPlaceBits)) {
  const int lane_bits = kPlaceBits - element_shift;
  FARO_CHECK(tile.segment_bits >= lane_bits);
  const auto bytes = [&](Word place) { return place << element_shift >> kBitsInByte; };
  const Word in_segment = f2::low_mask(tile.segment_bits);
  const auto place_in = [&](Word place) {
    if (source == TileSource::buffer) return bytes(place);
    return bytes(tile.source_row(place >> tile.segment_bits) ^ (place & in_segment));
  };
  const auto place_out = [&](Word place) {
    return bytes(tile.target_row(place >> tile.segment_bits) ^ (place & in_segment));
  };
  const cpu::MicroTile micro = cpu::make_micro_tile(tile, lane_bits, cpu::MicroOrder::target);
  exchange_bits = micro.exchange_bits;
  const Word in_line = f2::low_mask(lane_bits);
  for (std::size_t k = 0; k < micro.source_blocks.size(); ++k) {
    micro_sources.push_back(place_in(micro.source_blocks[k]));
    micro_targets.push_back(place_out(micro.target_blocks[k] & ~in_line));
    micro_lanes.push_back(static_cast<std::uint16_t>((micro.target_blocks[k] & in_line) << element_shift));
  }
  const Matrix turn_inverse = with_bits_below(micro.last_lanes_inverse, element_shift);
  turn = LineTurn(inverse_of(turn_inverse));
  const Matrix last_lanes = inverse_of(micro.last_lanes_inverse) * micro.last_lanes_offset;
  turns_first = micro.first_lanes.rank() != 0;
  const Matrix in_place = Matrix::identity(kBitsInByte);
  for (Word j = 0; j < f2::unit(exchange_bits); ++j) {
    line_sources.push_back(place_in(micro.source_vectors[j]));
    line_targets.push_back(place_out(micro.target_vectors[j]));
    const Word first = micro.first_lanes * j << element_shift;
    first_bytes.push_back(in_each_byte(first >> kBitsInByte));
    first_matrices.push_back(matrix_of_places(in_place, first & kInByte));
    last_flips.push_back(flip_of(turn, last_lanes * j << element_shift));
  }
  for (Word place = 0; place < f2::unit(kPlaceBits); ++place) place_flips.push_back(flip_of(turn, place));
  for (Word added = 0; added < 8; ++added) {
    matrices[added] = matrix_of_places(turn.kind == LineTurn::Kind::bytes ? turn.bits : in_place, added);
  }
  for (int k = 0; k < exchange_bits; ++k) {
    LineImage& mask = exchange_masks.emplace_back();
    for (Word bit = 0; bit < f2::unit(kPlaceBits); ++bit) {
      if (f2::bit(micro.exchange * (bit >> element_shift), k))
        mask.bytes[bit / 8] |= static_cast<std::uint8_t>(1U << bit % 8);
    }
  }

  const std::size_t micros = micro_sources.size();
  load_order.resize(micros);
  std::iota(load_order.begin(), load_order.end(), 0U);
  reads_array = source == TileSource::array;
  if (reads_array) {
    std::sort(load_order.begin(), load_order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return micro_sources[a] < micro_sources[b]; });
    load_bits = bits_together(micros, [&](std::size_t i) { return micro_sources[load_order[i]]; });
  }
  store_bits = bits_together(micros, [&](std::size_t i) { return micro_targets[i]; });
  const std::size_t near = std::size_t{kNearLines} >> exchange_bits;
  section = reads_array ? micros : std::clamp(near, std::size_t{1} << store_bits, micros);
}

BitLines square_program(std::uint32_t element_bits, bool turned) {
  const int side = kPlaceBits - std::countr_zero(element_bits);
  const layout::Tile tile =
      layout::make_tile(maps::transpose(f2::unit(side), f2::unit(side)), {.segment_bits = side});
  BitLines program(tile, element_bits, TileSource::buffer);
  FARO_CHECK(program.exchange_bits == side && program.turns_first);
  for (std::uint64_t& target : program.line_targets) target *= kKeptLines;
  if (turned) {
    for (std::uint64_t& matrix : program.first_matrices) {
      const std::uint64_t before = std::exchange(matrix, 0);
      for (std::uint64_t row = 0; row < 8; ++row)
        matrix |= (before >> 8 * row & 0xff) << 8 * (row ^ (element_bits - 1));
    }
  }
  return program;
}

}  // namespace faro::packed
