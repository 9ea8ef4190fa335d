// What every run from file to file has, whatever it moves: the input that must not change, the output that
// appears whole or not at all, the journal of what is finished, and the sums that verify it.
//
//     FileRun run(…)       opens the files; refuses what it can before anything is written
//     run.run(facts, body)
//         header and room of the output, or what an earlier run left of it
//         body             sweep(stage), once or twice: a stage is a sweep of tiles from one file to another
//         input unchanged, sums agree, all on the disk, the caller told, the output's name given
//
// The journal counts the tiles of all stages one after another. A stage begins behind those that an earlier
// run finished and that are found again, by their checksums, in the file that the stage writes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file/journal.hpp"
#include "file/number_tiles.hpp"
#include "file/pipeline.hpp"
#include "io/output_file.hpp"

namespace faro::file {

/// Where what is written in between lies, for io::OutputFile, while a run is unfinished.
std::filesystem::path scratch_path(const std::filesystem::path& out);

class FileRun {
 public:
  struct Sizes {
    std::uint64_t in_bytes = 0;   // that the input must have
    std::uint64_t out_bytes = 0;  // of the output behind its header
    /// Read and written in all: for progress, and the sums' total.
    std::uint64_t told_bytes = 0;
  };
  /// `work` tells this run's problem and tiles from others, for the journal. Keeps references to `options`
  /// and `out`. Errors: ErrorCode::file, ErrorCode::value where both are one file.
  FileRun(const Input& in, const Output& out, const Options& options, const Sizes& sizes,
          const std::string& work);

  /// Compares sums; each element of `element_bytes` at the place that `destinations` gives it.
  void verify_by(Destinations destinations, std::uint64_t element_bytes, const std::string& what);

  /// By sums that know all of it.
  void verify_by(Checksums sums) { sums_.emplace(std::move(sums)); }

  /// A sweep of tiles. The pieces of a stage that has sums_written are those that the output is covered by.
  struct Stage {
    Tiles& tiles;
    const io::TransferFile& in;
    const io::TransferFile& out;
    std::uint64_t in_offset = 0;
    std::uint64_t out_offset = 0;
    Pipeline::Side added = {};  // what tiles have rows of beside the input's
    bool sums_read = true;
    bool sums_written = true;
    /// From a tile's rows in memory to the output's, which it may still determine.
    std::function<void(TileWork& work, std::byte* x, std::byte* y)> permute;
    /// For a tile that an earlier run finished: what of its rows permute() would have determined. False where
    /// that is not to be found.
    std::function<bool(TileWork& work)> found = {};
    /// TileBuffers::bytes() of the tiles that are lent; null: allocated.
    std::byte* memory = nullptr;
  };
  /// Returns false where the run was cancelled.
  bool sweep(const Stage& stage);

  /// All of a run. `body` calls sweep(), and returns what the last of them returned.
  Report run(const Facts& facts, const std::function<bool()>& body);

  io::TransferFile input(std::uint64_t run_bytes) const;
  io::TransferFile output(std::uint64_t run_bytes) const;
  std::uint64_t in_offset() const { return in_offset_; }
  std::uint64_t out_offset() const { return out_offset_; }
  const IoChoice& choice() const { return choice_; }
  const std::string& in_label() const { return source_.path(); }
  /// What becomes of files beside the output: whether they are kept for a later run, and whether this one
  /// goes on with what an earlier one left in them.
  io::Unfinished unfinished() const { return unfinished_; }
  bool goes_on() const { return goes_on_; }
  /// Whether the journal has anything that a later run could go on behind.
  bool is_resumable() const { return journal_ && !journal_->finished().empty(); }
  /// What the report says of the engine that permuted the tiles.
  void told_engine(Engine engine, const std::string& text) {
    report_.engine = engine;
    report_.engine_text = text;
  }
  /// Facts that are known when all is done.
  Facts& facts() { return report_.facts; }

 private:
  Report run_or_throw(const std::function<bool()>& body);
  void begin_or_resume();
  std::uint64_t verified_tiles(std::uint64_t finished, const Stage& stage, Pipeline& pipeline,
                               const Machinery& machinery);
  void permuted(const Stage& stage, TileWork& work, std::byte* x, std::byte* y);
  void note_written(int descriptor);
  void checkpoint(int descriptor);

  const Output& out_;
  const Options& options_;
  io::Unfinished unfinished_;
  IoChoice choice_;
  SourceFile source_;
  io::OutputFile target_;
  std::string label_;
  std::uint64_t in_offset_;
  std::uint64_t out_offset_;
  std::uint64_t out_bytes_;
  Teller teller_;
  std::optional<Journal> journal_;
  std::optional<Checksums> sums_;
  Report report_;
  bool begun_ = false;  // what an earlier run left is ours by now
  bool goes_on_ = false;
  std::uint64_t tiles_before_ = 0;       // of the stages before this one
  std::vector<std::uint64_t> permuted_;  // checksums of tiles that the journal does not have yet
  std::size_t not_noted_ = 0;            // of them are written
  std::atomic<std::uint64_t> covered_{0};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point noted_ = begin_;
};

}  // namespace faro::file
