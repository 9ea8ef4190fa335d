// Permutations of shards between processes, run by `mpirun -n RANKS`: each rank's output against the whole by
// the definition, bytes sent against those that have to be, and refusals that reach every rank.
//
//     mpi_shards_test          prints a line for each fault, and exits 1 where there is one on any rank
//     mpi_shards_test kill     rank 1 dies in the middle: mpirun ends the others and fails
#include <fmt/format.h>
#include <mpi.h>

#include <bit>
#include <csignal>
#include <random>

#include "faro/mpi.hpp"
#include "mesh_oracle.hpp"
#include "shard/mesh_method.hpp"
#include "shard_support.hpp"

namespace {
std::uint64_t sent_by_mpi = 0;  // bytes, by this process
}

// MPI's own profiling interface: what really goes out.
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  sent_by_mpi += static_cast<std::uint64_t>(count);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

namespace faro {
namespace {

using testing::WholeArray;

class Trials {
 public:
  explicit Trials(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}

  int faults() const { return faults_; }
  int runs() const { return runs_; }
  void count() { ++runs_; }

  void fault(const std::string& what) {
    ++faults_;
    fmt::print(stderr, "rank {} of {}: {}\n", communicator_->rank(), communicator_->ranks(), what);
  }

  void expect(ShardProblem problem) {
    problem.shards.ranks = communicator_->ranks();
    problem.shards.rank = communicator_->rank();
    expect(problem, ShardPlan(problem), element_count(problem.permutation));
  }

  void expect(const ShardProblem& problem, ShardPlan made, std::uint64_t count) {
    ++runs_;
    const int rank = communicator_->rank();
    const WholeArray whole(problem, count);
    ShardedPlan plan(std::move(made), communicator_, {.threads = 1});
    const std::vector<std::byte> in = whole.in_part(rank);
    std::vector<std::byte> out(plan.plan().out_bytes());
    plan.run(in.data(), in.size(), out.data(), out.size());
    if (out != whole.out_part(rank)) fault("elements of\n" + plan.explain());
    if (plan.plan().sent_bytes() != whole.leaving_bytes(rank)) fault("bytes sent of\n" + plan.explain());
  }

  // That `work` is refused with the same line on all ranks, which has `wanted` in it.
  void expect_refusal(const std::string& wanted, const std::function<void()>& work) {
    std::string text;
    try {
      work();
    } catch (const Error& error) {
      text = error.what();
    }
    for (const std::string& theirs : communicator_->all_gather(text)) {
      if (theirs.find(wanted) == std::string::npos) fault("refused with `" + theirs + "`, not " + wanted);
    }
  }

 private:
  std::shared_ptr<Communicator> communicator_;
  int faults_ = 0;
  int runs_ = 0;
};

std::vector<std::uint64_t> uneven(std::uint64_t extent, int ranks, std::mt19937_64& random) {
  std::vector<std::uint64_t> extents;
  for (int rank = 0; rank + 1 < ranks; ++rank) {
    extents.push_back(random() % (extent + 1));
    extent -= extents.back();
  }
  extents.push_back(extent);
  return extents;
}

void try_all(Trials& trials, Communicator& communicator, const std::shared_ptr<Communicator>& shared) {
  const int ranks = communicator.ranks();
  std::mt19937_64 random(23);  // the same on every rank
  for (int trial = 0; trial < 6; ++trial) {
    const NamedAxes axes{.shape = {12, 7, 10},
                         .order = trial % 2 == 0 ? std::vector<int>{2, 0, 1} : std::vector<int>{1, 2, 0}};
    const ShardCut in = ShardAxis{
        .axis = trial % 3, .extents = uneven(axes.shape[static_cast<std::size_t>(trial % 3)], ranks, random)};
    trials.expect({.permutation = Axes(axes.shape, axes.order),
                   .element_bytes = 1 + random() % 9,
                   .shards = {.ranks = ranks, .rank = 0, .in = in, .out = ShardAxis{(trial + 1) % 3}},
                   .axes = axes});
    trials.expect({.permutation = maps::roll(1000, static_cast<std::int64_t>(random() % 1000)),
                   .element_bytes = 3,
                   .shards = {}});
    trials.expect({.permutation = maps::flip(777), .element_bytes = 8, .shards = {}});
    trials.expect({.permutation = Indexed::random(500, random()), .element_bytes = 4, .shards = {}});
    if (std::has_single_bit(static_cast<unsigned>(ranks))) {
      const int g = std::countr_zero(static_cast<unsigned>(ranks));
      std::vector<int> bits;
      for (int i = 0; i < g; ++i) bits.push_back((trial + 3 * i) % 12);
      trials.expect({.permutation = maps::random_bmmc(12, random()),
                     .element_bytes = 4,
                     .shards = {.ranks = ranks, .rank = 0, .in = ShardBits{bits}, .out = ShardAxis{}}});
    }
  }
  // An index array in parts.
  constexpr std::uint64_t kCount = 301;
  const Indexed whole = Indexed::random(kCount, 5);
  const ShardProblem problem{.permutation = whole.redirected(Direction::gather),
                             .element_bytes = 6,
                             .shards = {.ranks = ranks, .rank = communicator.rank()}};
  std::vector<std::uint64_t> part;
  const auto& gather = std::get<Indexed>(problem.permutation);
  for (std::uint64_t y = 0; y < kCount; ++y) {
    if (testing::owner_of(y, ShardAxis{}, {kCount}, ranks) == communicator.rank())
      part.push_back(gather.entry(y));
  }
  trials.expect(problem, ShardPlan(problem, kCount, part, Direction::gather, communicator), kCount);
  trials.expect_refusal("every rank has to ask for the same problem", [&] {
    const ShardProblem other{.permutation = maps::roll(100, communicator.rank() == 1 ? 5 : 6),
                             .element_bytes = 4,
                             .shards = {.ranks = ranks, .rank = communicator.rank()}};
    const ShardedPlan plan(ShardPlan(other), shared);
  });
}

// Meshes, against the whole array, MPI's count of bytes and the simulation's.
class MeshTrials {
 public:
  MeshTrials(Trials& trials, std::shared_ptr<Communicator> communicator)
      : trials_(trials), communicator_(std::move(communicator)) {}

