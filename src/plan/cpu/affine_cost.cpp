#include "plan/cpu/affine_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace faro::detail {
namespace {

constexpr int kLineBits = 6;

int bits_of(std::uint64_t power_of_two) { return std::countr_zero(power_of_two); }

// How many of the vectors are independent.
int rank_of(std::vector<std::uint64_t> vectors) {
  int rank = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const std::uint64_t pivot = vectors[i];
    if (pivot == 0) continue;
    ++rank;
    const std::uint64_t lowest = pivot & (~pivot + 1);
    for (std::size_t k = i + 1; k < vectors.size(); ++k) {
      if ((vectors[k] & lowest) != 0) vectors[k] ^= pivot;
    }
  }
  return rank;
}

// The part of a tile's address bits that does not tell its lines' sets apart: of 1024, which second levels of
// 512 KiB and more have.
double crowding_of(const std::vector<f2::Word>& rows, int segment_bits, int unit_bits) {
  constexpr std::uint64_t kSetMask = (1U << 10) - 1;
  std::vector<std::uint64_t> places;
  for (int bit = kLineBits; bit < segment_bits + unit_bits; ++bit)
    places.push_back(std::uint64_t{1} << (bit - kLineBits));
  for (const f2::Word row : rows) places.push_back((row << unit_bits >> kLineBits) & kSetMask);
  if (rows.empty()) return 0;
  const int shared = static_cast<int>(places.size()) - rank_of(places);
  return std::min(1.0, static_cast<double>(shared) / static_cast<double>(rows.size()));
}

// What part of the tiles that lie in a page of one side does not lie in a page of the other side as well.
double apart_of(const Pass& pass, int unit_bits) {
  constexpr int kPageBits = 12;
  const layout::Tile& tile = pass.tile;
  std::vector<std::uint64_t> own = tile.source_rows;
  for (int bit = 0; bit < tile.segment_bits; ++bit) own.push_back(f2::unit(bit));
  std::vector<std::uint64_t> sources = own;
  std::vector<std::uint64_t> targets = own;
  std::vector<std::uint64_t> both = own;
  for (int bit = 0; bit < std::min(pass.map.bits(), kPageBits - unit_bits); ++bit) {
    sources.push_back(f2::unit(bit));
    targets.push_back(pass.map.inverse_matrix().column(bit));
    both.push_back(sources.back());
    both.push_back(targets.back());
  }
  const int in = rank_of(std::move(sources)) - tile.tile_bits();
  const int out = rank_of(std::move(targets)) - tile.tile_bits();
  const int all = rank_of(std::move(both)) - tile.tile_bits();
  return all == 0 ? 0 : 1 - static_cast<double>(in + out - all) / std::max(in, out);
}

// A curve of one kernel, from 0 elements on.
double time_of(const IndexCurve& curve, std::uint64_t elements) {
  const TimeCurve::Point& first = curve.curve.points.front();
  if (elements >= first.elements) return curve.curve.microseconds(elements);
  return first.microseconds * static_cast<double>(elements) / static_cast<double>(first.elements);
}

// The tile that was measured of that width and crowding whose exchange is nearest.
const IndexCurve* nearest_tile(const IndexCalibration& curves, IndexKernel kernel, int unit_bytes,
                               int exchanged, int run_bits) {
  const IndexCurve* found = nullptr;
  for (const IndexCurve& each : curves.curves) {
    if (each.kernel != kernel || each.element_bytes != unit_bytes || each.curve.empty() ||
        each.run_bits != run_bits)
      continue;
    if (found == nullptr || std::abs(each.chunk_bits - exchanged) < std::abs(found->chunk_bits - exchanged))
      found = &each;
  }
  return found;
}

std::optional<double> tile_us(const IndexCalibration& curves, const AffineWork& work) {
  const CpuTileFacts facts = tile_facts_on_cpu(work.pass, work.unit_bytes);
  const IndexKernel kernel = work.streamed ? IndexKernel::streamed_tile : IndexKernel::tile;
  const std::uint64_t units = work.pass.bytes_read / work.unit_bytes;
  const auto nearest = [&](int run_bits) {
    return nearest_tile(curves, kernel, static_cast<int>(work.unit_bytes), facts.exchanged, run_bits);
  };
  const auto time = [&](Crowded crowded, int apart) -> std::optional<double> {
    const IndexCurve* const beside = nearest(static_cast<int>(crowded));
    const IndexCurve* const curve = nearest(static_cast<int>(crowded) + apart);
    // What lies apart is told beside the same exchange.
    if (curve == nullptr || beside == nullptr || beside->chunk_bits != curve->chunk_bits) return std::nullopt;
    return time_of(*curve, units);
  };
  const auto crowded_us = [&](int apart) -> std::optional<double> {
    const auto none = time(Crowded::none, apart);
    if (!none) return std::nullopt;
    const double source = time(Crowded::source, apart).value_or(*none);
    const double target = time(Crowded::target, apart).value_or(*none);
    const double both = time(Crowded::both, apart).value_or(std::max(source, target));
    const double s = facts.source_crowding;
    const double t = facts.target_crowding;
    return (1 - s) * (1 - t) * *none + s * (1 - t) * source + (1 - s) * t * target + s * t * both;
  };
  const auto beside = crowded_us(0);
  const auto apart = crowded_us(kApart);
  return beside && apart ? *beside + facts.apart * (*apart - *beside) : beside;
}

