#include <algorithm>
#include <cstddef>
#include <utility>

#include "axes_search.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/index_check.hpp"

namespace faro {
namespace {

// The search, one method a family. Works on the array as if it were a scatter's; what it finds is turned
// round at the end where it is a gather's.
class Search {
 public:
  Search(IndexReader& reader, const Indexed& indexed, const RecogniseLimits& limits)
      : reader_(reader),
        indexed_(indexed),
        limits_(limits),
        count_(reader.count()),
        bits_(f2::is_power_of_two(count_) ? f2::trailing_bit(count_) : -1),
        letter_(indexed.direction() == Direction::scatter ? 'P' : 'Q') {}

  Recognition run() {
    probe();
    const bool found =
        is_identity() || is_affine() || is_cyclic() || is_axes() || is_runs_or_window() || is_general();
    static_cast<void>(found);
    return std::move(result_);
  }

 private:
  // Entries at 0, 1 and the powers of two serve three families.
  void probe() {
    if (count_ == 0) return;
    positions_.push_back(0);
    for (std::uint64_t at = 1; at < count_; at *= 2) positions_.push_back(at);
    if (positions_.back() != count_ - 1) positions_.push_back(count_ - 1);
    entries_ = reader_.at(positions_);
  }

  bool is_identity() {
    const Permutation candidate = bits_ >= 0
                                      ? Permutation(Affine(bits_))
                                      : Permutation(Cyclic{.count = count_, .shift = 0, .reversed = false});
    return holds(Family::identity, candidate, "every entry is its own position");
  }

  bool is_affine() {
    if (bits_ < 0) return refuse(Family::affine, std::to_string(count_) + " is no power of two");
    // Of two elements both permutations are affine, and entries past the count are no map's.
    f2::Matrix matrix = f2::Matrix::zero(bits_, bits_);
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      if (entries_[k] >= count_) return refuse(Family::affine, entry(k) + ", which is past the end");
    }
    for (int j = 0; j < bits_; ++j) {
      matrix.set_column(j, entries_[static_cast<std::size_t>(j) + 1] ^ entries_[0]);
    }
    const std::string probes = std::to_string(bits_ + 1) + " probes";
    if (!matrix.inverse()) return refuse(Family::affine, "the matrix that fits " + probes + " is singular");
    return holds(Family::affine, Affine(matrix, entries_[0]),
                 "the matrix that fits " + probes + " fits all entries");
  }

  bool is_cyclic() {
    // The last is one step before the first, or after it.
    const std::uint64_t first = entries_.front();
    const std::uint64_t last = entries_.back();
    if (first >= count_) return refuse(Family::cyclic, entry(0) + ", which is past the end");
    const bool reversed = last == (first + 1) % count_;
    const bool forward = last == (first + count_ - 1) % count_;
    if (!reversed && !forward) {
      return refuse(Family::cyclic,
                    entry(0) + " and " + entry(entries_.size() - 1) + " are not one step apart");
    }
    const Cyclic candidate{.count = count_, .shift = first, .reversed = !forward};
    const std::string shift = std::to_string(first);
    const std::string formula = candidate.reversed ? "(" + shift + " - i)" : "(i + " + shift + ")";
    return holds(Family::cyclic, candidate,
                 std::string(1, letter_) + "[i] = " + formula + " mod " + std::to_string(count_));
  }

  bool is_axes() {
    if (bits_ >= 0)
      return refuse(Family::axes, "for a power of two of elements, any permutation of axes would be affine");
    if (entries_.front() != 0) return refuse(Family::axes, entry(0) + ", not 0");
    detail::AxesSearch search = detail::find_axes(reader_);
    if (!search.candidate) return refuse(Family::axes, std::move(search.why));
    std::string extents;
    std::string order;
    for (const std::uint64_t extent : search.candidate->shape()) extents += " " + std::to_string(extent);
    for (const int axis : search.candidate->order()) order += " " + std::to_string(axis);
    return holds(Family::axes, std::move(*search.candidate),
                 std::string(1, letter_) + " moves the axes of extents" + extents + " to the order" + order);
  }

