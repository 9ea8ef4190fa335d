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
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_shards/parts.hpp"
#include "bench/gpu_shards/scaling.hpp"
#include "engines/cuda_measure.hpp"
#include "faro/communicator.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/shards.hpp"
#include "measure.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_shards_bench: arrays over several GPUs, beside copies between them and NCCL's all-to-all

  --devices LIST   ordinals, a rank each                              (default: all of the machine)
  --scaling WHICH  weak, strong or both: with 1, 2, 4, ... of them, and what two let expect of the others
  --maps LIST      of exchange30,exchange20,exchange8,local,bmmc,reversal,transpose,transpose64,slabs,index (default all)
  --log-bytes K    2^K bytes of an array on each device, of strong scaling in all  (default 33: 8 GiB)
  --rounds NUMBER  of turns                                           (default 7)
  --slices LIST    log2 of slices by NCCL beside faro's choice; 0: one (default: the choice alone)
  --reserved LIST  multiprocessors left to NCCL while those move      (default 48)
  --without-nccl
  --out FILE       the table, in Markdown
  --help
)";

struct ShardsOptions {
  std::vector<int> devices = {};
  std::string scaling = {};
  std::vector<std::string> maps = {"exchange30", "exchange20", "exchange8",   "local", "bmmc",
                                   "reversal",   "transpose",  "transpose64", "slabs", "index"};
  std::vector<int> slices = {};
  std::vector<int> reserved = {48};
  int log_bytes = 33;
  int rounds = 7;
  bool nccl = true;
  std::string out = {};
  std::string command = {};
};

ShardsOptions parse(const CommandLine& line) {
  ShardsOptions options;
  options.command = line.text();
  options.nccl = !line.has("--without-nccl");
  line.read({{"--devices", [&](const Argument& a) { options.devices = parse_ints(a, 0, 63); }},
             {"--scaling",
              [&](const Argument& a) {
                if (a.text != "weak" && a.text != "strong" && a.text != "both")
                  refuse(a, "weak, strong or both");
                options.scaling = a.text;
              }},
             {"--maps", [&](const Argument& a) { options.maps = parse_names(a); }},
             {"--log-bytes", [&](const Argument& a) { options.log_bytes = parse_int(a, 20, 34); }},
             {"--slices", [&](const Argument& a) { options.slices = parse_ints(a, 0, 4); }},
             {"--reserved", [&](const Argument& a) { options.reserved = parse_ints(a, 0, 131); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, 1000); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}},
            {"--without-nccl"});
  if (options.devices.empty()) {
    for (int device = 0; device < static_cast<int>(cuda::devices().size()); ++device)
      options.devices.push_back(device);
  }
  return options;
}

// A problem, and where an element of its output comes from.
struct Benched {
  std::string name;
  ShardProblem problem;
  SourceOf source = {};
  std::vector<std::uint32_t> gather = {};  // of an index array
};

SourceOf source_of(const Affine& map) {
  const Affine back = map.inverse();
  SourceOf made{.is_affine = true, .bits = map.bits(), .complement = back.complement()};
  for (int j = 0; j < map.bits(); ++j) made.column[j] = back.matrix().column(j);
  return made;
}

Benched of_map(const std::string& name, const Affine& map) {
  return {.name = name,
          .problem = {.permutation = map, .element_bytes = 4, .shards = {}},
          .source = source_of(map)};
}

