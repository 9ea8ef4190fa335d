// Which tiles of an unfinished output are on the disk, so that a later run goes on behind them.
//
//     faro-journal 1 <of the run: its problem, files, tiles>
//     <tile> <checksum of its bytes> <checksum of this line>        a line a tile, in order
//
// A line is written when the tile's bytes are on the disk. Lines that were cut, and all behind them, do not
// count. The journal lies beside the output, under partial_path() and `-journal`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/file_system.hpp"

namespace faro::file {

class Journal {
 public:
  /// Makes the journal of the output `path`. Errors: ErrorCode::file where it cannot be made.
  Journal(const std::filesystem::path& path, std::string identity);

  /// Whether there is one of another run, in the way of one to be resumed.
  bool is_of_another() const { return of_another_; }
  /// What an earlier run finished: of tile t its checksum. Empty where there was none, or another.
  const std::vector<std::uint64_t>& finished() const { return finished_; }

  /// Begins again with the first `tiles` of finished().
  void restart(std::size_t tiles);
  /// The next tile, which is on the disk with sync().
  void add(std::uint64_t checksum);
  /// Errors: ErrorCode::file.
  void sync();
  void remove() noexcept;

 private:
  void read();
  void write(const std::string& text);

  std::filesystem::path path_;
  std::string identity_;
  io::Descriptor file_;
  std::vector<std::uint64_t> finished_;
  std::string pending_;
  bool of_another_ = false;
};

}  // namespace faro::file
