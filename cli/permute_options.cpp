#include "cli/permute_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/report.hpp"

namespace faro::cli {
namespace {

// The permutation as it was typed, on one line.
std::string label_of(const PermuteOptions& options) {
  std::string label = options.spec;
  if (options.index.gather && label.starts_with('@')) label = "gather(" + label + ")";
  if (options.inverse) label = "inverse(" + label + ")";
  // Index arrays within other maps are read as gathers too.
  if (options.index.gather && !options.spec.starts_with('@')) label += " --gather";
  // White space is free in a permutation's text, but this is one line.
  std::replace_if(
      label.begin(), label.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return label;
}

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
                       count_text(transposes->sweeps().size(), "sweep"));
  }
  std::string text;
  std::size_t passes = 0;
  for (const Pass& pass : plan.passes()) {
    if (pass.offset > 0) continue;  // arrays that are left over
    text += (text.empty() ? "" : ", then ") + pass_text(plan, pass);
    ++passes;
  }
  return passes == 1 ? "one pass, " + text : fmt::format("{} passes, {}", passes, text);
}

}  // namespace

Problem problem_of(const PermuteOptions& options, const io::NpyHeader& header) {
  const std::string operation = "permute `" + options.in + "`";
  const std::uint64_t items = header.item_count();
  const std::uint64_t width = options.common.element_bytes_given().value_or(header.item_bytes);
  const std::uint64_t batch = options.common.batch_count();
  if (width % header.item_bytes != 0) {
    fail(ErrorCode::value, operation, fmt::format("--element-bytes {}", width),
         fmt::format("a multiple of the item size, {}", count_text(header.item_bytes, "byte")),
         "elements are whole items");
  }
  const std::uint64_t group = width / header.item_bytes;
  if (items % group != 0) {
    fail(ErrorCode::value, operation, count_text(items, "item"),
         fmt::format("a multiple of the {} in an element", group));
  }
  const std::uint64_t elements = items / group;
  if (batch == 0 ? elements != 0 : elements % batch != 0) {
    fail(ErrorCode::value, operation,
         fmt::format("{} and --batch {}", count_text(elements, "element"), batch),
         "a number of elements that is a multiple of the batch");
  }
  const std::optional<std::uint64_t> array_elements =
      batch == 0 ? std::nullopt : std::optional(elements / batch);
  Permutation permutation = parse_spec(options.spec, array_elements, options.index.direction(options.spec));
  if (options.inverse) permutation = inverse(permutation);

  const std::uint64_t wanted = element_count(permutation);
  if (array_elements && wanted != *array_elements) {
    std::string remedy;
    if (wanted == 0) {
      remedy = "";
    } else if (elements == 0) {
      remedy = "the file is empty: --batch 0 says that it holds no array";
    } else if (elements % wanted == 0) {
      remedy = fmt::format("--batch {} permutes that many arrays alike", elements / wanted);
    } else if (items % wanted == 0 && items / wanted * header.item_bytes <= kMaxElementBytes) {
      remedy = fmt::format("--element-bytes {} makes elements that fit", items / wanted * header.item_bytes);
    }
    fail(ErrorCode::value, operation,
         fmt::format("{} = {} x {}", count_text(elements, "element"), batch, *array_elements),
         fmt::format("{} x {} for {}", batch, wanted, to_text(permutation)), remedy);
  }
  return {.permutation = permutation,
          .element_bytes = width,
          .batch = batch,
          .placement = options.in_place ? Placement::in_place : Placement::out_of_place};
}

cuda::StagingOptions staging_options(const PermuteOptions& options, const PlanOptions& plan_options) {
  cuda::StagingOptions staging{.threads = plan_options.threads};
  if (!options.piece_bytes.empty()) staging.piece_bytes = parse_size("--piece-bytes", options.piece_bytes);
  if (!options.device_bytes.empty())
    staging.device_bytes = parse_size("--device-bytes", options.device_bytes);
  const bool given = staging.piece_bytes != 0 || staging.device_bytes != 0;
  if (given && plan_options.engine != Engine::cuda) {
    fail(ErrorCode::value, "permute",
         "--piece-bytes or --device-bytes with --engine " + options.common.engine,
         "them with --engine cuda only");
  }
  return staging;
}

void check_spec_file(const PermuteOptions& options, const std::string& path, const char* role) {
  for (std::size_t at = options.spec.find('@'); at != std::string::npos;
       at = options.spec.find('@', at + 1)) {
    std::string read = options.spec.substr(at + 1, options.spec.find_first_of("),;", at) - at - 1);
    // White space around a file's name is none of it.
    constexpr const char* blanks = " \t\r\n\v\f";
    read.erase(0, read.find_first_not_of(blanks));
    read.erase(read.find_last_not_of(blanks) + 1);
    if (io::same_file(read, path)) {
      fail(ErrorCode::value, "permute `" + options.in + "`",
           path + " as " + role + ", which the permutation is read from", "a file of its own");
    }
  }
}

std::string plan_line(const PermuteOptions& options, const Plan& plan) {
  std::string line = label_of(options);
  if (plan.problem().batch != 1) line += fmt::format(" x {}", plan.problem().batch);
  if (!options.map.empty()) line += fmt::format(" with {}", options.map);
  const bool moves =
      plan.transpose_plan() != nullptr || plan.index_plan() != nullptr || !plan.passes().empty();
  if (options.in_place) line += " in place";
  if (!moves || plan.array_bytes() == 0) return line + ": nothing to move";
  if (options.in_place) return line + ": " + in_place_text(plan);
  if (plan.index_plan() != nullptr) {
    const IndexCandidate& chosen = plan.index_plan()->chosen();
    return line + fmt::format(": {}; {} over memory", to_text(chosen),
                              chosen.passes == 1 ? "1 pass" : fmt::format("{} passes", chosen.passes));
  }
  const Pass& pass = plan.passes().front();
  const bool is_counted = pass.kind == PassKind::segments || pass.kind == PassKind::tile;
  return line + (is_counted ? ": one pass, " : ": ") + pass_text(plan, pass);
}

}  // namespace faro::cli
