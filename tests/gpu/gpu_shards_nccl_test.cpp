// Shards by NCCL, where there are two devices and the library is found: each rank's output against the whole
// by the definition.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/communicator.hpp"
#include "faro/shards.hpp"
#include "gpu/gpu_shards_support.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro::testing {
namespace {

bool has_nccl_for_two() {
  return cuda::devices().size() >= 2 && dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL) != nullptr;
}

struct NcclCase {
  ShardProblem problem;
  ShardWays ways;
  bool captured = false;
};

// One rank's part of a case.
void expect_of_rank(const NcclCase& each, const WholeParts& whole,
                    const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
  ShardProblem mine = each.problem;
  mine.shards.rank = communicator->rank();
  const auto rank = static_cast<std::size_t>(communicator->rank());
  ShardedPlan plan(ShardPlan(mine), communicator, {}, each.ways);
  const std::vector<std::byte>& wanted = whole.out[rank];
  const GuardedPart from(whole.in[rank], communicator->device(), 0);
  const GuardedPart to(std::vector<std::byte>(wanted.size(), kUnwritten), communicator->device(), 0);
  const auto run = [&] {
    plan.run(from.data(), from.size(), to.data(), wanted.size(), Stream(stream.get()));
  };
  run();
  plan.wait(Stream(stream.get()));
  if (each.captured) {
    to.expect(wanted, "before the capture\n" + plan.explain());
    check_cuda(cudaMemsetAsync(to.data(), 0, wanted.size(), stream.get()), "cudaMemsetAsync");
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "capture");
    run();
    check_cuda(cudaStreamEndCapture(stream.get(), &graph), "end of capture");
    check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (int launch = 0; launch < 3; ++launch)
      check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
    plan.wait(Stream(stream.get()));
    check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  to.expect(wanted, plan.explain());
}

class NcclCases {
 public:
  void add(const ShardProblem& problem, const ShardWays& ways, bool captured = false) {
    by_ranks_[problem.shards.ranks].push_back({.problem = problem, .ways = ways, .captured = captured});
  }

  // All over one communicator of NCCL's, whose making takes longer than most of them.
  void expect() const {
    for (const auto& [ranks, cases] : by_ranks_) {
      std::vector<int> devices(static_cast<std::size_t>(ranks));
      std::iota(devices.begin(), devices.end(), 0);
      std::vector<WholeParts> wholes;
      for (const NcclCase& each : cases) wholes.emplace_back(each.problem);
      on_devices(in_memory_communicators(ranks), devices,
                 [&](Communicator& words, const std::shared_ptr<Communicator>& shared, OwnStream& stream) {
                   const auto communicator = nccl_communicator(words.rank(), shared);
                   for (std::size_t i = 0; i < cases.size(); ++i)
                     expect_of_rank(cases[i], wholes[i], communicator, stream);
                 });
    }
  }

 private:
  std::map<int, std::vector<NcclCase>> by_ranks_;
};

TEST_F(GpuShards, ByNccl) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  NcclCases cases;
  std::mt19937_64 random(29);
  for (int trial = 0; trial < 10; ++trial) {
    const int n = 16 + trial % 3;
    const ShardProblem affine{
        .permutation = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random()),
        .element_bytes = std::uint64_t{1} << (trial % 5),
        .shards = {.ranks = 2}};
    cases.add(affine, {.stores = false, .slice_bits = trial % 4});
    cases.add(affine, {.slice_bits = trial % 3});
  }
  const NamedAxes axes{.shape = {37, 50, 21}, .order = {2, 0, 1}};
  for (const ShardWays& ways : {ShardWays{}, ShardWays{.stores = false}}) {
    // Without passes: what a rank keeps is half, all and nothing.
    for (const Permutation& map :
         {Permutation(maps::swap_bits(18, 16, 17)), Permutation(maps::xor_mask(18, 0)),
          Permutation(maps::xor_mask(18, 1 << 17))}) {
      for (const std::uint64_t width : {2U, 4U, 32U})
        cases.add({.permutation = map, .element_bytes = width, .shards = {.ranks = 2}}, ways);
    }
    cases.add({.permutation = Axes(axes.shape, axes.order),
               .element_bytes = 4,
               .shards = {.ranks = 2, .rank = 0, .in = ShardAxis{1, {11, 39}}, .out = ShardAxis{0, {21, 0}}},
               .axes = axes},
              ways);
    cases.add({.permutation = maps::roll(100003, 777), .element_bytes = 8, .shards = {.ranks = 2}}, ways);
  }
  cases.add({.permutation = Indexed::random(50021, 3), .element_bytes = 4, .shards = {.ranks = 2}}, {});
  cases.expect();
}

