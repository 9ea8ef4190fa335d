// faro layout: which layout of shared memory fits a kernel's accesses, and the code to paste.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "capi/author_json.hpp"
#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/layout/adviser.hpp"
#include "layout/layout_svg.hpp"

namespace faro::cli {
namespace {

using layout::AccessCost;
using layout::AccessSet;
using layout::Advice;
using layout::Candidate;

struct LayoutOptions {
  CommonOptions common;
  std::string rows;
  std::string columns;
  std::vector<std::string> accesses;
  std::string seed;
  std::string svg;
  bool emit = false;
};

// Here and not by the parser, which would tell of a missing option before a misspelt one.
void require_shape_and_access(const LayoutOptions& options) {
  std::vector<std::string> missing;
  if (options.rows.empty()) missing.emplace_back("--rows");
  if (options.columns.empty()) missing.emplace_back("--columns");
  if (options.accesses.empty()) missing.emplace_back("--access");
  if (missing.empty()) return;
  fail(ErrorCode::usage, "layout", fmt::format("no {}", fmt::join(missing, ", no ")),
       "--rows R --columns C --access A", "`faro layout --help` shows how");
}

layout::AdviceRequest request_of(const LayoutOptions& options) {
  require_shape_and_access(options);
  const auto element_bytes = options.common.element_bytes_given().value_or(4);
  layout::AdviceRequest request;
  request.array = layout::make_shared_array(parse_number("--rows", options.rows, 0),
                                            parse_number("--columns", options.columns, 0), element_bytes);
  if (!options.seed.empty()) request.seed = parse_number("--seed", options.seed, 0);
  for (const std::string& given : options.accesses) {
    for (const std::string& access : layout::split_accesses(given)) {
      request.accesses.push_back(layout::parse_access(request.array, access));
    }
  }
  return request;
}

// "8", or "3.61 to 8": the mean over many seeds and the worst that was met.
std::string cost_text(const AccessCost& cost) {
  if (cost.holds_always && cost.mean == static_cast<double>(cost.worst)) return fmt::format("{}", cost.worst);
  return fmt::format("{:.2f} to {}{}", cost.mean, cost.worst, cost.holds_always ? "" : "?");
}

std::string memory_text(const Candidate& candidate) {
  return candidate.extra_bytes == 0 ? "" : fmt::format("+{} bytes", candidate.extra_bytes);
}

std::string table_of(const Advice& advice) {
  std::vector<std::vector<std::string>> table(1);
  table.front().push_back("layout");
  for (const AccessSet& set : advice.request.accesses) table.front().push_back(set.text);
  table.front().push_back("memory");
  for (const Candidate& candidate : advice.candidates) {
    std::vector<std::string>& line = table.emplace_back();
    line.push_back(candidate.placement.name());
    for (const AccessCost& cost : candidate.costs) line.push_back(cost_text(cost));
    line.push_back(memory_text(candidate));
  }
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& line : table) {
    for (std::size_t k = 0; k < line.size(); ++k) widths[k] = std::max(widths[k], line[k].size());
  }
  std::string text;
  for (std::size_t row = 0; row < table.size(); ++row) {
    std::string line = row == advice.choice + 1 ? "-> " : "   ";
    for (std::size_t k = 0; k < widths.size(); ++k) {
      line += k == 0 ? fmt::format("{:<{}}", table[row][k], widths[k])
                     : fmt::format("  {:>{}}", table[row][k], widths[k]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string cute_text(const Advice& advice) {
  if (advice.cute) {
    return fmt::format("Swizzle<{},{},{}>, in elements", advice.cute->bits, advice.cute->base,
                       advice.cute->shift);
  }
  if (advice.candidates.front().worst() <= 1) return "no swizzle is needed";
  const bool has_xor =
      std::any_of(advice.candidates.begin(), advice.candidates.end(),
                  [](const Candidate& c) { return c.placement.kind == layout::PlacementKind::exclusive_or; });
  return has_xor ? "no single Swizzle is as good as the best layout by XOR"
                 : "no Swizzle is better than the natural order";
}

std::string page_of(const Advice& advice, bool emit) {
  const layout::SharedArray& array = advice.request.array;
  std::string page = fmt::format("{} x {} elements of {} in shared memory: congestion of a phase\n\n",
                                 array.rows, array.columns, count_text(array.element_bytes, "byte"));
  page += table_of(advice);
  const bool estimated =
      std::any_of(advice.candidates.begin(), advice.candidates.end(), [](const Candidate& c) {
        return std::any_of(c.costs.begin(), c.costs.end(),
                           [](const AccessCost& cost) { return !cost.holds_always; });
      });
  if (estimated) page += "   (mean to worst; ?: the worst over many seeds)\n";
  page += fmt::format("\n{}: {}\n", advice.chosen().placement.name(), advice.reason);
  page += "CuTe: " + cute_text(advice) + "\n";
  for (const std::string& remark : advice.remarks) page += remark + "\n";
  if (emit) page += "\n" + advice.chosen().placement.device_code();
  page.pop_back();
  return page;
}

void lay_out(const LayoutOptions& options) {
  for (const std::string& access : options.accesses) {
    if (access.starts_with('@'))
      require_own_file("layout", "--svg", options.svg, {access.substr(1)}, "a trace");
  }
  const Advice advice = layout::advise(request_of(options));
  TextFile svg(options.svg, options.svg.empty() ? "" : layout::layout_svg(advice));
  if (options.common.json) {
    print(capi::layout_json(advice));
  } else {
    print(page_of(advice, options.emit));
  }
  svg.commit();
}

}  // namespace

Verb layout_verb(CLI::App& app) {
  const auto options = std::make_shared<LayoutOptions>();
  CLI::App* const command =
      app.add_subcommand("layout", "Find a layout of an array in shared memory without bank conflicts");
  const auto size = [&](const std::string& name, std::string& value, const std::string& help) {
    add_text(*command, name, value, "N", help);
  };
  size("--rows", options->rows, "Rows of the array that a block keeps");
  size("--columns", options->columns, "Elements of a row");
  options->common.add_element_bytes(*command, "Bytes of an element: 1, 2, 4, 8 or 16; the default is 4");
  command
      ->add_option(
          "--access", options->accesses,
          "An access of a warp; give one option for each: row, column, diagonal, stride(K), each also with a "
          "vector of V elements for each lane, as in row(8) and stride(K, V); or @FILE, a recorded trace")
      ->type_name("ACCESS")
      ->allow_extra_args(false)
      ->check(require_text);
  add_text(*command, "--seed", options->seed, "N", "Seed of the random layouts; the default is 0");
  add_text(*command, "--svg", options->svg, "FILE",
           "Also draw the array, coloured by bank, before and after to this file");
  add_no_sync(*command);
  command->add_flag("--emit", options->emit, "Print the device code of the layout that is chosen");
  options->common.add_json(*command);
  return {command, [options] { lay_out(*options); }};
}

}  // namespace faro::cli
