// What tells records their places: a seed, or the file of an index array.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/buckets.hpp"
#include "file/record_shuffle.hpp"
#include "io/buffer.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "permutation/text.hpp"

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

// Of an index array of `entries` entries, over each array of a batch.
class IndexPlaces : public Places {
 public:
  explicit IndexPlaces(std::uint64_t entries, std::uint64_t batch) : entries_(entries), batch_(batch) {}
  std::uint64_t count() const override { return entries_ * batch_; }
  void fill(std::uint64_t first, std::span<std::uint64_t> places) const override {
    while (!places.empty()) {
      const std::uint64_t x = first % entries_;
      const std::uint64_t begin = first - x;
      const std::span<std::uint64_t> part =
          places.first(std::min<std::uint64_t>(places.size(), entries_ - x));
      read(x, part);
      for (std::uint64_t& place : part) {
        // One that is too large for its array is too large for all.
        place = place < entries_ ? begin + place : ~std::uint64_t{0};
      }
      places = places.subspan(part.size());
      first += part.size();
    }
  }

 protected:
  std::uint64_t entries() const { return entries_; }

 private:
  /// Entries x, x + 1, …: as they stand, one below 0 as a large one. By any thread.
  virtual void read(std::uint64_t x, std::span<std::uint64_t> entries) const = 0;

  std::uint64_t entries_;
  std::uint64_t batch_;
};

class PlacesOfMemory final : public IndexPlaces {
 public:
  PlacesOfMemory(const Indexed& index, std::uint64_t batch)
      : IndexPlaces(index.count(), batch), index_(index.redirected(Direction::scatter)) {}
  std::string text() const override { return fmt::format("indices {:016x}", schedule::fingerprint(index_)); }

 private:
  void read(std::uint64_t x, std::span<std::uint64_t> entries) const override {
    const auto at = static_cast<std::ptrdiff_t>(x);
    if (!index_.entries32().empty()) {
      std::copy_n(index_.entries32().begin() + at, entries.size(), entries.begin());
    } else {
      std::copy_n(index_.entries64().begin() + at, entries.size(), entries.begin());
    }
  }

  Indexed index_;
};

// Where an index array's entries are in a file.
struct EntryRange {
  std::filesystem::path path;
  std::uint64_t offset = 0;
  std::uint64_t width = 0;
  std::uint64_t count = 0;
};

EntryRange entries_of(const std::filesystem::path& path) {
  const io::NpyHeader header = io::read_npy_header(path);
  constexpr std::array kKinds{"'<u4'", "'<i4'", "'<u8'", "'<i8'"};
  bool is_index = false;
  for (const char* const kind : kKinds) is_index = is_index || header.descr == kind;
  if (!is_index || header.shape.size() != 1) {
    fail(ErrorCode::file, "read `" + path.string() + "`",
         fmt::format("dtype {} of {} axes", header.descr, header.shape.size()),
         "one axis of '<u4', '<i4', '<u8' or '<i8'");
  }
  return {
      .path = path, .offset = header.data_offset, .width = header.item_bytes, .count = header.item_count()};
}

