#include "programs/permute_umm.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "faro/schedule/row_column.hpp"
#include "programs/cost.hpp"

namespace faro::programs {
namespace {

using machine::MachineOptions;

// e where n = w^e, and 1 at w = 1.
int exponent_of(const MachineOptions& machine, std::uint64_t n) {
  if (machine.width == 1) return 1;
  int exponent = 0;
  std::uint64_t power = 1;
  for (; power < n; ++exponent) power *= machine.width;
  if (power != n || exponent == 0) {
    fail(ErrorCode::value, "fit a program to the machine",
         "n = " + std::to_string(n) + " words at width " + std::to_string(machine.width),
         "a power of the width: w, w^2, w^3, …",
         "the nearest are " + std::to_string(std::max(power / machine.width, machine.width)) + " and " +
             std::to_string(std::max(power, machine.width)));
  }
  return exponent;
}

std::uint64_t power(std::uint64_t base, int exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

struct Sides {
  std::uint64_t rows;     // R
  std::uint64_t columns;  // C
};

Sides sides_of(std::uint64_t width, int exponent) {
  return {.rows = power(width, exponent / 2), .columns = power(width, exponent - exponent / 2)};
}

// The passes without their data, and the buffers between which they run.
class Passes {
 public:
  Passes(const MachineOptions& machine, std::uint64_t n)
      : machine_(machine), access_{.n = n, .threads = machine.threads, .block_threads = machine.threads} {
    add(exponent_of(machine, n));
    // The last pass writes the output, those before it take turns with the scratch.
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const int to = (passes_.size() - i) % 2 == 1 ? device::kOutput : kScratch;
      const int before = to == device::kOutput ? kScratch : device::kOutput;
      for (AccessParams* const access : {&passes_[i].move.access, &passes_[i].rotating.access}) {
        access->from = i == 0 ? device::kInput : before;
        access->to = to;
      }
    }
  }

  const std::vector<UmmPass>& passes() const { return passes_; }

 private:
  void add(int exponent) {
    if (exponent == 1) {
      passes_.push_back({.kind = UmmPass::Kind::rows, .move = {.access = access_}});
      return;
    }
    const Sides sides = sides_of(machine_.width, exponent);
    add(exponent - exponent / 2);
    add_transpose(sides.rows, sides.columns);
    add(exponent / 2);
    add_transpose(sides.columns, sides.rows);
    add(exponent - exponent / 2);
  }

  void add_transpose(std::uint64_t rows, std::uint64_t columns) {
    const RotatingParams params = rotating_params(machine_, access_, rows, columns);
    passes_.push_back({.kind = UmmPass::Kind::tiles, .rotating = params});
    if (!params.is_one_tile()) passes_.push_back({.kind = UmmPass::Kind::exchange, .rotating = params});
  }

  MachineOptions machine_;
  AccessParams access_;
  std::vector<UmmPass> passes_;
};

// Walks through the passes in the same order and gives them their data.
class Runner {
 public:
  Runner(const std::vector<UmmPass>& passes, std::uint64_t width,
         const std::function<void(const UmmPass&)>& run)
      : passes_(passes), width_(width), run_(run) {}

  void permute(std::span<const std::uint32_t> target, int exponent) {
    if (exponent == 1) {
      UmmPass pass = passes_[next_++];
      pass.move.target = target.data();
      return run_(pass);
    }
    const Sides sides = sides_of(width_, exponent);
    schedule::RowColumnRow steps = schedule::row_column_row(target, sides.rows, sides.columns);
    permute_and_free(steps.first, exponent - exponent / 2);
    transpose();
    permute_and_free(steps.middle, exponent / 2);
    transpose();
    permute_and_free(steps.last, exponent - exponent / 2);
  }

 private:
  void permute_and_free(std::vector<std::uint32_t>& target, int exponent) {
    const std::vector<std::uint32_t> taken = std::move(target);
    permute(taken, exponent);
  }

  void transpose() {
    while (passes_[next_].kind != UmmPass::Kind::rows) run_(passes_[next_++]);
  }

  const std::vector<UmmPass>& passes_;
  std::uint64_t width_;
  const std::function<void(const UmmPass&)>& run_;
  std::size_t next_ = 0;
};

Units permute_units(const MachineOptions& machine, std::uint64_t n, int exponent) {
  if (exponent == 1) return {row_permute_cost(machine, n).time};
  const Sides sides = sides_of(machine.width, exponent);
  return Units{2} * permute_units(machine, n, exponent - exponent / 2) +
         permute_units(machine, n, exponent / 2) +
         Units{rotating_transpose_cost(machine, n, sides.rows, sides.columns).time} +
         Units{rotating_transpose_cost(machine, n, sides.columns, sides.rows).time};
}

}  // namespace

void for_each_umm_pass(const MachineOptions& machine, std::span<const std::uint32_t> target,
                       const std::function<void(const UmmPass&)>& run) {
  check_sizes(machine, target.size());
  schedule::check_permutation(target);
  const Passes passes(machine, target.size());
  Runner(passes.passes(), machine.width, run).permute(target, exponent_of(machine, target.size()));
}

Cost row_permute_cost(const MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  return {.time = (Units{2} * Sizes(machine, n).sweep()).value,
          .text = "2 (p/w + l - 1) n/p",
          .source = "Lemma 7.1"};
}

Cost column_permute_cost(const MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  if (n != machine.width * machine.width) {
    fail(ErrorCode::value, "fit a program to the machine",
         "n = " + std::to_string(n) + " words at width " + std::to_string(machine.width), "a w x w matrix");
  }
  const Units transpose{rotating_transpose_cost(machine, n, machine.width, machine.width).time};
  return {.time = (Units{2} * transpose + Units{row_permute_cost(machine, n).time}).value,
          .text = "2 (p/w + l - 1) n/p + 2 X(w, w), X = rotating transpose",
          .source = "Lemma 7.2"};
}

Cost umm_permute_cost(const MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  const int exponent = exponent_of(machine, n);
  if (exponent == 1) return row_permute_cost(machine, n);
  return {.time = permute_units(machine, n, exponent).value,
          .text =
              "U(e) = 2 U(ceil(e/2)) + U(floor(e/2)) + X(R, C) + X(C, R), U(1) = 2 (p/w + l - 1) n/p, "
              "X = rotating transpose, e = " +
              std::to_string(exponent),
          .source = machine.registers == machine.width ? "Lemma 7.5" : "Theorem 7.6"};
}

}  // namespace faro::programs
