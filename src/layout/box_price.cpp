// What a box costs: fitted to a few thousand of them (docs/notes/axes-experiments.md).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

#include "layout/box_search.hpp"
#include "rounding.hpp"

namespace faro::layout::detail {
namespace {

using faro::detail::ceil_div;

constexpr std::uint32_t kRaggedBest = 26 << 10;
constexpr std::uint32_t kBoxLine = 128;
constexpr std::uint32_t kBoxGranule = 64;  // of device memory
constexpr double kPartBytes = 192;         // what writing a part of a sector costs

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
// Prices of narrower units, whose boxes take more instructions a byte: small ones of both sides' lines are
// faster.
constexpr RunPrices kWordWrites{.lines = 0.02, .pairs = 0.01, .sectors = 1.74, .granules = 0.03, .begin = 0};
constexpr RunPrices kPairWrites{.lines = 0.02, .pairs = 0.02, .sectors = 1.74, .granules = 0.03, .begin = 0};
// Prices of bytes, by the H100 alone: on an H200 they were not measured again.
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

// What a ragged box costs: its units are read one by one, by a list of places that is made for each box, and
// written by warps of whole rows. Fitted to 1100 drawn boxes of an H200 (docs/notes/axes-experiments.md).
struct RaggedPrices {
  double units;   // of the best box
  double idle;    // for lanes that have no part of a row
  double parts;   // for sectors that rows of one box share
  double listed;  // for a list of places as long as the box
  double turn;    // for lanes that meet in a bank
};
const RaggedPrices& ragged_prices(int unit_bytes, int triples) {
  static constexpr RaggedPrices of[] = {{1.5, 0.7, 0.25, 4.1, 0.9},
                                        {0.85, 0.5, 0.33, 1.4, 0.3},
                                        {0.86, 0.23, 0.37, 0.72, 0.08},
                                        {0.91, 0.2, 0.48, 0.15, 0.02}};
  static constexpr RaggedPrices of_triples[] = {{0.95, 0.4, 0.35, 1.0, 0.6}, {0.9, 0.3, 0.35, 0.8, 0.2}};
  if (triples > 1) return of_triples[unit_bytes - 1];
  return of[std::countr_zero(static_cast<unsigned>(unit_bytes))];
}

// `runs`: what the runs of such a box would cost that is aligned.
double ragged_price(const BoxSearch& search, const StridedBox& box, double runs, double out_lanes) {
  constexpr double of_runs = 0.7;
  constexpr double small = 0.17;
  constexpr double large = 0.02;
  constexpr double short_rows = 0.6;  // that are read, of less than a line
  constexpr double threads = 0.06;    // less, with those of large boxes
  const RaggedPrices& prices = ragged_prices(box.unit_bytes, box.triples);
  const double entries =
      static_cast<double>(box.out.units + box.halo) / static_cast<double>(box.units() * box.triples);
  double cost =
      prices.units + of_runs * (runs - 1) + prices.idle * (1 / out_lanes - 1) + prices.listed * entries;
  if (box.out.contiguous > box.out.units) {
    const std::uint32_t row = search.bytes(box.out.units);
    cost +=
        prices.parts * kPartBytes * (1 - std::gcd(row, kBoxSector) / static_cast<double>(kBoxSector)) / row;
  }
  if (box.triples > 1) {
    // By 44 drawn boxes of an H200: those that are one run of a side, and those whose lanes have no
    // neighbours.
    constexpr std::uint32_t long_run = 4096;
    constexpr double one_run = 0.7;
    constexpr double alone = 0.4;
    if (search.bytes(std::max(box.in.units, box.out.units)) > long_run) cost += one_run;
    if (box.near == 1) cost += alone;
  }
  const double row_lines = static_cast<double>(search.bytes64(box.in.units)) / kBoxLine;
  if (row_lines < 1) cost += short_rows * (1 - row_lines);
  if (box.threads > search.limits.threads) cost -= threads;
  const auto box_bytes = static_cast<double>(search.bytes64(box.units()));
  const double best = std::min(search.limits.best_bytes, kRaggedBest);
  return cost + (box_bytes > best ? large * (box_bytes / best - 1) : small * (best / box_bytes - 1));
}

// Whether both sides' accesses are whole vectors.
bool is_of_vectors(const StridedBox& box) {
  const auto wide = [&](const BoxWalk& side) {
    return static_cast<std::uint32_t>(side.vector * box.unit_bytes) == kBoxVector;
  };
  return wide(box.in) && wide(box.out);
}

// Whether vectors of single bytes cross lines, so that a thread works out where each byte lies.
bool cross_lines(const StridedBox& box) {
  return box.words == 1 && box.extent[at(box.out.run.front())] % static_cast<unsigned>(box.out.vector) != 0;
}

// What a box takes of a copy's time, from the price that it would have by the rules of vectors of wide units:
// at least so much, what lies beyond 1 by its weight, bytes of a copy for each block that begins, what is
// left empty of boxes that are cut, and how much of the blocks' begin memory hides. Fitted to 1,000 drawn
// shapes of an H200, and held against others (docs/notes/axes-experiments.md).
struct BoxKind {
  double least = 1;
  double weight = 1;
  double block_bytes = 0;
  double empty = 0;
  double hidden = 0;
};
const BoxKind& kind_of(const StridedBox& box) {
  static constexpr BoxKind usual{};
  static constexpr BoxKind vectors[] = {{1.07, 0.34, 5700, 0, 0.7}};
  static constexpr BoxKind crossing[] = {{3.2, 0, 8000, 0}};
  static constexpr BoxKind parts[] = {{1.14, 0.16, 4000, 0.6}, {1.07, 0.44, 2500, 0.45}, {1, 0.56, 0, 0}};
  static constexpr BoxKind units[] = {{3.2, 0, 12000, 2.4}, {2.2, 0, 9300, 1.15}, {1, 0.84, 0, 0}};
  static constexpr BoxKind ragged[] = {{1.28, 0.31, 5700, 0.45}, {1.11, 0.46, 5700, 0.27}};
  static constexpr BoxKind triples[] = {{1.22, 0.26, 6900, 0.5}, {1.09, 0.34, 4400, 0.5}};
  using Kinds = std::span<const BoxKind>;
  const auto of = [&](Kinds kinds) -> const BoxKind& {
    const auto width = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(box.unit_bytes)));
    return width < kinds.size() ? kinds[width] : usual;
  };
  if (box.ragged) return of(box.triples > 1 ? Kinds(triples) : ragged);
  if (is_of_vectors(box)) return of(cross_lines(box) ? Kinds(crossing) : vectors);
  return of(box.in.vector == 1 && box.out.vector == 1 ? units : parts);
}

