// Two ways for ranks on GPUs that are faster than pack, exchange and unpack one after the other.
//
//     StoredShards     one kernel reads a rank's part and writes straight into the arrays of all ranks
//
//     SlicedShards     pack      0 1 2 3            messages in slices: while one crosses the links, the next is
//                      exchange    0 1 2 3          packed, and the one before unpacked
//                      unpack        0 1 2 3
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engines/cuda_parts.hpp"
#include "faro/shards.hpp"

namespace faro::detail {

/// log2 of the width and what a unit has of it; none for widths that are no power of two.
struct ShardUnit {
  int unit_bits = 0;      // log2 of a unit's bytes, at most 16
  int extended_bits = 0;  // log2 of the units of an element
};
std::optional<ShardUnit> shard_unit(std::uint64_t element_bytes);

class StoredShards {
 public:
  /// None where the plan has no such way, or no kernel. Errors: ErrorCode::device for a failed call.
  static std::optional<StoredShards> make(const ShardPlan& plan, int device);

  /// Into `mine` of all ranks: the outputs, or what is unpacked.
  void run(const void* in, void* mine, PeerMemory& memory, Stream stream);

  std::string kernel() const;

 private:
  StoredShards() = default;

  struct View {
    int peer = 0;
    cuda::PeerView view;
    cuda::SideStream side;
  };
  std::optional<cuda::PartExecutor> tiles_;  // for aligned arrays
  std::optional<cuda::PartExecutor> units_;
  std::vector<View> views_;
};

class SlicedShards {
 public:
  struct Buffers {
    std::byte* to_send = nullptr;
    std::byte* received = nullptr;
  };
  /// Of 2^slice_bits slices at most; one where there are no passes; none where the plan has no slices, or no
  /// kernel for them. The passes leave `link_multiprocessors` free.
  static std::optional<SlicedShards> make(const ShardPlan& plan, int device, int slice_bits,
                                          int link_multiprocessors);

  /// Whether the passes' kernels take these arrays; pack_whole() and unpack_whole() of the caller else.
  bool takes(const void* array) const;

  template <typename PackWhole, typename UnpackWhole>
  void run(const void* in, void* out, const Buffers& buffers, Communicator& communicator, Stream stream,
           const PackWhole& pack_whole, const UnpackWhole& unpack_whole);

  std::size_t slices() const { return sends_.size(); }

 private:
  SlicedShards(const ShardPlan& plan, int device);
  void cut(const ShardPlan& plan, std::uint64_t slices);

  // Where packing writes the message for each rank; this rank's own goes to where it is received.
  std::vector<std::byte*> pack_arrays(std::byte* to_send, std::byte* target) const;
  void keep_own(const std::byte* from, std::byte* to, Stream stream) const;

  int device_ = 0;
  int rank_ = 0;
  bool packs_ = false;
  bool unpacks_ = false;
  std::optional<cuda::PartExecutor> pack_;
  std::optional<cuda::PartExecutor> unpack_;
  std::uint64_t slice_moved_by_ = 0;  // pack's slice of message slice 0
  std::vector<std::int64_t> sent_at_; // by rank: where its message begins, less its slot there
  std::vector<ShardMessage> own_sends_;
  std::vector<ShardMessage> own_receives_;
  std::vector<std::vector<ShardMessage>> sends_;  // by slice
  std::vector<std::vector<ShardMessage>> receives_;
  cuda::SideStream links_;
};

template <typename PackWhole, typename UnpackWhole>
void SlicedShards::run(const void* in, void* out, const Buffers& buffers, Communicator& communicator,
                       Stream stream, const PackWhole& pack_whole, const UnpackWhole& unpack_whole) {
  auto* const target = unpacks_ ? buffers.received : static_cast<std::byte*>(out);
  const auto* const from = packs_ ? buffers.to_send : static_cast<const std::byte*>(in);
  const bool packs_slices = packs_ && takes(in);
  const std::vector<std::byte*> arrays = pack_arrays(buffers.to_send, target);
  links_.follow(stream);
  for (std::size_t k = 0; k < slices(); ++k) {
    if (packs_slices) {
      pack_->run(in, arrays, {.first = k ^ slice_moved_by_, .count = 1}, stream);
    } else if (packs_ && k == 0) {
      pack_whole();
    }
    if (packs_) links_.follow(stream);
    communicator.exchange(from, sends_[k], target, receives_[k], links_.stream());
    links_.mark(k);
  }
  if (!packs_slices) keep_own(from, target, stream);
  const bool unpacks_slices = unpacks_ && takes(out);
  for (std::size_t k = 0; k < slices(); ++k) {
    links_.lead(stream, k);
    if (unpacks_slices) {
      std::byte* const whole = static_cast<std::byte*>(out);
      unpack_->run(target, {&whole, 1}, {.first = k, .count = 1}, stream);
    }
  }
  if (unpacks_ && !unpacks_slices) unpack_whole();
}

}  // namespace faro::detail
