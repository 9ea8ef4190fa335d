// faro reproduce NAME: a paper's figures and ours, side by side. faro reproduce --list: what there is.
#include <algorithm>
#include <memory>
#include <variant>

#include "cli/arguments.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "reproduce/reproduce.hpp"

namespace faro::cli {
namespace {

constexpr std::uint64_t kMostWidth = 1 << 20;

struct ReproduceOptions {
  CommonOptions common;
  std::string name;
  std::string seed;
  std::string trials;
  std::string width;
  bool list = false;
};
void list_names(bool as_json) {
  if (as_json) {
    Json json = new_json();
    json["names"] = reproduce::names();
    return print(json);
  }
  std::string list;
  for (const std::string_view name : reproduce::names()) list.append(list.empty() ? "" : "\n").append(name);
  print(list);
}

Json json_of(const reproduce::Value& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return Json(nullptr);
        } else {
          return Json(held);
        }
      },
      value);
}

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const reproduce::Table& table) {
  Json json = new_json();
  json["name"] = table.name;
  json["rows"] = Json::array();
  for (const reproduce::Row& row : table.rows) {
    Json entry;
    entry["case"] = row.subject;
    entry["quantity"] = row.quantity;
    entry["paper"] = json_of(row.paper);
    entry["model"] = json_of(row.model);
    entry["here"] = json_of(row.here);
    entry["unit"] = row.unit;
    entry["agrees"] = json_of(row.agrees);
    entry["standard_error"] = json_of(row.standard_error);
    entry["criterion"] = row.criterion;
    json["rows"].push_back(entry);
  }
  json["title"] = table.title;
  json["source"] = table.source;
  json["seed"] = table.seed;
  json["notes"] = table.notes;
  json["disagreements"] = reproduce::disagreements(table);
  return json;
}

// The table has been printed; the exit status tells whoever does not read it.
void judge(const reproduce::Table& table) {
  const std::uint64_t count = reproduce::disagreements(table);
  if (count == 0) return;
  const auto first = std::find_if(table.rows.begin(), table.rows.end(),
                                  [](const reproduce::Row& row) { return row.agrees == false; });
  throw Verdict{.exit_status = exit_status(ErrorCode::verification),
                .line = "reproduce " + table.name + ": " + count_text(count, "row") + " of " +
                        std::to_string(table.rows.size()) + (count == 1 ? " does" : " do") +
                        " not agree, first " + first->subject + ", " + first->quantity};
}

void reproduce_name(const ReproduceOptions& options) {
  if (options.list) {
    if (!options.name.empty())
      fail(ErrorCode::usage, "reproduce", "`" + options.name + "` and --list", "one of them",
           "`faro reproduce --list` names what there is");
    return list_names(options.common.json);
  }
  if (options.name.empty())
    fail(ErrorCode::usage, "reproduce", "no NAME", "NAME or --list",
         "`faro reproduce --list` names what there is");
  reproduce::Options wanted;
  if (!options.seed.empty()) wanted.seed = parse_number("--seed", options.seed, 0);
  if (!options.trials.empty()) {
    wanted.trials = parse_number("--trials", options.trials, reproduce::kLeastTrials, reproduce::kMostTrials);
  }
  if (!options.width.empty()) wanted.width = parse_number("--width", options.width, 1, kMostWidth);
  const reproduce::Table table = reproduce::reproduce(options.name, wanted);
  std::string text = options.common.json ? json_of(table).dump(2) : to_text(table);
  while (text.ends_with('\n')) text.pop_back();
  print(text);
  judge(table);
}

}  // namespace

Verb reproduce_verb(CLI::App& app) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App* const command =
      app.add_subcommand("reproduce", "Compute a published table again, and show both side by side");
  add_text(*command, "NAME", options->name, "", "What to reproduce, such as rap-table2; --list names all");
  command->add_flag("--list", options->list, "List the names");
  add_text(*command, "--seed", options->seed, "S",
           "Seed of the random layouts and accesses; the default is 1");
  add_text(
      *command, "--trials", options->trials, "N",
      "Number of trials for each estimated cell; the default keeps standard errors small enough to judge");
  add_text(*command, "--width", options->width, "W",
           "Banks and threads of a warp, where a table can be computed for others than the paper's");
  options->common.add_json(*command);
  return {command, [options] { reproduce_name(*options); }};
}

}  // namespace faro::cli
