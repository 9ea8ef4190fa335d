// A table of a paper, computed again, and what may be asked of it (reproduce.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace faro::reproduce {

inline constexpr std::uint64_t kDefaultSeed = 1;
inline constexpr std::uint64_t kLeastTrials = 64;
inline constexpr std::uint64_t kMostTrials = std::uint64_t{1} << 32;

struct Options {
  std::uint64_t seed = kDefaultSeed;
  std::uint64_t trials = 0;  // of every cell that is estimated; 0: what the table needs to be sure
  std::uint64_t width = 0;   // w, of the tables in widths(name); 0: the paper's
};

/// Nothing, a count, a figure, or words where the paper has no figure.
using Value = std::variant<std::monostate, std::uint64_t, double, std::string>;

struct Row {
  std::string subject;   // which cell: "RAP, diagonal, w = 32"
  std::string quantity;  // of it: "mean congestion"
  Value paper = {};
  Value model = {};  // ours, of what the paper gives no figure for
  Value here = {};
  std::string unit;
  std::optional<bool> agrees = {};
  std::optional<double> standard_error = {};  // of `here`, where it is estimated
  std::string criterion;                      // how `agrees` was decided, or why it was not
};

struct Table {
  std::string name;
  std::string title;
  std::string source;  // the paper's own name of it
  std::uint64_t seed = kDefaultSeed;
  std::vector<Row> rows;
  std::vector<std::string> notes;  // a line each
};

}  // namespace faro::reproduce
