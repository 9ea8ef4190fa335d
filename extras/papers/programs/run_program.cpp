#include "programs/run_program.hpp"

#include <algorithm>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "faro/schedule/row_column.hpp"
#include "programs/access.hpp"
#include "programs/hierarchical.hpp"
#include "programs/permute.hpp"
#include "programs/permute_umm.hpp"
#include "programs/rotating_transpose.hpp"
#include "programs/transpose.hpp"

namespace faro::programs {
namespace {

using machine::MachineKind;
using machine::MemoryMachine;

class ProgramRunner {
 public:
  ProgramRunner(const Job& job, MemoryMachine& machine)
      : job_(job),
        machine_(machine),
        access_{.n = job.n, .threads = job.machine.threads, .block_threads = job.machine.threads} {
    if (only_touches(job.program)) access_.to = device::kInput;
  }

  void run() {
    if (job_.matrix != nullptr) return run_matrix();
    switch (job_.program) {
      case Program::contiguous:
        return in_one_block([this](auto& m, std::uint64_t block, std::uint32_t i) {
          contiguous_access(m, access_, block, i);
        });
      case Program::stride:
        return in_one_block(
            [this](auto& m, std::uint64_t block, std::uint32_t i) { stride_access(m, access_, block, i); });
      case Program::copy:
        return in_one_block(
            [this](auto& m, std::uint64_t block, std::uint32_t i) { copy(m, access_, block, i); });
      case Program::transpose_straightforward:
        return run_straightforward();
      case Program::transpose_diagonal:
        return run_diagonal();
      case Program::transpose_rotating:
        return run_rotating();
      case Program::permute:
        return run_permute();
      case Program::diagonal:
      case Program::transpose_crsw:
      case Program::transpose_srcw:
      case Program::transpose_drdw:
        FARO_CHECK(false);  // these have lists
    }
  }

 private:
  template <typename Phase>
  void in_one_block(Phase phase) {
    machine_.run({.blocks = 1, .threads = job_.machine.threads, .shared_bytes = 0}, phase);
  }

  void run_straightforward() {
    const TransposeParams params{.access = access_, .side = matrix_side(job_.n)};
    in_one_block([&](auto& m, std::uint64_t block, std::uint32_t i) {
      transpose_straightforward(m, params, block, i);
    });
  }

  void run_diagonal() {
    const std::uint64_t side = matrix_side(job_.n);
    if (job_.machine.kind == MachineKind::hmm) return transpose_shared(device::kInput, device::kOutput, side);
    const TransposeParams params{.access = access_, .side = side};
    in_one_block(
        [&](auto& m, std::uint64_t block, std::uint32_t i) { transpose_diagonal(m, params, block, i); });
  }

  void run_rotating() {
    const std::uint64_t side = matrix_side(job_.n);
    RotatingParams params = rotating_params(job_.machine, access_, side, side);
    std::vector<std::uint32_t> scratch;
    if (!params.is_one_tile()) {
      scratch.resize(job_.n);
      params.access.to = add_buffer(scratch);
    }
    in_one_block(
        [&](auto& m, std::uint64_t block, std::uint32_t i) { transpose_tiles(m, params, block, i); });
    if (params.is_one_tile()) return;
    params.access.from = params.access.to;
    params.access.to = device::kOutput;
    in_one_block([&](auto& m, std::uint64_t block, std::uint32_t i) { exchange_tiles(m, params, block, i); });
  }

  void run_matrix() {
    if (!job_.matrix->source.empty()) return move(job_.matrix->source.data(), job_.matrix->target.data());
    const TouchParams params{.access = access_, .target = job_.matrix->target.data()};
    in_one_block([&](auto& m, std::uint64_t block, std::uint32_t i) { touch_words(m, params, block, i); });
  }

  void run_permute() {
    if (job_.direct) return move(nullptr, job_.target.data());
    if (job_.machine.kind == MachineKind::dmm) {
      const auto schedule = schedule::conflict_free_schedule(job_.target, job_.machine.width);
      return move(schedule.source.data(), schedule.target.data());
    }
    if (job_.machine.kind == MachineKind::hmm) return permute_hierarchical();
    std::vector<std::uint32_t> scratch(job_.n);
    add_buffer(scratch);
    for_each_umm_pass(job_.machine, job_.target, [this](const UmmPass& pass) {
      in_one_block([&](auto& m, std::uint64_t block, std::uint32_t i) { run_pass(m, pass, block, i); });
    });
  }

  void move(const std::uint32_t* source, const std::uint32_t* target) {
    const MoveParams params{.access = access_, .source = source, .target = target};
    in_one_block([&](auto& m, std::uint64_t block, std::uint32_t i) { move_words(m, params, block, i); });
  }

