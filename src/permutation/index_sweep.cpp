#include "permutation/index_sweep.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "permutation/index_check.hpp"

namespace faro::detail {
// A candidate is worked out a block at a time, so that the loops over a block are a comparison and an
// addition or an XOR: the sweep waits for memory, whatever the form.
//
//     affine     pi(base + j) = pi(base) ^ table[j]        j below kBlock, base a multiple of kBlock
//     cyclic     pi(x + 1) = pi(x) + 1 or - 1              but where it wraps
//     axes       pi(x + 1) = pi(x) + stride                along the fastest axis; then the next one counts

namespace {

constexpr std::uint64_t kBlock = 256;
constexpr std::uint64_t kChunk = std::uint64_t{1} << 15;  // elements that a thread takes at once

// Calls body(begin, end) for the chunks, in ascending order as far as threads go.
template <typename Body>
void for_each_chunk(std::uint64_t count, int threads, const Body& body) {
  const int used = threads_for(count, threads);
  take_turns_at((count + kChunk - 1) / kChunk, used, 1, [&](std::uint64_t chunk, std::uint64_t) {
    const std::uint64_t begin = chunk * kChunk;
    body(begin, std::min(begin + kChunk, count));
  });
}

// Whether entries[0..length-1] are first, first + step, …; where not, the first that differs.
template <typename Word>
std::uint64_t progression_end(const Word* entries, std::uint64_t length, std::uint64_t first,
                              std::uint64_t step) {
  // Blocks without a branch inside, then the one that differs entry by entry.
  std::uint64_t i = 0;
  for (; i + kBlock <= length; i += kBlock) {
    std::uint64_t differs = 0;
    for (std::uint64_t j = 0; j < kBlock; ++j) differs |= entries[i + j] ^ (first + (i + j) * step);
    if (differs != 0) break;
  }
  while (i < length && entries[i] == first + i * step) ++i;
  return i;
}

class AffineChunk {
 public:
  explicit AffineChunk(const Affine& map) : map_(map) {
    for (std::uint64_t j = 0; j < kBlock; ++j) table_[j] = map(j) ^ map.complement();
  }

  // The first x in [begin, end) that differs, or end. Requires: begin is a multiple of kBlock.
  template <typename Word>
  std::uint64_t operator()(const Word* entries, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t x = begin; x < end; x += kBlock) {
      const std::uint64_t base = map_(x);
      const std::uint64_t length = std::min(kBlock, end - x);
      std::uint64_t differs = 0;
      for (std::uint64_t j = 0; j < length; ++j) differs |= entries[x + j] ^ base ^ table_[j];
      if (differs == 0) continue;
      std::uint64_t j = 0;
      while (entries[x + j] == (base ^ table_[j])) ++j;
      return x + j;
    }
    return end;
  }

 private:
  const Affine& map_;
  std::array<std::uint64_t, kBlock> table_{};
};

class AxesChunk {
 public:
  explicit AxesChunk(const Axes& map) : map_(map) {}

