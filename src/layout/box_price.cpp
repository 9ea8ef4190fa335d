// What a box costs: fitted to a few thousand of them (docs/notes/axes-experiments.md).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "layout/box_search.hpp"
#include "rounding.hpp"

namespace faro::layout::detail {
namespace {

using faro::detail::ceil_div;

constexpr std::uint32_t kRaggedBest = 26 << 10;
constexpr std::uint32_t kBoxLine = 128;
constexpr std::uint32_t kBoxGranule = 64;  // of device memory

// Bytes of the lines, or of what else has so many bytes, that a run touches beyond its own, over those: runs
// begin anywhere at multiples of the greatest power of two that divides their distance.
double lines_beyond(const BoxSearch& search, const BoxWalk& side, std::uint32_t line) {
  const auto bytes = static_cast<double>(search.bytes64(side.contiguous));
  const std::uint64_t aligned = std::gcd(search.bytes64(side.alignment), std::uint64_t{line});
  return static_cast<double>(line - aligned) / bytes;
}

// What a side's runs cost: lines that they do not fill, pairs of them, sectors, and that they begin at all,
// in bytes. Fitted to some thousand boxes of an H200 and an H100 (docs/notes/axes-experiments.md).
struct RunPrices {
  double lines;
  double pairs;
  double sectors;
  double granules;
  double begin;
};
constexpr RunPrices kReads{.lines = 0.077, .pairs = 0.03, .sectors = 0.38, .granules = 0.007, .begin = 0};
constexpr RunPrices kWrites{.lines = 0.005, .pairs = 0.01, .sectors = 1.74, .granules = 0.03, .begin = 0};
// Of narrower units, whose boxes take more instructions a byte: small ones of both sides' lines are faster.
constexpr RunPrices kWordWrites{.lines = 0.02, .pairs = 0.01, .sectors = 1.74, .granules = 0.03, .begin = 0};
constexpr RunPrices kPairWrites{.lines = 0.02, .pairs = 0.02, .sectors = 1.74, .granules = 0.03, .begin = 0};
// Of bytes, by the H100 alone: on an H200 they were not measured again.
constexpr RunPrices kByteReads{.lines = 0.55, .pairs = 0.1, .sectors = 0, .granules = 0, .begin = 0};
constexpr RunPrices kByteWrites{.lines = 0.15, .pairs = 0.05, .sectors = 0, .granules = 0, .begin = 8};
constexpr RunPrices kRaggedReads{.lines = 0.45, .pairs = 0.1, .sectors = 0, .granules = 0, .begin = 32};
constexpr RunPrices kRaggedWrites{.lines = 0.35, .pairs = 0.05, .sectors = 0, .granules = 0, .begin = 16};

const RunPrices& prices_of_writes(int unit_bytes) {
  switch (unit_bytes) {
    case 1:
      return kByteWrites;
    case 2:
      return kPairWrites;
    case 4:
      return kWordWrites;
    default:
      return kWrites;
  }
}

// What aligned boxes cost by their size.
struct SizePrice {
  double small;        // of the best size: below it, lanes are idle
  double doubled;      // of a box that is twice as large
  double threads = 0;  // less, with the threads of large boxes
};
SizePrice size_price(int unit_bytes) {
  switch (unit_bytes) {
    case 2:
      return {.small = 0.3125, .doubled = 0.05};
    case 4:
      return {.small = 0.375, .doubled = 0.0285, .threads = 0.02};
    case 8:
      return {.small = 0.25, .doubled = 0.003};
    default:
      return {.small = 0.25, .doubled = 0.0285};
  }
}

double run_price(const BoxSearch& search, const BoxWalk& side, const RunPrices& prices) {
  return prices.lines * lines_beyond(search, side, kBoxLine) +
         prices.pairs * lines_beyond(search, side, 2 * kBoxLine) +
         prices.sectors * lines_beyond(search, side, kBoxSector) +
         prices.granules * lines_beyond(search, side, kBoxGranule) +
         prices.begin / static_cast<double>(search.bytes64(side.contiguous));
}

// Lanes that have a part, over all.
double lanes_used(std::uint32_t slots, std::uint32_t rows, std::uint32_t threads) {
  const std::uint32_t groups = std::max(1U, threads / slots);
  const auto rounds = static_cast<double>(ceil_div(rows, groups));
  return static_cast<double>(slots) * rows / (threads * rounds);
}

}  // namespace

double shared_sectors_price(const StridedBox& box) {
  constexpr double part_bytes = 192;
  constexpr double halo_share = 0.3;  // most of it comes from the second-level cache
  const auto unit = static_cast<std::uint64_t>(box.unit_bytes);
  const std::uint64_t past = std::gcd(box.out.alignment * unit, std::uint64_t{kBoxSector});
  if (past == kBoxSector) return 0;
  double runs = 1;
  double halo = 0;
  if (box.halo > 0) {
    for (std::size_t a = box.out.run.size() - 1; a < box.out.run.size() + box.chain && a < box.axes.size();
         ++a) {
      runs *= static_cast<double>(ceil_div(box.axes[a].extent, std::uint64_t{box.extent[a]}));
    }
    halo = halo_share * box.halo_rows * box.in.units / static_cast<double>(box.units());
  }
  const double parts = part_bytes * (1 - static_cast<double>(past) / kBoxSector);
  return halo + parts / (static_cast<double>(box.out.contiguous * unit) * runs);
}

void price(const BoxSearch& search, StridedBox& box) {
  double idle = 1;  // boxes that are cut
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    const std::uint64_t extent = box.axes[a].extent;
    idle *= static_cast<double>(ceil_div(extent, std::uint64_t{box.extent[a]}) * box.extent[a]) /
            static_cast<double>(extent);
  }
  const std::uint64_t units = box.units();
  double cost = 1.0;
  const bool bytes = box.unit_bytes == 1;
  cost += run_price(search, box.in, box.ragged ? kRaggedReads : bytes ? kByteReads : kReads);
  const bool pairs = box.unit_bytes == 2;
  cost += run_price(search, box.out, box.ragged ? kRaggedWrites : prices_of_writes(box.unit_bytes));
  cost += (box.ragged ? 0.4 : bytes ? 0.3 : pairs ? 0.1 : 0.2) * (idle - 1);
  const std::uint32_t in_slots = box.in.slots();
  const std::uint32_t out_slots = box.out.slots() * box.near;
  const auto rows = [&](const BoxWalk& side) { return static_cast<std::uint32_t>(units / side.units); };
  const double in_access = 16.0 / (box.in.vector * box.unit_bytes);
  const double out_access = 16.0 / (box.out.vector * box.unit_bytes);
  // Vectors of ragged rows are not full, nor are all lanes of a warp that has whole rows.
  const auto full = [](const BoxWalk& side) {
    if (side.lead == 0 && side.pairs == 1) return 1.0;
    return static_cast<double>(side.units) /
           (static_cast<double>(side.slots()) * side.vector * side.spread * side.pieces);
  };
  const double in_lanes = full(box.in) * lanes_used(in_slots, rows(box.in), box.threads);
  const std::uint32_t out_rows = rows(box.out) / static_cast<unsigned>(box.words);
  const double out_lanes =
      full(box.out) * lanes_used(out_slots,
                                 static_cast<std::uint32_t>(ceil_div(out_rows, box.near)) * box.out.pieces,
                                 box.threads);
  const auto box_bytes = static_cast<double>(search.bytes64(units));
  const double best = box.ragged ? std::min(search.limits.best_bytes, kRaggedBest) : search.limits.best_bytes;
  if (box.ragged || bytes) {
    cost += (box.ragged ? 0.02 : 0.04) * (in_access / in_lanes + out_access / out_lanes);
    if (box.ragged) cost += 0.1 / box.unit_bytes;  // units are read one by one
    if (box_bytes > best) cost += 0.05 * (box_bytes / best - 1);
    if (box_bytes < best) cost += (box.ragged ? 0.02 : 0.01) * (best / box_bytes - 1);
  } else {
    // Small boxes begin and end often enough that reads and writes are always mixed; of those below 12 KiB,
    // or 8 KiB of wider units, lanes are idle. Of 8-byte units any size is about as fast. What vectors cost
    // that are not whole counts more than the lanes.
    const SizePrice size = size_price(box.unit_bytes);
    // Of what is read in less than vectors, lanes are idle in larger boxes.
    constexpr double small_of_units = 0.375;
    const double small = (box.in.spread > 1 ? std::max(size.small, small_of_units) : size.small) * best;
    // Rows that share sectors with the next, which other lanes write.
    constexpr double shared_rows = 0.3;
    if (box.near > 1 && box.out.units < box.out.contiguous && search.bytes(box.out.units) % kBoxSector != 0)
      cost += shared_rows;
    cost += 0.04 * (in_access + out_access - 2) + 0.005 * (in_access / in_lanes + out_access / out_lanes);
    if (box.threads > search.limits.threads) cost -= size.threads;
    cost += box_bytes > small ? size.doubled * std::log2(box_bytes / small) : 0.65 * (small / box_bytes - 1);
  }
  cost += shared_sectors_price(box);
  const auto boxes = static_cast<double>(box.boxes());
  const double many = search.limits.many_boxes;
  if (boxes < many) cost += 0.5 * (many / boxes - 1) * std::min(1.0, box_bytes / best);
  box.cost = cost;
}

}  // namespace faro::layout::detail
