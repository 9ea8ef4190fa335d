// What `faro permute` is asked for, with two files and in place.
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "faro/faro.hpp"
#include "io/npy.hpp"

namespace faro::cli {

struct PermuteOptions {
  CommonOptions common;
  IndexOptions index;
  std::string spec;
  std::string plan_cache;
  std::string in;
  std::string out;
  bool has_out = false;  // OUT was given, which may be an empty name
  std::string piece_bytes;
  std::string device_bytes;
  std::string map;
  std::string element;
  bool inverse = false;
  bool in_place = false;
  bool no_backup = false;
  bool verify = false;
  bool quiet = false;
};

/// How the file's items are grouped in elements and arrays, and what is done with them. Errors:
/// ErrorCode::value where they do not fit the permutation, and those of parse_spec.
Problem problem_of(const PermuteOptions& options, const io::NpyHeader& header);

cuda::StagingOptions staging_options(const PermuteOptions& options, const PlanOptions& plan_options);

/// The file that the permutation is read from is not written over: `path` is OUT, or FILE in place.
void check_spec_file(const PermuteOptions& options, const std::string& path, const char* role);

/// "bit_reversal(20): one pass, tiles of 4 KiB in segments of 64 bytes". The permutation is named as it was
/// typed, for the canonical text of a matrix is long.
std::string plan_line(const PermuteOptions& options, const Plan& plan);

}  // namespace faro::cli
