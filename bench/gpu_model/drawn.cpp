#include "bench/gpu_model/drawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/permutation.hpp"
#include "network/prediction.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "tell/prediction.hpp"

namespace faro::bench::gpu_model {
namespace {

using Making = std::variant<DrawnPermutation, network::Problem>;

// What is drawn from one seed, whatever the standard library.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  // Even in the logarithm.
  std::uint64_t scale(std::uint64_t least, std::uint64_t most) {
    const double part = static_cast<double>(random_() >> 11) * 0x1p-53;
    const double low = std::log(static_cast<double>(least));
    const double high = std::log(static_cast<double>(most));
    const auto drawn = static_cast<std::uint64_t>(std::exp(low + part * (high - low)));
    return std::clamp(drawn, least, most);
  }
  template <typename T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[below(all.size())];
  }
  std::uint64_t seed() { return random_() >> 32; }

 private:
  std::mt19937_64 random_;
};

std::string placement_text(Placement placement) {
  return placement == Placement::in_place ? ", in place" : "";
}

DrawnProblem of_text(std::string family, const std::string& spec, std::uint64_t width, std::uint64_t batch,
                     Placement placement = Placement::out_of_place) {
  const Problem problem{
      .permutation = parse_permutation(spec), .element_bytes = width, .batch = batch, .placement = placement};
  return {.family = std::move(family),
          .spec = spec + (batch == 1 ? "" : fmt::format(" x {}", batch)) + placement_text(placement),
          .element_bytes = width,
          .bytes = total_bytes(problem),
          .make = [problem]() -> Making { return DrawnPermutation{.problem = problem}; }};
}

