// Addresses are linear in the bits of a place, for both sides of the trip:
//
//     address bit   0 .. p-1              2 .. 6, from p on           above
//                   given by the          bank: one-to-one on what    whatever makes the
//                   instructions          is served at once, on       address one-to-one
//                                         both sides
//
// The instructions of a side are wanted first, and say what the low address bits are: the bytes of an access
// of both sides, or of one of them, or of the rows of a matrix. The other side then takes the widest access
// that these allow. Each further bank bit is a functional that is one-to-one on what the bits before do not
// tell apart, of both sides: two proper subspaces cover no space, so it exists while there is something left
// that does not lie in an access (docs/theory/one-pass.md, theorem 2). So no placement with these low bits
// has fewer conflicts, on either side; and with the bytes of both sides' accesses there are none at all.
#include "exchange/shared_exchange.hpp"

#include <algorithm>
#include <tuple>

#include "exchange/shared_access.hpp"
#include "faro/error.hpp"

namespace faro::exchange {
namespace {

constexpr int kBankBits = 7;  // address bits of a byte in its bank: 128 bytes

// One side before it has addresses: the source place of every bit of its places.
struct PlaceBits {
  Rows places;
  int held = 0;

  Rows beyond_lane() const { return {places.begin() + held, places.end()}; }
  Rows chosen(const std::vector<int>& bits) const {
    Rows result;
    result.reserve(bits.size());
    for (const int bit : bits) result.push_back(places[static_cast<std::size_t>(bit)]);
    return result;
  }
};

// The low address bits, functionals, and the directions along which they count.
struct Low {
  Rows address;
  Rows access;
};

Rows independent(const Rows& vectors, int dimension) {
  const f2::Subspace space = f2::Subspace::span(dimension, vectors);
  return {space.basis().begin(), space.basis().end()};
}

class Placement {
 public:
  Placement(const Conversion& conversion, int source_held, int target_held)
      : dimension_(source_held + conversion.lane_bits + conversion.warp_bits) {
    for (int i = 0; i < dimension_; ++i) source_.places.push_back(f2::unit(i));
    source_.held = source_held;
    target_ = {.places = conversion.source, .held = target_held};
  }

  /// Low bits in order of preference, for every choice of instructions.
  std::vector<Low> choices(const ConversionOptions& options) const {
    std::vector<Low> all{common_access()};
    const auto add = [&](const PlaceBits& side, const std::vector<int>& bits) {
      const auto bits_held = std::max(kBitsOfWord, side.held);
      if (bits_held > side.held) return;  // less than a word
      if (std::optional<Low> low = prescribed(side, bits)) all.push_back(std::move(*low));
    };
    for (const auto& [side, least] :
         {std::pair(&source_, kStmatrixCapability), std::pair(&target_, kLdmatrixCapability)}) {
      add(*side, {0, 1});
      if (options.capability < least) continue;
      for (const AccessKind kind : {AccessKind::matrix, AccessKind::matrix_transposed})
        add(*side, row_bits(kind, side->held));
    }
    return all;
  }

  SharedExchange exchange(const Low& low, const ConversionOptions& options) const {
    const int bits = static_cast<int>(low.address.size());
    const auto sides = [&](const Rows& address) {
      const std::vector<f2::Word> columns = columns_of(address);
      std::vector<f2::Word> loads;
      loads.reserve(target_.places.size());
      for (const f2::Word place : target_.places) loads.push_back(f2::combine(columns.data(), place));
      return std::pair(
          best_side(columns, source_.held, {bits, options.capability >= kStmatrixCapability}),
          best_side(std::move(loads), target_.held, {bits, options.capability >= kLdmatrixCapability}));
    };
    // What is served at once depends on the instructions, and these on the low bits alone.
    const auto first = sides(completed(low, {}));
    const Rows store_phase = phase_of(source_, first.first);
    const Rows load_phase = phase_of(target_, first.second);
    SharedExchange shared;
    std::tie(shared.store, shared.load) = sides(completed(low, banks(low, store_phase, load_phase)));
    shared.store.least_wavefronts <<= conflict_bits(low, phase_of(source_, shared.store));
    shared.load.least_wavefronts <<= conflict_bits(low, phase_of(target_, shared.load));
    shared.bytes = 1 << dimension_;
    shared.turns = turns_of(shared.store) + turns_of(shared.load);
    return shared;
  }

