// Two ways for ranks on GPUs that are faster than pack, exchange and unpack one after the other.
//
//     StoredShards     one kernel reads a rank's part and writes straight into the arrays of all ranks
//
//     SlicedShards     pack      0 1 2 3            messages in slices: while one crosses the links, the next is
//                      exchange    0 1 2 3          packed, and the one before unpacked
//                      unpack        0 1 2 3
//
// Stores whose output is unpacked behind them go in slices, too: a slice is stored while the one before is
// unpacked. Where no tile holds elements of several messages, what a rank keeps is neither packed nor
// unpacked: it goes straight to the output while the links work. Kernels of the links want whole
// multiprocessors, so the passes beside them leave some free.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engines/cuda_parts.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/shards.hpp"
#include "shard/row_copies.hpp"

namespace faro::detail {

class StoredShards {
 public:
  /// None where the plan has no such way, or no kernel. Rows are packed within `most_bytes`; kernels store
  /// the others. Errors: ErrorCode::device for a failed call.
  static std::optional<StoredShards> make(const ShardPlan& plan, int device, std::uint64_t most_bytes);

  /// Into `mine` of all ranks: the outputs, or what is unpacked. `slices`: as many as the others store it in.
  void run(const void* in, void* mine, PeerMemory& memory, Stream stream, std::size_t slices = 1);
  /// The same into arrays that are open, by rank; and `stream` behind what is queued beside it.
  void start(const void* in, const std::vector<std::byte*>& arrays, Stream stream);
  void join(Stream stream);

  std::string kernel() const;
  /// Who writes to the peers, as the subject of a sentence and its verb.
  const char* writers() const;
  std::uint64_t workspace_bytes() const { return workspace_ ? workspace_->size() : 0; }

 private:
  StoredShards() = default;

  struct View {
    int peer = 0;
    cuda::PeerView view;
    cuda::SideStream side;
  };
  // A view over links whose output is long rows: packed by kernels, and copied by copy engines meanwhile, or
  // copied from the input.
  struct Copied {
    int peer = 0;
    std::vector<cuda::PeerView> packing;  // by slice; none where rows are copied from the input
    std::vector<RowCopies::Slice> rows;   // likewise
    std::uint64_t first = 0;              // of the workspace, in elements
    cuda::SideStream side;
  };
  void start_views(const void* in, const std::vector<std::byte*>& arrays, Stream stream);

  int device_ = 0;
  std::uint64_t width_ = 0;
  std::optional<cuda::PartExecutor> tiles_;  // for aligned arrays
  std::optional<cuda::PartExecutor> units_;
  std::vector<View> views_;
  std::vector<Copied> copied_;
  std::optional<cuda::DeviceArray> workspace_;
};

/// Slices of a message that are sent together.
struct SliceGroup {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
};

/// Groups of 2^slice_bits slices: each alone, or with `short_ends`, of eight or more, 1, 3, 3 and 1 eighths
/// of the message. Little is packed before the first goes, little is unpacked after the last, and the links
/// begin anew three times only.
std::vector<SliceGroup> slice_groups(int slice_bits, bool short_ends);

class SlicedShards {
 public:
  struct Buffers {
    std::byte* to_send = nullptr;
    std::byte* received = nullptr;
  };
  struct Choice {
    int slice_bits = 0;            // at most
    int link_multiprocessors = 0;  // that the passes leave free while the links work
    bool short_ends = false;       // slice_groups()
    bool registered = false;       // NCCL has no buffers of its own between
    bool in_place = false;         // what the rank keeps may not be written while it is read
    /// Packing stores at the peers, on `link_multiprocessors`; the other passes have the rest meanwhile.
    bool stored = false;
  };
  /// None where the plan has no slices, or no kernel for them. Without passes one slice, and what the rank
  /// keeps is copied meanwhile.
  static std::optional<SlicedShards> make(const ShardPlan& plan, int device, const Choice& choice);

  /// Whether the passes' kernels take these arrays; pack_whole() and unpack_whole() of the caller else.
  bool takes(const void* in, const void* out) const;

  template <typename PackWhole, typename UnpackWhole>
  void run(const void* in, void* out, const Buffers& buffers, Communicator& communicator, Stream stream,
           const PackWhole& pack_whole, const UnpackWhole& unpack_whole);

  /// The same by stores into `received` of all ranks, of a choice with `stored`. Requires: takes(in, out).
  void run_stored(const void* in, void* out, std::byte* received, PeerMemory& memory, Stream stream);

  /// The steps of run() by views, for arrays that go together: slice `k` packed, exchanged and unpacked, and
  /// what the rank keeps.
  bool is_by_views() const { return by_views_; }
  void pack_slice(std::size_t k, const void* in, const Buffers& buffers, Stream stream) const;
  void exchange_slice(std::size_t k, const void* in, void* out, const Buffers& buffers,
                      Communicator& communicator, Stream stream) const;
  void keep_views(const void* in, void* out, Stream stream) const;
  void unpack_slice(std::size_t k, void* out, const Buffers& buffers, Stream stream) const;
  /// Where passes go on beside links that have `link_multiprocessors` (ShardWays); none where the driver does
  /// not part the device, or all take all.
  static std::optional<cuda::SideStream> beside_links(int device, int link_multiprocessors);

