#include "file/checksums.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "oracle.hpp"
#include "rounding.hpp"
#include "threads.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kChunk = 1024;  // elements whose places are worked out together
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;

std::uint64_t random_word() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Of the product of two words of 64 bits, both halves.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t mixed(std::uint64_t word) {
  word ^= word >> 32;
  word *= 0xd6e8feb86659fd93;
  return word ^ word >> 29;
}

}  // namespace

Destinations destinations_of(const Problem& problem) {
  return [&problem, elements = element_count(problem.permutation)](std::uint64_t first,
                                                                   std::span<std::uint64_t> places) {
    // A row may go on from one array of a batch to the next.
    while (!places.empty()) {
      const std::uint64_t array = first / elements;
      const std::uint64_t x = first % elements;
      const std::uint64_t count = std::min<std::uint64_t>(places.size(), elements - x);
      destinations(problem.permutation, x, places.first(count));
      for (std::uint64_t& place : places.first(count)) place += array * elements;
      places = places.subspan(count);
      first += count;
    }
  };
}

std::optional<Sources> sources_of(const Strided& view) {
  struct Axis {
    std::uint64_t extent;
    std::uint64_t out;
    std::int64_t in;
  };
  std::vector<Axis> axes;
  for (std::size_t a = 0; a < view.extents.size(); ++a) {
    if (view.extents[a] == 1) continue;
    if (view.out_strides[a] <= 0) return std::nullopt;
    axes.push_back({view.extents[a], static_cast<std::uint64_t>(view.out_strides[a]), view.in_strides[a]});
  }
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.out > b.out; });
  // Each axis steps past all that the faster ones reach.
  std::uint64_t reach = 0;
  for (std::size_t a = axes.size(); a-- > 0;) {
    if (axes[a].out <= reach) return std::nullopt;
    reach += (axes[a].extent - 1) * axes[a].out;
  }
  return [axes, in_offset = view.in_offset, out_offset = view.out_offset](std::uint64_t first,
                                                                          std::span<std::uint64_t> elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::uint64_t rest = first + i - out_offset;
      std::uint64_t from = in_offset;
      for (const Axis& axis : axes) {
        from += rest / axis.out * static_cast<std::uint64_t>(axis.in);
        rest %= axis.out;
      }
      elements[i] = from;
    }
  };
}

Checksums::Checksums(Sources sources, bool has_gaps, std::uint64_t element_bytes, std::string what,
                     int threads)
    : sources_(std::move(sources)),
      has_gaps_(has_gaps),
      width_(element_bytes),
      what_(std::move(what)),
      threads_(detail::thread_count(threads)),
      key_{random_word(), random_word()} {}

// By the places that the rows are read for: each source is looked up among the rows.
void Checksums::add_read_for(const Rows& rows, const Rows& out, const std::byte* buffer) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> begins;  // in the file, and the row's number
  begins.reserve(rows.count);
  for (std::uint64_t row = 0; row < rows.count; ++row) begins.emplace_back(rows.offset(row), row);
  std::sort(begins.begin(), begins.end());
  const std::uint64_t width = width_;
  std::uint64_t total = 0;
  std::atomic<bool> is_missing{false};
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(+ : total)
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(out.count); ++row) {
    const std::uint64_t begin = out.offset(static_cast<std::uint64_t>(row)) / width;
    std::array<std::uint64_t, kChunk> elements;
    for (std::uint64_t done = 0; done < out.bytes / width; done += kChunk) {
      const std::span<std::uint64_t> part =
          std::span(elements).first(std::min(kChunk, out.bytes / width - done));
      sources_(begin + done, part);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const std::uint64_t at = part[i] * width;
        auto found = std::upper_bound(begins.begin(), begins.end(), std::pair(at, ~std::uint64_t{0}));
        if (found == begins.begin() || at - (--found)->first >= rows.bytes) {
          is_missing = true;
          continue;
        }
        total += hash(begin + done + i, buffer + found->second * rows.bytes + (at - found->first));
      }
    }
  }
  read_ += is_missing ? 1 : total;  // another sum than that of what is written
}

