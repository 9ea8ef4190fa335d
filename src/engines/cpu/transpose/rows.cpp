#include "engines/cpu/transpose/rows.hpp"

#include <algorithm>
#include <cstring>

#include "engines/cpu/element_width.hpp"
#include "engines/cpu/plane_transpose.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{128} << 10;  // of a stretch, in the second-level cache
constexpr std::uint64_t kRowStageBytes = 8192;
constexpr std::uint64_t kStageWidthBytes = 128;
constexpr std::uint64_t kMostRuns = 64;
using faro::detail::kLeastRun;

// Moves `count` elements between consecutive places and places m apart, round and round a row of n. Four
// walks, each four steps at a time, so that none waits for another's sum.
template <Shuffle kDirection, typename Width>
void walk(Width width, const kernels::C2rShape& shape, std::uint64_t place, const std::byte* from,
          std::byte* to) {
  constexpr std::uint64_t kWalks = 4;
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t end = shape.n * bytes;
  const std::uint64_t step = shape.m * bytes;
  const auto past = [end](std::uint64_t at, std::uint64_t by) {
    const std::uint64_t sum = at + by;
    return sum < end ? sum : sum - end;
  };
  const auto move = [&](std::uint64_t run, std::uint64_t at) {
    if constexpr (kDirection == Shuffle::c2r) {
      width.move(from + run, to + at);
    } else {
      width.move(from + at, to + run);
    }
  };
  std::uint64_t at[kWalks];
  at[0] = place * bytes;
  for (std::uint64_t k = 1; k < kWalks; ++k) at[k] = past(at[k - 1], step);
  const std::uint64_t leap = past(past(step, step), past(step, step));
  std::uint64_t t = 0;
  for (; t + kWalks <= shape.b; t += kWalks) {
    for (std::uint64_t k = 0; k < kWalks; ++k) {
      move((t + k) * bytes, at[k]);
      at[k] = past(at[k], leap);
    }
  }
  for (std::uint64_t k = 0; t < shape.b; ++t, ++k) move(t * bytes, at[k]);
}

// What a transposition in registers leaves of some runs: those past whole registers of places.
std::uint64_t in_registers(std::uint64_t element_bytes, std::uint64_t runs) {
  constexpr std::uint64_t kPlaneBytes = 16;
  if (!transposes_in_registers(element_bytes)) return 0;
  const std::uint64_t side = kPlaneBytes / element_bytes;
  return runs / side * side;
}

// Runs, one after another, to places side by side, wraps apart. A run at a time where registers do not serve.
void turn_to_wraps(std::uint64_t element_bytes, const PlaneIn& runs, std::uint64_t count,
                   std::uint64_t length, const PlaneOut& wraps) {
  const std::uint64_t done = in_registers(element_bytes, count);
  if (done != 0) transpose_plane(element_bytes, runs, done, length, wraps);
  with_width(element_bytes, [&](auto width) {
    for (std::uint64_t run = done; run < count; ++run) {
      const std::byte* from = runs.data + run * runs.stride_bytes;
      std::byte* to = wraps.data + run * width.bytes();
      for (std::uint64_t t = 0; t < length; ++t, from += width.bytes(), to += wraps.stride_bytes)
        width.move(from, to);
    }
  });
}
void turn_to_runs(std::uint64_t element_bytes, const PlaneIn& wraps, std::uint64_t count,
                  std::uint64_t length, const PlaneOut& runs) {
  const std::uint64_t done = in_registers(element_bytes, count);
  if (done != 0) transpose_plane(element_bytes, wraps, length, done, runs);
  with_width(element_bytes, [&](auto width) {
    for (std::uint64_t run = done; run < count; ++run) {
      const std::byte* from = wraps.data + run * width.bytes();
      std::byte* to = runs.data + run * runs.stride_bytes;
      for (std::uint64_t t = 0; t < length; ++t, from += wraps.stride_bytes, to += width.bytes())
        width.move(from, to);
    }
  });
}

// What the next block will need: m runs and as many wraps are more streams than the processor follows.
void fetch_rows(const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(from + at, 1, 2);
}

}  // namespace

RowShuffle::RowShuffle(std::uint64_t m, std::uint64_t n, std::uint64_t element_bytes, Shuffle direction)
    : shape_(kernels::make_c2r_shape(m, n)), element_bytes_(element_bytes), direction_(direction) {}

void RowShuffle::move(std::uint64_t i, const RowPlace& from, const RowPlace& to) const {
  with_width(element_bytes_, [&](auto width) {
    for (std::uint64_t panel = 0; panel < shape_.c; ++panel) {
      const std::uint64_t first = i + panel < shape_.m ? i + panel : i + panel - shape_.m;
      const std::uint64_t run = panel * shape_.b * element_bytes_;
      if (direction_ == Shuffle::c2r) {
        walk<Shuffle::c2r>(width, shape_, first, from.panel(panel) + run, to.first);
      } else {
        walk<Shuffle::r2c>(width, shape_, first, from.first, to.panel(panel) + run);
      }
    }
  });
}

// Calls use(panel, part) for each part of the stretch that lies in one panel. A row that lies whole is one.
template <typename Use>
void RowShuffle::by_panels(const Stretch& stretch, bool whole, const Use& use) const {
  const std::uint64_t columns = whole ? shape_.n : shape_.b;
  for (std::uint64_t begin = stretch.begin; begin < stretch.end;) {
    const std::uint64_t panel = begin / columns;
    const std::uint64_t end = std::min(stretch.end, (panel + 1) * columns);
    use(panel, Stretch{.begin = begin, .end = end});
    begin = end;
  }
}

