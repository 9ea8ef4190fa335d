#include "store/ranges.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "faro/error.hpp"
#include "file/checksums.hpp"
#include "io/file_system.hpp"
#include "store/file_numbers.hpp"

namespace faro::store {
namespace {

// The place of a chunk of a grid in C order.
std::uint64_t number_of_chunk(const Shape& cells, const Shape& index) {
  std::uint64_t number = 0;
  for (std::size_t a = 0; a < index.size(); ++a) number = number * cells[a] + index[a];
  return number;
}

class ChunkRanges final : public ChunkStore {
 public:
  ChunkRanges(const std::filesystem::path& path, Shape cells, std::vector<FileRange> ranges)
      : path_(path.string()), file_(path), cells_(std::move(cells)), ranges_(std::move(ranges)) {
    const std::string operation = "read `" + path_ + "`";
    if (ranges_.size() != volume(cells_)) {
      fail(ErrorCode::file, operation, fmt::format("{} chunks", ranges_.size()),
           fmt::format("the {} of its shape", volume(cells_)));
    }
    for (const FileRange& range : ranges_) {
      if (range.offset <= file_.size() && range.bytes <= file_.size() - range.offset) continue;
      fail(ErrorCode::file, operation, fmt::format("a chunk of {} bytes at {}", range.bytes, range.offset),
           fmt::format("chunks in the {} bytes of the file", file_.size()));
    }
  }

  bool read(const Shape& index, Bytes& into, std::uint64_t most) const override {
    const FileRange& range = ranges_[number_of_chunk(cells_, index)];
    if (range.bytes == 0) return false;
    if (range.bytes > most) {
      fail(ErrorCode::file, "read `" + path_ + "`", fmt::format("a chunk of {} bytes", range.bytes),
           fmt::format("at most {}", most));
    }
    into = file_.read(range.offset, range.bytes);
    return true;
  }

  bool has_parts() const override { return true; }
  bool read_part(const Shape& index, std::uint64_t whole, std::uint64_t offset,
                 std::span<std::byte> to) const override {
    const FileRange& range = ranges_[number_of_chunk(cells_, index)];
    if (range.bytes == 0) return false;
    if (range.bytes != whole) {
      fail(ErrorCode::file, "read `" + path_ + "`", fmt::format("a chunk of {} bytes", range.bytes),
           fmt::format("the {} of its elements", whole));
    }
    file_.read(range.offset + offset, to);
    return true;
  }

  std::string identity() const override { return identity_of_file(path_); }
  std::string label(const Shape& /*index*/) const override { return path_; }

 private:
  std::string path_;
  FileReader file_;
  Shape cells_;
  std::vector<FileRange> ranges_;
};

// Chunks in places of one size, in C order, of a file that begins as zeros.
class PlacesInFile : public ChunkStore {
 public:
  PlacesInFile(int descriptor, std::filesystem::path label, const ChunkForm& form, std::uint64_t offset,
               std::uint64_t place_bytes)
      : descriptor_(descriptor),
        label_(std::move(label)),
        cells_(cells_of(form.shape, form.chunk)),
        offset_(offset),
        place_bytes_(place_bytes) {}

  // As zeros, which what an unfinished run left out is again.
  void leave_out(const Shape& /*index*/) override {}
  std::string identity() const override { return identity_of_file(label_); }
  std::string label(const Shape& /*index*/) const override { return label_.string(); }

 protected:
  std::uint64_t place_bytes() const { return place_bytes_; }
  std::uint64_t place_of(const Shape& index) const {
    return offset_ + number_of_chunk(cells_, index) * place_bytes_;
  }
  io::ReadAt read_at(std::span<std::byte> to, std::uint64_t offset) const {
    return io::read_at(descriptor_, to, offset);
  }
  void write_at(std::span<const std::byte> bytes, std::uint64_t offset) const {
    if (const int error = io::write_at(descriptor_, bytes, offset); error != 0)
      fail(ErrorCode::file, "write `" + label_.string() + "`", io::error_text(error), "room on the disk");
    io::begin_sync(descriptor_, offset, bytes.size());  // who waits for the disk at the end waits less
  }
  [[noreturn]] void fail_to_read(const std::string& got) const {
    fail(ErrorCode::file, "read `" + label_.string() + "`", got, "what was written");
  }

 private:
  int descriptor_;
  std::filesystem::path label_;
  Shape cells_;
  std::uint64_t offset_;
  std::uint64_t place_bytes_;
};

class TilesInFile final : public PlacesInFile {
 public:
  TilesInFile(int descriptor, std::filesystem::path label, const ChunkForm& form, std::uint64_t offset)
      : PlacesInFile(descriptor, std::move(label), form, offset, form.chunk_bytes()) {}

  bool read(const Shape& index, Bytes& into, std::uint64_t /*most*/) const override {
    into.resize(place_bytes());
    if (read_at(into, place_of(index)).bytes != into.size()) fail_to_read("less than was written");
    return true;
  }
  void write(const Shape& index, std::span<const std::byte> stored) override {
    write_at(stored, place_of(index));
  }
};

constexpr std::uint64_t kSlotHeader = 16;
std::uint64_t slot_bytes(const ChunkForm& form) {
  const std::uint64_t most = kSlotHeader + most_encoded_bytes(form.codecs, form.chunk_bytes());
  constexpr std::uint64_t kPage = 4096;
  return detail::round_up(most, most < kPage ? 8 : kPage);
}

class SlotsInFile final : public PlacesInFile {
 public:
  SlotsInFile(int descriptor, std::filesystem::path label, const ChunkForm& form, std::uint64_t offset)
      : PlacesInFile(descriptor, std::move(label), form, offset, slot_bytes(form)) {}

  bool read(const Shape& index, Bytes& into, std::uint64_t most) const override {
    std::array<std::uint64_t, 2> header{};
    const std::uint64_t at = place_of(index);
    const io::ReadAt read = read_at(std::as_writable_bytes(std::span(header)), at);
    if (read.error != 0) fail_to_read(io::error_text(read.error));
    // The file may end before its last slots.
    if (read.bytes < kSlotHeader || header.front() == 0) return false;
    if (header.front() <= std::min(most, place_bytes())) {
      into.resize(header.front());
      if (read_at(into, at + kSlotHeader).bytes == into.size() && file::checksum(into, 1) == header.back())
        return true;
    }
    fail_to_read("another chunk than was written");
  }
  void write(const Shape& index, std::span<const std::byte> stored) override {
    const std::array<std::uint64_t, 2> header{stored.size(), file::checksum(stored, 1)};
    write_at(stored, place_of(index) + kSlotHeader);
    write_at(std::as_bytes(std::span(header)), place_of(index));
  }
};

}  // namespace

std::shared_ptr<ChunkStore> slots_in_file(int descriptor, std::filesystem::path label, const ChunkForm& form,
                                          std::uint64_t offset) {
  return std::make_shared<SlotsInFile>(descriptor, std::move(label), form, offset);
}
std::uint64_t slots_bytes(const ChunkForm& form) {
  return volume(cells_of(form.shape, form.chunk)) * slot_bytes(form);
}

std::shared_ptr<ChunkStore> tiles_in_file(int descriptor, std::filesystem::path label, const ChunkForm& form,
                                          std::uint64_t offset) {
  return std::make_shared<TilesInFile>(descriptor, std::move(label), form, offset);
}

std::shared_ptr<const ChunkStore> chunk_ranges(const std::filesystem::path& path, Shape cells,
                                               std::vector<FileRange> ranges) {
  return std::make_shared<ChunkRanges>(path, std::move(cells), std::move(ranges));
}

}  // namespace faro::store
