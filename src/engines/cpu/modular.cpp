#include <algorithm>
#include <array>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/pass_program.hpp"
#include "faro/threads.hpp"
#include "plan/cpu/modular_tiles.hpp"
#include "thread_team.hpp"

namespace faro::cpu {
namespace {

__extension__ using WideIndex = unsigned __int128;

using faro::detail::kModularTileBytes;
using faro::detail::ModularTiles;

// An array whose end is followed by its beginning, walked in steps below its length.
class Ring {
 public:
  Ring(std::uint64_t count, std::uint64_t step, WideIndex start)
      : count_(count), step_(step), at_(static_cast<std::uint64_t>(start % count)) {}

  // Calls move(place, first, number) for the one or two stretches of `length` elements from here.
  template <typename Move>
  void stretches(std::uint64_t length, const Move& move) const {
    const std::uint64_t before_end = std::min(length, count_ - at_);
    move(at_, std::uint64_t{0}, before_end);
    if (before_end < length) move(std::uint64_t{0}, before_end, length - before_end);
  }
  void advance() { at_ = at_ >= count_ - step_ ? at_ - (count_ - step_) : at_ + step_; }

 private:
  std::uint64_t count_;
  std::uint64_t step_;
  std::uint64_t at_;
};

// Elements as they are.
template <typename Width>
struct MovedColumn {
  Width width;

  void start(std::uint64_t, std::uint64_t) {}
  void move(const std::byte* from, std::byte* to) const { width.move(from, to); }
  std::uint64_t bytes() const { return width.bytes(); }
};

// Numbers of which some are negated: those of x where sign_factor x mod 2 count is count or more. Along a
// column x moves on by c, and sign_factor c mod 2 count is 1 or 1 + count; where x goes round the end, the
// product loses sign_factor count, which is an odd multiple of count.
template <typename Word, typename Negate>
struct SignedColumn {
  std::uint64_t count;
  std::uint64_t undone;  // c
  std::uint64_t sign_factor;
  Negate negate;
  std::uint64_t x = 0;
  std::uint64_t product = 0;  // sign_factor x mod 2 count

