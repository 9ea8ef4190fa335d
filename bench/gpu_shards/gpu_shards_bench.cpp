// gpu_shards_bench: arrays spread over two or more GPUs of a machine, permuted by stores into the peers'
// memory and by NCCL in slices, beside copies between the GPUs and NCCL's all-to-all of the same bytes, by
// turns. `gpu_shards_bench --help` lists the options.
//
// A thread is a rank. Every result is verified on the devices before it is timed: each rank's output against
// the formula of the whole. Times are of the host's clock around a few runs that were queued together, from
// the moment when all ranks begin to that when all are done.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_shards/benched.hpp"
#include "bench/gpu_shards/parts.hpp"
#include "bench/gpu_shards/scaling.hpp"
#include "bench/gpu_shards/shards_options.hpp"
#include "faro/communicator.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/network/sharded.hpp"
#include "faro/shards.hpp"

namespace faro::bench::gpu {
namespace {

struct Contestant {
  std::string name;
  std::function<void(Stream)> run;
  std::string how;
  ShardWork work;
  bool is_verified = true;
};

// What all ranks share.
struct Common {
  const ShardsOptions& options;
  std::string scaling = {};
  std::barrier<> meet;
  std::vector<std::shared_ptr<Communicator>> words;
  std::vector<std::shared_ptr<Communicator>> peers;
  std::vector<std::span<std::byte>> received = {};  // for copies between devices
  std::vector<ShardLine> lines = {};                // of rank 0
  std::vector<Benched> maps = {};
  std::size_t device_count;  // of which some may have several ranks

  explicit Common(const ShardsOptions& asked)
      : options(asked),
        meet(static_cast<std::ptrdiff_t>(asked.devices.size())),
        words(in_memory_communicators(static_cast<int>(asked.devices.size()))),
        peers(peer_communicators(asked.devices)),
        received(asked.devices.size()),
        device_count(std::set<int>(asked.devices.begin(), asked.devices.end()).size()) {}
};

class Rank {
 public:
  Rank(Common& common, int rank)
      : common_(common), rank_(rank), device_(common.options.devices[static_cast<std::size_t>(rank)]) {}

  void run() {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    // NCCL wants a device a rank.
    if (common_.options.nccl && common_.device_count == common_.options.devices.size())
      nccl_ = nccl_communicator(device_, common_.words[index()]);
    for (const Benched& benched : common_.maps) bench(benched);
  }

 private:
  std::size_t index() const { return static_cast<std::size_t>(rank_); }
  int ranks() const { return static_cast<int>(common_.options.devices.size()); }

  ShardPlan plan_of(const Benched& benched) {
    ShardProblem problem = benched.problem;
    problem.shards.ranks = ranks();
    problem.shards.rank = rank_;
    if (benched.source.kind != SourceOf::Kind::mixed) return ShardPlan(problem);
    const std::uint64_t count = std::uint64_t{1} << benched.source.mixed.bits;
    const std::uint64_t each = count / static_cast<std::uint64_t>(ranks());
    std::vector<std::uint64_t> entries(each);
    for (std::uint64_t i = 0; i < each; ++i) entries[i] = benched.source.mixed(each * index() + i);
    return ShardPlan(problem, count, entries, Direction::gather, *common_.peers[index()]);
  }

  // The ways of faro, `add` one by one: with the communicator, and how it is asked to work.
  template <typename Add>
  void add_ways(const Benched& benched, bool has_stores, bool has_slices, const Add& add) {
    add("faro, peers", common_.peers[index()], ShardWays{});
    if (!nccl_ || ranks() == 1) return;
    if (has_stores) add("faro, NCCL's ranks, stores", nccl_, ShardWays{});
    add("faro, NCCL's messages", nccl_, ShardWays{.stores = false});
    for (const int bits : common_.options.slices) {
      if (benched.is_sort || (bits != 0 && !has_slices)) continue;
      for (const int reserved : common_.options.reserved) {
        if (bits == 0 && reserved != common_.options.reserved.front()) continue;
        const std::string name = bits == 0
                                     ? "faro, NCCL, whole messages"
                                     : fmt::format("faro, NCCL, {} slices, {} multiprocessors left",
                                                   bits < 0 ? "its" : std::to_string(1 << bits), reserved);
        add(name, nccl_, ShardWays{.stores = false, .slice_bits = bits, .link_multiprocessors = reserved});
      }
    }
  }

