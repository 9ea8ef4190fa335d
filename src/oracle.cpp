#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "thread_team.hpp"

namespace faro {
namespace {

using f2::Word;

constexpr std::uint64_t kParallelBytes = std::uint64_t{256} << 10;  // below, threads cost more than they give
constexpr std::uint64_t kChunk = std::uint64_t{1} << 14;            // elements that a thread takes at once

int thread_count(std::uint64_t bytes, int threads) {
  if (bytes < kParallelBytes) return 1;
  return detail::thread_count(threads);
}

// One array after another, each cut in chunks of consecutive x: body(batch_index, first x, end x).
template <typename Body>
void for_each_chunk(std::uint64_t elements, std::uint64_t batch, int threads, Body body) {
  const std::uint64_t chunks_per_array = (elements + kChunk - 1) / kChunk;
  detail::share_out_evenly(chunks_per_array * batch, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t chunk = begin; chunk < end; ++chunk) {
      const std::uint64_t first = chunk % chunks_per_array * kChunk;
      body(chunk / chunks_per_array, first, std::min(first + kChunk, elements));
    }
  });
}

// The walks: move(source, destination) for i in [first, end), as cheaply as one would by hand. i is x, but
// for a gather's index array, where it is the destination.

struct AffineWalk {
  explicit AffineWalk(const Affine& affine) : map(affine) {
    // From x to x + 1 the bits 0..k flip, k the trailing ones of x: pi changes by the sum of columns 0..k.
    for (int k = 0; k < map.bits(); ++k) {
      step[static_cast<std::size_t>(k)] =
          (k == 0 ? 0 : step[static_cast<std::size_t>(k - 1)]) ^ map.matrix().column(k);
    }
  }

  template <typename Move>
  void operator()(std::uint64_t first, std::uint64_t end, const Move& move) const {
    Word y = map(first);
    for (std::uint64_t x = first; x < end; ++x) {
      move(x, y);
      y ^= step[static_cast<std::size_t>(f2::trailing_bit(~x))];
    }
  }

  const Affine& map;
  std::array<Word, f2::kMaxDimension + 1> step{};
};

struct CyclicWalk {
  template <typename Move>
  void operator()(std::uint64_t first, std::uint64_t end, const Move& move) const {
    for (std::uint64_t x = first; x < end; ++x) move(x, map(x));
  }

  Cyclic map;
};

// Counts the coordinates like an odometer: no division an element.
struct AxesWalk {
  template <typename Move>
  void operator()(std::uint64_t first, std::uint64_t end, const Move& move) const {
    const auto& shape = map.shape();
    std::vector<std::uint64_t> at(shape.size());
    std::uint64_t rest = first;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at[axis] = rest % shape[axis];
    std::uint64_t y = map(first);
    for (std::uint64_t x = first; x < end; ++x) {
      move(x, y);
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        y += map.target_strides()[axis];
        if (++at[axis] < shape[axis]) break;
        y -= shape[axis] * map.target_strides()[axis];
        at[axis] = 0;
      }
    }
  }

  const Axes& map;
};

// The i-th element of a view, its index counted in the order of the extents.
Mismatch place_of(const Strided& view, std::uint64_t i) {
  auto source = static_cast<std::int64_t>(view.in_offset);
  auto destination = static_cast<std::int64_t>(view.out_offset);
  for (std::size_t axis = view.extents.size(); axis-- > 0; i /= view.extents[axis]) {
    const auto at = static_cast<std::int64_t>(i % view.extents[axis]);
    source += at * view.in_strides[axis];
    destination += at * view.out_strides[axis];
  }
  return {.batch_index = 0,
          .source = static_cast<std::uint64_t>(source),
          .destination = static_cast<std::uint64_t>(destination)};
}

struct ViewWalk {
  template <typename Move>
  void operator()(std::uint64_t first, std::uint64_t end, const Move& move) const {
    for (std::uint64_t i = first; i < end; ++i) {
      const Mismatch place = place_of(view, i);
      move(place.source, place.destination);
    }
  }

  const Strided& view;
};

// The images themselves.
template <typename Map>
struct ImageWalk {
  template <typename Move>
  void operator()(std::uint64_t first, std::uint64_t end, const Move& move) const {
    for (std::uint64_t x = first; x < end; ++x) move(x, map(x));
  }

  const Map& map;
};

template <typename Index>
struct IndexWalk {
  template <typename Move>
  void operator()(std::uint64_t first, std::uint64_t end, const Move& move) const {
    if (direction == Direction::scatter) {
      for (std::uint64_t i = first; i < end; ++i) move(i, std::uint64_t{entries[i]});
    } else {
      for (std::uint64_t i = first; i < end; ++i) move(std::uint64_t{entries[i]}, i);
    }
  }

  const Index* entries;
  Direction direction;
};

// Calls action(walk) with the walk of the problem's form.
template <typename Action>
void with_walk(const Problem& problem, const Action& action) {
  if (problem.view) return action(ViewWalk{*problem.view});
  const Permutation& permutation = problem.permutation;
  if (const auto* const affine = std::get_if<Affine>(&permutation)) return action(AffineWalk(*affine));
  if (const auto* const cyclic = std::get_if<Cyclic>(&permutation)) return action(CyclicWalk{*cyclic});
  if (const auto* const axes = std::get_if<Axes>(&permutation)) return action(AxesWalk{*axes});
  if (const auto* const map = std::get_if<Modular>(&permutation)) return action(ImageWalk<Modular>{*map});
  if (const auto* const map = std::get_if<CyclicAxes>(&permutation))
    return action(ImageWalk<CyclicAxes>{*map});
  if (const auto* const map = std::get_if<Computed>(&permutation)) return action(ImageWalk<Computed>{*map});
  const auto& indexed = std::get<Indexed>(permutation);
  if (const auto wide = indexed.entries64(); !wide.empty()) {
    return action(IndexWalk<std::uint64_t>{wide.data(), indexed.direction()});
  }
  action(IndexWalk<std::uint32_t>{indexed.entries32().data(), indexed.direction()});
}