// Long enough for arrays that are registered with NCCL, and for slices of different lengths.
TEST_F(GpuShards, ByNcclBetweenRegisteredArrays) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  NcclCases cases;
  const ShardProblem transpose{
      .permutation = maps::transpose(2048, 4096), .element_bytes = 64, .shards = {.ranks = 2}};
  const ShardProblem reversal{
      .permutation = maps::bit_reversal(23), .element_bytes = 64, .shards = {.ranks = 2}};
  const ShardProblem affine{
      .permutation = maps::random_bmmc(22, 3), .element_bytes = 8, .shards = {.ranks = 2}};
  cases.add(transpose, {.stores = false}, true);
  cases.add(reversal, {.stores = false});
  cases.add(affine, {.stores = false});
  cases.add(affine, {.stores = false, .slice_bits = 4});
  cases.add(affine, {.stores = false, .slice_bits = 0});
  // One pass that becomes two, for its slices.
  const ShardProblem one_pass{
      .permutation = compose(maps::swap_bits(23, 21, 22), direct_sum(maps::random_bmmc(22, 5), Affine(1))),
      .element_bytes = 64,
      .shards = {.ranks = 2}};
  cases.add(one_pass, {.stores = false});
  // Boxes, whose messages begin anywhere, whole and in slices, of all devices.
  const int ranks = std::min(4, static_cast<int>(cuda::devices().size()));
  const NamedAxes plane{.shape = {2001, 2003}, .order = {1, 0}};
  const NamedAxes box{.shape = {5, 1201, 703}, .order = {2, 0, 1}};
  for (const int slice_bits : {-1, 0, 1, 3}) {
    cases.add({.permutation = Axes(plane.shape, plane.order),
               .element_bytes = 16,
               .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{0}, .out = ShardAxis{0}},
               .axes = plane},
              {.stores = false, .slice_bits = slice_bits});
    cases.add({.permutation = Axes(box.shape, box.order),
               .element_bytes = 12,
               .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{1}, .out = ShardAxis{0}},
               .axes = box},
              {.stores = false, .slice_bits = slice_bits});
  }
  cases.expect();
}

// A rank each: cuts, blocks, boxes and copies, by stores, by messages, and passed on within an island of
// both.
TEST_F(GpuShards, DrawnDistributionsByNccl) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  NcclCases cases;
  const int ranks = std::min(4, static_cast<int>(cuda::devices().size()));
  for (std::uint64_t seed = 1000; seed < 1050; ++seed) {
    const ShardProblem problem = drawn_mesh(seed, ranks, 5);
    if (seed % 3 == 0) cases.add(problem, {});
    cases.add(problem, {.stores = false, .slice_bits = seed % 2 == 0 ? -1 : 0});
  }
  cases.expect();
}

// Long enough for arrays that are registered. Of the first, one rank has a box a message and the other two.
TEST_F(GpuShards, DistributionsByNcclBetweenRegisteredArrays) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  NcclCases cases;
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
    const char* in;
    const char* out;
  };
  for (const Case& each :
       {Case{{601, 999}, {1, 0}, "mesh 2; axis 1 over 0 in blocks of 17", "mesh 2; axis 1 over 0"},
        Case{{601, 999}, {0, 1}, "mesh 2; axis 1 over 0 in blocks of 64", "mesh 2; axis 0 over 0"},
        Case{{60, 101, 99},
             {1, 2, 0},
             "mesh 2x1; axis 0 over 0; axis 1 over 1",
             "mesh 2x1; axis 0 over 1; axis 1 over 0"},
        Case{{601, 999}, {1, 0}, "mesh 2; axis 1 over 0", "mesh 2"},
        Case{{601, 999}, {1, 0}, "mesh 1 at 0", "mesh 1 at 1"}}) {
    ShardProblem problem{.permutation = Axes(each.shape, each.order),
                         .element_bytes = 40,
                         .shards = {.ranks = 2},
                         .axes = NamedAxes{.shape = each.shape, .order = each.order}};
    problem.shards.in = parse_distribution(each.in);
    problem.shards.out = parse_distribution(each.out);
    cases.add(problem, {});
    cases.add(problem, {.stores = false});
    cases.add(problem, {.stores = false, .slice_bits = 2}, true);
  }
  cases.expect();
}

