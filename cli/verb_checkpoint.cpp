// faro checkpoint RULES IN OUT: rules applied to all tensors of a safetensors checkpoint.
#include <fmt/format.h>

#include <memory>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "faro/checkpoint.hpp"
#include "size_text.hpp"

namespace faro::cli {
namespace {

struct CheckpointVerbOptions {
  PermuteOptions permute;  // what it shares with other verbs of files
  std::string rules;
  std::string shard_size;
  bool explain = false;
};

Json facts_json(const CheckpointVerbOptions& options, const checkpoint::Facts& facts) {
  Json json = new_json();
  json["in"] = options.permute.in;
  json["out"] = options.permute.out;
  json.update(Json::parse(facts.json()));
  return json;
}

void tell_checkpoint(const CheckpointVerbOptions& options, const checkpoint::Facts& facts) {
  if (options.permute.common.json) return print(facts_json(options, facts));
  std::string text =
      explained("in", fmt::format("{} in {}, {} of them dropped", count_text(facts.in_tensors, "tensor"),
                                  count_text(facts.in_files, "file"), facts.dropped.size())) +
      "\n" + explained("out", facts.text()) + "\n" +
      explained("disk", fmt::format("reads {}, writes {}", size_text(facts.read_bytes),
                                    size_text(facts.written_bytes)));
  for (std::size_t rule = 0; rule < facts.rules.size(); ++rule) {
    text += "\n" + explained(fmt::format("rule {}", rule + 1),
                             fmt::format("{}: {}", facts.rules[rule].text,
                                         count_text(facts.rules[rule].matched, "tensor")));
  }
  for (const checkpoint::Tensor& tensor : facts.tensors) {
    const bool is_renamed = tensor.sources.size() != 1 || tensor.sources.front() != tensor.name;
    if (tensor.changes.empty() && !is_renamed) continue;
    text += "\n" + explained("tensor",
                             fmt::format("{}, {} of {}{}{}", tensor.name, shape_text(tensor.shape),
                                         tensor.dtype, tensor.changes.empty() ? "" : ": ", tensor.changes));
    if (is_renamed) text += fmt::format("; from {}", fmt::join(tensor.sources, ", "));
  }
  print(text);
}

void tell_run(const CheckpointVerbOptions& options, const checkpoint::Report& report) {
  const double ms = report.seconds * 1e3;
  if (options.permute.common.json) {
    Json json = facts_json(options, report.facts);
    json["ms"] = ms;
    json["resumed_tiles"] = report.resumed_tiles;
    json["verified"] = report.verified;
    return print(json);
  }
  if (options.permute.quiet) return;
  const std::string done =
      fmt::format("{} in {}, {:.3g} GB/s{}", size_text(report.facts.written_bytes), time_text(ms),
                  gb_per_s((report.facts.read_bytes + report.facts.written_bytes) / 2, ms),
                  report.verified ? ", verified" : "");
  note(fitted_line({"checkpoint: " + done, done}, {{report.facts.text()}}));
}

void run_checkpoint(const CheckpointVerbOptions& options) {
  const PermuteOptions& permute = options.permute;
  checkpoint::Options wanted{.memory_bytes = memory_budget(permute.memory),
                             .threads = permute.common.plan_options(1).threads,
                             .io = io_of(permute.io),
                             .verify = permute.verify,
                             .resume = permute.resume};
  if (!permute.checkpoint.empty()) wanted.checkpoint_seconds = checkpoint_seconds(permute);
  if (!options.shard_size.empty()) wanted.shard_bytes = parse_size("--shard-size", options.shard_size);
  const std::string rules = checkpoint::read_rules(options.rules);
  if (options.explain)
    return tell_checkpoint(options, checkpoint::explain(rules, permute.in, permute.out, wanted));
  const InterruptNote interrupted(
      "`" + permute.out + "` is as it was; the same command with --resume goes on with what is finished");
  Progress progress(permute.quiet || permute.common.json ? Verbosity::quiet : Verbosity::normal);
  wanted.progress = [&](const file::Progress& now) {
    progress.reach("changing " + permute.in, now.done_bytes, now.total_bytes);
  };
  wanted.done = [&](const checkpoint::Report& report) {
    progress.end();
    tell_run(options, report);
  };
  checkpoint::run(rules, permute.in, permute.out, wanted);
}

}  // namespace

Verb checkpoint_verb(CLI::App& app) {
  const auto options = std::make_shared<CheckpointVerbOptions>();
  PermuteOptions& permute = options->permute;
  CLI::App* const command = app.add_subcommand(
      "checkpoint", "Transpose, cast, split, join and rename the tensors of a safetensors checkpoint");
  add_argument(*command, "RULES", options->rules, "What is done to which tensors: a file of JSON or TOML");
  add_argument(*command, "IN", permute.in, "A folder of safetensors with their index, or one such file");
  add_argument(*command, "OUT", permute.out,
               "A folder that is not there, or a name that ends in .safetensors");
  add_text(*command, "--memory", permute.memory, "SIZE",
           "Memory for buffers, such as 1GiB; the default is 60% of the free memory");
  add_text(*command, "--shard-size", options->shard_size, "SIZE",
           "The most bytes of a file of OUT, unless one tensor has more; the default is 5 GB");
  command->add_flag("--explain,--dry-run", options->explain, "Explain what would be done, and write nothing");
  command->add_flag("--verify", permute.verify,
                    "Check the result by sums over what was read and what was written");
  add_journal_options(*command, permute);
  add_text(*command, "--io", permute.io, "WAY",
           "How files are read and written: auto, uring, threads (both with O_DIRECT) or buffered");
  permute.common.add_run(*command, permute.quiet);
  return {command, [options] { run_checkpoint(*options); }};
}

}  // namespace faro::cli
