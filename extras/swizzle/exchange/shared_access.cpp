#include "exchange/shared_access.hpp"

#include <algorithm>
#include <set>

#include "faro/error.hpp"

namespace faro::exchange {
namespace {

constexpr int kRowBits = 4;  // of a matrix

int access_bits_of(const SharedSide& side) { return f2::trailing_bit(static_cast<f2::Word>(side.bytes)); }

bool fits_plain(const std::vector<f2::Word>& address, int held_bits, int bits) {
  const f2::Word low = f2::low_mask(bits);
  const auto held = static_cast<std::size_t>(held_bits);
  for (std::size_t i = held; i < address.size(); ++i)
    if ((address[i] & low) != 0) return false;
  // Bytes of a word keep their order.
  const int bytes = std::min(bits, kBitsOfWord);
  for (std::size_t i = 0; i < held; ++i) {
    const bool is_byte = static_cast<int>(i) < bytes;
    if (is_byte ? address[i] != f2::unit(static_cast<int>(i)) : (address[i] & f2::low_mask(bytes)) != 0)
      return false;
  }
  const int most = 1 + f2::kMaxDimension / 2;
  const f2::Subspace own = f2::Subspace::span(most, std::span(address).first(held));
  for (int i = 0; i < bits; ++i)
    if (!own.contains(f2::unit(i))) return false;
  return true;
}

bool fits_matrix(const std::vector<f2::Word>& address, int held_bits, AccessKind kind) {
  if (held_bits < kBitsOfWord) return false;
  const std::vector<int> row = row_bits(kind, held_bits);
  for (int i = 0; i < static_cast<int>(address.size()); ++i) {
    const auto at = std::find(row.begin(), row.end(), i);
    const f2::Word a = address[static_cast<std::size_t>(i)];
    if (at == row.end() ? (a & f2::low_mask(kRowBits)) != 0
                        : a != f2::unit(static_cast<int>(at - row.begin())))
      return false;
  }
  return true;
}

// The most words in one bank: `places` are served at once, with so many bytes from each on.
int conflicts(const std::vector<f2::Word>& address, const std::vector<f2::Word>& places, int bytes) {
  constexpr std::size_t kBanks = 32;
  std::vector<std::set<f2::Word>> banks(kBanks);
  for (const f2::Word place : places) {
    const f2::Word first = f2::combine(address.data(), place);
    for (f2::Word byte = 0; byte < static_cast<f2::Word>(bytes); byte += 4) {
      const f2::Word word = (first + byte) >> kBitsOfWord;
      banks[word % kBanks].insert(word);
    }
  }
  std::size_t most = 0;
  for (const auto& words : banks) most = std::max(most, words.size());
  return static_cast<int>(most);
}

// All sums of the units of `bits`, each with `first`.
std::vector<f2::Word> spread(const std::vector<int>& bits, f2::Word first) {
  std::vector<f2::Word> places{first};
  for (const int bit : bits) {
    const std::size_t count = places.size();
    for (std::size_t i = 0; i < count; ++i) places.push_back(places[i] ^ f2::unit(bit));
  }
  return places;
}

void count_plain(SharedSide& side, int held_bits) {
  const std::vector<int> bits = phase_bits(side, held_bits);
  const int phases = 1 << (kCudaLaneBits - static_cast<int>(bits.size()));
  for (const auto& access : accesses_of(side, held_bits)) {
    ++side.instructions;
    for (int phase = 0; phase < phases; ++phase) {
      const auto lane = static_cast<f2::Word>(phase) << bits.size();
      side.wavefronts +=
          conflicts(side.address, spread(bits, access.front() | lane << held_bits), side.bytes);
      ++side.phases;
    }
  }
}

void count_matrix(SharedSide& side, int held_bits) {
  constexpr int kMostMatrices = 4;
  const int words = 1 << (held_bits - kBitsOfWord);
  side.instructions = std::max(words / kMostMatrices, 1);
  side.phases = words;
  for (int word = 0; word < words; ++word)
    side.wavefronts += conflicts(
        side.address, spread(phase_bits(side, held_bits), static_cast<f2::Word>(word) << kBitsOfWord),
        1 << kRowBits);
}

}  // namespace

std::vector<int> row_bits(AccessKind kind, int held_bits) {
  if (kind == AccessKind::matrix) return {0, 1, held_bits, held_bits + 1};
  return {0, held_bits + 2, held_bits + 3, held_bits + 4};
}

std::vector<int> phase_bits(const SharedSide& side, int held_bits) {
  if (side.kind == AccessKind::matrix) return {held_bits + 2, held_bits + 3, held_bits + 4};
  if (side.kind == AccessKind::matrix_transposed) return {1, held_bits, held_bits + 1};
  std::vector<int> bits;
  const int few = std::max(access_bits_of(side) - kBitsOfWord, 0);
  for (int j = 0; j < kCudaLaneBits - few; ++j) bits.push_back(held_bits + j);
  return bits;
}

int turns_of(const SharedSide& side) {
  constexpr int kTurnsOfWavefront = 2;  // of 128 bytes a clock
  const bool is_narrow = side.kind == AccessKind::plain && side.bytes < 1 << kBitsOfWord;
  return kTurnsOfWavefront * side.wavefronts + (is_narrow ? side.instructions : 0);
}

std::vector<std::vector<f2::Word>> accesses_of(const SharedSide& side, int held_bits) {
  std::vector<f2::Word> places;
  for (f2::Word place = 0; place < f2::unit(held_bits); ++place) places.push_back(place);
  const auto at = [&](f2::Word place) { return f2::combine(side.address.data(), place); };
  std::sort(places.begin(), places.end(), [&](f2::Word a, f2::Word b) { return at(a) < at(b); });
  std::vector<std::vector<f2::Word>> accesses;
  for (auto begin = places.begin(); begin != places.end(); begin += side.bytes)
    accesses.emplace_back(begin, begin + side.bytes);
  return accesses;
}

SharedSide best_side(std::vector<f2::Word> address, int held_bits, const Instructions& instructions) {
  SharedSide best;
  const auto consider = [&](SharedSide side) {
    const auto cost = [](const SharedSide& s) { return std::pair(turns_of(s), s.instructions); };
    if (best.kind == AccessKind::none || cost(side) < cost(best)) best = std::move(side);
  };
  for (int bits = 0; bits <= std::min(instructions.access_bits, held_bits); ++bits) {
    if (!fits_plain(address, held_bits, bits)) continue;
    SharedSide side{.kind = AccessKind::plain, .bytes = 1 << bits, .address = address};
    count_plain(side, held_bits);
    side.least_wavefronts = side.phases;
    consider(std::move(side));
  }
  for (const AccessKind kind : {AccessKind::matrix, AccessKind::matrix_transposed}) {
    if (!instructions.has_matrices || !fits_matrix(address, held_bits, kind)) continue;
    SharedSide side{.kind = kind, .bytes = 4, .address = address};
    count_matrix(side, held_bits);
    side.least_wavefronts = side.phases;
    consider(std::move(side));
  }
  FARO_CHECK(best.kind != AccessKind::none);
  return best;
}

}  // namespace faro::exchange
