// The data of a file in C order. What is in Fortran order, does not fit in memory, and goes to places that no
// one sweep takes it to from there is first written in C order, into a file beside the output; and so is a
// result that is to be in Fortran order, and does not come there by one sweep:
//
//     in.npy, Fortran order  --one sweep-->  .faro-partial-OUT-ordered-…  --the permutation-->  out.npy
//     in.npy  --the permutation-->  .faro-partial-OUT-permuted-…  --one sweep-->  out.npy, Fortran order
//
// That file is gone when the output is there, or nothing is left to go on with; --resume takes it as it is,
// and a run without it removes those that other runs to the same output left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "cli/permute_options.hpp"
#include "faro/file.hpp"
#include "io/npy.hpp"

namespace faro::cli {

class OrderedInput {
 public:
  /// Data in C order is left as it is. `run` are the options of the run that is to follow. Errors: those of
  /// file::run(), and ErrorCode::file with --resume where the output's journal is of another run.
  OrderedInput(const PermuteOptions& options, const io::NpyHeader& header, const file::Options& run);
  /// What `sweep` makes of `in`, of so many bytes. `what` tells it from other permutations of that file.
  using Made = std::function<file::Report(const file::Input&, const file::Output&, const file::Options&)>;
  OrderedInput(const PermuteOptions& options, const file::Input& in, const std::string& what,
               std::uint64_t bytes, const Made& sweep, const file::Options& run);
  ~OrderedInput();
  OrderedInput(const OrderedInput&) = delete;
  OrderedInput& operator=(const OrderedInput&) = delete;

  /// Raw bytes in C order. Nothing may be read from it where is_cancelled().
  const file::Input& input() const { return input_; }
  bool is_cancelled() const { return is_cancelled_; }

 private:
  void make(const PermuteOptions& options, const std::string& ending, std::uint64_t bytes, const Made& sweep,
            const file::Options& run);

  file::Input input_;
  std::filesystem::path partial_;  // of the output
  bool is_ours_ = false;
  bool is_cancelled_ = false;
};

}  // namespace faro::cli