// Messages of 66 MiB, which go by two passes where one or none would do.
TEST_F(GpuShards, LongDistributionsByNccl) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  NcclCases cases;
  for (const char* const out : {"mesh 2; axis 0 over 0", "mesh 2"}) {
    const NamedAxes axes{.shape = {517, 523}, .order = {0, 1}};
    ShardProblem problem{.permutation = Axes(axes.shape, axes.order),
                         .element_bytes = 1024,
                         .shards = {.ranks = 2},
                         .axes = axes};
    problem.shards.in = parse_distribution("mesh 2; axis 1 over 0");
    problem.shards.out = parse_distribution(out);
    cases.add(problem, {.stores = false}, true);
    cases.add(problem, {.stores = false, .slice_bits = 3, .link_multiprocessors = 0});
    cases.add(problem, {.stores = false, .memory_bytes = std::uint64_t{1} << 24});
  }
  cases.expect();
}

// Several arrays at once, by peers and by NCCL, stored, sent, and some of both.
TEST_F(GpuShards, DrawnDistributionsTogether) {
  const bool has_nccl = has_nccl_for_two();
  const std::vector<int> devices = devices_for(2);
  std::vector<ShardProblem> problems;
  for (std::uint64_t seed = 2000; seed < 2024; ++seed) problems.push_back(drawn_mesh(seed, 2, 5));
  problems.push_back({.permutation = maps::bit_reversal(16), .element_bytes = 4, .shards = {.ranks = 2}});
  std::vector<WholeParts> wholes;
  for (const ShardProblem& problem : problems) wholes.emplace_back(problem);
  const auto work = [&](const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
    const auto rank = static_cast<std::size_t>(communicator->rank());
    std::vector<std::unique_ptr<ShardedPlan>> plans;
    std::vector<std::unique_ptr<GuardedPart>> parts;
    std::vector<ShardedRun> runs;
    for (std::size_t i = 0; i < problems.size(); ++i) {
      ShardProblem mine = problems[i];
      mine.shards.rank = communicator->rank();
      plans.push_back(std::make_unique<ShardedPlan>(ShardPlan(mine), communicator, PlanOptions{},
                                                    ShardWays{.stores = i % 3 != 0}));
      parts.push_back(std::make_unique<GuardedPart>(wholes[i].in[rank], communicator->device(), 0));
      const std::vector<std::byte> nothing(wholes[i].out[rank].size(), kUnwritten);
      parts.push_back(std::make_unique<GuardedPart>(nothing, communicator->device(), 0));
      const GuardedPart& from = *parts[2 * i];
      const GuardedPart& to = *parts[2 * i + 1];
      runs.push_back({.plan = plans.back().get(),
                      .in = from.data(),
                      .in_bytes = from.size(),
                      .out = to.data(),
                      .out_bytes = to.size()});
    }
    for (int again = 0; again < 2; ++again) ShardedPlan::run_all(runs, Stream(stream.get()));
    plans.front()->wait(Stream(stream.get()));
    for (std::size_t i = 0; i < problems.size(); ++i)
      parts[2 * i + 1]->expect(wholes[i].out[rank], plans[i]->explain());
  };
  on_devices(peer_communicators(devices), devices,
             [&](Communicator&, const std::shared_ptr<Communicator>& peers, OwnStream& stream) {
               work(peers, stream);
             });
  if (!has_nccl) return;
  on_devices(in_memory_communicators(2), devices,
             [&](Communicator& words, const std::shared_ptr<Communicator>& shared, OwnStream& stream) {
               work(nccl_communicator(words.rank(), shared), stream);
             });
}

TEST_F(GpuShards, ByNcclInAGraph) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  NcclCases cases;
  cases.add({.permutation = maps::transpose(1024, 1024), .element_bytes = 4, .shards = {.ranks = 2}},
            {.stores = false, .slice_bits = 2}, true);
  cases.add({.permutation = maps::transpose(1024, 1024), .element_bytes = 4, .shards = {.ranks = 2}}, {},
            true);
  cases.add({.permutation = maps::bit_reversal(18), .element_bytes = 4, .shards = {.ranks = 2}},
            {.slice_bits = 2}, true);
  cases.add({.permutation = maps::bit_reversal(18), .element_bytes = 8, .shards = {.ranks = 2}},
            {.stores = false, .slice_bits = 0}, true);
  cases.expect();
}

