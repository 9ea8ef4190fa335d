// What tests of shards share: whose an element is by the definition, threads as ranks, and the whole array
// that their parts are held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "faro/error.hpp"
#include "faro/shards.hpp"
#include "view_oracle.hpp"

namespace faro::testing {

/// Runs `work` on a thread for each rank; what the threads threw, null where nothing.
inline std::vector<std::exception_ptr> on_ranks(
    const std::vector<std::shared_ptr<Communicator>>& communicators,
    const std::function<void(const std::shared_ptr<Communicator>&)>& work) {
  std::vector<std::exception_ptr> thrown(communicators.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(communicators[rank]);
      } catch (...) {
        thrown[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

inline std::string text_of(const std::exception_ptr& thrown) {
  if (!thrown) return "";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// A view by the obvious loop; throws where it leaves an array.
inline void move_by_loops(const Strided& view, const std::vector<std::uint32_t>& in,
                          std::vector<std::uint32_t>& out) {
  if (in_elements(view) > in.size() || out_elements(view) > out.size())
    throw std::out_of_range("a view that leaves its array");
  test::move_by_loop(view, sizeof(std::uint32_t), reinterpret_cast<const std::byte*>(in.data()),
                     reinterpret_cast<std::byte*>(out.data()));
}

/// Whose element x of an array of `shape` is, counted out.
inline int owner_of(std::uint64_t x, const ShardCut& cut, const std::vector<std::uint64_t>& shape,
                    int ranks) {
  if (const auto* const bits = std::get_if<ShardBits>(&cut)) {
    int rank = 0;
    for (std::size_t i = 0; i < bits->bits.size(); ++i) {
      if ((x >> bits->bits[i] & 1) != 0) rank += 1 << i;
    }
    return rank;
  }
  const auto& slabs = std::get<ShardAxis>(cut);
  for (std::size_t a = shape.size() - 1; a > static_cast<std::size_t>(slabs.axis); --a) x /= shape[a];
  const std::uint64_t extent = shape[static_cast<std::size_t>(slabs.axis)];
  std::uint64_t at = x % extent;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto of = static_cast<std::uint64_t>(ranks);
    const std::uint64_t length = slabs.extents.empty()
                                     ? extent / of + (static_cast<std::uint64_t>(rank) < extent % of ? 1 : 0)
                                     : slabs.extents[static_cast<std::size_t>(rank)];
    if (at < length) return rank;
    at -= length;
  }
  return -1;
}

/// A whole array, and what the definition makes of it.
class WholeArray {
 public:
  WholeArray(const ShardProblem& problem, std::uint64_t count)
      : problem_(problem),
        count_(count),
        in_shape_(problem.axes || problem.shapes ? problem.in_shape() : std::vector<std::uint64_t>{count}),
        out_shape_(problem.axes || problem.shapes ? problem.out_shape() : std::vector<std::uint64_t>{count}) {
  }

  /// Element x of the input, as bytes that tell x and the byte's place.
  std::vector<std::byte> element(std::uint64_t x) const {
    std::vector<std::byte> bytes(problem_.element_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>((x + 1) * 0x9e3779b97f4a7c15U >> (8 * (i % 8)) ^ i);
    return bytes;
  }

  std::vector<std::byte> in_part(int rank) const {
    std::vector<std::byte> part;
    for (std::uint64_t x = 0; x < count_; ++x) {
      if (in_owner(x) == rank) append(part, x);
    }
    return part;
  }

  std::vector<std::byte> out_part(int rank) const {
    std::vector<std::uint64_t> source(count_);
    for (std::uint64_t x = 0; x < count_; ++x) source[faro::apply(problem_.permutation, x)] = x;
    std::vector<std::byte> part;
    for (std::uint64_t y = 0; y < count_; ++y) {
      if (out_owner(y) == rank) append(part, source[y]);
    }
    return part;
  }

  /// Bytes that no schedule can keep where they are.
  std::uint64_t leaving_bytes(int rank) const {
    std::uint64_t leaving = 0;
    for (std::uint64_t x = 0; x < count_; ++x) {
      if (in_owner(x) == rank && out_owner(faro::apply(problem_.permutation, x)) != rank) ++leaving;
    }
    return leaving * problem_.element_bytes;
  }

 private:
  int in_owner(std::uint64_t x) const {
    return owner_of(x, problem_.shards.in, in_shape_, problem_.shards.ranks);
  }
  int out_owner(std::uint64_t y) const {
    return owner_of(y, problem_.shards.out, out_shape_, problem_.shards.ranks);
  }
  void append(std::vector<std::byte>& part, std::uint64_t x) const {
    const std::vector<std::byte> bytes = element(x);
    part.insert(part.end(), bytes.begin(), bytes.end());
  }

  ShardProblem problem_;
  std::uint64_t count_;
  std::vector<std::uint64_t> in_shape_;
  std::vector<std::uint64_t> out_shape_;
};

}  // namespace faro::testing
