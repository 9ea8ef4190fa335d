// Hilbert's curve through a cube of d axes of 2^b elements, in Skilling's form.
//
// The curve goes down level by level. At a level the cube is cut into 2^d cells; the curve visits them in
// Gray code order, and in each runs through the same curve with its axes exchanged and flipped:
//
//     cells of a level, d = 2          within them
//     0 3                              0: axes exchanged       3: exchanged and both flipped
//     1 2                              1, 2: as it is
//
// So the number of an element is read off its coordinates' bits from the top, a digit of d bits a level, by a
// machine whose state says where each axis went and whether it is flipped.
// Source: J. Skilling, Programming the Hilbert curve, AIP Conference Proceedings 707 (2004).
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/computed_map.hpp"

namespace faro {
namespace {

using detail::ComputedLeaf;
using detail::ComputedRun;
using detail::ComputedSide;
using detail::ComputedTiles;

constexpr int kMostHilbertBits = 62;
constexpr int kMostHilbertAxes = kMostHilbertBits / 2;  // beyond, an axis has one bit, and the map is affine

// Cells and digits have d bits; the bit of axis 0 is the highest, as it is in a row-major index.
class HilbertState {
 public:
  explicit HilbertState(int d) {
    for (int i = 0; i < d; ++i) axis_.at(static_cast<std::size_t>(i)) = static_cast<std::uint8_t>(i);
  }

  // The digit of a cell; then the state is that within the cell.
  std::uint64_t enter_cell(int d, std::uint64_t cell) {
    std::uint64_t turned = 0;
    for (int i = 0; i < d; ++i) turned = turned << 1 | ((cell >> (d - 1 - axis(i)) ^ flip_ >> i) & 1);
    std::uint64_t digit = 0;
    bool sum = false;
    for (int i = 0; i < d; ++i) {
      sum ^= (turned >> (d - 1 - i) & 1) != 0;
      digit = digit << 1 | static_cast<std::uint64_t>(sum ^ backwards_);
    }
    turn(d, turned);
    backwards_ ^= sum;
    return digit;
  }

  std::uint64_t enter_digit(int d, std::uint64_t digit) {
    const std::uint64_t sums = digit ^ (backwards_ ? f2::low_mask(d) : 0);
    const std::uint64_t turned = sums ^ sums >> 1;
    std::uint64_t cell = 0;
    for (int i = 0; i < d; ++i) cell |= ((turned >> (d - 1 - i) ^ flip_ >> i) & 1) << (d - 1 - axis(i));
    turn(d, turned);
    backwards_ ^= (sums & 1) != 0;
    return cell;
  }

  friend bool operator==(const HilbertState&, const HilbertState&) = default;

 private:
  int axis(int i) const { return axis_[static_cast<std::size_t>(i)]; }

  // Within a cell the first axis is flipped for each 1, and changes places with the axis of each 0.
  void turn(int d, std::uint64_t turned) {
    for (int i = 0; i < d; ++i) {
      if ((turned >> (d - 1 - i) & 1) != 0) {
        flip_ ^= 1;
        continue;
      }
      std::swap(axis_[0], axis_[static_cast<std::size_t>(i)]);
      const std::uint64_t differ = (flip_ ^ flip_ >> i) & 1;
      if (i > 0) flip_ ^= differ | differ << i;
    }
  }

  std::array<std::uint8_t, kMostHilbertAxes> axis_{};
  std::uint64_t flip_ = 0;  // bit i: of what stands at place i
  bool backwards_ = false;  // digits are complemented
};

// All states of so few axes that there are few, and their steps.
class HilbertTable {
 public:
  static constexpr int kMostAxes = 4;

  struct Step {
    std::uint16_t value = 0;  // the digit, or the cell
    std::uint16_t next = 0;   // state
  };

