// faro shuffle IN.npy OUT.npy: a random permutation of records, computed from a seed, of files of any size.
#include <fmt/format.h>

#include <memory>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/file_plan.hpp"
#include "cli/output.hpp"
#include "cli/permute_file.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/file.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

struct ShuffleOptions {
  PermuteOptions permute;
  std::string seed;
  bool explain = false;
};

void shuffle(ShuffleOptions& options) {
  PermuteOptions& permute = options.permute;
  check_file_options(permute);
  if (permute.raw.empty()) require_npy_name("shuffle `" + permute.in + "`", permute.out);
  require_whole(permute.in);
  const std::uint64_t seed = parse_number("--seed", options.seed, 0);
  if (permute.shards) {
    if (options.explain) fail(ErrorCode::value, "shuffle", "--explain with --shards", "either alone");
    permute.spec = fmt::format("shuffle {} by seed {}", permute.rows ? "of rows" : "of items", seed);
    permute.has_out = true;
    return shuffle_shards(permute, seed);
  }
  const std::uint64_t budget = memory_budget(permute.memory);
  const io::NpyHeader header = header_of_input(permute);
  // Rows of no items are nothing to move.
  const bool by_rows = permute.rows && !header.shape.empty() && header.item_count() > 0;
  const file::Shuffle asked{
      .records = by_rows ? header.shape.front() : header.item_count(),
      .record_bytes = by_rows ? header.data_bytes() / header.shape.front() : header.item_bytes,
      .seed = seed,
      .inverse = permute.inverse};
  permute.spec = fmt::format("shuffle {} by seed {}", by_rows ? "of rows" : "of items", seed);
  if (options.explain) {
    file::Options file_options{.memory_bytes = budget};
    const FilePlan plan{.spec = permute.spec,
                        .width = asked.record_bytes,
                        .memory = budget,
                        .facts = file::record_facts(asked.records, asked.record_bytes, false, file_options),
                        .affine = std::nullopt,
                        .of_records = true,
                        .disk = io::directory_of(permute.out)};
    return print_file_plan(plan, permute.common.json);
  }
  run_records(permute, header,
              {.count = asked.records,
               .record_bytes = asked.record_bytes,
               .elements = count_text(asked.records, by_rows ? "row" : "item") + " of " +
                           size_text(asked.record_bytes),
               .budget = budget},
              [&](const file::Input& in, const file::Output& out, const file::Options& file_options) {
                file::shuffle(asked, in, out, file_options);
              });
}

}  // namespace

Verb shuffle_verb(CLI::App& app) {
  const auto options = std::make_shared<ShuffleOptions>();
  PermuteOptions& permute = options->permute;
  CLI::App* const command = app.add_subcommand(
      "shuffle", "Permute records at random by a seed: the same for every --memory and --threads");
  add_argument(*command, "IN.npy", permute.in, "The array to shuffle; any dtype of plain bytes");
  add_argument(*command, "OUT.npy", permute.out, "The result, with the dtype and the shape of IN.npy");
  command->add_option("--seed", options->seed, "A number below 2^64 that says which permutation")
      ->required()
      ->type_name("SEED")
      ->check(require_text);
  command->add_flag("--rows", permute.rows,
                    "Shuffle whole rows, along the first axis, instead of single items");
  command->add_flag("--inverse", permute.inverse, "Put shuffled records back where they were");
  add_text(*command, "--memory", permute.memory, "SIZE",
           "Memory for buffers, such as 16GiB; the default is 60% of the free memory");
  command->add_flag("--explain", options->explain, "Explain how it would be done, and write nothing");
  command->add_flag("--verify", permute.verify,
                    "Check the result by sums over what was read and what was written");
  add_journal_options(*command, permute);
  add_raw_options(*command, permute);
  add_text(*command, "--io", permute.io, "WAY",
           "How files are read and written: auto, uring, threads (both with O_DIRECT) or buffered");
  command->add_flag("--shards", permute.shards,
                    "Run under mpirun: each rank reads, moves and writes its part of the files");
  permute.common.add_run(*command, permute.quiet);
  return {command, [options] { shuffle(*options); }};
}

}  // namespace faro::cli