// Lanes that have a part, over all.
double lanes_used(std::uint32_t slots, std::uint32_t rows, std::uint32_t threads) {
  const std::uint32_t groups = std::max(1U, threads / slots);
  const auto rounds = static_cast<double>(ceil_div(rows, groups));
  return static_cast<double>(slots) * rows / (threads * rounds);
}

}  // namespace

double shared_sectors_price(const StridedBox& box) {
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
  const double parts = kPartBytes * (1 - static_cast<double>(past) / kBoxSector);
  return halo + parts / (static_cast<double>(box.out.contiguous * unit) * runs);
}

// A turn more for each access costs boxes of whole vectors a third of a copy, others less; bytes bear one.
double price_of_turns(const StridedBox& box) {
  constexpr double of_vectors = 0.34;
  constexpr double of_narrow = 0.1;
  constexpr double borne_ragged = 1.34;
  const double weight = kind_of(box).weight;
  if (box.ragged)
    return weight * ragged_prices(box.unit_bytes, box.triples).turn *
           std::max(0.0, box.congestion - borne_ragged);
  const double borne = box.unit_bytes == 1 ? 2 : 1;
  if (!is_of_vectors(box)) return of_narrow * std::max(0.0, box.congestion - borne);
  return weight * of_vectors * std::max(0.0, box.congestion - borne);
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
  const double best = search.limits.best_bytes;
  if (box.ragged) {
    cost += 0.02 * (in_access / in_lanes + out_access / out_lanes) + shared_sectors_price(box);
    cost = ragged_price(search, box, cost, out_lanes);
  } else if (bytes) {
    cost += 0.04 * (in_access / in_lanes + out_access / out_lanes);
    cost += box_bytes > best ? 0.05 * (box_bytes / best - 1) : 0.01 * (best / box_bytes - 1);
  } else {
    // Small boxes begin and end often enough that reads and writes are always mixed; of those below 12 KiB,
    // or 8 KiB of wider units, lanes are idle. Of 8-byte units any size is about as fast. What vectors cost
    // that are not whole counts more than the lanes.
    const SizePrice size = size_price(box.unit_bytes);
    // Where less than vectors are read, lanes are idle in larger boxes.
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
  if (!box.ragged) cost += shared_sectors_price(box);
  const BoxKind& kind = kind_of(box);
  cost = kind.least + kind.weight * (cost - 1) + kind.empty * (idle - 1) +
         std::max(0.0, kind.block_bytes / box_bytes - kind.hidden);
  const auto boxes = static_cast<double>(box.boxes());
  const double many = search.limits.many_boxes;
  if (boxes < many) cost += 0.5 * (many / boxes - 1) * std::min(1.0, box_bytes / best);
  box.cost = cost;
}

}  // namespace faro::layout::detail
