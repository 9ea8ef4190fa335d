// Layers in groups that each rank runs by itself, and exchanges of index bits between them.
//
// `places` is where an element of the input is: local bits low, the rank's on top. A layer of direction d is
// local where places d has no bit of the rank's. Of the layers still to run as many are taken as leave g
// functionals on places that vanish on all their directions: those become the rank's bits, the ones that it
// has already first, and the layers run on 2^(n-g) elements with what the rank's bits add to their frames.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "disjoint.hpp"
#include "faro/communicator.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/network/sharded.hpp"
#include "io/buffer.hpp"
#include "layout/functionals.hpp"
#include "size_text.hpp"

namespace faro::network {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr const char* kMakeSharded = "compile a network over shards";

// Row i as a functional: bit j for index bit j.
Word row_of(const Matrix& matrix, int row) { return matrix.transposed().column(row); }

// Vectors that vanish on all of `directions`, the highest bits first.
std::vector<Word> vanishing_on(const std::vector<Word>& directions, int n) {
  const Subspace space = layout::detail::annihilator(Subspace::span(n, directions));
  std::vector<Word> made(space.basis().begin(), space.basis().end());
  std::reverse(made.begin(), made.end());
  return made;
}

// A new order of places whose rank bits vanish on `directions`: the preferred ones if they do, else those
// that do already stay where they are.
std::optional<Affine> order_for(const std::vector<Word>& directions, int n, int g,
                                const std::vector<Word>& preferred = {}) {
  const int m = n - g;
  const std::vector<Word> free = vanishing_on(directions, n);
  const Subspace allowed = Subspace::span(n, free);
  if (allowed.dimension() < g) return std::nullopt;
  std::vector<Word> rank_rows(static_cast<std::size_t>(g), 0);
  Subspace taken(n);
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    if (allowed.contains(preferred[i]) && taken.insert(preferred[i])) rank_rows[i] = preferred[i];
  }
  for (int i = 0; i < g; ++i) {
    if (rank_rows[static_cast<std::size_t>(i)] != 0 || taken.contains(f2::unit(m + i))) continue;
    if (!allowed.contains(f2::unit(m + i))) continue;
    rank_rows[static_cast<std::size_t>(i)] = f2::unit(m + i);
    taken.insert(f2::unit(m + i));
  }
  auto next = free.begin();
  for (Word& row : rank_rows) {
    for (; row == 0 && next != free.end(); ++next) {
      if (taken.insert(*next)) row = *next;
    }
  }
  // What else there is keeps its place, and what gave its to the rank takes the places that are left.
  std::vector<Word> local_rows(static_cast<std::size_t>(m), 0);
  for (int j = 0; j < m; ++j) {
    if (taken.insert(f2::unit(j))) local_rows[static_cast<std::size_t>(j)] = f2::unit(j);
  }
  int displaced = m;
  for (Word& row : local_rows) {
    for (; row == 0; ++displaced) {
      FARO_CHECK(displaced < n);
      if (taken.insert(f2::unit(displaced))) row = f2::unit(displaced);
    }
  }
  local_rows.insert(local_rows.end(), rank_rows.begin(), rank_rows.end());
  return Affine(Matrix::from_columns(n, local_rows).transposed(), 0);
}

// w^p of 2^(bits - 1) pairs, as a product of two entries of short tables.
class Twiddles {
 public:
  Twiddles(int bits, bool inverse) : low_bits_(std::max(0, bits - 1) / 2) {
    const double turn = (inverse ? 2 : -2) * std::numbers::pi / std::ldexp(1.0, bits);
    for (std::uint64_t p = 0; p < std::uint64_t{1} << low_bits_; ++p)
      low_.push_back(std::polar(1.0, turn * static_cast<double>(p)));
    const int high_bits = std::max(0, bits - 1 - low_bits_);
    for (std::uint64_t p = 0; p < std::uint64_t{1} << high_bits; ++p)
      high_.push_back(std::polar(1.0, turn * static_cast<double>(p << low_bits_)));
  }
  std::complex<double> operator()(std::uint64_t p) const {
    return low_[p & f2::low_mask(low_bits_)] * high_[p >> low_bits_];
  }

 private:
  int low_bits_;
  std::vector<std::complex<double>> low_;
  std::vector<std::complex<double>> high_;
};