class PlacesOfFile final : public IndexPlaces {
 public:
  PlacesOfFile(EntryRange range, std::uint64_t batch)
      : IndexPlaces(range.count, batch), range_(std::move(range)) {
    file_.reset(open(range_.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.is_open())
      fail(ErrorCode::file, detail::reading(range_.path.string()), io::error_text(errno),
           "a file that can be read");
    posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  std::string text() const override {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0)
      fail(ErrorCode::file, detail::reading(range_.path.string()), io::error_text(errno),
           "a file that can be read");
    return fmt::format("index file {}:{} of {} bytes, {}.{:09}", status.st_dev, status.st_ino, status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }

 private:
  void read(std::uint64_t x, std::span<std::uint64_t> entries) const override {
    const std::uint64_t width = range_.width;
    // Narrow entries are read into the end of the span, and widened from its begin.
    auto* const bytes = reinterpret_cast<std::byte*>(entries.data()) + entries.size() * (8 - width);
    std::uint64_t done = 0;
    while (done < entries.size() * width) {
      const ssize_t got = pread(file_.get(), bytes + done, entries.size() * width - done,
                                static_cast<off_t>(range_.offset + x * width + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        fail(ErrorCode::file, detail::reading(range_.path.string()),
             got < 0 ? io::error_text(errno) : "a file that was cut", "a file that can be read");
      done += static_cast<std::uint64_t>(got);
    }
    if (width == 8) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::uint32_t entry = 0;
      std::memcpy(&entry, bytes + i * width, width);
      entries[i] = entry;  // one below 0 is too large
    }
  }

  EntryRange range_;
  io::Descriptor file_;
};

// The same places under another name: of an index array that was turned round, its own.
class NamedPlaces final : public Places {
 public:
  NamedPlaces(const Places& places, std::string text) : places_(places), text_(std::move(text)) {}
  std::uint64_t count() const override { return places_.count(); }
  void fill(std::uint64_t first, std::span<std::uint64_t> to) const override { places_.fill(first, to); }
  std::string text() const override { return text_; }

 private:
  const Places& places_;
  std::string text_;
};

// A file beside the output that is gone afterwards.
class BesideOutput {
 public:
  BesideOutput(const Output& out, const char* what) : path_(io::partial_path(out.path).string() + what) {}
  ~BesideOutput() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  BesideOutput(const BesideOutput&) = delete;
  BesideOutput& operator=(const BesideOutput&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// 0, 1, …, in entries as wide as the index array's.
void write_numbers(const EntryRange& range, const std::filesystem::path& path) {
  constexpr std::uint64_t kTogether = std::uint64_t{1} << 17;
  io::OutputFile file(path);
  file.reserve(range.count * range.width);
  std::vector<std::byte> bytes(kTogether * range.width);
  for (std::uint64_t first = 0; first < range.count; first += kTogether) {
    const std::uint64_t count = std::min(kTogether, range.count - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = first + i;
      std::memcpy(&bytes[i * range.width], &number, range.width);  // little-endian
    }
    file.write(std::span(bytes).first(count * range.width), first * range.width);
  }
  file.commit();
}

// Puts number x where entry x of the index array says: the array of the inverse.
bool turn_round(const EntryRange& range, const Output& out, const std::filesystem::path& inverse,
                const Options& options) {
  const BesideOutput numbers(out, "-numbers");
  write_numbers(range, numbers.path());
  Options chosen = options;
  chosen.verify = chosen.keep_unfinished = chosen.resume = false;
  chosen.done = nullptr;
  return place_records(PlacesOfFile(range, 1), range.width, {.path = numbers.path()}, {.path = inverse},
                       chosen)
      .finished;
}

}  // namespace

Report shuffle(const Shuffle& shuffle, const Input& in, const Output& out, const Options& options) {
  return place_records(ShuffledPlaces(shuffle), shuffle.record_bytes, in, out, options);
}

Report permute_indexed(const IndexFile& index, std::uint64_t record_bytes, const Input& in, const Output& out,
                       const Options& options) {
  const EntryRange range = entries_of(index.path);
  const PlacesOfFile places(range, index.batch);
  if (index.direction == Direction::scatter) return place_records(places, record_bytes, in, out, options);
  const BesideOutput inverse(out, "-inverse");
  if (!turn_round(range, out, inverse.path(), options)) return {};  // cancelled
  const PlacesOfFile turned({.path = inverse.path(), .offset = 0, .width = range.width, .count = range.count},
                            index.batch);
  return place_records(NamedPlaces(turned, "gathered by " + places.text()), record_bytes, in, out, options);
}

Report permute_indexed(const Problem& problem, const Input& in, const Output& out, const Options& options) {
  const auto* const index = std::get_if<Indexed>(&problem.permutation);
  if (index == nullptr || !index->on_host())
    fail(ErrorCode::value, "permute records", to_text(problem.permutation), "an index array of the host");
  // The array takes its part of the memory.
  const std::uint64_t entry_bytes = index->entries64().empty() ? 4 : 8;
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  const std::uint64_t taken = index->count() * entry_bytes;
  Options chosen = options;
  chosen.memory_bytes = taken < memory ? memory - taken : 0;
  if (chosen.memory_bytes < memory / 4) {
    fail(
        ErrorCode::value, "plan", "memory of " + io::size_text(memory),
        "at least " + io::size_text(taken + taken / 3 + 1) + ", for the index array alone takes " +
            io::size_text(taken),
        "an index array that is a .npy file is read as it is needed; `faro shuffle` moves records at random");
  }
  return place_records(PlacesOfMemory(*index, problem.batch), problem.element_bytes, in, out, chosen);
}

}  // namespace faro::file
