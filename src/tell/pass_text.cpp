#include "tell/pass_text.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "plan/gpu/gpu_pass.hpp"
#include "plan/kernel_text.hpp"
#include "size_text.hpp"
#include "tell/reasons.hpp"

namespace faro::detail {
namespace {

using Text = MarginText;

// --- an affine map's tile

// One side of a tile.
std::string rows(const Pass& pass, std::span<const f2::Word> vectors) {
  if (vectors.empty()) return fmt::format("1 row of {}", size_text(pass.segment_bytes));
  return fmt::format("{} rows of {}, at sums (XOR) of {}", count_text(std::uint64_t{1} << vectors.size()),
                     size_text(pass.segment_bytes), steps(vectors));
}

// In place: the factor, the space whose cosets are its tiles, and which of them change places.
void add_factor(Text& text, const PlanFacts& plan, const PassFacts& facts) {
  const FactorFacts& factor = *facts.factor;
  text.whole_line("  factor", factor.text);
  text.line("", fmt::format("class {}; {}", factor.published_class,
                            factor.is_involution ? "an involution" : "not an involution"));
  if (!facts.pass->orbits) return;
  const layout::Tile& tile = facts.pass->tile;
  const std::string units = plan.units_per_element() > 1 ? "units" : "elements";
  const std::string bytes = size_text(plan.unit_bytes << tile.tile_bits());
  text.line("  space",
            tile.row_bits == 0
                ? fmt::format("T of dimension s = {}: a tile, x + T, is one segment of 2^s {}, {}",
                              tile.segment_bits, units, bytes)
                : fmt::format("T of dimension s + r = {} + {}: a tile, x + T, is 2^r segments of 2^s {}, "
                              "at sums (XOR) of {}; {}",
                              tile.segment_bits, tile.row_bits, units, steps(tile.source_rows), bytes));
  text.line("  orbits", orbits_text(*facts.pass, factor.resting_tiles));
}

void add_tile(Text& text, const PlanFacts& plan, const Pass& pass) {
  const layout::Tile& tile = pass.tile;
  const std::string unit = plan.units_per_element() > 1 ? "units" : "elements";
  if (pass.kind == PassKind::tile) {
    const int gamma = pass.map.rank_gamma(tile.segment_bits);
    text.line(
        "  tile",
        fmt::format("2^(s + r) = 2^({} + {}) {} = {}: segments of 2^s {}, and 2^r of them, where r is {}the "
                    "map's rank gamma, {}",
                    tile.segment_bits, tile.row_bits, unit, size_text(plan.unit_bytes << tile.tile_bits()),
                    unit, tile.row_bits == gamma ? "" : "more than ", gamma));
  }
  text.line("  reads", rows(pass, tile.source_rows));
  text.line("  writes", rows(pass, tile.target_rows));
  if (pass.placement) {
    text.line("  placement", "shared memory by an XOR of high bits onto banks");
  }
  if (tile.block_bits() == 0) return text.line("  blocks", "1");
  text.line("  blocks",
            fmt::format("{}{}; the first is written at {}", count_text(std::uint64_t{1} << tile.block_bits()),
                        pass.arrays == 1 ? "" : " for each of " + count_text(pass.arrays, "array"),
                        hex(tile.complement)));
  text.line("", fmt::format("block bits, low to high, step the source by {}", steps(tile.block_sources)));
  text.line("", fmt::format("and the target by {}", steps(tile.block_targets)));
}

// --- what others move

void add_moves(Text& text, const PassFacts& facts) {
  const Pass& pass = *facts.pass;
  text.line("  moves", fmt::format("reads {} of the {} and writes as much to the {}",
                                   size_text(pass.bytes_read), name(pass.source), name(pass.target)));
  std::string tables;
  for (const PassTable& table : pass.tables) {
    tables += fmt::format("{}{}, {}", tables.empty() ? "" : "; ", table.name, size_text(table.bytes));
  }
  if (!tables.empty()) text.line("  tables", tables);
  if (facts.box) {
    text.line("  box", box_text(*facts.box));
    text.line("  runs", runs_text(*facts.box));
  } else if (facts.plane_tile && facts.plane_tile->rows_stay) {
    text.line("  runs",
              fmt::format("rows of {}, which stay whole", size_text(facts.plane_tile->box.in_run_bytes)));
  } else if (facts.plane_tile) {
    text.line("  tile", box_text(facts.plane_tile->box, "tile", "tiles"));
    text.line("  runs", runs_text(facts.plane_tile->box));
  }
}

// --- how it is run

void add_launch(Text& text, const Launch& launch) {
  text.line("  kernel", kernel_text(launch));
  if (launch.tile) {
    text.line("", launch.tile->blocked ? "blocked in registers: shared memory is read a word at a time"
                                       : "plain: shared memory is read an element at a time");
  }
  std::string blocks = fmt::format("{} of {} threads", count_text(launch.blocks, "block"), launch.threads);
  blocks += launch.shared_bytes > 0 ? fmt::format(" and {} of shared memory", size_text(launch.shared_bytes))
                                    : " and no shared memory";
  if (launch.tile) {
    blocks += fmt::format("; at most {} registers a thread, so that a multiprocessor has them for {}",
                          registers_max(launch),
                          count_text(static_cast<std::uint64_t>(min_blocks(launch)), "block"));
  }
  if (launch.launches > 1) blocks += fmt::format(", in {} launches", count_text(launch.launches));
  text.line("  launch", blocks);
  if (!launch.unaligned_kernel.empty()) {
    text.line("  unaligned", "arrays that are not as aligned: " + launch.unaligned_kernel);
  }
  if (launch.tile != launch.unaligned_tile && launch.unaligned_tile) {
    text.line("  unaligned", fmt::format("arrays not aligned to {} bytes: {}", launch.vector_bytes,
                                         kernel_text(*launch.unaligned_tile)));
  }
}

void add_team(Text& text, const Pass& pass) {
  const Team& team = *pass.team;
  text.line("  kernel", team.kernel);
  std::string threads = count_text(static_cast<std::uint64_t>(team.threads));
  if (team.thread_bytes > 0) {
    threads += fmt::format("{} of {}", team.threads == 1 ? ", by way" : ", each by way",
                           size_text(team.thread_bytes));
  }
  if (team.streamed) threads += ", written past the caches";
  if (team.arrays_at_once > 0 && team.arrays_at_once < pass.arrays) {
    threads += fmt::format("; {} at a time", count_text(team.arrays_at_once, "array"));
  }
  text.line("  threads", threads);
}

// --- what was counted

// "; an element: 0.0078 requests, 0.125 sectors, 0.0312 lines, 4 bytes"
struct PerElement {
  std::uint64_t count;
  const char* noun;
};

std::string an_element(double elements, std::initializer_list<PerElement> of_all) {
  std::string text;
  for (const PerElement& each : of_all) {
    text += fmt::format("{}{:.3g} {}", text.empty() ? "; an element: " : ", ",
                        static_cast<double>(each.count) / elements, each.noun);
  }
  return text;
}

void add_global(Text& text, const char* label, const machine::GlobalCounts& counts, double over_least,
                double elements) {
  text.line(label, fmt::format("{}, {} of 32 bytes, {}, {} of 128 bytes",
                               count_text(counts.requests, "request"), count_text(counts.sectors, "sector"),
                               least_text(over_least), count_text(counts.lines, "line")) +
                       an_element(elements, {{counts.requests, "requests"},
                                             {counts.sectors, "sectors"},
                                             {counts.lines, "lines"},
                                             {counts.bytes, "bytes"}}));
}

void add_shared(Text& text, const char* label, const machine::SharedCounts& counts, double over_least,
                double elements) {
  text.line(label,
            fmt::format("{}, {}, {}, congestion {}", count_text(counts.requests, "request"),
                        count_text(counts.wavefronts, "wavefront"), least_text(over_least),
                        counts.max_congestion()) +
                an_element(elements, {{counts.requests, "requests"}, {counts.wavefronts, "wavefronts"}}));
}

void add_accesses(Text& text, const Accesses& accesses, double elements) {
  const machine::AccessCounts& counts = accesses.counts;
  add_global(text, "  loads", counts.global_loads, accesses.sectors_read, elements);
  add_global(text, "  stores", counts.global_stores, accesses.sectors_written, elements);
  if (counts.shared_loads.requests == 0) {
    text.line("  shared", "no requests, no wavefronts: no shared memory is used");
  } else {
    add_shared(text, "  to shared", counts.shared_stores, accesses.wavefronts_stored, elements);
    add_shared(text, "  from shared", counts.shared_loads, accesses.wavefronts_loaded, elements);
  }
  text.line("  counted", accesses.counted);
}

void add_counts(Text& text, const PassFacts& facts) {
  const Pass& pass = *facts.pass;
  if (facts.accesses) add_accesses(text, *facts.accesses, facts.elements);
  if (!facts.accesses && pass.gpu && !pass.gpu->tables.empty()) {
    text.line("  accesses", "as the index array says, which is not at hand, so they are not counted");
  }
  if (facts.lines) {
    text.line("  lines", lines_text(*facts.lines, pass.bytes_read, pass.bytes_written));
    text.line("  counted", facts.lines->counted);
  }
}

void add_time(Text& text, const PlanFacts& plan, const PassFacts& facts) {
  const Pass& pass = *facts.pass;
  if (!facts.us && pass.team) {
    text.line("  time", "not predicted: no measured times are known for this target");
  }
  if (!facts.us) return;
  constexpr double us_per_ms = 1e3;
  const auto moved = static_cast<double>(pass.bytes_read + pass.bytes_written);
  text.line("  time", fmt::format("{:.4g} ms, {:.4g} GB/s read and written, by the rates of {}{}",
                                  *facts.us / us_per_ms, moved / (*facts.us * us_per_ms), plan.rates,
                                  !pass.team && pass.bytes_read < kPredictableBytes
                                      ? "; arrays that fit partly into the device's cache may be faster"
                                      : ""));
}

}  // namespace

void add_pass(MarginText& text, const PlanFacts& plan, std::size_t index) {
  const PassFacts& facts = plan.passes[index];
  const Pass& pass = *facts.pass;
  text.line(fmt::format("pass {}", index + 1), fmt::format("{}: {}", name(pass.kind), facts.reason));
  if (!facts.is_affine) {
    add_moves(text, facts);
  } else if (facts.factor) {
    add_factor(text, plan, facts);
  } else if (pass.kind == PassKind::segments || pass.kind == PassKind::tile) {
    add_tile(text, plan, pass);
  }
  if (pass.launch) {
    add_launch(text, *pass.launch);
  } else if (pass.team) {
    add_team(text, pass);
  } else {
    text.line("  kernel", "the driver's copy");
  }
  if (facts.is_affine) {
    text.line("  predicted",
              fmt::format("reads {} in {} of {} and writes as much", size_text(pass.bytes_read),
                          count_text(pass.segments_read, "segment"), size_text(pass.segment_bytes)));
  }
  add_counts(text, facts);
  add_time(text, plan, facts);
}

}  // namespace faro::detail
