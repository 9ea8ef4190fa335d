// gpu_network_bench: sorting networks, Walsh-Hadamard and Fourier transforms on a GPU, each in few passes,
// beside a launch for every layer, CUB's radix sort, cuFFT and a plain copy, all in the same alternating run.
// `gpu_network_bench --help` lists the options.
//
// Every result is verified before it is timed: sorts against CUB's, transforms against cuFFT's and, WHT, by
// twice being 2^n times the input.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_network/baselines.hpp"
#include "bench/gpu_network/cufft.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "io/npy.hpp"
#include "network/cuda_engine.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;
using network::Program;

constexpr const char* kUsage =
    R"(gpu_network_bench: sorting networks and transforms on a GPU beside CUB, cuFFT and a plain copy

  --sort LIST             powers of two, of elements to sort, or none          (default 20,24,28)
  --wht LIST              the same of the Walsh-Hadamard transform             (default 24,28)
  --fft LIST              the same of the Fourier transform                    (default 20,24,26)
  --tile-bits NUMBER      of the plans' tiles                                  (default as planned)
  --segment-bits NUMBER   of the plans' segments                               (default as planned)
  --quick                 --sort 20 --wht 20 --fft 20
  --out FILE              the table, in Markdown
  --help
)";

struct Options {
  std::vector<int> sort = {20, 24, 28};
  std::vector<int> wht = {24, 28};
  std::vector<int> fft = {20, 24, 26};
  network::Sizes sizes = {};
  std::string out = {};
  std::string command = {};
};

struct Contestant {
  std::string name;
  std::string note;
  cuda::StreamClock* clock;
  std::function<void(Stream)> queue;
};

struct Row {
  std::string work;
  std::string name;
  std::string note;
  Timing timing;
  double copy_ms = 0;
};

std::vector<int> parse_bits(const Argument& argument) {
  constexpr int most_bits = 32;
  if (argument.text.empty() || argument.text == "none") return {};
  return parse_ints(argument, 1, most_bits);
}

Options parse(const CommandLine& line) {
  Options options;
  options.command = line.text();
  if (line.has("--quick")) options.sort = options.wht = options.fft = {20};
  line.read({{"--sort", [&](const Argument& a) { options.sort = parse_bits(a); }},
             {"--wht", [&](const Argument& a) { options.wht = parse_bits(a); }},
             {"--fft", [&](const Argument& a) { options.fft = parse_bits(a); }},
             {"--tile-bits", [&](const Argument& a) { options.sizes.tile_bits = parse_int(a, 0); }},
             {"--segment-bits", [&](const Argument& a) { options.sizes.segment_bits = parse_int(a, 0); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}},
            {"--quick"});
  return options;
}
std::vector<Row> race(const std::string& work, const std::vector<Contestant>& contestants) {
  std::vector<TimedRun> runs;
  for (const Contestant& contestant : contestants) {
    runs.push_back(
        [&contestant](int calls) { return contestant.clock->milliseconds(calls, contestant.queue); });
  }
  MeasureOptions options;
  options.budget_ms = 1500;
  options.min_samples = 5;
  options.min_sample_ms = 1;
  const std::vector<Timing> timings = measure_alternating(std::span<const TimedRun>(runs), options);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    rows.push_back({work, contestants[i].name, contestants[i].note, timings[i], timings.back().median_ms});
  }
  return rows;
}

std::string passes_note(const network::Plan& plan, const network::CudaExecutor& executor) {
  return fmt::format("{} passes for {} layers; m = {}, s = {}; {} registers a thread", executor.launches(),
                     plan.normal_form().layers.size(), plan.sizes().tile_bits, plan.sizes().segment_bits,
                     executor.resources().front().registers);
}

// All layers of a program, one launch each.
std::function<void(Stream)> layer_by_layer(const network::NormalForm& form, BareOperator op, const void* in,
                                           void* out, std::uint64_t bytes) {
  std::vector<BareLayer> layers;
  for (const network::Layer& layer : form.layers) {
    const f2::Matrix rows = layer.frame.matrix().transposed();
    layers.push_back({layer.direction(), rows.column(0), f2::bit(layer.frame.complement(), 0)});
  }
  return [=, bits = form.bits](Stream stream) {
    cuda::copy(in, out, bytes, stream);
    for (const BareLayer& layer : layers) queue_layer(op, layer, bits, out, stream);
  };
}

