// What a pool's terms say about the cells that decide them and the guards of their slots.
//
// visit() asks what one supplier may be: in a tight pool a wanted term, and then its guards must hold where
// that term is wanted and nowhere else. visit_cluster() asks suppliers that are made of the same few nodes
// together, as a tight pool's suppliers are all different terms:
//
//     a1 b1   {A3 B5, A3 B37}   two suppliers of two terms: nothing is left of them for the others,
//     a1 b2   {A3 B5, A3 B37}   so a2 is not A3:  part_a2(3, i) is forced, though neither b is known
//     a2 b1   {A3 B5, A3 B37, A35 B5, A35 B37}
//
// check_pool() counts so over a whole pool: where more suppliers are left with the same few terms than are
// wanted, there is no solution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/domains.hpp"
#include "swizzle/hash_slots.hpp"
#include "swizzle/ways.hpp"

namespace faro::swizzle::detail {

class Suppliers {
 public:
  Suppliers(const ChoiceGraph& graph, const Specification& specification, Domains& domains, Ways& ways);

  std::size_t pools() const { return pools_.size(); }
  /// Suppliers of a tight pool that share nodes, where a few do.
  std::vector<std::vector<std::uint32_t>> clusters(std::size_t pool) const;
  HoleMask holes_of_term(std::size_t pool, std::uint32_t supplier) const;
  HoleMask holes_of_guards(std::size_t pool, std::uint32_t supplier) const;

  Verdict visit(std::size_t pool, std::uint32_t supplier, std::size_t most_steps);
  Verdict visit_cluster(std::size_t pool, std::span<const std::uint32_t> suppliers, std::size_t most_steps);
  Verdict check_pool(std::size_t pool);

 private:
  using Terms = std::vector<std::uint32_t>;
  /// Of a term that some sum of a pool wants.
  struct Wanted {
    std::vector<std::uint16_t> times;  // by sum
    std::uint16_t most = 0;
  };
  struct SlotOfSupplier {
    std::uint32_t sum = 0;
    std::uint32_t slot = 0;
  };
  struct PoolFacts {
    HashSlots number_of;  // of terms
    std::vector<Wanted> wanted;
    std::vector<ValueId> terms;           // one after another
    std::vector<std::size_t> ends = {0};  // of term k: [k + 1]
    std::span<const ValueId> term(std::uint32_t k) const {
      return std::span(terms).subspan(ends[k], ends[k + 1] - ends[k]);
    }
    std::vector<std::vector<SlotOfSupplier>> slots;    // by supplier
    std::vector<std::uint16_t> most_slots;             // by supplier, in one sum
    std::vector<std::vector<std::uint16_t>> slots_in;  // by supplier, then sum
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

  PoolFacts facts_of(const Pool& pool) const;
  static std::uint32_t find_term(const PoolFacts& pool, std::span<const ValueId> term);
  std::uint32_t term_number(const PoolFacts& pool);
  Guards guards(const Slot& slot);
  void list_guards(std::size_t pool, std::uint32_t supplier);
  Verdict force_guard(const Slot& slot, bool holds);
  /// Whether the supplier may be this term, as far as the guards of its slots can be right.
  bool fits(const PoolFacts& pool, std::uint32_t supplier, const Wanted& wanted) const;
  /// `taken`: terms that others need. What it may be goes to `terms`.
  Verdict visit_tight(std::size_t pool, std::uint32_t supplier, const Terms& taken, Clustered* clustered);
  Verdict visit_loose(std::size_t pool, std::uint32_t supplier);
  /// Suppliers of the cluster with these very terms take all of them. Contradiction: they would take more.
  Verdict takes_all(const PoolFacts& pool, std::span<const std::uint32_t> suppliers,
                    const Terms& terms) const;

  const ChoiceGraph& graph_;
  const Specification& specification_;
  Domains& domains_;
  Ways& ways_;
  std::vector<PoolFacts> pools_;

  // Scratch of one visit.
  std::vector<ValueId> term_;
  std::vector<ValueId> sorted_term_;
  std::vector<Guards> guards_;
  std::vector<Clustered> clustered_;
  Terms taken_;
  std::size_t most_steps_ = 0;
};

}  // namespace faro::swizzle::detail
