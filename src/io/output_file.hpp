// A file that appears at its path whole or not at all.
//
//     open nameless in the directory  ->  reserve  ->  write  ->  link beside  ->  rename onto the path
//
// Nameless files (O_TMPFILE) vanish with the process however it ends. Where the file system has none, a
// temporary name is used from the start and is removed by the destructor or by remove_uncommitted().
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace faro::io {

/// A file descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }
  void reset(int value);

  /// errno, or zero. Some network file systems report a full disk only here.
  int close();

 private:
  int value_;
};

class OutputFile {
 public:
  /// Errors: ErrorCode::file where the directory is missing or unwritable, or `path` is something else than a
  /// writable regular file or a free name.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_.get(); }

  /// Makes the file `bytes` long with the blocks set aside. Returns whether they are: where the file system
  /// cannot, the free space was large enough just now. Errors: ErrorCode::file where the disk is too full.
  bool reserve(std::uint64_t bytes);

  /// Writes with all threads. Errors: ErrorCode::file.
  void write(std::span<const std::byte> data, std::uint64_t offset,
             const std::function<void(std::uint64_t)>& advance = {});

  /// Closes and renames onto the path. Errors: ErrorCode::file; what was at the path is untouched.
  void commit();

  /// Throws ErrorCode::file; `error` is an errno.
  [[noreturn]] void refuse(int error, const std::string& wanted) const;

 private:
  [[noreturn]] void refuse(const std::string& got, const std::string& wanted) const;
  /// Of so many bytes for which there is no room: says what is free.
  [[noreturn]] void refuse_size(int error, std::uint64_t bytes) const;
  void choose_temporary_name();
  void forget_temporary_name();
  void open_named();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty while the file is nameless
  Descriptor descriptor_;
};

}  // namespace faro::io
