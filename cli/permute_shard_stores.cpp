// faro permute SPEC IN OUT --mesh …, of stores: Zarr, HDF5, safetensors and others, with chunks of any
// extents and codecs, and of files of which each rank has its own.
//
//     a run of bytes       each rank reads and writes its part as it lies
//     chunks               each is read, decoded, encoded and written once, by its owner: ranks own slabs of whole
//                          chunks, and hand out and take in by an exchange what others hold
//     part-{rank}.npy      the part that a rank holds is a file of its own, of any format
//
// In: owned -> held by --from -> permuted, held by --to -> owned. Rank 0 makes the output beside its place,
// and gives it its name when all is on the disk.
#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/file_problem.hpp"
#include "cli/host_run.hpp"
#include "cli/part_files.hpp"
#include "cli/permute_file.hpp"
#include "cli/permute_ways.hpp"
#include "cli/rank_owners.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "engines/cpu.hpp"
#include "io/buffer.hpp"
#include "shard/holdings.hpp"
#include "size_text.hpp"
#include "store/shared_store.hpp"

namespace faro::cli {
namespace {

void check_rank_stores(const PermuteOptions& options) {
  const std::string numbers = options.numbers.first_beside_dtype();
  const std::string other = first_given({{"--in-place", options.in_place},
                                         {"--map", !options.map.empty()},
                                         {"--plan-cache", !options.plan_cache.empty()},
                                         {"--resume", options.resume},
                                         {"--memory", !options.memory.empty()},
                                         {"--checkpoint", !options.checkpoint.empty()},
                                         {numbers.c_str(), !numbers.empty()},
                                         {"--dtype", !options.numbers.dtype.empty()},
                                         {"a strided view", options.view.has_value()},
                                         {"--devices or --backend", options.devices.is_given()},
                                         {"--engine cuda", options.common.engine == "cuda"}});
  if (!other.empty()) {
    fail(ErrorCode::unsupported, permuting(options), other + " with stores and several ranks",
         "SPEC IN OUT, --mesh, --from and --to",
         "without them one process lays stores out anew, within --memory and with --dtype");
  }
  if (!options.has_out) fail(ErrorCode::usage, permuting(options), "no OUT", "SPEC IN OUT");
}

class PermutedStores : private RankedRun {
 public:
  PermutedStores(const PermuteOptions& options, const std::shared_ptr<Communicator>& communicator)
      : RankedRun(options, communicator, permuting(options)) {}

  void run() {
    const auto start = std::chrono::steady_clock::now();
    open();
    ask();
    plan();
    if (options_.store.explain) {
      together([] {});
      if (rank() == 0) tell_ways();
      return;
    }
    reserve();
    read();
    std::optional<ShardedPlan> sharded;
    sharded.emplace(*made_, communicator_, PlanOptions{.threads = threads_});
    const auto begin = std::chrono::steady_clock::now();
    sharded->run(in_->data(), in_->size(), out_->data(), out_->size());
    const double ms = slowest(milliseconds_since(begin));
    in_.reset();
    write();
    if (rank() == 0) tell_run(sharded->plan(), ms, start);
    commit();
  }

 private:
  enum class Way : std::uint8_t {
    parts,   // each rank its part, where it lies
    owners,  // whole chunks, then handed out or taken in
    files,   // each rank a file of its own
  };
  static const char* name_of(Way way) {
    return way == Way::parts ? "parts" : way == Way::owners ? "owners" : "files";
  }
  enum class End : std::uint8_t { input, output };

  // How one end is read or written, and what is owned of it.
  struct Side {
    Way way = Way::owners;
    Owners owners = {};
    Box box = {};                            // that this rank owns
    std::uint64_t owned_bytes = 0;           // in it
    std::optional<ShardPlan> exchange = {};  // where others hold it
  };

  std::uint64_t item_bytes() const { return array_.type.bytes; }
  std::uint64_t items() const { return asked_.problem.element_bytes / item_bytes(); }

