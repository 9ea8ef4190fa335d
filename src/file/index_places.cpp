#include "file/index_places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "permutation/text.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};

void apply_to_each(const Permutation& map, std::span<std::uint64_t> places, std::uint64_t count) {
  std::visit(
      [&](const auto& form) {
        for (std::uint64_t& place : places) {
          if (place >= count) continue;  // refused later
          if constexpr (std::is_same_v<std::decay_t<decltype(form)>, Indexed>) {
            place = form.entry(place);
          } else {
            place = form(place);
          }
        }
      },
      map);
}

// A number of so many bytes, as a file has it.
std::uint64_t number_at(const std::byte* bytes, const EntryRange& range) {
  std::uint64_t number = 0;
  for (std::uint64_t k = 0; k < range.width; ++k) {
    const std::uint64_t at = range.is_swapped ? k : range.width - 1 - k;
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[at]);
  }
  const bool is_negative = range.is_signed && (number >> (8 * range.width - 1) & 1) != 0;
  return is_negative ? kNoPlace : number;
}

}  // namespace

void IndexPlaces::fill(std::uint64_t first, std::span<std::uint64_t> places) const {
  while (!places.empty()) {
    const std::uint64_t x = first % entries_;
    const std::uint64_t begin = first - x;
    const std::span<std::uint64_t> part = places.first(std::min<std::uint64_t>(places.size(), entries_ - x));
    read(x, part);
    for (std::uint64_t& place : part) {
      // One that is too large for its array is too large for all.
      place = place < entries_ ? begin + place : kNoPlace;
    }
    places = places.subspan(part.size());
    first += part.size();
  }
}

EntryRange entries_of(const std::filesystem::path& path) {
  const io::NpyHeader header = io::read_npy_header(path);
  const io::NpyTypeCode code = header.type_code().value_or(io::NpyTypeCode{});
  const std::string operation = detail::reading(path.string());
  if (code.kind != 'i' && code.kind != 'u') {
    fail(ErrorCode::value, operation, "an index array of dtype " + header.descr,
         "whole numbers: 'u1' to 'u8' or 'i1' to 'i8', of any byte order",
         "index.astype('u8') makes whole numbers of it");
  }
  const auto is_long = [](std::uint64_t extent) { return extent != 1; };
  if (header.shape.empty() || std::count_if(header.shape.begin(), header.shape.end(), is_long) > 1) {
    fail(ErrorCode::value, operation, fmt::format("an array of {} axes", header.shape.size()),
         "an index array of one axis", "index.reshape(-1) flattens it");
  }
  return {.path = path,
          .offset = header.data_offset,
          .width = header.item_bytes,
          .is_signed = code.kind == 'i',
          .is_swapped = code.big_endian,
          .count = header.item_count()};
}

std::string stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    fail(ErrorCode::file, detail::reading(path.string()), io::error_text(errno), "a file that can be read");
  return fmt::format("index file {}:{} of {} bytes, {}.{:09}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

PlacesOfFile::PlacesOfFile(EntryRange range, std::uint64_t batch, std::vector<Permutation> after,
                           std::string text)
    : IndexPlaces(range.count, batch),
      range_(std::move(range)),
      after_(std::move(after)),
      text_(std::move(text)) {
  for (Permutation& map : after_) {
    if (const auto* const index = std::get_if<Indexed>(&map)) map = index->redirected(Direction::scatter);
  }
  file_.reset(open(range_.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.is_open())
    fail(ErrorCode::file, detail::reading(range_.path.string()), io::error_text(errno),
         "a file that can be read");
  posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

void PlacesOfFile::read(std::uint64_t x, std::span<std::uint64_t> entries) const {
  const std::uint64_t width = range_.width;
  // Narrow entries are read into the end of the span, and widened from its begin.
  auto* const bytes = reinterpret_cast<std::byte*>(entries.data()) + entries.size() * (8 - width);
  const std::uint64_t wanted = entries.size() * width;
  const io::ReadAt read = io::read_at(file_.get(), {bytes, wanted}, range_.offset + x * width);
  if (read.bytes < wanted)
    fail(ErrorCode::file, detail::reading(range_.path.string()),
         read.error != 0 ? io::error_text(read.error) : "a file that was cut", "a file that can be read");
  const bool is_as_it_stands = width == 8 && !range_.is_swapped;  // one below 0 is a large one
  if (width == 4 && !range_.is_swapped) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::uint32_t entry = 0;
      std::memcpy(&entry, bytes + i * width, sizeof(entry));
      const bool is_negative = range_.is_signed && (entry >> 31) != 0;
      entries[i] = is_negative ? kNoPlace : entry;
    }
  } else if (!is_as_it_stands) {
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = number_at(bytes + i * width, range_);
  }
  for (const Permutation& map : after_) apply_to_each(map, entries, range_.count);
}

}  // namespace faro::file