// Bits of the global pair number from those of the local one.
struct PairNumbers {
  Matrix of_local;  // (k - 1) x (m - 1)
  Word constant = 0;
  int bits = 0;  // k

  std::uint64_t operator()(std::uint64_t p) const { return (of_local * p) ^ constant; }
};

template <typename Number>
HostFunction fourier_between_ranks(const PairNumbers& numbers, bool inverse) {
  return [numbers, twiddles = Twiddles(numbers.bits, inverse)](void* a, void* b, std::uint64_t p, int) {
    std::complex<Number> first;
    std::complex<Number> second;
    std::memcpy(&first, a, sizeof first);
    std::memcpy(&second, b, sizeof second);
    const std::complex<double> turned = std::complex<double>(first - second) * twiddles(numbers(p));
    first += second;
    second = std::complex<Number>(turned);
    std::memcpy(a, &first, sizeof first);
    std::memcpy(b, &second, sizeof second);
  };
}

bool sees_pair_numbers(const Operator& op) {
  return op.kind == OperatorKind::fourier || op.kind == OperatorKind::inverse_fourier ||
         op.kind == OperatorKind::user;
}

// As CUDA C++: p, the number of a local pair, becomes that of the whole array's, and n its bits. Columns that
// follow each other by a shift are moved together, so that the text is the same for all layers of a transform
// whose numbers lack the same bits, and one pass takes them all.
std::string renumbering_text(const PairNumbers& numbers, int own_bits) {
  std::string text = fmt::format("p = {:#x}u", numbers.constant);
  for (int first = 0; first < own_bits;) {
    const Word column = numbers.of_local.column(first);
    int end = first + 1;
    while (end < own_bits && numbers.of_local.column(end) == column << (end - first)) ++end;
    std::string run = first == 0 ? "p" : fmt::format("(p >> {})", first);
    if (end < own_bits) run = fmt::format("({} & {:#x}u)", run, f2::low_mask(end - first));
    for (Word rest = column; rest != 0; rest &= rest - 1)
      text += fmt::format(" ^ {} << {}", run, std::countr_zero(rest));
    first = end;
  }
  return text + fmt::format(";\nn += {};\n", numbers.bits - 1 - own_bits);
}

// (a + b, (a - b) w^p) with the root found anew for each pair.
std::string fourier_text(bool inverse, Scalar scalar) {
  const bool is_single = scalar == Scalar::c64;
  return fmt::format(
      "Value w{{}};\n"
      "sincospi{0}({1}ldexp{0}(static_cast<{2}>(p), 1 - n), &w.im, &w.re);\n"
      "const Value difference = (a - b) * w;\n"
      "a = a + b;\n"
      "b = difference;\n",
      is_single ? "f" : "", inverse ? "" : "-", is_single ? "float" : "double");
}

// The operator with the pair numbers that it would see in the whole array, of which `own_bits` are the
// rank's own.
Operator renumbered(const Operator& op, const PairNumbers& numbers, int own_bits, const ElementType& element,
                    Engine engine, std::size_t layer) {
  const bool is_user = op.kind == OperatorKind::user;
  const bool inverse = op.kind == OperatorKind::inverse_fourier;
  if (engine == Engine::cuda) {
    constexpr int most_bits = 33;  // a kernel's numbers are words of 32 bits
    if ((is_user && op.text.empty()) || numbers.bits > most_bits) {
      fail(ErrorCode::unsupported, kMakeSharded,
           fmt::format("layer {}, `{}`, whose pair numbers of {} bits span ranks", layer + 1, op.name,
                       numbers.bits - 1),
           "on engine cuda numbers of at most 32 bits, and a user's operator that has a text");
    }
    Operator made =
        operators::user("between_ranks", renumbering_text(numbers, own_bits) +
                                             (is_user ? op.text : fourier_text(inverse, element.scalar)));
    made.element = element;
    return made;
  }
  if (is_user && !op.host) {
    fail(ErrorCode::unsupported, kMakeSharded,
         fmt::format("layer {}, `{}`, whose pair numbers span ranks", layer + 1, op.name),
         "an operator with a host function");
  }
  HostFunction host;
  if (is_user) {
    host = [numbers, inner = op.host](void* a, void* b, std::uint64_t p, int) {
      (*inner)(a, b, numbers(p), numbers.bits);
    };
  } else {
    host = element.scalar == Scalar::c64 ? fourier_between_ranks<float>(numbers, inverse)
                                         : fourier_between_ranks<double>(numbers, inverse);
  }
  Operator made = operators::user(fmt::format("between_ranks_{}", layer), "", std::move(host));
  made.element = element;
  return made;
}

