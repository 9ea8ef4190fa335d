// file_requests_bench: what a sweep from file to file reads and writes, in its segments and its order of
// tiles, without permuting anything. `file_requests_bench --help` lists the options.
//
// What a permutation takes beyond this is faro's; what this takes beyond a copy in order is what the disk
// charges for segments. The output has the bytes of the input, tile by tile, in no order that is of use, and
// is removed.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/arguments.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "file/disk.hpp"
#include "file/file_run.hpp"
#include "file/sweep.hpp"
#include "io/npy.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(file_requests_bench: the reads and writes of a sweep from file to file, without permuting; prints JSON

  --spec SPEC     such as bit_reversal(30), or axes(2 1 0) of the file's shape
  --in FILE       a .npy file of as many elements
  --out FILE      is made, and removed
  --memory SIZE   the sweep's: a power of two    (default 1GiB)
  --help
)";

constexpr std::uint64_t kLeastMemory = std::uint64_t{1} << 16;

struct Options {
  std::string spec;
  std::filesystem::path in;
  std::filesystem::path out;
  std::uint64_t memory = std::uint64_t{1} << 30;
};

Options parse(const CommandLine& line) {
  Options options;
  line.read({{"--spec", [&](const Argument& a) { options.spec = a.text; }},
             {"--in", [&](const Argument& a) { options.in = a.text; }},
             {"--out", [&](const Argument& a) { options.out = a.text; }},
             {"--memory", [&](const Argument& a) { options.memory = parse_bytes(a, kLeastMemory); }}});
  if (options.spec.empty()) refuse({"--spec", ""}, "a permutation");
  if (options.in.empty()) refuse({"--in", ""}, "a file");
  if (options.out.empty()) refuse({"--out", ""}, "a file");
  return options;
}

// A byte a page of what nobody writes here, so that it is memory which is written to the disk.
void touch(std::byte* tile, std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  for (std::uint64_t at = 0; at < bytes; at += kPage)
    *static_cast<volatile std::byte*>(tile + at) = std::byte{};
}

int run(const CommandLine& line) {
  const Options options = parse(line);
  const io::NpyHeader header = io::read_npy_header(options.in);
  ParseOptions parsing;
  parsing.shape = header.shape;
  const Problem problem{.permutation = parse_permutation(options.spec, parsing),
                        .element_bytes = header.item_bytes};
  if (total_bytes(problem) != header.data_bytes())
    refuse({"--spec", options.spec}, fmt::format("a permutation of {} elements", header.item_count()));
  file::Options file_options{.memory_bytes = options.memory};
  file::choose_requests(options.out, file_options);
  const file::Sweep sweep(problem, file_options);
  const file::Sweep::State& state = sweep.state();
  const file::Input in{.path = options.in, .offset = header.data_offset};
  const file::Output out{
      .path = options.out,
      .header = io::npy_header_bytes(header.descr, header.shape, io::MemoryOrder::c, io::kTransferBlock)};
  file::FileRun work(
      in, out, file_options,
      {.in_bytes = state.in_bytes, .out_bytes = state.out_bytes, .told_bytes = 2 * state.facts.moved_bytes},
      options.spec);
  const file::Report report = work.run(state.facts, [&] {
    const auto tiles = state.tiles();
    const io::TransferFile from = work.input(tiles->read_run_bytes);
    const io::TransferFile to = work.output(tiles->write_run_bytes);
    const bool is_in_place = tiles->placement == Placement::in_place;
    return work.sweep({.tiles = *tiles,
                       .in = from,
                       .out = to,
                       .in_offset = work.in_offset(),
                       .out_offset = work.out_offset(),
                       .permute = [is_in_place](file::TileWork& tile, const std::byte*, std::byte* y) {
                         if (!is_in_place) touch(y, tile.out.total_bytes());
                       }});
  });
  std::filesystem::remove(options.out);
  constexpr double kMsPerS = 1e3;
  fmt::print("{{\n  \"ms\": {},\n  \"plan\": \"{}\",\n  \"io\": \"{}\",\n", kMsPerS * report.seconds,
             report.facts.text(), report.io);
  fmt::print("  \"read_bytes\": {},\n  \"written_bytes\": {},\n  \"journal_bytes\": 0\n}}\n",
             report.read_bytes, report.written_bytes);
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
