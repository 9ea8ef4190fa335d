// faro emit SPEC: a permutation as standalone CUDA C++ or C++.
#include <memory>

#include "capi/author_json.hpp"
#include "cli/arguments.hpp"
#include "cli/number_options.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/emit/emit.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

struct EmitOptions {
  std::string spec;
  std::string kernel;
  std::string target = "cuda";
  std::string element;
  std::string name;
  std::string tile_bits;
  std::string iteration_bits;
  std::string map;
  NumberOptions numbers;
  std::string out;
  bool plain_rows = false;
  bool factors = false;
  bool launcher = false;
  bool json = false;
};

// For a function of C++, what only kernels have is a mistake.
void require_no_kernel_options(const EmitOptions& options) {
  const std::string option = first_given({{"--kernel", !options.kernel.empty()},
                                          {"--n-iter", !options.iteration_bits.empty()},
                                          {"--plain-rows", options.plain_rows},
                                          {"--factors", options.factors},
                                          {"--launcher", options.launcher}});
  if (option.empty()) return;
  fail(ErrorCode::value, "emit", option + " with --target cpp", option + " with --target cuda");
}

emit::Options emit_options(const EmitOptions& options) {
  emit::Options result;
  result.language = emit::parse_language(options.target);
  if (result.language == emit::Language::cpp) require_no_kernel_options(options);
  if (!options.kernel.empty()) result.rung = emit::parse_rung(options.kernel);
  if (!options.element.empty()) result.element = options.element;
  if (!options.name.empty()) result.name = options.name;
  if (!options.tile_bits.empty()) {
    result.tile_bits = static_cast<int>(parse_number("--n-tile", options.tile_bits, 1, emit::kMaxIndexBits));
  }
  if (!options.iteration_bits.empty()) {
    result.iteration_bits =
        static_cast<int>(parse_number("--n-iter", options.iteration_bits, 0, emit::kMaxIterationBits));
  }
  const bool has_iterations = result.rung == emit::Rung::iters && result.language == emit::Language::cuda;
  if (!has_iterations && (!options.iteration_bits.empty() || options.plain_rows)) {
    fail(ErrorCode::value, "emit",
         (options.plain_rows ? "--plain-rows" : "--n-iter") + std::string(" with --kernel ") +
             emit::name(result.rung),
         "--kernel iters");
  }
  if (result.rung == emit::Rung::naive && !options.tile_bits.empty()) {
    fail(ErrorCode::value, "emit", "--n-tile with --kernel naive", "--n-tile with a kernel that has a tile");
  }
  result.turned_rows = !options.plain_rows;
  result.both_factors = options.factors;
  result.launcher = options.launcher;
  result.map = options.map;
  return result;
}

// The comments name the map as it was typed, where that is a name and no file, which may be another by then.
emit::Source with_typed_name(emit::Source source, const std::string& spec) {
  const bool is_plain = spec.find_first_of("@'\"\\\n\r\t") == std::string::npos;
  if (is_plain) source.text = as_typed(std::move(source.text));
  return source;
}

void run(const EmitOptions& options) {
  require_own_file("emit", "--out", options.out, files_in(options.spec));
  const Affine map = affine(normal_form(parse_spec(options.spec)), "emit");
  emit::Options emitted = emit_options(options);
  emitted.arithmetic = options.numbers.of_types("emit", {std::uint64_t{1} << map.bits()});
  if (emitted.arithmetic && !options.element.empty())
    fail(ErrorCode::value, "emit", "--element with --dtype-in", "one of them");
  const emit::Source source = with_typed_name(emit::emit(map, emitted), options.spec);
  TextFile file(options.out, source.text);
  if (options.json) print(capi::emit_json(map, emitted, source));
  if (options.out.empty() && !options.json) print(source.text.substr(0, source.text.size() - 1));
  file.commit();
}

}  // namespace

Verb emit_verb(CLI::App& app) {
  const auto options = std::make_shared<EmitOptions>();
  CLI::App* const command = app.add_subcommand("emit", "Write a permutation as standalone CUDA C++ or C++");
  add_argument(*command, "SPEC", options->spec, "The permutation, such as `bit_reversal(20)`");
  const auto word = [&](const std::string& name, std::string& value, const std::string& type,
                        const std::string& help) { add_text(*command, name, value, type, help); };
  word("--kernel", options->kernel, "RUNG", "naive, tile, banks, iters, two-pass or one-pass (the default)");
  word("--element", options->element, "T", "The elements' type; the default is uint32_t");
  word("--name", options->name, "F", "The function, and the prefix of all names; the default is faro_kernel");
  word("--n-tile", options->tile_bits, "N",
       "log2 of the elements in a row of the tile; the default fits the element");
  word("--n-iter", options->iteration_bits, "N",
       "With --kernel iters: log2 of the number of tiles for each block; the default is 3");
  command->add_flag("--plain-rows", options->plain_rows,
                    "With --kernel iters: do not rotate the rows of the tile");
  command->add_flag("--factors", options->factors,
                    "With --kernel tile, banks or iters: write one kernel for each factor of A = (U R)(R L "
                    "P), the published pair");
  command->add_flag("--launcher", options->launcher, "Also NAME_launch and NAME_workspace_bytes");
  word("--map", options->map, "EXPR",
       "C++ over v, the element, and the indices x and y: out[y] = EXPR where y = pi(x)");
  options->numbers.add_types_to(*command);
  word("--target", options->target, "LANGUAGE", "cuda (the default) or cpp");
  word("--out", options->out, "FILE", "Write to this file instead of standard output");
  add_no_sync(*command);
  command->add_flag("--json", options->json,
                    "Print JSON on standard output; docs/guide/json.md describes it");
  return {command, [options] { run(*options); }};
}

}  // namespace faro::cli