// Words between two processes, by a socket; arrays go by NCCL.
class SocketWords : public Communicator {
 public:
  SocketWords(int socket, int rank) : socket_(socket), rank_(rank) {}
  ~SocketWords() override { close(socket_); }
  SocketWords(const SocketWords&) = delete;
  SocketWords& operator=(const SocketWords&) = delete;

  int ranks() const override { return 2; }
  int rank() const override { return rank_; }
  std::string name() const override { return "a socket"; }
  Engine memory() const override { return Engine::cpu; }
  void exchange(const void*, std::span<const ShardMessage>, void*, std::span<const ShardMessage>,
                Stream) override {
    throw std::runtime_error("words only");
  }
  std::vector<std::string> all_gather(const std::string& mine) override {
    const std::uint64_t bytes = mine.size();
    pass<false>(const_cast<std::uint64_t*>(&bytes), sizeof bytes);
    pass<false>(const_cast<char*>(mine.data()), mine.size());
    std::uint64_t theirs_bytes = 0;
    pass<true>(&theirs_bytes, sizeof theirs_bytes);
    std::string theirs(theirs_bytes, ' ');
    pass<true>(theirs.data(), theirs.size());
    return rank_ == 0 ? std::vector{mine, theirs} : std::vector{theirs, mine};
  }
  void abort(const std::string&) noexcept override { shutdown(socket_, SHUT_RDWR); }

 private:
  template <bool receives>
  void pass(void* data, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      char* const at = static_cast<char*>(data) + done;
      const ssize_t moved =
          receives ? recv(socket_, at, bytes - done, 0) : send(socket_, at, bytes - done, MSG_NOSIGNAL);
      if (moved <= 0) throw std::runtime_error("the other process is gone");
      done += static_cast<std::size_t>(moved);
    }
  }

  int socket_;
  int rank_;
};

// What one of two processes does: the same plan over arrays that come and go, within larger allocations.
void expect_of_process(int socket, int rank) {
  const auto words = std::make_shared<SocketWords>(socket, rank);
  check_cuda(cudaSetDevice(rank), "cudaSetDevice");
  const auto communicator = nccl_communicator(rank, words, std::chrono::seconds(30));
  int can_reach = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can_reach, 0, 1), "cudaDeviceCanAccessPeer");
  const NamedAxes axes{.shape = {37, 50, 21}, .order = {2, 0, 1}};
  const std::vector<ShardProblem> problems{
      {.permutation = maps::transpose(512, 1024), .element_bytes = 4, .shards = {.ranks = 2, .rank = rank}},
      {.permutation = maps::bit_reversal(17), .element_bytes = 8, .shards = {.ranks = 2, .rank = rank}},
      {.permutation = Axes(axes.shape, axes.order),
       .element_bytes = 4,
       .shards = {.ranks = 2, .rank = rank, .in = ShardAxis{1, {11, 39}}, .out = ShardAxis{0}},
       .axes = axes},
      {.permutation = maps::bit_reversal(23), .element_bytes = 8, .shards = {.ranks = 2, .rank = rank}}};
  for (const ShardProblem& problem : problems) {
    const WholeArray whole(problem, element_count(problem.permutation));
    // The last one goes by messages, between arrays that are registered.
    const bool by_messages = &problem == &problems.back();
    ShardedPlan plan(ShardPlan(problem), communicator, {},
                     by_messages ? ShardWays{.stores = false} : ShardWays{.slice_bits = 1});
    EXPECT_EQ(std::string(plan.backend()) == "stores", !by_messages && can_reach != 0)
        << plan.backend_reason();
    const std::vector<std::byte> in = whole.in_part(rank);
    const std::vector<std::byte> wanted = whole.out_part(rank);
    for (const std::size_t offset : {0U, 256U, 8U}) {
      cuda::DeviceArray from(in.size(), rank);
      from.upload(in.data());
      const cuda::DeviceArray to(wanted.size() + offset, rank);
      const OwnStream stream;
      for (int run = 0; run < 3; ++run)
        plan.run(from.data(), in.size(), to.data() + offset, wanted.size(), Stream(stream.get()));
      plan.wait(Stream(stream.get()));
      std::vector<std::byte> out(to.size());
      to.download(out.data());
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + static_cast<std::ptrdiff_t>(offset)))
          << plan.explain();
      words->all_gather("done");  // an array is given back when nobody writes to it
    }
  }
}

constexpr const char* kSocket = "FARO_TEST_SOCKET";