struct Sizes {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

std::uint64_t any_width(Draw& draw) { return draw.one_of<std::uint64_t>({1, 2, 3, 4, 4, 6, 8, 8, 12, 16}); }

// --- affine

DrawnProblem draw_affine(Draw& draw, const Sizes& sizes, Placement placement) {
  const auto width = std::uint64_t{1} << draw.below(5);
  int n = 1;
  const std::uint64_t bytes = draw.scale(sizes.least, sizes.most);
  while (width << (n + 1) <= bytes) ++n;
  while (width << n < sizes.least) ++n;
  const std::uint64_t seed = draw.seed();
  const std::string spec = draw.one_of<std::string>(
      {fmt::format("random_bpc({}, {})", n, seed), fmt::format("random_bmmc({}, {})", n, seed),
       fmt::format("bit_reversal({})", n), fmt::format("swap_bits({}, {}, {})", n, draw.below(3), n - 1),
       fmt::format("gray({})", n)});
  return of_text(placement == Placement::in_place ? "in place" : "affine", spec, width, 1, placement);
}

// --- axes, rolls and flips

DrawnProblem draw_axes(Draw& draw, const Sizes& sizes) {
  const std::uint64_t width = any_width(draw);
  const std::uint64_t count = draw.scale(sizes.least, sizes.most) / width;
  const auto rank = static_cast<std::size_t>(draw.between(2, 6));
  std::vector<double> parts(rank);
  for (double& part : parts) part = static_cast<double>(draw.between(10, 100));
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<std::uint64_t> shape;
  for (const double part : parts) {
    shape.push_back(std::max<std::uint64_t>(
        2, static_cast<std::uint64_t>(std::pow(static_cast<double>(count), part / all))));
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  do {
    for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  } while (std::is_sorted(order.begin(), order.end()));
  // What rounding has lost goes to the slowest axis.
  const std::uint64_t others =
      std::accumulate(shape.begin() + 1, shape.end(), std::uint64_t{1}, std::multiplies<>());
  shape.front() = std::max<std::uint64_t>(2, count / others);
  std::string text = "axes(";
  for (const std::uint64_t extent : shape) text += fmt::format("{}{}", text.back() == '(' ? "" : " ", extent);
  text += ";";
  for (const int axis : order) text += fmt::format(" {}", axis);
  return of_text("axes", text + ")", width, 1);
}

// A batch of arrays that a block holds some of (axes_whole.hpp): of more units than go one by one.
DrawnProblem draw_small_arrays(Draw& draw, const Sizes& sizes) {
  const std::uint64_t width = draw.one_of<std::uint64_t>({1, 1, 2, 2, 4, 8, 16});
  const auto rank = static_cast<std::size_t>(draw.between(2, 4));
  constexpr std::uint64_t most_extents[] = {60, 14, 7};
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 1;
  for (std::size_t a = 0; a < rank; ++a) {
    shape.push_back(draw.between(2, most_extents[rank - 2]));
    count *= shape.back();
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 1);
  do {
    for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  } while (order.front() == 1 || order.back() == static_cast<int>(rank));
  constexpr std::uint64_t most_units = 1 << 17;  // that go one by one
  const std::uint64_t units = std::max(draw.scale(sizes.least, sizes.most) / width, most_units + count);
  std::string text = fmt::format("axes({}", units / count + 1);
  for (const std::uint64_t extent : shape) text += fmt::format(" {}", extent);
  text += "; 0";
  for (const int axis : order) text += fmt::format(" {}", axis);
  return of_text("small arrays", text + ")", width, 1);
}

DrawnProblem draw_cyclic(Draw& draw, const Sizes& sizes) {
  const std::uint64_t width = any_width(draw);
  const std::uint64_t batch = draw.one_of<std::uint64_t>({1, 1, 3});
  const std::uint64_t count = draw.scale(sizes.least, sizes.most) / width / batch;
  const bool flips = draw.below(2) == 0;
  return of_text(
      "cyclic",
      flips ? fmt::format("flip({})", count) : fmt::format("roll({}, {})", count, draw.between(1, count - 1)),
      width, batch);
}

DrawnProblem draw_sweep(Draw& draw, const Sizes& sizes) {
  const std::uint64_t width = draw.one_of<std::uint64_t>({1, 2, 4, 4, 8, 8, 12, 16});
  const std::uint64_t count = draw.scale(sizes.least, sizes.most) / width;
  std::uint64_t rows = draw.scale(3, count / 3);
  if (rows % 2 == 0 && (rows & (rows - 1)) == 0) ++rows;  // a power of two may be affine
  return of_text("sweep", fmt::format("transpose({}, {})", rows, std::max<std::uint64_t>(3, count / rows)),
                 width, 1, Placement::in_place);
}

// --- index arrays

std::vector<std::uint32_t> shuffled_within(std::uint64_t count, std::uint64_t group, std::uint64_t seed) {
  std::vector<std::uint32_t> entries(count);
  std::iota(entries.begin(), entries.end(), 0U);
  std::mt19937_64 random(seed);
  for (std::uint64_t first = 0; first < count; first += group) {
    const std::uint64_t size = std::min(group, count - first);
    for (std::uint64_t i = size; i > 1; --i) {
      std::swap(entries[first + i - 1], entries[first + random() % i]);
    }
  }
  return entries;
}

// Runs of 1 to 2 mean - 1 elements, in any order.
std::vector<std::uint32_t> shuffled_runs(std::uint64_t count, std::uint64_t mean, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  // begin, length
  for (std::uint64_t at = 0; at < count;) {
    const std::uint64_t length = std::min(count - at, 1 + random() % (2 * mean - 1));
    runs.emplace_back(at, length);
    at += length;
  }
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random() % i]);
  std::vector<std::uint32_t> entries;
  entries.reserve(count);
  for (const auto& [begin, length] : runs) {
    for (std::uint64_t k = 0; k < length; ++k) entries.push_back(static_cast<std::uint32_t>(begin + k));
  }
  return entries;
}