  static ShardWork work_of(const ShardedPlan& made, const ShardWays& ways) {
    const ShardPlan& plan = made.plan();
    const std::string_view backend = made.backend();
    const bool by_stores = backend == "stores";
    ShardWork work{.way = by_stores ? ShardWork::Way::stores : ShardWork::Way::messages,
                   .sent_bytes = static_cast<double>(plan.sent_bytes()),
                   .part_bytes = static_cast<double>(plan.in_bytes()),
                   .packs = plan.pack().is_nothing() ? 0 : 1,
                   .unpacks = (by_stores ? plan.stores().to_output : plan.unpack().is_nothing()) ? 0 : 1};
    // By faro's choice an eighth is packed before anything is sent, and unpacked after everything.
    if (backend == "slices") work.slices = ways.slice_bits < 0 ? 8 : 1 << ways.slice_bits;
    return work;
  }

  void bench(const Benched& benched) {
    if (!benched.arrays.empty()) return bench_arrays(benched);
    if (benched.is_sort) return bench_sort(benched);
    const ShardPlan plan = plan_of(benched);
    std::vector<std::unique_ptr<ShardedPlan>> plans;
    std::vector<Contestant> contestants;
    const cuda::DeviceArray in(plan.in_bytes(), device_);
    const cuda::DeviceArray out(plan.out_bytes(), device_);
    const bool has_stores = nccl_ && nccl_->peer_memory() != nullptr && plan.stores().is_possible();
    const auto add = [&](const std::string& name, const std::shared_ptr<Communicator>& communicator,
                         const ShardWays& ways) {
      plans.push_back(std::make_unique<ShardedPlan>(plan, communicator, PlanOptions{}, ways));
      ShardedPlan* const made = plans.back().get();
      contestants.push_back({name,
                             [made, &in, &out](Stream stream) {
                               made->run(in.data(), in.size(), out.data(), out.size(), stream);
                             },
                             fmt::format("{}: {}", made->backend(), made->backend_reason()),
                             work_of(*made, ways)});
    };
    const bool has_slices = plan.workspace_bytes() > 0 && (plan.stores().by_views || plan.slice_bits() > 0);
    add_ways(benched, has_stores, has_slices, add);
    fill_part(reinterpret_cast<std::uint32_t*>(in.data()), plan.in_elements(), first_of(plan.in_elements()),
              stream_);
    compare(benched, in, out, plan.sent_bytes(), contestants,
            [&] { return expect_source(benched, out, plan.out_elements()); });
  }

  // Arrays between distributions, one behind the other in an input and an output.
  void bench_arrays(const Benched& benched) {
    struct Part {
      ShardPlan plan;
      std::uint64_t in_at = 0;
      std::uint64_t out_at = 0;
      PartPlaces before;
      PartPlaces after;
    };
    std::vector<Part> parts;
    std::uint64_t in_bytes = 0;
    std::uint64_t out_bytes = 0;
    std::uint64_t first = 0;
    std::uint64_t sent = 0;  // to other devices
    for (ShardProblem problem : benched.arrays) {
      problem.shards.ranks = ranks();
      problem.shards.rank = rank_;
      const std::vector<std::uint64_t> shape = problem.in_shape();
      std::vector<std::uint64_t> weights(shape.size(), 1);
      for (std::size_t a = shape.size() - 1; a > 0; --a) weights[a - 1] = weights[a] * shape[a];
      std::vector<std::uint64_t> target_weights;
      for (const int axis : problem.axes->order)
        target_weights.push_back(weights[static_cast<std::size_t>(axis)]);
      parts.push_back({.plan = ShardPlan(problem),
                       .in_at = in_bytes,
                       .out_at = out_bytes,
                       .before = places_of(problem.shards.in, shape, weights, first),
                       .after = places_of(problem.shards.out, problem.out_shape(), target_weights, first)});
      const ShardPlan& plan = parts.back().plan;
      first += element_count(problem.permutation);
      constexpr std::uint64_t line = 512;
      in_bytes += (plan.in_bytes() + line - 1) / line * line;
      out_bytes += (plan.out_bytes() + line - 1) / line * line;
      for (const ShardMessage& message : plan.sends()) {
        if (common_.options.devices[static_cast<std::size_t>(message.peer)] != device_) sent += message.bytes;
      }
    }
    const cuda::DeviceArray in(std::max<std::uint64_t>(in_bytes, 1), device_);
    const cuda::DeviceArray out(std::max<std::uint64_t>(out_bytes, 1), device_);
    for (const Part& part : parts)
      fill_places(in.data() + part.in_at, part.plan.in_elements(),
                  static_cast<int>(part.plan.problem().element_bytes), part.before, stream_);
    std::vector<std::vector<std::unique_ptr<ShardedPlan>>> plans;
    std::vector<Contestant> contestants;
    const auto add = [&](const std::string& name, const std::shared_ptr<Communicator>& communicator,
                         const ShardWays& ways) {
      ShardWork work;
      plans.emplace_back();
      for (const Part& part : parts) {
        plans.back().push_back(std::make_unique<ShardedPlan>(part.plan, communicator, PlanOptions{}, ways));
        const ShardWork one = work_of(*plans.back().back(), ways);
        const double bytes = work.part_bytes + one.part_bytes;
        work = one;
        work.part_bytes = bytes;
      }
      work.sent_bytes = static_cast<double>(sent);
      std::vector<ShardedRun> runs;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Part& part = parts[i];
        runs.push_back({.plan = plans.back()[i].get(),
                        .in = in.data() + part.in_at,
                        .in_bytes = part.plan.in_bytes(),
                        .out = out.data() + part.out_at,
                        .out_bytes = part.plan.out_bytes()});
      }
      const auto run = [runs](Stream stream) {
        if (runs.size() > 1) return ShardedPlan::run_all(runs, stream);
        const ShardedRun& one = runs.front();
        one.plan->run(one.in, one.in_bytes, one.out, one.out_bytes, stream);
      };
      const ShardedPlan& told = *plans.back().front();
      contestants.push_back({name, run, fmt::format("{}: {}", told.backend(), told.backend_reason()), work});
    };
    const bool has_stores = nccl_ && nccl_->peer_memory() != nullptr;
    add_ways(benched, has_stores, true, add);
    compare(benched, in, out, sent, contestants, [&] {
      unsigned long long wrong = 0;
      for (const Part& part : parts) {
        wrong += counted([&](unsigned long long* counter) {
          count_wrong_places(out.data() + part.out_at, part.plan.out_elements(),
                             static_cast<int>(part.plan.problem().element_bytes), part.after, counter,
                             stream_);
        });
      }
      return wrong;
    });
  }

