#include "faro/oracle.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <variant>

namespace faro {
namespace {

using f2::Word;

constexpr std::uint64_t kParallelBytes = std::uint64_t{256} << 10;  // below, threads cost more than they give
constexpr std::uint64_t kChunk = std::uint64_t{1} << 14;            // elements that a thread takes at once

int thread_count(std::uint64_t bytes, int threads) {
  if (bytes < kParallelBytes) return 1;
  return threads > 0 ? threads : omp_get_max_threads();
}

// One array after another, each cut in chunks of consecutive x: body(batch_index, first x, end x).
template <typename Body>
void for_each_chunk(std::uint64_t elements, std::uint64_t batch, int threads, Body body) {
  const std::uint64_t chunks_per_array = (elements + kChunk - 1) / kChunk;
  const auto chunks = static_cast<std::int64_t>(chunks_per_array * batch);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t b = static_cast<std::uint64_t>(chunk) / chunks_per_array;
    const std::uint64_t first = static_cast<std::uint64_t>(chunk) % chunks_per_array * kChunk;
    body(b, first, std::min(first + kChunk, elements));
  }
}

// Moves [first, end) of one array. Width is a type of the element's size, so that a move is one load and
// one store.
template <typename Element>
void move_chunk(const Affine& map, const Word* step, const std::byte* in, std::byte* out, std::uint64_t first,
                std::uint64_t end) {
  Word y = map(first);
  for (std::uint64_t x = first; x < end; ++x) {
    Element element;
    std::memcpy(&element, in + x * sizeof(Element), sizeof(Element));
    std::memcpy(out + y * sizeof(Element), &element, sizeof(Element));
    y ^= step[f2::trailing_bit(~x)];
  }
}

void move_wide_chunk(const Affine& map, std::uint64_t width, const std::byte* in, std::byte* out,
                     std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t x = first; x < end; ++x) std::memcpy(out + map(x) * width, in + x * width, width);
}

}  // namespace

std::string to_text(const Mismatch& mismatch) {
  return "array " + std::to_string(mismatch.batch_index) + ": in[" + std::to_string(mismatch.source) +
         "] is not at out[" + std::to_string(mismatch.destination) + "]";
}

std::optional<Mismatch> find_mismatch(const Problem& problem, const void* in, const void* out, int threads) {
  const auto& map = std::get<Affine>(problem.permutation);
  const std::uint64_t elements = element_count(problem.permutation);
  const std::uint64_t width = problem.element_bytes;
  const std::uint64_t array_bytes = elements * width;
  std::atomic<std::uint64_t> first_wrong{~std::uint64_t{0}};  // counted over all arrays
  for_each_chunk(
      elements, problem.batch, thread_count(total_bytes(problem), threads),
      [&](std::uint64_t b, std::uint64_t first, std::uint64_t end) {
        const auto* const source = static_cast<const std::byte*>(in) + b * array_bytes;
        const auto* const target = static_cast<const std::byte*>(out) + b * array_bytes;
        for (std::uint64_t x = first; x < end; ++x) {
          if (std::memcmp(target + map(x) * width, source + x * width, width) == 0) continue;
          std::uint64_t seen = first_wrong.load();
          while (b * elements + x < seen && !first_wrong.compare_exchange_weak(seen, b * elements + x)) {
          }
          return;
        }
      });
  const std::uint64_t wrong = first_wrong.load();
  if (wrong == ~std::uint64_t{0}) return std::nullopt;
  const std::uint64_t x = wrong % elements;
  return Mismatch{.batch_index = wrong / elements, .source = x, .destination = map(x)};
}

void permute_naively(const Problem& problem, const void* in, void* out, int threads) {
  const auto& map = std::get<Affine>(problem.permutation);
  const std::uint64_t elements = element_count(problem.permutation);
  const std::uint64_t width = problem.element_bytes;
  // From x to x + 1 the bits 0..k flip, k the trailing ones of x: pi changes by the sum of columns 0..k.
  std::array<Word, f2::kMaxDimension + 1> step{};
  for (int k = 0; k < map.bits(); ++k) {
    step[static_cast<std::size_t>(k)] =
        (k == 0 ? 0 : step[static_cast<std::size_t>(k - 1)]) ^ map.matrix().column(k);
  }
  for_each_chunk(elements, problem.batch, thread_count(total_bytes(problem), threads),
                 [&](std::uint64_t b, std::uint64_t first, std::uint64_t end) {
                   const auto* const source = static_cast<const std::byte*>(in) + b * elements * width;
                   auto* const target = static_cast<std::byte*>(out) + b * elements * width;
                   switch (width) {
                     case 1:
                       return move_chunk<std::uint8_t>(map, step.data(), source, target, first, end);
                     case 2:
                       return move_chunk<std::uint16_t>(map, step.data(), source, target, first, end);
                     case 4:
                       return move_chunk<std::uint32_t>(map, step.data(), source, target, first, end);
                     case 8:
                       return move_chunk<std::uint64_t>(map, step.data(), source, target, first, end);
                     case 16:
                       return move_chunk<std::array<std::uint64_t, 2>>(map, step.data(), source, target,
                                                                       first, end);
                     default:
                       return move_wide_chunk(map, width, source, target, first, end);
                   }
                 });
}

}  // namespace faro
