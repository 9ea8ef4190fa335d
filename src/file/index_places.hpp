// Places that an index array's file tells, read as they are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "file/buckets.hpp"
#include "io/file_system.hpp"

namespace faro::file {

/// The places of an index array of `entries` entries, over each array of a batch.
class IndexPlaces : public Places {
 public:
  IndexPlaces(std::uint64_t entries, std::uint64_t batch) : entries_(entries), batch_(batch) {}
  std::uint64_t count() const override { return entries_ * batch_; }
  void fill(std::uint64_t first, std::span<std::uint64_t> places) const override;

 protected:
  std::uint64_t entries() const { return entries_; }

 private:
  /// Entries x, x + 1, …: as they stand, one below 0 as a large one. By any thread.
  virtual void read(std::uint64_t x, std::span<std::uint64_t> entries) const = 0;

  std::uint64_t entries_;
  std::uint64_t batch_;
};

/// Where an index array's entries are in a file, and what they look like.
struct EntryRange {
  std::filesystem::path path;
  std::uint64_t offset = 0;
  std::uint64_t width = 0;  // 1, 2, 4 or 8 bytes
  bool is_signed = false;
  bool is_swapped = false;  // of the other byte order
  std::uint64_t count = 0;
};

/// The entries of an .npy file of whole numbers, of any width and byte order; one axis, or others beside it
/// of extent 1. Errors: ErrorCode::file, ErrorCode::value for another dtype or shape.
EntryRange entries_of(const std::filesystem::path& path);

/// "index file 8:1234 of 4128 bytes, 1700000000.000000000": tells it from others, and from itself after a
/// change.
std::string stamp_of(const std::filesystem::path& path);

/// x goes to entry x, and from there through the maps behind it, in their order.
class PlacesOfFile final : public IndexPlaces {
 public:
  /// Errors: ErrorCode::file.
  PlacesOfFile(EntryRange range, std::uint64_t batch, std::vector<Permutation> after = {},
               std::string text = {});
  std::string text() const override { return text_; }

 private:
  void read(std::uint64_t x, std::span<std::uint64_t> entries) const override;

  EntryRange range_;
  std::vector<Permutation> after_;
  std::string text_;
  io::Descriptor file_;
};

}  // namespace faro::file
