// A .npy file whose data is changed where it lies.
//
//     map the file  ->  another shape? see that the header has room  ->  permute the data  ->  commit
//
// No second file and no buffer: what is stored is stored in the file, and an interruption leaves it changed
// in part. NpyOutput is the way that loses nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "io/file_system.hpp"
#include "io/npy.hpp"

namespace faro::io {

/// The header at the start of `bytes` with another shape of as many items, and in another order where one is
/// given, every other byte as it was but for blanks at its end. Nothing where it does not fit in as many
/// bytes, or is written in a way that this does not know. Requires: parse_npy_header takes them (unchecked:
/// set_shape reads what comes of it again).
std::optional<std::vector<std::byte>> npy_header_reshaped(std::span<const std::byte> bytes,
                                                          std::span<const std::uint64_t> shape,
                                                          std::optional<MemoryOrder> order = std::nullopt);

/// The same of the file at `path`. Errors: ErrorCode::file; ErrorCode::unsupported where the shape does not
/// fit.
std::vector<std::byte> npy_header_of_file(const std::filesystem::path& path,
                                          std::span<const std::uint64_t> shape,
                                          MemoryOrder order = MemoryOrder::c);

/// For who replaces a file by what is made of it. Errors: ErrorCode::file where its permissions let nobody
/// write to it, which would not stop the superuser. A missing file passes.
void require_writable(const std::filesystem::path& path);

class NpyUpdate {
 public:
  /// Holds the file and maps it for reading and writing. Errors: ErrorCode::file where it is missing, may not
  /// be written (require_writable), is no regular file, is held by another process, or its header is refused,
  /// as for NpyInput; also for data in Fortran order, which this would leave so.
  explicit NpyUpdate(const std::filesystem::path& path, const Advance& advance = {});
  ~NpyUpdate();
  NpyUpdate(const NpyUpdate&) = delete;
  NpyUpdate& operator=(const NpyUpdate&) = delete;

  const NpyHeader& header() const { return header_; }

  /// In the file itself.
  std::span<std::byte> data();

  /// The shape that commit() writes. Errors: ErrorCode::unsupported where the header has no room for it;
  /// nothing has been changed.
  void set_shape(std::span<const std::uint64_t> shape);

  /// Writes the shape and waits for the disk. Errors: ErrorCode::file, when the file may be changed in part.
  void commit();

 private:
  std::filesystem::path path_;
  HeldFile held_;
  NpyHeader header_;
  std::vector<std::byte> new_header_;  // empty: as it is
  std::byte* mapping_ = nullptr;
  std::uint64_t mapping_bytes_ = 0;
};

}  // namespace faro::io
