#include "engines/cpu/tile/program.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

#include "engines/cpu/tile/micro_tile.hpp"
#include "faro/error.hpp"

namespace faro::cpu {

using f2::Word;

namespace {

// Register images for vectors of `vector` bytes in units of `unit` bytes. 64-byte vectors are looked up by
// lanes of at most 8 bytes, 16-byte ones by bytes.
class ImageMaker {
 public:
  ImageMaker(std::uint64_t unit, std::uint64_t vector)
      : unit_(unit),
        vector_(vector),
        step_(vector == kMaxVectorBytes ? std::min<std::uint64_t>(unit, 8) : 1),
        steps_per_unit_(unit / step_) {}

  // The index that fetches, for every unit of the result, the unit source_of(unit).
  template <typename SourceOf>
  RegisterImage index(SourceOf source_of) const {
    RegisterImage image;
    for (std::uint64_t at = 0; at < vector_; at += step_) {
      const std::uint64_t from = source_of(at / unit_) * steps_per_unit_ + at % unit_ / step_;
      image.bytes[at] = static_cast<std::byte>(from);  // lanes are little-endian
    }
    return image;
  }

  // The value to XOR onto an index's lanes that XORs `lane` onto the unit numbers.
  std::uint8_t flip(Word lane) const { return static_cast<std::uint8_t>(lane * steps_per_unit_); }

  ExchangeLanes lanes(const f2::Matrix& exchange, int bit_of_vector) const {
    ExchangeLanes result;
    for (std::uint64_t at = 0; at < vector_; ++at) {
      if (!f2::bit(exchange * (at / unit_), bit_of_vector)) continue;
      result.bytes.bytes[at] = std::byte{0xff};
      result.mask |= Word{1} << (at / step_);
    }
    return result;
  }

 private:
  std::uint64_t unit_;
  std::uint64_t vector_;
  std::uint64_t step_;
  std::uint64_t steps_per_unit_;
};

}  // namespace

BlockWalk::BlockWalk(const std::vector<Word>& directions, Word offset, int shift) : offset_(offset << shift) {
  Word sum = 0;
  for (const Word direction : directions) {
    directions_.push_back(direction << shift);
    sum ^= directions_.back();
    steps_.push_back(sum);
  }
}

Word BlockWalk::at(Word block) const { return offset_ ^ f2::combine(directions_.data(), block); }

TileProgram::TileProgram(const Pass& pass, std::uint64_t unit, std::uint64_t vector, Staging staging)
    : unit_bytes(unit),
      vector_bytes(vector),
      staged(staging == Staging::always || vector < kLineBytes),
      unit_shift(std::countr_zero(unit)),
      arrays(pass.arrays),
      array_bytes(unit << pass.map.bits()),
      block_bits(pass.tile.block_bits()),
      block_sources(pass.tile.block_sources, 0, unit_shift),
      block_targets(pass.tile.block_targets, pass.tile.complement, 0),
      rows(f2::unit(pass.tile.row_bits)),
      row_bytes(unit << pass.tile.segment_bits),
      lane_mask(vector / unit - 1),
      column_mask(f2::low_mask(pass.tile.segment_bits)) {
  const layout::Tile& tile = pass.tile;
  FARO_CHECK(vector <= kMaxVectorBytes && vector >= unit && row_bytes >= vector);
  FARO_CHECK(rows * row_bytes <= (staging == Staging::always ? kInPlaceBufferBytes : kMaxTileBytes));
  const auto column_bytes = [&](Word place) { return (place & column_mask) << unit_shift; };
  const auto source_bytes = [&](Word place) {
    return tile.source_row(place >> tile.segment_bits) << unit_shift ^ column_bytes(place);
  };
  const auto target_bytes = [&](Word place) {
    if (staged) return place << unit_shift;
    return tile.target_row(place >> tile.segment_bits) << unit_shift ^ column_bytes(place);
  };
  for (Word row = 0; row < rows; ++row) target_rows.push_back(tile.target_row(row) << unit_shift);

  const MicroOrder order = staged ? MicroOrder::source : MicroOrder::target;
  const MicroTile micro = make_micro_tile(tile, std::countr_zero(vector / unit), order);
  exchange_bits = micro.exchange_bits;
  for (std::size_t k = 0; k < micro.source_blocks.size(); ++k) {
    micro_sources.push_back(source_bytes(micro.source_blocks[k]));
    micro_targets.push_back(target_bytes(micro.target_blocks[k] & ~lane_mask));
    micro_lanes.push_back(static_cast<std::uint8_t>(micro.target_blocks[k] & lane_mask));
  }
  const ImageMaker images(unit, vector);
  for (Word j = 0; j < f2::unit(exchange_bits); ++j) {
    vector_sources.push_back(source_bytes(micro.source_vectors[static_cast<std::size_t>(j)]));
    vector_targets.push_back(target_bytes(micro.target_vectors[static_cast<std::size_t>(j)]));
    const Word first = micro.first_lanes * j;
    const Word last = micro.last_lanes_offset * j;
    first_index.push_back(images.index([&](Word lane) { return lane ^ first; }));
    last_index.push_back(images.index([&](Word lane) { return micro.last_lanes_inverse * lane ^ last; }));
  }
  for (Word lane = 0; lane <= lane_mask; ++lane) {
    last_index_flip.push_back(images.flip(micro.last_lanes_inverse * lane));
  }
  for (int k = 0; k < exchange_bits; ++k) exchange_lanes.push_back(images.lanes(micro.exchange, k));

  std::unordered_set<std::uint64_t> met;
  for (const std::uint64_t block : micro_sources) {
    for (const std::uint64_t within : vector_sources) {
      const std::uint64_t line = (block ^ within) & ~std::uint64_t{kLineBytes - 1};
      if (met.insert(line).second) source_lines.push_back(line);
    }
  }
}

// Runs of so many bytes a row, as measured: more for narrow units, whose tiles have many rows.
void TileProgram::read_and_write_in_runs() {
  constexpr std::uint64_t kRunBytes = 256;
  constexpr std::uint64_t kRunBytesOfNarrow = 512;
  constexpr std::uint64_t kNarrowUnit = 2;
  if (staged) return;
  const std::uint64_t run = unit_bytes <= kNarrowUnit ? kRunBytesOfNarrow : kRunBytes;
  std::vector<std::uint64_t> lines = std::move(source_lines);
  source_lines = lines;
  for (; group_bits < block_bits && row_bytes << (group_bits + 1) <= run; ++group_bits) {
    const Word next = block_sources.at(f2::unit(group_bits)) ^ block_sources.at(0);
    for (const std::uint64_t line : lines) source_lines.push_back(line ^ next);
    lines = source_lines;
  }
  if (group_bits > 0) std::sort(source_lines.begin(), source_lines.end());
  writes_pairs = micro_targets.size() > 1 && (micro_targets[0] ^ micro_targets[1]) == kLineBytes;
}

}  // namespace faro::cpu
