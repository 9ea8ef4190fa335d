// gpu_rows_bench: rows taken, put, added and routed on a GPU, as plans move them, beside a cudaMemcpy of what
// is written in the same rounds. `gpu_rows_bench --help` lists the options.
//
// Every result is verified on the device before it is timed. Figures are shares of the copy; the first run of
// every turn is left out, for it pays for what the other left in the caches.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_rows/peers.hpp"
#include "engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/rows.hpp"
#include "gpu/index_oracle.hpp"
#include "io/npy.hpp"
#include "measure.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_rows_bench: rows on a GPU beside cudaMemcpy

  --parts LIST     of rows,narrow,odd,put,tables                     (default all)
  --bytes SIZE     of the result of the parts rows, odd and put      (default 4GiB)
  --rounds NUMBER  of turns of each row of a table                   (default 7)
  --out FILE       the tables, in Markdown
  --help
)";

struct RowsBenchOptions {
  std::vector<std::string> parts = {};  // none: all
  std::uint64_t bytes = std::uint64_t{4} << 30;
  int rounds = 7;
  std::string out = {};
  std::string command = {};
};

RowsBenchOptions parse(const CommandLine& line) {
  RowsBenchOptions options;
  options.command = line.text();
  const auto read_parts = [&](const Argument& list) {
    for (const Argument& part : split(list)) options.parts.emplace_back(part.text);
  };
  line.read({{"--parts", read_parts},
             {"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, 1 << 20); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, 1000); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

using Contestant = std::function<void(Stream)>;

// Medians in milliseconds, contestants by turns.
std::vector<double> medians(const std::vector<Contestant>& contestants, std::uint64_t bytes, int rounds) {
  const int calls = static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 31) / bytes, 1, 50));
  const cuda::StreamClock clock;
  std::vector<std::vector<double>> samples(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      static_cast<void>(clock.milliseconds(1, contestants[i]));
      samples[i].push_back(clock.milliseconds(calls, contestants[i]) / calls);
    }
  }
  std::vector<double> made;
  made.reserve(samples.size());
  for (const std::vector<double>& each : samples) made.push_back(median(each));
  return made;
}

cuda::DeviceArray uploaded(const std::vector<std::uint32_t>& words) {
  cuda::DeviceArray array(words.size() * sizeof(std::uint32_t));
  array.upload(words.data());
  return array;
}

// Random with repeats.
std::vector<std::uint32_t> random_entries(std::uint64_t count, std::uint64_t rows) {
  std::vector<std::uint32_t> entries(count);
#pragma omp parallel for
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    entries[i] = static_cast<std::uint32_t>((x ^ x >> 31) % rows);
  }
  return entries;
}

// Distinct: an affine map of the largest power of two of rows, the rest as they are.
std::vector<std::uint32_t> distinct_entries(std::uint64_t count) {
  std::vector<std::uint32_t> entries(count);
  std::uint64_t whole = 1;
  while (whole * 2 <= count) whole *= 2;
#pragma omp parallel for
  for (std::uint64_t i = 0; i < count; ++i)
    entries[i] = static_cast<std::uint32_t>(i < whole ? (i * 0x9e3779b1U + 12345) % whole : i);
  return entries;
}

class RowsBench {
 public:
  explicit RowsBench(const RowsBenchOptions& options) : options_(options) {}

  /// Whether everything worked.
  bool run() {
    add("# Rows on a GPU\n\n" + setting_table(make_setting(options_.command)) +
        "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
        "cudaMemcpy of\nwhat is written, in the same rounds.\n");
    part("rows", "Rows taken, random with repeats", [&] {
      for (const std::uint64_t width : {16U, 32U, 64U, 128U, 256U, 512U, 1024U, 4096U, 14336U}) take(width, options_.bytes);
    });
    part("odd", "Rows of odd widths taken", [&] {
      for (const std::uint64_t width : {12U, 20U, 33U, 100U, 129U, 500U, 1001U, 4097U, 14337U}) take(width, options_.bytes);
    });
    part("put", "Rows put, each once", [&] {
      for (const std::uint64_t width : {16U, 64U, 256U, 1024U, 4097U, 14336U}) put(width, options_.bytes);
    });
    part("narrow", "Elements of 4 bytes taken, random with repeats", [&] {
      for (const int bits : {24, 26, 28, 29, 30}) take(4, std::uint64_t{4} << bits);
    });
    part("tables", "Blocks of 64 tensors by one table, one launch", [&] {
      for (const std::uint64_t width : {4096U, 32768U}) take_many(width);
    });
    return failures_ == 0;
  }

 private:
  template <typename Body>
  void part(const std::string& name, const std::string& title, const Body& body) {
    const auto& parts = options_.parts;
    if (!parts.empty() && std::find(parts.begin(), parts.end(), name) == parts.end()) return;
    add("\n## " + title + "\n\n| row bytes | rows | ms | share of a copy | beside |\n|---|---|---|---|---|\n");
    body();
  }

  template <typename Body>
  void row(const std::string& text, const Body& body) {
    std::fprintf(stderr, "%s\n", text.c_str());
    try {
      add("| " + text + " | " + body() + " |\n");
    } catch (const std::exception& error) {
      ++failures_;
      add(fmt::format("| {} | failed: {} |\n", text, error.what()));
    }
  }

