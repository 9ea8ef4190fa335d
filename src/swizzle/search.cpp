#include "swizzle/search.hpp"

#include <exception>

namespace faro::swizzle::detail {
namespace {

constexpr std::uint64_t kTicksPerCheck = 64;

/// Thrown where the hooks say that time is up, caught in result().
struct OutOfTime : std::exception {
  const char* what() const noexcept override { return "out of time"; }
};

bool all_decided(const Domains& domains) {
  for (int h = 0; h < domains.holes(); ++h) {
    if (!domains.is_decided(h)) return false;
  }
  return true;
}

class Search {
 public:
  Search(const ChoiceGraph& graph, const Specification& specification, std::span<const FunctionSet> families,
         const SearchHooks& hooks)
      : graph_(graph),
        specification_(specification),
        families_(families),
        hooks_(hooks),
        domains_(graph, families, [this] { check_time(); }),
        propagation_(graph, specification, domains_, [this] { check_time(); }) {}

  SearchResult result() {
    for (int h = 0; h < domains_.holes(); ++h) {
      if (domains_.size(h) == 0) return result_;
    }
    try {
      if (propagation_.from(-1)) descend(0);
    } catch (const OutOfTime&) {
      result_.finished = false;
    }
    result_.order = order_;
    return result_;
  }

 private:
  void check_time() const {
    if (!hooks_.goes_on(done_)) throw OutOfTime();
  }

  // The order that was found best on the first way down; holes that come to need it later are appended.
  int next_hole() {
    for (const int hole : order_) {
      if (!domains_.is_decided(hole)) return hole;
    }
    order_.push_back(probe(propagation_, domains_));
    return order_.back();
  }

  void descend(int depth) {
    if (all_decided(domains_)) {
      finish();
      return;
    }
    const int hole = next_hole();
    const std::vector<std::uint32_t> candidates = domains_.candidates(hole);
    for (std::size_t c = 0; c < candidates.size() && result_.finished; ++c) {
      if (depth == 0) done_ = static_cast<double>(c) / static_cast<double>(candidates.size());
      ++result_.candidates;
      if (++ticks_ % kTicksPerCheck == 0) check_time();
      domains_.push();
      domains_.assign(hole, candidates[c]);
      if (propagation_.from(hole)) descend(depth + 1);
      domains_.pop();
    }
  }

  void finish() {
    std::vector<std::size_t> functions;
    functions.reserve(static_cast<std::size_t>(domains_.holes()));
    for (int h = 0; h < domains_.holes(); ++h) functions.push_back(domains_.function(h));
    if (!meets(graph_, specification_, families_, functions)) return;
    if (!hooks_.found(functions)) result_.finished = false;
  }

  const ChoiceGraph& graph_;
  const Specification& specification_;
  std::span<const FunctionSet> families_;
  const SearchHooks& hooks_;
  double done_ = 0;
  Domains domains_;
  Propagation propagation_;
  std::vector<int> order_;
  SearchResult result_;
  std::uint64_t ticks_ = 0;
};

}  // namespace

SearchResult search(const ChoiceGraph& graph, const Specification& specification,
                    std::span<const FunctionSet> families, const SearchHooks& hooks) {
  try {
    return Search(graph, specification, families, hooks).result();
  } catch (const OutOfTime&) {  // before the search began
    return {.finished = false, .candidates = 0, .order = {}};
  }
}

}  // namespace faro::swizzle::detail
