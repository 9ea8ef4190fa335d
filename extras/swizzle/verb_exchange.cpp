// faro layout convert FROM TO: registers of one layout made those of another, by the fewest shuffles.
// faro layout convert --list: the layouts that have names.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/exchange/conversion.hpp"
#include "faro/shell.hpp"

namespace faro::cli {
namespace {

struct ConvertLayoutOptions {
  std::string from;
  std::string to;
  std::string element;
  std::string emit;
  std::string name;
  std::string capability;
  bool shared = false;
  bool cheapest = false;
  bool list = false;
  bool json = false;
};

constexpr const char* kOperation = "layout convert";

void list_layouts(const ConvertLayoutOptions& options) {
  if (!options.from.empty())
    fail(ErrorCode::usage, kOperation, "`" + options.from + "` and --list", "one of them");
  const std::vector<exchange::LayoutName> names = exchange::layout_names();
  if (options.json) {
    Json json = new_json();
    json["layouts"] = Json::array();
    for (const auto& entry : names)
      json["layouts"].push_back(
          {{"name", entry.name}, {"element_bits", entry.element}, {"source", entry.source}});
    return print(json);
  }
  std::size_t widest = 0;
  for (const auto& entry : names) widest = std::max(widest, entry.name.size());
  std::string list;
  for (const auto& entry : names)
    list += fmt::format("{:<{}}  {:>2} bits  {}\n", entry.name, widest, entry.element, entry.source);
  print(list + "\n`*` stands for a number; docs/guide/exchange.md has the other forms of a layout.");
}

int element_of(const ConvertLayoutOptions& options) {
  if (options.element.empty()) return 32;
  for (const int bits : {8, 16, 32, 64})
    if (options.element == std::to_string(bits)) return bits;
  fail(ErrorCode::value, "read --element", "`" + options.element + "`", "8, 16, 32 or 64 bits");
}

int capability_of(const ConvertLayoutOptions& options) {
  if (options.capability.empty()) return exchange::ConversionOptions{}.capability;
  const std::string& text = options.capability;
  const char* const end = text.data() + text.size();
  int major = 0;
  int minor = 0;
  const auto [dot, error] = std::from_chars(text.data(), end, major);
  const bool has_minor = error == std::errc{} && dot != end && *dot == '.';
  const auto [rest, minor_error] =
      has_minor ? std::from_chars(dot + 1, end, minor) : std::from_chars_result{dot, {}};
  if (!has_minor || error != std::errc{} || minor_error != std::errc{} || rest != end || major < 1 ||
      major > 99 || minor < 0 || minor > 9)
    fail(ErrorCode::value, "read --capability", "`" + text + "`", "a compute capability such as 9.0");
  return 10 * major + minor;
}

std::string command_of(const ConvertLayoutOptions& options) {
  std::string command =
      fmt::format("faro layout convert {} {}", shell_word(options.from), shell_word(options.to));
  if (!options.element.empty()) command += " --element " + options.element;
  if (!options.capability.empty()) command += " --capability " + options.capability;
  if (options.shared) command += " --shared";
  if (options.cheapest) command += " --cheapest";
  if (!options.name.empty()) command += " --name " + options.name;
  return command + " --emit " + shell_word(options.emit);
}

void convert_layout(const ConvertLayoutOptions& options) {
  if (options.list) return list_layouts(options);
  if (options.to.empty())
    fail(ErrorCode::usage, kOperation, options.from.empty() ? "no FROM" : "no TO", "FROM and TO, or --list",
         "`faro layout convert --help` shows how");
  for (const auto& [is_given, flag] :
       {std::pair(options.shared, "--shared"), std::pair(options.cheapest, "--cheapest"),
        std::pair(!options.name.empty(), "--name")})
    if (is_given && options.emit.empty())
      fail(ErrorCode::usage, kOperation, std::string(flag) + " without --emit", "it with --emit only");
  if (options.shared && options.cheapest)
    fail(ErrorCode::usage, kOperation, "--shared and --cheapest", "one of them");
  const int element = element_of(options);
  const std::string name = exchange::function_name(options.name.empty() ? "convert_layout" : options.name);
  if (!options.emit.empty()) {
    for (const std::string& text : {options.from, options.to})
      if (text.starts_with('@'))
        require_own_file(kOperation, "--emit", options.emit, {text.substr(1)}, "a layout");
    require_text_file(options.emit);
  }
  const exchange::Conversion conversion = exchange::convert(
      exchange::parse_layout(options.from, element), exchange::parse_layout(options.to, element),
      {.element = element, .capability = capability_of(options)});
  exchange::Way way = options.shared ? exchange::Way::shared : exchange::Way::registers;
  if (options.cheapest) way = exchange::Way::cheapest;
  std::string code;
  if (!options.emit.empty())
    code = exchange::emit_conversion(conversion, {.name = name, .command = command_of(options), .way = way})
               .text;
  TextFile file(options.emit, code);
  if (options.json) {
    Json json = Json::parse(exchange::to_json(conversion));
    json["emitted"] = options.emit.empty() ? Json(nullptr) : Json(options.emit);
    print(json);
  } else {
    std::string text = exchange::to_text(conversion);
    text.pop_back();
    print(options.emit.empty() ? text : text + "\nemitted       " + options.emit);
  }
  file.commit();
}

}  // namespace

Verb exchange_verb(CLI::App& app) {
  const auto options = std::make_shared<ConvertLayoutOptions>();
  CLI::App* const command = app.get_subcommand("layout")->add_subcommand(
      "convert",
      "Convert fragments in registers to another layout by the fewest shuffles, or through shared memory");
  add_text(*command, "FROM", options->from, "", "The layout that the registers have; --list names many");
  add_text(*command, "TO", options->to, "", "The layout that is wanted");
  add_text(*command, "--element", options->element, "BITS",
           "Bits of an element: 8, 16, 32 (the default) or 64");
  add_text(*command, "--emit", options->emit, "FILE", "Write the conversion as a header of CUDA C++");
  add_text(*command, "--capability", options->capability, "M.N",
           "Compute capability; ldmatrix needs 7.5, stmatrix 9.0, the default");
  command->add_flag("--shared", options->shared, "With --emit: through shared memory");
  command->add_flag("--cheapest", options->cheapest,
                    "With --emit: through shared memory where that takes fewer turns");
  add_text(*command, "--name", options->name, "NAME",
           "With --emit: the function; the default is convert_layout");
  command->add_flag("--list", options->list, "List the layouts that have names");
  add_no_sync(*command);
  command->add_flag("--json", options->json,
                    "Print JSON on standard output; docs/guide/json.md describes it");
  command->footer(
      "Examples:\n  faro layout convert mma.m16n8.C mma.m16n8k8.A\n"
      "  faro layout convert ldmatrix.x4 ldmatrix.x4.trans --element 16 --emit transpose.cuh");
  return {command, [options] { convert_layout(*options); }};
}

}  // namespace faro::cli
