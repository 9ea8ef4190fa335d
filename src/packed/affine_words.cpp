#include "packed/affine_words.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "engines/cpu/team.hpp"
#include "faro/error.hpp"

namespace faro::packed {
namespace {

constexpr int kSegmentBytesBits = 7;  // a tile has at most the square of it, divided by a byte's elements
constexpr std::uint64_t kByteValues = 256;

layout::Tile tile_of(const f2::Matrix& matrix, f2::Word complement, int segment_bits) {
  return layout::make_tile(Affine(matrix, complement), {.segment_bits = segment_bits});
}

// Directions of blocks such that as few of them as may be add to the low bits of the target, and these are
// last.
void put_low_targets_last(layout::Tile& tile) {
  std::vector<f2::Word>& sources = tile.block_sources;
  std::vector<f2::Word>& targets = tile.block_targets;
  std::size_t end = targets.size();  // those from here on have low bits of their own
  for (int bit = 0; bit < tile.segment_bits; ++bit) {
    std::size_t pivot = 0;
    while (pivot < end && !f2::bit(targets[pivot], bit)) ++pivot;
    if (pivot == end) continue;
    --end;
    std::swap(sources[pivot], sources[end]);
    std::swap(targets[pivot], targets[end]);
    for (std::size_t i = 0; i < end; ++i) {
      if (!f2::bit(targets[i], bit)) continue;
      sources[i] ^= sources[end];
      targets[i] ^= targets[end];
    }
  }
}

std::vector<std::uint32_t> bytes_of_rows(const std::vector<f2::Word>& rows, int below_byte) {
  std::vector<std::uint32_t> bytes(std::size_t{1} << rows.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint32_t>(f2::combine(rows.data(), i) >> below_byte);
  }
  return bytes;
}

// What each value of each byte of a set adds to the word, where `added` is XORed onto the index in a byte.
std::vector<std::uint64_t> tables_of(const f2::Matrix& local, int below_byte, int set_bits) {
  const std::uint64_t elements = std::uint64_t{1} << below_byte;
  const std::uint64_t bits = 8 / elements;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::vector<std::uint64_t> tables((elements << set_bits) * kByteValues);
  std::uint64_t* word = tables.data();
  for (f2::Word added = 0; added < elements; ++added) {
    for (f2::Word byte = 0; byte < f2::unit(set_bits); ++byte) {
      for (std::uint64_t value = 0; value < kByteValues; ++value, ++word) {
        for (f2::Word e = 0; e < elements; ++e) {
          *word |= (value >> (bits * e) & mask) << (bits * (local * (byte << below_byte | e) ^ added));
        }
      }
    }
  }
  return tables;
}

// The word of a set by its bytes, and its bytes by the word.
template <int kBytes>
std::uint64_t looked_up(const std::byte* from, const std::uint32_t* places, const std::uint64_t* table) {
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < kBytes; ++i) {
    word |= table[i * kByteValues + static_cast<std::uint8_t>(from[places[i]])];
  }
  return word;
}

// A tile of the array at a time: segments into a buffer, an exchange, segments out of another.
class TileMove {
 public:
  TileMove(const layout::Tile& tile, std::uint32_t element_bits)
      : tile_(tile),
        below_byte_(bits_below_byte(element_bits)),
        exchange_(tile.local, element_bits),
        sources_(byte_rows(tile.source_rows)),
        targets_(byte_rows(tile.target_rows)) {}

  std::uint64_t tile_bytes() const { return f2::unit(tile_.tile_bits() - below_byte_); }
  std::uint64_t segment_bytes() const { return f2::unit(tile_.segment_bits - below_byte_); }

  void load(const std::byte* array, f2::Word block, std::byte* tile) const {
    const std::byte* const from = array + (tile_.block_source(block) >> below_byte_);
    const std::uint64_t base = tile_.block_source(block) >> below_byte_;
    for (std::size_t j = 0; j < sources_.size(); ++j) {
      std::memcpy(tile + j * segment_bytes(), from + ((base ^ sources_[j]) - base), segment_bytes());
    }
  }