// Of 4-byte elements, ranks' bits on top.
Benched make_benched(const std::string& name, int ranks, int log_bytes) {
  const int g = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
  const int m = log_bytes - 2;
  const int n = m + g;
  const bool takes_any_ranks = name == "transpose" || name == "slabs" || name == "index";
  if (!takes_any_ranks && !std::has_single_bit(static_cast<unsigned>(ranks)))
    fail(ErrorCode::usage, "gpu_shards_bench", fmt::format("{} on {} devices", name, ranks),
         "2^g devices; transpose, slabs and index take any number");
  if (name == "exchange30")
    return of_map("swap of the rank's bit and the top local bit", maps::swap_bits(n, m - 1, m));
  if (name == "exchange20")
    return of_map("swap of the rank's bit and local bit 20", maps::swap_bits(n, 20, m));
  if (name == "exchange8") return of_map("swap of the rank's bit and local bit 8", maps::swap_bits(n, 8, m));
  if (name == "local") {
    // Rank 1, one pass: any map of each part, behind an exchange with a bit of it.
    return of_map("random affine map, rank 1, one pass",
                  compose(maps::swap_bits(n, m - 1, m), direct_sum(maps::random_bmmc(m, 7), Affine(g))));
  }
  if (name == "bmmc") return of_map(fmt::format("random_bmmc({}, 1)", n), maps::random_bmmc(n, 1));
  if (name == "reversal") return of_map(fmt::format("bit_reversal({})", n), maps::bit_reversal(n));
  const auto transposed = [&](std::uint64_t rows, std::uint64_t columns) {
    Benched made{.name = fmt::format("transpose({}, {}) in slabs", rows, columns),
                 .problem = {.permutation = Axes({rows, columns}, {1, 0}),
                             .element_bytes = 4,
                             .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{0}, .out = ShardAxis{0}},
                             .axes = NamedAxes{.shape = {rows, columns}, .order = {1, 0}}}};
    made.source = {.is_affine = false, .rows = rows, .columns = columns};
    return made;
  };
  const std::uint64_t most = std::uint64_t{1} << (n / 2);
  if (name == "transpose")
    return transposed(std::min<std::uint64_t>(32768, most), std::min<std::uint64_t>(32768, most));
  if (name == "transpose64") return transposed(most, std::uint64_t{1} << (n - n / 2));
  if (name == "slabs") return transposed(most / 2 - 1000, most / 2 + 3001);
  if (name != "index") fail(ErrorCode::usage, "gpu_shards_bench", "a map `" + name + "`", "one of --help");
  const std::uint64_t count = std::uint64_t{1} << std::min(n, 28);
  Benched made{.name = fmt::format("random index array of 2^{}", std::min(n, 28)),
               .problem = {.permutation = maps::roll(count, 0), .element_bytes = 4, .shards = {}}};
  made.gather.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) made.gather[i] = static_cast<std::uint32_t>(i);
  std::mt19937_64 random(5);
  for (std::uint64_t i = count - 1; i > 0; --i) std::swap(made.gather[i], made.gather[random() % (i + 1)]);
  return made;
}

struct Contestant {
  std::string name;
  std::function<void(Stream)> run;
  bool is_permutation = true;
};

// What all ranks share.
struct Common {
  const ShardsOptions& options;
  std::string scaling = {};
  std::barrier<> meet;
  std::vector<std::shared_ptr<Communicator>> words;
  std::vector<std::shared_ptr<Communicator>> peers;
  std::vector<std::byte*> received = {};  // for copies between devices
  std::vector<ShardLine> lines = {};      // of rank 0
  std::vector<Benched> maps = {};

  explicit Common(const ShardsOptions& asked)
      : options(asked),
        meet(static_cast<std::ptrdiff_t>(asked.devices.size())),
        words(in_memory_communicators(static_cast<int>(asked.devices.size()))),
        peers(peer_communicators(asked.devices)),
        received(asked.devices.size()) {}
};

class Rank {
 public:
  Rank(Common& common, int rank)
      : common_(common), rank_(rank), device_(common.options.devices[static_cast<std::size_t>(rank)]) {}

  void run() {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    if (common_.options.nccl) nccl_ = nccl_communicator(device_, common_.words[index()]);
    for (const Benched& benched : common_.maps) bench(benched);
  }

 private:
  std::size_t index() const { return static_cast<std::size_t>(rank_); }
  int ranks() const { return static_cast<int>(common_.options.devices.size()); }

  ShardPlan plan_of(const Benched& benched) {
    ShardProblem problem = benched.problem;
    problem.shards.ranks = ranks();
    problem.shards.rank = rank_;
    if (benched.gather.empty()) return ShardPlan(problem);
    const std::uint64_t each = benched.gather.size() / static_cast<std::uint64_t>(ranks());
    const std::uint32_t* const mine = benched.gather.data() + each * index();
    const std::vector<std::uint64_t> entries(mine, mine + each);
    return ShardPlan(problem, benched.gather.size(), entries, Direction::gather, *common_.peers[index()]);
  }

