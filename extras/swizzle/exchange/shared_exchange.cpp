// Addresses are linear in the bits of a place, for both sides of the trip:
//
//     address bit   0 .. v-1            2 .. 6, above v           above
//                   bytes of one        bank: one-to-one on the   whatever makes the
//                   access              lanes of a phase, on      address one-to-one
//                                       both sides
//
// The directions of an access are in-lane ones of both sides that no lane of either has a part in. A phase is
// what the hardware serves at once: 32 lanes of 4 bytes or less, 16 of 8, 8 of 16. Functionals that are
// one-to-one on two subspaces of one dimension exist always (docs/theory/one-pass.md, theorem 2), so there is
// a placement without conflicts for every pair of layouts.
#include "exchange/shared_exchange.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "exchange/functionals.hpp"
#include "faro/error.hpp"

namespace faro::exchange {

f2::Word address_of(const std::vector<f2::Word>& columns, f2::Word place) {
  return f2::combine(columns.data(), place);
}

std::vector<std::vector<f2::Word>> accesses_of(const std::vector<f2::Word>& columns, int held_bits,
                                               int access_bits) {
  std::vector<f2::Word> places;
  for (f2::Word place = 0; place < f2::unit(held_bits); ++place) places.push_back(place);
  std::sort(places.begin(), places.end(),
            [&](f2::Word a, f2::Word b) { return address_of(columns, a) < address_of(columns, b); });
  std::vector<std::vector<f2::Word>> accesses;
  for (std::size_t first = 0; first < places.size(); first += std::size_t{1} << access_bits) {
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
    accesses.emplace_back(begin, begin + (std::ptrdiff_t{1} << access_bits));
  }
  return accesses;
}

namespace {

constexpr int kMostAccessBits = 4;  // 16 bytes

class Placement {
 public:
  Placement(const Conversion& conversion, int source_held, int target_held)
      : source_held_(source_held), dimension_(source_held + kCudaLaneBits) {
    for (int j = 0; j < kCudaLaneBits; ++j) {
      source_lanes_.push_back(f2::unit(source_held + j));
      target_lanes_.push_back(
          conversion.source[static_cast<std::size_t>(target_held) + static_cast<std::size_t>(j)]);
    }
    target_held_.assign(conversion.source.begin(), conversion.source.begin() + target_held);
    choose_access();
    choose_banks();
    choose_rest();
  }

  int access_bits() const { return static_cast<int>(access_.size()); }

  /// The address of each unit vector.
  std::vector<f2::Word> columns() const {
    std::vector<f2::Word> result(static_cast<std::size_t>(dimension_));
    for (std::size_t bit = 0; bit < address_.size(); ++bit)
      for (int i = 0; i < dimension_; ++i)
        if (f2::bit(address_[bit], i)) result[static_cast<std::size_t>(i)] |= f2::unit(static_cast<int>(bit));
    return result;
  }

 private:
  // Directions in which both sides have consecutive bytes of a register, then whole registers.
  void choose_access() {
    f2::Subspace used = f2::Subspace::span(dimension_, source_lanes_);
    for (const f2::Word v : target_lanes_) used.insert(v);
    const auto fits = [&](f2::Word direction) { return !used.contains(direction); };
    for (int i = 0; i < kBitsOfWord; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (at >= target_held_.size() || target_held_[at] != f2::unit(i) || !fits(f2::unit(i)))
        return fix_access();
      used.insert(f2::unit(i));
      access_.push_back(f2::unit(i));
    }
    Rows source_words;
    for (int i = kBitsOfWord; i < source_held_; ++i) source_words.push_back(f2::unit(i));
    const f2::Subspace common =
        f2::intersection(f2::Subspace::span(dimension_, source_words),
                         f2::Subspace::span(dimension_, std::span(target_held_).subspan(kBitsOfWord)));
    for (const f2::Word direction : common.basis()) {
      if (access_bits() == kMostAccessBits || !fits(direction)) continue;
      used.insert(direction);
      access_.push_back(direction);
    }
    fix_access();
  }

  // Functionals that count along the access and vanish on the lanes of both sides.
  void fix_access() {
    Rows known = access_;
    f2::Subspace independent = f2::Subspace::span(dimension_, access_);
    for (const Rows* lanes : {&source_lanes_, &target_lanes_})
      for (const f2::Word v : *lanes)
        if (independent.insert(v)) known.push_back(v);
    // known g = e_i
    const f2::Matrix values = f2::Matrix::from_columns(dimension_, known).transposed();
    for (std::size_t i = 0; i < access_.size(); ++i) {
      const auto g = values.solve(f2::unit(static_cast<int>(i)));
      FARO_CHECK(g.has_value());
      address_.push_back(*g);
    }
  }

  bool vanishes_on_access(f2::Word g) const { return !is_nonzero_on(access_, g); }

  // The lanes that the hardware serves at once.
  Rows phase(const Rows& lanes) const {
    const int few = std::max(access_bits() - kBitsOfWord, 0);
    return {lanes.begin(), lanes.begin() + (kCudaLaneBits - few)};
  }

