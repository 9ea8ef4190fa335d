// faro bench SPEC --shards: verified on every rank, then timed: the whole, and its three parts by themselves,
// by turns. A part's time is that of the slowest rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include "cli/host_run.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "io/buffer.hpp"
#include "shard/methods.hpp"

namespace faro::cli {
namespace {

// Bytes that tell an element from all others.
void write_element(std::uint64_t x, std::uint64_t width, std::byte* to) {
  const std::uint64_t word = (x + 1) * 0x9e3779b97f4a7c15U;
  for (std::uint64_t i = 0; i < width; ++i)
    to[i] = static_cast<std::byte>(i < sizeof word ? word >> (8 * i) : word >> (8 * (i % 8)) ^ i);
}

detail::Spread spread_of(const ShardProblem& problem, bool of_input) {
  if (of_input) return {problem.shards.in, problem.in_shape(), problem.shards.ranks, "in"};
  return {problem.shards.out, problem.out_shape(), problem.shards.ranks, "out"};
}

struct ShardTimes {
  double whole_ms = 0;
  double pack_ms = 0;
  double exchange_ms = 0;
  double unpack_ms = 0;
  double parts_ms() const { return pack_ms + exchange_ms + unpack_ms; }
};

// A rank's part where the communicator takes it: the host's own, or a copy on a device.
class BenchedPart {
 public:
  BenchedPart(std::uint64_t bytes, Communicator& communicator) : on_host_(bytes) {
    if (communicator.memory() == Engine::cuda)
      on_device_.emplace(std::max<std::uint64_t>(bytes, 1), communicator.device());
  }
  std::span<std::byte> on_host() const { return on_host_.span(); }
  std::byte* data() const { return on_device_ ? on_device_->data() : on_host_.data(); }
  std::uint64_t size() const { return on_host_.size(); }
  void upload() {
    if (on_device_ && size() > 0) on_device_->upload(on_host_.data(), size());
  }
  void download() const {
    if (on_device_ && size() > 0) on_device_->download(on_host_.data(), size());
  }

 private:
  io::Buffer on_host_;
  std::optional<cuda::DeviceArray> on_device_;
};

class ShardBench {
 public:
  ShardBench(const BenchedShards& asked, std::shared_ptr<Communicator> communicator)
      : asked_(asked), communicator_(std::move(communicator)) {}

  void run() {
    std::optional<ShardPlan> made;
    std::optional<BenchedPart> in;
    std::optional<BenchedPart> out;
    detail::agree(*communicator_, "bench --shards", [&] {
      problem_ = shard_problem(
          {.read = asked_.read, .problem = asked_.problem, .ranks = communicator_->ranks()}, asked_.cuts);
      problem_.shards.rank = communicator_->rank();
      made.emplace(problem_);
      io::require_memory_for_array("bench --shards",
                                   made->in_bytes() + made->out_bytes() + made->workspace_bytes());
      in.emplace(made->in_bytes(), *communicator_);
      out.emplace(made->out_bytes(), *communicator_);
      return std::string();
    });
    ShardedPlan plan(std::move(*made), communicator_, {.threads = asked_.threads}, asked_.devices.ways());
    fill(in->on_host());
    in->upload();
    plan.run(in->data(), in->size(), out->data(), out->size());
    plan.wait();
    detail::agree(*communicator_, "bench --shards", [&] {
      out->download();
      check(out->on_host());
      return std::string();
    });
    const ShardTimes times = measure(plan, *in, *out);
    std::uint64_t sent = 0;
    for (const std::string& theirs : communicator_->all_gather(std::to_string(plan.plan().sent_bytes())))
      sent += std::stoull(theirs);
    if (communicator_->rank() == 0) tell(plan, times, sent);
  }

 private:
  void fill(std::span<std::byte> part) const {
    const detail::Spread spread = spread_of(problem_, true);
    const std::uint64_t width = problem_.element_bytes;
    for (std::uint64_t i = 0; i < part.size() / width; ++i)
      write_element(spread.index({.rank = communicator_->rank(), .element = i}), width,
                    part.data() + i * width);
  }

