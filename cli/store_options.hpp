// Stores of arrays, Zarr, HDF5, safetensors and others, in the words of the command: what is asked of them,
// and what is told of a run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace faro::cli {

struct StoreOptions {
  std::string chunks;  // "256,256,64"
  std::string shards;
  std::string codec;
  std::string format;
  bool explain = false;

  void add(CLI::App& command);
  bool is_given() const;
};

}  // namespace faro::cli
