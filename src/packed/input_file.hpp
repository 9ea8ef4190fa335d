// A file that elements smaller than a byte are read from, piece by piece.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "faro/packed.hpp"
#include "io/file_system.hpp"
#include "rounding.hpp"

namespace faro::packed {

class InputFile {
 public:
  explicit InputFile(const PackedFile& file)
      : file_(file), descriptor_(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!descriptor_.is_open()) {
      fail(ErrorCode::file, operation(), io::error_text(errno), "a file that can be read");
    }
  }

  std::string operation() const { return "read `" + file_.path.string() + "`"; }

  void require_bytes(std::uint64_t bytes) const {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file_.path, error);
    if (!error && size == file_.offset + bytes) return;
    fail(ErrorCode::file, operation(), error ? error.message() : std::to_string(size) + " bytes",
         std::to_string(file_.offset + bytes) + " bytes for the elements of the permutation");
  }

  /// Returns whether all was read.
  bool read(std::span<std::byte> to, std::uint64_t at) const {
    return io::read_at(descriptor_.get(), to, file_.offset + at).bytes == to.size();
  }

  bool read_by_all(std::span<std::byte> to, std::uint64_t at, int threads) const {
    constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
    std::atomic<bool> read_all = true;
    cpu::share_out(detail::ceil_div(to.size(), kPiece), threads, [&](std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t first = begin * kPiece;
      const std::uint64_t last = std::min<std::uint64_t>(end * kPiece, to.size());
      if (!read(to.subspan(first, last - first), at + first)) read_all = false;
    });
    return read_all;
  }

  void require(bool was_read) const {
    if (!was_read) fail(ErrorCode::file, operation(), "less than its size", "as many bytes as before");
  }

 private:
  PackedFile file_;
  io::Descriptor descriptor_;
};

}  // namespace faro::packed
