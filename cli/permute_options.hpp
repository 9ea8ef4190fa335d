// What `faro permute` is asked for, with two files and in place.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/number_options.hpp"
#include "cli/store_options.hpp"
#include "faro/faro.hpp"
#include "faro/shards.hpp"
#include "io/npy.hpp"

namespace faro::cli {

/// What IN or OUT is called that is a stream.
inline constexpr const char* kStream = "-";

/// --devices and --backend: GPUs of this machine as ranks of one process.
struct DeviceOptions {
  std::string devices;  // "0,1"
  std::string backend;  // "peers" or "nccl"; empty: peers

  void add(CLI::App& command);
  bool is_given() const { return !devices.empty() || !backend.empty(); }
  /// Errors: ErrorCode::value for what is no list of numbers.
  std::vector<int> ordinals() const;
  /// A communicator for each of them. Errors: ErrorCode::value for --backend without --devices, for another
  /// name, and for a device twice with nccl; ErrorCode::device without GPUs, or without NCCL.
  std::vector<std::shared_ptr<Communicator>> communicators() const;
  /// Messages where NCCL was asked for, though its ranks could store.
  ShardWays ways() const { return {.stores = backend != "nccl"}; }
};

/// How input and output are cut: --shard-in and --shard-out, or --mesh, --from and --to.
struct CutOptions {
  std::string in;
  std::string out;
  std::string mesh;  // of --from and --to that name none
  std::string from;
  std::string to;

  void add(CLI::App& command);
  /// --mesh, --from and --to alone.
  void add_meshes(CLI::App& command);
  bool is_given() const;
  /// Errors: ErrorCode::value for texts that are no cuts, both kinds for one side, and --mesh alone.
  ShardCut in_cut() const;
  ShardCut out_cut() const;
};

/// --element-bits and what goes with it (permute_bits.hpp).
struct BitsOptions {
  std::string element;
  std::string order = "low";
  std::string in_pitch;  // bits from row to row
  std::string out_pitch;

  void add(CLI::App& command);
};

struct PermuteOptions {
  CommonOptions common;
  BitsOptions bits;
  IndexOptions index;
  NumberOptions numbers;
  std::string spec;
  std::optional<Strided> view;  // that SPEC is, by complete_spec(); none where it is a permutation's text
  std::string plan_cache;
  std::string in;
  std::string out;
  bool has_out = false;  // OUT was given, which may be an empty name
  std::string piece_bytes;
  std::string device_bytes;
  std::string map;
  std::string element;
  std::string axis;
  std::string memory;                // of arrays that are permuted from file to file
  std::string checkpoint;            // seconds between records of their journal
  std::string io = "auto";           // how those are read and written
  std::string raw;                   // the dtype of files without a header
  std::string skip;                  // bytes before the array in such an input
  std::string shape;                 // of theirs
  std::string order = "C";           // of the result's file: C or F
  std::vector<std::string> lengths;  // of a pattern's axes: "h=8"
  bool rows = false;
  bool inverse = false;
  bool in_place = false;
  DeviceOptions devices;
  StoreOptions store;   // where IN or OUT is one
  bool shards = false;  // each rank of mpirun its part,
  CutOptions cuts;      // as these say
  bool no_backup = false;
  bool resume = false;
  bool verify = false;
  bool quiet = false;

  /// The permutation as it was typed, on one line.
  std::string label() const;
};

cuda::StagingOptions staging_options(const PermuteOptions& options, const PlanOptions& plan_options);

/// Appends --let to a pattern, and reads a strided view. Errors: ErrorCode::value for --let where SPEC is no
/// pattern, or for another order than C and F; those of parse_strided().
void complete_spec(PermuteOptions& options);

/// The file that the permutation is read from is not written over: `path` is OUT, or FILE in place.
void check_spec_file(const PermuteOptions& options, const std::string& path, const char* role);

/// "bit_reversal(20): one pass, tiles of 4 KiB in segments of 64 bytes". The permutation is named as it was
/// typed, for the canonical text of a matrix is long.
std::string plan_line(const PermuteOptions& options, const Plan& plan);

/// "circuit(...)", "@index.npy": a label for a line that has no room for it; nothing is cut within a word.
std::string short_label(const std::string& label);
/// "2^20 elements of 4 bytes" as "2^20 x 4 B".
std::string compacted(std::string elements);

/// What a run's one line tells.
struct RunFacts {
  std::string elements;  // "2^20 elements of 4 bytes"
  double milliseconds = 0;
  double total_ms = 0;  // with reading, planning and writing
  std::uint64_t pieces = 0;
  std::string plan_cache;  // "plan read, `p.plan`"; empty without
  std::string shape;       // "shape 70x30", where it changed
};

/// What was done, its time and rate, and whether it was verified; what else fits in 80 columns behind it. No
/// share of a copy: one run says too little of it (`faro bench` times both in turns).
std::string run_line(const PermuteOptions& options, const Plan& plan, const RunFacts& facts);

}  // namespace faro::cli