void RowShuffle::copy(const Stretch& stretch, const RowPlace& from, const RowPlace& to) const {
  by_panels(stretch, from.whole() && to.whole(), [&](std::uint64_t panel, const Stretch& part) {
    const std::uint64_t first = part.begin * element_bytes_;
    std::memcpy(to.panel(panel) + first, from.panel(panel) + first, (part.end - part.begin) * element_bytes_);
  });
}

// The m places of a wrap, each with a run of `length` elements; or fewer places.
struct RowShuffle::Block {
  Stretch places;
  std::uint64_t length;
  std::byte* row;     // whose element `place` is the place
  std::uint64_t end;  // of the places side by side that it is one of
};

void RowShuffle::move_stretch(std::uint64_t i, const Stretch& stretch, const RowPlace& from,
                              const RowPlace& to) const {
  const RowPlace& places = direction_ == Shuffle::c2r ? to : from;
  const RowPlace& runs = direction_ == Shuffle::c2r ? from : to;
  const std::uint64_t m = shape_.m;
  const std::uint64_t longest = std::clamp(kBlockBytes / (m * element_bytes_), kLeastRun,
                                           kRowStageBytes / (staged_runs() * element_bytes_));
  by_panels(stretch, places.whole(), [&](std::uint64_t panel, const Stretch& part) {
    for (std::uint64_t begin = part.begin; begin < part.end;) {
      const std::uint64_t left = part.end - begin;
      const Block block{.places = {.begin = begin, .end = begin + std::min(m, left)},
                        .length = std::clamp<std::uint64_t>(left / m, 1, longest),
                        .row = places.panel(panel),
                        .end = places.whole() ? shape_.n : (panel + 1) * shape_.b};
      move_block(i, block, runs);
      begin += (block.places.end - begin) * block.length;
    }
  });
}

// As many as make whole lines on the other side.
std::uint64_t RowShuffle::staged_runs() const {
  return std::min({kMostRuns, std::max<std::uint64_t>(1, kStageWidthBytes / element_bytes_), shape_.m});
}

// Place p and its run: elements run, run + 1, … of the other side belong to p, p + m, ….
RowShuffle::Run RowShuffle::run_of(std::uint64_t i, std::uint64_t place) const {
  const std::uint64_t begin = kernels::unshuffled_column(shape_, i, place);
  const std::uint64_t panel = kernels::c2r_panel(shape_, begin);
  return {.begin = begin, .panel = panel, .panel_end = (panel + 1) * shape_.b};
}
// That of place p + c.
RowShuffle::Run RowShuffle::next_in_panel(const Run& run) const {
  const std::uint64_t begin = run.begin + shape_.a_inverse;
  return {.begin = begin < run.panel_end ? begin : begin - shape_.b,
          .panel = run.panel,
          .panel_end = run.panel_end};
}

void RowShuffle::move_block(std::uint64_t i, const Block& block, const RowPlace& runs_place) const {
  alignas(64) std::byte stage[kRowStageBytes];
  Run runs[kMostRuns];
  const std::uint64_t bytes = element_bytes_;
  const std::uint64_t run_bytes = block.length * bytes;
  const std::uint64_t lap_bytes = shape_.m * bytes;
  const std::uint64_t most = staged_runs();
  for (std::uint64_t place = block.places.begin; place < block.places.end; place += most) {
    const std::uint64_t some = std::min(most, block.places.end - place);
    for (std::uint64_t k = 0; k < some; ++k) {
      if (k >= shape_.c) {
        runs[k] = next_in_panel(runs[k - shape_.c]);
      } else if (place > block.places.begin && shape_.c <= most) {
        runs[k] = next_in_panel(runs[most + k - shape_.c]);
      } else {
        runs[k] = run_of(i, place + k);
      }
    }
    // The same places of the next block.
    const bool another = place + 2 * shape_.m * block.length <= block.end;
    const std::uint64_t next = (place + shape_.m * block.length) * bytes;
    for (std::uint64_t t = 0; another && t < block.length; ++t) {
      fetch_rows(block.row + next + t * lap_bytes, some * bytes);
    }
    const PlaneIn stretch_in{block.row + place * bytes, lap_bytes};
    const PlaneOut stretch_out{block.row + place * bytes, lap_bytes};
    if (direction_ == Shuffle::r2c) turn_to_runs(bytes, stretch_in, some, block.length, {stage, run_bytes});
    for (std::uint64_t k = 0; k < some; ++k) {
      std::uint64_t run = runs[k].begin;
      std::byte* const row = runs_place.panel(runs[k].panel);
      std::byte* staged = stage + k * run_bytes;
      for (std::uint64_t left = block.length; left > 0;) {
        const std::uint64_t part = std::min(left, runs[k].panel_end - run);
        if (direction_ == Shuffle::c2r) {
          std::memcpy(staged, row + run * bytes, part * bytes);
        } else {
          std::memcpy(row + run * bytes, staged, part * bytes);
        }
        if (another && run + 2 * part <= shape_.n) fetch_rows(row + (run + part) * bytes, part * bytes);
        staged += part * bytes;
        left -= part;
        run = runs[k].panel_end - shape_.b;  // a panel's wraps close
      }
    }
    if (direction_ == Shuffle::c2r) turn_to_wraps(bytes, {stage, run_bytes}, some, block.length, stretch_out);
  }
}

}  // namespace faro::cpu
