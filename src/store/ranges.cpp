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

  std::string label(const Shape& /*index*/) const override { return path_; }

 private:
  std::string path_;
  FileReader file_;
  Shape cells_;
  std::vector<FileRange> ranges_;
};

}  // namespace

std::shared_ptr<const ChunkStore> chunk_ranges(const std::filesystem::path& path, Shape cells,
                                               std::vector<FileRange> ranges) {
  return std::make_shared<ChunkRanges>(path, std::move(cells), std::move(ranges));
}

}  // namespace faro::store
