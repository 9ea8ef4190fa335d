#include "file/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <utility>

#include "faro/error.hpp"
#include "file/checksums.hpp"
#include "io/output_file.hpp"

namespace faro::file {
namespace {

constexpr mode_t kMode = 0600;

std::string line_of(std::size_t tile, std::uint64_t sum) {
  const std::string text = fmt::format("{} {:016x}", tile, sum);
  return fmt::format("{} {:016x}\n", text, checksum(std::as_bytes(std::span(text)), 1));
}

}  // namespace

Journal::Journal(const std::filesystem::path& path, std::string identity)
    : path_(io::partial_path(path).string() + "-journal"),
      identity_("faro-journal 1 " + std::move(identity) + "\n") {
  file_.reset(open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kMode));
  struct stat status {};
  if (file_.is_open() && (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode))) {
    file_.close();
    errno = EEXIST;
  }
  if (!file_.is_open()) {
    fail(ErrorCode::file, "write `" + path_.string() + "`", io::error_text(errno),
         "a directory that can be written to");
  }
  read();
}

void Journal::read() {
  std::string text;
  std::string part(1 << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(file_.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part, 0, static_cast<std::size_t>(got));
  }
  of_another_ = !text.empty() && !text.starts_with(identity_);
  if (text.empty() || of_another_) return;
  std::istringstream lines(text.substr(identity_.size()));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::size_t tile = 0;
    std::uint64_t sum = 0;
    words >> tile >> std::hex >> sum;
    if (!words || tile != finished_.size() || line + "\n" != line_of(tile, sum)) return;
    finished_.push_back(sum);
  }
}

void Journal::restart(std::size_t tiles) {
  FARO_CHECK(tiles <= finished_.size());
  finished_.resize(tiles);
  if (ftruncate(file_.get(), 0) != 0 || lseek(file_.get(), 0, SEEK_SET) != 0) {
    fail(ErrorCode::file, "write `" + path_.string() + "`", io::error_text(errno),
         "a file that can be written to");
  }
  pending_ = identity_;
  for (std::size_t tile = 0; tile < tiles; ++tile) pending_ += line_of(tile, finished_[tile]);
  sync();
}

void Journal::add(std::uint64_t sum) {
  pending_ += line_of(finished_.size(), sum);
  finished_.push_back(sum);
}

void Journal::sync() {
  write(std::exchange(pending_, {}));
  if (const int error = io::sync_file(file_.get()); error != 0) {
    fail(ErrorCode::file, "write `" + path_.string() + "`", io::error_text(error),
         "a disk that takes what is written");
  }
}

void Journal::write(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(file_.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      fail(ErrorCode::file, "write `" + path_.string() + "`", io::error_text(written < 0 ? errno : ENOSPC),
           "a disk that takes what is written");
    }
    done += static_cast<std::size_t>(written);
  }
}

void Journal::remove() noexcept { unlink(path_.c_str()); }

}  // namespace faro::file
