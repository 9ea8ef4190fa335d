#include "engines/cuda/host/compiled_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/file_system.hpp"
#include "problem/cache_folder.hpp"

namespace faro::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMagic = "faro kernel 1\n";
constexpr std::size_t kMostKernelsKept = 512;
constexpr std::uint64_t kMostKernelBytes = std::uint64_t{64} << 20;

bool is_own(const struct stat& is) {
  return is.st_uid == ::geteuid() && (is.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Nothing where there is no folder, or others may write to it.
std::optional<fs::path> own_folder() {
  const auto cache = faro::detail::cache_folder();
  if (!cache) return std::nullopt;
  std::error_code failure;
  fs::create_directories(*cache, failure);
  const fs::path folder = *cache / "kernels";
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return std::nullopt;
  struct stat is {};
  if (::lstat(folder.c_str(), &is) != 0 || !S_ISDIR(is.st_mode) || !is_own(is)) return std::nullopt;
  return folder;
}

fs::path path_of(const fs::path& folder, const std::string& key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  constexpr const char* kDigits = "0123456789abcdef";
  std::string name;
  for (const std::uint64_t half : {hash.high64, hash.low64}) {
    for (int shift = 60; shift >= 0; shift -= 4) name += kDigits[half >> shift & 0xf];
  }
  return folder / name;
}

std::optional<std::string> read_own(const fs::path& path) {
  const io::Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat is {};
  if (!file.is_open() || ::fstat(file.get(), &is) != 0 || !S_ISREG(is.st_mode) || !is_own(is))
    return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(is.st_size);
  if (bytes > kMostKernelBytes) return std::nullopt;
  std::string text(bytes, '\0');
  if (io::read_at(file.get(), std::as_writable_bytes(std::span(text)), 0).bytes != bytes) return std::nullopt;
  return text;
}

void append(std::string& to, const std::string& part) { to += std::to_string(part.size()) + " " + part; }

std::string checksum_of(const std::string& text) {
  return std::to_string(XXH3_64bits(text.data(), text.size()));
}

// Takes apart what append() put together.
class Parts {
 public:
  explicit Parts(const std::string& text, std::size_t at) : text_(text), at_(at) {}

  std::optional<std::string> next() {
    std::uint64_t size = 0;
    std::size_t digits = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && digits < 9; ++at_, ++digits)
      size = size * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
    if (digits == 0 || at_ >= text_.size() || text_[at_] != ' ' || size > text_.size() - at_ - 1)
      return std::nullopt;
    std::string part = text_.substr(at_ + 1, size);
    at_ += 1 + size;
    return part;
  }
  std::size_t at() const { return at_; }
  bool ended() const { return at_ == text_.size(); }

 private:
  const std::string& text_;
  std::size_t at_;
};

std::optional<CompiledText> compiled_of(const std::string& text, const std::string& key) {
  if (!text.starts_with(kMagic)) return std::nullopt;
  Parts parts(text, std::char_traits<char>::length(kMagic));
  if (parts.next() != key) return std::nullopt;
  auto code = parts.next();
  if (!code) return std::nullopt;
  CompiledText compiled{.code = std::move(*code)};
  for (;;) {
    const std::size_t before = parts.at();
    auto name = parts.next();
    if (!name) return std::nullopt;
    if (parts.ended()) {
      if (*name != checksum_of(text.substr(0, before))) return std::nullopt;
      return compiled;
    }
    auto lowered = parts.next();
    if (!lowered) return std::nullopt;
    compiled.lowered.emplace(std::move(*name), std::move(*lowered));
  }
}

std::string text_of(const std::string& key, const CompiledText& compiled) {
  std::string text = kMagic;
  append(text, key);
  append(text, compiled.code);
  for (const auto& [name, lowered] : compiled.lowered) {
    append(text, name);
    append(text, lowered);
  }
  append(text, checksum_of(text));
  return text;
}

void forget_the_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> kept;
  std::error_code failure;
  for (fs::directory_iterator each(folder, failure), end; !failure && each != end; each.increment(failure)) {
    std::error_code gone;
    const auto time = fs::last_write_time(each->path(), gone);
    if (!gone) kept.emplace_back(time, each->path());
  }
  if (kept.size() <= kMostKernelsKept) return;
  std::sort(kept.begin(), kept.end());
  for (std::size_t i = 0; i + kMostKernelsKept < kept.size(); ++i) fs::remove(kept[i].second, failure);
}

}  // namespace

std::optional<CompiledText> kept_kernel(const std::string& key) try {
  const auto folder = own_folder();
  if (!folder) return std::nullopt;
  const auto text = read_own(path_of(*folder, key));
  return text ? compiled_of(*text, key) : std::nullopt;
} catch (const std::exception&) {
  return std::nullopt;
}

void keep_kernel(const std::string& key, const CompiledText& compiled) try {
  const auto folder = own_folder();
  if (!folder) return;
  const fs::path path = path_of(*folder, key);
  std::string part = path.string() + ".XXXXXX";
  {
    const io::Descriptor file(::mkstemp(part.data()));  // its owner's alone
    if (!file.is_open()) return;
    const std::string text = text_of(key, compiled);
    if (io::write_at(file.get(), std::as_bytes(std::span(text)), 0) != 0) {
      ::unlink(part.c_str());
      return;
    }
  }
  if (::rename(part.c_str(), path.c_str()) != 0) ::unlink(part.c_str());
  forget_the_oldest(*folder);
} catch (const std::exception&) {
  return;
}

CompiledText compile_or_find(const RuntimeSource& source, int major, int minor) {
  const std::string key =
      std::to_string(major) + "." + std::to_string(minor) + " " + nvrtc_status().reason + " " + source.key();
  if (auto kept = kept_kernel(key)) return std::move(*kept);
  CompiledText compiled = compile_text(source, major, minor);
  keep_kernel(key, compiled);
  return compiled;
}

}  // namespace faro::cuda
