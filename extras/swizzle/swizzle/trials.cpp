#include "swizzle/trials.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "swizzle/execution_domain.hpp"

namespace faro::swizzle::detail {
namespace {

// Sums that trials made are forgotten after so many.
constexpr std::uint64_t kTrialsOfATable = 512;

class Trials {
 public:
  Trials(const Specification& specification, const Program& sketch, std::span<const FunctionSet> families,
         const SearchHooks& hooks)
      : specification_(specification),
        sketch_(sketch),
        families_(families),
        hooks_(hooks),
        valuation_(sketch),
        values_(specification.values()),
        functions_(families.size(), 0) {}

  SearchResult run() {
    for (std::size_t h = 0; h < functions_.size(); ++h) set(h);
    result_.order.resize(functions_.size());
    std::iota(result_.order.begin(), result_.order.end(), 0);
    do {
      if (!hooks_.goes_on(done())) {
        result_.finished = false;
        break;
      }
    } while (try_one() && advance());
    return result_;
  }

 private:
  void set(std::size_t hole) {
    std::vector<std::int32_t> table(static_cast<std::size_t>(families_[hole].cells()));
    families_[hole].table(functions_[hole], table);
    valuation_.set_table(static_cast<int>(hole), std::move(table));
  }

  double done() const {
    double part = 0;
    double unit = 1;
    for (std::size_t h = 0; h < functions_.size(); ++h) {
      unit /= static_cast<double>(families_[h].size());
      part += unit * static_cast<double>(functions_[h]);
    }
    return part;
  }

  /// False: enough were found.
  bool try_one() {
    if (++result_.candidates % kTrialsOfATable == 0) values_ = specification_.values();
    is_solution_ = !first_mismatch_in(specification_, sketch_, valuation_, values_, notes_);
    if (!is_solution_) return true;
    std::vector<std::int64_t> asked;  // hole, cell, value
    for (std::size_t h = 0; h < functions_.size(); ++h) {
      const std::span<const std::int32_t> table = valuation_.table(static_cast<int>(h));
      for (std::size_t cell = 0; cell < table.size(); ++cell) {
        if (!notes_.reads[h][cell]) continue;
        asked.insert(asked.end(),
                     {static_cast<std::int64_t>(h), static_cast<std::int64_t>(cell), table[cell]});
      }
    }
    if (!known_.insert(std::move(asked)).second || hooks_.found(functions_)) return true;
    result_.finished = false;
    return false;
  }

  /// The next combination, the last hole's functions first. What a run did not ask cannot mend its failure.
  bool advance() {
    std::size_t hole = functions_.size();
    while (hole > 0) {
      --hole;
      const bool is_asked =
          is_solution_ || std::ranges::find(notes_.reads[hole], true) != notes_.reads[hole].end();
      if (is_asked && functions_[hole] + 1 < families_[hole].size()) {
        ++functions_[hole];
        set(hole);
        return true;
      }
      if (functions_[hole] == 0) continue;
      functions_[hole] = 0;
      set(hole);
    }
    return false;
  }

  const Specification& specification_;
  const Program& sketch_;
  std::span<const FunctionSet> families_;
  const SearchHooks& hooks_;
  Valuation valuation_;
  ValueTable values_;
  std::vector<std::size_t> functions_;
  RunNotes notes_;
  bool is_solution_ = false;
  std::set<std::vector<std::int64_t>> known_;
  SearchResult result_;
};

}  // namespace

SearchResult search_by_trials(const Specification& specification, const Program& sketch,
                              std::span<const FunctionSet> families, const SearchHooks& hooks) {
  return Trials(specification, sketch, families, hooks).run();
}

}  // namespace faro::swizzle::detail