  // What is loaded, permuted by way of `scratch`.
  void store(const std::byte* tile, f2::Word block, std::byte* scratch, std::byte* array) const {
    const f2::Word target = tile_.block_target(block);
    exchange_.run(tile, target & f2::low_mask(tile_.segment_bits), scratch);
    const std::uint64_t base = (target & ~f2::low_mask(tile_.segment_bits)) >> below_byte_;
    for (std::size_t j = 0; j < targets_.size(); ++j) {
      std::memcpy(array + (base ^ targets_[j]), scratch + j * segment_bytes(), segment_bytes());
    }
  }

 private:
  std::vector<std::uint64_t> byte_rows(const std::vector<f2::Word>& rows) const {
    std::vector<std::uint64_t> bytes(std::size_t{1} << rows.size());
    for (std::size_t j = 0; j < bytes.size(); ++j) bytes[j] = f2::combine(rows.data(), j) >> below_byte_;
    return bytes;
  }

  const layout::Tile& tile_;
  int below_byte_;
  TileExchange exchange_;
  std::vector<std::uint64_t> sources_;
  std::vector<std::uint64_t> targets_;
};

// The tiles of an orbit, and whether `block` is the one that stands for it: the least.
bool walk_orbit(const layout::InPlaceTile& in_place, f2::Word block, std::vector<f2::Word>& orbit) {
  orbit.assign(1, block);
  for (f2::Word next = in_place.next(block); next != block; next = in_place.next(next)) {
    if (next < block) return false;
    orbit.push_back(next);
  }
  return true;
}

void pass_in_place(const layout::InPlaceTile& in_place, std::uint32_t element_bits, std::byte* data,
                   int threads) {
  const TileMove move(in_place.tile, element_bits);
  cpu::share_out(f2::unit(in_place.tile.block_bits()), threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t bytes = move.tile_bytes();
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>((in_place.orbit_tiles + 1) * bytes);
    std::byte* const scratch = buffer.get() + in_place.orbit_tiles * bytes;
    std::vector<f2::Word> orbit;
    orbit.reserve(in_place.orbit_tiles);
    for (f2::Word block = begin; block < end; ++block) {
      if (!walk_orbit(in_place, block, orbit)) continue;
      for (std::size_t k = 0; k < orbit.size(); ++k) move.load(data, orbit[k], buffer.get() + k * bytes);
      for (std::size_t k = 0; k < orbit.size(); ++k) {
        move.store(buffer.get() + k * bytes, orbit[k], scratch, data);
      }
    }
  });
}

}  // namespace

Affine map_of_places(const Affine& map, std::uint32_t element_bits, BitOrder in, BitOrder out) {
  const f2::Word turned = f2::low_mask(bits_below_byte(element_bits));
  f2::Word complement = map.complement();
  if (in == BitOrder::high_first) complement ^= map.matrix() * turned;
  if (out == BitOrder::high_first) complement ^= turned;
  return {map.matrix(), complement};
}

TileExchange::TileExchange(const f2::Matrix& local, std::uint32_t element_bits)
    : below_byte_(bits_below_byte(element_bits)) {
  layout::Tile tile = tile_of(local, 0, below_byte_);
  put_low_targets_last(tile);
  set_bits_ = tile.row_bits;
  FARO_CHECK(set_bits_ <= below_byte_);
  from_bytes_ = bytes_of_rows(tile.source_rows, below_byte_);
  to_bytes_ = bytes_of_rows(tile.target_rows, below_byte_);
  tables_ = tables_of(tile.local, below_byte_, set_bits_);
  const auto low = [&](f2::Word block) { return tile.block_target(block) & f2::low_mask(below_byte_); };
  std::size_t plain = 0;
  while (plain < tile.block_targets.size() && (tile.block_targets[plain] & f2::low_mask(below_byte_)) == 0)
    ++plain;
  group_ = std::uint64_t{1} << plain;
  sets_.resize(std::size_t{1} << tile.block_bits());
  for (std::size_t block = 0; block < sets_.size(); ++block) {
    sets_[block] = {.from = static_cast<std::uint32_t>(tile.block_source(block) >> below_byte_),
                    .to = static_cast<std::uint32_t>(tile.block_target(block) >> below_byte_)};
  }
  added_.resize(sets_.size() / group_);
  for (std::size_t g = 0; g < added_.size(); ++g) added_[g] = low(g * group_);
}