  template <typename Word>
  std::uint64_t operator()(const Word* entries, std::uint64_t begin, std::uint64_t end) const {
    const auto& shape = map_.shape();
    if (shape.empty()) return entries[begin] == 0 ? end : begin;
    const std::size_t fastest = shape.size() - 1;
    const auto& strides = map_.target_strides();
    // Coordinates of x without those of the fastest axis, and where the row of that axis begins.
    std::vector<std::uint64_t> at(shape.size());
    std::uint64_t rest = begin / shape[fastest];
    std::uint64_t column = begin % shape[fastest];
    std::uint64_t row = map_(begin - column);
    for (std::size_t axis = fastest; axis-- > 0;) {
      at[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    for (std::uint64_t x = begin; x < end;) {
      const std::uint64_t length = std::min(shape[fastest] - column, end - x);
      const std::uint64_t right =
          progression_end(entries + x, length, row + column * strides[fastest], strides[fastest]);
      if (right < length) return x + right;
      x += length;
      column = 0;
      for (std::size_t axis = fastest; axis-- > 0;) {
        row += strides[axis];
        if (++at[axis] < shape[axis]) break;
        row -= shape[axis] * strides[axis];
        at[axis] = 0;
      }
    }
    return end;
  }

 private:
  const Axes& map_;
};

// Images one after another: image(x), then those of x + 1, x + 2, … by next().
class AffineImages {
 public:
  explicit AffineImages(const Affine& map) : map_(map) {
    for (int k = 0; k < map.bits(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      step_[at] = (k == 0 ? 0 : step_[at - 1]) ^ map.matrix().column(k);
    }
  }
  std::uint64_t image(std::uint64_t x) {
    x_ = x;
    return y_ = map_(x);
  }
  std::uint64_t next() { return y_ ^= step_[static_cast<std::size_t>(f2::trailing_bit(~x_++))]; }

 private:
  const Affine& map_;
  std::array<std::uint64_t, f2::kMaxDimension + 1> step_{};
  std::uint64_t x_ = 0;
  std::uint64_t y_ = 0;
};
class ModularImages {
 public:
  explicit ModularImages(const Modular& map) : map_(map) {}
  std::uint64_t image(std::uint64_t x) { return y_ = map_(x); }
  std::uint64_t next() {
    const std::uint64_t below = map_.count - map_.factor;
    return y_ = y_ >= below ? y_ - below : y_ + map_.factor;
  }

 private:
  Modular map_;
  std::uint64_t y_ = 0;
};

class ModularChunk {
 public:
  explicit ModularChunk(const Modular& map) : map_(map) {}

  template <typename Word>
  std::uint64_t operator()(const Word* entries, std::uint64_t begin, std::uint64_t end) const {
    ModularImages images(map_);
    std::uint64_t target = images.image(begin);
    for (std::uint64_t x = begin; x < end; ++x, target = images.next()) {
      if (entries[x] != target) return x;
    }
    return end;
  }

 private:
  Modular map_;
};

class CyclicAxesChunk {
 public:
  explicit CyclicAxesChunk(const CyclicAxes& map) : map_(map) {}

  template <typename Word>
  std::uint64_t operator()(const Word* entries, std::uint64_t begin, std::uint64_t end) const {
    const auto& shape = map_.shape();
    if (shape.empty()) return entries[begin] == 0 ? end : begin;
    const std::size_t fastest = shape.size() - 1;
    const std::uint64_t stride = map_.target_strides()[fastest];
    const Cyclic& move = map_.moves()[fastest];
    const std::uint64_t step = move.reversed ? std::uint64_t{0} - stride : stride;
    const std::uint64_t wrap = move.reversed ? move.shift + 1 : move.count - move.shift;
    // Coordinates of x without those of the fastest axis, and what they add up to.
    std::vector<std::uint64_t> at(shape.size());
    std::uint64_t rest = begin / shape[fastest];
    std::uint64_t column = begin % shape[fastest];
    std::uint64_t row = 0;
    for (std::size_t axis = fastest; axis-- > 0;) {
      at[axis] = rest % shape[axis];
      row += target(axis, at[axis]);
      rest /= shape[axis];
    }
    for (std::uint64_t x = begin; x < end;) {
      const std::uint64_t stop = column < wrap ? wrap : shape[fastest];
      const std::uint64_t length = std::min(stop - column, end - x);
      const std::uint64_t right = progression_end(entries + x, length, row + move(column) * stride, step);
      if (right < length) return x + right;
      x += length;
      column += length;
      if (column < shape[fastest]) continue;
      column = 0;
      for (std::size_t axis = fastest; axis-- > 0;) {
        row -= target(axis, at[axis]);
        if (++at[axis] == shape[axis]) at[axis] = 0;
        row += target(axis, at[axis]);
        if (at[axis] != 0) break;
      }
    }
    return end;
  }

 private:
  std::uint64_t target(std::size_t axis, std::uint64_t digit) const {
    return map_.moves()[axis](digit) * map_.target_strides()[axis];
  }

  const CyclicAxes& map_;
};

template <typename Word, typename Images>
std::optional<std::vector<std::uint64_t>> mismatches_of(std::span<const Word> entries, const Images& images,
                                                        std::uint64_t most, int threads) {
  std::vector<std::uint64_t> found;
  std::atomic<std::uint64_t> number{0};
  std::mutex adding;
  for_each_chunk(entries.size(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    if (number.load(std::memory_order_relaxed) > most) return;
    Images own = images;
    std::vector<std::uint64_t> here;
    std::uint64_t target = own.image(begin);
    for (std::uint64_t x = begin; x < end; ++x, target = own.next()) {
      if (entries[x] == target) continue;
      here.push_back(x);
      if (here.size() > most) break;
    }
    if (here.empty()) return;
    number.fetch_add(here.size(), std::memory_order_relaxed);
    const std::lock_guard lock(adding);
    found.insert(found.end(), here.begin(), here.end());
  });
  if (number.load() > most) return std::nullopt;
  std::sort(found.begin(), found.end());
  return found;
}

template <typename Word, typename Chunk>
std::optional<std::uint64_t> swept(std::span<const Word> entries, const Chunk& chunk, int threads) {
  std::atomic<std::uint64_t> first{entries.size()};
  for_each_chunk(entries.size(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t seen = first.load(std::memory_order_relaxed);
    if (begin >= seen) return;
    const std::uint64_t found = chunk(entries.data(), begin, end);
    if (found == end) return;
    while (found < seen && !first.compare_exchange_weak(seen, found)) {
    }
  });
  const std::uint64_t found = first.load();
  return found == entries.size() ? std::nullopt : std::optional(found);
}

}  // namespace

template <typename Word>
std::optional<std::uint64_t> first_mismatch(std::span<const Word> entries, const Permutation& candidate,
                                            int threads) {
  if (const auto* const map = std::get_if<Affine>(&candidate)) {
    return swept(entries, AffineChunk(*map), threads);
  }
  if (const auto* const map = std::get_if<Cyclic>(&candidate)) {
    return swept(entries, CyclicAxesChunk(CyclicAxes({map->count}, {0}, {*map})), threads);
  }
  if (const auto* const map = std::get_if<Modular>(&candidate)) {
    return swept(entries, ModularChunk(*map), threads);
  }
  if (const auto* const map = std::get_if<CyclicAxes>(&candidate)) {
    return swept(entries, CyclicAxesChunk(*map), threads);
  }
  return swept(entries, AxesChunk(std::get<Axes>(candidate)), threads);
}

template <typename Word>
std::optional<std::vector<std::uint64_t>> mismatches(std::span<const Word> entries,
                                                     const Permutation& candidate, std::uint64_t most,
                                                     int threads) {
  if (const auto* const map = std::get_if<Affine>(&candidate))
    return mismatches_of(entries, AffineImages(*map), most, threads);
  return mismatches_of(entries, ModularImages(std::get<Modular>(candidate)), most, threads);
}

template <typename Word>
std::optional<std::uint64_t> repeat_mismatch(std::span<const Word> entries, std::uint64_t block,
                                             int threads) {
  const auto chunk = [block](const Word* all, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = std::max(begin, block); i < end; ++i) {
      if (std::uint64_t{all[i]} != std::uint64_t{all[i - block]} + block) return i;
    }
    return end;
  };
  return swept(entries, chunk, threads);
}

template <typename Word>
std::uint64_t together(std::span<const Word> entries, int threads) {
  std::atomic<std::uint64_t> common{entries.size()};
  for_each_chunk(entries.size(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = common.load(std::memory_order_relaxed);
    for (std::uint64_t i = begin; i < end && own > 1; ++i) {
      if (i > 0 && std::uint64_t{entries[i]} == std::uint64_t{entries[i - 1]} + 1) continue;
      own = std::gcd(own, std::gcd(i, std::uint64_t{entries[i]}));
    }
    std::uint64_t seen = common.load(std::memory_order_relaxed);
    while (!common.compare_exchange_weak(seen, std::gcd(seen, own))) {
    }
  });
  return common.load();
}

template <typename Word>
Locality locality_of(std::span<const Word> entries, std::uint64_t max_runs, std::uint64_t max_displacement,
                     int threads) {
  std::atomic<std::uint64_t> runs{0};
  std::atomic<std::uint64_t> displacement{0};
  for_each_chunk(entries.size(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t seen = displacement.load(std::memory_order_relaxed);
    if (seen > max_displacement && runs.load(std::memory_order_relaxed) > max_runs) return;
    std::uint64_t starts = begin == 0 ? 1 : 0;
    std::uint64_t furthest = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t target = entries[i];
      furthest = std::max(furthest, target > i ? target - i : i - target);
    }
    for (std::uint64_t i = std::max<std::uint64_t>(begin, 1); i < end; ++i) {
      starts += static_cast<std::uint64_t>(entries[i]) != std::uint64_t{entries[i - 1]} + 1 ? 1U : 0U;
    }
    runs.fetch_add(starts, std::memory_order_relaxed);
    while (seen < furthest && !displacement.compare_exchange_weak(seen, furthest)) {
    }
  });
  return {.runs = runs.load(), .displacement = displacement.load()};
}

template std::optional<std::uint64_t> first_mismatch(std::span<const std::uint32_t>, const Permutation&, int);
template std::optional<std::uint64_t> first_mismatch(std::span<const std::uint64_t>, const Permutation&, int);
template std::optional<std::vector<std::uint64_t>> mismatches(std::span<const std::uint32_t>,
                                                              const Permutation&, std::uint64_t, int);
template std::optional<std::vector<std::uint64_t>> mismatches(std::span<const std::uint64_t>,
                                                              const Permutation&, std::uint64_t, int);
template std::optional<std::uint64_t> repeat_mismatch(std::span<const std::uint32_t>, std::uint64_t, int);
template std::optional<std::uint64_t> repeat_mismatch(std::span<const std::uint64_t>, std::uint64_t, int);
template std::uint64_t together(std::span<const std::uint32_t>, int);
template std::uint64_t together(std::span<const std::uint64_t>, int);
template Locality locality_of(std::span<const std::uint32_t>, std::uint64_t, std::uint64_t, int);
template Locality locality_of(std::span<const std::uint64_t>, std::uint64_t, std::uint64_t, int);

}  // namespace faro::detail
