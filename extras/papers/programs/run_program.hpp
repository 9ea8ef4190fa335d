// Programs by name: which phases they run, in which blocks, on which buffers, and the formula for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/machine/memory_machine.hpp"
#include "programs/cost.hpp"
#include "programs/matrix_access.hpp"

namespace faro::programs {

// In the order of program_names().
enum class Program : std::uint8_t {
  contiguous,
  stride,
  copy,
  transpose_straightforward,
  transpose_diagonal,
  transpose_rotating,
  permute,
  diagonal,
  transpose_crsw,
  transpose_srcw,
  transpose_drdw,
};

struct Job {
  Program program = Program::copy;
  bool direct = false;
  machine::MachineOptions machine = {};
  std::uint64_t n = 0;
  std::span<const std::uint32_t> target = {};  // of `permute`: P
  const MatrixAccess* matrix = nullptr;        // of what runs on a matrix that is laid out
};

/// Errors: ErrorCode::value where program and sizes do not fit, so that after it nothing is refused.
Cost cost_of(const Job& job);

/// Writes indices, moves no words.
bool only_touches(Program program);

/// Buffers 0 and 1: `in` is what is moved, of n words, `out` what it becomes; of what only touches buffer 0
/// is `out`, so that its words begin at 0.
void run_job(const Job& job, machine::MemoryMachine& machine, std::vector<std::uint32_t>& in,
             std::vector<std::uint32_t>& out);

}  // namespace faro::programs