// The second process is this program with `test` alone, for CUDA does not live through a fork: it calls
// `work` with the socket of the environment as rank 1, this one as rank 0. What became of it, as waitpid()
// says.
int status_beside(const std::string& test, const std::function<void(int socket, int rank)>& work) {
  if (const char* const given = std::getenv(kSocket); given != nullptr) {
    work(std::atoi(given), 1);
    return 0;
  }
  int sockets[2] = {};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const std::string socket = std::string(kSocket) + "=" + std::to_string(sockets[1]);
  const std::string filter = "--gtest_filter=" + test;
  std::vector<char*> environment{const_cast<char*>(socket.c_str())};
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(nullptr);
  const pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    const char* const arguments[] = {"gpu_test", filter.c_str(), nullptr};
    execve("/proc/self/exe", const_cast<char* const*>(arguments), environment.data());
    _exit(127);
  }
  close(sockets[1]);
  EXPECT_NO_THROW(work(sockets[0], 0));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST_F(GpuShards, ByNcclOfTwoProcesses) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  EXPECT_EQ(status_beside("GpuShards.ByNcclOfTwoProcesses", expect_of_process), 0) << "the other process";
}

// A process that is killed between two calls: the other's next one is an error, by stores and by messages.
TEST_F(GpuShards, AKilledProcessEndsTheOthersCall) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  const auto work = [](int socket, int rank) {
    const auto words = std::make_shared<SocketWords>(socket, rank);
    check_cuda(cudaSetDevice(rank), "cudaSetDevice");
    const auto communicator = nccl_communicator(rank, words, std::chrono::seconds(5));
    const NamedAxes axes{.shape = {1024, 2048}, .order = {1, 0}};
    ShardProblem problem{.permutation = Axes(axes.shape, axes.order),
                         .element_bytes = 12,
                         .shards = {.ranks = 2, .rank = rank},
                         .axes = axes};
    problem.shards.in = parse_distribution("mesh 2; axis 0 over 0 in blocks of 64");
    problem.shards.out = parse_distribution("mesh 2");
    ShardedPlan stored(ShardPlan(problem), communicator);
    ShardedPlan sent(ShardPlan(problem), communicator, {}, {.stores = false});
    const cuda::DeviceArray in(stored.plan().in_bytes(), rank);
    const cuda::DeviceArray out(stored.plan().out_bytes(), rank);
    const OwnStream stream;
    for (ShardedPlan* const plan : {&stored, &sent}) {
      plan->run(in.data(), in.size(), out.data(), out.size(), Stream(stream.get()));
      plan->wait(Stream(stream.get()));
    }
    words->all_gather("done");
    if (rank == 1) kill(getpid(), SIGKILL);
    for (ShardedPlan* const plan : {&stored, &sent}) {
      try {
        plan->run(in.data(), in.size(), out.data(), out.size(), Stream(stream.get()));
        plan->wait(Stream(stream.get()));
        ADD_FAILURE() << "a run with a rank that was killed";
      } catch (const std::exception& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
    communicator->abort("the other process is gone");
  };
  const int status = status_beside("GpuShards.AKilledProcessEndsTheOthersCall", work);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
}

// A rank that does not come: the others' wait ends by the time limit, and their stream is free again.
TEST_F(GpuShards, ALostRankEndsTheWaitByNccl) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  constexpr std::uint64_t kBytes = 16 << 20;
  const std::vector<int> devices{0, 1};
  for (const bool registered : {false, true}) {
    on_devices(in_memory_communicators(2), devices,
               [&](Communicator& words, const std::shared_ptr<Communicator>& shared, OwnStream& stream) {
                 const auto communicator = nccl_communicator(words.rank(), shared, std::chrono::seconds(2));
                 const cuda::DeviceArray array(2 * kBytes, words.rank());
                 MessageArrays arrays;
                 if (registered) arrays = communicator->message_arrays(kBytes, kBytes);
                 const std::vector<ShardMessage> messages{{1 - words.rank(), 0, kBytes}};
                 const auto exchange = [&] {
                   communicator->exchange(arrays.to_send ? arrays.to_send.get() : array.data(), messages,
                                          arrays.received ? arrays.received.get() : array.data() + kBytes,
                                          messages, Stream(stream.get()));
                   communicator->wait(Stream(stream.get()));
                 };
                 exchange();
                 if (words.rank() == 1) return;  // lost
                 const std::string text = test::message_of(ErrorCode::device, exchange);
                 EXPECT_NE(text.find("nothing from a rank for 2000 ms"), std::string::npos) << text;
                 check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
               });
  }
}

}  // namespace
}  // namespace faro::testing
