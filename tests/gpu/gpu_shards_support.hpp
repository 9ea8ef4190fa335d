// What the tests of shards on GPUs share: a thread a rank, each with its device and a stream; parts of arrays
// between guard zones; the whole array between distributions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faro/shards.hpp"
#include "gpu/gpu_support.hpp"
#include "mesh_oracle.hpp"
#include "shard_support.hpp"

namespace faro::testing {

class GpuShards : public GpuTest {};

// Ranks on the machine's devices in turns.
inline std::vector<int> devices_for(int ranks) {
  const auto count = static_cast<int>(cuda::devices().size());
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % count);
  return devices;
}

// `work` of each rank on a thread of its own, with its device the current one and a stream.
inline void on_devices(
    const std::vector<std::shared_ptr<Communicator>>& communicators, const std::vector<int>& devices,
    const std::function<void(Communicator&, const std::shared_ptr<Communicator>&, OwnStream&)>& work) {
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    check_cuda(cudaSetDevice(devices[static_cast<std::size_t>(communicator->rank())]), "cudaSetDevice");
    OwnStream stream;
    work(*communicator, communicator, stream);
  });
  for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
}

/// Drawn problems between distributions, of any width.
inline ShardProblem drawn_mesh(std::uint64_t seed, int ranks, std::uint64_t scale) {
  mesh_oracle::Drawn drawn(seed, scale);
  ShardProblem problem = drawn.problem(ranks);
  problem.element_bytes = std::vector<std::uint64_t>{1, 2, 3, 4, 8, 12, 16, 20}[drawn.below(8)];
  return problem;
}

/// Parts of an input and an output as bytes, by rank.
struct WholeParts {
  explicit WholeParts(const ShardProblem& problem) {
    if (std::holds_alternative<Distribution>(problem.shards.in)) {
      const mesh_oracle::Whole whole(problem);
      for (std::size_t rank = 0; rank < whole.ranks; ++rank) {
        in.push_back(bytes_of({whole.before[rank].begin(), whole.before[rank].end()}, problem));
        out.push_back(bytes_of(whole.after[rank], problem));
      }
      return;
    }
    const WholeArray whole(problem, element_count(problem.permutation));
    for (int rank = 0; rank < problem.shards.ranks; ++rank) {
      in.push_back(whole.in_part(rank));
      out.push_back(whole.out_part(rank));
    }
  }

  std::vector<std::vector<std::byte>> in;
  std::vector<std::vector<std::byte>> out;

 private:
  static std::vector<std::byte> bytes_of(const std::vector<std::uint64_t>& elements,
                                         const ShardProblem& problem) {
    const WholeArray whole(problem, 0);
    std::vector<std::byte> made;
    for (const std::uint64_t x : elements) {
      const std::vector<std::byte> bytes = whole.element(x);
      made.insert(made.end(), bytes.begin(), bytes.end());
    }
    return made;
  }
};

inline constexpr std::byte kUnwritten{0xa5};
inline constexpr std::uint64_t kShardGuard = 64;

/// A part of a device's array that begins `skew` bytes into it, between guard zones.
class GuardedPart {
 public:
  GuardedPart(const std::vector<std::byte>& bytes, int device, std::uint64_t skew)
      : bytes_(bytes.size()), skew_(skew), array_(bytes.size() + 2 * kShardGuard + skew, device) {
    std::vector<std::byte> padded(array_.size(), kUnwritten);
    std::copy(bytes.begin(), bytes.end(), padded.begin() + static_cast<std::ptrdiff_t>(kShardGuard + skew));
    array_.upload(padded.data());
  }
  std::byte* data() const { return array_.data() + kShardGuard + skew_; }
  std::uint64_t size() const { return bytes_; }

  void expect(const std::vector<std::byte>& wanted, const std::string& text) const {
    ASSERT_EQ(wanted.size(), bytes_);
    std::vector<std::byte> all(array_.size());
    array_.download(all.data());
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(kShardGuard + skew_);
    const auto end = begin + static_cast<std::ptrdiff_t>(bytes_);
    const auto is_unwritten = [](std::byte byte) { return byte == kUnwritten; };
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), begin)) << text;
    EXPECT_TRUE(std::all_of(all.begin(), begin, is_unwritten) && std::all_of(end, all.end(), is_unwritten))
        << "guard zones of\n"
        << text;
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t skew_;
  cuda::DeviceArray array_;
};

}  // namespace faro::testing
