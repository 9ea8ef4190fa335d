// What domains of the executor have in common: indexes where every hole has a function, and what was stored.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"

namespace faro::swizzle::detail {

/// Which store came when: later ones overwrite, but blocks are independent.
struct StoreOrder {
  std::int64_t block = -1;
  std::int64_t statement = -1;  // executed statements, counted
  std::int64_t warp = 0;        // of the block
  std::int64_t lane = 0;
};

struct NoVariables {};

/// The values of N expressions, which nothing is left to decide.
template <std::size_t N>
struct KnownRows {
  std::array<std::int64_t, N> row{};
  static constexpr std::size_t size() { return 1; }
  static constexpr bool is_known() { return true; }
  static constexpr NoVariables scope() { return {}; }
  const std::array<std::int64_t, N>& operator[](std::size_t) const { return row; }
};

/// Calls of the executor that most domains have no use for.
struct Unobserved {
  void begin(const Statement&, const Place&) {}
  void end() {}
  void guard(bool) {}                           // of a lane, or that of no condition
  void read(std::size_t, std::int64_t) {}       // operand, register
  void wrote(std::int64_t) {}                   // register
  void element(Array, std::int64_t) {}          // of an array that is loaded, stored or demanded
  void shuffled(std::int64_t, std::int64_t) {}  // receiver, sender
  static constexpr bool watching() { return false; }
  template <typename Elements>
  void watch(int, const Statement&, const Place&, int, const Elements&) const {}
};

/// Indexes of a program where every hole has a function.
class KnownHoles : public Unobserved {
 public:
  using Scope = NoVariables;

  explicit KnownHoles(const Valuation& valuation)
      : holes_([&valuation](int hole, std::span<const std::int64_t> a) { return valuation(hole, a); }) {}
  /// `reads`: marked where the run asks, by hole and cell.
  KnownHoles(const Program& program, const Valuation& valuation, std::vector<std::vector<bool>>& reads)
      : holes_([&](int hole, std::span<const std::int64_t> a) {
          const auto number = static_cast<std::size_t>(hole);
          const std::int64_t asked = cell(program.holes()[number], {a.begin(), a.end()});
          reads[number][static_cast<std::size_t>(asked)] = true;
          return std::int64_t{valuation.table(hole)[static_cast<std::size_t>(asked)]};
        }) {}

  template <std::size_t N>
  KnownRows<N> rows(const Place& place, const std::array<const Index*, N>& indexes) const {
    KnownRows<N> result;
    for (std::size_t k = 0; k < N; ++k) result.row[k] = swizzle::evaluate(*indexes[k], place, holes_);
    return result;
  }
  template <std::size_t N>
  KnownRows<N + 1> guarded(const Place& place, const Index& when,
                           const std::array<const Index*, N>& indexes) const {
    KnownRows<N + 1> result;
    result.row[0] = swizzle::evaluate(when, place, holes_);
    if (result.row[0] == 0) return result;
    for (std::size_t k = 0; k < N; ++k) result.row[k + 1] = swizzle::evaluate(*indexes[k], place, holes_);
    return result;
  }
  template <typename Rows, typename Outcome>
  auto choose(const Rows&, const Outcome& outcome) const {
    return outcome(0);
  }
  static void forbid(const Scope&, const std::vector<bool>&) { FARO_CHECK(false && "nothing is open"); }
  /// What is wrong with a statement at a place. Errors: ErrorCode::spec.
  [[noreturn]] static void fail_at(const std::string& statement, const std::string& place, std::string got,
                                   std::string wanted) {
    fail(ErrorCode::spec, "`" + statement + "` of " + place, std::move(got), std::move(wanted));
  }

 private:
  HoleReader holes_;
};

/// Runs that only note what is accessed: an element is nothing, and always defined.
class NothingMoves : public KnownHoles {
 public:
  using KnownHoles::KnownHoles;
  struct Element {};
  struct Accumulator {};