template <typename T>
std::vector<T> download(const DeviceArray& array) {
  std::vector<T> values(array.size() / sizeof(T));
  array.download(values.data());
  return values;
}

std::vector<Row> race_sorts(int bits, const Options& options) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t bytes = count * sizeof(std::uint32_t);
  DeviceArray in(bytes);
  DeviceArray out(bytes);
  DeviceArray expected(bytes);
  std::vector<std::uint32_t> keys(count);
  std::mt19937 random(static_cast<unsigned>(bits));
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random());
  in.upload(keys.data());
  std::uint64_t workspace_bytes = 0;
  queue_radix_sort(nullptr, workspace_bytes, in.data(), expected.data(), count, {});
  DeviceArray workspace(workspace_bytes);
  cuda::StreamClock clock;
  const auto radix = [&](Stream stream) {
    queue_radix_sort(workspace.data(), workspace_bytes, in.data(), expected.data(), count, stream);
  };
  static_cast<void>(clock.milliseconds(1, radix));
  const std::vector<std::uint32_t> sorted = download<std::uint32_t>(expected);
  if (!std::is_sorted(sorted.begin(), sorted.end()))
    faro::fail(ErrorCode::verification, "gpu_network_bench", "CUB's result, not sorted",
               "the same result from all");

  std::vector<Contestant> contestants;
  std::vector<network::CudaExecutor> executors;
  executors.reserve(2);
  const auto verify = [&](const std::string& name, const std::function<void(Stream)>& queue) {
    static_cast<void>(clock.milliseconds(1, queue));
    if (download<std::uint32_t>(out) != sorted)
      faro::fail(ErrorCode::verification, "gpu_network_bench", name + ", not sorted",
                 "the same result from all");
  };
  for (const auto& [name, program] :
       {std::pair<const char*, Program>{"bitonic sort", network::bitonic_sort(bits)},
        std::pair<const char*, Program>{"balanced sort", network::sort(bits)}}) {
    const network::Plan plan({program, {network::Scalar::u32}, 1}, options.sizes, Engine::cuda);
    executors.emplace_back(plan);
    const network::CudaExecutor& executor = executors.back();
    const auto queue = [&](Stream stream) { executor.run(in.data(), out.data(), stream); };
    verify(name, queue);
    contestants.push_back({name, passes_note(plan, executor), &clock, queue});
  }
  const network::NormalForm form = network::normal_form(network::bitonic_sort(bits));
  const auto layers = layer_by_layer(form, BareOperator::sort_u32, in.data(), out.data(), bytes);
  verify("layer by layer", layers);
  contestants.push_back(
      {"bitonic, layer by layer", fmt::format("{} launches", form.layers.size()), &clock, layers});
  contestants.push_back({"CUB radix sort", "not a network", &clock, radix});
  contestants.push_back(
      {"cudaMemcpy", "", &clock, [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }});
  return race(fmt::format("sort 2^{} u32", bits), contestants);
}

std::vector<Row> race_wht(int bits, const Options& options) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t bytes = count * sizeof(float);
  DeviceArray in(bytes);
  DeviceArray out(bytes);
  std::vector<float> values(count);
  std::mt19937 random(static_cast<unsigned>(bits));
  for (float& value : values) value = static_cast<float>(random() % 3) - 1;
  in.upload(values.data());
  cuda::StreamClock clock;
  const network::Plan plan({network::wht(bits), {network::Scalar::f32}, 1}, options.sizes, Engine::cuda);
  const network::CudaExecutor executor(plan);
  const auto queue = [&](Stream stream) { executor.run(in.data(), out.data(), stream); };
  const auto layers =
      layer_by_layer(plan.normal_form(), BareOperator::hadamard_f32, in.data(), out.data(), bytes);
  // Small integers: every sum is exact up to 2^24, so both must agree bit for bit.
  static_cast<void>(clock.milliseconds(1, layers));
  const std::vector<float> expected = download<float>(out);
  static_cast<void>(clock.milliseconds(1, queue));
  if (bits <= 24 && download<float>(out) != expected)
    faro::fail(ErrorCode::verification, "gpu_network_bench", "the Walsh-Hadamard transform",
               "the same result from all");
  return race(
      fmt::format("WHT 2^{} f32", bits),
      {{"wht", passes_note(plan, executor), &clock, queue},
       {"layer by layer", fmt::format("{} launches", bits), &clock, layers},
       {"cudaMemcpy", "", &clock, [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }}});
}