  // The input, of which each rank may have a file.
  void open() {
    if (is_for_each_rank(options_.in)) in_side_.way = Way::files;
    if (is_for_each_rank(options_.out)) out_side_.way = Way::files;
    std::string shape;
    together([&] {
      check_rank_stores(options_);
      check_spec_file(options_, options_.out, "OUT");
      wanted_ = store_options_without_map(options_);
      threads_ = wanted_.threads;
      const store::Work work =
          store::work_of(name_of_rank(options_.in, rank()), name_of_rank(options_.out, rank()), wanted_);
      out_place_ = work.out;
      format_ = work.format;
      array_ = work.in;
      part_ = work.in;
      shape = fmt::format("{}", fmt::join(array_.shape, " "));
    });
    if (in_side_.way != Way::files) return;
    std::vector<Shape> parts;
    for (const std::string& text : communicator_->all_gather(shape)) {
      Shape& part = parts.emplace_back();
      for (std::size_t at = 0; at < text.size();) {
        std::size_t used = 0;
        part.push_back(std::stoull(text.substr(at), &used));
        at += used;
      }
    }
    together([&] {
      array_.shape = whole_shape(options_.cuts.in_cut(), parts, operation_);
      array_.chunks.reset();
      array_.notes = {};
      array_.run = store::RunInFile{};
    });
  }

  // What every rank does from here on is the same only if all were asked for the same.
  void ask() {
    detail::agree(*communicator_, operation_, [&] {
      io::NpyHeader header;
      header.shape = array_.shape;
      header.item_bytes = item_bytes();
      header.descr = "'|V" + std::to_string(item_bytes()) + "'";
      asked_ = file_problem_of(options_, header);
      problem_ =
          shard_problem({.read = asked_.read(), .problem = asked_.problem, .ranks = ranks()}, options_.cuts);
      problem_.shards.rank = rank();
      wanted_.map = element_map_of(asked_, header, threads_);
      shape_after_ = wanted_.map->shape;
      if (out_side_.way == Way::files) {
        want_own_file();
      } else {
        output_.emplace(store::work_between(array_, out_place_, *format_, operation_, wanted_));
      }
      return fmt::format("{}{}, {} of {} to {} ({}) ({}) {} {} {}{}{}", to_text(asked_.problem.permutation),
                         options_.inverse ? " back" : "", shape_text(array_.shape), array_.type.name,
                         format_->name(), options_.store.chunks, options_.store.shards, options_.store.codec,
                         options_.order, options_.store.format, options_.verify ? ", --verify" : "",
                         options_.store.explain ? ", --explain" : "");
    });
  }

  // The part that is held of a side, as the plan counts.
  RankPart held(const ShardCut& cut, const Shape& counted, int rank) const {
    return detail::part_of_cut(cut, counted, ranks(), rank);
  }

  void want_own_file() {
    if (items() != 1 || (problem_.out_shape() != shape_after_ && shape_after_.size() != 1)) {
      fail(ErrorCode::unsupported, operation_,
           fmt::format("a file of each rank, of parts of {} elements of {} items",
                       shape_text(problem_.out_shape()), items()),
           "parts of the result's own axes, " + shape_text(shape_after_));
    }
    store::StoredArray mine = array_;
    mine.shape = held(problem_.shards.out, problem_.out_shape(), rank()).shape();
    mine.chunks.reset();
    mine.notes = {};
    store::Options alone = wanted_;
    alone.map.reset();
    output_.emplace(store::work_between(mine, out_place_, *format_, operation_, alone));
  }

