// Permutations of an array that is spread over ranks: GPUs of a host, processes, hosts.
//
//     faro::ShardProblem problem{.permutation = faro::maps::bit_reversal(30), .element_bytes = 4,
//                                .shards = {.ranks = 8, .rank = communicator->rank()}};
//     faro::ShardedPlan plan(faro::ShardPlan(problem), communicator);      // on every rank
//     plan.run(my_part_in, in_bytes, my_part_out, out_bytes);              // on every rank
//
// Each rank holds a part of the array. Four ways in which parts are cut, for input and output alike:
//
//     ShardBits{{2, 3}}          4 ranks, index bits 3 2 are the rank: rank 1 holds 4 5 6 7 of 16 elements
//     ShardBits{{0, 1}}                                                rank 1 holds 1 5 9 13
//     ShardAxis{0, {3, 1, 0}}    3 ranks, slabs of 3, 1 and 0 rows of the array's axis 0
//     ShardAxis{1}               slabs of axis 1, as even as can be; of an array without axes: blocks
//     Distribution               several axes over a mesh of ranks, boxes, blocks dealt out, copies
//                                (faro/distribution.hpp)
//
// A part holds its elements in the order of their indices. Every plan is: pack, exchange, unpack.
//
//     rank 0   [a b c d]  --pack-->  [a c | b d]  --\  /-->  [a c | e g]  --unpack-->  [a e c g]
//     rank 1   [e f g h]  --pack-->  [e g | f h]  --/  \-->  [b d | f h]  --unpack-->  [b f d h]
//
// Packing and unpacking are ordinary plans of faro on a rank's own part, or nothing at all; each element
// crosses a link at most once, and only where it changes its rank, so that no schedule sends less. For an
// affine map out[A x ^ c] = in[x] with the rank's bits on top, let rho be the rank of the block of A that
// leads from local bits to the rank's: every rank sends 2^rho equal messages, to a coset of ranks
// (docs/theory/shards.md). The plan of each rank follows from the problem and the rank's number alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "faro/communicator.hpp"
#include "faro/distribution.hpp"
#include "faro/faro.hpp"
#include "faro/stream.hpp"

namespace faro {

/// 2^g ranks: bit i of a rank's number is bit `bits[i]` of the index.
struct ShardBits {
  std::vector<int> bits;
};

/// Slabs of one axis: rank r holds `extents[r]` consecutive places of it, behind those of the ranks before.
struct ShardAxis {
  int axis = 0;
  /// One for each rank; empty: as even as can be, the longer ones first.
  std::vector<std::uint64_t> extents = {};
};

using ShardCut = std::variant<ShardAxis, ShardBits, Distribution>;

/// "axis(1)", "axis(0; 3 1 2)" with an extent for each rank, "bits(0 1)", or a distribution, "mesh 2x3; …";
/// empty: axis(0). `operation` is for messages. Errors: ErrorCode::value.
ShardCut parse_cut(const std::string& text, const std::string& operation = "read a cut");

/// How an array is divided: how many ranks there are, which one this is, and how input and output are cut.
struct Shards {
  int ranks = 1;
  int rank = 0;
  ShardCut in = ShardAxis{};
  ShardCut out = ShardAxis{};
  /// Ranks of an island, whose links are faster than those between islands: ranks r and s are on one where
  /// r / island == s / island. What several ranks of an island want of another goes there once, and is passed
  /// on. 0: all links are alike.
  int island = 0;
};

inline constexpr int kMaxShardRanks = 1 << 20;

/// out[pi(x)] = in[x], of arrays in shards.
struct ShardProblem {
  Permutation permutation = detail::no_permutation();
  std::uint64_t element_bytes = 0;  // 1 to 4096
  Shards shards;
  /// What axes the cuts count: those of the input, and of the output by `order`. Nothing: both arrays have
  /// one axis, of all elements. It must say the same as `permutation`.
  std::optional<NamedAxes> axes = std::nullopt;
  /// What they count instead, where the arrays' axes are others: of a pattern whose brackets join `axes`,
  /// and, without `axes`, of axes that are also rolled or flipped and of compositions. As many elements as
  /// the permutation has.
  std::optional<RegroupedShape> shapes = std::nullopt;
  /// A packing and an unpacking, whose slices overlap with messages between arrays of faro's own, rather than
  /// one of them or none. Of affine maps with a pass, and of permutations of axes.
  bool slices_even_by_two_passes = false;