  void start(std::uint64_t i, std::uint64_t j) {
    x = static_cast<std::uint64_t>((static_cast<WideIndex>(j) * undone + i) % count);
    product = static_cast<std::uint64_t>(static_cast<WideIndex>(x) * sign_factor % (WideIndex{2} * count));
  }
  void move(const std::byte* from, std::byte* to) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    if (product >= count) word = negate(word);
    std::memcpy(to, &word, sizeof(word));
    const std::uint64_t step =
        static_cast<std::uint64_t>(static_cast<WideIndex>(undone) * sign_factor % (WideIndex{2} * count));
    const bool wraps = x >= count - undone;
    x = wraps ? x - (count - undone) : x + undone;
    product += step + (wraps ? count : 0);
    while (product >= 2 * count) product -= 2 * count;
  }
  static constexpr std::uint64_t bytes() { return sizeof(Word); }
};

// Rows of the input into the stage: read(place, number, to).
template <typename Read>
void fill_stage(const Modular& map, std::uint64_t undone, const ModularRectangle& tile, std::uint64_t bytes,
                std::byte* stage, const Read& read) {
  Ring source(map.count, undone, tile.first_i + static_cast<WideIndex>(tile.first_j) * undone);
  for (std::uint64_t j = 0; j < tile.rows; ++j, source.advance()) {
    source.stretches(tile.columns, [&](std::uint64_t at, std::uint64_t first, std::uint64_t number) {
      read(at, number, stage + (j * tile.columns + first) * bytes);
    });
  }
}

// Then its columns: start(i), and write(place, number, the first of them in the stage).
template <typename Start, typename Write>
void empty_stage(const Modular& map, const ModularRectangle& tile, std::uint64_t bytes,
                 const std::byte* stage, const Start& start, const Write& write) {
  Ring target(map.count, map.factor,
              static_cast<WideIndex>(tile.first_i) * map.factor + tile.first_j + map.shift);
  for (std::uint64_t i = 0; i < tile.columns; ++i, target.advance()) {
    start(i);
    target.stretches(tile.rows, [&](std::uint64_t at, std::uint64_t first, std::uint64_t number) {
      write(at, number, stage + (first * tile.columns + i) * bytes);
    });
  }
}

template <typename Column>
void move_tile(Column column, const Modular& map, std::uint64_t undone, const ModularRectangle& tile,
               const std::byte* in, std::byte* out) {
  alignas(64) std::array<std::byte, kModularTileBytes> stage;
  const std::uint64_t bytes = column.bytes();
  fill_stage(map, undone, tile, bytes, stage.data(),
             [&](std::uint64_t at, std::uint64_t number, std::byte* to) {
               std::memcpy(to, in + at * bytes, number * bytes);
             });
  empty_stage(
      map, tile, bytes, stage.data(), [&](std::uint64_t i) { column.start(tile.first_i + i, tile.first_j); },
      [&](std::uint64_t at, std::uint64_t number, const std::byte* from) {
        std::byte* to = out + at * bytes;
        for (std::uint64_t j = 0; j < number; ++j, from += tile.columns * bytes, to += bytes)
          column.move(from, to);
      });
}

// The same, converted on one side, or on both not at all.
template <typename Width>
void move_value_tile(Width width, const Modular& map, std::uint64_t undone, const ModularRectangle& tile,
                     const Step& step) {
  alignas(64) std::array<std::byte, kModularTileBytes> stage;
  alignas(64) std::array<std::byte, kModularTileBytes> column;
  const std::uint64_t bytes = width.bytes();
  fill_stage(map, undone, tile, bytes, stage.data(),
             [&](std::uint64_t at, std::uint64_t number, std::byte* to) {
               if (step.read != nullptr) return step.read->read(at, number, to);
               std::memcpy(to, step.in + at * bytes, number * bytes);
             });
  empty_stage(
      map, tile, bytes, stage.data(), [](std::uint64_t) {},
      [&](std::uint64_t at, std::uint64_t number, const std::byte* from) {
        std::byte* const to = step.written != nullptr ? column.data() : step.out + at * bytes;
        for (std::uint64_t j = 0; j < number; ++j)
          width.move(from + j * tile.columns * bytes, to + j * bytes);
        if (step.written != nullptr) step.written->write(to, at, number);
      });
}

// Calls move(array, tile) for the tiles of all arrays.
template <typename Move>
void for_tiles(const Modular& map, std::uint64_t bytes, std::uint64_t batch, int threads, const Move& move) {
  const auto cover = l_shape(map);
  const std::array<ModularTiles, 2> tiles{ModularTiles(cover[0], bytes), ModularTiles(cover[1], bytes)};
  const std::uint64_t of_array = tiles[0].count() + tiles[1].count();
  constexpr std::uint64_t kThreadBytes = 1 << 18;
  const int used = map.count * bytes * batch < kThreadBytes ? 1 : detail::thread_count(threads);
  constexpr std::uint64_t kTilesAtATime = 16;
  detail::take_turns_at(of_array * batch, used, kTilesAtATime, [&](std::uint64_t number, std::uint64_t) {
    const std::uint64_t tile = number % of_array;
    move(number / of_array,
         tile < tiles[0].count() ? tiles[0].tile(tile) : tiles[1].tile(tile - tiles[0].count()));
  });
}

// Array b is moved by column_of(b).
template <typename ColumnOf>
void permute_by(const ColumnOf& column_of, const Modular& map, std::uint64_t batch, const std::byte* in,
                std::byte* out, int threads) {
  const std::uint64_t bytes = column_of(0).bytes();
  const std::uint64_t array_bytes = map.count * bytes;
  const std::uint64_t undone = map.inverse().factor;
  for_tiles(map, bytes, batch, threads, [&](std::uint64_t array, const ModularRectangle& tile) {
    move_tile(column_of(array), map, undone, tile, in + array * array_bytes, out + array * array_bytes);
  });
}

template <typename Word>
void permute_words(const Modular& map, const ModularSigns& signs, std::uint64_t batch, const std::byte* in,
                   std::byte* out, int threads) {
  const auto run = [&](const auto& negate_of) {
    const auto column_of = [&](std::uint64_t array) {
      const auto negate = negate_of(array);
      return SignedColumn<Word, decltype(negate)>{.count = map.count,
                                                  .undone = map.inverse().factor,
                                                  .sign_factor = signs.sign_factor,
                                                  .negate = negate};
    };
    permute_by(column_of, map, batch, in, out, threads);
  };
  if (signs.number >= Number::f16) {
    return run([](std::uint64_t) {
      return
          [](Word x) { return static_cast<Word>(x ^ static_cast<Word>(Word{1} << (sizeof(Word) * 8 - 1))); };
    });
  }
  run([&](std::uint64_t array) {
    const auto modulus =
        static_cast<Word>(signs.moduli.empty() ? 0 : signs.moduli[array % signs.moduli.size()]);
    return [modulus](Word x) { return x == 0 ? x : static_cast<Word>(modulus - x); };
  });
}

}  // namespace

void permute(const Modular& map, const ModularArrays& arrays, const std::byte* in, std::byte* out,
             int threads) {
  with_width(arrays.element_bytes, [&](auto width) {
    permute_by([&](std::uint64_t) { return MovedColumn<decltype(width)>{width}; }, map, arrays.batch, in, out,
               threads);
  });
}