  void plan() {
    together([&] {
      made_.emplace(problem_);
      if (in_side_.way == Way::files) {
        if (problem_.in_shape() != array_.shape || items() != 1) {
          fail(ErrorCode::unsupported, operation_,
               fmt::format("a file of each rank, and cuts of {}", shape_text(problem_.in_shape())),
               "cuts of the files' own axes, " + shape_text(array_.shape));
        }
      } else {
        // Runs of bytes are read and written where they lie, but where what is there is to be verified.
        const bool is_plain = !options_.verify && store::plain_run(array_);
        is_plain ? void(in_side_.way = Way::parts) : share_out(End::input, store::unit_of(array_));
      }
      if (out_side_.way == Way::files) return;
      const bool is_plain = !options_.verify && output_->plain();
      is_plain ? void(out_side_.way = Way::parts) : share_out(End::output, output_->unit());
    });
  }

  // Whole chunks of an end among the ranks, and how they come to who holds them, or from there.
  void share_out(End end, const Shape& unit) {
    const bool is_input = end == End::input;
    Side& side = is_input ? in_side_ : out_side_;
    const ShardCut& cut = is_input ? problem_.shards.in : problem_.shards.out;
    const Shape counted = is_input ? problem_.in_shape() : problem_.out_shape();
    const Shape& shape = is_input ? array_.shape : shape_after_;
    side.owners = owners_of({.shape = shape, .unit = unit, .counted = counted, .items = items()}, ranks());
    side.box = box_of(side.owners, shape, rank());
    if (side.owners.extents[static_cast<std::size_t>(rank())] == 0) side.box.extents = {0};
    side.owned_bytes = store::volume(side.box.extents) * item_bytes();
    if (store::is_empty(counted) || is_held_as_owned(side, cut, counted)) return;
    std::vector<int> order(counted.size());
    std::iota(order.begin(), order.end(), 0);
    ShardProblem problem{.permutation = Axes(counted, order),
                         .element_bytes = problem_.element_bytes,
                         .shards = problem_.shards,
                         .axes = NamedAxes{counted, order}};
    problem.shards.in = is_input ? ShardCut(side.owners.cut) : cut;
    problem.shards.out = is_input ? cut : ShardCut(side.owners.cut);
    side.exchange.emplace(problem);
  }

  bool is_held_as_owned(const Side& side, const ShardCut& cut, const Shape& counted) const {
    for (int r = 0; r < ranks(); ++r) {
      if (held(cut, counted, r).axes != held(side.owners.cut, counted, r).axes) return false;
    }
    return true;
  }

  // Beside the parts, at most: what is owned, and what exchanges pack.
  std::uint64_t beside_bytes() const {
    std::uint64_t most = made_->workspace_bytes();
    for (const Side* const side : {&in_side_, &out_side_}) {
      if (side->exchange) most = std::max(most, side->owned_bytes + side->exchange->workspace_bytes());
    }
    return most;
  }

  void reserve() {
    together([&] {
      io::require_memory_for_array(operation_, made_->in_bytes() + made_->out_bytes() + beside_bytes());
      in_.emplace(made_->in_bytes());
      out_.emplace(made_->out_bytes());
    });
  }

  // From what is owned to what is held, or the other way round.
  void exchange(Side& side, const io::Buffer& from, io::Buffer& to) {
    ShardedPlan sharded(*side.exchange, communicator_, {.threads = threads_});
    sharded.run(from.data(), from.size(), to.data(), to.size());
  }

  // Sums over where elements of the input go, and their bytes.
  void add_read(const RankPart& part, const Shape& counted, std::span<const std::byte> elements) {
    if (!options_.verify) return;
    const std::uint64_t width = item_bytes();
    std::uint64_t sum = 0;
    detail::for_runs(part, counted, [&](const detail::PartRun& run) {
      for (std::uint64_t e = 0; e < run.length; ++e) {
        const std::uint64_t y = faro::apply(problem_.permutation, run.index + e);
        for (std::uint64_t i = 0; i < items(); ++i)
          sum += store::element_sum(y * items() + i,
                                    elements.data() + ((run.element + e) * items() + i) * width, width);
      }
    });
    sums_.read += sum;
  }

  PartOfFile part_of(const store::PlainRun& run, const ShardCut& cut, const Shape& counted) const {
    return {.path = run.path.string(),
            .offset = run.offset,
            .element_bytes = problem_.element_bytes,
            .part = held(cut, counted, rank()),
            .shape = counted};
  }