  static bool defined(Element) { return true; }
  static bool differ(Element, Element) { return false; }
  static Element input(Array, std::int64_t) { return {}; }
  template <typename Rows>
  static void append(const Accumulation&, Accumulator&, const Rows&, const std::vector<Element>&) {}
  static Element evaluate(const Accumulation&, const Accumulator&) { return {}; }
  template <typename Rows>
  static const char* store(const StoreOrder&, Array, const Rows&, Element) {
    return nullptr;
  }
  static void present(const PresentStatement&, const std::vector<Element>&,
                      const std::vector<std::int64_t>&) {}
};

/// The outputs of a run, and the rule of two stores to one element: the later statement of a block counts;
/// two lanes in one statement, and two blocks, must store the same.
template <typename Element>
class OutputMemory {
 public:
  explicit OutputMemory(const Program& program) {
    for (const auto& array : program.arrays())
      cells_.emplace_back(array.kind == ArrayKind::output ? static_cast<std::size_t>(array.size) : 0);
  }

  /// Who stored another value that must be the same: "lanes", "blocks", or null.
  template <typename Differ>
  const char* store(const StoreOrder& order, Array array, std::int64_t address, const Element& element,
                    const Differ& differ) {
    Cell& cell = cells_[static_cast<std::size_t>(array.number)][static_cast<std::size_t>(address)];
    const bool other_block = cell.order.block >= 0 && cell.order.block != order.block;
    const bool same_statement = cell.order.statement == order.statement;
    if ((other_block || same_statement) && differ(cell.element, element))
      return other_block ? "blocks" : "lanes";
    cell = {.element = element, .order = order};
    return nullptr;
  }

  /// What was stored, by array number; empty for arrays that are no outputs.
  std::vector<std::vector<Element>> outputs() const {
    std::vector<std::vector<Element>> all;
    for (const auto& array : cells_) {
      auto& elements = all.emplace_back();
      for (const Cell& cell : array) elements.push_back(cell.element);
    }
    return all;
  }
  const StoreOrder& last_store(Array array, std::int64_t address) const {
    return cells_[static_cast<std::size_t>(array.number)][static_cast<std::size_t>(address)].order;
  }

 private:
  struct Cell {
    Element element = {};
    StoreOrder order;
  };
  std::vector<std::vector<Cell>> cells_;
};

}  // namespace faro::swizzle::detail

namespace faro::swizzle {

/// Called where a program demands that inputs be present: the registers of the warp, and the addresses.
using PresentHook = std::function<void(const PresentStatement& statement, std::span<const ValueId> registers,
                                       std::span<const std::int64_t> addresses)>;

/// What a run tells besides.
struct RunNotes {
  PresentHook present;
  std::vector<std::vector<bool>> reads;                      // by hole and cell: whether it was asked
  std::vector<std::vector<detail::StoreOrder>> last_stores;  // by array and element, of outputs
};
std::vector<std::vector<ValueId>> run_symbolic_with(const Program& program, const Valuation& valuation,
                                                    ValueTable& values, const Watcher& watcher,
                                                    RunNotes& notes);

/// first_mismatch, whose values are made in `values`, a copy of the specification's; notes.reads is told.
std::optional<Mismatch> first_mismatch_in(const Specification& specification, const Program& program,
                                          const Valuation& valuation, ValueTable& values, RunNotes& notes);

/// Errors: ErrorCode::spec where a hole has no function; those of check(program).
void require_runnable(const Program& program, const Valuation& valuation);

/// Errors: ErrorCode::spec where the program was made for other arrays.
void require_same_arrays(const Specification& specification, const Program& program);

/// By array number: whether what the program stores there is compared with what is wanted. An output that
/// the program never stores, and names in `present`, is only asked to be computable.
std::vector<bool> compared_outputs(const Program& program);

}  // namespace faro::swizzle
