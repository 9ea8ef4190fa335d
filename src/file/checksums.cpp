#include "file/checksums.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "oracle.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kChunk = 1024;  // elements whose places are worked out together
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kNoSource = ~std::uint64_t{0};

std::uint64_t random_word() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Both halves of the product of two words of 64 bits, by XOR.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Elements that lie together on both sides.
struct SumPart {
  std::uint64_t first = 0;  // in the file
  std::uint64_t at = 0;     // bytes from the begin of the buffer
  std::uint64_t elements = 0;
};

// Rows cut into parts of at most kChunk elements.
class SumParts {
 public:
  SumParts(const Rows& rows, std::uint64_t width)
      : rows_(rows), width_(width), of_row_(detail::ceil_div(rows.bytes / width, kChunk)) {
    for (const Rows::Range& range : rows.ranges) {
      const std::uint64_t elements = range.bytes / width;
      for (std::uint64_t done = 0; done < elements; done += kChunk)
        of_ranges_.push_back(part_of(range, done));
    }
  }
  std::uint64_t count() const { return rows_.ranges.empty() ? rows_.count * of_row_ : of_ranges_.size(); }
  SumPart operator[](std::uint64_t number) const {
    if (!rows_.ranges.empty()) return of_ranges_[number];
    return part_of(rows_.range(number / of_row_), number % of_row_ * kChunk);
  }

 private:
  SumPart part_of(const Rows::Range& range, std::uint64_t done) const {
    return {.first = range.offset / width_ + done,
            .at = range.at + done * width_,
            .elements = std::min(kChunk, range.bytes / width_ - done)};
  }

  const Rows& rows_;
  std::uint64_t width_;
  std::uint64_t of_row_;
  std::vector<SumPart> of_ranges_;
};

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

std::optional<Sources> gather_sources_of(const Problem& problem) {
  const auto* const index = std::get_if<Indexed>(&problem.permutation);
  if (index == nullptr || index->direction() != Direction::gather) return std::nullopt;
  return [index, count = index->count()](std::uint64_t first, std::span<std::uint64_t> elements) {
    std::uint64_t x = first % count;
    std::uint64_t begin = first - x;
    for (std::uint64_t& element : elements) {
      element = begin + index->entry(x);
      if (++x < count) continue;
      x = 0;
      begin += count;
    }
  };
}

namespace {

// An axis of a view, those with the longest strides of the output first.
struct SourceAxis {
  std::uint64_t extent;
  std::uint64_t out;
  std::int64_t in;
  std::uint64_t reach_behind = 0;  // how far the axes behind it reach in the output
};

// The axes in their order, with how far those behind each reach, where an element reaches `reach` itself.
void order_axes(std::vector<SourceAxis>& axes, std::uint64_t reach) {
  std::sort(axes.begin(), axes.end(), [](const SourceAxis& a, const SourceAxis& b) { return a.out > b.out; });
  for (std::size_t a = axes.size(); a-- > 0;) {
    axes[a].reach_behind = reach;
    reach += (axes[a].extent - 1) * axes[a].out;
  }
}

// Where place `rest` of what these axes reach with elements of `width` comes from: `from` becomes it, and
// `rest` the place within the element. Of an axis that interleaves with those behind it several indices may
// lead near enough; one of them leads there.
bool find_source(std::span<const SourceAxis> axes, std::uint64_t width, std::uint64_t& rest,
                 std::uint64_t& from) {
  if (axes.empty()) return rest < width;
  const SourceAxis& axis = axes.front();
  const std::uint64_t least =
      rest > axis.reach_behind ? detail::ceil_div(rest - axis.reach_behind, axis.out) : 0;
  const std::uint64_t most = std::min(rest / axis.out, axis.extent - 1);
  for (std::uint64_t index = least; index <= most; ++index) {
    std::uint64_t left = rest - index * axis.out;
    std::uint64_t found = from + index * static_cast<std::uint64_t>(axis.in);
    if (!find_source(axes.subspan(1), width, left, found)) continue;
    rest = left;
    from = found;
    return true;
  }
  return false;
}

}  // namespace

std::optional<Sources> sources_of(const Strided& view) {
  std::vector<SourceAxis> axes;
  for (std::size_t a = 0; a < view.extents.size(); ++a) {
    if (view.extents[a] == 1) continue;
    if (view.out_strides[a] <= 0) return std::nullopt;
    axes.push_back({view.extents[a], static_cast<std::uint64_t>(view.out_strides[a]), view.in_strides[a]});
  }
  order_axes(axes, 0);
  // How many indices at most may have to be tried for an element.
  constexpr double kMostTrials = 4096;
  double trials = 1;
  for (const SourceAxis& axis : axes)
    trials *= 1 + static_cast<double>(std::min(axis.reach_behind / axis.out, axis.extent - 1));
  if (trials > kMostTrials) return std::nullopt;
  return [axes, in_offset = view.in_offset, out_offset = view.out_offset](std::uint64_t first,
                                                                          std::span<std::uint64_t> elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::uint64_t from = in_offset;
      std::uint64_t place = first + i - out_offset;
      const bool is_found = find_source(axes, 1, place, from);
      elements[i] = is_found ? from : kNoSource;
    }
  };
}

