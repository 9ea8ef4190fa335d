#include "packed/affine_words.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "kernels/packed_affine_params.hpp"
#include "packed/bit_lines.hpp"
#include "packed/squares.hpp"

namespace faro::packed {
namespace {

// Tiles of pairs have 64 KiB at most, others 128.
constexpr int segment_bytes_bits(std::uint32_t element_bits) { return element_bits == 4 ? 8 : 7; }
constexpr int kLineBytesBits = 6;
constexpr std::uint64_t kLine = std::uint64_t{1} << kLineBytesBits;
constexpr int kSecondLevel = 2;  // of the caches: the nearest has the tile that is exchanged
constexpr int kLeastRowBits = 4;
constexpr std::uint64_t kStreamedTileBytes = std::uint64_t{4} << 20;  // from here on past the caches

layout::Tile tile_of(const Affine& map, int segment_bits) {
  return layout::make_tile(map, {.segment_bits = segment_bits,
                                 .min_row_bits = std::min(kLeastRowBits, map.bits() - segment_bits)});
}

WordSquares squares_of(const f2::Matrix& local, int q) {
  const kernels::PackedWordMap map = kernels::make_packed_word_map(local, q);
  WordSquares squares{.word_index_bits = q, .groups = std::size_t{1} << map.groups.size()};
  squares.exchange = map.exchange;
  const auto number = [](f2::Word word) { return static_cast<std::uint32_t>(word); };
  const std::size_t lanes = std::max(squares.groups, kMostSquareLanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    // Squares that more than one lane has are the same in each.
    const f2::Word group = f2::combine(map.groups.data(), i % squares.groups);
    const kernels::PackedGroupSlots slots = kernels::packed_group_slots(map, local, group, q);
    squares.from.push_back(number(slots.read));
    squares.to.push_back(number(map.local * slots.written));
    squares.place.push_back(number(local * group & f2::low_mask(q)));
  }
  for (f2::Word w = 0; w < f2::unit(q); ++w) {
    const f2::Word word = f2::combine(map.words.data(), w) >> q;
    squares.from_word.push_back(number(word));
    squares.to_word.push_back(number(map.local * word));
  }
  for (int t = 0; t < q; ++t) {
    squares.from_place[t] = number(map.words[static_cast<std::size_t>(t)] >> q);
    squares.to_place[t] = number(map.local * (f2::combine(map.words.data(), map.stored.column(t)) >> q));
  }
  return squares;
}

// Arrays beyond the caches: runs of four lines on both sides, and tiles of so many lines at least.
constexpr int kLinesTogetherBits = 2;
constexpr int kLeastTileLineBits = 10;

// log2 of the elements in a line.
int line_index_bits(std::uint32_t element_bits) { return bits_below_byte(element_bits) + kLineBytesBits; }

std::uint64_t bytes_of(int n, std::uint32_t element_bits) {
  return f2::unit(n - bits_below_byte(element_bits));
}

layout::Tile line_tile_of(const Affine& map, std::uint32_t element_bits) {
  const int line_bits = line_index_bits(element_bits);
  if (bytes_of(map.bits(), element_bits) < kStreamedTileBytes)
    return layout::make_tile(map, {.segment_bits = line_bits});
  return layout::make_tile(map, {.segment_bits = line_bits + kLinesTogetherBits,
                                 .min_row_bits = kLeastTileLineBits - kLinesTogetherBits});
}

// A tile of the array at a time: segments into a buffer, an exchange, segments out of another.
class TileMove {
 public:
  TileMove(const layout::Tile& tile, std::uint32_t element_bits, bool streamed)
      : tile_(tile),
        below_byte_(bits_below_byte(element_bits)),
        streamed_(streamed),
        squares_(squares_of(tile.local, bits_below_word(element_bits))),
        sources_(byte_rows(tile.source_rows)),
        targets_(byte_rows(tile.target_rows)) {}

  std::uint64_t tile_bytes() const { return f2::unit(tile_.tile_bits() - below_byte_); }
  std::uint64_t segment_bytes() const { return f2::unit(tile_.segment_bits - below_byte_); }

  void load(const std::byte* array, f2::Word block, std::byte* tile) const {
    const std::uint64_t base = tile_.block_source(block) >> below_byte_;
    for (std::size_t j = 0; j < sources_.size(); ++j)
      std::memcpy(tile + j * segment_bytes(), array + (base ^ sources_[j]), segment_bytes());
  }

  // Asks for what load() will read.
  void fetch(const std::byte* array, f2::Word block) const {
    const std::uint64_t base = tile_.block_source(block) >> below_byte_;
    for (const std::uint64_t row : sources_) {
      for (std::uint64_t byte = 0; byte < segment_bytes(); byte += kLine)
        __builtin_prefetch(array + (base ^ row) + byte, 0, kSecondLevel);
    }
  }

  // What is loaded, permuted.
  void exchange(const std::byte* tile, f2::Word block, std::byte* scratch) const {
    const f2::Word added = tile_.block_target(block) & f2::low_mask(tile_.segment_bits);
    const int q = squares_.word_index_bits;
    exchange_words(squares_, tile, static_cast<std::uint32_t>(added & f2::low_mask(q)),
                   static_cast<std::uint32_t>(added >> q), scratch);
  }

