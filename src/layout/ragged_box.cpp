// A box is ragged where rows begin anywhere. Then vectors are those of the arrays, not of the rows, and a row
// lies in shared memory as far past a sector as in the input, whatever row it is: the steps of rows there are
// congruent to their strides modulo a sector's units, and so are all sums of them. (box_banks.cpp says why
// sectors, and not vectors.)
//
//     rows of 7 units, stride 27        | . . . a a a a | a a a - - - - |      27 = 3 mod 4: so is the step,
//     15 vectors of 4                      | - - b b b b b | b b - - - - - |      "-": neighbours, read and not used
#include <algorithm>
#include <cstdint>

#include "layout/box_search.hpp"
#include "rounding.hpp"

namespace faro::layout::detail {
namespace {

using faro::detail::ceil_div;

constexpr std::uint32_t kRaggedLeast = 32;  // bytes of a run

// Axes along which the runs of neighbouring boxes follow on in the output: the run's last where it is cut,
// then those of which a box has one index each, as long as the output has no gaps.
std::size_t chain_of(const StridedBox& box) {
  std::int64_t follows = 1;
  for (const int axis : box.out.run) {
    if (box.axes[at(axis)].out != follows) return 0;
    follows *= static_cast<std::int64_t>(box.axes[at(axis)].extent);
  }
  std::size_t chain = box.cut(box.out.run.back()) ? 1 : 0;
  for (std::size_t a = box.out.run.size(); a < box.axes.size(); ++a) {
    if (box.extent[a] > 1 || box.axes[a].out != follows) break;
    follows *= static_cast<std::int64_t>(box.axes[a].extent);
    ++chain;
  }
  return chain;
}

// Rows of the input, the first of a box, that the first units of a run of the output are in.
std::uint32_t rows_of_first(const StridedBox& box, std::uint32_t units) {
  std::uint32_t most = 0;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    std::uint32_t row = 0;
    std::uint32_t left = unit;
    std::uint32_t inner = 1;
    for (const int axis : box.out.run) {
      const std::uint32_t digit = left % box.extent[at(axis)];
      left /= box.extent[at(axis)];
      if (!contains(box.in.rest, axis)) continue;  // rest's axes are in the run's order
      row += digit * inner;
      inner *= box.extent[at(axis)];
    }
    most = std::max(most, row);
  }
  return most + 1;
}

// A sector that two runs share is written by the box where it begins, which reads what it lacks of the next:
// writing parts of sectors costs six times as much as whole ones (docs/notes/axes-experiments.md). For long
// runs whose first units are in many rows of the input, to read these costs more than to write parts.
void choose_halo(StridedBox& box) {
  const auto unit = static_cast<std::uint32_t>(box.unit_bytes);
  const std::uint32_t others = kBoxSector / unit - 1;
  std::uint32_t inner = 1;
  for (std::size_t i = 0; i + 1 < box.out.run.size(); ++i) inner *= box.extent[at(box.out.run[i])];
  const std::size_t last = at(box.out.run.back());
  const std::uint64_t left = box.axes[last].extent % box.extent[last];
  const std::uint64_t least = inner * (left == 0 ? box.extent[last] : left);
  if (least < others) return;
  box.chain = chain_of(box);
  if (box.chain == 0) return;
  const double without = shared_sectors_price(box);
  box.halo = others;
  box.halo_rows = rows_of_first(box, others);
  if (shared_sectors_price(box) < without) {
    box.out.lead += others;
    return;
  }
  box.halo = box.halo_rows = 0;
  box.chain = 0;
}

// Lanes take neighbouring rows of the output where those are neighbours in the input's run: as many as make a
// word, of single bytes two words, for then fewer lanes of a row meet in banks.
void choose_near(StridedBox& box) {
  constexpr std::uint32_t least = 4;
  const bool bytes = box.unit_bytes == 1 && box.triples == 1;
  const std::uint32_t wanted = bytes ? 2 * least : least;
  std::uint32_t together = 1;
  const std::size_t stays = box.triples > 1 ? 1 : 0;  // of both runs
  for (std::size_t i = 0; i < box.out.rest.size() && i + stays < box.in.run.size() && together < wanted;
       ++i) {
    if (box.out.rest[i] != box.in.run[i + stays]) break;
    together *= box.extent[at(box.in.run[i + stays])];
  }
  box.near = together >= wanted ? wanted : together >= least ? least : 1;
}

// A warp has whole rows of the output, `near` at a time, or pieces of few long ones.
void choose_ragged_stretch(StridedBox& box) {
  constexpr std::uint32_t warp = 32;
  const std::uint32_t lanes = warp / box.near;
  const std::uint32_t warps = box.threads / warp;
  const auto vector = static_cast<std::uint32_t>(box.out.vector);
  const auto stretch =
      static_cast<std::uint32_t>(ceil_div(box.out.units + box.out.lead, std::uint64_t{vector} * lanes));
  const auto rows =
      static_cast<std::uint32_t>(ceil_div(box.units() / box.out.units, std::uint64_t{box.near}));
  box.out.pieces = 1;
  if (rows < 2 * warps) box.out.pieces = std::min(stretch, (2 * warps + rows - 1) / rows);
  box.out.spread = static_cast<int>(ceil_div(stretch, box.out.pieces));
  const auto spread = static_cast<std::uint32_t>(box.out.spread);
  box.out.pieces = (stretch + spread - 1) / spread;
  box.out.pairs = lanes;
  // A thread has several vectors of rows that are longer than a block is wide.
  box.in.spread = static_cast<int>(
      ceil_div(box.in.units + box.in.lead, static_cast<std::uint64_t>(box.in.vector) * box.threads));
}

// Runs without pads, rows congruent to their strides.
void make_ragged_parts(StridedBox& box) {
  const auto vector = static_cast<std::uint32_t>(box.in.vector);
  const auto out_vector = static_cast<std::uint32_t>(box.out.vector);
  box.clean = false;
  box.parts.reserve(2 * box.axes.size());
  for (const int axis : box.in.run) {
    if (box.extent[at(axis)] > 1) box.parts.push_back({.axis = axis, .extent = box.extent[at(axis)]});
  }
  // As kernels::ragged_residues().
  const std::uint32_t sector =
      box.unit_bytes == 1 ? kBoxVector : kBoxSector / static_cast<std::uint32_t>(box.unit_bytes);
  std::uint32_t gap = 2 * (vector - 1);
  const auto push = [&](int axis, std::uint32_t extent, std::uint32_t step) {
    if (extent == 1) return;
    const auto stride = static_cast<std::uint32_t>(box.axes[at(axis)].in * step) % sector;
    box.parts.push_back({.axis = axis,
                         .extent = extent,
                         .step = step,
                         .pad = true,
                         .gap = gap,
                         .residue = stride,
                         .modulus = sector});
    gap = 0;
  };
  // A vector holds some elements of three units and a part of one, so that lanes take rows 0, 5, 10, 16, 21
  // ..., of which every third is in one bank but for a pad after each eighth.
  constexpr std::uint32_t of_banks = 8;
  const bool triples = box.triples > 1 && box.out.run.size() > 1;
  const int fastest = triples ? box.out.run[1] : box.out.run.front();
  const std::uint32_t grain = triples ? of_banks : out_vector;
  for (const int axis : box.in.rest) {
    const std::uint32_t extent = box.extent[at(axis)];
    if (axis == fastest && extent % grain == 0) {
      push(axis, grain, 1);
      push(axis, extent / grain, grain);
    } else {
      push(axis, extent, 1);
    }
  }
}

}  // namespace

