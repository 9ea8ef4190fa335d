// faro convert IN OUT: an array from one store to another: format, chunks, codec, type.
#include <memory>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/permute_options.hpp"
#include "cli/permute_ways.hpp"
#include "cli/verbs.hpp"

namespace faro::cli {

Verb convert_verb(CLI::App& app) {
  const auto options = std::make_shared<PermuteOptions>();
  CLI::App* const command = app.add_subcommand(
      "convert", "Convert an array between Zarr, HDF5, safetensors, GGUF, .npy and others");
  add_argument(
      *command, "IN", options->in,
      "The array: a file or folder, with a name behind a colon where it has several, such as in.h5:/t");
  add_argument(*command, "OUT", options->out, "The result; its name tells its format");
  options->store.add(*command);
  add_text(*command, "--dtype", options->numbers.dtype, "DTYPE",
           "Convert numbers to this type, such as bfloat16");
  add_text(*command, "--order", options->order, "ORDER",
           "Memory order of OUT: C, where the last axis is the fastest, or F, where the first is");
  add_text(*command, "--memory", options->memory, "SIZE",
           "Memory for buffers, such as 1GiB; the default is 60% of the free memory");
  command->add_flag(
      "--verify", options->verify,
      "Check the result by sums over what was read, and what was stored, read back and decoded");
  add_journal_options(*command, *options);
  add_raw_options(*command, *options);
  options->common.add_run(*command, options->quiet);
  return {command, [options] {
            options->has_out = true;
            complete_spec(*options);
            relayout_stores(*options);
          }};
}

}  // namespace faro::cli