  /// The axes that the cuts count.
  std::vector<std::uint64_t> in_shape() const;
  std::vector<std::uint64_t> out_shape() const;
};

/// How a plan finds out who sends what to whom.
enum class ShardMethod {
  affine,   // linear algebra: 2^rho equal messages
  slabs,    // boxes: the part that two slabs share
  mesh,     // what two ranks of a mesh share, axis by axis
  blocks,   // rolls and flips: runs of blocks
  indices,  // element by element: any permutation over any cut
};
/// "affine", "slabs", "mesh", "blocks" or "indices".
const char* name(ShardMethod method) noexcept;

/// A local pass: nothing, one permutation of the whole part, or a view for each message.
struct ShardPass {
  std::optional<Permutation> permutation = std::nullopt;
  std::vector<Strided> views = {};
  /// For an index array: what goes to one rank, or comes from it, keeps its order, so that the obvious loop
  /// reads and writes a few runs side by side.
  bool keeps_order = false;

  bool is_nothing() const { return !permutation && views.empty(); }
};

/// Straight from a rank's part to what lies at a peer: strides and offsets of the two arrays.
struct ShardView {
  int peer = 0;
  Strided view;
};

/// The way without messages, for ranks whose kernels can write into each other's memory.
struct ShardStores {
  /// For affine maps: where an element goes, local bits of its place low and the rank's on top on both sides.
  std::optional<Affine> map = std::nullopt;
  /// For distributions, slabs and blocks; ranks without elements have none.
  std::vector<ShardView> views = {};
  bool by_views = false;
  /// Into outputs, one pass; else to where the receiver's unpacking reads, two.
  bool to_output = true;

  bool is_possible() const { return map || by_views; }
};

/// Messages among those that hold the same, behind all others: from what was received to where it would have
/// been received, had it been sent there as well.
struct ShardPassedOn {
  std::vector<ShardMessage> sends = {};
  std::vector<ShardMessage> receives = {};
};

/// What links and memory give, for predicted times.
struct ShardRates {
  double link_gb_per_s = 25;  // out of a rank, and into it
  double copy_gb_per_s = 10;  // a rank's own copy, bytes read and written
  double message_us = 5;      // of a message, beside its bytes
};

/// What an engine makes of a local pass.
struct ShardLocalPlan {
  std::string step;          // "pack", "unpack"
  std::uint64_t boxes = 0;   // one to a message; 0: one permutation of the whole part
  std::string text;          // the plan explained: of boxes, of the first
  std::string json;          // the same as a JSON object
  std::optional<double> us;  // of all of it; nothing where it is not known, and of more than 256 boxes
};

/// What one rank does. Immutable; made without communication, and without memory for arrays.
class ShardPlan {
 public:
  /// Errors: ErrorCode::value for ranks, cuts and axes that do not fit each other or the permutation, naming
  /// which; those of faro::plan() for the problem. Cost: O(n^3) word operations for an affine map, some
  /// boxes for each rank met for slabs and meshes; method indices takes 24 bytes an element of the rank's
  /// parts, and their sorting.
  explicit ShardPlan(const ShardProblem& problem);

  /// Plans an index array that no rank has whole: rank r gives the entries of its own part, `mine`. Scatter:
  /// those of its part of the input, cut by problem.shards.in, out[mine[i]] = in[i]; gather: those of its
  /// part of the output, cut by problem.shards.out. problem.permutation is not looked at, the array has
  /// `count` elements. Collective; entries go by communicator.host(). Errors, on all ranks alike: also
  /// ErrorCode::value where it is no permutation. Cost: an exchange of 8 bytes an element.
  ShardPlan(const ShardProblem& problem, std::uint64_t count, std::span<const std::uint64_t> mine,
            Direction direction, Communicator& communicator);

  const ShardProblem& problem() const { return problem_; }
  ShardMethod method() const { return method_; }
  /// Why this method: one line.
  const std::string& reason() const { return reason_; }

  /// Elements of this rank's parts.
  std::uint64_t in_elements() const { return in_elements_; }
  std::uint64_t out_elements() const { return out_elements_; }
  std::uint64_t in_bytes() const { return in_elements_ * problem_.element_bytes; }
  std::uint64_t out_bytes() const { return out_elements_ * problem_.element_bytes; }