// Where runs have no gaps, and vectors of rows do not cover whole sectors of the output.
bool suits_ragged(const BoxSearch& search, const StridedBox& box) {
  const auto unit = static_cast<std::uint32_t>(box.unit_bytes);
  if (!search.limits.ragged || unit == kBoxVector || box.words > 1 || box.in.run.empty()) return false;
  const std::uint32_t most =
      box.triples > 1 ? std::min(kTriplesMost, search.limits.ragged_bytes) : search.limits.ragged_bytes;
  if (search.bytes64(box.units()) + ragged_list_bytes(box) > most ||
      search.bytes(box.in.units) < kRaggedLeast || search.bytes(box.out.units) < kRaggedLeast)
    return false;
  if (box.in.contiguous < box.in.units || box.out.contiguous < box.out.units) return false;
  if (box.triples > 1) return true;
  const bool by_vectors = box.in.vector * box.unit_bytes == static_cast<int>(kBoxVector) &&
                          box.out.vector * box.unit_bytes == static_cast<int>(kBoxVector);
  return !by_vectors || search.bytes64(box.out.alignment) % kBoxSector != 0;
}

int triples_of(const BoxSearch& search, const StridedBox& box) {
  constexpr std::uint32_t units = 3;
  if (!search.limits.triples || box.unit_bytes > 2 || box.in.run.empty()) return 1;
  const int stays = box.out.run.front();
  const StridedAxis& axis = box.axes[at(stays)];
  if (stays != box.in.run.front() || axis.in != 1 || axis.out != 1) return 1;
  return axis.extent % units == 0 && box.extent[at(stays)] % units == 0 ? int{units} : 1;
}

void make_ragged(StridedBox& box) {
  const auto unit = static_cast<std::uint32_t>(box.unit_bytes);
  box.ragged = true;
  box.in.vector = static_cast<int>(kBoxVector / unit);
  box.in.lead = static_cast<std::uint32_t>(box.in.vector) - 1;
  box.out.vector = box.in.vector;
  box.out.lead = kBoxSector / unit - 1;
  choose_halo(box);
  choose_near(box);
  choose_ragged_stretch(box);
  make_ragged_parts(box);
}

}  // namespace faro::layout::detail
