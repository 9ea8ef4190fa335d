#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "axes_search.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/axes_search.hpp"
#include "permutation/cyclic_axes.hpp"
#include "permutation/index_check.hpp"
#include "permutation/index_sweep.hpp"

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
    const bool found = is_identity() || is_affine() || is_cyclic() || is_modular() || is_axes() ||
                       is_cyclic_axes() || is_runs() || is_exceptions() || is_blocks() || is_window() ||
                       is_general();
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
    // Both permutations of two elements are affine, and entries past the count are no map's.
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

  bool is_modular() {
    if (!reader_.takes_all()) return false;
    if (count_ < 3) return refuse(Family::modular, "of so few elements it would be a roll or a flip");
    const std::uint64_t first = entries_[0];
    const std::uint64_t second = entries_[1];
    if (first >= count_ || second >= count_) return refuse(Family::modular, "an entry is past the end");
    const std::uint64_t factor = second >= first ? second - first : second + (count_ - first);
    const std::uint64_t divisor = std::gcd(factor, count_);
    if (divisor != 1) {
      return refuse(Family::modular, "a factor of " + std::to_string(factor) + " has the divisor " +
                                         std::to_string(divisor) + " with " + std::to_string(count_));
    }
    const Modular candidate{.count = count_, .factor = factor, .shift = first};
    return holds(Family::modular, candidate,
                 std::string(1, letter_) + "[i] = " + std::to_string(factor) + " i" +
                     (first == 0 ? "" : " + " + std::to_string(first)) + " mod " + std::to_string(count_));
  }

  bool is_cyclic_axes() {
    if (!reader_.takes_all()) return false;
    detail::CyclicAxesSearch search = detail::find_cyclic_axes(reader_);
    if (!search.candidate) return refuse(Family::cyclic_axes, std::move(search.why));
    const CyclicAxes& axes = *search.candidate;
    const std::string text = to_text(Permutation(axes));
    return holds(Family::cyclic_axes, detail::simplest_form(axes),
                 std::string(1, letter_) + " is " + text + ": extents, order, rolls, flipped axes");
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

  bool is_runs() {
    const std::uint64_t max_runs = limits_.run_elements == 0 ? count_ : count_ / limits_.run_elements;
    const std::uint64_t max_displacement = limits_.displacement == 0 ? 0 : limits_.displacement - 1;
    seen_ = reader_.locality(max_runs, max_displacement);
    const Locality& seen = seen_;
    if (seen.runs <= max_runs) result_.runs = seen.runs;
    if (seen.displacement <= max_displacement) result_.displacement = seen.displacement;
    const bool is_runs = result_.runs.has_value();
    if (is_runs) {
      add(Family::runs, true,
          std::to_string(seen.runs) + " runs of " + std::to_string(count_ / seen.runs) +
              " elements on average");
      return accept(Family::runs, indexed_);
    }
    return refuse(Family::runs, "more than " + std::to_string(max_runs) + " runs: fewer than " +
                                    std::to_string(limits_.run_elements) + " elements each on average");
  }

  // A few samples of either kind of map; a candidate is what most of them say.
  bool is_exceptions() {
    const std::uint64_t most = std::min(limits_.exceptions, count_ / 64);
    if (!reader_.takes_all() || most == 0) return false;
    detail::SampledMaps maps = detail::sample_maps(reader_);
    for (const Permutation& candidate : maps.candidates) {
      const auto found = reader_.mismatches(candidate, most);
      if (!found) {
        maps.why = "more than " + std::to_string(most) + " entries are not those of " + to_text(candidate);
        continue;
      }
      const std::vector<std::uint64_t> entries = reader_.at(*found);
      if (!are_exchanged(candidate, *found, entries)) {
        maps.why = "entries that are not those of " + to_text(candidate) + " are no permutation of its";
        continue;
      }
      const bool scatters = indexed_.direction() == Direction::scatter;
      for (std::size_t k = 0; k < found->size(); ++k) {
        result_.exceptions.push_back(scatters ? Exception{.source = (*found)[k], .target = entries[k]}
                                              : Exception{.source = entries[k], .target = (*found)[k]});
      }
      std::sort(result_.exceptions.begin(), result_.exceptions.end(),
                [](const Exception& a, const Exception& b) { return a.source < b.source; });
      add(Family::exceptions, true,
          to_text(candidate) + ", but for " + std::to_string(found->size()) + " entries");
      return accept(Family::exceptions, scatters ? candidate : inverse(candidate));
    }
    return refuse(Family::exceptions, std::move(maps.why));
  }

  // Whether the entries are the images in another order; of an array on a device nobody has looked yet.
  static bool are_exchanged(const Permutation& candidate, const std::vector<std::uint64_t>& positions,
                            std::vector<std::uint64_t> entries) {
    std::vector<std::uint64_t> images;
    images.reserve(positions.size());
    for (const std::uint64_t position : positions) images.push_back(apply(candidate, position));
    std::sort(images.begin(), images.end());
    std::sort(entries.begin(), entries.end());
    return images == entries;
  }

  bool is_blocks() {
    if (!reader_.takes_all() || count_ < 4 || !indexed_.on_host()) return false;
    // Where elements stay together, runs are half as many as they at least.
    const std::uint64_t together = reader_.together();
    const std::uint64_t block = repeated_block(together);
    if (together == 1 && block == count_)
      return refuse(Family::blocks, "no elements stay together, and no blocks repeat");
    result_.blocks = {.repeats = count_ / block, .together = together};
    std::string why;
    if (together > 1) why = std::to_string(together) + " elements stay together";
    if (block < count_) {
      why += (why.empty() ? "" : ", ") + std::to_string(count_ / block) + " blocks of " +
             std::to_string(block) + " are alike";
    }
    add(Family::blocks, true, std::move(why));
    return accept(Family::blocks, normal_form(Permutation(detail::block_of(indexed_, block, together))));
  }

  // The smallest block that all others are like; all elements where there is none. A block ends where all
  // before go before.
  std::uint64_t repeated_block(std::uint64_t together) {
    constexpr std::uint64_t kAtATime = 4096;
    constexpr int kMostTried = 16;
    std::uint64_t farthest = 0;
    int tried = 0;
    for (std::uint64_t first = 0; first < count_ / 2; first += kAtATime) {
      std::vector<std::uint64_t> positions(std::min(kAtATime, count_ - first));
      std::iota(positions.begin(), positions.end(), first);
      const std::vector<std::uint64_t> entries = reader_.at(positions);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        farthest = std::max(farthest, entries[k]);
        if (farthest >= count_ / 2) return count_;
        const std::uint64_t block = first + k + 1;
        if (farthest != block - 1 || count_ % block != 0 || block % together != 0 || block == 1) continue;
        if (!reader_.repeat_mismatch(block)) return block;
        if (++tried == kMostTried) return count_;
      }
    }
    return count_;
  }

  bool is_window() {
    const Locality& seen = seen_;
    const std::uint64_t max_displacement = limits_.displacement == 0 ? 0 : limits_.displacement - 1;
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
  Locality seen_;
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

  bool takes_all() const override { return true; }

  std::optional<std::vector<std::uint64_t>> mismatches(const Permutation& candidate,
                                                       std::uint64_t most) override {
    if (is_wide()) return detail::mismatches(indexed_.entries64(), candidate, most, threads_);
    return detail::mismatches(indexed_.entries32(), candidate, most, threads_);
  }

  std::optional<std::uint64_t> repeat_mismatch(std::uint64_t block) override {
    if (is_wide()) return detail::repeat_mismatch(indexed_.entries64(), block, threads_);
    return detail::repeat_mismatch(indexed_.entries32(), block, threads_);
  }

  std::uint64_t together() override {
    if (is_wide()) return detail::together(indexed_.entries64(), threads_);
    return detail::together(indexed_.entries32(), threads_);
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
  static constexpr const char* kNames[] = {"identity",   "affine",      "cyclic",   "modular",
                                           "axes",       "cyclic axes", "computed", "blocks",
                                           "exceptions", "runs",        "window",   "general"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Family::general) + 1);
  return kNames[static_cast<std::size_t>(family)];
}

std::optional<std::vector<std::uint64_t>> IndexReader::mismatches(const Permutation& /*candidate*/,
                                                                  std::uint64_t /*most*/) {
  FARO_CHECK(false);  // of readers that take all
  return std::nullopt;
}
std::optional<std::uint64_t> IndexReader::repeat_mismatch(std::uint64_t /*block*/) {
  FARO_CHECK(false);
  return std::nullopt;
}
std::uint64_t IndexReader::together() {
  FARO_CHECK(false);
  return 1;
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
