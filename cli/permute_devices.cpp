// faro permute SPEC IN.npy OUT.npy --engine cuda --devices 0,1: each GPU holds a part of the array. Parts are
// blocks of the file on both sides.

#include <chrono>

#include "cli/arguments.hpp"
#include "cli/file_problem.hpp"
#include "cli/host_run.hpp"
#include "cli/progress.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/shards.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

void check_device_options(const PermuteOptions& options) {
  const std::string other = first_given(
      {{"another engine than cuda", options.common.engine != "cuda"},
       {"--in-place", options.in_place},
       {"--map", !options.map.empty()},
       {"--plan-cache", !options.plan_cache.empty()},
       {"--memory or --resume", !options.memory.empty() || options.resume},
       {"--order F", options.order != "C"},
       {"--device, --piece-bytes or --device-bytes",
        !options.common.device.empty() || !options.piece_bytes.empty() || !options.device_bytes.empty()},
       {"a strided view", options.view.has_value()}});
  if (!other.empty()) {
    fail(ErrorCode::unsupported, "permute --devices", other,
         "--engine cuda --devices with SPEC IN.npy OUT.npy", "one device takes all options");
  }
  require_two_files(options);
}

// A part of an array on each device; what is empty has a byte, for an address.
class DeviceParts {
 public:
  void add(std::uint64_t bytes, int device) {
    sizes_.push_back(bytes);
    arrays_.emplace_back(std::max<std::uint64_t>(bytes, 1), device);
  }
  std::vector<void*> addresses() const {
    std::vector<void*> made;
    for (const cuda::DeviceArray& array : arrays_) made.push_back(array.data());
    return made;
  }
  // One part behind the other, as they lie in the file.
  void upload(const std::byte* from) {
    for (std::size_t i = 0; i < arrays_.size(); from += sizes_[i++]) {
      if (sizes_[i] > 0) arrays_[i].upload(from);
    }
  }
  void download(std::byte* to) const {
    for (std::size_t i = 0; i < arrays_.size(); to += sizes_[i++]) {
      if (sizes_[i] > 0) arrays_[i].download(to);
    }
  }

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<cuda::DeviceArray> arrays_;
};

}  // namespace

void permute_devices(const PermuteOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_device_options(options);
  require_one_process("permute", options.common.json);
  const std::vector<std::shared_ptr<Communicator>> communicators = options.devices.communicators();
  const std::vector<int> devices = options.devices.ordinals();
  const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  progress.step("reading " + options.in, bytes_of_file(options.in));
  const io::NpyInput input(options.in, progress.advance());
  const FileProblem asked = file_problem_of(options, input.header());
  const ShardProblem problem = shard_problem(
      {.read = asked.read(), .problem = asked.problem, .ranks = static_cast<int>(devices.size())}, {});
  progress.step("planning " + options.spec);
  PeerShards peers = PeerShards::over(communicators, problem, {}, options.devices.ways());
  DeviceParts in;
  DeviceParts out;
  for (int rank = 0; rank < peers.ranks(); ++rank) {
    in.add(peers.plan(rank).in_bytes(), devices[static_cast<std::size_t>(rank)]);
    out.add(peers.plan(rank).out_bytes(), devices[static_cast<std::size_t>(rank)]);
  }
  // The shape is that of what an index array was recognised as.
  const std::vector<std::uint64_t> shape = asked.shape_after(Plan(asked.problem, cuda::target(devices[0])));
  io::NpyOutput output(options.out, input.header().descr, shape, input.header().item_bytes);
  in.upload(input.data().data());
  progress.step("permuting " + size_text(input.data().size()));
  const std::vector<void*> in_addresses = in.addresses();
  const auto begin = std::chrono::steady_clock::now();
  peers.run(std::vector<const void*>(in_addresses.begin(), in_addresses.end()), out.addresses(),
            std::vector<Stream>(devices.size()));
  out.download(output.data().data());
  const double ms = milliseconds_since(begin);
  if (options.verify) {
    progress.step("verifying " + size_text(input.data().size()));
    verify(asked.problem, input.data().data(), output.data().data(),
           options.common.plan_options(asked.problem.element_bytes).threads);
  }
  output.finish(progress.advance());
  progress.end();
  const RanksTold told{.elements = asked.elements,
                       .ranks = count_text(devices.size(), "device"),
                       .by = communicators.front()->name() == "NCCL" ? "by NCCL" : "",
                       .plan = peers.plan(0),
                       .bytes = input.data().size(),
                       .milliseconds = ms,
                       .total_ms = milliseconds_since(start)};
  tell_ranks(options, told, [&] {
    return ranks_json(options,
                      {.spec = to_text(asked.problem.permutation),
                       .shape = shape,
                       .elements = element_count(problem.permutation),
                       .element_bytes = problem.element_bytes,
                       .bytes = told.bytes},
                      *communicators.front(), &peers.sharded(0));
  });
  output.commit();
}

}  // namespace faro::cli