  void bench(const Benched& benched) {
    const ShardPlan plan = plan_of(benched);
    const std::uint64_t count = plan.in_elements();
    const std::uint64_t out_count = plan.out_elements();
    cuda::DeviceArray in(plan.in_bytes(), device_);
    cuda::DeviceArray out(plan.out_bytes(), device_);
    common_.received[index()] = out.data();
    const std::uint64_t first = first_of(plan.in_elements());
    fill_part(reinterpret_cast<std::uint32_t*>(in.data()), count, first, stream_);
    const std::uint64_t sent = plan.sent_bytes();
    std::vector<std::unique_ptr<ShardedPlan>> plans;
    std::vector<Contestant> contestants;
    std::vector<std::string> how;
    std::vector<ShardWork> work;
    const auto count_work = [&](ShardWork::Way way) {
      work.push_back({.way = way,
                      .sent_bytes = static_cast<double>(sent),
                      .part_bytes = static_cast<double>(plan.in_bytes())});
      return &work.back();
    };
    const auto add = [&](const std::string& name, const std::shared_ptr<Communicator>& communicator,
                         const ShardWays& ways) {
      plans.push_back(std::make_unique<ShardedPlan>(plan, communicator, PlanOptions{}, ways));
      ShardedPlan* const made = plans.back().get();
      how.push_back(fmt::format("{}: {}", made->backend(), made->backend_reason()));
      const std::string_view backend = made->backend();
      const bool by_stores = backend == "stores";
      ShardWork* const mine = count_work(by_stores ? ShardWork::Way::stores : ShardWork::Way::messages);
      mine->packs = plan.pack().is_nothing() ? 0 : 1;
      mine->unpacks = (by_stores ? plan.stores().to_output : plan.unpack().is_nothing()) ? 0 : 1;
      // By faro's choice an eighth is packed before anything is sent, and unpacked after everything.
      if (backend == "slices") mine->slices = ways.slice_bits < 0 ? 8 : 1 << ways.slice_bits;
      contestants.push_back({name, [made, &in, &out](Stream stream) {
                               made->run(in.data(), made->plan().in_bytes(), out.data(),
                                         made->plan().out_bytes(), stream);
                             }});
    };
    add("faro, peers", common_.peers[index()], {});
    if (nccl_ && ranks() > 1) {
      if (nccl_->peer_memory() != nullptr && plan.stores().is_possible())
        add("faro, NCCL's ranks, stores", nccl_, {});
      add("faro, NCCL's messages", nccl_, {.stores = false});
      for (const int bits : common_.options.slices) {
        if (bits > 0 && (plan.slice_bits() == 0 || plan.workspace_bytes() == 0)) continue;
        for (const int reserved : common_.options.reserved) {
          if (bits == 0 && reserved != common_.options.reserved.front()) continue;
          const std::string name =
              bits == 0 ? "faro, NCCL, whole messages"
                        : fmt::format("faro, NCCL, {} slices, {} multiprocessors left", 1 << bits, reserved);
          add(name, nccl_, {.stores = false, .slice_bits = bits, .link_multiprocessors = reserved});
        }
      }
    }
    if (ranks() > 1) {
      // To the next rank, as many bytes as go to all.
      contestants.push_back(
          {kCopyBetween, [this, &in, sent](Stream stream) { copy_on(in.data(), sent, stream); }, false});
      how.emplace_back("cudaMemcpyPeerAsync");
      count_work(ShardWork::Way::links_alone);
    }
    const std::uint64_t both = std::min(in.size(), out.size());
    contestants.push_back(
        {kCopyWithin, [&in, &out, both](Stream stream) { cuda::copy(in.data(), out.data(), both, stream); },
         false});
    how.emplace_back("cudaMemcpyAsync");
    count_work(ShardWork::Way::copy_within);
    if (nccl_ && ranks() > 1) {
      count_work(ShardWork::Way::links_alone);
      contestants.push_back(
          {kAllToAll,
           [this, &in, &out, sent](Stream stream) { all_to_all(in.data(), out.data(), sent, stream); },
           false});
      how.emplace_back("ncclSend, ncclRecv");
    }
    MessageArrays registered;
    if (nccl_ && ranks() > 1) registered = nccl_->message_arrays(plan.in_bytes(), plan.out_bytes());
    if (registered.received) {
      count_work(ShardWork::Way::links_alone);
      contestants.push_back({kAllToAllRegistered,
                             [this, &registered, sent](Stream stream) {
                               all_to_all(registered.to_send.get(), registered.received.get(), sent, stream);
                             },
                             false});
      how.emplace_back("ncclSend, ncclRecv between ncclMemAlloc's arrays");
    }
    for (const Contestant& each : contestants) {
      if (each.is_permutation) verify(benched, each, out, out_count);
    }
    time(benched, contestants, how, work);
    common_.meet.arrive_and_wait();
  }

