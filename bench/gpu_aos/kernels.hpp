// The kernels of gpu_aos_bench. Host-only C++; they are in kernels.cu.
//
// Word x of an input is word_of(x), a hash, so that each kernel's output is known word by word.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

enum class Job {
  load,    // structs to planes: each thread has its struct in registers and stores word k to plane k
  store,   // planes to structs
  sum,     // structs to one word each
  step,    // structs to structs, their words rotated by one
  gather,  // out[i] = in[index[i]]
  scatter  // out[index[i]] = in[i]
};

enum class Way {
  direct,             // value = array[i], array[i] = value
  direct_vectors,     // the same of structs that are aligned to 16 bytes
  column_row_column,  // C2R by shuffles
  row_column_row,
  chosen,          // what aos.hpp does for arrays aligned to words
  chosen_vectors,  // and to 16 bytes
  planes,          // to_planes, from_planes: no shuffles
  pairs,           // aos.hpp's load and store of two structs at once, planes in vectors of two words
  quads            // of four
};

struct Call {
  Job job = Job::load;
  Way way = Way::direct;
  int words = 1;
  std::uint64_t count = 0;
  const void* in = nullptr;
  void* out = nullptr;
  const std::uint32_t* index = nullptr;
};

inline constexpr int kFewestWords = 3;
inline constexpr int kMostWords = 16;

/// Queues the call. Requires: a count that is a multiple of 4. False where there is no such kernel: gather
/// and scatter are of 16 words, vectors of 4, 8, 12 and 16, planes, pairs and quads load and store, quads of
/// at most 8 words. Errors: ErrorCode::device.
bool queue(const Call& call, Stream stream);

void queue_fill(void* array, std::uint64_t words, Stream stream);
/// A permutation of 0 .. count - 1. Requires: a power of two.
void queue_index(std::uint32_t* index, std::uint64_t count, Stream stream);

/// Words of call.out that are not what call.job makes of a filled input. Waits for the stream.
std::uint64_t wrong_words(const Call& call, Stream stream);

}  // namespace faro::bench::gpu