  bool is_runs_or_window() {
    const std::uint64_t max_runs = limits_.run_elements == 0 ? count_ : count_ / limits_.run_elements;
    const std::uint64_t max_displacement = limits_.displacement == 0 ? 0 : limits_.displacement - 1;
    const Locality seen = reader_.locality(max_runs, max_displacement);
    if (seen.runs <= max_runs) result_.runs = seen.runs;
    if (seen.displacement <= max_displacement) result_.displacement = seen.displacement;
    const bool is_runs = result_.runs.has_value();
    if (is_runs) {
      add(Family::runs, true,
          std::to_string(seen.runs) + " runs of " + std::to_string(count_ / seen.runs) +
              " elements on average");
      return accept(Family::runs, indexed_);
    }
    add(Family::runs, false,
        "more than " + std::to_string(max_runs) + " runs: fewer than " +
            std::to_string(limits_.run_elements) + " elements each on average");
    // In a short array everything is near: what moves a quarter of it is not local.
    const bool is_local = result_.displacement && 4 * seen.displacement < count_;
    if (is_local) {
      add(Family::window, true,
          "nothing moves further than " + std::to_string(seen.displacement) + " places");
      return accept(Family::window, indexed_);
    }
    if (result_.displacement) {
      return refuse(Family::window, "elements move up to " + std::to_string(seen.displacement) +
                                        " places, a quarter of the array's " + std::to_string(count_) +
                                        " or more");
    }
    return refuse(Family::window,
                  "elements move " + std::to_string(max_displacement + 1) + " places and more");
  }

  bool is_general() {
    add(Family::general, true, "no structure was found");
    return accept(Family::general, indexed_);
  }

  // Probes first, then every entry.
  bool holds(Family family, const Permutation& candidate, std::string why) {
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      if (apply(candidate, positions_[k]) != entries_[k]) {
        return refuse(family, entry(k) + ", not " + std::to_string(apply(candidate, positions_[k])));
      }
    }
    if (const auto wrong = count_ == 0 ? std::nullopt : reader_.mismatch(candidate)) {
      const std::uint64_t found = reader_.at(std::span(&*wrong, 1)).front();
      return refuse(family, entry_text(*wrong, found) + ", not " + std::to_string(apply(candidate, *wrong)) +
                                " as " + to_text(candidate) + " has it");
    }
    add(family, true, std::move(why));
    return accept(family, indexed_.direction() == Direction::scatter ? candidate : inverse(candidate));
  }

  bool accept(Family family, Permutation permutation) {
    result_.family = family;
    result_.permutation = std::move(permutation);
    return true;
  }

  bool refuse(Family family, std::string why) {
    add(family, false, std::move(why));
    return false;
  }

  void add(Family family, bool holds, std::string why) {
    result_.findings.push_back({.family = family, .holds = holds, .why = std::move(why)});
  }

  std::string entry(std::size_t probe) const { return entry_text(positions_[probe], entries_[probe]); }

  // "P[5] = 9".
  std::string entry_text(std::uint64_t position, std::uint64_t value) const {
    return std::string(1, letter_) + "[" + std::to_string(position) + "] = " + std::to_string(value);
  }

  IndexReader& reader_;
  const Indexed& indexed_;
  RecogniseLimits limits_;
  std::uint64_t count_;
  int bits_;     // of a count that is a power of two, else -1
  char letter_;  // what the array is called: P scatters, Q gathers
  std::vector<std::uint64_t> positions_;
  std::vector<std::uint64_t> entries_;
  Recognition result_;
};

class HostReader : public IndexReader {
 public:
  HostReader(const Indexed& indexed, int threads) : indexed_(indexed), threads_(threads) {}

  std::uint64_t count() const override { return indexed_.count(); }

  std::vector<std::uint64_t> at(std::span<const std::uint64_t> positions) override {
    std::vector<std::uint64_t> entries;
    entries.reserve(positions.size());
    for (const std::uint64_t position : positions) entries.push_back(indexed_.entry(position));
    return entries;
  }

  std::optional<std::uint64_t> mismatch(const Permutation& candidate) override {
    if (is_wide()) return detail::first_mismatch(indexed_.entries64(), candidate, threads_);
    return detail::first_mismatch(indexed_.entries32(), candidate, threads_);
  }

  Locality locality(std::uint64_t max_runs, std::uint64_t max_displacement) override {
    if (is_wide()) return detail::locality_of(indexed_.entries64(), max_runs, max_displacement, threads_);
    return detail::locality_of(indexed_.entries32(), max_runs, max_displacement, threads_);
  }

 private:
  bool is_wide() const { return !indexed_.entries64().empty(); }

  const Indexed& indexed_;
  int threads_;
};

}  // namespace

const char* name(Family family) noexcept {
  switch (family) {
    case Family::identity:
      return "identity";
    case Family::affine:
      return "affine";
    case Family::cyclic:
      return "cyclic";
    case Family::axes:
      return "axes";
    case Family::runs:
      return "runs";
    case Family::window:
      return "window";
    case Family::general:
      return "general";
  }
  return "general";
}

Recognition recognise(IndexReader& reader, const Indexed& indexed, const RecogniseLimits& limits) {
  return Search(reader, indexed, limits).run();
}

Recognition recognise(const Indexed& indexed, int threads, const RecogniseLimits& limits) {
  static_cast<void>(indexed.entries32());  // refuses an array on a device
  HostReader reader(indexed, threads);
  return recognise(reader, indexed, limits);
}

}  // namespace faro
