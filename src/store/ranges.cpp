#include "store/ranges.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "store/file_numbers.hpp"

namespace faro::store {
namespace {

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
    std::uint64_t number = 0;
    for (std::size_t a = 0; a < index.size(); ++a) number = number * cells_[a] + index[a];
    const FileRange& range = ranges_[number];
    if (range.bytes == 0) return false;
    if (range.bytes > most) {
      fail(ErrorCode::file, "read `" + path_ + "`", fmt::format("a chunk of {} bytes", range.bytes),
           fmt::format("at most {}", most));
    }
    into = file_.read(range.offset, range.bytes);
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

class TilesInFile final : public ChunkStore {
 public:
  TilesInFile(int descriptor, std::filesystem::path label, const ChunkForm& form, std::uint64_t offset)
      : descriptor_(descriptor),
        label_(std::move(label)),
        cells_(cells_of(form.shape, form.chunk)),
        tile_bytes_(form.chunk_bytes()),
        offset_(offset) {}

  bool read(const Shape& index, Bytes& into, std::uint64_t /*most*/) const override {
    into.resize(tile_bytes_);
    if (io::read_at(descriptor_, into, place_of(index)).bytes == tile_bytes_) return true;
    fail(ErrorCode::file, "read `" + label_.string() + "`", "less than was written", "what was written");
  }
  void write(const Shape& index, std::span<const std::byte> stored) override {
    if (const int error = io::write_at(descriptor_, stored, place_of(index)); error != 0)
      fail(ErrorCode::file, "write `" + label_.string() + "`", io::error_text(error), "room on the disk");
  }
  // The file begins as zeros, as what is left out is.
  void leave_out(const Shape& /*index*/) override {}
  std::string identity() const override { return identity_of_file(label_); }
  std::string label(const Shape& /*index*/) const override { return label_.string(); }

 private:
  std::uint64_t place_of(const Shape& index) const {
    std::uint64_t number = 0;
    for (std::size_t a = 0; a < index.size(); ++a) number = number * cells_[a] + index[a];
    return offset_ + number * tile_bytes_;
  }

  int descriptor_;
  std::filesystem::path label_;
  Shape cells_;
  std::uint64_t tile_bytes_;
  std::uint64_t offset_;
};

}  // namespace

std::shared_ptr<ChunkStore> tiles_in_file(int descriptor, std::filesystem::path label, const ChunkForm& form,
                                          std::uint64_t offset) {
  return std::make_shared<TilesInFile>(descriptor, std::move(label), form, offset);
}

std::shared_ptr<const ChunkStore> chunk_ranges(const std::filesystem::path& path, Shape cells,
                                               std::vector<FileRange> ranges) {
  return std::make_shared<ChunkRanges>(path, std::move(cells), std::move(ranges));
}

}  // namespace faro::store