 private:
  // Directions in which both sides have consecutive bytes of a register, then whole registers.
  Low common_access() const {
    f2::Subspace used = f2::Subspace::span(dimension_, source_.beyond_lane());
    for (const f2::Word v : target_.beyond_lane()) used.insert(v);
    Rows access;
    const auto take = [&](f2::Word direction) {
      if (used.contains(direction)) return false;
      used.insert(direction);
      access.push_back(direction);
      return true;
    };
    for (int i = 0; i < kBitsOfWord; ++i)
      if (i >= target_.held || target_.places[static_cast<std::size_t>(i)] != f2::unit(i) ||
          !take(f2::unit(i)))
        return widest(access);
    const auto words = [&](const PlaceBits& side) {
      return f2::Subspace::span(
          dimension_, std::span(side.places).first(static_cast<std::size_t>(side.held)).subspan(kBitsOfWord));
    };
    const f2::Subspace common = f2::intersection(words(source_), words(target_));
    for (const f2::Word direction : common.basis())
      if (static_cast<int>(access.size()) < kMostAccessBits) take(direction);
    return widest(access);
  }

  // As much of the access as there are functionals for, which vanish on the lanes of both sides.
  Low widest(Rows access) const {
    for (; !access.empty(); access.pop_back()) {
      Low low{.address = {}, .access = access};
      for (std::size_t i = 0; i < access.size(); ++i) {
        Rows known = access;
        for (const PlaceBits* side : {&source_, &target_}) {
          const auto bytes = std::min(access.size(), std::size_t{kBitsOfWord});
          const auto from = i < kBitsOfWord ? bytes : static_cast<std::size_t>(side->held);
          known.insert(known.end(), side->places.begin() + static_cast<std::ptrdiff_t>(from),
                       side->places.end());
        }
        const f2::Matrix values = f2::Matrix::from_columns(dimension_, known).transposed();
        if (const auto g = values.solve(f2::unit(static_cast<int>(i)))) low.address.push_back(*g);
      }
      if (low.address.size() == access.size()) return low;
    }
    return {};
  }

  // These bits of a side's places as address bits 0 and on, which all its other bits leave as they are.
  std::optional<Low> prescribed(const PlaceBits& side, const std::vector<int>& bits) const {
    const f2::Matrix places = f2::Matrix::from_columns(dimension_, side.places);
    if (places.rank() < dimension_) return std::nullopt;  // the low bits would not be all said
    Low low{.address = {}, .access = side.chosen(bits)};
    for (const int bit : bits) {
      const auto g = places.transposed().solve(f2::unit(bit));
      if (!g) return std::nullopt;
      low.address.push_back(*g);
    }
    return low;
  }

  Rows phase_of(const PlaceBits& places, const SharedSide& side) const {
    return independent(places.chosen(phase_bits(side, places.held)), dimension_);
  }

  // What the low bits leave of a phase in one bank.
  static Rows untold(const Low& low, Rows phase) {
    for (std::size_t i = kBitsOfWord; i < low.address.size(); ++i) phase = where_zero(phase, low.address[i]);
    return phase;
  }

  int free_banks(const Low& low) const {
    return kBankBits - std::max(kBitsOfWord, static_cast<int>(low.address.size()));
  }

  // The logarithm of the words of a phase that must share a bank.
  int conflict_bits(const Low& low, const Rows& phase) const {
    const f2::Subspace left = f2::Subspace::span(dimension_, untold(low, phase));
    const int in_access = f2::intersection(left, f2::Subspace::span(dimension_, low.access)).dimension();
    return std::max(left.dimension() - in_access - free_banks(low), 0);
  }

  template <typename Fits>
  f2::Word first_functional(const Low& low, const Fits& fits) const {
    const auto is_one = [&](f2::Word g) { return !is_nonzero_on(low.access, g) && fits(g); };
    for (int i = dimension_; i-- > 0;)
      if (is_one(f2::unit(i))) return f2::unit(i);
    for (int i = dimension_; i-- > 0;)
      for (int j = i; j-- > 0;)
        if (is_one(f2::unit(i) | f2::unit(j))) return f2::unit(i) | f2::unit(j);
    f2::Word g = 1;
    while (g <= f2::low_mask(dimension_) && !is_one(g)) ++g;
    FARO_CHECK(g <= f2::low_mask(dimension_));
    return g;
  }

