#include "file/cells.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kTagBytes = sizeof(std::uint16_t);
constexpr std::uint64_t kPlaceBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kLongRecord = 16;      // longer ones are moved once, by their numbers
constexpr std::uint64_t kPlacesAtOnce = 4096;  // that are asked for
constexpr std::uint64_t kAhead = 16;           // entries whose lines are fetched before they are stored

std::uint64_t payload_bytes(std::uint64_t record_bytes) {
  return record_bytes > kLongRecord ? sizeof(std::uint32_t) : record_bytes;
}

std::uint64_t entry_bytes(std::uint64_t record_bytes) {
  const std::uint64_t payload = payload_bytes(record_bytes);
  return payload <= sizeof(std::uint32_t) ? sizeof(std::uint64_t) : kTagBytes + payload;
}

}  // namespace

std::uint64_t sorting_bytes(std::uint64_t record_bytes) { return kPlaceBytes + entry_bytes(record_bytes); }

CellSort::CellSort(const Places& places, std::uint64_t record_bytes, int cell_bits,
                   std::uint64_t most_records, int threads, std::byte* memory)
    : places_(places),
      width_(record_bytes),
      cell_bits_(cell_bits),
      threads_(detail::thread_count(threads)),
      cells_(detail::ceil_div(places.count(), std::uint64_t{1} << cell_bits)),
      is_indirect_(record_bytes > kLongRecord),
      payload_bytes_(payload_bytes(record_bytes)),
      entry_bytes_(entry_bytes(record_bytes)),
      to_(reinterpret_cast<std::uint64_t*>(memory)),
      entries_(memory + most_records * kPlaceBytes),
      next_(static_cast<std::size_t>(threads_) * cells_),
      begin_(cells_ + 1) {
  FARO_CHECK(cell_bits <= 16 && most_records <= ~std::uint32_t{0});
}

bool CellSort::sort(std::uint64_t first, std::uint64_t records, const std::byte* x) {
  x_ = x;
  if (!find_places(first, records)) return false;
  number_cells();
  if (is_indirect_) {
    move_entries(records, std::integral_constant<std::size_t, sizeof(std::uint32_t)>());
  } else {
    detail::with_width(width_, [&](auto width) { move_entries(records, width); });
  }
  return true;
}

// The cell of each record, and how many of each thread's share go to each cell.
bool CellSort::find_places(std::uint64_t first, std::uint64_t records) {
  std::uint64_t* const to = to_;
  const std::uint64_t share = detail::ceil_div(records, static_cast<std::uint64_t>(threads_));
  const std::uint64_t count_of_places = places_.count();
  std::atomic<bool> is_wrong{false};
  std::exception_ptr error;  // nothing may be thrown out of a parallel region
#pragma omp parallel for schedule(static) num_threads(threads_)
  for (std::int64_t thread = 0; thread < threads_; ++thread) {
    std::uint32_t* const count = &next_[static_cast<std::uint64_t>(thread) * cells_];
    std::fill_n(count, cells_, 0U);
    const std::uint64_t end = std::min(records, (static_cast<std::uint64_t>(thread) + 1) * share);
    try {
      for (std::uint64_t i = static_cast<std::uint64_t>(thread) * share; i < end; i += kPlacesAtOnce) {
        const std::span<std::uint64_t> part(to + i, std::min(kPlacesAtOnce, end - i));
        places_.fill(first + i, part);
        for (const std::uint64_t place : part) {
          if (place >= count_of_places) {
            is_wrong = true;
            break;
          }
          ++count[place >> cell_bits_];
        }
        if (is_wrong) break;
      }
    } catch (...) {
#pragma omp critical(faro_places)
      error = std::current_exception();
    }
  }
  if (error != nullptr) std::rethrow_exception(error);
  return !is_wrong;
}

// Counts become the places of the first entries: cells one behind another, in each the threads'.
void CellSort::number_cells() {
  std::uint32_t at = 0;
  for (std::uint64_t cell = 0; cell < cells_; ++cell) {
    begin_[cell] = at;
    for (std::uint64_t thread = 0; thread < static_cast<std::uint64_t>(threads_); ++thread) {
      std::uint32_t& next = next_[thread * cells_ + cell];
      at += std::exchange(next, at);
    }
  }
  begin_[cells_] = at;
}

template <typename Width>
void CellSort::move_entries(std::uint64_t records, Width payload_bytes) {
  const std::uint64_t* const to = to_;
  const std::uint64_t share = detail::ceil_div(records, static_cast<std::uint64_t>(threads_));
  std::byte* const entries = entries_;
  const std::uint64_t tag_mask = (std::uint64_t{1} << cell_bits_) - 1;
#pragma omp parallel for schedule(static) num_threads(threads_)
  for (std::int64_t thread = 0; thread < threads_; ++thread) {
    std::uint32_t* const next = &next_[static_cast<std::uint64_t>(thread) * cells_];
    const std::uint64_t end = std::min(records, (static_cast<std::uint64_t>(thread) + 1) * share);
    for (std::uint64_t i = static_cast<std::uint64_t>(thread) * share; i < end; ++i) {
      // The line that an entry goes to, or nearly: the cells are more than a core's first cache has lines.
      if (i + kAhead < end)
        __builtin_prefetch(entries + next[to[i + kAhead] >> cell_bits_] * entry_bytes_, 1);
      std::byte* const entry = entries + std::uint64_t{next[to[i] >> cell_bits_]++} * entry_bytes_;
      const auto tag = static_cast<std::uint16_t>(to[i] & tag_mask);
      if (payload_bytes > sizeof(std::uint32_t)) {
        std::memcpy(entry, &tag, kTagBytes);
        std::memcpy(entry + kTagBytes, x_ + i * payload_bytes, payload_bytes);
        continue;
      }
      // One word, the payload in its last bytes.
      std::array<std::byte, sizeof(std::uint64_t)> word{};
      std::memcpy(word.data(), &tag, kTagBytes);
      const auto number = static_cast<std::uint32_t>(i);
      const std::byte* const payload =
          is_indirect_ ? reinterpret_cast<const std::byte*>(&number) : x_ + i * payload_bytes;
      const std::size_t bytes = std::min<std::size_t>(payload_bytes, sizeof(std::uint32_t));
      std::memcpy(word.data() + word.size() - bytes, payload, bytes);
      std::memcpy(entry, word.data(), word.size());
    }
  }
}

CellOrder::CellOrder(int cell_bits)
    : by_entry_(std::uint64_t{1} << cell_bits), by_low_(std::uint64_t{1} << cell_bits) {}

}  // namespace faro::file
