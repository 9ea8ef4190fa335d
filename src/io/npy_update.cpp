#include "io/npy_update.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "io/output_file.hpp"

namespace faro::io {
namespace {

// "3, 5" or "7,"
std::string tuple_text(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return shape.size() == 1 ? text + "," : text;
}

// What stands between the parentheses after the last key `shape`; later fields of a dtype have no such key.
std::optional<std::pair<std::size_t, std::size_t>> shape_in(std::string_view header) {
  const std::size_t key =
      std::max(header.rfind("'shape'") + 1, header.rfind("\"shape\"") + 1);  // npos + 1 = 0
  if (key == 0) return std::nullopt;
  const std::size_t open = header.find('(', key);
  const std::size_t close = header.find(')', key);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  return std::pair(open + 1, close);
}

// Writes the value of the last key `fortran_order`. False where there is none.
bool set_order(std::string& header, MemoryOrder order) {
  const std::size_t key =
      std::max(header.rfind("'fortran_order'") + 1, header.rfind("\"fortran_order\"") + 1);
  const std::size_t colon = key == 0 ? std::string::npos : header.find(':', key);
  if (colon == std::string::npos) return false;
  const std::size_t begin = header.find_first_not_of(" \t", colon + 1);
  const std::size_t end = header.find_first_of(",} \t", begin);
  if (begin == std::string::npos || end == std::string::npos) return false;
  header.replace(begin, end - begin, order == MemoryOrder::fortran ? "True" : "False");
  return true;
}

// Whether `bytes` are the header that they should be, however that was written before.
bool reads_as(std::span<const std::byte> bytes, std::uint64_t file_bytes, const NpyHeader& header,
              std::span<const std::uint64_t> shape, MemoryOrder order) {
  try {
    const NpyHeader read = parse_npy_header(bytes, file_bytes, "");
    if (read.fortran_order && order != MemoryOrder::fortran) return false;
    return std::equal(read.shape.begin(), read.shape.end(), shape.begin(), shape.end()) &&
           read.descr == header.descr && read.data_offset == header.data_offset;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<std::vector<std::byte>> npy_header_reshaped(std::span<const std::byte> bytes,
                                                          std::span<const std::uint64_t> shape,
                                                          std::optional<MemoryOrder> order) {
  const std::string before(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto place = shape_in(before);
  if (!place) return std::nullopt;
  std::string after = before;
  after.replace(place->first, place->second - place->first, tuple_text(shape));
  if (order && !set_order(after, *order)) return std::nullopt;
  // The blanks before the end of the line make up for the difference.
  while (after.size() > before.size()) {
    const std::size_t blank = after.find_last_not_of('\n');
    if (blank == std::string::npos || after[blank] != ' ') return std::nullopt;
    after.erase(blank, 1);
  }
  if (after.size() < before.size()) {
    const std::size_t end = after.find_last_not_of('\n') + 1;
    after.insert(end, before.size() - after.size(), ' ');
  }
  std::vector<std::byte> made(after.size());
  std::memcpy(made.data(), after.data(), after.size());
  return made;
}

std::vector<std::byte> npy_header_of_file(const std::filesystem::path& path,
                                          std::span<const std::uint64_t> shape, MemoryOrder order) {
  const NpyHeader header = read_npy_header(path);
  std::vector<std::byte> bytes(header.data_offset);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  auto made = file ? npy_header_reshaped(bytes, shape, order) : std::nullopt;
  if (!made || !reads_as(*made, header.data_offset + header.data_bytes(), header, shape, order)) {
    fail(ErrorCode::unsupported, "change `" + path.string() + "` in place",
         "a header without room for the shape (" + tuple_text(shape) + ")",
         "a header as NumPy writes it, with blanks at its end", "from one file to another it has room");
  }
  return *std::move(made);
}

void require_writable(const std::filesystem::path& path) {
  constexpr mode_t kAnyoneWrites = S_IWUSR | S_IWGRP | S_IWOTH;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & kAnyoneWrites) != 0) return;
  fail(ErrorCode::file, "change `" + path.string() + "` in place", error_text(EACCES) + ": a read-only file",
       "a file that may be written", "`chmod u+w` makes it one");
}

NpyUpdate::NpyUpdate(const std::filesystem::path& path, const Advance& advance)
    : path_(path), held_((require_writable(path), path), "change `" + path.string() + "` in place", false) {
  const HeldFile& file = held_;
  const struct stat& status = held_.status();
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file_bytes > 0) {
    void* const mapping = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    if (mapping == MAP_FAILED)
      fail(ErrorCode::file, "change `" + path.string() + "` in place", error_text(errno),
           "a file that can be mapped");
    mapping_ = static_cast<std::byte*>(mapping);
    mapping_bytes_ = file_bytes;
  }
  try {
    header_ = parse_npy_header({mapping_, mapping_bytes_}, file_bytes, path.string());
    if (header_.fortran_order) {
      fail(ErrorCode::file, "change `" + path.string() + "` in place", "Fortran order", "C order",
           "without --no-backup the file is written anew, in C order");
    }
    require_memory_for_array("change `" + path.string() + "` in place", header_.data_bytes());
  } catch (...) {
    if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
    throw;
  }
  populate(mapping_, mapping_bytes_, advance);
}

NpyUpdate::~NpyUpdate() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

std::span<std::byte> NpyUpdate::data() {
  return std::span(mapping_, mapping_bytes_).subspan(header_.data_offset);
}

void NpyUpdate::set_shape(std::span<const std::uint64_t> shape) {
  auto made = npy_header_reshaped({mapping_, header_.data_offset}, shape);
  if (!made || !reads_as(*made, mapping_bytes_, header_, shape, MemoryOrder::c)) {
    fail(ErrorCode::unsupported, "change `" + path_.string() + "` in place",
         "a header without room for the shape (" + tuple_text(shape) + ")",
         "a header as NumPy writes it, with blanks at its end",
         "without --no-backup the file is written anew");
  }
  new_header_ = *std::move(made);
}

void NpyUpdate::commit() {
  if (mapping_ == nullptr) return;
  if (!new_header_.empty()) std::memcpy(mapping_, new_header_.data(), new_header_.size());
  const int error = msync(mapping_, mapping_bytes_, MS_ASYNC) != 0 ? errno : sync_file(held_.descriptor());
  if (error != 0)
    fail(ErrorCode::file, "change `" + path_.string() + "` in place", error_text(error),
         "a disk that takes what is written", "the file may be changed in part");
}

}  // namespace faro::io