Checksums::Checksums(Sources sources, bool has_gaps, std::uint64_t element_bytes, std::string what,
                     int threads)
    : sources_(std::move(sources)),
      has_gaps_(has_gaps),
      in_bytes_(element_bytes),
      out_bytes_(element_bytes),
      what_(std::move(what)),
      threads_(detail::thread_count(threads)),
      key_{random_word(), random_word()} {}

namespace {

// Finds a byte of the file in the buffer that rows were read into.
class RowFinder {
 public:
  explicit RowFinder(const Rows& rows) : rows_(rows), ranges_(rows.ranges) {
    if (rows.ranges.empty() && rows.digits.empty()) {
      for (std::uint64_t row = 0; row < rows.count; ++row) ranges_.push_back(rows.range(row));
    }
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Rows::Range& a, const Rows::Range& b) { return a.offset < b.offset; });
    std::uint64_t radix = 1;
    for (const Rows::Digit& digit : rows.digits) {
      axes_.push_back(
          {digit.extent, static_cast<std::uint64_t>(digit.stride), static_cast<std::int64_t>(radix)});
      radix *= digit.extent;
    }
    order_axes(axes_, rows.bytes - 1);
  }

  std::optional<std::uint64_t> operator()(std::uint64_t offset) const {
    if (!axes_.empty()) {
      const std::uint64_t first = rows_.begin + rows_.base;
      std::uint64_t place = offset - first;
      std::uint64_t row = 0;
      if (offset < first || !find_source(axes_, rows_.bytes, place, row)) return std::nullopt;
      return row * rows_.bytes + place;
    }
    auto found = std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                                  [](std::uint64_t a, const Rows::Range& b) { return a < b.offset; });
    if (found == ranges_.begin() || offset - (--found)->offset >= found->bytes) return std::nullopt;
    return found->at + (offset - found->offset);
  }

 private:
  const Rows& rows_;
  std::vector<Rows::Range> ranges_;  // in the order of the file
  std::vector<SourceAxis> axes_;  // instead: out is the stride, in the weight of the digit in a row's number
};

}  // namespace

void Checksums::change(std::shared_ptr<const ChangedNumbers> numbers) {
  numbers_ = std::move(numbers);
  oracle_.emplace(numbers_->arithmetic());
  out_bytes_ = in_bytes_ / numbers_->in_width() * numbers_->out_width();
}

std::uint64_t Checksums::added_element_bytes() const {
  return numbers_ == nullptr ? 0 : in_bytes_ / numbers_->in_width() * numbers_->added_width();
}

// By the places that the rows are read for: each source is looked up among the rows.
void Checksums::add_read_for(const TileWork& work, const std::byte* buffer) {
  const RowFinder find(work.in);
  const SumParts parts(work.out, out_bytes_);
  const std::byte* const added = buffer + work.in.total_bytes();
  std::uint64_t total = 0;
  std::atomic<bool> is_missing{false};
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(+ : total)
  for (std::int64_t p = 0; p < static_cast<std::int64_t>(parts.count()); ++p) {
    const SumPart part = parts[static_cast<std::uint64_t>(p)];
    std::array<std::uint64_t, kChunk> all;
    const std::span<std::uint64_t> elements = std::span(all).first(part.elements);
    sources_(part.first, elements);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto at = elements[i] == kNoSource ? std::nullopt : find(elements[i] * in_bytes_);
      if (at) {
        const std::byte* const other = added + (part.at / out_bytes_ + i) * added_element_bytes();
        total += hash_read(part.first + i, buffer + *at, other);
      } else {
        is_missing = true;
      }
    }
  }
  read_ += is_missing ? 1 : total;  // another sum than that of what is written
}

Checksums::Checksums(Destinations destinations, std::uint64_t element_bytes, std::string what, int threads)
    : destinations_(std::move(destinations)),
      in_bytes_(element_bytes),
      out_bytes_(element_bytes),
      what_(std::move(what)),
      threads_(detail::thread_count(threads)),
      key_{random_word(), random_word()} {}

// The hash of an element's bytes from `at` on.
std::uint64_t Checksums::hash(std::uint64_t place, std::uint64_t at, const std::byte* data,
                              std::uint64_t bytes) const {
  std::uint64_t sum = 0;
  for (std::uint64_t done = 0; done < bytes; done += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + done, std::min<std::uint64_t>(8, bytes - done));
    sum += mixed(fold(word ^ key_[0], mixed(place * kOdd + at + done + key_[1])));
  }
  return sum;
}

