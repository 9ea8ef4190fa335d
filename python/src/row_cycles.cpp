#include "row_cycles.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <type_traits>

namespace faro::python {
namespace {

constexpr std::uint64_t kBegins = std::uint64_t{1} << 63;  // of a visit: the first of its cycle

// The rows of all cycles that move anything, cycle after cycle.
template <typename Sources>
class CycleWalk {
 public:
  CycleWalk(const Sources& sources, std::uint64_t rows)
      : sources_(sources), rows_(rows), met_((rows + kBits - 1) / kBits) {}

  // The next ones; `named` is told of each. Empty at the end.
  template <typename Named>
  void next(std::vector<std::uint64_t>& visits, std::uint64_t most, const Named& named) {
    visits.clear();
    while (visits.size() < most) {
      if (!inside_) {
        while (start_ < rows_ && (is_met(start_) || sources_(start_) == start_)) ++start_;
        if (start_ == rows_) return;
        row_ = start_++;
        inside_ = true;
        visits.push_back(row_ | kBegins);
      } else {
        visits.push_back(row_);
      }
      named(row_);
      met_[row_ / kBits] |= std::uint64_t{1} << row_ % kBits;
      row_ = sources_(row_);
      inside_ = !is_met(row_);
    }
  }

 private:
  static constexpr std::uint64_t kBits = 64;
  bool is_met(std::uint64_t row) const { return (met_[row / kBits] >> row % kBits & 1) != 0; }

  const Sources& sources_;
  std::uint64_t rows_;
  std::vector<std::uint64_t> met_;
  std::uint64_t start_ = 0;
  std::uint64_t row_ = 0;
  bool inside_ = false;  // a cycle, at row_
};

// Moves along cycles, visit by visit: each row to where the one before was.
template <typename Width>
class CycleMoves {
 public:
  CycleMoves(Width width, std::uint64_t pitch, std::byte* first)
      : width_(width), pitch_(pitch), first_(first), held_(width) {}

  void visit(std::uint64_t visit) {
    const std::uint64_t row = visit & ~kBegins;
    std::byte* const at = first_ + row * pitch_;
    if ((visit & kBegins) != 0) {
      end();
      std::memcpy(held_.data(), at, width_);
    } else {
      std::memcpy(before_, at, width_);
    }
    before_ = at;
  }
  void end() {
    if (before_ != nullptr) std::memcpy(before_, held_.data(), width_);
  }

 private:
  Width width_;
  std::uint64_t pitch_;
  std::byte* first_;
  std::byte* before_ = nullptr;
  std::vector<std::byte> held_;
};

// Widths of narrow rows as constants.
template <typename Use>
void with_row_width(std::uint64_t width, const Use& use) {
  switch (width) {
    case 3:
      return use(std::integral_constant<std::uint64_t, 3>());
    case 6:
      return use(std::integral_constant<std::uint64_t, 6>());
    case 12:
      return use(std::integral_constant<std::uint64_t, 12>());
    case 24:
      return use(std::integral_constant<std::uint64_t, 24>());
    default:
      return use(width);
  }
}

struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;
};

template <typename Sources>
void follow(const RowCycles& of, const Sources& sources, ByteRange columns, std::byte* data) {
  constexpr std::uint64_t kAhead = 256;     // rows
  constexpr std::uint64_t kFewRows = 4096;  // named once for all arrays
  const bool few = of.rows <= kFewRows;
  std::vector<std::uint64_t> visits;
  const auto nothing = [](std::uint64_t /*row*/) {};
  if (few) CycleWalk<Sources>(sources, of.rows).next(visits, of.rows, nothing);
  with_row_width(columns.end - columns.begin, [&](auto width) {
    for (std::uint64_t array = 0; array < of.outer; ++array) {
      std::byte* const first = data + array * of.rows * of.row_bytes + columns.begin;
      CycleMoves moves(width, of.row_bytes, first);
      if (few) {
        for (const std::uint64_t visit : visits) moves.visit(visit);
      } else {
        CycleWalk<Sources> walk(sources, of.rows);
        const auto fetch = [&](std::uint64_t row) { __builtin_prefetch(first + row * of.row_bytes, 1); };
        do {
          walk.next(visits, kAhead, fetch);
          for (const std::uint64_t visit : visits) moves.visit(visit);
        } while (!visits.empty());
      }
      moves.end();
    }
  });
}

template <typename Sources>
void permute_by(const RowCycles& of, const Sources& sources, std::byte* data) {
  constexpr std::uint64_t kLine = 64;
  constexpr std::uint64_t kLeastColumns = 2048;                     // bytes of a row that a thread moves
  constexpr std::uint64_t kLeastOfThread = std::uint64_t{1} << 20;  // bytes in all
  const std::uint64_t total = of.outer * of.rows * of.row_bytes;
  const std::uint64_t processors = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t parts = std::clamp<std::uint64_t>(
      std::min(of.row_bytes / kLeastColumns, total / kLeastOfThread), 1, processors);
  const std::uint64_t columns = (of.row_bytes / parts + kLine - 1) / kLine * kLine;
  std::vector<std::jthread> threads;
  for (std::uint64_t begin = columns; begin < of.row_bytes; begin += columns) {
    const ByteRange range{.begin = begin, .end = std::min(begin + columns, of.row_bytes)};
    threads.emplace_back([&of, &sources, range, data] { follow(of, sources, range, data); });
  }
  follow(of, sources, {.begin = 0, .end = std::min(columns, of.row_bytes)}, data);
}

}  // namespace

AffineSources::AffineSources(const std::vector<std::uint64_t>& columns, std::uint64_t complement)
    : tables_((columns.size() + 7) / 8), complement_(complement) {
  for (std::size_t bit = 0; bit < columns.size(); ++bit) {
    auto& table = tables_[bit / 8];
    const std::size_t own = std::size_t{1} << bit % 8;
    for (std::size_t i = 0; i < own; ++i) table[own + i] = table[i] ^ columns[bit];
  }
}

void permute_rows(const RowCycles& of, const ListedSources& sources, std::byte* data) {
  permute_by(of, sources, data);
}
void permute_rows(const RowCycles& of, const AffineSources& sources, std::byte* data) {
  permute_by(of, sources, data);
}

}  // namespace faro::python