  template <typename Fits>
  f2::Word first_functional(const Fits& fits) const {
    for (int i = dimension_; i-- > 0;)
      if (fits(f2::unit(i))) return f2::unit(i);
    for (int i = dimension_; i-- > 0;)
      for (int j = i; j-- > 0;)
        if (fits(f2::unit(i) | f2::unit(j))) return f2::unit(i) | f2::unit(j);
    f2::Word g = 1;
    while (g <= f2::low_mask(dimension_) && !fits(g)) ++g;
    FARO_CHECK(g <= f2::low_mask(dimension_));
    return g;
  }

  void choose_banks() {
    Rows source = phase(source_lanes_);
    Rows target = phase(target_lanes_);
    const auto tells = [](const Rows& basis, f2::Word g) { return basis.empty() || is_nonzero_on(basis, g); };
    while (!source.empty() || !target.empty()) {
      const f2::Word g = first_functional(
          [&](f2::Word f) { return vanishes_on_access(f) && tells(source, f) && tells(target, f); });
      source = where_zero(source, g);
      target = where_zero(target, g);
      banks_.push_back(g);
    }
  }

  // Functionals that with those make the address one-to-one: first below the banks, then above.
  void choose_rest() {
    f2::Subspace all = f2::Subspace::span(dimension_, address_);
    for (const f2::Word g : banks_) all.insert(g);
    Rows rest;
    while (all.dimension() < dimension_) {
      const f2::Word g =
          first_functional([&](f2::Word f) { return vanishes_on_access(f) && !all.contains(f); });
      all.insert(g);
      rest.push_back(g);
    }
    auto next = rest.begin();
    for (int bit = access_bits(); bit < kBitsOfWord && next != rest.end(); ++bit) address_.push_back(*next++);
    address_.insert(address_.end(), banks_.begin(), banks_.end());
    address_.insert(address_.end(), next, rest.end());
  }

  int source_held_;
  int dimension_;
  Rows source_lanes_;
  Rows target_lanes_;
  Rows target_held_;
  Rows access_;   // directions
  Rows address_;  // functionals, address bit 0 first
  Rows banks_;
};

// Wavefronts of one access by all lanes: for each phase, the most words in one bank.
int wavefronts(const std::vector<f2::Word>& columns, int held_bits, f2::Word first, int access_bits) {
  const int lanes_of_phase = 32 >> std::max(access_bits - kBitsOfWord, 0);
  int all = 0;
  for (int lane = 0; lane < 32; lane += lanes_of_phase) {
    std::vector<std::set<f2::Word>> banks(32);
    for (int l = lane; l < lane + lanes_of_phase; ++l) {
      const f2::Word address = address_of(columns, first | static_cast<f2::Word>(l) << held_bits);
      for (f2::Word byte = 0; byte < f2::unit(access_bits); byte += access_bits < kBitsOfWord ? 1 : 4) {
        const f2::Word word = (address + byte) >> kBitsOfWord;
        banks[word % 32].insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& words : banks) most = std::max(most, words.size());
    all += static_cast<int>(most);
  }
  return all;
}

}  // namespace

std::optional<SharedExchange> plan_shared(const Conversion& conversion) {
  if (conversion.lane_bits != kCudaLaneBits) return std::nullopt;
  const int target_held = static_cast<int>(conversion.source.size()) - kCudaLaneBits;
  const int source_held = f2::trailing_bit(static_cast<f2::Word>(conversion.words_from)) + kBitsOfWord;
  const f2::Matrix source = f2::Matrix::from_columns(source_held + kCudaLaneBits, conversion.source);
  if (source.rank() != source.columns() || target_held < source_held) return std::nullopt;
  const Placement placement(conversion, source_held, target_held);
  SharedExchange shared;
  const int access_bits = placement.access_bits();
  shared.access_bytes = 1 << access_bits;
  shared.bytes = 1 << (source_held + kCudaLaneBits);
  shared.store_address = placement.columns();
  for (const f2::Word place : conversion.source)
    shared.load_address.push_back(address_of(shared.store_address, place));
  for (const auto& access : accesses_of(shared.store_address, source_held, access_bits)) {
    ++shared.stores;
    shared.store_wavefronts += wavefronts(shared.store_address, source_held, access.front(), access_bits);
  }
  for (const auto& access : accesses_of(shared.load_address, target_held, access_bits)) {
    ++shared.loads;
    shared.load_wavefronts += wavefronts(shared.load_address, target_held, access.front(), access_bits);
  }
  shared.least_wavefronts = shared.stores << std::max(access_bits - kBitsOfWord, 0);
  constexpr int kTurnsOfWavefront = 2;  // of 128 bytes a clock
  constexpr int kTurnsOfByteExtraction = 1;
  const int narrow = access_bits < kBitsOfWord ? kTurnsOfByteExtraction * (shared.stores + shared.loads) : 0;
  shared.turns = kTurnsOfWavefront * (shared.store_wavefronts + shared.load_wavefronts) + narrow;
  return shared;
}

}  // namespace faro::exchange