  /// From the input to what is sent; nothing: messages are sent from the input.
  const ShardPass& pack() const { return pack_; }
  /// From what is received to the output; nothing: messages are received into the output.
  const ShardPass& unpack() const { return unpack_; }
  /// How kernels carry it out that write into the memory of peers: in one pass where what memory likes to
  /// have together (256 bytes) comes from one rank, in two else. Not possible: index arrays.
  const ShardStores& stores() const { return stores_; }
  /// Messages may be cut into 2^k slices, by the top bits of what each holds, so that packing, exchanging and
  /// unpacking go on at the same time. 0: they follow each other.
  int slice_bits() const { return slice_bits_; }
  /// For an affine map with an unpacking: to the places of all that is received, from those of all parts.
  const std::optional<Affine>& arrivals() const { return arrivals_; }
  /// For an affine map: to the places of all outputs.
  const std::optional<Affine>& places() const { return places_; }
  /// Those to and from the rank itself among them. Sizes are of this rank's array or workspace.
  const std::vector<ShardMessage>& sends() const { return sends_; }
  const std::vector<ShardMessage>& receives() const { return receives_; }

  /// Where an island's ranks want the same (Shards::island); what it is not, no rank has.
  const ShardPassedOn& passed_on() const { return passed_on_; }
  /// Whether any rank has; the same on all.
  bool passes_on() const { return passes_on_; }

  /// Other ranks that it sends to.
  std::uint64_t ranks_met() const;
  /// To other ranks, and from them, what is passed on among them. No schedule moves less: each is an element
  /// that the receiver does not hold.
  std::uint64_t sent_bytes() const;
  std::uint64_t received_bytes() const;
  /// What a packing fills: all that is sent, to itself too; 0 where there is none. Of a replicated input that
  /// is less than the part.
  std::uint64_t packed_bytes() const;
  /// Beside the parts: packed_bytes(), and as much as is received where there is an unpacking.
  std::uint64_t workspace_bytes() const;
  /// Rounds of an exchange in which each rank sends to one other and hears from one: as many as the ranks
  /// that it sends to, or hears from. All messages are under way at once; a link that serves one pair at a
  /// time takes these rounds.
  std::uint64_t rounds() const;
  /// Bytes of the busiest pair: to one other rank, or from one.
  std::uint64_t most_link_bytes() const;
  /// For an affine map: log2 of the messages of each rank.
  std::optional<int> rho() const { return rho_; }

  /// Seconds: local passes by the copy's rate, the exchange by the link's, one after the other.
  double predicted_seconds(const ShardRates& rates = {}) const;

  /// The plan in words, several lines.
  std::string explain(const ShardRates& rates = {}) const;
  /// The same as a JSON object (docs/guide/json.md, "explain --shards").
  std::string explain_json(const ShardRates& rates = {}) const;
  /// The packing and the unpacking, those that there are, as `target` carries them out. Errors: those of
  /// Plan. Cost: planning and counting each box, up to some milliseconds.
  std::vector<ShardLocalPlan> local_plans(const Target& target) const;
  /// At what rate these move bytes, read and written: ShardRates::copy_gb_per_s of that target. Nothing where
  /// there are none, or the time of one is not known.
  std::optional<double> copy_gb_per_s(const std::vector<ShardLocalPlan>& plans) const;

