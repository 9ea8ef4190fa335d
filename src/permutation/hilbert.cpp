// Hilbert's curve through a cube of d axes of 2^b elements (hilbert_cells.hpp): of few axes its states and
// their steps are a table, by which tiles and orders within them are found.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/computed_map.hpp"
#include "permutation/hilbert_cells.hpp"

namespace faro {
namespace {

using detail::ComputedLeaf;
using detail::ComputedRun;
using detail::ComputedSide;
using detail::ComputedTiles;
using detail::HilbertCube;
using detail::HilbertState;

constexpr int kMostHilbertBits = 62;

// All states of so few axes that there are few, and their steps.
class HilbertTable {
 public:
  static constexpr int kMostAxes = 4;

  struct Step {
    std::uint16_t value = 0;  // the digit, or the cell
    std::uint16_t next = 0;   // state
  };

  explicit HilbertTable(int d) : d_(d) {
    std::vector<HilbertState> states{HilbertState()};
    for (std::size_t s = 0; s < states.size(); ++s) {
      digits_.resize((s + 1) << d);
      cells_.resize((s + 1) << d);
      for (std::uint64_t cell = 0; cell < std::uint64_t{1} << d; ++cell) {
        HilbertState within = states[s];
        const std::uint64_t digit = within.enter_cell(d, cell);
        auto found = std::find(states.begin(), states.end(), within);
        if (found == states.end()) found = states.insert(states.end(), within);
        const auto next = static_cast<std::uint16_t>(found - states.begin());
        digits_[s << d | cell] = {.value = static_cast<std::uint16_t>(digit), .next = next};
        cells_[s << d | digit] = {.value = static_cast<std::uint16_t>(cell), .next = next};
      }
    }
  }

  std::size_t states() const { return digits_.size() >> d_; }
  Step of_cell(std::size_t state, std::uint64_t cell) const { return digits_[state << d_ | cell]; }
  Step of_digit(std::size_t state, std::uint64_t digit) const { return cells_[state << d_ | digit]; }

  // Made once; null for more axes.
  static const HilbertTable* of(int d) {
    static const HilbertTable kTwo(2);
    static const HilbertTable kThree(3);
    static const HilbertTable kFour(kMostAxes);
    return d == 2 ? &kTwo : d == 3 ? &kThree : d == kMostAxes ? &kFour : nullptr;
  }

 private:
  int d_;
  std::vector<Step> digits_;
  std::vector<Step> cells_;
};

// A state of a table, with the steps of HilbertState.
class TableState {
 public:
  explicit TableState(const HilbertTable& table, std::size_t number = 0) : table_(&table), number_(number) {}

  std::size_t number() const { return number_; }
  std::uint64_t enter_cell(int /*d*/, std::uint64_t cell) { return enter(table_->of_cell(number_, cell)); }
  std::uint64_t enter_digit(int /*d*/, std::uint64_t digit) {
    return enter(table_->of_digit(number_, digit));
  }

 private:
  std::uint64_t enter(HilbertTable::Step step) {
    number_ = step.next;
    return step.value;
  }

  const HilbertTable* table_;
  std::size_t number_;
};

// Tiles are cubes of 2^j elements a side, leaves cubes of 2^l within.
class HilbertTiles final : public ComputedTiles {
 public:
  HilbertTiles(HilbertCube cube, const HilbertTable& table, int j) : cube_(cube), table_(table), j_(j) {
    // Orders of all states in what a first-level cache holds besides a buffer's lines.
    constexpr std::uint64_t kMostOrders = std::uint64_t{1} << 13;
    const int d = cube.d;
    while (l_ < j && table.states() << ((l_ + 1) * d) <= kMostOrders) ++l_;
    const auto elements = [d](int levels) { return std::uint64_t{1} << (levels * d); };
    sizes_ = {.tile = elements(j),
              .leaf = elements(l_),
              .buffer = elements(j),
              .runs = std::uint64_t{1} << (j * (d - 1))};
    orders_.resize(table.states() * sizes_.leaf);
    const HilbertCube buffer{.d = d, .b = j};
    for (std::size_t state = 0; state < table.states(); ++state) {
      for (std::uint64_t k = 0; k < sizes_.leaf; ++k) {
        TableState at_leaf{table, state};
        orders_[state * sizes_.leaf + k] =
            static_cast<std::uint16_t>(buffer.go_down(k, {.levels = l_, .below = 0}, at_leaf));
      }
    }
  }

