// The constraints of a model, and what each of them says about the variables in its scope.
//
// visit() filters one: it lists the supports that are left (supports.hpp), keeps those that the specification
// allows, and restricts every variable that is in all of them to the values that it has there:
//
//     store O[9]   last(1,2) = 0 .. 3 ─ row(2,·) known ─ first known  ->  of 4 supports one gives I9:
//                  last(1,2) = 0
//     term         of a sum: sum_propagator.hpp
//     cluster      terms made of the same nodes, filtered together
//     present      each wanted input can be in some register
//
// Constraints whose scopes are of the same holes are a *group*. The constraints of a group are alike: what
// one of them costs, all do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "swizzle/domains.hpp"
#include "swizzle/model.hpp"
#include "swizzle/sum_propagator.hpp"
#include "swizzle/supports.hpp"

namespace faro::swizzle::detail {

enum class ConstraintKind : std::uint8_t { store, cluster, term, present };

struct ConstraintGroup {
  ConstraintKind kind = ConstraintKind::store;
  std::vector<std::vector<int>> parts;     // holes that decide the nodes; of a cluster those of each term
  std::vector<int> holes;                  // these and the guards'
  std::vector<std::uint32_t> constraints;  // in a scrambled order that is always the same
  std::size_t cluster = 0;                 // group of the clusters of these terms
  bool has_cluster = false;
};

class Constraints {
 public:
  /// `tick` is called now and then during visits; it may throw.
  Constraints(const ConstraintModel& model, const Specification& specification, Domains& domains,
              std::function<void()> tick);

  std::span<const ConstraintGroup> groups() const { return groups_; }
  /// Groups that the hole has a part in.
  std::span<const std::uint32_t> groups_of(int hole) const {
    return groups_of_hole_[static_cast<std::size_t>(hole)];
  }
  /// How many supports a node of the group's constraints may have.
  double ways(const ConstraintGroup& group) const;

  /// A visit that needs more than `most_steps` gives up.
  Filtering visit(std::uint32_t constraint, std::size_t most_steps);
  std::size_t sum_groups() const { return sum_propagator_.sum_groups(); }
  Filtering check_sum_group(std::size_t sum_group);

 private:
  struct Constraint {
    ConstraintKind kind = ConstraintKind::store;
    std::uint32_t index = 0;                         // of the store, group of sums or present
    std::vector<std::uint32_t> term_variables = {};  // one, or those of a cluster
  };
  /// Where a store with one undecided cell may put a value.
  struct Placement {
    ValueId value = kUndefined;
    std::uint32_t combination = 0;
    friend auto operator<=>(const Placement&, const Placement&) = default;
  };
  struct StoreFacts {
    Signature target = 0;               // of all that is wanted at its addresses
    std::vector<Placement> placements;  // sorted; empty where an address accepts anything
  };

  Filtering visit_store(std::size_t number, std::size_t most_steps);
  template <typename Found>
  bool place_value(const StoreConstraint& store, const StoreFacts& facts, ValueId value, const Found& found);
  Filtering visit_present(const PresenceConstraint& present, std::size_t most_steps);

  using GroupKey = std::tuple<ConstraintKind, HoleMask, HoleMask, std::size_t>;
  StoreFacts facts_of(const StoreConstraint& store) const;
  void list_constraints();
  void make_groups();
  void add_to_group(std::uint32_t constraint, std::map<GroupKey, std::size_t>& numbers,
                    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& cluster_of);
  HoleMask holes_of(const Constraint& constraint) const;
  std::vector<int> holes_in(HoleMask mask) const;

  const ConstraintModel& model_;
  Domains& domains_;
  std::function<void()> tick_;
  Supports supports_;
  SumPropagator sum_propagator_;
  std::vector<Constraint> constraints_;
  std::vector<ConstraintGroup> groups_;
  std::vector<std::vector<std::uint32_t>> groups_of_hole_;
  std::vector<StoreFacts> stores_;
  std::vector<std::vector<ValueId>> wanted_;  // by array, then element
  std::vector<double> most_values_;           // by hole, of one cell
  std::uint32_t visits_ = 0;
};

}  // namespace faro::swizzle::detail
