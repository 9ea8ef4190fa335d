#include "programs/simulation.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/memory_machine.hpp"
#include "faro/suggest.hpp"
#include "programs/run_program.hpp"

namespace faro::programs {
namespace {

using machine::MachineKind;
using machine::MachineOptions;

constexpr std::array<std::string_view, 11> kNames{"contiguous",
                                                  "stride",
                                                  "copy",
                                                  "transpose-straightforward",
                                                  "transpose-diagonal",
                                                  "transpose-rotating",
                                                  "permute",
                                                  "diagonal",
                                                  "transpose-crsw",
                                                  "transpose-srcw",
                                                  "transpose-drdw"};

Program program_of(const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    std::string names;
    for (const std::string_view known : kNames) names.append(names.empty() ? "" : ", ").append(known);
    fail(ErrorCode::value, "simulate", "the program `" + name + "`", "one of " + names,
         did_you_mean(name, kNames));
  }
  return static_cast<Program>(found - kNames.begin());
}

// Before anything is computed from them.
void check_machine(MachineOptions machine) {
  if (machine.threads == 0) machine.threads = machine.width;
  machine::check(machine);
  if (machine.word_bytes != 4)
    fail(ErrorCode::value, "simulate", std::to_string(machine.word_bytes) + " bytes a word", "4");
}

std::uint64_t elements_of(const ProgramRequest& request) {
  const std::uint64_t given = request.permutation ? element_count(*request.permutation) : 0;
  if (given != 0 && request.n != 0 && given != request.n) {
    fail(ErrorCode::value, "simulate",
         "a permutation of " + std::to_string(given) + " elements with n = " + std::to_string(request.n),
         "as many elements as words");
  }
  const std::uint64_t n = given != 0 ? given : request.n;
  const std::uint64_t width = request.machine.width;
  return n != 0 ? n : width * width;
}

// The most that the program allows, or any number, to be refused with its reason.
std::uint64_t most_threads(Program program, const ProgramRequest& request, std::uint64_t n) {
  const MachineOptions& machine = request.machine;
  const bool recurses = program == Program::permute && !request.direct && machine.kind == MachineKind::umm &&
                        machine.width > 1 && n > machine.width;
  const bool in_registers = program == Program::transpose_rotating || recurses;
  const std::uint64_t most = n / (in_registers ? machine.registers : 1);
  return most == 0 || most % machine.width != 0 ? machine.width : most;
}

// The least number of words from n on that `permute` takes: whole warps, or whole rounds of p threads, where
// a sweep is all; a power of w on the UMM; the square of a multiple of w on the HMM.
std::uint64_t padded(const ProgramRequest& request) {
  const MachineOptions& machine = request.machine;
  const std::uint64_t n = request.n;
  const std::uint64_t w = machine.width;
  if (n > kMostElements) return n;  // to be refused
  if (!request.direct && machine.kind == MachineKind::umm && w > 1) {
    std::uint64_t power = w;
    while (power < n) power *= w;
    return power;
  }
  if (!request.direct && machine.kind == MachineKind::hmm) {
    std::uint64_t side = w;
    while (side * side < n) side += w;
    return side * side;
  }
  const std::uint64_t unit = std::max(machine.threads, w);
  return (n + unit - 1) / unit * unit;
}

// P as a list; the words that were added stay.
std::vector<std::uint32_t> list_of(const ProgramRequest& request, std::uint64_t padded_n) {
  std::vector<std::uint32_t> list(padded_n);
  std::iota(list.begin(), list.end(), std::uint32_t{0});
  if (!request.permutation) {
    const std::vector<std::uint32_t> random = random_permutation(request.n, request.seed);
    std::copy(random.begin(), random.end(), list.begin());
    return list;
  }
  const auto* const indexed = std::get_if<Indexed>(&*request.permutation);
  const bool gathers = indexed != nullptr && indexed->direction() == Direction::gather;
  for (std::uint64_t x = 0; x < request.n; ++x) {
    if (gathers) {
      list[indexed->entry(x)] = static_cast<std::uint32_t>(x);
    } else {
      list[x] = static_cast<std::uint32_t>(apply(*request.permutation, x));
    }
  }
  return list;
}

std::optional<MatrixProgram> matrix_program_of(Program program) {
  switch (program) {
    case Program::contiguous:
      return MatrixProgram::contiguous;
    case Program::stride:
      return MatrixProgram::stride;
    case Program::diagonal:
      return MatrixProgram::diagonal;
    case Program::transpose_crsw:
      return MatrixProgram::crsw;
    case Program::transpose_srcw:
      return MatrixProgram::srcw;
    case Program::transpose_drdw:
      return MatrixProgram::drdw;
    case Program::copy:
    case Program::transpose_straightforward:
    case Program::transpose_diagonal:
    case Program::transpose_rotating:
    case Program::permute:
      break;
  }
  return std::nullopt;
}

// The lists of what runs on a matrix that is laid out; nothing for the others.
std::optional<MatrixAccess> matrix_access_of(Program program, const ProgramRequest& request) {
  if (program <= Program::permute && !request.layout) return std::nullopt;
  return matrix_access(*matrix_program_of(program), request.layout.value_or(MatrixLayout::raw),
                       request.machine, request.n, request.seed);
}

bool is_transpose(Program program) {
  return program != Program::permute && program != Program::copy && !only_touches(program);
}

// Where the word of place x is to be in the end, of what has no layout.
std::uint64_t target_of(const Job& job, std::uint64_t side, std::uint64_t x) {
  if (is_transpose(job.program)) return x % side * side + x / side;
  return job.program == Program::permute ? job.target[x] : x;
}

// Every word of the output against a plain loop.
void verify(const Job& job, const ProgramRequest& request, const std::vector<std::uint32_t>& in,
            const std::vector<std::uint32_t>& out) {
  const std::uint64_t side = is_transpose(job.program) ? matrix_side(job.n) : 0;
  std::vector<std::uint32_t> places;
  if (request.layout && side != 0) places = matrix_places(*request.layout, side, request.seed);
  const auto place = [&](std::uint64_t x) { return places.empty() ? x : places[x]; };
  for (std::uint64_t x = 0; x < job.n; ++x) {
    const std::uint64_t from = place(x);
    FARO_CHECK(out[place(target_of(job, side, x))] ==
               (only_touches(job.program) ? static_cast<std::uint32_t>(from) : in[from]));
  }
}

void check_request(Program program, const ProgramRequest& request) {
  check_machine(request.machine);
  if (program != Program::permute && (request.permutation || request.direct)) {
    fail(ErrorCode::value, "simulate", "a permutation for `" + request.program + "`",
         "the program `permute`");
  }
  if (request.layout && !matrix_program_of(program)) {
    fail(ErrorCode::value, "simulate", "a layout for `" + request.program + "`",
         "contiguous, stride, diagonal, transpose-crsw, transpose-srcw or transpose-drdw");
  }
  if (request.permutation && element_count(*request.permutation) == 0)
    fail(ErrorCode::value, "simulate", "a permutation of no elements", "one element or more");
}

}  // namespace

