#include "file/checksums.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
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
  const bool is_covered = covered_ == covered(0, total_bytes);
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