  PartPlaces places_of(const ShardCut& cut, const std::vector<std::uint64_t>& shape,
                       const std::vector<std::uint64_t>& weights, std::uint64_t first) const {
    const RankPart part = part_of(std::get<Distribution>(cut), shape, rank_);
    const std::vector<std::uint64_t> extents = part.shape();
    PartPlaces made{.axes = static_cast<int>(shape.size()), .first = first};
    for (std::size_t a = 0; a < shape.size(); ++a) {
      made.axis[a].extent = std::max<std::uint64_t>(1, extents[a]);
      made.axis[a].weight = weights[a];
      for (std::size_t i = 0; i < part.axes[a].size(); ++i) {
        const AxisRuns& runs = part.axes[a].at(i);
        made.axis[a].runs[i] = {
            .begin = runs.begin, .length = runs.length, .count = runs.count, .stride = runs.stride};
      }
    }
    return made;
  }

  void bench_sort(const Benched& benched) {
    const std::uint64_t part = std::uint64_t{1}
                               << (benched.sorted_bits - std::countr_zero(static_cast<unsigned>(ranks())));
    const cuda::DeviceArray in(4 * part, device_);
    const cuda::DeviceArray out(4 * part, device_);
    std::vector<std::unique_ptr<network::ShardedNetwork>> sorters;
    std::vector<Contestant> contestants;
    const auto add = [&](const std::string& name, const std::shared_ptr<Communicator>& communicator,
                         const ShardWays& ways) {
      sorters.push_back(std::make_unique<network::ShardedNetwork>(
          network::Problem{.program = network::sort(benched.sorted_bits), .element = {network::Scalar::u32}},
          communicator, network::Options{}, ways));
      network::ShardedNetwork* const made = sorters.back().get();
      contestants.push_back(
          {name,
           [made, &in, &out](Stream stream) { made->run(in.data(), out.data(), in.size(), stream); },
           fmt::format("{} passes, {} exchanges", made->passes(), made->exchanges()),
           {.way = ShardWork::Way::stores,
            .sent_bytes = static_cast<double>(made->sent_bytes()),
            .part_bytes = static_cast<double>(in.size()),
            .unpacks = static_cast<int>(made->passes())}});
    };
    add_ways(benched, false, false, add);
    const std::uint64_t sent =
        sorters.front()->sent_bytes() / std::max<std::uint64_t>(1, sorters.front()->exchanges());
    fill_part(reinterpret_cast<std::uint32_t*>(in.data()), part, part * index(), stream_);
    compare(benched, in, out, sent, contestants, [&] { return expect_sorted(in, out, part); });
  }