struct LocalParts {
  int m = 0;
  Word rank = 0;
  ElementType element;
  Engine engine = Engine::cpu;
};

// A layer on the rank's own elements; `frame` is of places.
Program local_layer(const Layer& layer, const Affine& frame, const LocalParts& of, std::size_t number) {
  const int m = of.m;
  if (layer.op.kind == OperatorKind::elementwise || layer.op.kind == OperatorKind::user_elementwise)
    return each(layer.op, m);
  const Word low = f2::low_mask(m);
  const Word added = frame(of.rank << m);  // what the rank's bits and the complement give
  const Word direction = frame.inverse_matrix().column(0);
  FARO_CHECK((direction & ~low) == 0);
  // Row 0 tells the first from the second, the next number pairs, the others tell sub-arrays apart.
  std::vector<Word> rows{row_of(frame.matrix(), 0) & low};
  Subspace independent(m);
  independent.insert(rows.front());
  const int pair_bits = sees_pair_numbers(layer.op) ? layer.bits - 1 : 0;
  std::vector<Word> numbered;
  for (int i = 1; i <= pair_bits; ++i) {
    const Word row = row_of(frame.matrix(), i) & low;
    numbered.push_back(row);
    if (independent.insert(row)) rows.push_back(row);
  }
  const auto own_pair_bits = static_cast<int>(rows.size()) - 1;
  for (const Word row : vanishing_on({direction}, m)) {
    if (independent.insert(row)) rows.push_back(row);
  }
  FARO_CHECK(static_cast<int>(rows.size()) == m);
  Operator op = layer.op;
  int bits = m;
  Word complement = added & 1;
  if (pair_bits > 0) {
    const Matrix of_rows =
        Matrix::from_columns(m, std::vector<Word>(rows.begin() + 1, rows.begin() + 1 + own_pair_bits));
    PairNumbers numbers{.of_local = Matrix::zero(pair_bits, m - 1),
                        .constant = added >> 1 & f2::low_mask(pair_bits),
                        .bits = layer.bits};
    bool is_plain = own_pair_bits == pair_bits;
    for (int i = 0; i < pair_bits; ++i) {
      const Word combination = *of_rows.solve(numbered[static_cast<std::size_t>(i)]);
      for (int t = 0; t < own_pair_bits; ++t) {
        if (f2::bit(combination, t)) numbers.of_local.set_column(t, numbers.of_local.column(t) | f2::unit(i));
      }
      is_plain = is_plain && combination == f2::unit(i);
    }
    if (is_plain) {
      // The rank's bits only say where pairs begin to count.
      complement |= numbers.constant << 1;
      bits = layer.bits;
    } else {
      bits = own_pair_bits + 1;
      op = renumbered(layer.op, numbers, own_pair_bits, of.element, of.engine, number);
    }
  } else if (sees_pair_numbers(layer.op)) {
    bits = layer.bits;
  }
  const Affine to_pairs(Matrix::from_columns(m, rows).transposed(), complement);
  Program program = pairs(op, bits);
  for (int k = bits; k < m; ++k) program = two(program);
  return bmmc(to_pairs.inverse()) * program * bmmc(to_pairs);
}

}  // namespace

struct ShardedNetwork::State {
  struct Stage {
    std::optional<ShardedPlan> exchange;  // before the layers
    std::optional<Executable> layers;
    std::size_t first_layer = 0;
    std::size_t layer_count = 0;
  };

  Problem problem{.program = identity(0), .element = {}};
  std::shared_ptr<Communicator> communicator = nullptr;
  std::vector<Stage> stages = {};
  std::uint64_t part_bytes = 0;
  std::unique_ptr<io::Buffer> on_host[2];
  std::optional<cuda::DeviceArray> on_device[2];

