// Stores of arrays, Zarr, HDF5, safetensors and others, in the words of the command: what is asked of them,
// and what is told of a run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "faro/store.hpp"

namespace faro::cli {

struct PermuteOptions;

struct StoreOptions {
  std::string chunks;  // "256,256,64"
  std::string shards;
  std::string codec;
  std::string dtype;
  std::string format;
  bool explain = false;

  void add(CLI::App& command);
  bool is_given() const;
};

/// Whether IN or OUT is a store other than .npy, or an option asks for one.
bool is_of_stores(const PermuteOptions& options);

/// Lays IN out anew as OUT, permuted where `options.spec` is not empty. Errors: those of store::relayout();
/// ErrorCode::value and unsupported for options that stores do not take.
void relayout_stores(const PermuteOptions& options);

}  // namespace faro::cli