  // Beside copies and NCCL's all-to-all of `sent` bytes, all verified first.
  void compare(const Benched& benched, const cuda::DeviceArray& in, const cuda::DeviceArray& out,
               std::uint64_t sent, std::vector<Contestant>& contestants,
               const std::function<unsigned long long()>& wrong) {
    common_.received[index()] = {out.data(), out.size()};
    const ShardWork across{.way = ShardWork::Way::links_alone,
                           .sent_bytes = static_cast<double>(sent),
                           .part_bytes = static_cast<double>(in.size())};
    ShardWork within = across;
    within.way = ShardWork::Way::copy_within;
    if (ranks() > 1) {
      // To the next rank, as many bytes as go to all.
      contestants.push_back({kCopyBetween,
                             [this, &in, sent](Stream stream) { copy_on(in.data(), sent, stream); },
                             "cudaMemcpyPeerAsync", across, false});
    }
    // Where this rank has one of them only, half of it to the other half.
    const cuda::DeviceArray& larger = in.size() < out.size() ? out : in;
    const std::uint64_t half = larger.size() / 2;
    const bool has_both = std::min(in.size(), out.size()) > half / 2;
    const std::byte* const from = has_both ? in.data() : larger.data();
    std::byte* const to = has_both ? out.data() : larger.data() + half;
    const std::uint64_t copied = has_both ? std::min(in.size(), out.size()) : half;
    within.part_bytes = static_cast<double>(copied);
    contestants.push_back({kCopyWithin,
                           [from, to, copied](Stream stream) { cuda::copy(from, to, copied, stream); },
                           "cudaMemcpyAsync", within, false});
    MessageArrays registered;
    std::vector<std::uint64_t> all_sent;
    for (const std::string& theirs : common_.words[index()]->all_gather(std::to_string(sent)))
      all_sent.push_back(std::stoull(theirs));
    const bool sends_any =
        std::any_of(all_sent.begin(), all_sent.end(), [](std::uint64_t each) { return each > 0; });
    if (nccl_ && ranks() > 1 && sends_any) {
      contestants.push_back({kAllToAll,
                             [this, &in, &out, &all_sent](Stream stream) {
                               all_to_all(in.data(), out.data(), all_sent, stream);
                             },
                             "ncclSend, ncclRecv", across, false});
      registered = nccl_->message_arrays(in.size(), out.size());
    }
    if (registered.received) {
      contestants.push_back({kAllToAllRegistered,
                             [this, &registered, &all_sent](Stream stream) {
                               all_to_all(registered.to_send.get(), registered.received.get(), all_sent,
                                          stream);
                             },
                             "ncclSend, ncclRecv between ncclMemAlloc's arrays", across, false});
    }
    for (const Contestant& each : contestants) {
      if (!each.is_verified) continue;
      check_cuda(cudaMemsetAsync(out.data(), 0xee, out.size(), stream_), "cudaMemsetAsync");
      each.run(stream_);
      for (const std::string& theirs : common_.words[index()]->all_gather(std::to_string(wrong()))) {
        if (theirs == "0") continue;
        fail(ErrorCode::verification, benched.name + ", " + each.name, theirs + " wrong elements",
             "what the definition puts there");
      }
    }
    time(benched, contestants);
    common_.meet.arrive_and_wait();
  }

  std::uint64_t first_of(std::uint64_t mine) {
    std::uint64_t first = 0;
    const auto all = common_.words[index()]->all_gather(std::to_string(mine));
    for (int rank = 0; rank < rank_; ++rank) first += std::stoull(all[static_cast<std::size_t>(rank)]);
    return first;
  }

  void copy_on(const std::byte* in, std::uint64_t bytes, Stream stream) {
    const std::size_t all = common_.options.devices.size();
    const std::size_t next = (index() + all / common_.device_count) % all;
    // To a rank that gets less than is sent, again from its beginning.
    const std::span<std::byte> to = common_.received[next];
    for (std::uint64_t done = 0; done < bytes; done += to.size()) {
      check_cuda(cudaMemcpyPeerAsync(to.data(), common_.options.devices[next], in + done, device_,
                                     std::min<std::uint64_t>(to.size(), bytes - done), stream.handle()),
                 "cudaMemcpyPeerAsync");
    }
  }

