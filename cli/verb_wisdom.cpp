// faro wisdom: what `--measure` has found, kept by this user: shown, taken from elsewhere, forgotten.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/error.hpp"
#include "faro/wisdom.hpp"
#include "io/npy.hpp"
#include "permutation/spec_file.hpp"

namespace faro::cli {
namespace {

struct WisdomOptions {
  std::string import_from;
  std::string export_to;
  bool forget = false;
  bool json = false;
};

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

void tell_wisdom(const WisdomOptions& options) {
  if (options.forget && !(options.import_from.empty() && options.export_to.empty()))
    fail(ErrorCode::usage, "wisdom", "--forget with --import or --export", "one of them");
  const Json before = Json::parse(wisdom::to_json());
  Json json = new_json();
  const auto path = wisdom::path();
  json["file"] = path ? path->string() : "";
  std::string text;
  if (options.forget) {
    json["forgotten"] = wisdom::forget();
    text = fmt::format("{} forgotten", count_text(json["forgotten"].get<std::uint64_t>(), "choice"));
  } else if (!options.import_from.empty()) {
    json["changed"] =
        wisdom::merge(detail::read_text_file(options.import_from, kMostBytes), options.import_from);
    text = fmt::format("{} new or faster", count_text(json["changed"].get<std::uint64_t>(), "choice"));
  }
  if (!options.export_to.empty()) io::write_file(options.export_to, wisdom::to_json() + "\n");
  const Json now = Json::parse(wisdom::to_json());
  json["entries"] = now["entries"];
  if (options.json) return print(json);
  for (const Json& entry : now["entries"]) {
    text += fmt::format("{}{}\n  {}, faro {}: {:.4g} us", text.empty() ? "" : "\n",
                        entry["problem"].get<std::string>(), entry["machine"].get<std::string>(),
                        entry["version"].get<std::string>(), entry["microseconds"].get<double>());
  }
  print(text.empty() ? "nothing is kept" : text);
}

}  // namespace

Verb wisdom_verb(CLI::App& app) {
  const auto options = std::make_shared<WisdomOptions>();
  CLI::App* const command = app.add_subcommand(
      "wisdom", "Tell what --measure has found and kept, take it from a file, write it to one, or forget it");
  add_text(*command, "--import", options->import_from, "FILE",
           "Take the entries of a file that --export wrote; of the same problem the faster stays");
  add_text(*command, "--export", options->export_to, "FILE", "Write all entries to a file");
  command->add_flag("--forget", options->forget, "Forget all");
  command->add_flag("--json", options->json, "Print JSON instead of text");
  return {command, [options] { tell_wisdom(*options); }};
}

}  // namespace faro::cli
