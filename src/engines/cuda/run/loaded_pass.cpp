#include "engines/cuda/run/loaded_pass.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::cuda {
namespace {

namespace plan = faro::detail;
using plan::GpuKernel;
using plan::GpuPass;

constexpr const char* kFewerBlocks = "choose larger chunks, or split the batch";

// --- from identity to entry

struct EntryOf {
  KernelEntry operator()(const plan::AxesTileKernel& k) const {
    return axes_tile_kernel(k.unit_bytes, k.in_vector, k.out_vector);
  }
  KernelEntry operator()(const plan::AxesLinesKernel& k) const { return axes_lines_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::AxesPlaneKernel& k) const {
    return axes_plane_kernel(k.shape, k.aligned);
  }
  KernelEntry operator()(const plan::AxesTurnedKernel& k) const {
    return axes_turned_kernel(k.shape, k.words);
  }
  KernelEntry operator()(const plan::AxesSkinnyKernel& k) const { return axes_skinny_kernel(k.shape); }
  KernelEntry operator()(const plan::AxesRowsKernel& k) const { return axes_rows_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::CyclicKernel& k) const {
    return cyclic_kernel(k.unit_bytes, k.reversed, k.several_units);
  }
  KernelEntry operator()(const plan::WindowKernel& k) const {
    return window_kernel(k.unit_bytes, k.backwards, k.vectors, k.direct);
  }
  KernelEntry operator()(const plan::RunsKernel& k) const { return runs_kernel(k.unit_bytes); }
  KernelEntry operator()(const plan::DirectKernel& k) const {
    return direct_kernel(k.unit_bytes, k.index_bytes, k.way, k.kind);
  }
  KernelEntry operator()(const plan::LevelKernel& k) const {
    if (k.variant == plan::LevelKernel::kInGlobal) return level_in_global_kernel(k.unit.unit_bytes, k.way);
    return level_kernel(k.unit, k.way, k.variant);
  }
  KernelEntry operator()(const plan::ChunkKernel& k) const {
    if (k.place == plan::ChunkPlace::in_global) return chunk_in_global_kernel(k.unit.unit_bytes, k.way);
    return chunk_kernel(k.unit, k.way, k.place == plan::ChunkPlace::large);
  }
  KernelEntry operator()(const plan::ColumnsKernel& k) const {
    return k.in_global ? columns_in_global_kernel(k.unit_bytes, k.way) : columns_kernel(k.unit_bytes, k.way);
  }
  template <typename Other>
  KernelEntry operator()(const Other& /*of program.hpp and its like*/) const {
    return {};
  }
};

Carveout carveout_of(plan::Carveout wanted) {
  switch (wanted) {
    case plan::Carveout::driver:
      return Carveout::driver;
    case plan::Carveout::needed:
      return Carveout::needed;
    case plan::Carveout::shared:
      break;
  }
  return Carveout::shared;
}

KernelEntry load(const GpuKernel& kernel) {
  const KernelEntry entry = std::visit(EntryOf(), kernel.id);
  FARO_CHECK(entry.function != nullptr && entry.threads == kernel.threads);
  return loaded(entry, kernel.shared_bytes, carveout_of(kernel.carveout));
}

// --- what addresses add to the params

// Both sides of a launch.
struct Sides {
  const std::byte* in;
  const std::byte* out;
};

template <typename Params>
void place(Params& params, std::uint32_t in_skew, std::uint32_t out_skew) {
  params.in = {.begin = in_skew, .end = in_skew + params.in.end};
  params.out = {.begin = out_skew, .end = out_skew + params.out.end};
}

template <typename Params>
void place_vectors(Params& params, Sides& sides, std::uint64_t out_alignment) {
  const Address from = split(sides.in);
  const Address to = split(sides.out, out_alignment);
  place(params, from.skew, to.skew);
  sides = {from.base, to.base};
}

void patch(kernels::AxesLinesParams& params, Sides& sides, const GpuPass& /*pass*/) {
  place_vectors(params, sides, kernels::kLineSector);
}
void patch(kernels::AxesRowsParams& params, Sides& sides, const GpuPass& /*pass*/) {
  place_vectors(params, sides, kVector);
}
void patch(kernels::CyclicParams& params, Sides& sides, const GpuPass& /*pass*/) {
  place_vectors(params, sides, kVector);
}
void patch(kernels::RunsParams& params, Sides& sides, const GpuPass& /*pass*/) {
  place_vectors(params, sides, kVector);
}
void patch(kernels::WindowParams& params, Sides& sides, const GpuPass& /*pass*/) {
  const Address from = split(sides.in);
  const Address to = split(sides.out);
  params.in = {.begin = from.skew, .end = from.skew + params.in.end};
  params.out_skew = to.skew;
  sides = {from.base, to.base};
}
void patch(kernels::PartitionParams& params, Sides& sides, const GpuPass& pass) {
  const bool runs_written = pass.kind == PassKind::spread;
  const std::byte* const runs = runs_written ? sides.out : sides.in;
  const std::uintptr_t chunks =
      pass.in_place ? addresses(sides.in, sides.out) : address(runs_written ? sides.in : sides.out);
  if (chunks % kVector != 0) params.vectors = 0;
  const std::uint64_t unit_bytes = pass.kernels.front().in_alignment;
  params.run_skew = static_cast<std::uint32_t>(address(runs) % kernels::kLineBytes / unit_bytes);
}
template <typename Params>
void patch(Params& /*params*/, Sides& /*sides*/, const GpuPass& /*pass*/) {}

// The blocks of a launch: those of the plan, or one more where the vectors of an output that begins inside
// one are one more.
template <typename Params>
std::uint64_t blocks_of(const Params& params, const GpuKernel& kernel, std::uint64_t planned) {
  if constexpr (requires { params.vectors(); }) {
    return plan::ceil_div(params.vectors(), kernel.first_step);
  } else {
    return planned;
  }
}

// Where a launch begins among the blocks of all.
template <typename Params>
void begin_at(Params& params, std::uint64_t first) {
  if constexpr (requires { params.first_tile; }) params.first_tile = first;
  if constexpr (requires { params.first_block; }) params.first_block = first;
  if constexpr (requires { params.first_vector; }) params.first_vector = first;
}

}  // namespace