  void take(std::uint64_t width, std::uint64_t bytes) {
    const std::uint64_t count = bytes / width;
    row(fmt::format("{} | {}", width, count), [&] {
      const cuda::DeviceArray entries = uploaded(random_entries(count, count));
      const cuda::DeviceArray in(count * width);
      const cuda::DeviceArray out(count * width);
      testing::fill_bytes(in.data(), in.size(), 1, {});
      testing::fill_bytes(out.data(), out.size(), 2, {});
      const ExecutableRows plan = plan_rows(
          Take{.from = RowNumbers(entries.data(), count, {.bytes = 4}), .rows = count}, {.row_bytes = width});
      const auto* const from = reinterpret_cast<const std::uint32_t*>(entries.data());
      std::vector<Contestant> contestants{
          [&](Stream stream) { plan.run({in.data(), in.size()}, {out.data(), out.size()}, stream); },
          [&](Stream stream) { cuda::copy(in.data(), out.data(), in.size(), stream); }};
      contestants[0]({});
      plan.check();
      require_right({.entries = entries.data(), .entry_bytes = 4, .forwards = false, .count = count, .element_bytes = width},
                    in, out);
      if (thrust_gather(from, count, width, in.data(), out.data(), {})) {
        contestants.emplace_back(
            [&](Stream stream) { thrust_gather(from, count, width, in.data(), out.data(), stream); });
      }
      return timed(contestants, in.size(), plan.plan().passes().back().text);
    });
  }

  void put(std::uint64_t width, std::uint64_t bytes) {
    const std::uint64_t count = bytes / width;
    row(fmt::format("{} | {}", width, count), [&] {
      const cuda::DeviceArray entries = uploaded(distinct_entries(count));
      const cuda::DeviceArray in(count * width);
      const cuda::DeviceArray out(count * width);
      testing::fill_bytes(in.data(), in.size(), 1, {});
      testing::fill_bytes(out.data(), out.size(), 2, {});
      const ExecutableRows plan = plan_rows(
          Put{.to = RowNumbers(entries.data(), count, {.bytes = 4}), .rows = count}, {.row_bytes = width});
      const std::vector<Contestant> contestants{
          [&](Stream stream) { plan.run({in.data(), in.size()}, {out.data(), out.size()}, stream); },
          [&](Stream stream) { cuda::copy(in.data(), out.data(), in.size(), stream); }};
      contestants[0]({});
      plan.check();
      require_right({.entries = entries.data(), .entry_bytes = 4, .forwards = true, .count = count, .element_bytes = width},
                    in, out);
      return timed(contestants, in.size(), plan.plan().passes().back().text);
    });
  }

  void take_many(std::uint64_t width) {
    constexpr std::uint64_t kTensors = 64;
    constexpr std::uint64_t kBlocks = 2048;
    const std::uint64_t count = 512;
    row(fmt::format("{} | {} x {}", width, kTensors, count), [&] {
      const cuda::DeviceArray entries = uploaded(random_entries(count, kBlocks));
      std::vector<cuda::DeviceArray> in;
      std::vector<cuda::DeviceArray> out;
      std::vector<RowColumn> columns;
      for (std::uint64_t t = 0; t < kTensors; ++t) {
        in.emplace_back(kBlocks * width);
        out.emplace_back(count * width);
        testing::fill_bytes(in.back().data(), in.back().size(), t, {});
        columns.push_back({.in = {in.back().data(), in.back().size()},
                           .out = {out.back().data(), out.back().size()},
                           .row_bytes = width});
      }
      const ExecutableRows plan = plan_rows(
          Take{.from = RowNumbers(entries.data(), count, {.bytes = 4}), .rows = kBlocks}, {.row_bytes = width});
      const cuda::DeviceArray whole_in(kTensors * count * width);
      const cuda::DeviceArray whole_out(whole_in.size());
      const std::vector<Contestant> contestants{
          [&](Stream stream) { plan.run(columns, stream); },
          [&](Stream stream) { cuda::copy(whole_in.data(), whole_out.data(), whole_in.size(), stream); }};
      contestants[0]({});
      plan.check();
      for (std::uint64_t t = 0; t < kTensors; ++t) {
        require_right({.entries = entries.data(), .entry_bytes = 4, .forwards = false, .count = count, .element_bytes = width},
                      in[t], out[t]);
      }
      return timed(contestants, whole_in.size(), "one launch");
    });
  }

  static void require_right(const testing::IndexOracle& oracle, const cuda::DeviceArray& in,
                            const cuda::DeviceArray& out) {
    const std::uint64_t wrong = testing::misplaced_bytes(oracle, in.data(), out.data(), {});
    if (wrong > 0)
      fail(ErrorCode::verification, "gpu_rows_bench", fmt::format("{} bytes elsewhere", wrong), "every row in its place");
  }

  // Contestants: faro, the copy, and another one.
  std::string timed(const std::vector<Contestant>& contestants, std::uint64_t bytes, const std::string& how) const {
    constexpr double percent = 100;
    const std::vector<double> ms = medians(contestants, bytes, options_.rounds);
    std::string text = fmt::format("{:.4f} | {:.1f}% | {}, copy {:.4f} ms", ms[0], percent * ms[1] / ms[0], how, ms[1]);
    if (ms.size() > 2) text += fmt::format(", Thrust's gather {:.1f}%", percent * ms[1] / ms[2]);
    return text;
  }

  // What was measured is in the file, whatever becomes of the device.
  void add(const std::string& text) {
    page_.add(text);
    if (!options_.out.empty()) io::write_file(options_.out, page_.text());
  }

  RowsBenchOptions options_;
  int failures_ = 0;
  Page page_;
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage,
                     [](const CommandLine& line) { return gpu::RowsBench(gpu::parse(line)).run() ? 0 : 1; });
}
