// Exchanges by NCCL, over a stand-in for its library: which calls are made, in which group, and what the
// library's errors become.
#include "engines/cuda_nccl.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "faro/communicator.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro {
namespace cuda_nccl_test {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::on_ranks;
using testing::text_of;

class CudaNccl : public ::testing::Test {
 protected:
  // By its name it is what is found from now on.
  void SetUp() override {
    handle_ = dlopen(FARO_STAND_IN_NCCL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  void refuse(int rank) const { reinterpret_cast<void (*)(int)>(dlsym(handle_, "standInRefuse"))(rank); }
  // Allocated, and registered.
  std::array<int, 2> arrays() const {
    const auto count = reinterpret_cast<int (*)(int)>(dlsym(handle_, "standInArrays"));
    return {count(0), count(1)};
  }

 private:
  void* handle_ = nullptr;
};

// The messages of a plan's ranks, arrays of the host: an exchange of the top bits needs no local passes.
TEST_F(CudaNccl, ExchangesWhatAPlanSays) {
  constexpr int kRanks = 4;
  ShardProblem problem{
      .permutation = maps::swap_bits(12, 9, 10), .element_bytes = 4, .shards = {.ranks = kRanks}};
  const testing::WholeArray whole(problem, std::uint64_t{1} << 12);
  std::vector<std::string> faults(kRanks);
  const auto thrown =
      on_ranks(in_memory_communicators(kRanks, std::chrono::seconds(20)),
               [&](const std::shared_ptr<Communicator>& words) {
                 const auto communicator = nccl_communicator(words->rank(), words);
                 EXPECT_EQ(communicator->name(), "NCCL");
                 EXPECT_EQ(communicator->memory(), Engine::cuda);
                 EXPECT_EQ(communicator->device(), words->rank());
                 ShardProblem mine = problem;
                 mine.shards.rank = words->rank();
                 const ShardPlan plan(mine);
                 const std::vector<std::byte> in = whole.in_part(words->rank());
                 std::vector<std::byte> out(plan.out_bytes());
                 for (int run = 0; run < 2; ++run) {
                   std::fill(out.begin(), out.end(), std::byte{0});
                   communicator->exchange(in.data(), plan.sends(), out.data(), plan.receives(), {});
                   if (out != whole.out_part(words->rank()))
                     faults[static_cast<std::size_t>(words->rank())] = "elements";
                 }
               });
  for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
  EXPECT_THAT(faults, Each(""));
}

// Registered by all ranks, or by none: NCCL wants both sides of a message to be.
TEST_F(CudaNccl, MessagesBetweenRegisteredArrays) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  struct Case {
    int refused = -1;  // the rank that cannot register
    int without = -1;  // the rank that asks for nothing
  };
  for (const Case& each : {Case{}, Case{.refused = 1}, Case{.without = 2}}) {
    refuse(each.refused);
    const auto thrown =
        on_ranks(in_memory_communicators(3, std::chrono::seconds(20)),
                 [&](const std::shared_ptr<Communicator>& words) {
                   const auto communicator = nccl_communicator(words->rank(), words);
                   const MessageArrays made =
                       communicator->message_arrays(kBytes, words->rank() == each.without ? 0 : kBytes);
                   const bool has = each.refused < 0 && each.without < 0;
                   EXPECT_EQ(made.to_send != nullptr, has);
                   EXPECT_EQ(made.received != nullptr, has);
                   words->all_gather("");
                   // Those of the two others are kept for later plans.
                   EXPECT_EQ(arrays(), (std::array<int, 2>{has ? 6 : 4, has ? 6 : 4}));
                   if (has) {
                     made.to_send.get()[5] = static_cast<std::byte>(words->rank());
                     const std::vector<ShardMessage> sends{{(words->rank() + 1) % 3, 5, 1}};
                     const std::vector<ShardMessage> receives{{(words->rank() + 2) % 3, 9, 1}};
                     communicator->exchange(made.to_send.get(), sends, made.received.get(), receives, {});
                     EXPECT_EQ(made.received.get()[9], static_cast<std::byte>((words->rank() + 2) % 3));
                   }
                   words->all_gather("");
                 });
    for (const auto& what : thrown) EXPECT_EQ(text_of(what), "");
    EXPECT_EQ(arrays(), (std::array<int, 2>{0, 0}));
  }
  refuse(-1);
}

TEST_F(CudaNccl, ItsErrorsAreTold) {
  const auto thrown = on_ranks(in_memory_communicators(2, std::chrono::seconds(20)),
                               [](const std::shared_ptr<Communicator>& words) {
                                 const auto communicator = nccl_communicator(0, words);
                                 std::array<char, 8> in{};
                                 std::array<char, 8> out{};
                                 // One sends 8 bytes, the other wants 4.
                                 const std::vector<ShardMessage> sends{{1 - words->rank(), 0, 8}};
                                 const std::vector<ShardMessage> receives{{1 - words->rank(), 0, 4}};
                                 communicator->exchange(in.data(), sends, out.data(), receives, {});
                               });
  for (const auto& each : thrown) EXPECT_THAT(text_of(each), HasSubstr("ncclGroupEnd: invalid usage"));
}

TEST_F(CudaNccl, OtherRanksAreRefused) {
  const auto one = in_memory_communicators(1);
  const cuda::NcclLink::Ranks alone{.count = 1, .mine = 0};
  const cuda::NcclLink link(0, cuda::nccl_unique_id(), alone);
  EXPECT_EQ(link.ranks().count, 1);
  EXPECT_THAT(
      test::message_of(ErrorCode::value, [&] { nccl_communicator(static_cast<ncclComm*>(nullptr), one[0]); }),
      HasSubstr("a null communicator"));
  EXPECT_THAT(test::message_of(ErrorCode::value, [] { nccl_communicator(0, nullptr); }), HasSubstr("words"));
}

TEST_F(CudaNccl, RanksOfOneProcess) {
  const auto made = nccl_communicators({2, 0, 1}, std::chrono::seconds(20));
  ASSERT_EQ(made.size(), 3U);
  for (int rank = 0; rank < 3; ++rank) {
    const Communicator& each = *made[static_cast<std::size_t>(rank)];
    EXPECT_EQ(each.rank(), rank);
    EXPECT_EQ(each.ranks(), 3);
    EXPECT_EQ(each.name(), "NCCL");
  }
  EXPECT_EQ(made[0]->peer_memory(), nullptr);  // no device is here that others could write to
  EXPECT_THAT(test::message_of(ErrorCode::value, [] { nccl_communicators({}); }), HasSubstr("no devices"));
  EXPECT_THAT(test::message_of(ErrorCode::value,
                               [] {
                                 nccl_communicators({0, 1, 0});
                               }),
              HasSubstr("device 0 twice"));
  const ShardProblem problem{.permutation = maps::gray(10), .element_bytes = 4, .shards = {}};
  const auto refused = [&](std::vector<std::shared_ptr<Communicator>> with) {
    return test::message_of(ErrorCode::value, [&] { PeerShards::over(with, problem); });
  };
  EXPECT_THAT(refused({}), HasSubstr("no communicators"));
  EXPECT_THAT(refused({made[1], made[0], made[2]}), HasSubstr("rank 1 of 3, wanted rank 0 of 3"));
  EXPECT_THAT(refused({made[0], nullptr, made[2]}), HasSubstr("no communicator"));
}

}  // namespace cuda_nccl_test
}  // namespace faro
