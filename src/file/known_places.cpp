// What tells records their places: a seed, or an index array in memory.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/buckets.hpp"
#include "file/index_places.hpp"
#include "file/record_shuffle.hpp"
#include "io/buffer.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

class ShuffledPlaces final : public Places {
 public:
  ShuffledPlaces(const Shuffle& shuffle)
      : shuffle_(shuffle.records, shuffle.seed), is_inverse_(shuffle.inverse) {}
  std::uint64_t count() const override { return shuffle_.count(); }
  void fill(std::uint64_t first, std::span<std::uint64_t> places) const override {
    shuffle_.fill(first, is_inverse_, places);
  }
  bool has_inverse() const override { return true; }
  void fill_inverse(std::uint64_t first, std::span<std::uint64_t> sources) const override {
    shuffle_.fill(first, !is_inverse_, sources);
  }
  std::string text() const override {
    return fmt::format("shuffle by {}{}", shuffle_.seed(), is_inverse_ ? ", undone" : "");
  }

 private:
  RecordShuffle shuffle_;
  bool is_inverse_;
};

class PlacesOfMemory final : public IndexPlaces {
 public:
  PlacesOfMemory(const Indexed& index, std::uint64_t batch)
      : IndexPlaces(index.count(), batch), index_(index.redirected(Direction::scatter)) {}
  std::string text() const override { return fmt::format("indices {:016x}", schedule::fingerprint(index_)); }

 private:
  void read(std::uint64_t x, std::span<std::uint64_t> entries) const override {
    const auto at = static_cast<std::ptrdiff_t>(x);
    if (!index_.entries32().empty()) {
      std::copy_n(index_.entries32().begin() + at, entries.size(), entries.begin());
    } else {
      std::copy_n(index_.entries64().begin() + at, entries.size(), entries.begin());
    }
  }

  Indexed index_;
};

class ComputedPlaces final : public IndexPlaces {
 public:
  ComputedPlaces(const Computed& map, std::uint64_t batch)
      : IndexPlaces(map.count(), batch), map_(map), undone_(map.inverse()) {}
  bool has_inverse() const override { return true; }
  void fill_inverse(std::uint64_t first, std::span<std::uint64_t> sources) const override {
    for (std::uint64_t& source : sources) {
      const std::uint64_t y = first++ % entries();
      source = first - 1 - y + undone_(y);
    }
  }
  std::string text() const override { return map_.text(); }

 private:
  void read(std::uint64_t x, std::span<std::uint64_t> entries) const override {
    for (std::uint64_t& entry : entries) entry = map_(x++);
  }

  Computed map_;
  Computed undone_;
};

}  // namespace

Report shuffle(const Shuffle& shuffle, const Input& in, const Output& out, const Options& options) {
  return place_records(ShuffledPlaces(shuffle), shuffle.record_bytes, in, out, options);
}

Report permute_indexed(const Problem& problem, const Input& in, const Output& out, const Options& options) {
  if (const auto* const computed = std::get_if<Computed>(&problem.permutation))
    return place_records(ComputedPlaces(*computed, problem.batch), problem.element_bytes, in, out, options);
  const auto* const index = std::get_if<Indexed>(&problem.permutation);
  if (index == nullptr || !index->on_host()) {
    fail(ErrorCode::value, "permute records", to_text(problem.permutation),
         "an index array of the host, or a computed map");
  }
  // The array takes its part of the memory; a gather's once more, inverted.
  const std::uint64_t entry_bytes = index->entries64().empty() ? 4 : 8;
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  const std::uint64_t arrays = index->direction() == Direction::gather ? 2 : 1;
  const std::uint64_t taken = index->count() * entry_bytes * arrays;
  Options chosen = options;
  chosen.memory_bytes = taken < memory ? memory - taken : 0;
  if (chosen.memory_bytes < memory / 4) {
    fail(
        ErrorCode::value, "plan", "memory of " + size_text(memory),
        "at least " + size_text(taken + taken / 3 + 1) + ", for the index array alone takes " +
            size_text(taken),
        "an index array that is a .npy file is read as it is needed; `faro shuffle` moves records at random");
  }
  return place_records(PlacesOfMemory(*index, problem.batch), problem.element_bytes, in, out, chosen);
}

}  // namespace faro::file
