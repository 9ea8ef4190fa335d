#include "cli/help.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace faro::cli {
namespace {

constexpr const char* kMove = "Move";
constexpr const char* kExplain = "Explain";
constexpr const char* kKernels = "Kernels";
constexpr const char* kResearch = "Research";

struct VerbHelp {
  std::string_view verb;
  const char* group;
  std::array<std::string_view, 2> examples;  // run by tests/cli/help.sh, in files that it makes
};

constexpr std::array<VerbHelp, 23> kVerbHelp{{
    {"permute",
     kMove,
     {"faro permute bit_reversal in.npy out.npy --verify",
      "faro permute 'n c h w -> n h w c' images.npy last.npy"}},
    {"take",
     kMove,
     {"faro take index.npy rows.npy taken.npy", "faro take holes.npy rows.npy taken.npy --fill 0"}},
    {"put",
     kMove,
     {"faro put index.npy rows.npy placed.npy --rows 2000",
      "faro put index.npy rows.npy placed.npy --into base.npy"}},
    {"add",
     kMove,
     {"faro add index.npy rows.npy sums.npy --rows 1000",
      "faro add index.npy rows.npy sums.npy --into sums.npy --sums fp64"}},
    {"route",
     kMove,
     {"faro route keys.npy --buckets 256 --out-places places.npy --out-offsets offsets.npy",
      "faro route keys.npy --buckets 256 --multiple 8 --out-rows rows_of.npy"}},
    {"shuffle",
     kMove,
     {"faro shuffle rows.npy shuffled.npy --rows --seed 7",
      "faro shuffle shuffled.npy back.npy --rows --seed 7 --inverse"}},
    {"convert",
     kMove,
     {"faro convert rows.npy rows.zarr --chunks 100,16 --codec zstd:3",
      "faro convert rows.npy rows.safetensors --dtype float16"}},
    {"checkpoint",
     kMove,
     {"faro checkpoint rules.json model changed --memory 1GiB --verify",
      "faro checkpoint rules.json model.safetensors changed.safetensors --explain"}},
    {"recover", kMove, {"faro recover in.npy", "faro recover in.npy --undo"}},
    {"new", kMove, {"faro new 2^20 u4 in.npy", "faro new 1000x16 f4 rows.npy --fill random"}},
    {"explain",
     kExplain,
     {"faro explain 'bit_reversal(24)' --svg plan.svg",
      "faro explain 'transpose(1000, 3000)' --in-place --engine cuda --capability 9.0"}},
    {"bench", kExplain, {"faro bench 'bit_reversal(20)'", "faro bench 'gray(12)' --bytes 16MiB"}},
    {"maps", kExplain, {"faro maps", "faro maps gray"}},
    {"info", kExplain, {"faro info", "faro info --json"}},
    {"tune", kExplain, {"faro tune", "faro tune --json"}},
    {"wisdom", kExplain, {"faro wisdom", "faro wisdom --json"}},
    {"help", kExplain, {"faro help", "faro help permute"}},
    {"layout",
     kKernels,
     {"faro layout --rows 32 --columns 32 --access row --access column --emit",
      "faro layout --rows 64 --columns 64 --element-bytes 2 --access 'row(8)' --access 'column(8)' --svg "
      "tile.svg"}},
    {"emit",
     kKernels,
     {"faro emit 'random_bmmc(24, 1)' --launcher --out kernel.cu",
      "faro emit 'bit_reversal(20)' --element float --map '0.5f * v'"}},
    {"synth", kKernels, {"faro synth --list", "faro synth aos-rcr --struct 4 --emit exchange.cu"}},
    {"network",
     kResearch,
     {"faro network explain sort --bits 20", "faro network run sort in.npy sorted.npy --verify"}},
    {"simulate",
     kResearch,
     {"faro simulate transpose-diagonal --machine dmm --width 32 --latency 100 --n 2^12",
      "faro simulate stride --width 4 --latency 3 --threads 8 --n 48 --timeline"}},
    {"reproduce", kResearch, {"faro reproduce --list", "faro reproduce rap-figure3"}},
}};

}  // namespace

void add_groups_and_examples(CLI::App& app) {
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto found = std::find_if(kVerbHelp.begin(), kVerbHelp.end(), [command](const VerbHelp& help) {
      return help.verb == command->get_name();
    });
    if (found == kVerbHelp.end()) continue;
    command->group(found->group);
    std::string footer = "Examples:";
    for (const std::string_view example : found->examples) footer.append("\n  ").append(example);
    command->footer(footer);
  }
}

}  // namespace faro::cli
