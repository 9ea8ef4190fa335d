// An array of a store that several processes read and write together, each a box of its own.
//
//     one        make()  -- where? -->  store()              finish()  commit()     what describes the array, its name
//     others                  join()    store()   finish()                          their chunks are on the disk
//
// Boxes that are written are unions of unit(), whole chunks or shards, cut by the array's end: a chunk has
// one owner, and what is coded is a file of its own, or has a place of its own in the file until the one
// finishes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file_system.hpp"
#include "store/relayout_work.hpp"
#include "store/sweep.hpp"

namespace faro::store {

/// An array that lies in a file as in memory.
struct PlainRun {
  std::filesystem::path path;
  std::uint64_t offset = 0;
};
std::optional<PlainRun> plain_run(const StoredArray& array);

/// A box of an array into memory, dense and in C order. `threads` load chunks. Errors: ErrorCode::file.
void load_box(const StoredArray& array, const Box& box, std::span<std::byte> to, int threads);
/// Extents whose multiples nobody reads twice.
Shape unit_of(const StoredArray& array);

class SharedOutput {
 public:
  /// Of no map: `work.wanted` says all. Errors: as explain().
  explicit SharedOutput(Work work);

  const Work& work() const { return work_; }
  Shape unit() const { return unit_; }
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// What is there under another name is not touched until commit(). Returns where it is made, for the
  /// others. Errors: as relayout().
  std::filesystem::path make();
  void join(const std::filesystem::path& place);
  /// After either. Nothing where it is not written as it lies in memory.
  std::optional<PlainRun> plain() const;

  /// `elements`, dense and in C order, which this may change; sums over what is stored and read back are
  /// added to `sums`. Errors: ErrorCode::file.
  void store(const Box& box, std::span<std::byte> elements, int threads, Sums* sums);
  /// Brings what this process stored to the disk; on the one that made it, after all others. Errors:
  /// ErrorCode::file.
  void finish();
  /// Of the one that made it.
  void commit();
  void discard() noexcept;

 private:
  Work work_;
  std::vector<std::string> left_out_;
  Shape unit_;
  std::filesystem::path place_;
  std::unique_ptr<CreatedStore> made_;
  io::Descriptor joined_;
  std::unique_ptr<Sink> sink_;  // of one that joined
};

}  // namespace faro::store