  std::uint64_t first_of(std::uint64_t mine) {
    std::uint64_t first = 0;
    const auto all = common_.words[index()]->all_gather(std::to_string(mine));
    for (int rank = 0; rank < rank_; ++rank) first += std::stoull(all[static_cast<std::size_t>(rank)]);
    return first;
  }

  void copy_on(const std::byte* in, std::uint64_t bytes, Stream stream) {
    const std::size_t next = (index() + 1) % static_cast<std::size_t>(ranks());
    check_cuda(cudaMemcpyPeerAsync(common_.received[next], common_.options.devices[next], in, device_, bytes,
                                   stream.handle()),
               "cudaMemcpyPeerAsync");
  }

  void all_to_all(const std::byte* in, std::byte* out, std::uint64_t bytes, Stream stream) {
    std::vector<ShardMessage> messages;
    const std::uint64_t each = bytes / static_cast<std::uint64_t>(ranks() - 1);
    for (int peer = 0; peer < ranks(); ++peer) {
      if (peer != rank_)
        messages.push_back({.peer = peer, .offset_bytes = messages.size() * each, .bytes = each});
    }
    nccl_->exchange(in, messages, out, messages, stream);
  }

  void verify(const Benched& benched, const Contestant& contestant, const cuda::DeviceArray& out,
              std::uint64_t count) {
    check_cuda(cudaMemsetAsync(out.data(), 0xee, out.size(), stream_), "cudaMemsetAsync");
    contestant.run(stream_);
    cuda::DeviceArray wrong(sizeof(unsigned long long), device_);
    auto* const counter = reinterpret_cast<unsigned long long*>(wrong.data());
    check_cuda(cudaMemsetAsync(counter, 0, sizeof *counter, stream_), "cudaMemsetAsync");
    const auto* const part = reinterpret_cast<const std::uint32_t*>(out.data());
    const std::uint64_t first = first_of(count);
    std::optional<cuda::DeviceArray> from;
    if (benched.gather.empty()) {
      count_wrong(part, count, first, benched.source, counter, stream_);
    } else {
      from.emplace(count * sizeof(std::uint32_t), device_);
      from->upload(benched.gather.data() + first);
      count_wrong(part, count, reinterpret_cast<const std::uint32_t*>(from->data()), counter, stream_);
    }
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    unsigned long long found = 0;
    wrong.download(&found);
    for (const std::string& theirs : common_.words[index()]->all_gather(std::to_string(found))) {
      if (theirs == "0") continue;
      fail(ErrorCode::verification, benched.name + ", " + contestant.name, theirs + " wrong elements",
           "what the definition puts there");
    }
  }

  void time(const Benched& benched, const std::vector<Contestant>& contestants,
            const std::vector<std::string>& how, const std::vector<ShardWork>& work) {
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
                               .map = benched.name,
                               .name = contestants[i].name,
                               .ms = median(samples[i]),
                               .least = *least,
                               .most = *most,
                               .work = work[i],
                               .how = how[i]});
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
  // Of small arrays two may be the same.
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

// 1, 2, 4, ... of the devices; strong scaling gives each its share of an array that one of them would hold.
void run_scaling(const ShardsOptions& options, const std::string& scaling, std::vector<ShardLine>& lines) {
  for (std::size_t count = 1, g = 0; count <= options.devices.size(); count *= 2, ++g) {
    ShardsOptions each = options;
    each.devices.resize(count);
    if (scaling == "strong") each.log_bytes -= static_cast<int>(g);
    // One rank has no bit to exchange with.
    if (count == 1)
      std::erase_if(each.maps,
                    [](const std::string& map) { return map.starts_with("exchange") || map == "local"; });
    run_on(each, scaling, lines);
  }
}

int run(const CommandLine& line) {
  const ShardsOptions options = parse(line);
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
  return faro::bench::run_program(count, words, faro::bench::gpu::kUsage, faro::bench::gpu::run);
}
