// GPUs as ranks, over the stand-in for CUDA's runtime: who waits for whose event, and what is copied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "faro/shards.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro {
namespace cuda_peers_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Three ranks on two devices, each sending a byte to each other, twice: what was written over in between was
// read before.
TEST(CudaPeers, ExchangeInTheOrderOfTheMessages) {
  const auto communicators = peer_communicators({0, 1, 0}, std::chrono::seconds(20));
  std::array<std::array<char, 3>, 3> received{};
  const auto thrown =
      testing::on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
        EXPECT_EQ(communicator->memory(), Engine::cuda);
        const auto rank = static_cast<std::size_t>(communicator->rank());
        std::array<char, 3> sent{};
        std::vector<ShardMessage> messages;
        for (int peer = 0; peer < 3; ++peer)
          messages.push_back({.peer = peer, .offset_bytes = static_cast<std::uint64_t>(peer), .bytes = 1});
        for (int round = 0; round < 2; ++round) {
          for (std::size_t peer = 0; peer < 3; ++peer)
            sent[peer] = static_cast<char>(100 * round + static_cast<int>(10 * rank + peer));
          communicator->exchange(sent.data(), messages, received[rank].data(), messages, {});
        }
      });
  for (const auto& each : thrown) EXPECT_EQ(testing::text_of(each), "");
  EXPECT_THAT(received[0], ElementsAre(100, 110, 120));
  EXPECT_THAT(received[1], ElementsAre(101, 111, 121));
  EXPECT_THAT(received[2], ElementsAre(102, 112, 122));
  EXPECT_EQ(communicators[1]->device(), 1);
  EXPECT_EQ(communicators[0]->name(), "peers");
}

TEST(CudaPeers, NoDevicesAreRefused) {
  EXPECT_THAT(test::message_of(ErrorCode::value, [] { peer_communicators({}); }), HasSubstr("no devices"));
}

}  // namespace cuda_peers_test
}  // namespace faro
