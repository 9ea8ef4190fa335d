// The propagator of sums: what their terms say about the variables that decide them and about the guards.
//
// visit() asks what one term may be: in an exact cover a wanted one, and then its guards must hold where that
// term is wanted and nowhere else. visit_cluster() filters terms that are made of the same few nodes
// together, as the terms of an exact cover are all different. It looks for Hall sets:
//
//     a1 b1   {A3 B5, A3 B37}   two terms for two values: nothing is left of these for the others,
//     a1 b2   {A3 B5, A3 B37}   so a2 is not A3:  part_a2(3, i) is fixed, though neither b is known
//     a2 b1   {A3 B5, A3 B37, A35 B5, A35 B37}
//
// check_sum_group() counts so over a whole group: where more terms are left with the same few values than are
// wanted, there is no solution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "swizzle/domains.hpp"
#include "swizzle/hash_slots.hpp"
#include "swizzle/model.hpp"
#include "swizzle/supports.hpp"

namespace faro::swizzle::detail {

class SumPropagator {
 public:
  SumPropagator(const ConstraintModel& model, const Specification& specification, Domains& domains,
                Supports& ways);

  std::size_t sum_groups() const { return sum_groups_.size(); }
  /// Terms of an exact cover that share nodes, where a few do.
  std::vector<std::vector<std::uint32_t>> clusters(std::size_t sum_group) const;
  HoleMask holes_of_term(std::size_t sum_group, std::uint32_t term_variable) const;
  HoleMask holes_of_guards(std::size_t sum_group, std::uint32_t term_variable) const;

  Filtering visit(std::size_t sum_group, std::uint32_t term_variable, std::size_t most_steps);
  Filtering visit_cluster(std::size_t sum_group, std::span<const std::uint32_t> term_variables,
                          std::size_t most_steps);
  Filtering check_sum_group(std::size_t sum_group);

 private:
  using Terms = std::vector<std::uint32_t>;
  /// A term that some sum of a group wants.
  struct Wanted {
    std::vector<std::uint16_t> times;  // by sum
    std::uint16_t most = 0;
  };
  struct SlotOfTerm {
    std::uint32_t sum = 0;
    std::uint32_t slot = 0;
  };
  struct SumGroupFacts {
    HashSlots number_of;  // of terms
    std::vector<Wanted> wanted;
    std::vector<ValueId> terms;           // one after another
    std::vector<std::size_t> ends = {0};  // of term k: [k + 1]
    std::span<const ValueId> term(std::uint32_t k) const {
      return std::span(terms).subspan(ends[k], ends[k + 1] - ends[k]);
    }
    std::vector<std::vector<SlotOfTerm>> slots;        // by term
    std::vector<std::uint16_t> most_slots;             // by term, in one sum
    std::vector<std::vector<std::uint16_t>> slots_in;  // by term, then sum
    std::vector<bool> is_asked;                        // by sum: something is wanted
    bool can_be_met = true;
  };
  struct Guards {
    bool can_hold = false;
    bool can_fail = false;
  };
  struct Clustered {
    Terms terms;  // that it may be, sorted
    bool is_known = false;
  };

  SumGroupFacts facts_of(const SumGroup& sum_group) const;
  static std::uint32_t find_term(const SumGroupFacts& sum_group, std::span<const ValueId> term);
  std::uint32_t term_number(const SumGroupFacts& sum_group);
  Guards guards(const Slot& slot);
  void list_guards(std::size_t sum_group, std::uint32_t term_variable);
  Filtering force_guard(const Slot& slot, bool holds);
  /// Whether the variable may be this term, as far as the guards of its slots can be right.
  bool fits(const SumGroupFacts& sum_group, std::uint32_t term_variable, const Wanted& wanted) const;
  /// `taken`: terms that others need. What it may be goes to `terms`.
  Filtering visit_exact(std::size_t sum_group, std::uint32_t term_variable, const Terms& taken,
                        Clustered* clustered);
  Filtering visit_inexact(std::size_t sum_group, std::uint32_t term_variable);
  /// Whether the variables of the cluster with this very domain take all of it: a Hall set. Contradiction:
  /// they would take more.
  Filtering takes_all(const SumGroupFacts& sum_group, std::span<const std::uint32_t> term_variables,
                      const Terms& terms) const;

  const ConstraintModel& model_;
  const Specification& specification_;
  Domains& domains_;
  Supports& supports_;
  std::vector<SumGroupFacts> sum_groups_;

  // Scratch of one visit.
  std::vector<ValueId> term_;
  std::vector<ValueId> sorted_term_;
  std::vector<Guards> guards_;
  std::vector<Clustered> clustered_;
  Terms taken_;
  std::size_t most_steps_ = 0;
};

}  // namespace faro::swizzle::detail
