#include "store/checkpoint_output.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "size_text.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

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
    folder_.emplace(path_, io::Unfinished::kept);
  } else {
    outputs_.push_back(std::make_unique<io::OutputFile>(path_, io::Unfinished::kept));
    labels_.push_back(path_.string());
  }
}

void CheckpointOutput::begin(bool goes_on) {
  if (folder_) {
    if (!goes_on) folder_->clear();
    const std::uint64_t bytes =
        std::accumulate(files_.begin(), files_.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const CheckpointFile& file) { return sum + file.bytes; });
    struct statvfs space {};
    if (statvfs(folder_->folder().c_str(), &space) == 0 && space.f_blocks > 0) {
      const std::uint64_t free = space.f_bavail * std::uint64_t{space.f_frsize};
      if (free + taken_bytes(folder_->folder()) < bytes) {
        fail(ErrorCode::file, operation(), size_text(free) + " free on its disk",
             "room for " + size_text(bytes));
      }
    }
    for (const CheckpointFile& file : files_) {
      outputs_.push_back(
          std::make_unique<io::OutputFile>(folder_->folder() / file.name, io::Unfinished::kept));
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
  if (folder_) folder_->finish();  // by one call, after which the others have nothing to wait for
  for (const auto& output : outputs_) output->finish();
}

void CheckpointOutput::commit(const std::string& index_name, const std::string& index) {
  for (const auto& output : outputs_) output->commit();
  if (!folder_) return;
  if (!index.empty()) io::write_file(folder_->folder() / index_name, index);
  folder_->commit();
}

void CheckpointOutput::discard() noexcept {
  for (const auto& output : outputs_) output->discard();
  if (folder_) folder_->discard();
}

}  // namespace faro::store