  // The five kernels of the HMM.
  void permute_hierarchical() {
    const std::uint64_t side = matrix_side(job_.n);
    schedule::RowColumnRow steps = schedule::row_column_row(job_.target, side, side);
    std::vector<std::uint32_t> scratch(job_.n);
    source_.resize(job_.n);
    target_.resize(job_.n);
    const int between = add_buffer(scratch);
    const int source = add_buffer(source_);
    const int target = add_buffer(target_);
    SharedRowsParams rows{.access = access_, .side = side, .source = source, .target = target};
    rows.access.block_threads = row_block_threads(job_.machine, side);
    permute_rows(rows, steps.first, device::kInput, device::kOutput);
    transpose_shared(device::kOutput, between, side);
    permute_rows(rows, steps.middle, between, device::kOutput);
    transpose_shared(device::kOutput, between, side);
    permute_rows(rows, steps.last, between, device::kOutput);
  }

  void permute_rows(SharedRowsParams params, std::vector<std::uint32_t>& permutation, int from, int to) {
    write_schedules(permutation, params.side);
    params.access.from = from;
    params.access.to = to;
    machine_.run(
        {.blocks = params.blocks(),
         .threads = params.access.block_threads,
         .shared_bytes = params.shared_bytes()},
        [&](auto& m, std::uint64_t block, std::uint32_t i) { load_row(m, params, block, i); },
        [&](auto& m, std::uint64_t block, std::uint32_t i) { permute_row(m, params, block, i); },
        [&](auto& m, std::uint64_t block, std::uint32_t i) { store_row(m, params, block, i); });
  }

  // Every row's schedule, in the buffers s and d.
  void write_schedules(std::vector<std::uint32_t>& permutation, std::uint64_t side) {
    for (std::uint64_t begin = 0; begin < job_.n; begin += side) {
      const std::span<std::uint32_t> row(permutation.data() + begin, side);
      for (std::uint32_t& place : row) place -= static_cast<std::uint32_t>(begin);
      const auto schedule = schedule::conflict_free_schedule(row, job_.machine.width);
      std::copy(schedule.source.begin(), schedule.source.end(), source_.data() + begin);
      std::copy(schedule.target.begin(), schedule.target.end(), target_.data() + begin);
    }
  }

  void transpose_shared(int from, int to, std::uint64_t side) {
    SharedTransposeParams params{.access = access_, .side = side, .width = job_.machine.width};
    params.access.block_threads = tile_block_threads(job_.machine);
    params.access.from = from;
    params.access.to = to;
    machine_.run(
        {.blocks = params.blocks(),
         .threads = params.access.block_threads,
         .shared_bytes = params.shared_bytes()},
        [&](auto& m, std::uint64_t block, std::uint32_t i) { load_tile_rotated(m, params, block, i); },
        [&](auto& m, std::uint64_t block, std::uint32_t i) { store_tile_transposed(m, params, block, i); });
  }

  int add_buffer(std::vector<std::uint32_t>& words) {
    return machine_.add_buffer(std::as_writable_bytes(std::span(words)));
  }

  const Job& job_;
  MemoryMachine& machine_;
  AccessParams access_;
  std::vector<std::uint32_t> source_;
  std::vector<std::uint32_t> target_;
};

}  // namespace

bool only_touches(Program program) {
  return program == Program::contiguous || program == Program::stride || program == Program::diagonal;
}

Cost cost_of(const Job& job) {
  if (job.matrix != nullptr) return matrix_access_cost(job.machine, *job.matrix);
  switch (job.program) {
    case Program::contiguous:
      return contiguous_cost(job.machine, job.n);
    case Program::stride:
      return stride_cost(job.machine, job.n);
    case Program::copy:
      return copy_cost(job.machine, job.n);
    case Program::transpose_straightforward:
      return straightforward_transpose_cost(job.machine, job.n);
    case Program::transpose_diagonal:
      return job.machine.kind == MachineKind::hmm ? shared_transpose_cost(job.machine, job.n)
                                                  : diagonal_transpose_cost(job.machine, job.n);
    case Program::transpose_rotating: {
      check_sizes(job.machine, job.n);
      const std::uint64_t side = matrix_side(job.n);
      return rotating_transpose_cost(job.machine, job.n, side, side);
    }
    case Program::diagonal:
    case Program::transpose_crsw:
    case Program::transpose_srcw:
    case Program::transpose_drdw:
      FARO_CHECK(false);
      break;
    case Program::permute:
      break;
  }
  if (job.direct) return direct_permute_cost(job.machine, job.target);
  switch (job.machine.kind) {
    case MachineKind::dmm:
      return scheduled_permute_cost(job.machine, job.n);
    case MachineKind::umm:
      return umm_permute_cost(job.machine, job.n);
    case MachineKind::hmm:
      break;
  }
  return hmm_permute_cost(job.machine, job.n);
}

void run_job(const Job& job, MemoryMachine& machine, std::vector<std::uint32_t>& in,
             std::vector<std::uint32_t>& out) {
  if (!only_touches(job.program)) machine.add_buffer(std::as_writable_bytes(std::span(in)));
  machine.add_buffer(std::as_writable_bytes(std::span(out)));
  ProgramRunner(job, machine).run();
}

}  // namespace faro::programs
