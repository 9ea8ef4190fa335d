#include "cli/permute_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/output.hpp"
#include "cli/report.hpp"
#include "permutation/pattern.hpp"

namespace faro::cli {
namespace {

// "tiles of 4 KiB in segments of 64 bytes"
std::string pass_text(const Plan& plan, const Pass& pass) {
  switch (pass.kind) {
    case PassKind::copy:
      return "a copy";
    case PassKind::direct:
      return "element by element";
    case PassKind::segments:
      return "segments of " + size_text(pass.segment_bytes);
    default:
      break;
  }
  return fmt::format("tiles of {} in segments of {}", size_text(plan.unit_bytes() << pass.tile.tile_bits()),
                     size_text(pass.segment_bytes));
}

std::string in_place_text(const Plan& plan) {
  if (const TransposePlan* const transposes = plan.transpose_plan()) {
    return fmt::format("{}, {} over memory", transposes->r2c() ? "R2C" : "C2R",
                       count_text(plan.passes().size(), "sweep"));
  }
  if (!plan.passes().empty() && plan.passes().front().kind == PassKind::cyclic)
    return "turned end for end, " + count_text(plan.passes().size(), "sweep") + " over memory";
  std::string text;
  std::size_t passes = 0;
  for (const Pass& pass : plan.passes()) {
    if (pass.offset > 0) continue;  // arrays that are left over
    text += (text.empty() ? "" : ", then ") + pass_text(plan, pass);
    ++passes;
  }
  return passes == 1 ? "one pass, " + text : fmt::format("{} passes, {}", passes, text);
}

bool moves(const Plan& plan) {
  return plan.transpose_plan() != nullptr || plan.way() != nullptr || !plan.passes().empty();
}

// "bit_reversal(20) x 3 in place"
std::string heading(const PermuteOptions& options, std::string label, const Problem& problem) {
  if (problem.batch > 1) label += fmt::format(" x {}", problem.batch);
  if (!options.map.empty()) label += fmt::format(" with {}", options.map);
  return options.in_place ? label + " in place" : label;
}

// "one pass, tiles of 4 KiB in segments of 64 bytes"
std::string way_text(const PermuteOptions& options, const Plan& plan) {
  if (!moves(plan) || plan.array_bytes() == 0) return "nothing to move";
  if (options.in_place) return in_place_text(plan);
  if (plan.problem().view) return "one pass in boxes";
  if (const IndexCandidate* const way = plan.way()) {
    return fmt::format("{}; {} over memory", to_text(*way),
                       way->passes == 1 ? "1 pass" : fmt::format("{} passes", way->passes));
  }
  const Pass& pass = plan.passes().front();
  const bool is_counted = pass.kind == PassKind::segments || pass.kind == PassKind::tile;
  return (is_counted ? "one pass, " : "") + pass_text(plan, pass);
}

}  // namespace

std::string short_label(const std::string& label) {
  const std::size_t open = label.find('(');
  if (open != std::string::npos && !label.starts_with('@')) return label.substr(0, open) + "(...)";
  const std::size_t slash = label.rfind('/');
  return slash == std::string::npos ? label : "@..." + label.substr(slash);
}

std::string compacted(std::string elements) {
  for (const auto& [words, sign] :
       {std::pair(" elements of ", " x "), std::pair(" element of ", " x "), std::pair(" bytes", " B")}) {
    const std::string_view found = words;
    if (const std::size_t at = elements.find(found); at != std::string::npos)
      elements.replace(at, found.size(), sign);
  }
  return elements;
}

void BitsOptions::add(CLI::App& command) {
  add_text(
      command, "--element-bits", element, "K",
      "Elements of K bits, of a .npy file of bytes or a file without a header; OUT is of the kind that its "
      "name says");
  add_text(command, "--bit-order", order, "ORDER",
           "With --element-bits: where a byte's first element is, low or high; the default is low");
  add_text(command, "--in-pitch", in_pitch, "BITS",
           "With --element-bits: rows of the last axis of IN begin so many bits apart, such as 32 for words");
  add_text(command, "--out-pitch", out_pitch, "BITS", "The same of OUT; what lies between rows is zero");
}

std::string PermuteOptions::label() const {
  std::string label = spec;
  if (index.gather && label.starts_with('@')) label = "gather(" + label + ")";
  if (inverse) label = "inverse(" + label + ")";
  // Index arrays within other maps are read as gathers too.
  if (index.gather && !spec.starts_with('@')) label += " --gather";
  // White space is free in a permutation's text, but this is one line.
  std::replace_if(
      label.begin(), label.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return label;
}

void complete_spec(PermuteOptions& options) {
  if (options.order != "C" && options.order != "F") {
    fail(ErrorCode::value, "permute `" + options.in + "`", "--order " + options.order, "C or F",
         "F: the first axis is the fastest, as in Fortran, Julia and MATLAB");
  }
  if (options.order == "F" && options.in_place)
    fail(ErrorCode::value, "permute `" + options.in + "`", "--order F with --in-place", "one of them");
  if (is_strided_text(options.spec)) options.view = parse_strided(options.spec);
  if (options.lengths.empty()) return;
  if (!faro::detail::is_pattern(options.spec)) {
    fail(ErrorCode::value, "permute `" + options.in + "`", "--let with " + options.spec,
         "that option with a pattern of axes", "for example 'b (h d) s -> b h s d' --let h=8");
  }
  for (const std::string& length : options.lengths) options.spec += ", " + length;
  options.lengths.clear();
}

cuda::StagingOptions staging_options(const PermuteOptions& options, const PlanOptions& plan_options) {
  cuda::StagingOptions staging{.threads = plan_options.threads};
  if (!options.piece_bytes.empty()) staging.piece_bytes = parse_size("--piece-bytes", options.piece_bytes);
  if (!options.device_bytes.empty())
    staging.device_bytes = parse_size("--device-bytes", options.device_bytes);
  return staging;
}

void check_spec_file(const PermuteOptions& options, const std::string& path, const char* role) {
  require_own_file("permute `" + options.in + "`", role, path, files_in(options.spec));
}

std::string plan_line(const PermuteOptions& options, const Plan& plan) {
  return heading(options, options.label(), plan.problem()) + ": " + way_text(options, plan);
}

std::string run_line(const PermuteOptions& options, const Plan& plan, const RunFacts& facts) {
  const bool is_moved = plan.array_bytes() != 0 && moves(plan);
  const auto done = [&](const std::string& elements, const char* joint) {
    std::string text = "nothing to move";
    if (is_moved) {
      text = fmt::format("{}{}{}, {:.3g} GB/s", elements, joint, time_text(facts.milliseconds),
                         gb_per_s(plan.array_bytes(), facts.milliseconds));
    }
    return text + (options.verify ? ", verified" : "");
  };
  // From the longest that tells all to the shortest; a name that leaves no room is given by its first word.
  const std::string label = heading(options, options.label(), plan.problem()) + ": ";
  const std::string short_one = heading(options, short_label(options.label()), plan.problem()) + ": ";
  const std::string in_full = done(facts.elements, " in ");
  const std::string compact = done(compacted(facts.elements), ", ");
  const std::vector<std::string> lines{label + in_full, label + compact, short_one + in_full,
                                       short_one + compact};
  std::vector<std::vector<std::string>> more{{facts.plan_cache}};
  if (facts.total_ms > 2 * facts.milliseconds && facts.total_ms >= 100)
    more.push_back({time_text(facts.total_ms) + " with its files"});
  more.push_back({facts.shape});
  if (facts.pieces > 0) more.push_back({"through " + plan.target().name});
  if (is_moved) more.push_back({way_text(options, plan)});
  return fitted_line(lines, more);
}

}  // namespace faro::cli