  Rows banks(const Low& low, const Rows& store_phase, const Rows& load_phase) const {
    const f2::Subspace access = f2::Subspace::span(dimension_, low.access);
    const auto is_told = [&](const Rows& basis) {
      return std::all_of(basis.begin(), basis.end(), [&](f2::Word v) { return access.contains(v); });
    };
    Rows store = untold(low, store_phase);
    Rows load = untold(low, load_phase);
    Rows chosen;
    while (static_cast<int>(chosen.size()) < free_banks(low) && !(is_told(store) && is_told(load))) {
      const auto tells = [&](const Rows& basis, f2::Word g) {
        return is_told(basis) || is_nonzero_on(basis, g);
      };
      const f2::Word g = first_functional(low, [&](f2::Word f) { return tells(store, f) && tells(load, f); });
      store = where_zero(store, g);
      load = where_zero(load, g);
      chosen.push_back(g);
    }
    return chosen;
  }

  // With functionals that make the address one-to-one: first below the banks, then above.
  Rows completed(const Low& low, const Rows& banks) const {
    f2::Subspace all = f2::Subspace::span(dimension_, low.address);
    for (const f2::Word g : banks) all.insert(g);
    Rows rest;
    while (all.dimension() < dimension_) {
      rest.push_back(first_functional(low, [&](f2::Word f) { return !all.contains(f); }));
      all.insert(rest.back());
    }
    Rows address = low.address;
    auto next = rest.begin();
    while (static_cast<int>(address.size()) < kBitsOfWord && next != rest.end()) address.push_back(*next++);
    address.insert(address.end(), banks.begin(), banks.end());
    address.insert(address.end(), next, rest.end());
    return address;
  }

  std::vector<f2::Word> columns_of(const Rows& address) const {
    std::vector<f2::Word> columns(static_cast<std::size_t>(dimension_));
    for (std::size_t bit = 0; bit < address.size(); ++bit)
      for (int i = 0; i < dimension_; ++i)
        if (f2::bit(address[bit], i)) columns[static_cast<std::size_t>(i)] |= f2::unit(static_cast<int>(bit));
    return columns;
  }

  int dimension_;
  PlaceBits source_;
  PlaceBits target_;
};

}  // namespace

std::optional<SharedExchange> plan_shared(const Conversion& conversion, const ConversionOptions& options) {
  if (conversion.lane_bits != kCudaLaneBits) return std::nullopt;
  const int beyond = kCudaLaneBits + conversion.warp_bits;
  const int target_held = static_cast<int>(conversion.source.size()) - beyond;
  const int source_held = f2::trailing_bit(static_cast<f2::Word>(conversion.words_from)) + kBitsOfWord;
  const auto of_lane = std::span(conversion.source).first(static_cast<std::size_t>(target_held));
  if (f2::Subspace::span(source_held + beyond, of_lane).dimension() != target_held) return std::nullopt;
  const Placement placement(conversion, source_held, target_held);
  std::optional<SharedExchange> best;
  for (const Low& low : placement.choices(options)) {
    SharedExchange shared = placement.exchange(low, options);
    const auto cost = [](const SharedExchange& s) {
      return std::pair(s.turns, s.store.instructions + s.load.instructions);
    };
    if (!best || cost(shared) < cost(*best)) best = std::move(shared);
  }
  return best;
}

SharedExchange plan_access(const Conversion& conversion, const std::vector<f2::Word>& address,
                           const ConversionOptions& options) {
  const int held = static_cast<int>(address.size()) - conversion.lane_bits - conversion.warp_bits;
  const auto of_lane = std::span(address).first(static_cast<std::size_t>(held));
  if (f2::Subspace::span(f2::kMaxDimension / 2, of_lane).dimension() != held)
    fail(ErrorCode::unsupported, "reach a layout in memory", "registers of a lane that hold an element twice",
         "each once", "give the layout its elements once, and copy the registers");
  SharedExchange shared;
  if (conversion.is_load()) {
    shared.load = best_side(address, held, {.has_matrices = options.capability >= kLdmatrixCapability});
  } else {
    shared.store = best_side(address, held, {.has_matrices = options.capability >= kStmatrixCapability});
  }
  shared.bytes = conversion.memory_bytes;
  shared.turns = turns_of(conversion.is_load() ? shared.load : shared.store);
  return shared;
}

}  // namespace faro::exchange