std::span<const std::string_view> program_names() { return kNames; }

std::vector<std::uint32_t> random_permutation(std::uint64_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> list(n);
  std::iota(list.begin(), list.end(), std::uint32_t{0});
  std::uint64_t state = seed;
  const auto next = [&state] {  // SplitMix64 of Steele, Lea and Flood
    state += 0x9e37'79b9'7f4a'7c15;
    std::uint64_t z = (state ^ state >> 30) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
    return z ^ z >> 31;
  };
  for (std::uint64_t left = n; left > 1; --left) {
    // A number below `left`, even to one part in 2^32 and better.
    const std::uint64_t chosen = (next() >> 32) * left >> 32;
    std::swap(list[left - 1], list[chosen]);
  }
  return list;
}

Simulation simulate(const ProgramRequest& request) {
  const Program program = program_of(request.program);
  check_request(program, request);
  ProgramRequest run = request;
  run.n = elements_of(request);
  const std::uint64_t n = program == Program::permute ? padded(run) : run.n;
  if (run.machine.registers == 0) run.machine.registers = run.machine.width;
  if (run.machine.threads == 0) run.machine.threads = most_threads(program, run, n);
  check_sizes(run.machine, n);

  std::vector<std::uint32_t> target;
  if (program == Program::permute) target = list_of(run, n);
  const std::optional<MatrixAccess> matrix = matrix_access_of(program, run);
  const Job job{.program = program,
                .direct = run.direct,
                .machine = run.machine,
                .n = n,
                .target = target,
                .matrix = matrix ? &*matrix : nullptr};
  Simulation simulation{.request = run,
                        .padded_n = n,
                        .report = {},
                        .timeline = {},
                        .formula = cost_of(job),
                        .lower_bound = lower_bound(run.machine, run.n)};

  std::vector<std::uint32_t> in(n);
  for (std::uint64_t x = 0; x < n; ++x)
    in[x] = static_cast<std::uint32_t>(x * 0x9e37'79b1 + 1);  // all differ
  std::vector<std::uint32_t> out(n, 0xffff'ffff);
  machine::MemoryMachine machine(run.machine);
  run_job(job, machine, in, out);
  verify(job, run, in, out);
  simulation.report = machine.report();
  simulation.timeline = machine.timeline();
  // Every word was touched, so each just once.
  FARO_CHECK(!only_touches(program) || simulation.report.accesses == n);
  FARO_CHECK(simulation.report.time == simulation.formula.time);
  FARO_CHECK(simulation.lower_bound <= simulation.report.time);
  return simulation;
}

}  // namespace faro::programs