void permute_negated(const Modular& map, const ModularSigns& signs, std::uint64_t batch, const std::byte* in,
                     std::byte* out, int threads) {
  switch (bytes_of(signs.number)) {
    case 1:
      return permute_words<std::uint8_t>(map, signs, batch, in, out, threads);
    case 2:
      return permute_words<std::uint16_t>(map, signs, batch, in, out, threads);
    case 4:
      return permute_words<std::uint32_t>(map, signs, batch, in, out, threads);
    default:
      return permute_words<std::uint64_t>(map, signs, batch, in, out, threads);
  }
}

// Blocks of places, each from one such block, in which numbers are multiplied again: a table has the bits of
// few numbers in the opposite order.
void permute_evaluations(const kernels::EvaluationOrder& order, const ModularArrays& arrays,
                         const std::byte* in, std::byte* out, int threads) {
  constexpr int kMostBlockBits = 8;
  const int low = std::min(order.bits, kMostBlockBits);
  const std::uint64_t block = std::uint64_t{1} << low;
  std::array<std::uint16_t, std::size_t{1} << kMostBlockBits> reversed{};
  for (std::uint64_t x = 0; x < block; ++x)
    reversed[x] = static_cast<std::uint16_t>(kernels::reversed_bits(x, low));
  const std::uint64_t n = std::uint64_t{1} << order.bits;
  constexpr std::uint64_t kThreadBytes = 1 << 18;
  const int used = n * arrays.batch * arrays.element_bytes < kThreadBytes ? 1 : detail::thread_count(threads);
  const std::uint64_t blocks = arrays.batch << (order.bits - low);
  with_width(arrays.element_bytes, [&](auto width) {
    constexpr std::uint64_t kBlocksAtATime = 64;
    detail::take_turns_at(blocks, used, kBlocksAtATime, [&](std::uint64_t b, std::uint64_t) {
      const std::uint64_t first = b << low;
      const std::uint64_t array = first & ~(n - 1);
      // The numbers of the block's first place and of any other differ by multiples of their high part alone.
      const std::uint64_t number =
          order.factor * kernels::reversed_bits(first & (n - 1), order.bits) + (order.factor - 1) / 2;
      const std::uint64_t high = number >> (order.bits - low);
      const std::uint64_t source = array + (order.source(first & (n - 1)) & ~(block - 1));
      for (std::uint64_t x = 0; x < block; ++x) {
        const std::uint64_t from = reversed[(high + order.factor * reversed[x]) & (block - 1)];
        width.move(in + (source + from) * width.bytes(), out + (first + x) * width.bytes());
      }
    });
  });
}

namespace {

class ModularProgram final : public ElementProgram {
 public:
  ModularProgram(const CpuPass& pass, const Modular& map) : ElementProgram(pass), map_(map) {}

  void run(const Step& step) const override {
    if (step.read != nullptr || step.written != nullptr) return run_values(step);
    permute(map_, {.element_bytes = element_bytes(), .batch = step.arrays}, step.in, step.out, threads());
  }

 private:
  void run_values(const Step& step) const {
    const std::uint64_t undone = map_.inverse().factor;
    with_width(element_bytes(), [&](auto width) {
      for_tiles(map_, width.bytes(), 1, threads(), [&](std::uint64_t, const ModularRectangle& tile) {
        move_value_tile(width, map_, undone, tile, step);
        if (step.written != nullptr) finish_streams();
      });
    });
  }

  Modular map_;
};

class PatchProgram final : public ElementProgram {
 public:
  PatchProgram(const CpuPass& pass, detail::CpuPatch patch)
      : ElementProgram(pass), patch_(std::move(patch)) {}

  void run(const Step& step) const override {
    with_width(element_bytes(), [&](auto width) {
      for (std::uint64_t array = 0; array < patch_.batch; ++array) {
        const std::byte* const in = step.in + array * array_bytes();
        std::byte* const out = step.out + array * array_bytes();
        for (const Exception& each : patch_.exceptions)
          width.move(in + each.source * width.bytes(), out + each.target * width.bytes());
      }
    });
  }

 private:
  detail::CpuPatch patch_;
};

}  // namespace

Program modular_program(const CpuPass& pass) {
  return std::make_unique<ModularProgram>(pass, std::get<detail::CpuModular>(pass.kernel).map);
}

Program patch_program(const CpuPass& pass) {
  return std::make_unique<PatchProgram>(pass, std::get<detail::CpuPatch>(pass.kernel));
}

}  // namespace faro::cpu
