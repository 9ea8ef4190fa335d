#include "store/file_numbers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "file/checksums.hpp"

namespace faro::store {
namespace {

struct stat status_of(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    fail(ErrorCode::file, "read `" + path.string() + "`", io::error_text(errno), "a file that can be read");
  return status;
}

std::string identity_text(const struct stat& status) {
  return fmt::format("{}:{}:{}:{}.{:09}", status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace

std::string identity_of_file(const std::filesystem::path& path) { return identity_text(status_of(path)); }

std::string identity_of_folder(const std::filesystem::path& path) {
  // Files come in any order.
  std::uint64_t sum = 0;
  std::uint64_t files = 0;
  std::error_code failed;
  for (std::filesystem::recursive_directory_iterator at(path, failed), end; !failed && at != end;
       at.increment(failed)) {
    struct stat status {};
    if (lstat(at->path().c_str(), &status) != 0) continue;  // gone just now: another number of files
    if (S_ISDIR(status.st_mode)) continue;
    const std::string text = at->path().lexically_relative(path).string() + " " + identity_text(status);
    sum += file::checksum(std::as_bytes(std::span(text)), 1);
    ++files;
  }
  if (failed)
    fail(ErrorCode::file, "read `" + path.string() + "`", failed.message(), "a folder that can be read");
  return fmt::format("{}:{:016x}", files, sum);
}

FileReader::FileReader(const std::filesystem::path& path)
    : operation_("read `" + path.string() + "`"),
      file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (!file_.is_open() || fstat(file_.get(), &status) != 0)
    fail(ErrorCode::file, operation_, io::error_text(errno), "a file that can be read");
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

Bytes FileReader::read(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    fail(ErrorCode::file, operation_, fmt::format("a file of {} bytes", bytes_),
         fmt::format("{} bytes at {}, as its header says", bytes, offset));
  }
  Bytes found(bytes);
  read(offset, found);
  return found;
}

void FileReader::read(std::uint64_t offset, std::span<std::byte> to) const {
  if (io::read_at(file_.get(), to, offset).bytes != to.size())
    fail(ErrorCode::file, operation_, "an end before its time", "the file as it was");
}

}  // namespace faro::store