  void store(const std::byte* scratch, f2::Word block, std::byte* array) const {
    const std::uint64_t base = (tile_.block_target(block) & ~f2::low_mask(tile_.segment_bits)) >> below_byte_;
    for (std::size_t j = 0; j < targets_.size(); ++j) {
      cpu::copy_bytes(scratch + j * segment_bytes(), array + (base ^ targets_[j]), segment_bytes(),
                      streamed_);
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
  bool streamed_;
  WordSquares squares_;
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
  const TileMove move(in_place.tile, element_bits, false);
  std::optional<BitLines> lines;
  if (moves_by_lines(in_place.tile.index_bits, element_bits))
    lines.emplace(in_place.tile, element_bits, TileSource::buffer);
  cpu::share_out(f2::unit(in_place.tile.block_bits()), threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t bytes = move.tile_bytes();
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>((in_place.orbit_tiles + 1) * bytes);
    std::byte* const scratch = buffer.get() + in_place.orbit_tiles * bytes;
    std::vector<LineImage> line_buffer(lines ? lines->buffer_lines() : 0);
    std::vector<f2::Word> orbit;
    orbit.reserve(in_place.orbit_tiles);
    for (f2::Word block = begin; block < end; ++block) {
      if (!walk_orbit(in_place, block, orbit)) continue;
      for (std::size_t k = 0; k < orbit.size(); ++k) move.load(data, orbit[k], buffer.get() + k * bytes);
      for (std::size_t k = 0; k < orbit.size(); ++k) {
        if (lines) {
          move_bit_lines(*lines, {.begin = orbit[k], .end = orbit[k] + 1}, buffer.get() + k * bytes, data,
                         line_buffer.data());
          continue;
        }
        move.exchange(buffer.get() + k * bytes, orbit[k], scratch);
        move.store(scratch, orbit[k], data);
      }
    }
  });
}

}  // namespace

bool moves_by_lines(int n, std::uint32_t element_bits) {
  return has_bit_lines() && n >= line_index_bits(element_bits);
}

Affine map_of_places(const Affine& map, std::uint32_t element_bits, BitOrder in, BitOrder out) {
  const f2::Word turned = f2::low_mask(bits_below_byte(element_bits));
  f2::Word complement = map.complement();
  if (in == BitOrder::high_first) complement ^= map.matrix() * turned;
  if (out == BitOrder::high_first) complement ^= turned;
  return {map.matrix(), complement};
}

int segment_bits_of(int n, std::uint32_t element_bits) {
  return std::min(n, segment_bytes_bits(element_bits) + bits_below_byte(element_bits));
}

AffineMove::AffineMove(const Affine& map, std::uint32_t element_bits)
    : element_bits_(element_bits),
      tile_(moves_by_lines(map.bits(), element_bits)
                ? line_tile_of(map, element_bits)
                : tile_of(map, segment_bits_of(map.bits(), element_bits))) {
  if (moves_by_lines(map.bits(), element_bits)) lines_.emplace(tile_, element_bits, TileSource::array);
}

void AffineMove::run(std::uint64_t batch, const std::byte* in, std::byte* out, int threads) const {
  const std::uint64_t blocks = f2::unit(tile_.block_bits());
  const std::uint64_t array_bytes = bytes_of(tile_.index_bits, element_bits_);
  const bool is_large = batch * array_bytes >= kStreamedTileBytes;
  if (lines_) {
    const bool streamed = is_large && reinterpret_cast<std::uintptr_t>(out) % kLine == 0;
    return cpu::share_out(batch * blocks, threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<LineImage> buffer(lines_->buffer_lines());
      move_bit_lines(*lines_, {.begin = begin, .end = end, .streamed = streamed}, in, out, buffer.data());
    });
  }
  const TileMove move(tile_, element_bits_, is_large);
  cpu::share_out(batch * blocks, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(2 * move.tile_bytes());
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t array = i / blocks * array_bytes;
      move.load(in + array, i % blocks, buffer.get());
      if (i + 1 < end) move.fetch(in + (i + 1) / blocks * array_bytes, (i + 1) % blocks);
      move.exchange(buffer.get(), i % blocks, buffer.get() + move.tile_bytes());
      move.store(buffer.get() + move.tile_bytes(), i % blocks, out + array);
    }
    if (is_large) cpu::finish_streams();
  });
}

void move_affine_in_place(const Affine& map, std::uint32_t element_bits, std::uint64_t batch, std::byte* data,
                          int threads) {
  const int segment_bits = segment_bits_of(map.bits(), element_bits);
  const int capacity = std::min(map.bits(), 2 * segment_bits) + 2;
  const std::uint64_t array_bytes = bytes_of(map.bits(), element_bits);
  for (const layout::InPlaceFactor& factor :
       layout::factor_in_place(map, {.segment_bits = segment_bits, .capacity_bits = capacity})) {
    const layout::InPlaceTile in_place =
        layout::make_in_place_tile(factor, segment_bits, std::min(kLeastRowBits, map.bits() - segment_bits));
    for (std::uint64_t array = 0; array < batch; ++array) {
      pass_in_place(in_place, element_bits, data + array * array_bytes, threads);
    }
  }
}

}  // namespace faro::packed