void TileExchange::run(const std::byte* from, f2::Word added, std::byte* to) const {
  const std::uint64_t table_words = kByteValues << set_bits_;
  for (std::size_t g = 0; g < added_.size(); ++g) {
    const f2::Word in_byte = (added_[g] ^ added) & f2::low_mask(below_byte_);
    run_sets(sets_.data() + g * group_, group_, tables_.data() + in_byte * table_words, from,
             added >> below_byte_, to);
  }
}

void TileExchange::run_sets(const Set* sets, std::uint64_t count, const std::uint64_t* table,
                            const std::byte* from, std::uint64_t added_bytes, std::byte* to) const {
  const auto run_of = [&]<int kBytes>() {
    std::array<std::uint32_t, kBytes> from_bytes;
    std::array<std::uint32_t, kBytes> to_bytes;
    std::copy_n(from_bytes_.begin(), kBytes, from_bytes.begin());
    std::copy_n(to_bytes_.begin(), kBytes, to_bytes.begin());
    for (std::uint64_t s = 0; s < count; ++s) {
      std::array<std::uint32_t, kBytes> places;
      for (std::size_t i = 0; i < kBytes; ++i) places[i] = sets[s].from ^ from_bytes[i];
      std::uint64_t word = looked_up<kBytes>(from, places.data(), table);
      const std::uint64_t base = sets[s].to ^ added_bytes;
      for (std::size_t i = 0; i < kBytes; ++i, word >>= 8)
        to[base ^ to_bytes[i]] = static_cast<std::byte>(word);
    }
  };
  switch (set_bits_) {
    case 0:
      return run_of.template operator()<1>();
    case 1:
      return run_of.template operator()<2>();
    case 2:
      return run_of.template operator()<4>();
    default:
      return run_of.template operator()<8>();
  }
}

int segment_bits_of(int n, std::uint32_t element_bits) {
  return std::min(n, kSegmentBytesBits + bits_below_byte(element_bits));
}

void move_affine(const Affine& map, std::uint32_t element_bits, std::uint64_t batch, const std::byte* in,
                 std::byte* out, int threads) {
  const layout::Tile tile =
      tile_of(map.matrix(), map.complement(), segment_bits_of(map.bits(), element_bits));
  const TileMove move(tile, element_bits);
  const std::uint64_t blocks = f2::unit(tile.block_bits());
  const std::uint64_t array_bytes = blocks * move.tile_bytes();
  cpu::share_out(batch * blocks, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(2 * move.tile_bytes());
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t array = i / blocks * array_bytes;
      move.load(in + array, i % blocks, buffer.get());
      move.store(buffer.get(), i % blocks, buffer.get() + move.tile_bytes(), out + array);
    }
  });
}

void move_affine_in_place(const Affine& map, std::uint32_t element_bits, std::uint64_t batch, std::byte* data,
                          int threads) {
  const int segment_bits = segment_bits_of(map.bits(), element_bits);
  const int capacity = std::min(map.bits(), 2 * segment_bits) + 2;
  const std::uint64_t array_bytes = f2::unit(map.bits() - bits_below_byte(element_bits));
  for (const layout::InPlaceFactor& factor :
       layout::factor_in_place(map, {.segment_bits = segment_bits, .capacity_bits = capacity})) {
    const layout::InPlaceTile in_place = layout::make_in_place_tile(factor, segment_bits, 0);
    for (std::uint64_t array = 0; array < batch; ++array) {
      pass_in_place(in_place, element_bits, data + array * array_bytes, threads);
    }
  }
}

}  // namespace faro::packed