double relative_rms(const std::vector<std::complex<float>>& got,
                    const std::vector<std::complex<float>>& wanted) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    error += std::norm(std::complex<double>(got[i]) - std::complex<double>(wanted[i]));
    size += std::norm(std::complex<double>(wanted[i]));
  }
  return std::sqrt(error / size);
}

std::vector<Row> race_fft(int bits, const Options& options) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t bytes = count * sizeof(std::complex<float>);
  DeviceArray in(bytes);
  DeviceArray out(bytes);
  std::vector<std::complex<float>> values(count);
  std::mt19937 random(static_cast<unsigned>(bits));
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  in.upload(values.data());
  cuda::StreamClock clock;
  std::vector<Contestant> contestants;
  const CuFft cufft(bits, false);
  std::vector<std::complex<float>> expected;
  const auto library = [&](Stream stream) { cufft.run(in.data(), out.data(), stream); };
  if (cufft.available()) {
    static_cast<void>(clock.milliseconds(1, library));
    expected = download<std::complex<float>>(out);
  }
  std::vector<network::CudaExecutor> executors;
  executors.reserve(2);
  for (const auto& [name, program] :
       {std::pair<const char*, Program>{"fft", network::fft(bits)},
        std::pair<const char*, Program>{"fft, order reversed", network::fft_reversed(bits)}}) {
    const network::Plan plan({program, {network::Scalar::c64}, 1}, options.sizes, Engine::cuda);
    executors.emplace_back(plan);
    const network::CudaExecutor& executor = executors.back();
    const auto queue = [&](Stream stream) { executor.run(in.data(), out.data(), stream); };
    std::string note = passes_note(plan, executor);
    static_cast<void>(clock.milliseconds(1, queue));
    if (executors.size() == 1 && cufft.available()) {
      const double error = relative_rms(download<std::complex<float>>(out), expected);
      note += fmt::format("; differs from cuFFT by {:.1e} (relative RMS)", error);
      if (!(error < 1e-5))
        faro::fail(ErrorCode::verification, "gpu_network_bench", "the Fourier transform, " + note,
                   "the same result from all");
    }
    contestants.push_back({name, note, &clock, queue});
  }
  if (cufft.available()) {
    contestants.push_back({"cuFFT", "", &clock, library});
  } else {
    fmt::print("cuFFT is not measured: {}\n", cufft.reason());
  }
  contestants.push_back(
      {"cudaMemcpy", "", &clock, [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }});
  return race(fmt::format("FFT 2^{} c64", bits), contestants);
}

std::string table(const std::vector<Row>& rows) {
  std::string text = "| work | contestant | ms | +- | times a copy | |\n|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    text +=
        fmt::format("| {} | {} | {:.4f} | {:.4f} | {:.2f} | {} |\n", row.work, row.name, row.timing.median_ms,
                    row.timing.mad_ms, row.timing.median_ms / row.copy_ms, row.note);
  }
  return text;
}

void run(const Options& options) {
  std::string page =
      "# Networks on a GPU\n\n" + setting_table(make_setting(options.command)) +
      "\nEvery result was verified before it was timed. Medians of alternating rounds and their "
      "median absolute deviation;\na copy is the cudaMemcpy of the same array in the same "
      "rounds.\n\n";
  std::vector<Row> rows;
  const auto add = [&](const std::vector<Row>& more) {
    std::fputs(table(more).c_str(), stdout);
    std::fflush(stdout);
    rows.insert(rows.end(), more.begin(), more.end());
  };
  for (const int bits : options.sort) add(race_sorts(bits, options));
  for (const int bits : options.wht) add(race_wht(bits, options));
  for (const int bits : options.fft) add(race_fft(bits, options));
  page += table(rows);
  if (!options.out.empty()) io::write_file(options.out, page);
}

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage, [](const CommandLine& line) {
    gpu::run(gpu::parse(line));
    return 0;
  });
}
