// Checkpoints of models, changed within a budget of memory: a list of rules is applied to a whole sharded
// safetensors checkpoint, each tensor read once and written once.
//
//     faro::checkpoint::run(R"({"rules": [
//         {"match": "{name*}", "from": "floats", "dtype": "bfloat16"},
//         {"match": "{layer*}.q_proj.weight", "rotary": {"heads": 32, "to": "interleaved"}},
//         {"match": "{layer*}.mlp.down_proj.weight", "map": "transpose", "name": "{layer}.down.weight"},
//         {"match": "{layer*}.qkv.weight", "split": {"axis": 0, "into": [
//             {"name": "{layer}.q.weight", "size": 4096}, {"name": "{layer}.kv.weight", "size": 2048}]}},
//         {"join": ["{layer*}.gate.weight", "{layer*}.up.weight"], "axis": 0, "name": "{layer}.gate_up.weight"},
//         {"match": "{layer*}.rotary_emb.inv_freq", "drop": true}]})",
//         "model/", "changed/", {.memory_bytes = 1 << 30});
//
// A tensor takes what all rules say that match its name, the later one where two say different things; one
// that no rule matches is copied. A tensor's way:
//
//     reshape -> split: a part along an axis -> map, or heads for rotary embeddings -> dtype, scale, offset
//             -> shape -> join: a part of another tensor, along an axis -> name
//
// All of it is one sweep from place to place (faro/file.hpp), and all tensors share the threads, the buffers
// and the disk. The plan is checked whole, names, shapes and types, before a byte is written; the result
// appears whole or not at all; what a killed run did is gone on with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "faro/file.hpp"

namespace faro::checkpoint {

struct Report;

struct Options {
  /// Of the buffers, at most. 0: file::default_memory_bytes().
  std::uint64_t memory_bytes = 0;
  int threads = 0;  // as PlanOptions::threads
  /// Of a file of the result, at most, unless one tensor has more; where the result is a folder. 0: 5 GB.
  std::uint64_t shard_bytes = 0;
  file::Io io = file::Io::automatic;
  /// Holds what is read against what is written, by sums that a wrong place or value changes.
  bool verify = false;
  /// Goes on where a run with the same plan, input, budget and output was interrupted; where there was none,
  /// from the beginning. Without, what an earlier run left is begun anew.
  bool resume = false;
  /// Seconds between two records of the journal, each of which waits for the disk.
  double checkpoint_seconds = 5;
  /// Called by any thread, but by one at a time.
  std::function<void(const file::Progress&)> progress = {};
  /// Asked as often; true ends the run, which can be gone on with.
  std::function<bool()> cancelled = {};
  /// Called once when all is on the disk but for the output's name.
  std::function<void(const Report&)> done = {};
};

/// A tensor of the result.
struct Tensor {
  std::string name;
  std::string dtype;  // "bfloat16"
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  std::string file;                  // of the result
  std::vector<std::string> sources;  // names of the input's that it is made of
  std::string changes;               // "transpose; f32 to bf16, in f32"; empty: a copy
};

/// A rule, and how many tensors it matched.
struct RuleFacts {
  std::string text;
  std::uint64_t matched = 0;
};

/// What is done, before it is done.
struct Facts {
  std::uint64_t in_files = 0;
  std::uint64_t in_tensors = 0;
  std::vector<std::string> dropped;
  std::vector<RuleFacts> rules;
  std::vector<Tensor> tensors;     // of the result, as they lie in it
  std::vector<std::string> files;  // likewise
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t tiles = 0;
  std::uint64_t memory_bytes = 0;  // of all buffers

  /// "291 tensors in 2 files, 254 of them changed, one sweep each, 96 MiB of memory"
  std::string text() const;
  /// All of it: docs/guide/json.md, "checkpoint". What is no UTF-8 is replaced.
  std::string json() const;
};

struct Report {
  Facts facts;
  bool finished = false;  // false: cancelled
  bool verified = false;
  std::uint64_t resumed_tiles = 0;
  double seconds = 0;
};

/// The text of a file of rules, JSON or TOML. Errors: ErrorCode::file.
std::string read_rules(const std::filesystem::path& path);

/// `in`: a folder with an index file or with safetensors alone, an index file, or one safetensors file.
/// `out`: a folder that is not there or empty, or a name that ends in .safetensors.
/// Errors, of both: ErrorCode::value for rules that say what cannot be, match nothing, or give two tensors
/// one name, and for too little memory; ErrorCode::file for a malformed or damaged checkpoint, an output that
/// is there already, or a full disk; ErrorCode::unsupported; ErrorCode::verification. Nothing is under the
/// output's name then.
Facts explain(const std::string& rules, const std::filesystem::path& in, const std::filesystem::path& out,
              const Options& options = {});
Report run(const std::string& rules, const std::filesystem::path& in, const std::filesystem::path& out,
           const Options& options = {});

}  // namespace faro::checkpoint