  std::byte* spare(std::size_t which) {
    if (communicator->memory() == Engine::cuda) return on_device[which]->data();
    return on_host[which]->data();
  }

  void make(const Options& options, const ShardWays& ways) {
    const auto ranks = static_cast<unsigned>(communicator->ranks());
    const int n = problem.program.bits();
    if (!std::has_single_bit(ranks) || static_cast<int>(std::bit_width(ranks)) - 1 >= n) {
      fail(ErrorCode::value, kMakeSharded, fmt::format("{} ranks for 2^{} elements", ranks, n),
           "2^g ranks, fewer than elements");
    }
    if (problem.batch != 1)
      fail(ErrorCode::value, kMakeSharded, fmt::format("a batch of {}", problem.batch), "one array");
    check_element(problem.program, problem.element);
    const int g = static_cast<int>(std::bit_width(ranks)) - 1;
    const int m = n - g;
    part_bytes = problem.element.bytes() << m;
    const LocalParts parts{.m = m,
                           .rank = static_cast<Word>(communicator->rank()),
                           .element = problem.element,
                           .engine = communicator->memory()};
    const NormalForm form = normal_form(problem.program);
    Affine places(n);
    for (std::size_t next = 0; next < form.layers.size();) {
      // As many layers as one order of places serves.
      std::vector<Word> directions;
      Affine order(n);
      std::size_t end = next;
      for (; end < form.layers.size(); ++end) {
        const bool has_pairs = form.layers[end].op.kind != OperatorKind::elementwise &&
                               form.layers[end].op.kind != OperatorKind::user_elementwise;
        if (has_pairs) directions.push_back(places.matrix() * form.layers[end].direction());
        if (directions.size() > static_cast<std::size_t>(f2::kMaxDimension / 2)) {
          const Subspace span = Subspace::span(n, directions);
          directions.assign(span.basis().begin(), span.basis().end());
        }
        const std::optional<Affine> found = order_for(directions, n, g);
        if (!found) break;
        order = *found;
      }
      FARO_CHECK(end > next);
      if (end == form.layers.size()) {
        // The last order is the output's, if it may be.
        const Affine rest = compose(form.final_map, places.inverse());
        std::vector<Word> rows;
        for (int i = m; i < n; ++i) rows.push_back(row_of(rest.matrix(), i));
        order = *order_for(directions, n, g, rows);
      }
      places = compose(order, places);
      Program program = identity(m);
      for (std::size_t i = next; i < end; ++i) {
        const Affine frame = compose(form.layers[i].frame, places.inverse());
        program = local_layer(form.layers[i], frame, parts, i) * program;
      }
      add(order, program, {next, end - next}, options, ways);
      next = end;
    }
    const Affine last = compose(form.final_map, places.inverse());
    add(last, identity(m), {form.layers.size(), 0}, options, ways);
  }

  void add(const Affine& order, const Program& program, std::pair<std::size_t, std::size_t> layers,
           const Options& options, const ShardWays& ways) {
    Stage stage{.exchange = {}, .layers = {}, .first_layer = layers.first, .layer_count = layers.second};
    if (!order.is_identity()) {
      ShardWays two = ways;
      two.in_place = false;
      const ShardPlan plan({.permutation = order,
                            .element_bytes = problem.element.bytes(),
                            .shards = {.ranks = communicator->ranks(), .rank = communicator->rank()}});
      stage.exchange.emplace(plan, communicator, PlanOptions{.threads = options.threads}, two);
    }
    if (layers.second > 0) {
      Options local = options;
      local.engine = communicator->memory();
      if (local.engine == Engine::cuda) local.device = communicator->device();
      stage.layers.emplace(compile({.program = program, .element = problem.element}, local));
    }
    if (stage.exchange || stage.layers) stages.push_back(std::move(stage));
  }

  void make_buffers() {
    for (std::size_t which = 0; which < 2; ++which) {
      if (communicator->memory() == Engine::cuda) {
        on_device[which].emplace(part_bytes, communicator->device());
      } else {
        on_host[which] = std::make_unique<io::Buffer>(part_bytes);
      }
    }
  }
};

