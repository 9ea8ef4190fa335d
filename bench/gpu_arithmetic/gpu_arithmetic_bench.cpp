// gpu_arithmetic_bench: views whose numbers are changed while they are moved, on a GPU, beside a plain copy
// of as many bytes in the same rounds. `gpu_arithmetic_bench --help` lists the options.
//
// Every output is held against the CPU engine's, bit by bit, before its kernel is timed. Shares are of the
// floor: all bytes that are read and written at cudaMemcpy's rate.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bench/arithmetic_work.hpp"
#include "bench/axes_suites.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu/turn_clock.hpp"
#include "faro/block_scales.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr const char* kUsage =
    R"(gpu_arithmetic_bench: numbers changed while they are moved on a GPU, beside a copy of as many bytes

  --rounds COUNT   turns of every work and the copy                            (default 9)
  --only TEXT      rows whose first columns have it, joined by a blank
  --out FILE       the table, in Markdown
  --help
)";

RowOptions parse(const CommandLine& line) {
  RowOptions options;
  options.read(line);
  return options;
}

std::vector<ArithmeticWork> works() {
  const Strided to_planes = permuted({128, 1024, 1024, 3}, {0, 3, 1, 2});
  const Strided to_pixels = permuted({128, 3, 1024, 1024}, {0, 2, 3, 1});
  const Strided square = permuted({16384, 16384}, {1, 0});
  const Strided reversed = permuted({56, 56, 56, 32, 40}, {4, 3, 2, 1, 0});
  const std::vector<std::uint64_t> heads{16, 4096, 32, 128};
  const auto channels = [](std::size_t axis) {
    return Coefficient{.values = {0.125, 0.25, 0.5}, .axis = axis};
  };
  using enum Number;
  return {
      {"128 x 1024 x 1024 x 3 to channels first, scaled, offset",
       to_planes,
       {.from = u8, .to = f32, .scale = channels(1), .offset = channels(1)}},
      {"the same", to_planes, {.from = u8, .to = f16, .scale = channels(1), .offset = channels(1)}},
      {"back to channels last",
       to_pixels,
       {.from = f32, .to = u8, .scale = channels(3), .offset = channels(3)}},
      {"16384 x 16384 transposed", square, {.from = f32, .to = bf16}},
      {"the same", square, {.from = f32, .to = f16}},
      {"the same", square, {.from = f16, .to = f32}},
      {"the same, scaled", square, {.from = bf16, .to = f8_e4m3fn, .scale = {.values = {0.5}}}},
      {"2 A^T + 0.5 C, 16384 x 16384", square, {.scale = {.values = {2.0}}, .addend = Addend{.beta = 0.5}}},
      {"8192 x 16384 conjugate transposed",
       permuted({8192, 16384}, {1, 0}),
       {.from = c64, .to = c64, .function = Function::conjugate}},
      {"56 x 56 x 56 x 32 x 40 reversed", reversed, {.from = f32, .to = f16}},
      {"the same", reversed, {.from = f16, .to = f32}},
      {"16 x 4096 x 32 x 128, (0 2 1 3)", permuted(heads, {0, 2, 1, 3}), {.from = f32, .to = bf16}},
      {"16 x 4096 x 32 x 128, (0 2 3 1)", permuted(heads, {0, 2, 3, 1}), {.from = f32, .to = bf16}},
      {"2^28 in order", permuted({std::uint64_t{1} << 28}, {0}), {.from = f32, .to = bf16}},
  };
}