  void read() {
    const Shape counted = problem_.in_shape();
    if (in_side_.way == Way::parts)
      return together(
          [&] { read_part(part_of(*store::plain_run(array_), problem_.shards.in, counted), in_->span()); });
    std::optional<io::Buffer> owned;
    together([&] {
      if (in_side_.way == Way::files) {
        load_box(part_, {.origin = Shape(part_.shape.size(), 0), .extents = part_.shape}, in_->span(),
                 threads_);
        if (detail::is_first_copy(problem_.shards.in, counted, ranks(), rank()))
          add_read(held(problem_.shards.in, counted, rank()), counted, in_->span());
        return;
      }
      if (in_side_.exchange) owned.emplace(in_side_.owned_bytes);
      const std::span<std::byte> to = owned ? owned->span() : in_->span();
      load_box(array_, in_side_.box, to, threads_);
      if (!to.empty()) add_read(held(in_side_.owners.cut, counted, rank()), counted, to);
    });
    if (in_side_.exchange) exchange(in_side_, *owned, *in_);
  }

  void discard() override { output_->discard(); }

  bool makes() const { return rank() == 0 || out_side_.way == Way::files; }

  void write() {
    std::optional<io::Buffer> owned;
    if (out_side_.exchange) {
      together([&] { owned.emplace(out_side_.owned_bytes); });
      exchange(out_side_, *out_, *owned);
    }
    std::string place;
    finishing([&] {
      if (makes()) place = output_->make().string();
    });
    const std::string made_at = communicator_->all_gather(place).front();
    finishing([&] {
      if (!makes()) output_->join(made_at);
    });
    finishing([&] { write_mine(owned ? owned->span() : out_->span()); });
    finishing([&] {
      if (!makes() || out_side_.way == Way::files) output_->finish();
    });
    finishing([&] {
      if (rank() == 0 && out_side_.way != Way::files) output_->finish();
    });
    if (!options_.verify) return;
    std::uint64_t read = 0;
    std::uint64_t stored = 0;
    for (const std::string& text :
         communicator_->all_gather(fmt::format("{} {}", sums_.read.load(), sums_.stored.load()))) {
      read += std::stoull(text);
      stored += std::stoull(text.substr(text.find(' ')));
    }
    finishing([&] {
      if (read != stored)
        fail(ErrorCode::verification, operation_, "what was stored differs from what was read",
             "the same elements", "nothing was written; please report this");
    });
  }

  void write_mine(std::span<std::byte> elements) {
    const Shape counted = problem_.out_shape();
    store::Sums* const sums = options_.verify ? &sums_ : nullptr;
    if (out_side_.way == Way::files) return write_own_file(elements);
    if (out_side_.way == Way::owners) return output_->store(out_side_.box, elements, threads_, sums);
    if (detail::is_first_copy(problem_.shards.out, counted, ranks(), rank()))
      write_part(part_of(*output_->plain(), problem_.shards.out, counted), elements);
  }

  void write_own_file(std::span<std::byte> elements) {
    const Shape& shape = output_->work().wanted.shape;
    store::Sums local;
    const RankPart part = held(problem_.shards.out, problem_.out_shape(), rank());
    const std::uint64_t width = item_bytes();
    const auto at = [&](std::uint64_t e) { return elements.data() + e * width; };
    if (options_.verify) {
      for (std::uint64_t e = 0; e < elements.size() / width; ++e)
        local.read += store::element_sum(e, at(e), width);
      if (detail::is_first_copy(problem_.shards.out, problem_.out_shape(), ranks(), rank())) {
        detail::for_runs(part, problem_.out_shape(), [&](const detail::PartRun& run) {
          for (std::uint64_t e = 0; e < run.length; ++e)
            sums_.stored += store::element_sum(run.index + e, at(run.element + e), width);
        });
      }
    }
    output_->store({.origin = Shape(shape.size(), 0), .extents = shape}, elements, threads_,
                   options_.verify ? &local : nullptr);
    if (local.read != local.stored)
      fail(ErrorCode::verification, operation_, "what was stored differs from what was held",
           "the same elements");
  }

