#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "faro/error.hpp"
#include "kernels/axes_params.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

using faro::detail::ceil_div;

constexpr std::uint64_t kWholeVector = kMovedBytes;
constexpr std::uint64_t kWholeWarp = 32;

// Arrays of a block, about as many bytes as are wanted; by sectors where that is not much less, so that
// blocks neither read nor write one another's; `most_arrays` at most.
std::uint64_t arrays_of_tile(std::uint64_t array_bytes, std::uint64_t most_arrays, std::uint64_t wanted) {
  constexpr std::uint64_t sector = 32;
  const std::uint64_t near = (wanted + array_bytes / 2) / array_bytes;
  const std::uint64_t most = std::max<std::uint64_t>(1, std::min(near, most_arrays));
  const std::uint64_t grain = sector / std::gcd(array_bytes, sector);
  return most < grain ? most : most / grain * grain;
}

// What a block's loop costs, in cycles of a multiprocessor: each unit is a read of shared memory, which as
// many warps wait for as meet in a bank, and some instructions, four a cycle. A unit's place is ten an axis;
// of a vector no longer than the fastest axis two such, and little each. A period needs them for a vector of
// each of its lanes, the list for an array's units.
double loop_cost(const AxesWholeParams& p, int unit_bytes) {
  constexpr int warps_sampled = 4;
  const std::uint64_t vectors = ceil_div(p.tile_bytes, kWholeVector);
  const std::uint64_t slots = std::min<std::uint64_t>(vectors, p.period);
  const auto warps = static_cast<double>(ceil_div(slots, kWholeWarp));
  const auto turns = static_cast<double>(ceil_div(vectors, slots));
  const double units = static_cast<double>(kWholeVector) / unit_bytes;
  const double read = axes_whole_congestion(p, unit_bytes, warps_sampled);
  const double place = 2.5 * static_cast<double>(p.axes) + 1;
  const bool in_rows = units > 2 && p.axis[0].extent.divisor() >= units;
  const double places = in_rows ? 2 * place + 0.75 * units : units * place;
  if (p.list_vectors > 0) {
    const std::uint64_t entries = std::uint64_t{p.list_vectors} * kWholeEntries;
    const auto listing = static_cast<double>(ceil_div(entries, kWholeWarp));
    return warps * (turns * (units * (2 + read) + 20)) + listing * (place + 2);
  }
  return warps * (turns * units * (0.75 + read) + places);
}

// The vectors after which units come from the same places, or a list of these, and the gaps of shared memory:
// what costs least.
void choose_period(AxesWholeParams& p, int unit_bytes) {
  const std::uint64_t vectors = ceil_div(p.tile_bytes, kWholeVector);
  const std::uint64_t least = std::lcm(std::uint64_t{p.array_bytes}, kWholeVector) / kWholeVector;
  AxesWholeParams best = p;
  double least_cost = std::numeric_limits<double>::infinity();
  const auto take = [&](const AxesWholeParams& tried) {
    const double cost = loop_cost(tried, unit_bytes);
    if (cost >= least_cost) return;
    least_cost = cost;
    best = tried;
  };
  for (const std::uint32_t pad_bits : {kWholeUnpadded, 7U, 8U, 9U}) {
    AxesWholeParams tried = p;
    tried.pad_bits = pad_bits;
    const std::uint64_t grain =
        pad_bits == kWholeUnpadded ? 1 : (std::uint64_t{1} << pad_bits) / kWholeVector;
    // A period is whole arrays, and whole gaps of what those have of the input.
    const std::uint64_t in_bytes = least * kWholeVector / p.array_bytes * p.in_array_bytes;
    const std::uint64_t pads = grain * kWholeVector / std::gcd(in_bytes, grain * kWholeVector);
    const std::uint64_t aligned = pad_bits == kWholeUnpadded ? least : least * pads;
    // As many periods as there are threads, or one; where not even two fit, none repeats.
    std::uint64_t period = std::max<std::uint64_t>(1, kWholeThreads / aligned) * aligned;
    if (2 * period > vectors) period = aligned;
    const bool repeats = 2 * period <= vectors;
    if (!repeats) period = vectors + 2;
    tried.period = static_cast<std::uint32_t>(period);
    const std::uint64_t step = period * kWholeVector / p.array_bytes * p.in_array_bytes;
    tried.period_step = repeats ? tried.place(static_cast<std::uint32_t>(step), whole_pad(unit_bytes)) : 0;
    take(tried);
    if (repeats || unit_bytes == kMovedBytes) continue;
    const std::uint32_t last = (p.array_units.divisor() - 1) / kWholeEntries;
    tried.list_vectors = last + static_cast<std::uint32_t>(whole_list_vectors(kMovedBytes / unit_bytes));
    take(tried);
  }
  p = best;
}