ShardedNetwork::ShardedNetwork(const Problem& problem, std::shared_ptr<Communicator> communicator,
                               const Options& options, const ShardWays& ways)
    : state_(std::make_unique<State>()) {
  if (communicator == nullptr) fail(ErrorCode::value, kMakeSharded, "no communicator", "one for each rank");
  state_->problem = problem;
  state_->communicator = std::move(communicator);
  // Planning makes plans of shards, which agree among themselves; what is refused alike needs no more words.
  state_->make(options, ways);
  faro::detail::agree(*state_->communicator, kMakeSharded, [&] {
    state_->make_buffers();
    return fmt::format("{} layers in {} stages of {}", normal_form(problem.program).layers.size(),
                       state_->stages.size(), to_text(problem.element));
  });
}

ShardedNetwork::ShardedNetwork(ShardedNetwork&&) noexcept = default;
ShardedNetwork& ShardedNetwork::operator=(ShardedNetwork&&) noexcept = default;
ShardedNetwork::~ShardedNetwork() = default;

std::uint64_t ShardedNetwork::part_bytes() const { return state_->part_bytes; }

std::size_t ShardedNetwork::exchanges() const {
  return static_cast<std::size_t>(std::count_if(
      state_->stages.begin(), state_->stages.end(),
      [](const auto& stage) { return stage.exchange && stage.exchange->plan().rho().value_or(1) > 0; }));
}

std::uint64_t ShardedNetwork::sent_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& stage : state_->stages) sum += stage.exchange ? stage.exchange->plan().sent_bytes() : 0;
  return sum;
}

std::size_t ShardedNetwork::passes() const {
  std::size_t sum = 0;
  for (const auto& stage : state_->stages) sum += stage.layers ? stage.layers->plan().passes().size() : 0;
  return sum;
}

void ShardedNetwork::run(const void* in, void* out, std::uint64_t bytes, Stream stream) {
  State& state = *state_;
  faro::detail::agree(*state.communicator, "run a network over shards", [&] {
    if (in == nullptr || out == nullptr)
      fail(ErrorCode::value, "run a network over shards", "a null array", "two arrays");
    if (bytes != state.part_bytes) {
      fail(ErrorCode::value, "run a network over shards", fmt::format("arrays of {} bytes", bytes),
           fmt::format("{}, this rank's part", state.part_bytes));
    }
    faro::detail::check_disjoint("run a network over shards", faro::detail::RunArray{"output", {out, bytes}},
                                 {{"input", {in, bytes}}});
    return std::string();
  });
  // From array to array: the input, the two spare ones by turns, at last the output.
  const void* at = in;
  std::size_t steps = 0;
  for (const State::Stage& stage : state.stages)
    steps += (stage.exchange ? 1U : 0U) + (stage.layers ? 1U : 0U);
  if (steps == 0) {
    if (state.communicator->memory() == Engine::cuda) {
      cuda::copy_between(in, out, bytes, state.communicator->device(), stream);
    } else {
      std::memcpy(out, in, bytes);
    }
    return;
  }
  std::size_t turn = 0;
  const auto target = [&]() -> void* { return --steps == 0 ? out : state.spare(turn++ % 2); };
  for (State::Stage& stage : state.stages) {
    if (stage.exchange) {
      void* const to = target();
      stage.exchange->run(at, bytes, to, bytes, stream);
      at = to;
    }
    if (stage.layers) {
      void* const to = target();
      stage.layers->run(at, to, bytes, stream);
      at = to;
    }
  }
}

std::string ShardedNetwork::explain() const {
  std::string text = fmt::format("network       2^{} elements of {} in {} ranks, {} exchanges\n",
                                 state_->problem.program.bits(), to_text(state_->problem.element),
                                 state_->communicator->ranks(), exchanges());
  for (const auto& stage : state_->stages) {
    if (stage.exchange) {
      const ShardPlan& plan = stage.exchange->plan();
      text += fmt::format("exchange      {}, rho = {}, {} sent, by {}\n", to_text(plan.problem().permutation),
                          plan.rho().value_or(0), size_text(plan.sent_bytes()), stage.exchange->backend());
    }
    if (stage.layers)
      text +=
          fmt::format("layers        {} to {}, in {} passes of the rank's own part\n", stage.first_layer + 1,
                      stage.first_layer + stage.layer_count, stage.layers->plan().passes().size());
  }
  return text;
}

}  // namespace faro::network
