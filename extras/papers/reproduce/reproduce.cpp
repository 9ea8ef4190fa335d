#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

struct Entry {
  std::string_view name;
  const char* title;
  const char* source;
  Table (*make)(const Options&);
  std::span<const std::uint64_t> widths = {};
};

constexpr std::array<std::uint64_t, 7> kMachineWidths{4, 8, 16, 32, 64, 128, 256};
constexpr std::array<std::uint64_t, 5> kMatrixWidths{16, 32, 64, 128, 256};
constexpr std::array<std::uint64_t, 2> kArrayWidths{32, 64};
constexpr std::array<std::uint64_t, 3> kSides{16, 32, 64};
constexpr std::array<std::uint64_t, 3> kWarps{8, 16, 32};

constexpr const char* kBmmc =
    "Bouverot-Dupuis and Sheeran, Efficient GPU implementation of affine index permutations on arrays";
constexpr const char* kOffline =
    "Kasagi, Nakano, Ito, An implementation of conflict-free offline permutation on the GPU";
constexpr const char* kMachines = "Nakano, Simple memory machine models for GPUs";
constexpr const char* kRap =
    "Nakano, Matsumae, Ito, Random address permute-shift technique for the shared memory on GPUs";

constexpr const char* kSwizzle =
    "Phothilimthana et al., Swizzle Inventor: data movement synthesis for GPU kernels";

constexpr std::array<Entry, 19> kEntries{{
    {"bmmc-section2.3", "Section 2.3: copy, naive and tiled transpose of 2^15 x 2^15", kBmmc, bmmc_section23},
    {"bmmc-figure9", "Figure 9: the optimizations' effect on running time, 2^30 elements", kBmmc,
     bmmc_figure9},
    {"bmmc-figure10", "Figure 10: memory bandwidth of the kernels, 2^30 elements", kBmmc, bmmc_figure10},
    {"bmmc-figure11", "Figure 11: speed-up over the naive kernel, 2^20 to 2^30 elements", kBmmc,
     bmmc_figure11},
    {"bmmc-figure12", "Figure 12: a transpose kernel on every shape of 2^25 elements", kBmmc, bmmc_figure12},
    {"bmmc-appendix", "Appendix A: what merging the bits of an index saves", kBmmc, bmmc_appendix},
    {"offline-example", "The worked example: a 4 x 4 transpose on 4 banks", kOffline, offline_example},
    {"offline-table1", "Table I: accesses of the algorithms", kOffline, offline_table1},
    {"offline-table2", "Table II: congestion and time of five permutations of 1024 elements", kOffline,
     offline_table2},
    {"offline-figure7", "Figure 7: time over the number of blocks", kOffline, offline_figure7},
    {"dmm-umm-figure4", "Figure 4: two warps' requests on the DMM and the UMM", kMachines, dmm_umm_figure4},
    {"dmm-umm-table1", "Table 1: time of contiguous and stride access", kMachines, dmm_umm_table1,
     kMachineWidths},
    {"rap-figure3", "Figure 3: two warps' requests on the DMM", kRap, rap_figure3},
    {"rap-table1", "Table I: congestion of RAW, RAS and RAP", kRap, rap_table1, kMatrixWidths},
    {"rap-table2", "Table II: congestion of accesses to a w x w matrix", kRap, rap_table2, kMatrixWidths},
    {"rap-table3", "Table III: transposes of a 32 x 32 matrix in shared memory", kRap, rap_table3, kSides},
    {"rap-table4", "Table IV: congestion of accesses to an array of w^4 elements", kRap, rap_table4,
     kArrayWidths},
    {"swizzle-table1", "Table 1: time to complete a sketch", kSwizzle, swizzle_table1, kWarps},
    {"swizzle-grids", "The exchange of structs of 4 words among 8 lanes, step by step", kSwizzle,
     swizzle_grids},
}};

constexpr auto kNames = [] {
  std::array<std::string_view, kEntries.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kEntries[i].name;
  return names;
}();

const Entry& entry_of(std::string_view name) {
  const auto* const entry =
      std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& e) { return e.name == name; });
  if (entry != kEntries.end()) return *entry;
  const std::string suggestion = did_you_mean(name, kNames);
  fail(ErrorCode::value, "find what to reproduce", "`" + std::string(name) + "`",
       "a name of `faro reproduce --list`", suggestion);
}

void check_width(const Entry& entry, std::uint64_t width) {
  if (width == 0 || std::find(entry.widths.begin(), entry.widths.end(), width) != entry.widths.end()) return;
  fail(ErrorCode::value, "reproduce " + std::string(entry.name), "width " + std::to_string(width),
       entry.widths.empty() ? std::string("no width: what is published has one")
                            : fmt::format("one of {}", fmt::join(entry.widths, ", ")));
}

}  // namespace

std::span<const std::string_view> names() { return kNames; }

std::span<const std::uint64_t> widths(std::string_view name) { return entry_of(name).widths; }

std::uint64_t disagreements(const Table& table) {
  return static_cast<std::uint64_t>(std::count_if(table.rows.begin(), table.rows.end(),
                                                  [](const Row& row) { return row.agrees == false; }));
}

Table reproduce(std::string_view name, const Options& options) {
  const Entry& entry = entry_of(name);
  if (options.trials != 0 && (options.trials < kLeastTrials || options.trials > kMostTrials)) {
    fail(ErrorCode::value, "reproduce " + std::string(name), std::to_string(options.trials) + " trials",
         std::to_string(kLeastTrials) + " to " + std::to_string(kMostTrials),
         "leave them out: each table knows how many it needs");
  }
  check_width(entry, options.width);
  Table table = entry.make(options);
  table.name = entry.name;
  table.title = entry.title;
  table.source = entry.source;
  table.seed = options.seed;
  return table;
}

}  // namespace faro::reproduce
