// The domains of a search: what is left of each hole's family, which is a table constraint on its cells.
//
// A cell's values are numbered as in ConstraintModel::domains, and a set of them is a mask. Restricting a
// cell drops the functions that have another value there:
//
//     small family     a bit for each function; for each cell and value the functions that have it,
//                      so that a restriction is an OR and an AND of words
//     large family     cells that are fixed are remembered; when there are a few of them, or nothing else
//                      follows, one picks the list of functions that have its value (made once for each
//                      cell), and the others thin it out
//
// push() opens a level and pop() undoes what was done since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "swizzle/model.hpp"

namespace faro::swizzle::detail {

/// Values of one cell, by number. A cell of more than 64 values is *opaque*: nothing is known of it until its
/// hole has one function.
using ValueMask = std::uint64_t;
inline constexpr int kMostMaskValues = 64;

class Domains {
 public:
  /// `tick` is called before all that takes time in large families; it may throw.
  Domains(const ConstraintModel& model, std::span<const FunctionSet> families, std::function<void()> tick);

  int holes() const { return static_cast<int>(holes_.size()); }
  std::size_t size(int hole) const { return at(hole).domain.size; }
  bool is_fixed(int hole) const { return size(hole) == 1; }
  /// Requires: is_fixed(hole).
  std::size_t function(int hole) const { return at(hole).domain.only; }
  /// The functions that are left, in order.
  std::vector<std::uint32_t> candidates(int hole) const;

  /// A number for each cell of each hole.
  std::uint32_t cell_number(const Variable& cell) const {
    return at(cell.hole).first_cell + static_cast<std::uint32_t>(cell.cell);
  }
  /// How many values it has from the start.
  std::size_t values(const Variable& cell) const { return facts(cell).count; }
  bool is_opaque(const Variable& cell) const {
    return facts(cell).count > kMostMaskValues && !is_fixed(cell.hole);
  }
  /// The value's number. Requires: is_fixed(cell.hole).
  std::size_t value(const Variable& cell) const { return value_number(cell, at(cell.hole).domain.only); }
  /// The values that are left; at least those that some function has, exactly those of small families.
  /// Requires: not opaque, not decided.
  ValueMask allowed(const Variable& cell) const;

  /// False if no function is left. `changed` is set if functions were dropped.
  bool restrict(const Variable& cell, ValueMask mask, bool& changed);
  /// Lists the functions of large families that only few cells restrict so far.
  bool settle(bool& changed);
  void assign(int hole, std::uint32_t function);

  void push();
  void pop();

  /// Holes that came to have one function, in order, since it was last cleared.
  std::vector<int>& newly_fixed() { return newly_fixed_; }

 private:
  /// Functions, in order. Without an owner they belong to an index, which stays.
  struct List {
    std::span<const std::uint32_t> functions;
    std::shared_ptr<const std::vector<std::uint32_t>> owner;
    bool is_made = false;
  };
  /// All functions by their values in one cell.
  struct Index {
    std::vector<std::uint32_t> functions;
    std::vector<std::uint32_t> first;  // by value, and one more
    std::span<const std::uint32_t> with(std::size_t value) const {
      return std::span(functions).subspan(first[value], first[value + 1] - first[value]);
    }
  };
  /// All functions by their values in two cells, the second's count faster.
  struct PairIndex {
    std::int64_t first = 0, second = 0;  // cells
    Index index;
  };

  struct Facts {
    std::size_t count = 0;
    std::int32_t least = 0;                // value
    std::vector<std::uint16_t> number_of;  // by value - least
    std::vector<std::uint8_t> numbers;     // by function; of large families where there is room
    std::vector<std::uint64_t> supports;   // small families: by value, then word
    Index index;                           // large families; empty until it is needed
  };
  struct Domain {
    std::size_t size = 0;
    std::uint32_t only = 0;
    std::vector<std::uint64_t> bits;                        // small families
    List list;                                              // large families; null: all that are distinct
    std::vector<std::pair<std::int64_t, ValueMask>> known;  // large families: cells that were restricted
  };
  struct Hole {
    const FunctionSet* family = nullptr;
    std::uint32_t first_cell = 0;
    bool is_small = false;
    std::size_t distinct = 0;  // of functions that differ in a cell that is read
    List all;                  // those; not made if they are the whole family
    std::vector<PairIndex> pairs;
    std::vector<Facts> facts;  // by cell
    Domain domain;
    std::size_t saved_at = 0;  // level
  };
  struct Saved {
    int hole = 0;
    Domain domain;
    std::size_t saved_at = 0;
  };

  const Hole& at(int hole) const { return holes_[static_cast<std::size_t>(hole)]; }
  Hole& at(int hole) { return holes_[static_cast<std::size_t>(hole)]; }
  const Facts& facts(const Variable& cell) const {
    return at(cell.hole).facts[static_cast<std::size_t>(cell.cell)];
  }
  std::size_t value_number(const Variable& cell, std::uint32_t function) const {
    const Hole& hole = at(cell.hole);
    const Facts& known = facts(cell);
    if (!known.numbers.empty()) return known.numbers[function];
    return known.number_of[static_cast<std::size_t>(hole.family->at(function, cell.cell) - known.least)];
  }
  void make_supports(Hole& hole, std::int64_t cell) const;
  void make_numbers(Hole& hole, std::int64_t cell);
  /// False if there is no room for another.
  bool make_index(Hole& hole, const Variable& cell);
  /// Functions with the values of the first two cells that have one; none if there is no room or nothing to
  /// gain.
  std::optional<std::span<const std::uint32_t>> with_two(Hole& hole, int number);
  template <typename NumberOf>
  void fill(Index& index, const Hole& hole, std::size_t count, const NumberOf& number_of);
  void make_list(Hole& hole, int number);
  void save(int hole);
  bool restrict_small(Hole& hole, const Variable& cell, ValueMask mask, bool& changed);
  bool restrict_large(Hole& hole, const Variable& cell, ValueMask mask, bool& changed);
  static bool set_list(Hole& hole, std::vector<std::uint32_t> kept);
  template <typename Visit>
  void for_each_distinct(const Hole& hole, const Visit& visit) const;

  std::vector<Hole> holes_;
  std::vector<Saved> saved_;
  std::vector<std::size_t> levels_;  // saved_.size() at each push
  std::vector<int> newly_fixed_;
  std::function<void()> tick_;
  std::size_t bytes_left_;  // for numbers and indexes of large families
};

}  // namespace faro::swizzle::detail
