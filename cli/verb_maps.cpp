// faro maps [NAME]: every permutation that has a name; with NAME, all about one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "permutation/catalogue.hpp"

namespace faro::cli {
namespace {

struct MapsOptions {
  CommonOptions common;
  std::string name;
};

// pi(0), pi(1), … of an entry's example; nothing for a file.
std::vector<std::uint64_t> images_of(const MapEntry& entry) {
  std::vector<std::uint64_t> images;
  if (entry.is_file()) return images;
  const Permutation map = parse_permutation(entry.example);
  for (std::uint64_t x = 0; x < element_count(map); ++x) images.push_back(apply(map, x));
  return images;
}

Json json_of(const MapEntry& entry) {
  Json json;
  json["name"] = entry.name;
  json["syntax"] = entry.syntax;
  json["meaning"] = entry.meaning;
  json["picture"] = picture(entry);
  json["example"] = entry.example;
  json["images"] = images_of(entry);
  json["command"] = entry.command;
  return json;
}

std::string indented(std::string_view text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

std::string page_of(const MapEntry& entry) {
  std::string page = fmt::format("{}\n  {}\n\n{}\n{}\n", entry.syntax, entry.meaning, entry.example,
                                 indented(picture(entry)));
  if (const auto images = images_of(entry); !images.empty()) {
    page += fmt::format("\n  x      {:>2}\n  pi(x)  {:>2}\n",
                        fmt::join(
                            [&] {
                              std::vector<std::size_t> indices(images.size());
                              for (std::size_t x = 0; x < indices.size(); ++x) indices[x] = x;
                              return indices;
                            }(),
                            " "),
                        fmt::join(images, " "));
  }
  return page + fmt::format("\n$ {}", entry.command);
}

std::string list_of(std::span<const MapEntry> entries) {
  std::size_t widest = 0;
  for (const MapEntry& entry : entries) widest = std::max(widest, entry.syntax.size());
  std::string list;
  for (const MapEntry& entry : entries)
    list += fmt::format("{:<{}}  {}\n", entry.syntax, widest, entry.meaning);
  return list + "\n`faro maps NAME` shows one; out[pi(x)] = in[x], bit 0 is least significant.";
}

void show_maps(const MapsOptions& options) {
  std::span<const MapEntry> entries = catalogue();
  if (!options.name.empty()) {
    const MapEntry* const entry = find_map(options.name);
    if (entry == nullptr) {
      fail(ErrorCode::spec, "find the map", "`" + options.name + "`", "a name of `faro maps`",
           suggest_map(options.name));
    }
    entries = std::span(entry, 1);
  }
  if (!options.common.json) return print(options.name.empty() ? list_of(entries) : page_of(entries.front()));
  Json json = new_json();
  json["maps"] = Json::array();
  for (const MapEntry& entry : entries) json["maps"].push_back(json_of(entry));
  print(json);
}

}  // namespace

Verb maps_verb(CLI::App& app) {
  const auto options = std::make_shared<MapsOptions>();
  CLI::App* const command = app.add_subcommand("maps", "List every permutation that has a name, or show one");
  command->add_option("NAME", options->name, "A map, such as gray")->type_name("");
  options->common.add_json(*command);
  return {command, [options] { show_maps(*options); }};
}

}  // namespace faro::cli