 private:
  ShardProblem problem_;
  ShardMethod method_ = ShardMethod::affine;
  std::string reason_;
  std::uint64_t in_elements_ = 0;
  std::uint64_t out_elements_ = 0;
  ShardPass pack_;
  ShardPass unpack_;
  std::vector<ShardMessage> sends_;
  std::vector<ShardMessage> receives_;
  ShardPassedOn passed_on_;
  bool passes_on_ = false;
  std::optional<int> rho_;
  ShardStores stores_;
  std::optional<Affine> places_;
  std::optional<Affine> arrivals_;
  int slice_bits_ = 0;
};

/// What a plan may do beside packing, exchanging and unpacking one after the other. The same on all ranks.
struct ShardWays {
  /// Kernels write into the peers' memory where the communicator lets them.
  bool stores = true;
  /// Most slices, log2, by which passes and links work at the same time: 0 to 4; -1: by the size. Of
  /// messages, or of stores whose output is unpacked.
  int slice_bits = -1;
  /// For a device with slices: multiprocessors that the other passes leave free while the links work. Kernels
  /// of NCCL need whole ones, and memory that is not all taken: -1 is 2 of 5 between arrays that are
  /// registered with it, of boxes 9 of 20, 13 of 20 between others; stores go by these alone: -1 is 11 of 20.
  /// 0: all passes take all.
  int link_multiprocessors = -1;
  /// run() takes one array, in which the output replaces the input. Both have to have one size.
  bool in_place = false;
  /// Most memory beside the parts, of each rank: where packing and unpacking need more, every message goes in
  /// as many rounds as that takes. For permutations of axes, and all that needs no more. 0: no bound.
  std::uint64_t memory_bytes = 0;
};

class ShardedPlan;

/// One of several runs, as those of ShardedPlan::run().
struct ShardedRun {
  ShardedPlan* plan = nullptr;
  const void* in = nullptr;
  std::uint64_t in_bytes = 0;
  void* out = nullptr;
  std::uint64_t out_bytes = 0;
};

/// A plan together with the engine of its local passes, its workspace, and the ranks that it talks to.
class ShardedPlan {
 public:
  /// Collective. Requires: `plan` is of this rank of the communicator (checked). `options` are for the local
  /// passes; their engine has to be the communicator's memory, which `automatic` takes. Errors, on every
  /// rank alike, each naming the first rank that is at fault: what faro::plan() refuses on any rank;
  /// ErrorCode::value for ranks with different problems or widths, and in place for parts of two sizes;
  /// ErrorCode::value where a rank has too little memory.
  ShardedPlan(ShardPlan plan, std::shared_ptr<Communicator> communicator, const PlanOptions& options = {},
              const ShardWays& ways = {});
  ShardedPlan(ShardedPlan&&) noexcept;
  ShardedPlan& operator=(ShardedPlan&&) noexcept;
  ~ShardedPlan();

  /// out[pi(x)] = in[x]: `in` and `out` are this rank's parts, of plan().in_bytes() and plan().out_bytes().
  /// Collective; returns when this rank's output is complete, or with memory cuda when that is queued on
  /// `stream`. Errors, on every rank alike and before anything is written: ErrorCode::value for a null
  /// pointer, another size or overlapping arrays on any rank. Later: ErrorCode::device where a rank is lost;
  /// what is in `out` is then undefined.   Cost: as plan().predicted_seconds(); allocates nothing.
  void run(const void* in, std::uint64_t in_bytes, void* out, std::uint64_t out_bytes, Stream stream = {});

  /// The same in place, of a plan with ShardWays::in_place.
  void run(void* data, std::uint64_t bytes, Stream stream = {});

  /// Several arrays, as the weights of a model: law: as run() one after the other. The ranks meet once for
  /// all of them, stores of all go on at the same time, and messages of many go together. Collective, with
  /// the same plans in the same order. Errors: those of run(); ErrorCode::value for plans of several
  /// communicators, or in place, and for an output that overlaps any other array.
  static void run_all(std::span<const ShardedRun> runs, Stream stream = {});

  /// Waits for what run() queued on `stream`. Errors: ErrorCode::device where a rank was lost meanwhile, or
  /// does not come within the communicator's time limit; what is queued is then given up.
  void wait(Stream stream = {});

  /// How run() carries it out: "stores", kernels that write into the peers' memory; "slices", packing,
  /// exchanging and unpacking at the same time; "messages", one after the other.
  const char* backend() const;
  /// Why that: one line.
  const std::string& backend_reason() const;
  /// Rounds in which messages go, by ShardWays::memory_bytes.
  std::uint64_t rounds() const;
  /// Memory that it has, beside the parts. That of pack(), exchange() and unpack() is made when they are
  /// first called, where run() needs less.
  std::uint64_t workspace_bytes() const;

  /// The parts of run() by themselves, for measuring: no checks, no agreement, and `out` is meaningful only
  /// after all three in this order, on all ranks. Requires: as run().
  void pack(const void* in, Stream stream = {});
  void exchange(const void* in, void* out, Stream stream = {});
  void unpack(void* out, Stream stream = {});

  const ShardPlan& plan() const;
  Communicator& communicator() const;
  /// plan().explain(), and what the local passes are.
  std::string explain() const;