// The addresses of a warp's lanes at one unit: the turns that their words take, over the fewest.
double bank_turns(const std::array<std::uint32_t, kWholeWarp>& address, std::size_t lanes, int unit_bytes) {
  constexpr std::size_t banks = 32;
  std::array<std::array<std::uint32_t, kWholeWarp>, banks> words{};
  std::array<std::size_t, banks> number{};
  // Wide units are read by halves and quarters of a warp: as many words a turn.
  const std::size_t phase =
      std::min<std::size_t>(kWholeWarp, banks * 4 / static_cast<std::size_t>(unit_bytes));
  const std::size_t wide = std::max<std::size_t>(1, static_cast<std::size_t>(unit_bytes) / 4);
  std::size_t turns = 0;
  for (std::size_t first = 0; first < lanes; first += phase) {
    number.fill(0);
    std::size_t most = 0;
    for (std::size_t lane = first; lane < std::min(first + phase, lanes); ++lane) {
      for (std::size_t w = 0; w < wide; ++w) {
        const auto word = address[lane] / 4 + static_cast<std::uint32_t>(w);
        auto& there = words[word % banks];
        std::size_t& count = number[word % banks];
        const auto end = there.begin() + static_cast<std::ptrdiff_t>(count);
        if (std::find(there.begin(), end, word) == end) there[count++] = word;
        most = std::max(most, count);
      }
    }
    turns += most;
  }
  return static_cast<double>(turns) / static_cast<double>(ceil_div(lanes, phase));
}

}  // namespace

double axes_whole_congestion(const AxesWholeParams& p, int unit_bytes, int most_warps) {
  const auto unit = static_cast<std::uint32_t>(unit_bytes);
  const std::uint64_t vectors = ceil_div(p.tile_bytes, kWholeVector);
  const std::uint64_t slots = std::min<std::uint64_t>(vectors, p.period);
  const std::uint64_t warps = ceil_div(slots, kWholeWarp);
  const std::uint64_t step = std::max<std::uint64_t>(1, warps / static_cast<std::uint64_t>(most_warps));
  // A few reads of many warps tell enough.
  const std::uint32_t units = static_cast<std::uint32_t>(kMovedBytes) / unit;
  double turns = 0;
  double reads = 0;
  for (std::uint64_t warp = 0; warp < warps; warp += step) {
    for (std::uint32_t k = 0; k < units; ++k) {
      std::array<std::uint32_t, kWholeWarp> address{};
      const std::uint64_t lanes = std::min(kWholeWarp, slots - warp * kWholeWarp);
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        auto rest = static_cast<std::uint32_t>((warp * kWholeWarp + lane) * units) + k;
        std::uint32_t at = p.first;
        for (std::int32_t a = 0; a < p.axes; ++a) {
          std::uint32_t digit = rest;
          rest = p.axis[a].extent.divide(digit);
          at += digit * p.axis[a].step;
        }
        address[lane] = p.place(at + rest * p.in_array_bytes, whole_pad(unit_bytes));
      }
      turns += bank_turns(address, lanes, unit_bytes);
      ++reads;
    }
  }
  return turns / reads;
}

