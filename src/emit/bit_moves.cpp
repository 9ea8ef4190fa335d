#include "emit/bit_moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace faro::emit {
namespace {

using f2::Word;

Word shifted(Word x, int shift) { return shift >= 0 ? x << shift : x >> -shift; }

// Whether the mask can be left out: it covers every bit that the source may have, or all that the shift
// keeps.
bool needs_no_mask(const Move& move, int bits) {
  const Word kept = move.shift < 0 ? ~f2::low_mask(-move.shift) : ~Word{0};
  return (f2::low_mask(bits) & kept) == (move.mask & kept);
}

std::vector<Move> diagonals(std::span<const Word> columns, Word which) {
  std::map<int, Word> masks;  // by shift
  for (; which != 0; which &= which - 1) {
    const int j = f2::trailing_bit(which);
    for (Word column = columns[static_cast<std::size_t>(j)]; column != 0; column &= column - 1) {
      masks[f2::trailing_bit(column) - j] |= f2::unit(j);
    }
  }
  std::vector<Move> moves;
  moves.reserve(masks.size());
  for (const auto& [shift, mask] : masks) moves.push_back({.mask = mask, .shift = shift});
  return moves;
}

// The columns of `moved` by diagonals, all others by selects.
BitMoves split(std::span<const Word> columns, Word moved) {
  BitMoves result{
      .bits = static_cast<int>(columns.size()), .moves = diagonals(columns, moved), .selects = {}};
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Word bit = f2::unit(static_cast<int>(j));
    if ((moved & bit) == 0 && columns[j] != 0) result.selects.push_back({.bit = bit, .value = columns[j]});
  }
  return result;
}

}  // namespace

Word BitMoves::operator()(Word x) const {
  Word sum = 0;
  for (const Move& move : moves) sum ^= shifted(x & move.mask, move.shift);
  for (const Select& select : selects) sum ^= (x & select.bit) != 0 ? select.value : 0;
  return sum;
}

int BitMoves::operations() const {
  const int of_moves = std::accumulate(moves.begin(), moves.end(), 0, [](int sum, const Move& move) {
    return sum + (move.shift == 0 ? 1 : 2);
  });
  return of_moves + 2 * static_cast<int>(selects.size());
}

BitMoves merge(std::span<const Word> columns) {
  // The lightest columns share diagonals most easily; any number of them may be the best.
  std::vector<int> by_weight(columns.size());
  std::iota(by_weight.begin(), by_weight.end(), 0);
  std::stable_sort(by_weight.begin(), by_weight.end(), [&](int a, int b) {
    return std::popcount(columns[static_cast<std::size_t>(a)]) <
           std::popcount(columns[static_cast<std::size_t>(b)]);
  });
  BitMoves best = split(columns, 0);
  Word moved = 0;
  for (const int j : by_weight) {
    moved |= f2::unit(j);
    BitMoves candidate = split(columns, moved);
    if (candidate.operations() <= best.operations()) best = std::move(candidate);
  }
  return best;
}

BitMoves one_by_one(std::span<const Word> columns) {
  BitMoves result{.bits = static_cast<int>(columns.size()), .moves = {}, .selects = {}};
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (Word column = columns[j]; column != 0; column &= column - 1) {
      const int from = static_cast<int>(j);
      result.moves.push_back({.mask = f2::unit(from), .shift = f2::trailing_bit(column) - from});
    }
  }
  return result;
}

std::string hex(Word value, const std::string& suffix) { return fmt::format("{:#x}{}", value, suffix); }

std::vector<std::string> terms(const BitMoves& moves, const std::string& variable,
                               const std::string& suffix) {
  std::vector<std::string> result;
  for (const Move& move : moves.moves) {
    const bool bare = needs_no_mask(move, moves.bits);
    const std::string masked = bare ? variable : fmt::format("({} & {})", variable, hex(move.mask, suffix));
    if (move.shift == 0) {
      result.push_back(masked);
    } else {
      result.push_back(fmt::format("({} {} {})", masked, move.shift > 0 ? "<<" : ">>", std::abs(move.shift)));
    }
  }
  for (const Select& select : moves.selects) {
    result.push_back(fmt::format("({} & {} ? {} : {})", variable, hex(select.bit, suffix),
                                 hex(select.value, suffix), "0" + suffix));
  }
  return result;
}

}  // namespace faro::emit
