// What a run over files tells: how far it is while it runs, one line or JSON when it is done.
//
//     on a terminal     faro: permuting in.npy: 43% of 186 GiB, 1.2 GiB/s, 88 s left
//     elsewhere         the same, a line a minute
//     --json            {"event":"progress","done_bytes":…} on standard error, a line a second; then the
//                       report on standard output
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/permute_options.hpp"
#include "cli/progress.hpp"
#include "faro/file.hpp"

namespace faro::cli {

/// What is known of a run before it starts.
struct FileTold {
  std::string label;     // as it was typed
  std::string spec;      // canonical
  std::string elements;  // "2^30 elements of 4 bytes"
  std::uint64_t count = 0;
  std::uint64_t width = 0;
  std::uint64_t batch = 1;
  std::vector<std::uint64_t> shape_before;
  std::vector<std::uint64_t> shape;
  std::uint64_t budget = 0;
};

/// One line of at most 80 columns. Law: the rate stands in it however long the label is.
std::string file_line(const FileTold& told, const file::Report& report);

class FileWatch {
 public:
  /// Keeps a reference to the options.
  explicit FileWatch(const PermuteOptions& options);

  void step(const std::string& what);
  /// `what` begins, and is reported when it is done: sets progress and done of `run`, which ends before this.
  void watch(const std::string& what, const FileTold& told, file::Options& run);

 private:
  void tell(const file::Progress& now);

  const PermuteOptions& options_;
  Progress progress_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point told_;
};

}  // namespace faro::cli
