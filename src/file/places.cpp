// What tells records their places: a seed, or the file of an index array.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "file/buckets.hpp"
#include "file/record_shuffle.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"

namespace faro::file {
namespace {

class ShuffledPlaces final : public Places {
 public:
  ShuffledPlaces(const Shuffle& shuffle)
      : shuffle_(shuffle.records, shuffle.seed), is_inverse_(shuffle.inverse) {}
  std::uint64_t count() const override { return shuffle_.count(); }
  void fill(std::uint64_t first, std::span<std::uint64_t> places) const override {
    shuffle_.fill(first, is_inverse_, places);
  }
  bool has_inverse() const override { return true; }
  void fill_inverse(std::uint64_t first, std::span<std::uint64_t> sources) const override {
    shuffle_.fill(first, !is_inverse_, sources);
  }
  std::string text() const override {
    return fmt::format("shuffle by {}{}", shuffle_.seed(), is_inverse_ ? ", undone" : "");
  }

 private:
  RecordShuffle shuffle_;
  bool is_inverse_;
};

class PlacesOfFile final : public Places {
 public:
  explicit PlacesOfFile(const std::filesystem::path& path)
      : path_(path.string()), header_(io::read_npy_header(path)) {
    constexpr std::array kKinds{"'<u4'", "'<i4'", "'<u8'", "'<i8'"};
    bool is_index = false;
    for (const char* const kind : kKinds) is_index = is_index || header_.descr == kind;
    if (!is_index || header_.shape.size() != 1) {
      fail(ErrorCode::file, "read `" + path_ + "`",
           fmt::format("dtype {} of {} axes", header_.descr, header_.shape.size()),
           "one axis of '<u4', '<i4', '<u8' or '<i8'");
    }
    file_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.is_open()) refuse(std::generic_category().message(errno));
    posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  std::uint64_t count() const override { return header_.item_count(); }
  std::string text() const override {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0) refuse(std::generic_category().message(errno));
    return fmt::format("index file {}:{} of {} bytes, {}.{:09}", status.st_dev, status.st_ino, status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  void fill(std::uint64_t first, std::span<std::uint64_t> places) const override {
    const std::uint64_t width = header_.item_bytes;
    // Narrow entries are read into the end of the span, and widened from its begin.
    auto* const bytes = reinterpret_cast<std::byte*>(places.data()) + places.size() * (8 - width);
    std::uint64_t done = 0;
    while (done < places.size() * width) {
      const ssize_t got = pread(file_.get(), bytes + done, places.size() * width - done,
                                static_cast<off_t>(header_.data_offset + first * width + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) refuse(got < 0 ? std::generic_category().message(errno) : "a file that was cut");
      done += static_cast<std::uint64_t>(got);
    }
    if (width == 8) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::uint32_t entry = 0;
      std::memcpy(&entry, bytes + i * width, width);
      places[i] = entry;  // one below 0 is too large
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& got) const {
    fail(ErrorCode::file, "read `" + path_ + "`", got, "a file that can be read");
  }

  std::string path_;
  io::NpyHeader header_;
  io::Descriptor file_;
};

}  // namespace

Report shuffle(const Shuffle& shuffle, const Input& in, const Output& out, const Options& options) {
  return place_records(ShuffledPlaces(shuffle), shuffle.record_bytes, in, out, options);
}

Report scatter(const std::filesystem::path& index, std::uint64_t record_bytes, const Input& in,
               const Output& out, const Options& options) {
  return place_records(PlacesOfFile(index), record_bytes, in, out, options);
}

}  // namespace faro::file