LoadedPass::LoadedPass(GpuPass pass, std::vector<const void*> tables)
    : pass_(std::move(pass)), tables_(std::move(tables)) {
  FARO_CHECK(tables_.size() == pass_.tables.size() && pass_.launched == plan::Kernels::first_aligned);
  for (const GpuKernel& kernel : pass_.kernels) {
    entries_.push_back(load(kernel));
    if (kernel.first_step == 0) require_grid(pass_.kernels.front().blocks, "run", kFewerBlocks);
  }
}

const GpuKernel& LoadedPass::choose(const std::byte* in, const std::byte* out, KernelEntry& entry) const {
  require_aligned(addresses(in, out), pass_.kernels.back().in_alignment);
  std::size_t i = 0;
  while (i + 1 < pass_.kernels.size() && (address(in) % pass_.kernels[i].in_alignment != 0 ||
                                          address(out) % pass_.kernels[i].out_alignment != 0)) {
    ++i;
  }
  entry = entries_[i];
  return pass_.kernels[i];
}

void LoadedPass::launch(const std::byte* in, std::byte* out, const Arrays& arrays, Stream stream,
                        const LaunchWords& words) const {
  if (pass_.kernels.empty()) {
    if (pass_.copy_bytes > 0) launch_copy(out, in, pass_.copy_bytes, stream, words);
    return;
  }
  KernelEntry entry;
  const GpuKernel& kernel = choose(in, out, entry);
  LaunchWords now = words;
  const auto launch_with = [&](auto params, Sides sides, std::uint64_t planned) {
    patch(params, sides, pass_);
    const std::uint64_t blocks = blocks_of(params, kernel, planned);
    std::array<const void*, 3> tables{};
    std::copy(tables_.begin(), tables_.end(), tables.begin());
    void* arguments[] = {&params, &sides.in, &sides.out, tables.data(), &tables[1], &tables[2]};
    for (std::uint64_t done = 0; done < blocks; done += kMaxGridBlocks) {
      if (kernel.first_step > 0) begin_at(params, done * kernel.first_step);
      cuda::launch(entry, std::min(kMaxGridBlocks, blocks - done), arguments, stream, now);
      now.begun = true;
    }
  };
  const auto launch_all = [&](const auto& params) {
    if (!pass_.blocks_of_one_array) {
      if (kernel.first_step == 0) require_grid(kernel.blocks, "run", kFewerBlocks);
      launch_with(params, {in, out}, kernel.blocks);
      return;
    }
    const std::uint64_t most = kMaxGridBlocks / kernel.blocks;
    for (std::uint64_t first = 0; first < arrays.count; first += most) {
      launch_with(params, {in + first * arrays.bytes, out + first * arrays.bytes},
                  kernel.blocks * std::min(most, arrays.count - first));
    }
  };
  std::visit(launch_all, kernel.params);
}

std::vector<KernelResources> LoadedPass::resources() const {
  if (entries_.empty()) return {};
  return {resources_of(entries_.front())};
}

}  // namespace faro::cuda