  explicit HilbertTable(int d) : d_(d) {
    std::vector<HilbertState> states{HilbertState(d)};
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

struct Cube {
  int d = 2;
  int b = 1;

  // Bit `level` of each coordinate of a row-major index, axis 0 first.
  std::uint64_t cell_of(std::uint64_t x, int level) const {
    std::uint64_t cell = 0;
    for (int a = d - 1; a >= 0; --a) cell = cell << 1 | (x >> (a * b + level) & 1);
    return cell;
  }
  // Where a cell of that level begins.
  std::uint64_t place_of(std::uint64_t cell, int level) const {
    std::uint64_t x = 0;
    for (int a = 0; a < d; ++a) x |= (cell >> a & 1) << (a * b + level);
    return x;
  }
  std::uint64_t digit_of(std::uint64_t y, int level) const { return y >> (level * d) & f2::low_mask(d); }
};

// Tiles are cubes of 2^j elements a side, leaves cubes of 2^l within.
class HilbertTiles final : public ComputedTiles {
 public:
  HilbertTiles(Cube cube, const HilbertTable& table, int j) : cube_(cube), table_(table), j_(j) {
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
    const Cube buffer{.d = d, .b = j};
    for (std::size_t state = 0; state < table.states(); ++state) {
      for (std::uint64_t k = 0; k < sizes_.leaf; ++k) {
        TableState at_leaf{table, state};
        orders_[state * sizes_.leaf + k] =
            static_cast<std::uint16_t>(go_down(buffer, k, {.levels = l_, .below = 0}, at_leaf));
      }
    }
  }

  std::size_t tile(std::uint64_t number, std::span<ComputedRun> runs,
                   std::span<ComputedLeaf> leaves) const override {
    TableState state{table_};
    const std::uint64_t begin = go_down(cube_, number, {.levels = cube_.b - j_, .below = j_}, state);
    const auto side = std::uint64_t{1} << j_;
    for (std::uint64_t run = 0; run < sizes_.runs; ++run) {
      std::uint64_t place = begin;
      for (int a = 1; a < cube_.d; ++a) place |= (run >> ((a - 1) * j_) & (side - 1)) << (a * cube_.b);
      runs[run] = {.place = place, .elements = side, .at = static_cast<std::uint32_t>(run << j_)};
    }
    const Cube buffer{.d = cube_.d, .b = j_};
    for (std::uint64_t leaf = 0; leaf < leaves.size(); ++leaf) {
      TableState within = state;
      const std::uint64_t at = go_down(buffer, leaf, {.levels = j_ - l_, .below = l_}, within);
      leaves[leaf] = {.at = static_cast<std::uint32_t>(at),
                      .order = static_cast<std::uint32_t>(within.number())};
    }
    return sizes_.runs;
  }

 private:
  struct Levels {
    int levels = 0;
    int below = 0;  // levels of a cell at the end
  };
  // Where the number-th cell of these levels begins; `state` becomes that within it.
  static std::uint64_t go_down(const Cube& cube, std::uint64_t number, Levels by, TableState& state) {
    std::uint64_t place = 0;
    for (int level = by.levels - 1; level >= 0; --level)
      place |= cube.place_of(state.enter_digit(cube.d, cube.digit_of(number, level)), level + by.below);
    return place;
  }

  Cube cube_;
  const HilbertTable& table_;
  int j_;
  int l_ = 1;
};

class HilbertMap final : public detail::ComputedMap {
 public:
  HilbertMap(int d, int b) : cube_{.d = d, .b = b}, table_(HilbertTable::of(d)) {}

  std::uint64_t count() const override { return std::uint64_t{1} << (cube_.d * cube_.b); }
  std::uint64_t image(std::uint64_t x) const override {
    return table_ != nullptr ? number_of(x, TableState{*table_}) : number_of(x, HilbertState(cube_.d));
  }
  std::uint64_t preimage(std::uint64_t y) const override {
    return table_ != nullptr ? place_of(y, TableState{*table_}) : place_of(y, HilbertState(cube_.d));
  }
  std::string text() const override {
    return "hilbert(" + std::to_string(cube_.d) + ", " + std::to_string(cube_.b) + ")";
  }

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

  Cube cube_;
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