  void commit() {
    together([&] {
      if (makes()) output_->commit();
    });
  }

  static std::string side_text(const Side& side, const Shape& unit, const char* verb) {
    if (side.way == Way::files) return fmt::format("each rank {} a file of its own", verb);
    if (side.way == Way::parts) return fmt::format("each rank {} its part where it lies", verb);
    std::string text = fmt::format("each rank {} whole chunks: places of axis {} in multiples of {}", verb,
                                   side.owners.axis, unit.empty() ? 1 : unit[side.owners.axis]);
    if (side.exchange) {
      text += fmt::format("; rank 0 sends {} to who {} them", size_text(side.exchange->sent_bytes()),
                          std::string_view(verb) == "reads" ? "holds" : "owns");
    }
    return text;
  }

  Json told_json() const {
    const auto side_json = [](const Side& side) {
      return Json{{"way", name_of(side.way)},
                  {"owned_extents", side.owners.extents},
                  {"sent_bytes", side.exchange ? side.exchange->sent_bytes() : 0}};
    };
    Json json = ranks_json(options_,
                           {.spec = to_text(asked_.problem.permutation),
                            .shape = shape_after_,
                            .elements = element_count(problem_.permutation),
                            .element_bytes = problem_.element_bytes,
                            .bytes = bytes()},
                           *communicator_);
    json["format"] = format_->name();
    json["ranks"] = ranks();
    json["method"] = name(made_->method());
    json["sent_bytes"] = made_->sent_bytes();
    json["read"] = side_json(in_side_);
    json["written"] = side_json(out_side_);
    json["part_bytes"] = made_->in_bytes() + made_->out_bytes();
    json["workspace_bytes"] = beside_bytes();
    return json;
  }

  std::uint64_t bytes() const { return store::volume(array_.shape) * item_bytes(); }

  // Of rank 0, before anything is read.
  void tell_ways() const {
    if (options_.common.json) return print(told_json());
    const Shape in_unit = in_side_.way == Way::owners ? store::unit_of(array_) : Shape();
    print(explained("in", side_text(in_side_, in_unit, "reads")) + "\n" +
          explained("out",
                    fmt::format("{}: {}", format_->name(), side_text(out_side_, output_->unit(), "writes"))) +
          "\n" +
          explained("memory", fmt::format("{} of rank 0's parts, at most {} beside them",
                                          size_text(made_->in_bytes() + made_->out_bytes()),
                                          size_text(beside_bytes()))) +
          "\n" + made_->explain());
  }

  void tell_run(const ShardPlan& plan, double ms, Moment start) const {
    if (!options_.common.json && !options_.quiet && !output_->left_out().empty())
      note(fmt::format("{} has no {}", format_->name(), fmt::join(output_->left_out(), ", ")));
    tell(asked_.elements, plan, bytes(), ms, start, [this] { return told_json(); });
  }

  store::Options wanted_;
  int threads_ = 1;
  store::StoredArray array_;  // the whole
  store::StoredArray part_;   // this rank's file
  store::Place out_place_;
  const store::Format* format_ = nullptr;
  FileProblem asked_;
  ShardProblem problem_;
  Shape shape_after_;
  std::optional<ShardPlan> made_;
  Side in_side_;
  Side out_side_;
  std::optional<store::SharedOutput> output_;
  std::optional<io::Buffer> in_;
  std::optional<io::Buffer> out_;
  store::Sums sums_;
};

}  // namespace

void permute_shard_stores(const PermuteOptions& options) {
  with_ranks("permute", options.common.json, [&](const std::shared_ptr<Communicator>& communicator) {
    PermutedStores(options, communicator).run();
  });
}

}  // namespace faro::cli