DrawnProblem draw_index(Draw& draw, const Sizes& sizes, IndexMethod method) {
  const bool matrix = method == IndexMethod::row_column || method == IndexMethod::row_column_5;
  std::uint64_t width = any_width(draw);
  const std::uint64_t bytes = draw.scale(sizes.least, sizes.most);
  // Entries are made, sent and coloured on the host: long arrays have wide elements.
  const std::uint64_t most = matrix ? std::uint64_t{1} << 24 : std::uint64_t{1} << 26;
  while (bytes / width > most) width *= 2;
  std::uint64_t count = bytes / width;
  if (matrix) count = count / 4096 * 4096;
  const Direction direction = draw.below(2) == 0 ? Direction::scatter : Direction::gather;
  const std::uint64_t seed = draw.seed();
  std::string what = fmt::format("random({}, {})", count, seed);
  std::function<Indexed()> array = [=] {
    const Indexed drawn = Indexed::random(count, seed);
    return direction == drawn.direction() ? drawn : drawn.inverse();
  };
  if (method == IndexMethod::window) {
    const std::uint64_t group = draw.scale(2, std::min<std::uint64_t>(4000, 4096 / width * 4));
    what = fmt::format("{} elements shuffled in groups of {}", count, group);
    array = [=] { return Indexed(shuffled_within(count, group, seed), direction); };
  } else if (method == IndexMethod::runs) {
    const std::uint64_t mean = draw.scale(64, 8192);
    what = fmt::format("{} elements in runs of {}", count, mean);
    array = [=] { return Indexed(shuffled_runs(count, mean, seed), direction); };
  }
  const char* const family = matrix ? "row-column" : name(method);
  return {.family = family,
          .spec = fmt::format("{}, {}{}", what, name(direction),
                              method == IndexMethod::row_column_5 ? ", as published" : ""),
          .element_bytes = width,
          .bytes = count * width,
          .make = [=]() -> Making {
            DrawnPermutation drawn{.problem = {.permutation = array(), .element_bytes = width}};
            drawn.choice.method = method;
            return drawn;
          }};
}

// --- networks

DrawnProblem draw_network(Draw& draw, const Sizes& sizes) {
  const auto kind = draw.below(5);
  const network::Scalar scalar = kind == 3   ? network::Scalar::f32
                                 : kind == 4 ? network::Scalar::c64
                                             : network::Scalar::u32;
  const network::ElementType element{.scalar = scalar, .with_value = false};
  const std::uint64_t bytes = draw.scale(sizes.least, sizes.most);
  int n = 1;
  while (element.bytes() << (n + 1) <= bytes) ++n;
  while (element.bytes() << n < sizes.least) ++n;
  constexpr const char* names[] = {"sort", "bitonic_sort", "merge", "wht", "fft"};
  return {.family = "network",
          .spec = fmt::format("{}({}) of {}", names[kind], n, network::to_text(element)),
          .element_bytes = element.bytes(),
          .bytes = element.bytes() << n,
          .make = [=]() -> Making {
            network::Program program = kind == 0   ? network::sort(n)
                                       : kind == 1 ? network::bitonic_sort(n)
                                       : kind == 2 ? network::merge(n)
                                       : kind == 3 ? network::wht(n)
                                                   : network::fft(n);
            return network::Problem{.program = std::move(program), .element = element};
          }};
}

Plan plan_of(const DrawnPermutation& drawn, const Target& target) {
  const auto* const indexed = std::get_if<Indexed>(&drawn.problem.permutation);
  if (indexed == nullptr) return {drawn.problem, target};
  return {drawn.problem, target, recognise(*indexed), drawn.choice};
}

}  // namespace

std::vector<DrawnProblem> draw(const DrawOptions& options) {
  const Sizes sizes{options.least_bytes, options.most_bytes};
  std::vector<DrawnProblem> problems;
  std::uint64_t family = 0;
  const auto add = [&](const auto& draw_one, int number) {
    Draw draw(options.seed * 1000 + family++);  // a family's problems do not depend on another's
    for (int i = 0; i < number; ++i) problems.push_back(draw_one(draw));
  };
  const int n = options.of_family;
  add([&](Draw& d) { return draw_affine(d, sizes, Placement::out_of_place); }, n);
  add([&](Draw& d) { return draw_affine(d, sizes, Placement::in_place); }, n);
  add([&](Draw& d) { return draw_axes(d, sizes); }, 2 * n);
  add([&](Draw& d) { return draw_cyclic(d, sizes); }, n);
  for (const IndexMethod method :
       {IndexMethod::direct, IndexMethod::window, IndexMethod::runs, IndexMethod::partition}) {
    add([&](Draw& d) { return draw_index(d, sizes, method); }, n);
  }
  add([&](Draw& d) { return draw_index(d, sizes, IndexMethod::row_column); }, (n + 3) / 4);
  add([&](Draw& d) { return draw_index(d, sizes, IndexMethod::row_column_5); }, (n + 3) / 4);
  add([&](Draw& d) { return draw_sweep(d, sizes); }, 2 * n);
  add([&](Draw& d) { return draw_network(d, sizes); }, n);
  add([&](Draw& d) { return draw_small_arrays(d, sizes); }, 3 * n);
  return problems;
}

