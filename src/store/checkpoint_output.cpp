#include "store/checkpoint_output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "size_text.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kMadeFolderMode = 0777;  // less the umask

// Bytes of the disk that a folder's files have.
std::uint64_t taken_bytes(const fs::path& folder) {
  constexpr std::uint64_t kStatBlock = 512;
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    struct stat status {};
    if (lstat(entry->path().c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * kStatBlock;
  }
  return bytes;
}

}  // namespace

CheckpointOutput::CheckpointOutput(fs::path path, bool is_folder, std::vector<CheckpointFile> files)
    : path_(std::move(path)), files_(std::move(files)) {
  if (path_.empty()) fail(ErrorCode::file, operation(), "an empty name", "the name of a folder or a file");
  if (is_folder) {
    open_folder();
  } else {
    outputs_.push_back(std::make_unique<io::OutputFile>(path_, io::Unfinished::kept));
    labels_.push_back(path_.string());
  }
}

void CheckpointOutput::open_folder() {
  struct stat existing {};
  std::error_code failed;
  if (lstat(path_.c_str(), &existing) == 0 &&
      (!S_ISDIR(existing.st_mode) || !fs::is_empty(path_, failed) || failed))
    fail(ErrorCode::file, operation(), "something there already", "a free name or an empty folder",
         "remove it, or name another");
  folder_ = io::partial_path(path_);
  if (mkdir(folder_.c_str(), kMadeFolderMode) != 0 && errno != EEXIST)
    fail(ErrorCode::file, operation(), io::error_text(errno), "a directory that can be written to");
  lock_.reset(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  const bool is_ours = lock_.is_open() && fstat(lock_.get(), &status) == 0 && status.st_uid == geteuid();
  if (!is_ours) {
    fail(ErrorCode::file, operation(), "no folder of faro's at `" + folder_.string() + "`",
         "a free name, or what an earlier run left");
  }
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail(ErrorCode::file, operation(), "a folder that " + io::lock_holder(status) + " is writing",
         "one process at a time");
  }
}

void CheckpointOutput::begin(bool goes_on) {
  if (!folder_.empty()) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder_, failed), end; !goes_on && !failed && entry != end;
         entry.increment(failed))
      fs::remove_all(entry->path(), failed);
    const std::uint64_t bytes =
        std::accumulate(files_.begin(), files_.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const CheckpointFile& file) { return sum + file.bytes; });
    struct statvfs space {};
    if (fstatvfs(lock_.get(), &space) == 0 && space.f_blocks > 0) {
      const std::uint64_t free = space.f_bavail * std::uint64_t{space.f_frsize};
      if (free + taken_bytes(folder_) < bytes) {
        fail(ErrorCode::file, operation(), size_text(free) + " free on its disk",
             "room for " + size_text(bytes));
      }
    }
    for (const CheckpointFile& file : files_) {
      outputs_.push_back(std::make_unique<io::OutputFile>(folder_ / file.name, io::Unfinished::kept));
      labels_.push_back((path_ / file.name).string());
    }
  } else if (!goes_on && ftruncate(outputs_.front()->descriptor(), 0) != 0) {
    fail(ErrorCode::file, operation(), io::error_text(errno), "a file that can be written to");
  }
  for (std::size_t file = 0; file < files_.size(); ++file) {
    outputs_[file]->reserve(files_[file].bytes);
    outputs_[file]->write(files_[file].header, 0);
  }
}

void CheckpointOutput::sync(std::size_t file) const {
  if (const int error = io::sync_file(descriptor(file)); error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a disk that takes what is written");
}

void CheckpointOutput::finish() {
  for (const auto& output : outputs_) output->finish();
}

void CheckpointOutput::commit(const std::string& index_name, const std::string& index) {
  for (const auto& output : outputs_) output->commit();
  if (folder_.empty()) return;
  if (!index.empty()) io::write_file(folder_ / index_name, index);
  io::FolderSync parent;
  parent.open(io::directory_of(path_));
  // An empty folder is replaced, any other thing is not.
  if (rename(folder_.c_str(), path_.c_str()) != 0)
    fail(ErrorCode::file, operation(), io::error_text(errno), "a free name");
  folder_.clear();
  if (const int error = parent.sync(); error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a disk that takes the folder's name, too");
}

void CheckpointOutput::discard() noexcept {
  for (const auto& output : outputs_) output->discard();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace faro::store
