// Arrays of a device by a communicator of the host's: what is sent is copied to the host, exchanged there,
// and copied to where it belongs.
#include <algorithm>
#include <utility>

#include "engines/cuda_parts.hpp"
#include "faro/communicator.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"

namespace faro {
namespace {

class StagedCommunicator : public Communicator {
 public:
  StagedCommunicator(std::shared_ptr<Communicator> host, int device)
      : host_(std::move(host)), device_(cuda::target(device).device) {}

  int ranks() const override { return host_->ranks(); }
  int rank() const override { return host_->rank(); }
  std::string name() const override { return host_->name() + ", staged"; }
  Engine memory() const override { return Engine::cuda; }
  int device() const override { return device_; }
  Communicator* host() override { return host_.get(); }

  void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                std::span<const ShardMessage> receives, Stream stream) override {
    const auto* const source = static_cast<const std::byte*>(from);
    auto* const target = static_cast<std::byte*>(to);
    const auto is_own = [this](const ShardMessage& each) { return each.peer == rank(); };
    const std::vector<ShardMessage> sent = packed(sends);
    const std::vector<ShardMessage> received = packed(receives);
    std::byte* const out = to_send_.of_bytes(bytes_of(sent));
    std::byte* const in = received_.of_bytes(bytes_of(received));
    std::size_t next = 0;
    for (const ShardMessage& each : sends) {
      if (is_own(each)) continue;
      cuda::copy_between(source + each.offset_bytes, out + sent[next].offset_bytes, each.bytes, device_,
                         stream);
      ++next;
    }
    auto own = sends.begin();
    for (const ShardMessage& each : receives) {
      if (!is_own(each)) continue;
      own = std::find_if(own, sends.end(), is_own);
      FARO_CHECK(own != sends.end() && own->bytes == each.bytes);
      cuda::copy_between(source + own->offset_bytes, target + each.offset_bytes, each.bytes, device_, stream);
      ++own;
    }
    cuda::finish(device_, stream);
    host_->exchange(out, sent, in, received, {});
    next = 0;
    for (const ShardMessage& each : receives) {
      if (is_own(each)) continue;
      cuda::copy_between(in + received[next].offset_bytes, target + each.offset_bytes, each.bytes, device_,
                         stream);
      ++next;
    }
    cuda::finish(device_, stream);
  }

  std::vector<std::string> all_gather(const std::string& mine) override { return host_->all_gather(mine); }
  void wait(Stream stream) override { cuda::finish(device_, stream); }
  void abort(const std::string& why) noexcept override { host_->abort(why); }

 private:
  // Those of other ranks, one behind the other.
  std::vector<ShardMessage> packed(std::span<const ShardMessage> messages) const {
    std::vector<ShardMessage> made;
    std::uint64_t at = 0;
    for (const ShardMessage& each : messages) {
      if (each.peer == rank()) continue;
      made.push_back({.peer = each.peer, .offset_bytes = at, .bytes = each.bytes});
      at += each.bytes;
    }
    return made;
  }
  static std::uint64_t bytes_of(const std::vector<ShardMessage>& messages) {
    return messages.empty() ? 0 : messages.back().offset_bytes + messages.back().bytes;
  }

  std::shared_ptr<Communicator> host_;
  int device_;
  cuda::PinnedArray to_send_;
  cuda::PinnedArray received_;
};

}  // namespace

std::shared_ptr<Communicator> staged_communicator(std::shared_ptr<Communicator> host, int device) {
  constexpr const char* kMake = "make a staged communicator";
  if (host == nullptr) fail(ErrorCode::value, kMake, "no communicator", "one of the host's arrays");
  if (host->memory() != Engine::cpu)
    fail(ErrorCode::value, kMake, "one of devices' arrays", "one of the host's arrays", "use it as it is");
  return std::make_shared<StagedCommunicator>(std::move(host), device);
}

}  // namespace faro
