// What a run over files would do, explained without running it: sweeps, segments, transfers beside the
// literature's, and the time by the disk that `faro tune --disk` measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "faro/file.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::cli {

struct FilePlan {
  std::string spec;  // as given
  std::uint64_t width = 0;
  std::uint64_t memory = 0;
  file::Facts facts = {};
  file::TilePlan tile_plan = {};
  std::optional<Affine> affine;  // one array's, where that is known
  bool of_records = false;       // a distribution, by an index array or a seed
  std::filesystem::path disk;    // a folder on it
};

/// Prints text, or JSON with the keys of docs/guide/json.md.
void print_file_plan(const FilePlan& plan, bool as_json);

}  // namespace faro::cli
