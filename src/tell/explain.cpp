// Plan::explain(): the plan in words. One fact a line, its name in the margin:
//
//     permutation   bit_reversal(20)
//                   2^20 elements; class BP; an involution
//     ...
//     pass 1        tile: ...
#include <fmt/format.h>

#include <span>
#include <string>

#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/reversals.hpp"
#include "tell/box_lines.hpp"
#include "tell/counts/line_counts.hpp"
#include "tell/facts.hpp"
#include "tell/index_facts.hpp"
#include "tell/launch_facts.hpp"
#include "tell/margin_text.hpp"
#include "tell/prediction.hpp"
#include "tell/published_class.hpp"

namespace faro {
namespace {

using detail::steps;
using Text = detail::MarginText;

// One side of a tile.
std::string rows(const Pass& pass, std::span<const f2::Word> vectors) {
  if (vectors.empty()) return fmt::format("1 row of {}", size_text(pass.segment_bytes));
  return fmt::format("{} rows of {}, at sums (XOR) of {}", count_text(std::uint64_t{1} << vectors.size()),
                     size_text(pass.segment_bytes), steps(vectors));
}

void add_problem(Text& text, const Plan& plan) {
  const Problem& problem = plan.problem();
  const Affine& map = detail::element_map(plan);
  text.whole_line("permutation", to_text(problem.permutation));
  text.line("", fmt::format("{}; class {}; {}", count_text(element_count(problem.permutation), "element"),
                            name(published_class(map, problem.element_bytes)),
                            map.is_involution() ? "an involution (applied twice, nothing has moved)"
                                                : "not an involution"));
  if (plan.recognition() != nullptr) detail::add_recognition(text, *plan.recognition());
  std::string units = fmt::format("{} wide", size_text(problem.element_bytes));
  if (plan.unit_bits_per_element() > 0) {
    units += fmt::format(", moved as {} units of {} whose index bits stay as they are",
                         std::uint64_t{1} << plan.unit_bits_per_element(), size_text(plan.unit_bytes()));
  }
  text.line("elements", units);
  std::string batch = count_text(problem.batch, "array") + (problem.batch == 1 ? " of " : ", in all ") +
                      size_text(plan.array_bytes());
  if (plan.folded_batch_bits() > 0) {
    batch += fmt::format("; groups of {} are planned as one, the array's number being high index bits",
                         count_text(std::uint64_t{1} << plan.folded_batch_bits()));
  }
  text.line("batch", batch);
}

void add_sweeps(Text& text, const Plan& plan) {
  if (detail::is_in_place(plan)) return text.line("sweeps", detail::in_place_sweeps_text(plan));
  const int literature = detail::literature_sweeps(plan);
  if (plan.passes().empty()) {
    text.line("sweeps", "none: the batch is empty");
  } else if (literature > 1) {
    text.line("sweeps", fmt::format("1 over memory, where the published method takes {} for a general BMMC",
                                    literature));
  } else {
    text.line("sweeps", "1 over memory");
  }
}

// In place: the factor, the space whose cosets are its tiles, and which of them change places.
void add_factor(Text& text, const Plan& plan, const Pass& pass) {
  text.whole_line("  factor", detail::factor_text(pass.map));
  text.line("", fmt::format("class {}; {}", name(published_class(pass.map, plan.unit_bytes())),
                            pass.map.is_involution() ? "an involution" : "not an involution"));
  if (!pass.orbits) return;
  const layout::Tile& tile = pass.tile;
  const std::string units = plan.unit_bits_per_element() > 0 ? "units" : "elements";
  const std::string bytes = size_text(plan.unit_bytes() << tile.tile_bits());
  text.line("  space",
            tile.row_bits == 0
                ? fmt::format("T of dimension s = {}: a tile, x + T, is one segment of 2^s {}, {}",
                              tile.segment_bits, units, bytes)
                : fmt::format("T of dimension s + r = {} + {}: a tile, x + T, is 2^r segments of 2^s {}, "
                              "at sums (XOR) of {}; {}",
                              tile.segment_bits, tile.row_bits, units, steps(tile.source_rows), bytes));
  text.line("  orbits", detail::orbits_text(pass));
}

void add_tile(Text& text, const Plan& plan, const Pass& pass) {
  const layout::Tile& tile = pass.tile;
  const std::string unit = plan.unit_bits_per_element() > 0 ? "units" : "elements";
  if (pass.kind == PassKind::tile) {
    const int gamma = pass.map.rank_gamma(tile.segment_bits);
    text.line(
        "  tile",
        fmt::format("2^(s + r) = 2^({} + {}) {} = {}: segments of 2^s {}, and 2^r of them, where r is {}the "
                    "map's rank gamma, {}",
                    tile.segment_bits, tile.row_bits, unit, size_text(plan.unit_bytes() << tile.tile_bits()),
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
                        detail::hex(tile.complement)));
  text.line("", fmt::format("block bits, low to high, step the source by {}", steps(tile.block_sources)));
  text.line("", fmt::format("and the target by {}", steps(tile.block_targets)));
}

void add_launch(Text& text, const Launch& launch) {
  text.line("  kernel", detail::kernel_text(launch));
  if (launch.tile) {
    text.line("", launch.tile->blocked ? "blocked in registers: shared memory is read a word at a time"
                                       : "plain: shared memory is read an element at a time");
  }
  std::string blocks = fmt::format("{} of {} threads", count_text(launch.blocks, "block"), launch.threads);
  blocks += launch.shared_bytes > 0 ? fmt::format(" and {} of shared memory", size_text(launch.shared_bytes))
                                    : " and no shared memory";
  if (launch.tile) {
    blocks += fmt::format("; at most {} registers a thread, so that a multiprocessor has them for {}",
                          detail::registers_max(launch),
                          count_text(static_cast<std::uint64_t>(detail::min_blocks(launch)), "block"));
  }
  if (launch.launches > 1) blocks += fmt::format(", in {} launches", count_text(launch.launches));
  text.line("  launch", blocks);
  if (!launch.unaligned_kernel.empty()) {
    text.line("  unaligned", "arrays that are not as aligned: " + launch.unaligned_kernel);
  }
  if (launch.tile != launch.unaligned_tile && launch.unaligned_tile) {
    text.line("  unaligned", fmt::format("arrays not aligned to {} bytes: {}", launch.vector_bytes,
                                         detail::kernel_text(*launch.unaligned_tile)));
  }
}

// The same on a CPU.
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

// "; an element: 0.0078 requests, 0.125 sectors, 0.0312 lines, 4 bytes"
struct PerElement {
  double count;
  const char* noun;
};

std::string an_element(double elements, std::initializer_list<PerElement> of_all) {
  std::string text;
  for (const PerElement& each : of_all) {
    text +=
        fmt::format("{}{:.3g} {}", text.empty() ? "; an element: " : ", ", each.count / elements, each.noun);
  }
  return text;
}

void add_global(Text& text, const char* label, const machine::GlobalCounts& counts, double over_least,
                double elements) {
  text.line(label, fmt::format("{}, {} of 32 bytes, {}, {} of 128 bytes",
                               count_text(counts.requests, "request"), count_text(counts.sectors, "sector"),
                               detail::least_text(over_least), count_text(counts.lines, "line")) +
                       an_element(elements, {{static_cast<double>(counts.requests), "requests"},
                                             {static_cast<double>(counts.sectors), "sectors"},
                                             {static_cast<double>(counts.lines), "lines"},
                                             {static_cast<double>(counts.bytes), "bytes"}}));
}

void add_shared(Text& text, const char* label, const machine::SharedCounts& counts, double over_least,
                double elements) {
  text.line(label, fmt::format("{}, {}, {}, congestion {}", count_text(counts.requests, "request"),
                               count_text(counts.wavefronts, "wavefront"), detail::least_text(over_least),
                               counts.max_congestion()) +
                       an_element(elements, {{static_cast<double>(counts.requests), "requests"},
                                             {static_cast<double>(counts.wavefronts), "wavefronts"}}));
}

// The pass on the counting memory.
void add_accesses(Text& text, const Plan& plan, std::size_t index, const detail::Predicted& predicted) {
  const machine::AccessCounts& counts = predicted.counts;
  const double elements = detail::elements_of(plan, index);
  add_global(text, "  loads", counts.global_loads, predicted.sectors_read, elements);
  add_global(text, "  stores", counts.global_stores, predicted.sectors_written, elements);
  if (counts.shared_loads.requests == 0) {
    return text.line("  shared", "no requests, no wavefronts: no shared memory is used");
  }
  add_shared(text, "  to shared", counts.shared_stores, predicted.wavefronts_stored, elements);
  add_shared(text, "  from shared", counts.shared_loads, predicted.wavefronts_loaded, elements);
}

// Where blocks are not alike, which of them were run.
void add_counted(Text& text, const Plan& plan, std::size_t index, const PassCounter& counter) {
  const auto predicted = detail::predicted_if_counted(plan, index, counter);
  if (!predicted && plan.passes()[index].gpu != nullptr && plan.passes()[index].gpu->tables.empty()) return;
  if (!predicted) {
    return text.line("  accesses", "as the index array says, which is not at hand, so they are not counted");
  }
  add_accesses(text, plan, index, *predicted);
  text.line("  counted", predicted->counted);
}

// On a CPU: lines that the pass moves between memory and the caches.
void add_lines(Text& text, const Plan& plan, std::size_t index) {
  const auto counts = detail::count_lines(plan, index);
  if (!counts) return;
  const Pass& pass = plan.passes()[index];
  text.line("  lines", detail::lines_text(*counts, pass.bytes_read, pass.bytes_written));
  text.line("  counted", counts->counted);
}

void add_time(Text& text, const Plan& plan, std::size_t index, const PassCounter& counter) {
  const std::optional<double> us = counter.microseconds(index);
  const Pass& pass = plan.passes()[index];
  if (!us && pass.team) text.line("  time", "not predicted: no measured times are known for this target");
  if (!us) return;
  constexpr double us_per_ms = 1e3;
  const auto moved = static_cast<double>(pass.bytes_read + pass.bytes_written);
  text.line("  time", fmt::format("{:.4g} ms, {:.4g} GB/s read and written, by the rates of {}{}",
                                  *us / us_per_ms, moved / (*us * us_per_ms), rates_of(plan),
                                  !pass.team && pass.bytes_read < kPredictableBytes
                                      ? "; arrays that fit partly into the device's cache may be faster"
                                      : ""));
}

// Of several passes together.
void add_plan_time(Text& text, const Plan& plan, const PassCounter& counter) {
  if (plan.passes().size() < 2) return;
  const std::optional<double> us = counter.microseconds();
  constexpr double us_per_ms = 1e3;
  text.line("time", us ? fmt::format("{:.4g} ms in all, by the rates of {}", *us / us_per_ms, rates_of(plan))
                       : "not predicted: that of a pass is not known");
}

void add_pass(Text& text, const Plan& plan, std::size_t index, const PassCounter& counter) {
  const Pass& pass = plan.passes()[index];
  text.line(fmt::format("pass {}", index + 1),
            fmt::format("{}: {}", name(pass.kind), detail::reason(plan, index)));
  if (detail::is_in_place(plan)) {
    add_factor(text, plan, pass);
  } else if (pass.kind == PassKind::segments || pass.kind == PassKind::tile) {
    add_tile(text, plan, pass);
  }
  if (pass.launch) add_launch(text, *pass.launch);
  if (pass.team) add_team(text, pass);
  if (!pass.launch && !pass.team) text.line("  kernel", "the driver's copy");
  text.line("  predicted",
            fmt::format("reads {} in {} of {} and writes as much", size_text(pass.bytes_read),
                        count_text(pass.segments_read, "segment"), size_text(pass.segment_bytes)));
  if (detail::is_in_place(plan) && pass.launch) {
    add_counted(text, plan, index, counter);
    return add_time(text, plan, index, counter);
  }
  const auto predicted = detail::predicted_if_counted(plan, index, counter);
  if (predicted) add_accesses(text, plan, index, *predicted);
  if (predicted) text.line("  counted", predicted->counted);
  add_lines(text, plan, index);
  add_time(text, plan, index, counter);
}

// A pass that is not affine.
void add_other_pass(Text& text, const Plan& plan, std::size_t index, const PassCounter& counter) {
  const Pass& pass = plan.passes()[index];
  text.line(fmt::format("pass {}", index + 1), fmt::format("{}: {}", name(pass.kind), pass.what));
  text.line("  moves", fmt::format("reads {} of the {} and writes as much to the {}",
                                   size_text(pass.bytes_read), name(pass.source), name(pass.target)));
  std::string tables;
  for (const PassTable& table : pass.tables) {
    tables += fmt::format("{}{}, {}", tables.empty() ? "" : "; ", table.name, size_text(table.bytes));
  }
  if (!tables.empty()) text.line("  tables", tables);
  detail::add_box(text, pass);
  if (pass.team) {
    add_team(text, pass);
    add_lines(text, plan, index);
  } else {
    pass.launch ? add_launch(text, *pass.launch) : text.line("  kernel", "the driver's copy");
    add_counted(text, plan, index, counter);
  }
  add_time(text, plan, index, counter);
}

// Rolls and flips in place.
void add_reversal_plan(Text& text, const Plan& plan) {
  const Problem& problem = plan.problem();
  const Target& target = plan.target();
  text.whole_line("permutation", to_text(problem.permutation));
  text.line("", count_text(element_count(problem.permutation), "element") + "; in place");
  if (plan.recognition() != nullptr) detail::add_recognition(text, *plan.recognition());
  text.line("elements", size_text(problem.element_bytes) + " wide");
  text.line("batch", count_text(problem.batch, "array") + (problem.batch == 1 ? " of " : ", in all ") +
                         size_text(plan.array_bytes()));
  text.line("target", std::string(name(target.engine)) + (target.name.empty() ? "" : ", " + target.name));
  text.line("method", plan.passes().empty() ? "nothing moves"
                                            : "pieces of an axis change places end for end: " +
                                                  count_text(plan.passes().size(), "sweep") + " over memory");
}

}  // namespace

std::string Plan::explain() const {
  Text text;
  const PassCounter counter(*this);
  if (detail::reverses_in_place(problem_) && !transpose_plan_) {
    add_reversal_plan(text, *this);
    add_plan_time(text, *this, counter);
    for (std::size_t i = 0; i < passes_.size(); ++i) add_other_pass(text, *this, i, counter);
    text.line("workspace", "none");
    return text.take();
  }
  if (index_plan_ || transpose_plan_) {
    index_plan_ ? detail::add_index_plan(text, *index_plan_)
                : detail::add_transpose_plan(text, *transpose_plan_);
    if (transpose_plan_ && recognition_) detail::add_recognition(text, *recognition_);
    add_plan_time(text, *this, counter);
    for (std::size_t i = 0; i < passes_.size(); ++i) add_other_pass(text, *this, i, counter);
    index_plan_ ? detail::add_workspace(text, *index_plan_) : detail::add_workspace(text, *transpose_plan_);
    return text.take();
  }
  add_problem(text, *this);
  text.line("target", std::string(name(target_.engine)) + (target_.name.empty() ? "" : ", " + target_.name));
  add_sweeps(text, *this);
  add_plan_time(text, *this, counter);
  for (std::size_t i = 0; i < passes_.size(); ++i)
    passes_[i].kind == PassKind::patch ? add_other_pass(text, *this, i, counter)
                                       : add_pass(text, *this, i, counter);
  text.line("workspace", workspace_bytes() == 0 ? "none" : size_text(workspace_bytes()));
  return text.take();
}

}  // namespace faro
