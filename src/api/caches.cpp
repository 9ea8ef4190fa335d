#include "faro/caches.hpp"

#include <string>

#include "api/array_checks.hpp"
#include "engines/cpu/rows/cache_sweep.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "engines/cuda_rows.hpp"
#include "faro/error.hpp"

namespace faro {
namespace {

bool caches_on_device(std::span<const CacheArrays> arrays, Engine engine) {
  if (engine == Engine::cuda) return true;
  for (const CacheArrays& each : arrays) {
    if (engine == Engine::automatic && (cuda::is_device_memory(each.in) || cuda::is_device_memory(each.out)))
      return true;
    detail::check_on_host(each.in, each.out, "plan for engine cuda, with the tables on the device");
  }
  return false;
}

std::string layout_text(const CacheLayout& layout) {
  return std::to_string(layout.blocks) + " blocks of " + std::to_string(layout.block_tokens) + " tokens, " +
         (layout.head_stride <= layout.token_stride ? "NHD" : "HND") + ", " + name(layout.number);
}

}  // namespace

ExecutableCacheMove::ExecutableCacheMove(const CacheMove& move, std::span<const CacheArrays> arrays,
                                         const CacheOptions& options)
    : move_(move), arrays_(arrays.begin(), arrays.end()), threads_(options.threads) {
  detail::require_cache_move(move, arrays);
  if (caches_on_device(arrays, options.engine))
    on_device_ = std::make_shared<const cuda::CacheExecutor>(move, arrays, options.device);
}

void ExecutableCacheMove::run(const CacheTables& tables, Stream stream) const {
  detail::check_stream(on_gpu() ? Engine::cuda : Engine::cpu, stream);
  if (!on_gpu()) {
    detail::check_on_host(tables.from.data, tables.to.data, "copy the tables to the host");
    return cpu::move_cache(move_, arrays_, tables, threads_);
  }
  detail::require_cache_tables(move_, tables);
  on_device_->run(tables, stream);
}

void ExecutableCacheMove::check(Stream stream) const {
  detail::check_stream(on_gpu() ? Engine::cuda : Engine::cpu, stream);
  if (on_gpu()) on_device_->check(stream);
}

std::string ExecutableCacheMove::explain() const {
  const bool converts = detail::is_converted(move_, arrays_);
  std::string text = "cache         " + std::to_string(arrays_.size()) + " arrays of " +
                     std::to_string(move_.of.heads) + " heads of " + std::to_string(move_.of.width) + "\n" +
                     "  source      " + layout_text(move_.from) + "\n" + "  target      " +
                     layout_text(move_.to) + "\n";
  if (on_gpu()) {
    text += "  engine      cuda, one launch, " + std::to_string(on_device_->piece_bytes()) +
            " bytes read at a time";
  } else {
    text += "  engine      cpu, a block of the target at a time";
  }
  return text + (converts ? ", converted in f32\n" : "\n");
}

ExecutableCacheMove plan_cache_move(const CacheMove& move, std::span<const CacheArrays> arrays,
                                    const CacheOptions& options) {
  return {move, arrays, options};
}

}  // namespace faro
