// What a rank does and has by itself: passes over its part, as plans of the engine, and memory for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/faro.hpp"
#include "faro/shards.hpp"
#include "io/buffer.hpp"

namespace faro::detail {

// A local pass, from array to array. Nothing: no pass.
class LocalPass {
 public:
  LocalPass(const ShardPass& pass, std::uint64_t elements, std::uint64_t width, const PlanOptions& options)
      : elements_(elements), width_(width) {
    if (elements == 0 || pass.is_nothing()) return;
    if (pass.permutation) {
      PlanOptions own = options;
      if (pass.keeps_order) own.index_choice.method = IndexMethod::direct;
      whole_.emplace(faro::plan(*pass.permutation, width, own));
      return;
    }
    for (const Strided& view : pass.views) views_.push_back(faro::plan(view, width, options));
  }

  void run(const std::byte* in, std::byte* out, Stream stream) const {
    if (whole_) whole_->run(in, out, elements_ * width_, stream);
    for (const ExecutablePlan& view : views_) view.run(in, elements_, out, elements_, stream);
  }

  std::string explain() const {
    if (whole_) return whole_->explain();
    return views_.empty() ? "" : views_.front().explain();
  }

 private:
  std::uint64_t elements_;
  std::uint64_t width_;
  std::optional<ExecutablePlan> whole_;
  std::vector<ExecutablePlan> views_;
};

// Memory of the engine, or none.
class Staging {
 public:
  Staging(std::uint64_t bytes, Engine engine, int device) : bytes_(bytes) {
    if (bytes == 0) return;
    if (engine == Engine::cuda) {
      on_device_.emplace(bytes, device);
      data_ = on_device_->data();
      return;
    }
    require_memory("make a plan of shards", "its workspace", bytes);
    on_host_ = std::make_unique<io::Buffer>(bytes);
    data_ = on_host_->data();
  }
  // The communicator's.
  Staging(std::uint64_t bytes, std::shared_ptr<std::byte> given)
      : bytes_(bytes), given_(std::move(given)), data_(given_.get()) {}

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  bool is_given() const { return given_ != nullptr; }

 private:
  std::uint64_t bytes_;
  std::shared_ptr<std::byte> given_;
  std::unique_ptr<io::Buffer> on_host_;
  std::optional<cuda::DeviceArray> on_device_;
  std::byte* data_ = nullptr;
};

}  // namespace faro::detail