// Between the lengths that were measured, straight in their logarithms.
std::optional<double> segments_us(const IndexCalibration& curves, const AffineWork& work) {
  const IndexKernel kernel = work.streamed ? IndexKernel::streamed_segments : IndexKernel::segments;
  const int run_bits = bits_of(work.pass.segment_bytes);
  const IndexCurve* below = nullptr;
  const IndexCurve* above = nullptr;
  for (const IndexCurve& each : curves.curves) {
    if (each.kernel != kernel || each.curve.empty()) continue;
    if (each.run_bits <= run_bits && (below == nullptr || each.run_bits > below->run_bits)) below = &each;
    if (each.run_bits >= run_bits && (above == nullptr || each.run_bits < above->run_bits)) above = &each;
  }
  if (below == nullptr) below = above;
  if (above == nullptr) above = below;
  if (below == nullptr) return std::nullopt;
  const double low = time_of(*below, work.pass.bytes_read);
  if (above->run_bits == below->run_bits) return low;
  const double along = static_cast<double>(run_bits - below->run_bits) / (above->run_bits - below->run_bits);
  return low + along * (time_of(*above, work.pass.bytes_read) - low);
}

}  // namespace

CpuTileFacts tile_facts_on_cpu(const Pass& pass, std::uint64_t unit_bytes) {
  const layout::Tile& tile = pass.tile;
  const int unit_bits = bits_of(unit_bytes);
  const int line = std::max(0, kLineBits - unit_bits);  // bits of a place in a line
  std::vector<std::uint64_t> from_elsewhere;
  for (int column = line; column < tile.tile_bits(); ++column)
    from_elsewhere.push_back(tile.local.column(column) & f2::low_mask(line));
  return {.exchanged = rank_of(std::move(from_elsewhere)),
          .source_crowding = crowding_of(tile.source_rows, tile.segment_bits, unit_bits),
          .target_crowding = crowding_of(tile.target_rows, tile.segment_bits, unit_bits),
          .apart = apart_of(pass, unit_bits)};
}

std::optional<double> affine_thread_us(const IndexCalibration& curves, const AffineWork& work) {
  return work.pass.kind == PassKind::tile ? tile_us(curves, work) : segments_us(curves, work);
}

std::optional<double> affine_us(const IndexCalibration& curves, const AffineWork& work, int threads) {
  const auto alone = affine_thread_us(curves, work);
  if (!alone || threads <= 1) return alone;
  constexpr double kShared = 0.95;  // threads share a cache's last level, and two of them a core
  constexpr std::uint64_t kWidth = 16;
  const auto copy =
      curves.predict_us(IndexKernel::copy, kWidth, std::max<std::uint64_t>(1, work.pass.bytes_read / kWidth));
  return std::max(*alone / std::pow(static_cast<double>(threads), kShared), copy.value_or(0));
}

std::optional<std::uint64_t> cached_bytes_by(const IndexCalibration& curves) {
  const auto longest = [&](IndexKernel kernel) {
    const IndexCurve* found = nullptr;
    for (const IndexCurve& each : curves.curves) {
      if (each.kernel == kernel && !each.curve.empty() &&
          (found == nullptr || each.run_bits > found->run_bits))
        found = &each;
    }
    return found;
  };
  const IndexCurve* const cached = longest(IndexKernel::segments);
  const IndexCurve* const streamed = longest(IndexKernel::streamed_segments);
  if (cached == nullptr || streamed == nullptr) return std::nullopt;
  constexpr double kNoise = 1.05;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 16;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  std::uint64_t bytes = kMost;
  while (bytes > kLeast && time_of(*cached, bytes) > kNoise * time_of(*streamed, bytes)) bytes -= bytes / 4;
  return bytes;
}

std::optional<Affine> tile_sample(int bits, const TileSample& sample) {
  const int line = std::max(0, kLineBits - sample.unit_bits);
  // As many rows as columns, where all of a line is exchanged; else no more than it takes.
  const int moved = sample.exchanged < line
                        ? sample.exchanged
                        : std::max(sample.exchanged, (sample.tile_bits - sample.unit_bits + 1) / 2);
  // Behind the longest segments, which would take them in; rows side by side where segments are short.
  constexpr int kLongestSegmentBits = 10;
  const int near = sample.exchanged < line ? std::max(moved, kLongestSegmentBits - sample.unit_bits)
                                           : std::max(line, moved);
  const int far = bits - moved;
  if (sample.exchanged > line || near + moved > far) return std::nullopt;
  std::vector<int> to(static_cast<std::size_t>(bits));
  std::iota(to.begin(), to.end(), 0);
  // Behind the bits that make segments as long as tiles hold them.
  const int free = sample.crowded == Crowded::both
                       ? std::min(near, std::max(moved, sample.tile_bits - sample.unit_bits - moved))
                       : near + moved;
  if (sample.apart) std::reverse(to.begin() + free, to.begin() + far);
  const auto place = [&](int from, int i) -> int& {
    return to[static_cast<std::size_t>(from) + static_cast<std::size_t>(i)];
  };
  for (int i = 0; i < moved; ++i) {
    switch (sample.crowded) {
      case Crowded::none:
        std::swap(place(0, i), place(near, i));
        break;
      case Crowded::both:
        std::swap(place(0, i), place(far, i));
        break;
      case Crowded::source:  // what is far comes together, what was together goes near
        place(far, i) = i;
        place(0, i) = near + i;
        place(near, i) = far + i;
        break;
      case Crowded::target:
        place(0, i) = far + i;
        place(far, i) = near + i;
        place(near, i) = i;
        break;
    }
  }
  return maps::permute_bits(to);
}

}  // namespace faro::detail