// `fill` gives number k of the element.
template <typename Fill>
std::uint64_t Checksums::hash_numbers(std::uint64_t place, const Fill& fill) const {
  constexpr std::uint64_t kTogether = 64;
  std::array<std::byte, 16 * kTogether> data;
  const std::uint64_t width = numbers_->out_width();
  const std::uint64_t count = out_bytes_ / width;
  std::uint64_t sum = 0;
  for (std::uint64_t first = 0; first < count; first += kTogether) {
    const std::uint64_t some = std::min(kTogether, count - first);
    for (std::uint64_t k = 0; k < some; ++k) {
      fill(first + k, data.data() + k * width);
      oracle_->settle(data.data() + k * width);
    }
    sum += hash(place, first * width, data.data(), some * width);
  }
  return sum;
}

std::uint64_t Checksums::hash_written(std::uint64_t place, const std::byte* element) const {
  if (numbers_ == nullptr) return hash(place, 0, element, out_bytes_);
  const std::uint64_t width = numbers_->out_width();
  return hash_numbers(place,
                      [&](std::uint64_t k, std::byte* to) { std::memcpy(to, element + k * width, width); });
}

std::uint64_t Checksums::hash_read(std::uint64_t place, const std::byte* element,
                                   const std::byte* added) const {
  if (numbers_ == nullptr) return hash(place, 0, element, in_bytes_);
  const ChangedNumbers& numbers = *numbers_;
  const std::uint64_t first = place * (out_bytes_ / numbers.out_width());
  return hash_numbers(place, [&](std::uint64_t k, std::byte* to) {
    oracle_->change(element + k * numbers.in_width(), added + k * numbers.added_width(),
                    numbers.scale_at(first + k), numbers.offset_at(first + k), to);
  });
}

void Checksums::add_read_from(const TileWork& work, const std::byte* buffer) {
  const SumParts parts(work.in, in_bytes_);
  const RowFinder find(work.added);
  const std::byte* const added = buffer + work.in.total_bytes();
  const std::uint64_t added_bytes = added_element_bytes();
  std::uint64_t total = 0;
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(+ : total)
  for (std::int64_t p = 0; p < static_cast<std::int64_t>(parts.count()); ++p) {
    const SumPart part = parts[static_cast<std::uint64_t>(p)];
    std::array<std::uint64_t, kChunk> places;
    destinations_(part.first, std::span(places).first(part.elements));
    for (std::uint64_t i = 0; i < part.elements; ++i) {
      // The sum of an element that another tile is to write is another.
      const std::uint64_t other = added_bytes == 0 ? 0 : find(places[i] * added_bytes).value_or(0);
      total += hash_read(places[i], buffer + part.at + i * in_bytes_, added + other);
    }
  }
  read_ += total;
}

void Checksums::add_written(const Rows& rows, const std::byte* buffer) {
  const SumParts parts(rows, out_bytes_);
  std::uint64_t total = 0;
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(+ : total)
  for (std::int64_t p = 0; p < static_cast<std::int64_t>(parts.count()); ++p) {
    const SumPart part = parts[static_cast<std::uint64_t>(p)];
    for (std::uint64_t i = 0; i < part.elements; ++i)
      total += hash_written(part.first + i, buffer + part.at + i * out_bytes_);
  }
  written_ += total;
}

void Checksums::require_alike() const {
  if (read_ == written_ && covered_ == 0) return;
  fail(ErrorCode::verification, "verify " + what_,
       covered_ == 0 ? "sums of what was read and of what is to be written that differ"
                     : "other ranges to be written than were read",
       "the same elements, each at its place",
       "this is a bug in faro or a fault of this machine's memory, please report it with the command");
}

std::uint64_t Checksums::covered(const Rows& rows) const {
  std::uint64_t sum = 0;
  for (std::uint64_t row = 0; row < rows.ranges_count(); ++row) {
    const Rows::Range range = rows.range(row);
    sum += covered(range.offset, range.bytes);
  }
  return sum;
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
  const int team = parts > 1 ? detail::thread_count(threads) : 1;
#pragma omp parallel for schedule(static) num_threads(team) reduction(+ : total) if (team > 1)
  for (std::int64_t part = 0; part < static_cast<std::int64_t>(parts); ++part) {
    const std::uint64_t begin = static_cast<std::uint64_t>(part) * kPart;
    const std::span<const std::byte> piece = bytes.subspan(begin, std::min(kPart, bytes.size() - begin));
    total += XXH3_64bits_withSeed(piece.data(), piece.size(), begin);
  }
  return total;
}

}  // namespace faro::file