  // `bytes`: what each rank sends, the same to all others.
  void all_to_all(const std::byte* in, std::byte* out, const std::vector<std::uint64_t>& bytes,
                  Stream stream) {
    std::vector<ShardMessage> sends;
    std::vector<ShardMessage> receives;
    // Where messages begin at other than multiples of 16 bytes, NCCL takes twice as long.
    constexpr std::uint64_t line = 128;
    const auto add = [](std::vector<ShardMessage>& to, int peer, std::uint64_t each) {
      const std::uint64_t at = to.empty() ? 0 : to.back().offset_bytes + to.back().bytes;
      if (each > 0) to.push_back({.peer = peer, .offset_bytes = at, .bytes = each});
    };
    const auto each_of = [&](std::size_t rank) {
      return bytes[rank] / static_cast<std::uint64_t>(ranks() - 1) / line * line;
    };
    for (int peer = 0; peer < ranks(); ++peer) {
      if (peer == rank_) continue;
      add(sends, peer, each_of(index()));
      add(receives, peer, each_of(static_cast<std::size_t>(peer)));
    }
    nccl_->exchange(in, sends, out, receives, stream);
  }

  // Elements of the output other than its definition's.
  unsigned long long expect_source(const Benched& benched, const cuda::DeviceArray& out,
                                   std::uint64_t count) {
    return counted([&](unsigned long long* counter) {
      count_wrong(reinterpret_cast<const std::uint32_t*>(out.data()), count, first_of(count), benched.source,
                  counter, stream_);
    });
  }

  template <typename Count>
  unsigned long long counted(const Count& count) {
    cuda::DeviceArray wrong(sizeof(unsigned long long), device_);
    auto* const counter = reinterpret_cast<unsigned long long*>(wrong.data());
    check_cuda(cudaMemsetAsync(counter, 0, sizeof *counter, stream_), "cudaMemsetAsync");
    count(counter);
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    unsigned long long found = 0;
    wrong.download(&found);
    return found;
  }

  SortedCounts counts_of(const cuda::DeviceArray& array, std::uint64_t count) {
    cuda::DeviceArray counts(sizeof(SortedCounts), device_);
    auto* const words = reinterpret_cast<SortedCounts*>(counts.data());
    check_cuda(cudaMemsetAsync(words, 0, sizeof *words, stream_), "cudaMemsetAsync");
    count_sorted(reinterpret_cast<const std::uint32_t*>(array.data()), count, words, stream_);
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    SortedCounts found;
    counts.download(&found);
    return found;
  }

  // Places where an element is less than the one before, also between ranks; 1 more if the elements are not
  // the input's.
  unsigned long long expect_sorted(const cuda::DeviceArray& in, const cuda::DeviceArray& out,
                                   std::uint64_t count) {
    const SortedCounts before = counts_of(in, count);
    const SortedCounts after = counts_of(out, count);
    std::uint32_t ends[2] = {};
    const auto* const part = reinterpret_cast<const std::uint32_t*>(out.data());
    check_cuda(cudaMemcpy(&ends[0], part, sizeof ends[0], cudaMemcpyDeviceToHost), "cudaMemcpy");
    check_cuda(cudaMemcpy(&ends[1], part + count - 1, sizeof ends[1], cudaMemcpyDeviceToHost), "cudaMemcpy");
    const auto gather = [&](std::uint64_t word) {
      std::vector<std::uint64_t> words;
      for (const std::string& each : common_.words[index()]->all_gather(std::to_string(word)))
        words.push_back(std::stoull(each));
      return words;
    };
    const std::vector<std::uint64_t> firsts = gather(ends[0]);
    const std::vector<std::uint64_t> lasts = gather(ends[1]);
    unsigned long long wrong = after.descents;
    for (std::size_t rank = 1; rank < firsts.size(); ++rank) wrong += firsts[rank] < lasts[rank - 1] ? 1 : 0;
    const auto total = [&](std::uint64_t word) {
      std::uint64_t sum = 0;
      for (const std::uint64_t each : gather(word)) sum += each;
      return sum;
    };
    const bool same_sum = total(before.sum) == total(after.sum);
    const bool same_hashes = total(before.hashes) == total(after.hashes);
    return wrong + (same_sum && same_hashes ? 0 : 1);
  }

