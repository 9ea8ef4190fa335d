// Where a choice graph meets the specification, and what each such site says about the cells that decide it.
//
// visit() lists the ways that are left through a site's nodes, keeps those that the specification allows, and
// restricts every cell that all of them ask to the values that they have there:
//
//     store O[9]   last(1,2) = 0 .. 3 ─ row(2,·) known ─ first known  ->  of 4 ways one gives I9:
//                  last(1,2) = 0
//     supplier     term of a sum: suppliers.hpp
//     cluster      suppliers made of the same nodes, asked together
//     present      each wanted input can be in some register
//
// Sites that the same holes decide are a *group*. The sites of a group are alike: what one of them costs, all
// do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "faro/swizzle/choices.hpp"
#include "swizzle/domains.hpp"
#include "swizzle/suppliers.hpp"
#include "swizzle/ways.hpp"

namespace faro::swizzle::detail {

enum class SiteKind : std::uint8_t { store, cluster, supplier, present };

struct SiteGroup {
  SiteKind kind = SiteKind::store;
  std::vector<std::vector<int>> parts;  // holes that decide the nodes; of a cluster those of each supplier
  std::vector<int> holes;               // these and the guards'
  std::vector<std::uint32_t> sites;     // in a scrambled order that is always the same
  std::size_t cluster = 0;              // group of the clusters of these suppliers
  bool has_cluster = false;
};

class Sites {
 public:
  /// `tick` is called now and then during visits; it may throw.
  Sites(const ChoiceGraph& graph, const Specification& specification, Domains& domains,
        std::function<void()> tick);

  std::span<const SiteGroup> groups() const { return groups_; }
  /// Groups that the hole has a part in.
  std::span<const std::uint32_t> groups_of(int hole) const {
    return groups_of_hole_[static_cast<std::size_t>(hole)];
  }
  /// How many ways there may be through a node of the group's sites.
  double ways(const SiteGroup& group) const;

  /// A visit that needs more than `most_steps` gives up.
  Verdict visit(std::uint32_t site, std::size_t most_steps);
  std::size_t pools() const { return suppliers_.pools(); }
  Verdict check_pool(std::size_t pool);

 private:
  struct Site {
    SiteKind kind = SiteKind::store;
    std::uint32_t index = 0;                    // of the store, pool or present
    std::vector<std::uint32_t> suppliers = {};  // one, or those of a cluster
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

  Verdict visit_store(std::size_t number, std::size_t most_steps);
  template <typename Found>
  bool place_value(const StoreSite& store, const StoreFacts& facts, ValueId value, const Found& found);
  Verdict visit_present(const PresentSite& present, std::size_t most_steps);

  using GroupKey = std::tuple<SiteKind, HoleMask, HoleMask, std::size_t>;
  StoreFacts facts_of(const StoreSite& store) const;
  void list_sites();
  void make_groups();
  void add_to_group(std::uint32_t site, std::map<GroupKey, std::size_t>& numbers,
                    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& cluster_of);
  HoleMask holes_of(const Site& site) const;
  std::vector<int> holes_in(HoleMask mask) const;

  const ChoiceGraph& graph_;
  Domains& domains_;
  std::function<void()> tick_;
  Ways ways_;
  Suppliers suppliers_;
  std::vector<Site> sites_;
  std::vector<SiteGroup> groups_;
  std::vector<std::vector<std::uint32_t>> groups_of_hole_;
  std::vector<StoreFacts> stores_;
  std::vector<std::vector<ValueId>> wanted_;  // by array, then element
  std::vector<double> most_values_;           // by hole, of one cell
  std::uint32_t visits_ = 0;
};

}  // namespace faro::swizzle::detail