Checksums::Checksums(Destinations destinations, std::uint64_t element_bytes, std::string what, int threads)
    : destinations_(std::move(destinations)),
      width_(element_bytes),
      what_(std::move(what)),
      threads_(detail::thread_count(threads)),
      key_{random_word(), random_word()} {}

std::uint64_t Checksums::hash(std::uint64_t place, const std::byte* element) const {
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < width_; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, element + at, std::min<std::uint64_t>(8, width_ - at));
    sum += mixed(fold(word ^ key_[0], mixed(place * kOdd + at + key_[1])));
  }
  return sum;
}

// `place` fills in the places of elements first .. first + n - 1.
template <typename Place>
std::uint64_t Checksums::sum(const Rows& rows, const std::byte* buffer, const Place& place) const {
  const std::uint64_t width = width_;
  const std::uint64_t row_elements = rows.bytes / width;
  const std::uint64_t chunks = detail::ceil_div(row_elements, kChunk);
  std::uint64_t total = 0;
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(+ : total)
  for (std::int64_t item = 0; item < static_cast<std::int64_t>(rows.count * chunks); ++item) {
    const std::uint64_t row = static_cast<std::uint64_t>(item) / chunks;
    const std::uint64_t begin = static_cast<std::uint64_t>(item) % chunks * kChunk;
    const std::uint64_t count = std::min(kChunk, row_elements - begin);
    std::array<std::uint64_t, kChunk> places;
    place(rows.offset(row) / width + begin, std::span(places).first(count));
    const std::byte* const data = buffer + row * rows.bytes + begin * width;
    for (std::uint64_t i = 0; i < count; ++i) total += hash(places[i], data + i * width);
  }
  return total;
}

void Checksums::add_read(const Rows& rows, const std::byte* buffer) {
  read_ += sum(rows, buffer, destinations_);
}

void Checksums::add_written(const Rows& rows, const std::byte* buffer) {
  written_ += sum(rows, buffer, [](std::uint64_t first, std::span<std::uint64_t> places) {
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = first + i;
  });
}

std::uint64_t Checksums::covered(std::uint64_t begin, std::uint64_t bytes) const {
  const auto g = [this](std::uint64_t at) { return mixed(fold(at * kOdd ^ key_[1], key_[0] | 1) + at); };
  return g(begin + bytes) - g(begin);
}

void Checksums::require_equal(std::uint64_t total_bytes) const {
  const bool is_covered = has_gaps_ || covered_ == covered(0, total_bytes);
  if (is_covered && read_ == written_) return;
  fail(ErrorCode::verification, "verify " + what_,
       is_covered ? "sums of what was read and of what was written that differ"
                  : "ranges that were written with gaps or overlaps",
       is_covered ? "equal ones" : "each byte of the output once",
       "no result was written; this is a bug in faro or a fault of this machine's memory, please report it "
       "with the command");
}

std::uint64_t checksum(std::span<const std::byte> bytes, int threads) {
  constexpr std::uint64_t kPart = std::uint64_t{1} << 20;
  const std::uint64_t parts = detail::ceil_div(bytes.size(), kPart);
  std::uint64_t total = bytes.size();
#pragma omp parallel for schedule(static) num_threads(detail::thread_count(threads)) reduction(+ : total)
  for (std::int64_t part = 0; part < static_cast<std::int64_t>(parts); ++part) {
    const std::uint64_t begin = static_cast<std::uint64_t>(part) * kPart;
    const std::span<const std::byte> piece = bytes.subspan(begin, std::min(kPart, bytes.size() - begin));
    total += XXH3_64bits_withSeed(piece.data(), piece.size(), begin);
  }
  return total;
}

}  // namespace faro::file
