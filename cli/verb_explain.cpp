// faro explain SPEC: how a permutation would be run, and why; nothing is moved.
#include <memory>

#include "cli/arguments.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/faro.hpp"
#include "faro/io/npy.hpp"

namespace faro::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string spec;
  std::string svg;
};

void explain(const Options& options) {
  const Problem problem{
      .permutation = parse_spec(options.spec),
      .element_bytes = options.common.element_bytes_given().value_or(Problem{}.element_bytes),
      .batch = options.common.batch_count()};
  const ExecutablePlan plan = faro::plan(problem);
  if (!options.svg.empty()) io::write_file(options.svg, plan.plan().svg());
  if (!options.common.json) {
    std::string text = plan.explain();
    while (text.ends_with('\n')) text.pop_back();
    return print(text);
  }
  print(plan.plan().explain_json());
}

}  // namespace

Verb explain_verb(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand("explain", "Tell how a permutation is run, and why");
  command->add_option("SPEC", options->spec, "The permutation, such as `bit_reversal(20)`")
      ->required()
      ->type_name("");
  options->common.add_element_bytes(*command, "Bytes of an element; the default is 4");
  options->common.add_batch(*command);
  command->add_option("--svg", options->svg, "Also draw the index bits, the tile and its banks to this file")
      ->type_name("FILE")
      ->check(refuse_empty);
  options->common.add_json(*command);
  return {command, [options] { explain(*options); }};
}

}  // namespace faro::cli
