#include "store/zarr_chunks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "store/file_numbers.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0666;  // less the umask

// Nothing where there is none. Errors: ErrorCode::file.
std::optional<io::Descriptor> open_if_there(const fs::path& path) {
  io::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.is_open()) return file;
  if (errno == ENOENT) return std::nullopt;
  fail(ErrorCode::file, "read `" + path.string() + "`", io::error_text(errno), "a file that can be read");
}

std::uint64_t size_of(const io::Descriptor& file, const fs::path& path) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    fail(ErrorCode::file, "read `" + path.string() + "`", "no regular file", "a regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

void read_range(const io::Descriptor& file, const fs::path& path, std::uint64_t offset,
                std::span<std::byte> to) {
  const io::ReadAt read = io::read_at(file.get(), to, offset);
  if (read.bytes == to.size()) return;
  fail(ErrorCode::file, "read `" + path.string() + "`",
       read.error != 0 ? io::error_text(read.error) : "an end before its time", "the file as it was");
}

// Makes the folders that are missing.
io::Descriptor open_to_write(const fs::path& path, int flags) {
  io::Descriptor file(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file.is_open() && errno == ENOENT) {
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    file.reset(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  }
  if (!file.is_open())
    fail(ErrorCode::file, "write `" + path.string() + "`", io::error_text(errno),
         "a folder that can be written to");
  return file;
}

void write_range(const io::Descriptor& file, const fs::path& path, std::uint64_t offset,
                 std::span<const std::byte> from) {
  if (const int error = io::write_at(file.get(), from, offset); error != 0)
    fail(ErrorCode::file, "write `" + path.string() + "`", io::error_text(error), "room on the disk");
  io::begin_sync(file.get(), offset, from.size());  // who waits for the disk at the end waits less
}

void close_written(io::Descriptor& file, const fs::path& path) {
  if (const int error = file.close(); error != 0)
    fail(ErrorCode::file, "write `" + path.string() + "`", io::error_text(error), "room on the disk");
}

class ChunkFiles final : public ChunkStore {
 public:
  ChunkFiles(fs::path folder, ChunkKeys keys) : folder_(std::move(folder)), keys_(keys) {}

  bool read(const Shape& index, Bytes& into, std::uint64_t most) const override {
    const fs::path path = path_of(index);
    const auto file = open_if_there(path);
    if (!file) return false;
    const std::uint64_t bytes = size_of(*file, path);
    if (bytes > most) {
      fail(ErrorCode::file, "read `" + path.string() + "`", fmt::format("a chunk of {} bytes", bytes),
           fmt::format("at most {}", most));
    }
    into.resize(bytes);
    read_range(*file, path, 0, into);
    return true;
  }

  bool has_parts() const override { return true; }
  bool read_part(const Shape& index, std::uint64_t whole, std::uint64_t offset,
                 std::span<std::byte> to) const override {
    const fs::path path = path_of(index);
    const auto file = open_if_there(path);
    if (!file) return false;
    if (const std::uint64_t bytes = size_of(*file, path); bytes != whole) {
      fail(ErrorCode::file, "read `" + path.string() + "`", fmt::format("a chunk of {} bytes", bytes),
           fmt::format("the {} of its elements", whole));
    }
    read_range(*file, path, offset, to);
    return true;
  }

  std::string identity() const override { return identity_of_folder(folder_); }
  std::string label(const Shape& index) const override { return path_of(index).string(); }

  void write(const Shape& index, std::span<const std::byte> stored) override {
    const fs::path path = path_of(index);
    io::Descriptor file = open_to_write(path, O_CREAT | O_TRUNC | O_WRONLY);
    write_range(file, path, 0, stored);
    close_written(file, path);
  }

 private:
  fs::path path_of(const Shape& index) const { return folder_ / keys_.key(index); }

  fs::path folder_;
  ChunkKeys keys_;
};

class ShardFiles final : public ChunkStore {
 public:
  ShardFiles(fs::path folder, ChunkKeys keys, ShardForm form)
      : folder_(std::move(folder)),
        keys_(keys),
        form_(std::move(form)),
        within_(cells_of(form_.shard, outer().chunk)) {}

  bool read(const Shape& index, Bytes& into, std::uint64_t most) const override {
    const fs::path path = path_of(index);
    // From the file to the chunk, level by level.
    FilePart part{};
    Shape extents = form_.shard;
    for (std::size_t level = 0; level < form_.levels.size(); ++level) {
      const Shape& chunk = form_.levels[level].chunk;
      const auto known = index_of(level, index, extents, path, part);
      if (!known) return false;
      std::uint64_t number = 0;
      for (std::size_t a = 0; a < index.size(); ++a)
        number = number * (extents[a] / chunk[a]) + index[a] * form_.chunk()[a] % extents[a] / chunk[a];
      const std::uint64_t offset = (*known)[2 * number];
      const std::uint64_t bytes = (*known)[2 * number + 1];
      if (offset == kNoChunk && bytes == kNoChunk) return false;
      if (part.bytes && (offset > *part.bytes || bytes > *part.bytes - offset)) {
        fail(ErrorCode::file, "read `" + path.string() + "`",
             fmt::format("a shard of {} bytes with a chunk of {} at {}", *part.bytes, bytes, offset),
             "chunks that lie in it");
      }
      part = {.offset = part.offset + offset, .bytes = bytes};
      extents = chunk;
    }
    const auto file = open_if_there(path);
    const std::uint64_t all = file ? size_of(*file, path) : 0;
    if (*part.bytes > most || part.offset > all || *part.bytes > all - part.offset) {
      fail(ErrorCode::file, "read `" + path.string() + "`",
           fmt::format("a shard of {} bytes with a chunk of {} at {}", all, *part.bytes, part.offset),
           fmt::format("chunks that lie in it, of at most {} bytes", most));
    }
    into.resize(*part.bytes);
    read_range(*file, path, part.offset, into);
    return true;
  }

  std::string identity() const override { return identity_of_folder(folder_); }
  bool is_settled() const override {
    const std::lock_guard lock(mutex_);
    return open_.empty();
  }

  std::string label(const Shape& index) const override { return path_of(index).string(); }

  void write(const Shape& index, std::span<const std::byte> stored) override {
    const Place place = place_of(index);
    const fs::path path = folder_ / keys_.key(place.shard);
    std::uint64_t offset = 0;
    {
      const std::lock_guard lock(mutex_);
      Open& shard = open_shard(place.shard, path);
      offset = shard.end;
      shard.end += stored.size();
      shard.index[2 * place.number] = offset;
      shard.index[2 * place.number + 1] = stored.size();
    }
    io::Descriptor file = open_to_write(path, O_CREAT | O_RDWR);
    write_range(file, path, offset, stored);
    close_written(file, path);
    done(place, path);
  }

  void leave_out(const Shape& index) override {
    const Place place = place_of(index);
    {
      const std::lock_guard lock(mutex_);
      open_shard(place.shard, folder_ / keys_.key(place.shard));
    }
    done(place, folder_ / keys_.key(place.shard));
  }

 private:
  struct Place {
    Shape shard;
    std::uint64_t number = 0;  // of the chunk within
  };

  // A shard that is being written.
  struct Open {
    ShardIndex index;
    std::uint64_t end = 0;
    std::uint64_t left = 0;  // chunks that are not done
  };

  // The path of the file that a chunk is in.
  fs::path path_of(const Shape& index) const {
    Shape shard = index;
    for (std::size_t a = 0; a < shard.size(); ++a) shard[a] = index[a] * form_.chunk()[a] / form_.shard[a];
    return folder_ / keys_.key(shard);
  }

  Place place_of(const Shape& index) const {
    Place place{.shard = index};
    for (std::size_t a = 0; a < index.size(); ++a) {
      place.shard[a] = index[a] / within_[a];
      place.number = place.number * within_[a] + index[a] % within_[a];
    }
    return place;
  }

  // A part of a file; all of it where no bytes are said.
  struct FilePart {
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> bytes = {};
  };

  // What a file is.
  const ShardLevel& outer() const { return form_.levels.front(); }
  std::uint64_t begin_of_chunks() const {
    return outer().index_at_end ? 0 : bytes_of_index(outer(), volume(within_));
  }

  Open& open_shard(const Shape& shard, const fs::path& path) {
    const auto [found, is_new] = open_.try_emplace(shard);
    if (is_new) {
      unlink(path.c_str());  // of an unfinished run
      known_.clear();        // what was read of it, too
      found->second.index.assign(2 * volume(within_), kNoChunk);
      found->second.end = begin_of_chunks();
      found->second.left = volume(cells_of(cell_of(form_.shape, form_.shard, shard).extents, outer().chunk));
    }
    return found->second;
  }

  // The last chunk of a shard is followed by its index. Until that is in the file, the shard is an open one:
  // a thread that reads one of its chunks meanwhile would find no index, or half of it.
  void done(const Place& place, const fs::path& path) {
    Open whole;
    {
      const std::lock_guard lock(mutex_);
      Open& shard = open_.at(place.shard);
      if (--shard.left > 0) return;
      whole = shard;
    }
    if (whole.end != begin_of_chunks()) {  // else no chunk is there, and no file
      io::Descriptor file = open_to_write(path, O_CREAT | O_RDWR);
      write_range(file, path, outer().index_at_end ? whole.end : 0, stored_index(outer(), whole.index));
      close_written(file, path);
    }
    const std::lock_guard lock(mutex_);
    open_.erase(place.shard);
  }

  // The index of the shard that a chunk is in, of a level and these extents. Null: there is none. Chunks of a
  // shard that is being written are known already.
  std::shared_ptr<const ShardIndex> index_of(std::size_t level, const Shape& chunk, const Shape& extents,
                                             const fs::path& path, const FilePart& part) const {
    Shape shard = chunk;
    for (std::size_t a = 0; a < shard.size(); ++a) shard[a] = chunk[a] * form_.chunk()[a] / extents[a];
    const std::lock_guard lock(mutex_);
    if (const auto being_written = open_.find(shard); level == 0 && being_written != open_.end())
      return std::make_shared<ShardIndex>(being_written->second.index);
    const auto key = std::pair(level, std::move(shard));
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    constexpr std::size_t kMostKnown = 64;
    if (known_.size() >= kMostKnown) known_.clear();
    return known_.emplace(key, read_index(form_.levels[level], extents, path, part)).first->second;
  }

  static std::shared_ptr<const ShardIndex> read_index(const ShardLevel& level, const Shape& extents,
                                                      const fs::path& path, const FilePart& part) {
    const auto file = open_if_there(path);
    if (!file) return nullptr;
    const std::uint64_t size = size_of(*file, path);
    const std::uint64_t all = part.bytes.value_or(size);
    const std::uint64_t wanted_bytes = bytes_of_index(level, volume(cells_of(extents, level.chunk)));
    const std::string operation = "read `" + path.string() + "`";
    if (part.offset > size || all > size - part.offset || all < wanted_bytes) {
      fail(ErrorCode::file, operation, fmt::format("a shard of {} bytes", all),
           fmt::format("at least the {} of its index, in the file", wanted_bytes));
    }
    Bytes bytes(wanted_bytes);
    read_range(*file, path, part.offset + (level.index_at_end ? all - bytes.size() : 0), bytes);
    if (level.index_has_checksum) {
      std::uint32_t wanted = 0;
      std::memcpy(&wanted, bytes.data() + bytes.size() - sizeof wanted, sizeof wanted);
      bytes.resize(bytes.size() - sizeof wanted);
      if (crc32c(bytes) != wanted)
        fail(ErrorCode::file, operation, "an index of another checksum", "a whole shard");
    }
    if (level.index_order == ByteOrder::big) swap_bytes(bytes, known_element_type("uint64"));
    auto index = std::make_shared<ShardIndex>(bytes.size() / sizeof(std::uint64_t));
    std::memcpy(index->data(), bytes.data(), bytes.size());
    return index;
  }

  fs::path folder_;
  ChunkKeys keys_;
  ShardForm form_;
  Shape within_;  // what is written of a shard, along each axis
  mutable std::mutex mutex_;
  std::map<Shape, Open> open_;
  mutable std::map<std::pair<std::size_t, Shape>, std::shared_ptr<const ShardIndex>> known_;
};

}  // namespace

std::string ChunkKeys::key(const Shape& index) const {
  std::string text = has_prefix ? "c" : "";
  for (const std::uint64_t each : index) {
    if (!text.empty()) text += separator;
    text += std::to_string(each);
  }
  return text.empty() ? "0" : text;
}

std::uint64_t bytes_of_index(const ShardLevel& level, std::uint64_t chunks) {
  return 16 * chunks + (level.index_has_checksum ? 4 : 0);
}

Bytes stored_index(const ShardLevel& level, const ShardIndex& index) {
  Bytes bytes(index.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), index.data(), bytes.size());
  if (level.index_order == ByteOrder::big) swap_bytes(bytes, known_element_type("uint64"));
  if (!level.index_has_checksum) return bytes;
  const std::uint32_t sum = crc32c(bytes);
  bytes.resize(bytes.size() + sizeof sum);
  std::memcpy(bytes.data() + bytes.size() - sizeof sum, &sum, sizeof sum);
  return bytes;
}

std::shared_ptr<ChunkStore> chunk_files(const fs::path& folder, ChunkKeys keys) {
  return std::make_shared<ChunkFiles>(folder, keys);
}

std::shared_ptr<ChunkStore> shard_files(const fs::path& folder, ChunkKeys keys, ShardForm form) {
  return std::make_shared<ShardFiles>(folder, keys, std::move(form));
}

}  // namespace faro::store
