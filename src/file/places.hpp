// Where each record of a file goes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace faro::file {

/// Where records go: a permutation of count() records.
class Places {
 public:
  virtual ~Places() = default;
  virtual std::uint64_t count() const = 0;
  /// Fills in the places of records first, first + 1, …. Called by any thread.
  virtual void fill(std::uint64_t first, std::span<std::uint64_t> places) const = 0;
  /// Whether fill_inverse() may be called: the records that places first, first + 1, … are given.
  virtual bool has_inverse() const { return false; }
  virtual void fill_inverse(std::uint64_t first, std::span<std::uint64_t> sources) const;
  /// What tells them from others, for a journal.
  virtual std::string text() const = 0;
};

}  // namespace faro::file