  void run(std::uint64_t first_seed, std::uint64_t seeds) {
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      mesh_oracle::Drawn drawn(seed);
      expect(drawn.problem(communicator_->ranks()));
    }
  }

  void expect(ShardProblem problem) {
    trials_.count();
    const auto rank = static_cast<std::size_t>(communicator_->rank());
    problem.shards.rank = communicator_->rank();
    const mesh_oracle::Whole whole(problem);
    ShardedPlan plan(ShardPlan(problem), communicator_, {.threads = 1});
    const std::vector<std::uint32_t> in = whole.in_part(rank);
    std::vector<std::uint32_t> out(whole.after[rank].size());
    sent_by_mpi = 0;
    plan.run(in.data(), in.size() * sizeof(in[0]), out.data(), out.size() * sizeof(out[0]));
    if (out != whole.out_part(rank)) trials_.fault("elements of " + mesh_oracle::label(problem));
    if (sent_by_mpi != plan.plan().sent_bytes())
      trials_.fault("bytes sent of " + mesh_oracle::label(problem));
    if (plan.plan().received_bytes() != whole.missing(rank, rank + 1) * problem.element_bytes)
      trials_.fault("bytes received of " + mesh_oracle::label(problem));
    if (plan.plan().method() != ShardMethod::mesh) return;
    const std::vector<std::uint64_t> alone{1};
    const auto simulated = detail::crossing_elements(*detail::redistribution_of(problem), alone);
    if (simulated.sent[0][rank] * problem.element_bytes != sent_by_mpi)
      trials_.fault("bytes simulated of " + mesh_oracle::label(problem));
  }

 private:
  Trials& trials_;
  std::shared_ptr<Communicator> communicator_;
};

// A trainer of the even ranks and an engine of the odd ones: what the one held the other gets, transposed.
void try_two_groups(Trials& trials, int ranks, int rank) {
  if (ranks < 2) return;
  const bool trains = rank % 2 == 0;
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, trains ? 0 : 1, rank, &group);
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, trains ? 1 : 0, 3, &between);
  const auto both = mpi_intercommunicator(between, trains ? GroupOrder::first : GroupOrder::second);
  const int trainers = (ranks + 1) / 2;
  ShardProblem problem{.permutation = Axes({12, 10}, {1, 0}),
                       .element_bytes = 4,
                       .shards = {.ranks = ranks},
                       .axes = NamedAxes{.shape = {12, 10}, .order = {1, 0}}};
  problem.shards.in =
      Distribution{.mesh = {.axes = {{.ranks = trainers}}}, .axes = {{.axis = 1, .over = {0}}}};
  problem.shards.out = Distribution{.mesh = {.axes = {{.ranks = ranks - trainers}}, .first = trainers},
                                    .axes = {{.axis = 1, .over = {0}, .block = 2}}};
  MeshTrials(trials, both).expect(problem);
  trials.expect_refusal("an intercommunicator", [&] { mpi_intercommunicator(group, GroupOrder::first); });
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
}

int run(bool kill) {
  const auto communicator = mpi_communicator(MPI_COMM_WORLD, std::chrono::seconds(60));
  Trials trials(communicator);
  if (kill) {
    if (communicator->rank() == 1) std::raise(SIGKILL);
    communicator->all_gather("here");
    return 0;
  }
  try_all(trials, *communicator, communicator);
  MeshTrials(trials, communicator).run(1000, 60);
  try_two_groups(trials, communicator->ranks(), communicator->rank());
  int worst = 0;
  for (const std::string& faults : communicator->all_gather(std::to_string(trials.faults())))
    worst = std::max(worst, std::stoi(faults));
  if (communicator->rank() == 0)
    fmt::print("{} ranks, {} problems: {}\n", communicator->ranks(), trials.runs(),
               worst == 0 ? "passed" : "failed");
  return worst == 0 ? 0 : 1;
}

}  // namespace
}  // namespace faro

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = faro::run(argc > 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