std::vector<DrawnProblem> listed_boxes() {
  std::vector<DrawnProblem> problems;
  for (const char* const spec :
       {"axes(48 14 14 48; 3 2 1 0)", "axes(32 15 15 3 32; 4 3 2 1 0)", "axes(28 48 4 96; 1 3 0 2)",
        "axes(27 27 27 27; 3 2 1 0)", "axes(27 27 27 27; 1 3 0 2)", "axes(3 5 7 11 13 17; 4 1 3 0 5 2)",
        "axes(45 23 43 23; 0 3 1 2)", "axes(9000 5 15; 0 2 1)", "axes(1000 12 10 8; 0 3 1 2)",
        "axes(200 101 37; 0 2 1)", "axes(31 33 45 7; 3 0 1 2)"}) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
      problems.push_back(of_text("boxes", spec, width, 1));
    }
  }
  return problems;
}

// --- ready to run

struct ReadyProblem::State {
  std::optional<ExecutablePlan> permutation;
  std::optional<network::Executable> network;
  std::optional<Calibration> calibration;
  std::uint64_t bytes = 0;
};

ReadyProblem::ReadyProblem(const DrawnProblem& drawn, const std::optional<Calibration>& calibration)
    : state_(std::make_unique<State>()) {
  state_->bytes = drawn.bytes;
  state_->calibration = calibration;
  const Making made = drawn.make();
  if (const auto* const one = std::get_if<DrawnPermutation>(&made)) {
    state_->permutation.emplace(
        faro::plan(one->problem, {.engine = Engine::cuda, .index_choice = one->choice}));
  } else {
    state_->network.emplace(network::compile(std::get<network::Problem>(made), {.engine = Engine::cuda}));
  }
}
ReadyProblem::ReadyProblem(ReadyProblem&&) noexcept = default;
ReadyProblem& ReadyProblem::operator=(ReadyProblem&&) noexcept = default;
ReadyProblem::~ReadyProblem() = default;

void ReadyProblem::run(const std::byte* in, std::byte* out, Stream stream) const {
  if (state_->network) return state_->network->run(in, out, state_->bytes, stream);
  const ExecutablePlan& plan = *state_->permutation;
  if (plan.plan().problem().placement == Placement::in_place) return plan.run(out, state_->bytes, stream);
  plan.run(in, out, state_->bytes, stream);
}

std::string ReadyProblem::kernels() const {
  if (state_->network) return fmt::format("{} launches", state_->network->sweeps());
  std::string text;
  for (const Pass& pass : state_->permutation->plan().passes()) {
    const bool has_kernel = pass.gpu && !pass.gpu->kernels.empty();
    text += (text.empty() ? "" : "; ") + (has_kernel ? to_text(pass.gpu->kernels.front()) : name(pass.kind));
  }
  return text;
}

std::optional<double> ReadyProblem::predicted_us() const {
  if (state_->network) {
    if (!state_->calibration) return std::nullopt;
    double sum = 0;
    for (const network::LaunchCounts& launch : network::predict(state_->network->plan())) {
      sum += network::predict_us(state_->network->plan(), launch, *state_->calibration);
    }
    return sum;
  }
  // The plan that runs, priced by these rates.
  const Plan& made = state_->permutation->plan();
  return PassCounter(made, {.rates = state_->calibration}).microseconds();
}

namespace {

struct PassFacts {
  std::uint64_t launches = 1;
  std::uint64_t blocks = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t tables = 0;
};

// A line of kPassColumns.
std::string pass_line(const std::string& kernel, const PassFacts& facts, const machine::AccessCounts& counts,
                      double us) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.2f}", kernel,
                     facts.launches, facts.blocks, facts.shared_bytes, facts.read, facts.written,
                     facts.tables, counts.global_loads.requests, counts.global_loads.sectors,
                     counts.global_loads.lines, counts.global_stores.requests, counts.global_stores.sectors,
                     counts.global_stores.lines, counts.shared_loads.requests + counts.shared_stores.requests,
                     counts.shared_loads.wavefronts + counts.shared_stores.wavefronts, us);
}

