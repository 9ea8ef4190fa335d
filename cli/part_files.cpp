#include "cli/part_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "faro/error.hpp"
#include "io/output_file.hpp"
#include "io/transfers.hpp"

namespace faro::cli {

void fail_part(const std::string& operation, const std::string& path, int error) {
  fail(ErrorCode::file, operation + " `" + path + "`",
       error == 0 ? "a file that ends too early" : io::error_text(error), "this rank's part of the file",
       "every rank needs the same files");
}

void read_part(const PartOfFile& part, std::span<std::byte> to) {
  const io::Descriptor file(open(part.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail_part("read", part.path, errno);
  faro::detail::for_runs(part.part, part.shape, [&](const faro::detail::PartRun& run) {
    const std::span<std::byte> bytes =
        to.subspan(run.element * part.element_bytes, run.length * part.element_bytes);
    for (std::uint64_t done = 0; done < bytes.size();) {
      const ssize_t got = pread(file.get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(part.place_of(run) + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail_part("read", part.path, got < 0 ? errno : 0);
      done += static_cast<std::uint64_t>(got);
    }
  });
}

void write_part(const PartOfFile& part, std::span<const std::byte> from) {
  io::Descriptor file(open(part.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) fail_part("write", part.path, errno);
  faro::detail::for_runs(part.part, part.shape, [&](const faro::detail::PartRun& run) {
    const std::span<const std::byte> bytes =
        from.subspan(run.element * part.element_bytes, run.length * part.element_bytes);
    for (std::uint64_t done = 0; done < bytes.size();) {
      const ssize_t put = pwrite(file.get(), bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(part.place_of(run) + done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail_part("write", part.path, errno);
      done += static_cast<std::uint64_t>(put);
    }
  });
  if (const int error = io::sync_file(file.get()); error != 0) fail_part("write", part.path, error);
  if (const int error = file.close(); error != 0) fail_part("write", part.path, error);
}

}  // namespace faro::cli