 private:
  void run_parts(const void* in, void* out, Stream stream);
  static void store_all(std::span<const ShardedRun> runs, Stream stream);
  static void send_all(std::span<const ShardedRun> runs, Stream stream);
  struct State;
  std::unique_ptr<State> state_;
};

/// A permutation of shards whose numbers are changed on their way (faro/arithmetic.hpp): on the rank that has
/// them before they are sent, where that makes them narrower, nothing is added and factors are one for all;
/// else on the rank that gets them. So links carry the narrower type.
class ShardedArithmetic {
 public:
  /// Collective. Of problem.element_bytes nothing is read; factors along an axis count the axes of the
  /// output, problem.out_shape(), and parts are then slabs. Errors: those of ShardedPlan and of faro::plan()
  /// with arithmetic; ErrorCode::value for ranks with different arithmetic; ErrorCode::unsupported for
  /// factors along an axis of other parts, strides of an added array, and in place.
  ShardedArithmetic(ShardProblem problem, const Arithmetic& arithmetic,
                    std::shared_ptr<Communicator> communicator, const PlanOptions& options = {},
                    const ShardWays& ways = {});
  ShardedArithmetic(ShardedArithmetic&&) noexcept;
  ShardedArithmetic& operator=(ShardedArithmetic&&) noexcept;
  ~ShardedArithmetic();

  /// This rank's parts, of plan().in_elements() and plan().out_elements() numbers; `addend` is its part of
  /// the added array, cut as the output, or the output itself. As ShardedPlan::run(). Cost: also a sweep over
  /// the part, by way of memory that was made with the plan.
  void run(const NumberArray& in, void* out, std::uint64_t out_count, const NumberArray& addend = {},
           Stream stream = {});

  /// As ShardedPlan::wait().
  void wait(Stream stream = {});

  /// Whether numbers are changed before they are sent.
  bool converts_first() const;
  /// Of elements of the type that is sent.
  const ShardPlan& plan() const;
  const ShardedPlan& mover() const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Several GPUs of one process as ranks of a permutation of shards.
//
//     faro::PeerShards peers({.permutation = faro::maps::transpose(32768, 32768),
//                             .element_bytes = 4}, {0, 1});
//
//     peers.run(ins, outs, streams);          // an input, an output and a stream for each GPU
//
// One thread a GPU queues what it does; streams wait for each other's events, and the host for nothing. Where
// the GPUs reach each other's memory kernels write straight into it, over the links between them: arrays have
// to be memory of cudaMalloc then. Else packed messages are copied. The same device may be given several
// times.

/// A communicator for each of these devices, by ordinal, each for a thread of its own. Messages are copied
/// between the devices' memories, over the links between them where they can reach each other, else through
/// the host. Errors: ErrorCode::device without CUDA or for a device that is not there; ErrorCode::value for
/// no devices.
std::vector<std::shared_ptr<Communicator>> peer_communicators(
    const std::vector<int>& devices, std::chrono::milliseconds time_limit = kShardTimeLimit);

/// The same by NCCL (faro/communicator.hpp), a rank for each device. Errors: those of nccl_communicator();
/// ErrorCode::value for no devices, and for a device that is given twice, which NCCL does not take.
std::vector<std::shared_ptr<Communicator>> nccl_communicators(
    const std::vector<int>& devices, std::chrono::milliseconds time_limit = kShardTimeLimit);

/// The plans of all ranks, one on each device, and the threads that queue them.
class PeerShards {
 public:
  /// problem.shards.ranks and .rank are not looked at: there are as many as devices. Errors: those of
  /// ShardedPlan and of peer_communicators().
  PeerShards(const ShardProblem& problem, const std::vector<int>& devices, const PlanOptions& options = {},
             const ShardWays& ways = {});
  /// Over the communicators of all ranks, by rank: those of nccl_communicators(). Errors: those of
  /// ShardedPlan; ErrorCode::value for none, and for others than those of all ranks in their order.
  static PeerShards over(std::vector<std::shared_ptr<Communicator>> communicators,
                         const ShardProblem& problem, const PlanOptions& options = {},
                         const ShardWays& ways = {});
  PeerShards(PeerShards&&) noexcept;
  PeerShards& operator=(PeerShards&&) noexcept;
  ~PeerShards();

  /// out[pi(x)] = in[x]: an input, an output and a stream for each device, of plan(rank).in_bytes() and
  /// plan(rank).out_bytes(). Queues everything and returns; later work on each stream comes behind it.
  /// Requires: arrays of the rank's device (checked by the local passes), which do not overlap. Errors:
  /// ErrorCode::value for other than one of each for each device, and for null pointers, before anything is
  /// queued; ErrorCode::device for a failed call.
  void run(std::span<const void* const> ins, std::span<void* const> outs, std::span<const Stream> streams);

  int ranks() const;
  const ShardPlan& plan(int rank) const;
  /// The rank's plan with its engine. Errors: ErrorCode::value for a rank that is not there.
  const ShardedPlan& sharded(int rank) const;

 private:
  struct State;
  explicit PeerShards(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace faro
