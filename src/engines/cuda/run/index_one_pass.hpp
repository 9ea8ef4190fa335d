// What the passes of index_simple_kernels.hpp are made of: a pass's state, launches of any length, arrays
// that begin anywhere. Internal to these sources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/run/index_simple_kernels.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "rounding.hpp"

namespace faro::cuda {

/// A pass that does nothing.
OnePass nothing(std::uint64_t element_bytes);

/// Launches of at most kMaxGridBlocks; `first` is the params' own field that says where a launch begins, in
/// steps of `per_block`.
template <typename Params, typename... Pointers>
void launch_blocks(const KernelEntry& entry, Params& params, std::uint64_t& first, std::uint64_t blocks,
                   std::uint64_t per_block, Stream stream, Pointers... pointers) {
  for (std::uint64_t done = 0; done < blocks; done += kMaxGridBlocks) {
    first = done * per_block;
    void* arguments[] = {&params, &pointers...};
    cuda::launch(entry, std::min(kMaxGridBlocks, blocks - done), arguments, stream, {.begun = done > 0});
  }
}

/// Params whose arrays begin where the launch's do.
template <typename Params>
void place(Params& params, std::uint32_t in_skew, std::uint32_t out_skew) {
  params.in = {.begin = in_skew, .end = in_skew + params.in.end};
  params.out = {.begin = out_skew, .end = out_skew + params.out.end};
}

struct OnePass::State {
  explicit State(std::uint64_t unit) : unit_bytes(unit) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  virtual void launch(const void* in, void* out, Stream stream) const = 0;
  virtual std::vector<KernelEntry> entries() const = 0;
  virtual std::uint64_t table_bytes() const { return 0; }

  std::uint64_t unit_bytes;
};

/// Nothing to do, or only to copy.
struct CopyPass : OnePass::State {
  CopyPass(std::uint64_t unit, std::uint64_t length) : State(unit), bytes(length) {}

  void launch(const void* in, void* out, Stream stream) const override {
    if (bytes == 0) return;
    launch_copy(out, in, bytes, stream);
  }
  std::vector<KernelEntry> entries() const override { return {}; }

  std::uint64_t bytes;
};

/// Kernels that take any alignment to the unit: one for a wider unit where both arrays have it.
template <typename Params>
struct MovedPass : OnePass::State {
  struct Variant {
    Params params{};
    KernelEntry entry;
    std::uint64_t unit_bytes = 1;
  };

  using State::State;

  void launch(const void* in, void* out, Stream stream) const override {
    for (const Variant& variant : variants) {
      if (!aligned(in, out, variant.unit_bytes)) continue;
      const Address from = split(in);
      const Address to = split(out);
      Params params = variant.params;
      place(params, from.skew, to.skew);
      run(variant.entry, params, stream, from.base, to.base);
      return;
    }
  }
  virtual void run(const KernelEntry& entry, Params& params, Stream stream, const std::byte* in,
                   const std::byte* out) const {
    const auto threads = static_cast<std::uint64_t>(entry.threads);
    launch_blocks(entry, params, params.first_vector, faro::detail::ceil_div(params.vectors(), threads),
                  threads, stream, in, out);
  }
  std::vector<KernelEntry> entries() const override { return {variants.front().entry}; }

  std::vector<Variant> variants;  // the widest first; the last is for the pass's own unit
};

}  // namespace faro::cuda