  std::size_t slices() const { return sends_.size(); }
  /// Whether what the rank keeps goes to the output in one pass, without packing and unpacking.
  bool keeps_directly() const { return own_pass_.has_value() || !own_views_.empty(); }

 private:
  // A pass by slices, and by the messages in them where the rank's own is left out: on all multiprocessors,
  // and on those that are not the links'.
  struct Pass {
    cuda::PartExecutor on_all;
    cuda::PartExecutor beside_links;
    int slice_bits = 0;
    int message_bits = 0;     // log2 of the messages that distinguish slices; 0: none
    bool by_message = false;  // a message's slices are numbered one after the other; else a slice's messages
    std::optional<std::uint64_t> left_out = {};  // the number of the rank's own
  };

  SlicedShards(const ShardPlan& plan, int device);
  bool make_passes(const ShardPlan& plan, const Choice& choice, bool directly);
  // For slabs and blocks: boxes of other ranks are packed, sent and unpacked, those of this rank copied
  // meanwhile. Slices are of a box's slowest axis.
  void make_views(const ShardPlan& plan, const Choice& choice);
  void run_views(const void* in, void* out, const Buffers& buffers, Communicator& communicator,
                 Stream stream);
  // `few`: multiprocessors that it takes beside the links; 0: all.
  std::optional<Pass> make_pass(const PartProblem& problem, int few) const;
  void cut(const ShardPlan& plan, std::uint64_t slices, std::vector<SliceGroup> groups);
  void find_slots(const ShardPlan& plan, const Affine& map, const Affine& pack);

  void run_slices(const Pass& pass, const void* in, const std::vector<std::byte*>& arrays,
                  const SliceGroup& slices, bool beside_links, Stream stream) const;
  void pack_group(const void* in, const std::vector<std::byte*>& arrays, const SliceGroup& group,
                  bool beside_links, Stream stream) const;
  void keep_own(const void* in, const std::byte* from, void* out, std::byte* to, Stream stream) const;
  void copy_own(const std::byte* from, std::byte* to, Stream stream) const;
  // Where packing writes the message for each rank; this rank's own goes to where it is received.
  std::vector<std::byte*> pack_arrays(std::byte* to_send, std::byte* target) const;

  int device_ = 0;
  int rank_ = 0;
  bool packs_ = false;
  bool unpacks_ = false;
  std::optional<Pass> pack_;
  std::optional<Pass> unpack_;
  std::optional<cuda::PartExecutor> own_pass_;  // slices are messages
  bool by_views_ = false;
  std::vector<std::vector<cuda::PeerView>> pack_views_;  // by slice
  std::vector<std::vector<cuda::PeerView>> unpack_views_;
  std::vector<cuda::PeerView> own_views_;
  std::uint64_t own_message_ = 0;
  std::uint64_t slice_moved_by_ = 0;   // pack's slice of message slice 0
  std::vector<std::int64_t> sent_at_;  // by rank: where its message begins, less its slot there
  std::vector<ShardMessage> own_sends_;
  std::vector<ShardMessage> own_receives_;
  std::vector<SliceGroup> groups_;
  std::vector<std::vector<ShardMessage>> sends_;  // by slice
  std::vector<std::vector<ShardMessage>> receives_;
  cuda::SideStream links_;
  std::optional<cuda::SideStream> passes_;  // of views, on what is not the links'
  cuda::SideStream signals_;                // where the others' stores are waited for
};

template <typename PackWhole, typename UnpackWhole>
void SlicedShards::run(const void* in, void* out, const Buffers& buffers, Communicator& communicator,
                       Stream stream, const PackWhole& pack_whole, const UnpackWhole& unpack_whole) {
  if (by_views_) return run_views(in, out, buffers, communicator, stream);
  auto* const target = unpacks_ ? buffers.received : static_cast<std::byte*>(out);
  const auto* const from = packs_ ? buffers.to_send : static_cast<const std::byte*>(in);
  const bool by_slices = takes(in, out);
  const std::vector<std::byte*> arrays = pack_arrays(buffers.to_send, target);
  links_.follow(stream);
  for (std::size_t k = 0; k < slices(); ++k) {
    if (packs_ && by_slices) {
      pack_group(in, arrays, groups_[k], k > 0, stream);
    } else if (packs_ && k == 0) {
      pack_whole();
    }
    if (packs_) links_.follow(stream);
    communicator.exchange(from, sends_[k], target, receives_[k], links_.stream());
    links_.mark(k);
  }
  if (!by_slices) {
    copy_own(from, target, stream);
  } else if (!packs_ || keeps_directly()) {
    keep_own(in, from, out, target, stream);
  }
  for (std::size_t k = 0; k < slices(); ++k) {
    links_.lead(stream, k);
    if (unpacks_ && by_slices)
      run_slices(*unpack_, target, {static_cast<std::byte*>(out)}, groups_[k], k + 1 < slices(), stream);
  }
  if (unpacks_ && !by_slices) unpack_whole();
}

}  // namespace faro::detail