std::optional<AxesWholeParams> make_axes_whole(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                               const ViewFirst& first, std::uint32_t tile_bytes) {
  // Narrow units take more instructions a byte, which more arrays share the places of.
  const std::uint64_t usual_bytes = unit_bytes < 4 ? 32 << 10 : 16 << 10;
  constexpr std::uint64_t least_blocks = 128;
  constexpr std::uint64_t blocks = 512;  // where there are few arrays, blocks have fewer of them
  const std::size_t n = axes.size();
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  if (n < 2 || n - 1 > kMostAxes) return std::nullopt;
  // The output has no gaps; arrays follow one another in the input, with few.
  std::uint64_t count = 1;
  std::uint64_t low = 0;  // units of an array of the input before its first, and from there on
  std::uint64_t high = 1;
  for (std::size_t a = 0; a < n; ++a) {
    if (axes[a].out != static_cast<std::int64_t>(count)) return std::nullopt;
    if (a + 1 == n) break;
    if (axes[a].extent > kMostWholeBytes || count * axes[a].extent > kMostWholeBytes) return std::nullopt;
    count *= axes[a].extent;
    const std::uint64_t stride = static_cast<std::uint64_t>(axes[a].in < 0 ? -axes[a].in : axes[a].in);
    if (stride > kMostWholeBytes) return std::nullopt;
    (axes[a].in < 0 ? low : high) += (axes[a].extent - 1) * stride;
  }
  const std::uint64_t arrays = axes.back().extent;
  const std::uint64_t array_bytes = count * unit;
  if (axes.back().in < static_cast<std::int64_t>(low + high)) return std::nullopt;
  const std::uint64_t in_array_bytes = static_cast<std::uint64_t>(axes.back().in) * unit;
  // What lies between arrays, and is read along, is a fifth of the input at most.
  if (std::max(array_bytes, in_array_bytes) > kMostWholeBytes || in_array_bytes * 4 > array_bytes * 5)
    return std::nullopt;
  AxesWholeParams params{};
  params.out = {.begin = first.out * unit, .end = (first.out + arrays * count) * unit};
  params.in.begin = (first.in - low) * unit;
  params.in.end = params.in.begin + (arrays - 1) * in_array_bytes + (low + high) * unit;
  const bool as_usual = tile_bytes == 0;
  const std::uint64_t together = as_usual ? arrays_of_tile(array_bytes, arrays / blocks, usual_bytes)
                                          : arrays_of_tile(array_bytes, arrays, tile_bytes);
  params.tiles = ceil_div(arrays, together);
  if (as_usual && params.tiles < least_blocks) return std::nullopt;
  params.tile_bytes = static_cast<std::uint32_t>(together * array_bytes);
  params.in_tile_bytes = static_cast<std::uint32_t>(together * in_array_bytes);
  params.vector_bytes = kMovedBytes;
  params.array_units = device::Division32(static_cast<std::uint32_t>(count));
  params.array_bytes = static_cast<std::uint32_t>(array_bytes);
  params.in_array_bytes = static_cast<std::uint32_t>(in_array_bytes);
  params.array_span = device::Division32(params.in_array_bytes);
  params.used_bytes = static_cast<std::uint32_t>((low + high) * unit);
  params.first = static_cast<std::uint32_t>(low * unit);
  for (std::size_t a = 0; a + 1 < n; ++a) {
    params.axis[params.axes++] = {
        .extent = device::Division32(static_cast<std::uint32_t>(axes[a].extent)),
        .step = static_cast<std::uint32_t>(axes[a].in * static_cast<std::int64_t>(unit_bytes))};
  }
  choose_period(params, unit_bytes);
  const std::uint32_t end = params.place(params.in_tile_bytes + 2 * kWholeSector, whole_pad(unit_bytes));
  params.list = static_cast<std::uint32_t>(faro::detail::round_up(end, kMovedBytes));
  return params;
}

}  // namespace faro::kernels
