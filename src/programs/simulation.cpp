#include "programs/simulation.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "faro/error.hpp"
#include "machine/memory_machine.hpp"
#include "programs/run_program.hpp"
#include "suggest.hpp"

namespace faro::programs {
namespace {

using machine::MachineKind;
using machine::MachineOptions;

constexpr std::array<std::string_view, 7> kNames{
    "contiguous",         "stride", "copy", "transpose-straightforward", "transpose-diagonal",
    "transpose-rotating", "permute"};
Program program_of(const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    fail(ErrorCode::value, "simulate", "the program `" + name + "`", "one of programs::program_names()",
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
std::uint64_t most_threads(Program program, const ProgramRequest& request) {
  const MachineOptions& machine = request.machine;
  const bool recurses = program == Program::permute && !request.direct && machine.kind == MachineKind::umm &&
                        machine.width > 1 && request.n > machine.width;
  const bool in_registers = program == Program::transpose_rotating || recurses;
  const std::uint64_t most = request.n / (in_registers ? machine.registers : 1);
  return most == 0 || most % machine.width != 0 ? machine.width : most;
}

std::vector<std::uint32_t> list_of(const Permutation& permutation, std::uint64_t n) {
  const Affine map = affine(normal_form(permutation), "simulate");
  std::vector<std::uint32_t> list(n);
  for (std::uint64_t x = 0; x < n; ++x) list[x] = static_cast<std::uint32_t>(map(x));
  return list;
}

// Writes indices, moves no words.
bool only_touches(Program program) { return program == Program::contiguous || program == Program::stride; }

// Where the word of place x is to be in the end.
std::uint64_t target_of(const Job& job, std::uint64_t side, std::uint64_t x) {
  switch (job.program) {
    case Program::contiguous:
    case Program::stride:
    case Program::copy:
      return x;
    case Program::transpose_straightforward:
    case Program::transpose_diagonal:
    case Program::transpose_rotating:
      return x % side * side + x / side;
    case Program::permute:
      break;
  }
  return job.target[x];
}

// Every word of the output against a plain loop.
void verify(const Job& job, const std::vector<std::uint32_t>& in, const std::vector<std::uint32_t>& out) {
  const bool is_transpose =
      job.program >= Program::transpose_straightforward && job.program <= Program::transpose_rotating;
  const std::uint64_t side = is_transpose ? matrix_side(job.n) : 0;
  for (std::uint64_t x = 0; x < job.n; ++x) {
    FARO_CHECK(out[target_of(job, side, x)] ==
               (only_touches(job.program) ? static_cast<std::uint32_t>(x) : in[x]));
  }
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
  check_machine(request.machine);
  if (program != Program::permute && (request.permutation || request.direct)) {
    fail(ErrorCode::value, "simulate", "a permutation for `" + request.program + "`",
         "the program `permute`");
  }
  ProgramRequest run = request;
  run.n = elements_of(request);
  if (run.machine.registers == 0) run.machine.registers = run.machine.width;
  if (run.machine.threads == 0) run.machine.threads = most_threads(program, run);
  check_sizes(run.machine, run.n);

  std::vector<std::uint32_t> target;
  if (program == Program::permute) {
    target = run.permutation ? list_of(*run.permutation, run.n) : random_permutation(run.n, run.seed);
  }
  const Job job{
      .program = program, .direct = run.direct, .machine = run.machine, .n = run.n, .target = target};
  Simulation simulation{.request = run,
                        .report = {},
                        .timeline = {},
                        .formula = cost_of(job),
                        .lower_bound = lower_bound(run.machine, run.n)};

  std::vector<std::uint32_t> in(run.n);
  for (std::uint64_t x = 0; x < run.n; ++x)
    in[x] = static_cast<std::uint32_t>(x * 0x9e37'79b1 + 1);  // all differ
  std::vector<std::uint32_t> out(run.n, 0xffff'ffff);
  machine::MemoryMachine machine(run.machine);
  run_job(job, machine, in, out);
  verify(job, in, out);
  simulation.report = machine.report();
  simulation.timeline = machine.timeline();
  // Every word was touched, so each just once.
  FARO_CHECK(!only_touches(program) || simulation.report.accesses == run.n);
  FARO_CHECK(simulation.report.time == simulation.formula.time);
  FARO_CHECK(simulation.lower_bound <= simulation.report.time);
  return simulation;
}

}  // namespace faro::programs
