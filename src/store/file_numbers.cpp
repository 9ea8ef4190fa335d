#include "store/file_numbers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

namespace faro::store {

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
  if (io::read_at(file_.get(), found, offset).bytes != bytes)
    fail(ErrorCode::file, operation_, "an end before its time", "the file as it was");
  return found;
}

}  // namespace faro::store
