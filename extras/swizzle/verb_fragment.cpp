// faro layout check LAYOUT INDEX…: whether a kernel's own index expressions give a layout's elements.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/exchange/index_check.hpp"
#include "faro/exchange/lane_program.hpp"

namespace faro::cli {
namespace {

struct CheckLayoutOptions {
  std::string layout;
  std::vector<std::string> indices;
  std::string element;
  bool json = false;
};

int element_bits(const CheckLayoutOptions& options) {
  if (options.element.empty()) return 32;
  return static_cast<int>(parse_number("--element", options.element, 8, 64));
}

std::string value_text(const std::optional<std::int32_t>& value) {
  return value ? std::to_string(*value) : "undefined";
}

void check_layout(const CheckLayoutOptions& options) {
  if (options.indices.empty())
    fail(ErrorCode::usage, "layout check", options.layout.empty() ? "no LAYOUT" : "no INDEX", "LAYOUT INDEX…",
         "`faro layout check --help` shows how");
  const exchange::Layout layout = exchange::parse_layout(options.layout, element_bits(options));
  std::vector<exchange::IndexExpression> expressions;
  expressions.reserve(options.indices.size());
  for (const std::string& text : options.indices) expressions.emplace_back(text);
  const auto mismatch = exchange::check_indices(layout, expressions);
  if (options.json) print(Json::parse(exchange::to_json(layout, expressions, mismatch)));
  if (!mismatch) {
    if (!options.json)
      print(fmt::format("{}: the element in every register of every lane, {} places", options.layout,
                        std::uint64_t{1} << layout.matrix().columns()));
    return;
  }
  std::vector<std::string> got;
  for (const auto& value : mismatch->got) got.push_back(value_text(value));
  const std::string where =
      fmt::format("warp {}, lane {}, i {}", mismatch->place.warp, mismatch->place.lane, mismatch->place.i);
  if (!options.json)
    print(fmt::format("{}: at {} ({}), wanted ({})", options.layout, where, fmt::join(got, ", "),
                      fmt::join(mismatch->wanted, ", ")));
  throw Verdict{.exit_status = exit_status(ErrorCode::verification),
                .line = "layout check: another element at " + where};
}

}  // namespace

Verb fragment_verb(CLI::App& app) {
  const auto options = std::make_shared<CheckLayoutOptions>();
  CLI::App* const command = app.get_subcommand("layout")->add_subcommand(
      "check", "Hold a kernel's index expressions to the layout of a fragment");
  add_text(*command, "LAYOUT", options->layout, "", "A layout, as `faro layout convert` takes it");
  command
      ->add_option("INDEX", options->indices,
                   "One expression of C for each axis of the layout, or one for the element's number: of i, "
                   "lane, warp and thread")
      ->type_name("")
      ->check(require_text);
  add_text(*command, "--element", options->element, "BITS",
           "Bits of an element: 8, 16, 32 (the default) or 64");
  command->add_flag("--json", options->json,
                    "Print JSON on standard output; docs/guide/json.md describes it");
  command->footer(
      "Examples:\n  faro layout check mma.m16n8.C 'lane / 4 + 8 * (i / 2)' '2 * (lane % 4) + i % 2'\n"
      "  faro layout check 'contiguous(4)' '4 * lane + i'");
  return {command, [options] { check_layout(*options); }};
}

}  // namespace faro::cli