  std::size_t tile(std::uint64_t number, std::span<ComputedRun> runs,
                   std::span<ComputedLeaf> leaves) const override {
    TableState state{table_};
    const std::uint64_t begin = cube_.go_down(number, {.levels = cube_.b - j_, .below = j_}, state);
    const auto side = std::uint64_t{1} << j_;
    for (std::uint64_t run = 0; run < sizes_.runs; ++run) {
      std::uint64_t place = begin;
      for (int a = 1; a < cube_.d; ++a) place |= (run >> ((a - 1) * j_) & (side - 1)) << (a * cube_.b);
      runs[run] = {.place = place, .elements = side, .at = static_cast<std::uint32_t>(run << j_)};
    }
    const HilbertCube buffer{.d = cube_.d, .b = j_};
    for (std::uint64_t leaf = 0; leaf < leaves.size(); ++leaf) {
      TableState within = state;
      const std::uint64_t at = buffer.go_down(leaf, {.levels = j_ - l_, .below = l_}, within);
      leaves[leaf] = {.at = static_cast<std::uint32_t>(at),
                      .order = static_cast<std::uint32_t>(within.number())};
    }
    return sizes_.runs;
  }

 private:
  HilbertCube cube_;
  const HilbertTable& table_;
  int j_;
  int l_ = 1;
};

class HilbertMap final : public detail::ComputedMap {
 public:
  HilbertMap(int d, int b) : cube_{.d = d, .b = b}, table_(HilbertTable::of(d)) {}

  std::uint64_t count() const override { return std::uint64_t{1} << (cube_.d * cube_.b); }
  std::uint64_t image(std::uint64_t x) const override {
    return table_ != nullptr ? number_of(x, TableState{*table_}) : number_of(x, HilbertState());
  }
  std::uint64_t preimage(std::uint64_t y) const override {
    return table_ != nullptr ? place_of(y, TableState{*table_}) : place_of(y, HilbertState());
  }
  std::string text() const override {
    return "hilbert(" + std::to_string(cube_.d) + ", " + std::to_string(cube_.b) + ")";
  }

  detail::ComputedFormula formula() const override { return cube_; }
  ComputedSide ordered_side() const override { return ComputedSide::output; }
  std::unique_ptr<const ComputedTiles> tiles(std::uint64_t most_places) const override {
    constexpr int kMostTileBits = 16;
    int j = 0;
    while (j < cube_.b && (j + 1) * cube_.d <= kMostTileBits &&
           std::uint64_t{1} << ((j + 1) * cube_.d) <= most_places)
      ++j;
    if (table_ == nullptr || j == 0) return nullptr;
    return std::make_unique<const HilbertTiles>(cube_, *table_, j);
  }

 private:
  template <typename State>
  std::uint64_t number_of(std::uint64_t x, State state) const {
    std::uint64_t y = 0;
    for (int level = cube_.b - 1; level >= 0; --level)
      y = y << cube_.d | state.enter_cell(cube_.d, cube_.cell_of(x, level));
    return y;
  }
  template <typename State>
  std::uint64_t place_of(std::uint64_t y, State state) const {
    std::uint64_t x = 0;
    for (int level = cube_.b - 1; level >= 0; --level)
      x |= cube_.place_of(state.enter_digit(cube_.d, cube_.digit_of(y, level)), level);
    return x;
  }

  HilbertCube cube_;
  const HilbertTable* table_;
};

}  // namespace

Permutation maps::hilbert(int d, int b) {
  const std::string asked = "d = " + std::to_string(d) + " axes of b = " + std::to_string(b) + " bits";
  if (d < 1 || b < 0 || b > kMostHilbertBits || (b > 0 && d > kMostHilbertBits / b))
    fail(ErrorCode::value, "hilbert", asked, "d of 1 or more, b of 0 or more, and d b of at most 62");
  if (b == 0 || d == 1) return maps::identity(d * b);
  if (b == 1) return maps::gray(d).inverse();  // cells in the order of the Gray code
  return Computed(std::make_shared<const HilbertMap>(d, b), Direction::scatter);
}

}  // namespace faro