PassFacts facts_of(const Pass& pass) {
  PassFacts facts{.launches = 0, .read = pass.bytes_read, .written = pass.bytes_written};
  for (const PassTable& table : pass.tables) facts.tables += table.bytes;
  if (!pass.launch) return facts;
  facts.launches = pass.launch->launches;
  facts.blocks = pass.launch->blocks;
  facts.shared_bytes = pass.launch->shared_bytes;
  return facts;
}

std::vector<std::string> pass_lines(const Plan& made, const std::optional<Calibration>& rates) {
  std::vector<std::string> lines;
  const PassCounter counter(made, {.rates = rates});
  for (std::size_t i = 0; i < made.passes().size(); ++i) {
    const Pass& pass = made.passes()[i];
    const auto& counted = counter(i);
    const bool has_kernel = pass.gpu && !pass.gpu->kernels.empty();
    lines.push_back(pass_line(has_kernel ? to_text(pass.gpu->kernels.front()) : name(pass.kind),
                              facts_of(pass), counted ? counted->counts : machine::AccessCounts{},
                              counter.microseconds(i).value_or(0)));
  }
  return lines;
}

}  // namespace

const Plan* ReadyProblem::plan() const {
  return state_->permutation ? &state_->permutation->plan() : nullptr;
}

std::vector<std::string> counted_passes(const DrawnProblem& drawn, const Target& target) {
  const Making made = drawn.make();
  const auto* const problem = std::get_if<network::Problem>(&made);
  if (problem == nullptr) {
    return pass_lines(plan_of(std::get<DrawnPermutation>(made), target), target.calibration);
  }
  std::vector<std::string> lines;
  const network::Plan plan(*problem, {}, Engine::cuda);
  for (const network::LaunchCounts& launch : network::predict(plan)) {
    lines.push_back(
        pass_line(fmt::format("network of {} layers in {} groups", launch.layers, launch.groups),
                  {.read = drawn.bytes, .written = drawn.bytes}, launch.counts,
                  target.calibration ? network::predict_us(plan, launch, *target.calibration) : 0));
  }
  return lines;
}

machine::AccessCounts count(const DrawnProblem& drawn, const Target& target) {
  const Making made = drawn.make();
  machine::AccessCounts sum;
  if (const auto* const problem = std::get_if<network::Problem>(&made)) {
    const network::Plan plan(*problem, {}, Engine::cuda);
    for (const network::LaunchCounts& launch : network::predict(plan)) {
      sum += launch.counts;
      if (launch.tables) sum.global_loads += *launch.tables;
    }
    return sum;
  }
  const Plan plan = plan_of(std::get<DrawnPermutation>(made), target);
  const PassCounter counter(plan, {.every_block = true});
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    if (const auto& counted = counter(i)) sum += counted->counts;
  }
  return sum;
}

namespace {

// Where lanes search, walk lines of their own, or share what one of them worked out.
SharedCheck shared_check(const std::string& family) {
  const bool own_ways = family == "sweep" || family == "runs";
  return own_ways || family == "axes" || family == "boxes" || family == "small arrays" ? SharedCheck::shown
                                                                                       : SharedCheck::all;
}

}  // namespace

std::vector<Case> drawn_cases(const std::vector<DrawnProblem>& problems) {
  std::vector<Case> cases;
  const Target target = cuda::target();
  for (const DrawnProblem& problem : problems) {
    const auto ready = std::make_shared<std::optional<ReadyProblem>>();
    cases.push_back({.family = problem.family,
                     .kernel = "drawn",
                     .spec = problem.spec,
                     .element_bytes = problem.element_bytes,
                     .predicted = {},
                     .launch =
                         [ready](const std::byte* in, std::byte* out) {
                           static_cast<void>(cuda::StreamClock().milliseconds(
                               1, [&](Stream stream) { (*ready)->run(in, out, stream); }));
                           ready->reset();
                         },
                     .prepare = [ready, problem] { ready->emplace(problem, std::nullopt); },
                     .predict = [problem, target] { return count(problem, target); },
                     .shared = shared_check(problem.family)});
  }
  return cases;
}

}  // namespace faro::bench::gpu_model