  void check(std::span<const std::byte> part) const {
    const detail::Spread spread = spread_of(problem_, false);
    const std::uint64_t width = problem_.element_bytes;
    Permutation back = inverse(problem_.permutation);
    if (const auto* const indexed = std::get_if<Indexed>(&back))
      back = indexed->redirected(Direction::scatter);
    std::vector<std::byte> wanted(width);
    for (std::uint64_t i = 0; i < part.size() / width; ++i) {
      const std::uint64_t y = spread.index({.rank = communicator_->rank(), .element = i});
      write_element(faro::apply(back, y), width, wanted.data());
      if (std::memcmp(wanted.data(), part.data() + i * width, width) != 0)
        fail(ErrorCode::verification, "bench --shards", fmt::format("a wrong element {}", y),
             "what the definition puts there");
    }
  }

  ShardTimes measure(ShardedPlan& plan, const BenchedPart& in, const BenchedPart& out) {
    constexpr int kRounds = 7;
    std::array<std::vector<double>, 4> times;
    const std::array<std::function<void()>, 4> work{
        [&] { plan.run(in.data(), in.size(), out.data(), out.size()); }, [&] { plan.pack(in.data()); },
        [&] { plan.exchange(in.data(), out.data()); }, [&] { plan.unpack(out.data()); }};
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < work.size(); ++i) {
        communicator_->all_gather("");  // all begin together
        const auto begin = std::chrono::steady_clock::now();
        work[i]();
        plan.wait();
        double slowest = 0;
        for (const std::string& ms : communicator_->all_gather(std::to_string(milliseconds_since(begin))))
          slowest = std::max(slowest, std::stod(ms));
        times[i].push_back(slowest);
      }
    }
    return {.whole_ms = median(times[0]),
            .pack_ms = median(times[1]),
            .exchange_ms = median(times[2]),
            .unpack_ms = median(times[3])};
  }

  void tell(const ShardedPlan& plan, const ShardTimes& times, std::uint64_t sent) const {
    const std::uint64_t bytes = element_count(problem_.permutation) * problem_.element_bytes;
    const double share = times.whole_ms > 0 ? times.whole_ms / times.parts_ms() : 1;
    if (asked_.json) {
      Json json = new_json();
      json["spec"] = to_text(problem_.permutation);
      json["element_bytes"] = problem_.element_bytes;
      json["bytes"] = bytes;
      json["communicator"] = communicator_->name();
      json["backend"] = plan.backend();
      json["backend_reason"] = plan.backend_reason();
      json["plan"] = Json::parse(plan.plan().explain_json());
      json["sent_bytes"] = sent;
      json["ms"] = times.whole_ms;
      json["pack_ms"] = times.pack_ms;
      json["exchange_ms"] = times.exchange_ms;
      json["unpack_ms"] = times.unpack_ms;
      json["of_its_parts"] = share;
      json["gb_per_s"] = gb_per_s(bytes, times.whole_ms);
      return print(json);
    }
    print(fmt::format(
        "{}: {} in {} by {}, method {}, verified\n"
        "way           {}: {}\n"
        "sent          {} by all ranks together, the least that can be\n"
        "whole         {:.4g} ms, {:.4g} GB/s read and written\n"
        "its parts     {:.4g} ms: pack {:.4g}, exchange {:.4g}, unpack {:.4g}\n"
        "whole / parts {:.3f}",
        asked_.spec, size_text(bytes), count_text(static_cast<std::uint64_t>(communicator_->ranks()), "rank"),
        communicator_->name(), name(plan.plan().method()), plan.backend(), plan.backend_reason(),
        size_text(sent), times.whole_ms, gb_per_s(bytes, times.whole_ms), times.parts_ms(), times.pack_ms,
        times.exchange_ms, times.unpack_ms, share));
  }

  const BenchedShards& asked_;
  std::shared_ptr<Communicator> communicator_;
  ShardProblem problem_;
};

// A thread for each; an error of one is that of all.
void bench_devices(const BenchedShards& asked) {
  require_one_process("bench", asked.json);
  const std::vector<std::shared_ptr<Communicator>> communicators = asked.devices.communicators();
  std::vector<std::exception_ptr> thrown(communicators.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ShardBench(asked, communicators[rank]).run();
      } catch (const std::exception& error) {
        communicators[rank]->abort(error.what());
        thrown[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

}  // namespace

void bench_shards(const BenchedShards& asked) {
  if (asked.devices.is_given()) return bench_devices(asked);
  with_ranks("bench", asked.json, [&](const std::shared_ptr<Communicator>& communicator) {
    ShardBench(asked, communicator).run();
  });
}

}  // namespace faro::cli
