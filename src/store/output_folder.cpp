#include "store/output_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "faro/error.hpp"

namespace faro::store {
namespace {

constexpr mode_t kFolderMode = 0777;  // less the umask

bool is_temporary_name(const std::string& name) {
  return name.starts_with(".faro-") && name.size() == io::temporary_name().size();
}

// Folders beside `path` whose processes are dead. Never fails.
void sweep_left_over_folders(const std::filesystem::path& parent) noexcept {
  try {
    constexpr int kMostEntries = 65536;
    int names = 0;
    for (const auto& entry : std::filesystem::directory_iterator(parent)) {
      if (++names > kMostEntries) return;
      struct stat status {};
      const bool is_ours = is_temporary_name(entry.path().filename().string()) &&
                           lstat(entry.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                           status.st_uid == geteuid();
      if (!is_ours) continue;
      const io::Descriptor folder(
          open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
      if (folder.is_open() && flock(folder.get(), LOCK_EX | LOCK_NB) == 0)
        std::filesystem::remove_all(entry.path());
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): what is left over may stay
  }
}

}  // namespace

OutputFolder::OutputFolder(const std::filesystem::path& path, io::Unfinished unfinished)
    : path_(path), unfinished_(unfinished) {
  while (!path_.empty() && path_.filename().empty()) path_ = path_.parent_path();  // a slash at the end
  if (path_.empty()) fail(ErrorCode::file, operation(), "an empty name", "the name of a folder");
  struct stat existing {};
  if (lstat(path_.c_str(), &existing) == 0) {
    std::error_code failed;
    if (!S_ISDIR(existing.st_mode) || !std::filesystem::is_empty(path_, failed) || failed)
      fail(ErrorCode::file, operation(), "something there already", "a free name",
           "remove it, or name another");
  }
  sweep_left_over_folders(io::directory_of(path_));
  unfinished_ == io::Unfinished::kept ? open_partial() : make_temporary();
}

void OutputFolder::make_temporary() {
  temporary_ = io::directory_of(path_) / io::temporary_name();
  if (mkdir(temporary_.c_str(), kFolderMode) != 0) {
    const int error = errno;
    temporary_.clear();
    fail(ErrorCode::file, operation(), io::error_text(error), "a directory that can be written to");
  }
  lock_.reset(open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.is_open()) flock(lock_.get(), LOCK_EX | LOCK_NB);
}

void OutputFolder::open_partial() {
  const std::filesystem::path partial = io::partial_path(path_);
  struct stat status {};
  const int error = mkdir(partial.c_str(), kFolderMode) == 0 || errno == EEXIST ? 0 : errno;
  if (error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a directory that can be written to");
  lock_.reset(open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock_.is_open() || fstat(lock_.get(), &status) != 0 || status.st_uid != geteuid()) {
    fail(ErrorCode::file, operation(), "no folder of faro's at `" + partial.string() + "`",
         "a free name, or what an earlier run left");
  }
  struct stat named {};
  const bool is_held = flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_held || stat(partial.c_str(), &named) != 0 || named.st_ino != status.st_ino) {
    fail(ErrorCode::file, operation(), "a folder that " + io::lock_holder(status) + " is writing",
         "one process at a time");
  }
  temporary_ = partial;
}

OutputFolder::~OutputFolder() {
  if (unfinished_ == io::Unfinished::removed) discard();
}

void OutputFolder::clear() {
  try {
    for (const auto& entry : std::filesystem::directory_iterator(temporary_))
      std::filesystem::remove_all(entry.path());
  } catch (const std::filesystem::filesystem_error& error) {
    fail(ErrorCode::file, operation(), error.code().message(), "a folder that can be written to");
  }
}

void OutputFolder::discard() noexcept {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
  temporary_.clear();
}

void OutputFolder::sync() {
  if (const int error = io::sync_file_system(lock_.get()); error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a disk that takes what is written");
}

void OutputFolder::finish() {
  if (finished_) return;
  // Chunks make the folders that they miss, so that one that was taken away would be there again, without
  // those before.
  struct stat held {};
  struct stat named {};
  if (fstat(lock_.get(), &held) != 0 || stat(temporary_.c_str(), &named) != 0 ||
      held.st_ino != named.st_ino || held.st_dev != named.st_dev)
    fail(ErrorCode::file, operation(), "a folder that was removed meanwhile", "one that nobody else changes");
  sync();
  finished_ = true;
}

void OutputFolder::commit() {
  finish();
  io::FolderSync parent;
  parent.open(io::directory_of(path_));
  // An empty folder is replaced, any other thing is not.
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(ErrorCode::file, operation(), io::error_text(errno), "a free name");
  temporary_.clear();
  if (const int error = parent.sync(); error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a disk that takes the folder's name, too");
}

}  // namespace faro::store