// Numbers that no type has trouble with: of floats 1 to 2, of integers any.
std::vector<std::byte> numbers(Number number, std::uint64_t count) {
  std::vector<std::byte> bytes(count * bytes_of(number));
  std::uint32_t state = 1;
  for (std::uint64_t at = 0; at + 4 <= bytes.size(); at += 4) {
    state = state * 1664525U + 1013904223U;
    std::uint32_t word = state >> 8;
    if (number == Number::f32 || number == Number::c64) word = 0x3f800000U | (word & 0x7fffffU);
    if (number == Number::bf16) word = 0x3f803f80U | (word & 0x007f007fU);
    if (number == Number::f16) word = 0x3c003c00U | (word & 0x03ff03ffU);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return bytes;
}

class Bench {
 public:
  explicit Bench(const RowOptions& options) : options_(options) {}

  void run() {
    page_.add(
        "# Arithmetic while data moves, on a GPU\n\n" + setting_table(make_setting(options_.command)) +
        fmt::format("\nEvery output had the CPU engine's bits before it was timed. Medians of {} alternating "
                    "rounds, and their\nmedian deviation; shares of the floor, all bytes read and written at "
                    "cudaMemcpy's rate in the same rounds.\n\n| work | types | ms | deviation | share |\n"
                    "|---|---|---|---|---|\n",
                    options_.rounds));
    for (const ArithmeticWork& work : works()) view(work);
    constexpr int kBits = 28;
    for (const Affine& affine : {maps::bit_reversal(kBits), maps::random_bmmc(kBits, 1)}) {
      const std::string text =
          affine == maps::bit_reversal(kBits) ? "bit_reversal(28)" : "random_bmmc(28, 1)";
      map(text, affine, {.from = Number::f32, .to = Number::bf16});
      map(text, affine, {.from = Number::bf16, .to = Number::f32, .scale = {.values = {0.5}}});
      map(text, affine, {.from = Number::u8, .to = Number::f32, .scale = {.values = {0.125}}});
      map("2 x + 0.5 other, " + text, affine, {.scale = {.values = {2.0}}, .addend = Addend{.beta = 0.5}});
    }
    for (const std::uint64_t numbers : {64, 256, 65}) {
      rows(true, numbers, {.from = Number::f32, .to = Number::bf16});
      rows(true, numbers, {.from = Number::bf16, .to = Number::f32});
      rows(true, numbers, {.from = Number::u8, .to = Number::f32});
      rows(false, numbers, {.from = Number::f32, .to = Number::bf16});
    }
    suite(axes_suites({sizeof(float)}).front());
    for (const BlockFormat format : {BlockFormat::mxfp8_e4m3, BlockFormat::nvfp4}) {
      for (const bool transposed : {false, true}) {
        for (const std::size_t axis : {1, 0}) blocks(format, transposed, axis);
      }
    }
  }

 private:
  void view(const ArithmeticWork& work) {
    row(work.text, work.arithmetic, element_count(work.view),
        [&](const PlanOptions& options) { return plan(work.view, work.arithmetic, options); });
  }
  // The shapes of TTC, narrowed, and scaled and added to.
  void suite(const AxesSuite& of) {
    const Arithmetic changes[] = {{.from = Number::f32, .to = Number::f16},
                                  {.scale = {.values = {2.0}}, .addend = Addend{.beta = 0.5}}};
    for (const Arithmetic& change : changes) {
      shares_.clear();
      for (const AxesShape& shape : of.shapes)
        view({(change.addend ? "TTC, 2 x + 0.5 other, " : "TTC, ") + shape.text(),
              permuted(shape.shape, shape.order), change});
      if (shares_.empty()) continue;
      page_.add(fmt::format("| TTC, all {} | {} to {}{} | | | median {:.1f}%, least {:.1f}% |\n",
                            shares_.size(), name(change.from), name(change.to),
                            change.addend ? ", 2 x + 0.5 other" : "", median(shares_),
                            *std::min_element(shares_.begin(), shares_.end())));
    }
  }
  void map(const std::string& text, const Permutation& permutation, const Arithmetic& of) {
    row(text, of, element_count(permutation),
        [&](const PlanOptions& options) { return plan(permutation, of, options); });
  }

  // As many rows as there are, taken at random or put each to another's place.
  void rows(bool takes, std::uint64_t numbers, const Arithmetic& of) {
    constexpr std::uint64_t kRows = std::uint64_t{1} << 20;
    std::vector<std::uint32_t> entries(kRows);
    for (std::uint64_t i = 0; i < kRows; ++i)
      entries[i] = static_cast<std::uint32_t>((i * 2654435761U + 12345) % kRows);
    DeviceArray on_device(kRows * sizeof(entries[0]));
    on_device.upload(entries.data());
    const std::string text = fmt::format("{} of 2^20 rows of {}", takes ? "take" : "put", numbers);
    row(text, of, kRows * numbers, [&](const PlanOptions& options) {
      const bool on_gpu = options.engine == Engine::cuda;
      const void* const data = on_gpu ? static_cast<const void*>(on_device.data()) : entries.data();
      const RowNumbers at(data, kRows, {.bytes = sizeof(entries[0])});
      const RowMove move =
          takes ? RowMove(Take{.from = at, .rows = kRows}) : RowMove(Put{.to = at, .rows = kRows});
      return plan_rows(move, {.row_bytes = numbers * bytes_of(of.from)}, of, options);
    });
  }

  template <typename MakePlan>
  void row(const std::string& text, const Arithmetic& of, std::uint64_t count, const MakePlan& make_plan) {
    if (!options_.wants(fmt::format("{} {} to {}", text, name(of.from), name(of.to)))) return;
    const std::vector<std::byte>& in = kept(of.from, count);
    const ExecutableArithmetic plan_of = make_plan(PlanOptions{.engine = Engine::cuda});
    DeviceArray device_in(count * bytes_of(of.from));
    DeviceArray device_out(count * bytes_of(of.to));
    DeviceArray device_added(of.addend ? count * bytes_of(of.addend->number) : 1);
    device_in.upload(in.data());
    const std::byte* const added = of.addend ? kept(of.addend->number, count).data() : nullptr;
    if (of.addend) device_added.upload(added);
    const NumberArray other = of.addend ? NumberArray{device_added.data(), count} : NumberArray{};
    const auto queue = [&](Stream stream) {
      plan_of.run({device_in.data(), count}, device_out.data(), count, other, stream);
    };
    clock_.milliseconds(1, queue);
    std::vector<std::byte> wanted(device_out.size());
    make_plan(PlanOptions{.engine = Engine::cpu})
        .run({in.data(), count}, wanted.data(), count, of.addend ? NumberArray{added, count} : NumberArray{});
    verify(text, device_out, wanted);
    time(text, fmt::format("{} to {}", name(of.from), name(of.to)), plan_of.moved_bytes(), queue);
  }

  // A square matrix quantised, blocks along an axis of the data, and back.
  void blocks(BlockFormat format, bool transposed, std::size_t axis) {
    const std::string text = fmt::format("16384 x 16384{}, in blocks along {}",
                                         transposed ? " transposed" : "", axis == 1 ? "rows" : "columns");
    const std::string types = fmt::format("bf16 to {}", name(format));
    if (!options_.wants(text + " " + types)) return;
    constexpr std::uint64_t kSide = 16384;
    BlockScaling of{.format = format, .wide = Number::bf16, .extents = {kSide, kSide}, .axis = axis};
    if (transposed) of.strides = {1, kSide};
    const ExecutableBlocks plan_of = plan_blocks(of, {.engine = Engine::cuda});
    const ExecutableBlocks on_cpu = plan_blocks(of);
    std::vector<std::byte> wide = numbers(Number::bf16, plan_of.wide_count());
    std::vector<std::byte> data(plan_of.data_bytes());
    std::vector<std::byte> scales(plan_of.scale_bytes());
    DeviceArray device_wide(wide.size());
    const DeviceArray device_data(data.size());
    const DeviceArray device_scales(scales.size());
    device_wide.upload(wide.data());
    const std::uint64_t moved = wide.size() + data.size() + scales.size();
    const auto quantize = [&](Stream stream) {
      plan_of.quantize(device_wide.data(), device_data.data(), device_scales.data(), stream);
    };
    const auto dequantize = [&](Stream stream) {
      plan_of.dequantize(device_data.data(), device_scales.data(), device_wide.data(), stream);
    };
    clock_.milliseconds(1, quantize);
    on_cpu.quantize(wide.data(), data.data(), scales.data());
    verify(types, device_data, data);
    verify(types, device_scales, scales);
    time(text, types, moved, quantize);
    clock_.milliseconds(1, dequantize);
    on_cpu.dequantize(data.data(), scales.data(), wide.data());
    verify(types, device_wide, wide);
    time("back", fmt::format("{} to bf16", name(format)), moved, dequantize);
  }

  template <typename Queue>
  void time(const std::string& text, const std::string& types, std::uint64_t moved_bytes,
            const Queue& queue) {
    // The copy's two arrays are as large together.
    const std::uint64_t half = moved_bytes / 2;
    const DeviceArray from(half);
    const DeviceArray to(half);
    const TurnClock turns;
    const int calls = calls_of(half);
    std::vector<double> times;
    std::vector<double> copies;
    for (int round = 0; round < options_.rounds; ++round) {
      copies.push_back(
          turns.milliseconds(calls, [&](Stream s) { cuda::copy(from.data(), to.data(), half, s); }));
      times.push_back(turns.milliseconds(calls, queue));
    }
    const Timing timing = summarise(times);
    constexpr double kPercent = 100;
    shares_.push_back(kPercent * median(copies) / timing.median_ms);
    page_.add(fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.1f}% |\n", text, types, timing.median_ms,
                          timing.mad_ms, shares_.back()));
  }

  static void verify(const std::string& text, const DeviceArray& array,
                     const std::vector<std::byte>& wanted) {
    std::vector<std::byte> got(array.size());
    array.download(got.data());
    if (got != wanted) fail(ErrorCode::device, "verify " + text, "other numbers", "those of the CPU engine");
  }

  // The same for every row: the first of as many as any has had.
  const std::vector<std::byte>& kept(Number number, std::uint64_t count) {
    std::vector<std::byte>& bytes = kept_[number];
    if (bytes.size() < count * bytes_of(number)) bytes = numbers(number, count);
    return bytes;
  }

  RowOptions options_;
  cuda::StreamClock clock_;
  std::map<Number, std::vector<std::byte>> kept_;
  std::vector<double> shares_;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::Bench>(count, words, gpu::kUsage, gpu::parse);
}