  void time(const Benched& benched, const std::vector<Contestant>& contestants) {
    constexpr int calls = 4;
    std::vector<std::vector<double>> samples(contestants.size());
    for (int round = 0; round < common_.options.rounds; ++round) {
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        contestants[i].run(stream_);
        check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        common_.meet.arrive_and_wait();
        const auto begin = std::chrono::steady_clock::now();
        for (int call = 0; call < calls; ++call) contestants[i].run(stream_);
        check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        common_.meet.arrive_and_wait();
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
        samples[i].push_back(taken.count() / calls);
      }
    }
    if (rank_ != 0) return;
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const auto [least, most] = std::minmax_element(samples[i].begin(), samples[i].end());
      common_.lines.push_back({.scaling = common_.scaling,
                               .gpus = ranks(),
                               .kind = benched.kind,
                               .map = benched.name,
                               .name = contestants[i].name,
                               .ms = median(samples[i]),
                               .least = *least,
                               .most = *most,
                               .work = contestants[i].work,
                               .how = contestants[i].how});
      const ShardLine& line = common_.lines.back();
      fmt::print("{}{} | {}: {:.3f} ms ({:.3f} to {:.3f}), {:.0f} GB/s out | {}\n",
                 line.scaling.empty() ? "" : fmt::format("{} GPUs, {} | ", line.gpus, line.scaling), line.map,
                 line.name, line.ms, line.least, line.most, line.work.sent_bytes / line.ms / 1e6, line.how);
      std::fflush(stdout);
    }
  }

  Common& common_;
  int rank_;
  int device_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<Communicator> nccl_;
};

// All maps on these devices.
void run_on(const ShardsOptions& options, const std::string& scaling, std::vector<ShardLine>& lines) {
  Common common(options);
  common.scaling = scaling;
  // Two of the small arrays may be the same.
  for (const std::string& map : options.maps) {
    Benched made = make_benched(map, static_cast<int>(options.devices.size()), options.log_bytes);
    const auto is_same = [&](const Benched& other) { return other.name == made.name; };
    if (std::none_of(common.maps.begin(), common.maps.end(), is_same)) common.maps.push_back(std::move(made));
  }
  std::vector<std::thread> threads;
  std::mutex told;
  for (int rank = 0; rank < static_cast<int>(options.devices.size()); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Rank(common, rank).run();
      } catch (const std::exception& error) {
        // The others may wait for this one: there is nothing more to do.
        const std::lock_guard lock(told);
        fmt::print(stderr, "gpu_shards_bench: rank {}: {}\n", rank, error.what());
        std::fflush(stdout);
        std::_Exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  lines.insert(lines.end(), common.lines.begin(), common.lines.end());
}

// 1, 2, 4, ... of the devices; strong scaling gives each its share of an array that one of them would hold,
// and arrays between distributions as they are to two and more.
void run_scaling(const ShardsOptions& options, const std::string& scaling, std::vector<ShardLine>& lines) {
  for (std::size_t count = 1, g = 0; count <= options.devices.size(); count *= 2, ++g) {
    ShardsOptions each = options;
    each.devices.resize(count);
    ShardsOptions meshes = each;
    std::erase_if(each.maps, is_mesh);
    std::erase_if(meshes.maps, [&](const std::string& map) { return !is_mesh(map); });
    if (scaling == "strong") each.log_bytes -= static_cast<int>(g);
    // One rank has no bit to exchange with.
    if (count == 1)
      std::erase_if(each.maps,
                    [](const std::string& map) { return map.starts_with("exchange") || map == "local"; });
    run_on(each, scaling, lines);
    if (scaling == "strong" && count > 1) run_on(meshes, scaling, lines);
  }
}

int run(const CommandLine& line) {
  const ShardsOptions options = parse_shards(line);
  if (options.devices.empty())
    fail(ErrorCode::device, "gpu_shards_bench", cuda::status().reason, "a GPU or more");
  std::vector<ShardLine> lines;
  if (options.scaling.empty()) run_on(options, "", lines);
  for (const char* const scaling : {"weak", "strong"}) {
    if (options.scaling == scaling || options.scaling == "both") run_scaling(options, scaling, lines);
  }
  const std::string text = "# Shards over " + std::to_string(options.devices.size()) + " GPUs\n\n" +
                           setting_table(make_setting(options.command)) + "\n" + shards_table(lines);
  fmt::print("\n{}", text);
  if (options.out.empty()) return 0;
  std::FILE* const file = std::fopen(options.out.c_str(), "w");
  if (file == nullptr)
    fail(ErrorCode::file, "write `" + options.out + "`", "a failure", "a file to write to");
  std::fputs(text.c_str(), file);
  return std::fclose(file) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::gpu::kShardsUsage, faro::bench::gpu::run);
}
