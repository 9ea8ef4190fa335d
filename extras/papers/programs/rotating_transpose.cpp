#include "programs/rotating_transpose.hpp"

#include <cmath>
#include <string>

#include "faro/error.hpp"
#include "programs/cost.hpp"

namespace faro::programs {
namespace {
std::string equals(const char* name, std::uint64_t value) {
  return std::string(name) + " = " + std::to_string(value);
}

}  // namespace

RotatingShape rotating_shape(std::uint64_t width, std::uint64_t registers) {
  if (registers == 0 || registers > width || registers > kMostRegisters) {
    fail(ErrorCode::value, "fit the rotating transpose to the machine",
         equals("r", registers) + " registers a thread",
         "from 1 to " + std::to_string(width < kMostRegisters ? width : kMostRegisters));
  }
  // T = sqrt(r w) and g = w / T are integers just if T = g r and w = g^2 r.
  const std::uint64_t ratio = width / registers;
  auto group = static_cast<std::uint64_t>(std::lround(std::sqrt(static_cast<double>(ratio))));
  if (width % registers != 0 || group * group != ratio) {
    fail(ErrorCode::value, "fit the rotating transpose to the machine",
         equals("r", registers) + " registers a thread at width " + std::to_string(width),
         "w / r a square, so that tiles of sqrt(r w) words a side fit a warp",
         "r = w, one tile of w x w a warp, always does");
  }
  return {.tile = group * registers, .group = group};
}

RotatingParams rotating_params(const machine::MachineOptions& machine, const AccessParams& access,
                               std::uint64_t rows, std::uint64_t columns) {
  check_sizes(machine, access.n);
  const RotatingParams params{.access = access,
                              .rows = rows,
                              .columns = columns,
                              .width = machine.width,
                              .registers = machine.registers,
                              .shape = rotating_shape(machine.width, machine.registers)};
  const std::uint64_t tile = params.shape.tile;
  const std::string matrix = std::to_string(rows) + " x " + std::to_string(columns);
  if (rows % tile != 0 || columns % tile != 0) {
    fail(ErrorCode::value, "fit the rotating transpose to the machine", "a matrix of " + matrix,
         "sides that T = " + std::to_string(tile) + " divides: T = sqrt(r w)");
  }
  if (!params.is_one_tile() && (rows % machine.width != 0 || columns % machine.width != 0)) {
    fail(ErrorCode::value, "fit the rotating transpose to the machine", "a matrix of " + matrix,
         "sides that w = " + std::to_string(machine.width) + " divides");
  }
  if (access.n % (machine.registers * machine.threads) != 0) {
    fail(ErrorCode::value, "fit the rotating transpose to the machine",
         equals("p", machine.threads) + " threads with " + equals("r", machine.registers) +
             " registers for " + equals("n", access.n) + " words",
         "r p that divides n: every warp takes as many tiles", "fewer threads or registers");
  }
  return params;
}

Cost rotating_transpose_cost(const machine::MachineOptions& machine, std::uint64_t n, std::uint64_t rows,
                             std::uint64_t columns) {
  const AccessParams access{.n = n, .threads = machine.threads, .block_threads = machine.threads};
  const RotatingParams params = rotating_params(machine, access, rows, columns);
  const Sizes sizes(machine, n);
  const Units tiles = Units{2 * params.shape.tile} * (Units{sizes.warps} + Units{sizes.hidden}) *
                      Units{sizes.rounds / machine.registers};
  const bool is_lemma_5_2 = machine.registers == machine.width;
  Cost cost{.time = tiles.value,
            .text = "2 T (p/w + l - 1) n/(r p); T = sqrt(r w)",
            .source = is_lemma_5_2 ? "Lemma 5.2" : "Lemma 5.3"};
  if (!params.is_one_tile()) {
    cost.time = (tiles + sizes.sweep(params.shape.group) + sizes.sweep()).value;
    cost.text = "2 T (p/w + l - 1) n/(r p) + ((g + 1) p/w + 2 (l - 1)) n/p; T = sqrt(r w), g = sqrt(w / r)";
  }
  return cost;
}

}  // namespace faro::programs