// Moves elements of one array. Element is a type of the element's size, so that a move is one load and one
// store.
template <typename Element>
struct Mover {
  void operator()(std::uint64_t source, std::uint64_t destination) const {
    Element element;
    std::memcpy(&element, in + source * sizeof(Element), sizeof(Element));
    std::memcpy(out + destination * sizeof(Element), &element, sizeof(Element));
  }

  const std::byte* in;
  std::byte* out;
};

struct WideMover {
  void operator()(std::uint64_t source, std::uint64_t destination) const {
    std::memcpy(out + destination * width, in + source * width, width);
  }

  const std::byte* in;
  std::byte* out;
  std::uint64_t width;
};

// What pi(i) says, without a walk: for the check, which shares nothing with what it checks.
Mismatch place_of(const Problem& problem, std::uint64_t i) {
  if (problem.view) return place_of(*problem.view, i);
  const Permutation& permutation = problem.permutation;
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  if (indexed == nullptr) return {.batch_index = 0, .source = i, .destination = apply(permutation, i)};
  const std::uint64_t entry = indexed->entry(i);
  return indexed->direction() == Direction::scatter
             ? Mismatch{.batch_index = 0, .source = i, .destination = entry}
             : Mismatch{.batch_index = 0, .source = entry, .destination = i};
}

void require_readable(const Permutation& permutation) {
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  if (indexed != nullptr) static_cast<void>(indexed->entries32());  // refuses an array on a device
}

}  // namespace

std::string to_text(const Mismatch& mismatch) {
  return "array " + std::to_string(mismatch.batch_index) + ": in[" + std::to_string(mismatch.source) +
         "] is not at out[" + std::to_string(mismatch.destination) + "]";
}

std::optional<Mismatch> find_mismatch(const Problem& problem, const void* in, const void* out, int threads) {
  require_readable(problem.permutation);
  const std::uint64_t elements = element_count(problem);
  const std::uint64_t width = problem.element_bytes;
  const std::uint64_t array_bytes = elements * width;
  std::atomic<std::uint64_t> first_wrong{~std::uint64_t{0}};  // counted over all arrays
  for_each_chunk(
      elements, problem.batch, thread_count(total_bytes(problem), threads),
      [&](std::uint64_t b, std::uint64_t first, std::uint64_t end) {
        const auto* const source = static_cast<const std::byte*>(in) + b * array_bytes;
        const auto* const target = static_cast<const std::byte*>(out) + b * array_bytes;
        for (std::uint64_t i = first; i < end; ++i) {
          const Mismatch place = place_of(problem, i);
          if (std::memcmp(target + place.destination * width, source + place.source * width, width) == 0) {
            continue;
          }
          std::uint64_t seen = first_wrong.load();
          while (b * elements + i < seen && !first_wrong.compare_exchange_weak(seen, b * elements + i)) {
          }
          return;
        }
      });
  const std::uint64_t wrong = first_wrong.load();
  if (wrong == ~std::uint64_t{0}) return std::nullopt;
  Mismatch mismatch = place_of(problem, wrong % elements);
  mismatch.batch_index = wrong / elements;
  return mismatch;
}

void permute_naively(const Problem& problem, const void* in, void* out, int threads) {
  const std::uint64_t elements = element_count(problem);
  const std::uint64_t width = problem.element_bytes;
  const int used = thread_count(total_bytes(problem), threads);
  with_walk(problem, [&](const auto& walk) {
    for_each_chunk(elements, problem.batch, used,
                   [&](std::uint64_t b, std::uint64_t first, std::uint64_t end) {
                     const auto* const source = static_cast<const std::byte*>(in) + b * elements * width;
                     auto* const target = static_cast<std::byte*>(out) + b * elements * width;
                     switch (width) {
                       case 1:
                         return walk(first, end, Mover<std::uint8_t>{source, target});
                       case 2:
                         return walk(first, end, Mover<std::uint16_t>{source, target});
                       case 4:
                         return walk(first, end, Mover<std::uint32_t>{source, target});
                       case 8:
                         return walk(first, end, Mover<std::uint64_t>{source, target});
                       case 16:
                         return walk(first, end, Mover<std::array<std::uint64_t, 2>>{source, target});
                       default:
                         return walk(first, end, WideMover{source, target, width});
                     }
                   });
  });
}

void destinations(const Permutation& permutation, std::uint64_t first, std::span<std::uint64_t> places) {
  require_readable(permutation);
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  if (indexed != nullptr && indexed->direction() == Direction::gather) {
    fail(ErrorCode::value, "tell where elements go", "a gather's index array", "a scatter's",
         "Indexed::redirected turns it round");
  }
  with_walk({.permutation = permutation}, [&](const auto& walk) {
    walk(first, first + places.size(),
         [&](std::uint64_t x, std::uint64_t y) { places[static_cast<std::size_t>(x - first)] = y; });
  });
}

}  // namespace faro
