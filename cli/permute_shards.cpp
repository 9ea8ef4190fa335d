// faro permute SPEC IN.npy OUT.npy --shards: each rank reads its part of the file, permutes with the others,
// and writes its part. Parts are blocks of the file on both sides, or what --from and --to say.
//
//     read the header  ->  plan  ->  read the part  ->  permute  ->  verify  ->  write the part  ->  rank 0 names the file
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/file_problem.hpp"
#include "cli/host_run.hpp"
#include "cli/part_files.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "engines/cpu.hpp"
#include "faro/file.hpp"
#include "file/record_shuffle.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "io/transfers.hpp"
#include "number_oracle.hpp"
#include "shard/methods.hpp"
#include "shard/part_runs.hpp"

namespace faro::cli {
namespace {

// A whole file's data, to be looked at in places.
class Looked {
 public:
  Looked(const std::string& path, const io::NpyHeader& header)
      : offset_(header.data_offset), bytes_(header.data_offset + header.data_bytes()) {
    const io::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) fail_part("read", path, errno);
    void* const mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED) fail_part("read", path, errno);
    data_ = static_cast<const std::byte*>(mapped);
  }
  ~Looked() { munmap(const_cast<std::byte*>(data_), bytes_); }
  Looked(const Looked&) = delete;
  Looked& operator=(const Looked&) = delete;

  const std::byte* data() const { return data_ + offset_; }

 private:
  std::uint64_t offset_;
  std::uint64_t bytes_;
  const std::byte* data_ = nullptr;
};

void check_shard_options(const PermuteOptions& options) {
  const std::string other =
      first_given({{"--in-place", options.in_place},
                   {"--map", !options.map.empty()},
                   {"--plan-cache", !options.plan_cache.empty()},
                   {"--resume", options.resume},
                   {"--raw", !options.raw.empty()},
                   {"--order F", options.order != "C"},
                   {"a strided view", options.view.has_value()},
                   {"--devices or --backend", options.devices.is_given()},
                   {"--engine cuda", options.common.plan_options(1).engine == Engine::cuda}});
  if (!other.empty()) {
    fail(ErrorCode::unsupported, "permute --shards", other, "--shards with SPEC IN.npy OUT.npy",
         "`faro permute --help` shows what goes together");
  }
  require_two_files(options);
}

// What is done with the file, once its header is known.
struct FileShards {
  ShardProblem problem;
  std::uint64_t count = 0;
  std::string spec;                  // canonical
  std::string elements;              // "1000 rows of 12 bytes"
  std::vector<std::uint64_t> shape;  // of the result
  bool aligned = false;              // its data begin at a block of the disk, as without ranks
  /// The plan of this rank; may talk to the others.
  std::function<ShardPlan(const ShardProblem& problem)> plan;
  /// The whole file's problem, where it can be swept from file to file.
  std::optional<Problem> whole = std::nullopt;
  /// The element of the input that goes to y.
  std::function<std::uint64_t(std::uint64_t y)> source_of;
};
using ShardsOfFile = std::function<FileShards(const io::NpyHeader& header, Communicator& communicator)>;

// The inverse, of which one look-up costs no sweep.
Permutation quick_inverse(const Permutation& permutation) {
  const Permutation back = inverse(permutation);
  const auto* const indexed = std::get_if<Indexed>(&back);
  return indexed == nullptr ? back : Permutation(indexed->redirected(Direction::scatter));
}

class PermutedShards : private RankedRun {
 public:
  PermutedShards(const PermuteOptions& options, const std::shared_ptr<Communicator>& communicator,
                 ShardsOfFile asked)
      : RankedRun(options, communicator, "permute `" + options.in + "`"), of_file_(std::move(asked)) {}

  void run() {
    const auto start = std::chrono::steady_clock::now();
    ask();
    if (is_larger_than_memory()) return sweep(start);
    plan();
    read();
    const PlanOptions how{.threads = threads_};
    if (numbers_) {
      ShardedArithmetic sharded(made_->problem(), numbers_->arithmetic, communicator_, how);
      const auto begin = std::chrono::steady_clock::now();
      sharded.run({in_->data(), made_->in_elements()}, out_->data(), made_->out_elements(),
                  {added_ ? added_->data() : nullptr, added_ ? made_->out_elements() : 0});
      finish_run(sharded.mover(), begin, start);
    } else {
      ShardedPlan sharded(std::move(*made_), communicator_, how);
      const auto begin = std::chrono::steady_clock::now();
      sharded.run(in_->data(), in_->size(), out_->data(), out_->size());
      finish_run(sharded, begin, start);
    }
  }

 private:
  void finish_run(const ShardedPlan& sharded, Moment begin, Moment start) {
    const double ms = slowest(milliseconds_since(begin));
    if (options_.verify) verify();
    write();
    if (rank() == 0) {
      tell(asked_.elements, sharded.plan(), header_.data_bytes(), ms, start,
           [&] { return ranks_json(options_, array(), *communicator_, &sharded); });
    }
    commit();
  }

  // What every rank does from here on is the same only if all were asked for the same.
  void ask() {
    detail::agree(*communicator_, operation_, [&] {
      check_shard_options(options_);
      header_ = io::read_npy_header(options_.in);
      if (header_.fortran_order)
        fail(ErrorCode::unsupported, operation_, "data in Fortran order", "data in C order");
      asked_ = of_file_(header_, *communicator_);
      asked_.problem.shards.rank = rank();
      threads_ = options_.common.plan_options(asked_.problem.element_bytes).threads;
      const std::string descr = ask_numbers();
      // Numbers are changed from file to file without ranks, whose data begin at a block.
      target_header_ = asked_.aligned || numbers_
                           ? io::npy_header_bytes(descr, asked_.shape, io::MemoryOrder::c, io::kTransferBlock)
                           : io::npy_header_bytes(descr, asked_.shape);
      return fmt::format("{}{}, {} elements of {} bytes from byte {} on{}{}{}", asked_.spec,
                         options_.inverse ? " back" : "", asked_.count, asked_.problem.element_bytes,
                         header_.data_offset, options_.memory.empty() ? "" : ", --memory " + options_.memory,
                         options_.verify ? ", --verify" : "",
                         numbers_ ? "; " + to_text(numbers_->arithmetic) : "");
    });
  }

  // What is done to numbers; returns the items of the result.
  std::string ask_numbers() {
    out_width_ = asked_.problem.element_bytes;
    const std::optional<NumberChange> change = options_.numbers.change(operation_, header_);
    if (!change) return header_.descr;
    if (asked_.problem.element_bytes != bytes_of(change->arithmetic.from)) {
      fail(ErrorCode::unsupported, operation_,
           fmt::format("{} with elements of {} bytes, which are several numbers", options_.numbers.first(),
                       asked_.problem.element_bytes),
           "a map of the numbers themselves, as with axes(...)");
    }
    numbers_ = change->of_result(operation_, asked_.shape, io::MemoryOrder::c);
    out_width_ = bytes_of(numbers_->arithmetic.to);
    oracle_.emplace(numbers_->arithmetic);
    return change->descr;
  }

  // In, out, and what is packed and unpacked; ranks of one machine share its memory, so each takes a part of
  // it where nothing else is said: the same for all, for sweeps of different budgets have different tiles.
  bool is_larger_than_memory() {
    together([&] {
      const auto ranks = static_cast<std::uint64_t>(communicator_->ranks());
      const bool is_said = !options_.memory.empty();
      if (is_said && numbers_) {
        fail(ErrorCode::unsupported, operation_, options_.numbers.first() + " with --memory and --shards",
             "ranks whose memory has their parts",
             "without --shards one process changes numbers within --memory");
      }
      if (is_said && !asked_.whole)
        fail(ErrorCode::unsupported, operation_, "--memory with --shards", "either alone",
             "without --shards one process shuffles the same way within --memory");
      budget_ = is_said ? memory_budget(options_.memory) : memory_budget("") / ranks;
    });
    for (const std::string& theirs : communicator_->all_gather(std::to_string(budget_)))
      budget_ = std::min<std::uint64_t>(budget_, std::stoull(theirs));
    constexpr std::uint64_t kParts = 4;
    const bool larger = header_.data_bytes() / static_cast<std::uint64_t>(ranks()) > budget_ / kParts;
    return larger && asked_.whole.has_value() && !numbers_;
  }

  // Each rank sweeps its share of the tiles, from file to file: what a tile needs lies in the input's file,
  // which all ranks see, so that nothing is sent.
  void sweep(Moment start) {
    std::optional<file::Sweep> sweep;
    const auto rank = static_cast<std::uint64_t>(communicator_->rank());
    const auto ranks = static_cast<std::uint64_t>(communicator_->ranks());
    const file::Options how{.memory_bytes = budget_, .threads = threads_, .io = file::Io::buffered};
    create([&] { sweep.emplace(*asked_.whole, how); });
    double ms = 0;
    finishing([&] {
      const auto begin = std::chrono::steady_clock::now();
      file::run_share(*sweep, {.path = options_.in, .offset = header_.data_offset},
                      {.path = io::partial_path(options_.out), .offset = target_header_.size()},
                      {.process = rank, .processes = ranks}, how);
      ms = milliseconds_since(begin);
    });
    ms = slowest(ms);
    if (options_.verify) {
      finishing([&] {
        const io::NpyHeader written = io::read_npy_header(io::partial_path(options_.out));
        const Looked whole(options_.in, header_);
        const Looked result(io::partial_path(options_.out), written);
        const Wanted wanted(*this, whole);
        const std::uint64_t end = asked_.count * (rank + 1) / ranks;
        for (std::uint64_t y = asked_.count * rank / ranks; y < end; ++y)
          wanted.check(y, result.data() + y * out_width_);
      });
    }
    finish();
    if (communicator_->rank() == 0) tell_sweep(sweep->facts(), ms, milliseconds_since(start));
    commit();
  }

  void plan() {
    // The plan may itself talk to the others.
    std::exception_ptr refused;
    try {
      made_.emplace(asked_.plan(asked_.problem));
    } catch (...) {
      refused = std::current_exception();
    }
    together([&] {
      if (refused) std::rethrow_exception(refused);
    });
  }

  struct CutSide {
    const ShardCut& cut;
    std::vector<std::uint64_t> shape;
    std::uint64_t width;
  };
  PartOfFile part_of_file(const std::string& path, std::uint64_t offset, const CutSide& side) const {
    return {.path = path,
            .offset = offset,
            .element_bytes = side.width,
            .part = faro::detail::part_of_cut(side.cut, side.shape, ranks(), rank()),
            .shape = side.shape};
  }

  void read() {
    together([&] {
      const ShardProblem& problem = asked_.problem;
      const std::uint64_t out_bytes = made_->out_elements() * out_width_;
      const std::uint64_t added_width =
          numbers_ && numbers_->arithmetic.addend ? bytes_of(numbers_->arithmetic.addend->number) : 0;
      const std::uint64_t added_bytes = made_->out_elements() * added_width;
      // What is sent or received of another type lies between.
      const std::uint64_t between = numbers_ ? std::max(made_->in_bytes(), out_bytes) : 0;
      io::require_memory_for_array(
          operation_, made_->in_bytes() + out_bytes + added_bytes + between + made_->workspace_bytes());
      in_.emplace(made_->in_bytes());
      out_.emplace(out_bytes);
      const CutSide out{.cut = problem.shards.out, .shape = problem.out_shape(), .width = out_width_};
      target_ = part_of_file(io::partial_path(options_.out).string(), target_header_.size(), out);
      read_part(part_of_file(
                    options_.in, header_.data_offset,
                    {.cut = problem.shards.in, .shape = problem.in_shape(), .width = problem.element_bytes}),
                in_->span());
      if (added_width == 0) return;
      added_.emplace(added_bytes);
      const file::Input& added = numbers_->addend;
      read_part(
          part_of_file(added.path, added.offset, {.cut = out.cut, .shape = out.shape, .width = added_width}),
          added_->span());
    });
  }

  // Every element of this rank's output against the input's file.
  void verify() {
    together([&] {
      if (out_->size() == 0) return;
      const Looked whole(options_.in, header_);
      const Wanted wanted(*this, whole);
      faro::detail::for_runs(target_.part, target_.shape, [&](const faro::detail::PartRun& run) {
        for (std::uint64_t i = 0; i < run.length; ++i)
          wanted.check(run.index + i, out_->data() + (run.element + i) * out_width_);
      });
    });
  }

  // The elements of the result, from the whole files: as they are, or changed one by one.
  class Wanted {
   public:
    Wanted(const PermutedShards& of, const Looked& whole) : of_(of), whole_(whole) {
      if (of.numbers_ && of.numbers_->arithmetic.addend)
        added_.emplace(of.numbers_->addend.path.string(), io::read_npy_header(of.numbers_->addend.path));
    }

    void check(std::uint64_t y, const std::byte* got) const {
      const std::uint64_t x = of_.asked_.source_of(y);
      const std::byte* const source = whole_.data() + x * of_.asked_.problem.element_bytes;
      if (!of_.numbers_) {
        if (std::memcmp(got, source, of_.out_width_) != 0) of_.fail_element(y, x);
        return;
      }
      const Arithmetic& of = of_.numbers_->arithmetic;
      const std::byte* const other = added_ ? added_->data() + y * bytes_of(of.addend->number) : nullptr;
      std::byte wanted[16];
      std::byte settled[16];
      of_.oracle_->change(source, other, factor(of.scale, y), factor(of.offset, y), wanted);
      std::memcpy(settled, got, of_.out_width_);
      of_.oracle_->settle(wanted);
      of_.oracle_->settle(settled);
      if (std::memcmp(settled, wanted, of_.out_width_) != 0) of_.fail_element(y, x);
    }

   private:
    // Which of the values is that of y.
    std::size_t factor(const Coefficient& of, std::uint64_t y) const {
      if (!of.axis) return 0;
      const std::vector<std::uint64_t>& shape = of_.asked_.shape;
      for (std::size_t a = shape.size(); a-- > *of.axis + 1;) y /= shape[a];
      return static_cast<std::size_t>(y % shape[*of.axis]);
    }

    const PermutedShards& of_;
    const Looked& whole_;
    std::optional<Looked> added_;
  };

  [[noreturn]] void fail_element(std::uint64_t y, std::uint64_t x) const {
    fail(ErrorCode::verification, operation_, fmt::format("a wrong element {}", y),
         fmt::format("element {} of the input there", x), "no result was written; please report this");
  }

  // The output's file, by rank 0, with its header and room for all; `first` is done by every rank.
  void create(const std::function<void()>& first) {
    together([&] {
      first();
      if (rank() != 0) return;
      file_ = std::make_unique<io::OutputFile>(options_.out, io::Unfinished::kept);
      try {
        if (ftruncate(file_->descriptor(), 0) != 0)
          fail(ErrorCode::file, file_->operation(), io::error_text(errno), "a file that can be written to");
        file_->reserve(target_header_.size() + asked_.count * out_width_);
        file_->write(target_header_, 0);
      } catch (...) {
        file_->discard();
        throw;
      }
    });
  }

  void discard() override {
    if (file_) file_->discard();
  }
  void finish() {
    finishing([&] {
      if (file_) file_->finish();
    });
  }

  void write() {
    create([] {});
    const ShardProblem& problem = asked_.problem;
    finishing([&] {
      if (faro::detail::is_first_copy(problem.shards.out, problem.out_shape(), ranks(), rank()))
        write_part(target_, out_->span());
    });
    finish();
  }

  void commit() {
    together([&] {
      if (file_) file_->commit();
    });
  }

  PermutedArray array() const {
    return {.spec = asked_.spec,
            .shape = asked_.shape,
            .elements = asked_.count,
            .element_bytes = asked_.problem.element_bytes,
            .bytes = header_.data_bytes()};
  }

  void tell_sweep(const file::Facts& facts, double ms, double total_ms) const {
    if (options_.common.json) {
      Json json = ranks_json(options_, array(), *communicator_);
      json["tiles"] = facts.tiles;
      json["tile_bytes"] = facts.tile_bytes;
      json["memory_bytes"] = budget_;
      json["ms"] = ms;
      json["gb_per_s"] = gb_per_s(header_.data_bytes(), ms);
      json["verified"] = options_.verify;
      return print(json);
    }
    if (options_.quiet) return;
    note(fmt::format(
        "{}: {} in {}, by {}, from file to file within {} each: {}; {:.3g} ms, {:.3g} ms in all{}",
        options_.label(), asked_.elements, count_text(static_cast<std::uint64_t>(ranks()), "rank"),
        communicator_->name(), size_text(budget_), facts.text(), ms, total_ms,
        options_.verify ? ", verified" : ""));
  }

  ShardsOfFile of_file_;
  io::NpyHeader header_;
  FileShards asked_;
  std::optional<file::Numbers> numbers_;
  std::optional<NumberOracle> oracle_;
  std::uint64_t out_width_ = 0;
  std::optional<ShardPlan> made_;
  std::vector<std::byte> target_header_;
  int threads_ = 0;
  std::uint64_t budget_ = 0;  // of a rank's memory
  PartOfFile target_;
  std::optional<io::Buffer> in_;
  std::optional<io::Buffer> out_;
  std::optional<io::Buffer> added_;
  std::unique_ptr<io::OutputFile> file_;  // of rank 0
};

}  // namespace

void permute_shards(const PermuteOptions& options) {
  const ShardsOfFile of_file = [&options](const io::NpyHeader& header, Communicator& communicator) {
    const FileProblem asked = file_problem_of(options, header);
    FileShards made;
    made.problem = shard_problem(
        {.read = asked.read(), .problem = asked.problem, .ranks = communicator.ranks()}, options.cuts);
    made.count = element_count(made.problem.permutation);
    made.whole = asked.problem;
    made.spec = to_text(asked.problem.permutation);
    made.elements = asked.elements;
    const int threads = options.common.plan_options(asked.problem.element_bytes).threads;
    made.shape = asked.shape_after(Plan(asked.problem, cpu::target(threads)));
    made.plan = [](const ShardProblem& problem) { return ShardPlan(problem); };
    made.source_of = [back = quick_inverse(made.problem.permutation)](std::uint64_t y) {
      return faro::apply(back, y);
    };
    return made;
  };
  with_ranks("permute", options.common.json, [&](const std::shared_ptr<Communicator>& communicator) {
    PermutedShards(options, communicator, of_file).run();
  });
}

void shuffle_shards(const PermuteOptions& options, std::uint64_t seed) {
  const ShardsOfFile of_file = [&options, seed](const io::NpyHeader& header, Communicator& communicator) {
    const bool by_rows = options.rows && !header.shape.empty();
    FileShards made;
    made.count = by_rows ? header.shape.front() : header.item_count();
    made.problem.permutation = Cyclic{.count = made.count};  // of as many elements, for the cuts
    made.problem.element_bytes =
        by_rows && header.item_count() > 0 ? header.data_bytes() / made.count : header.item_bytes;
    made.problem.shards.ranks = communicator.ranks();
    made.spec = options.spec;
    made.elements =
        count_text(made.count, by_rows ? "row" : "item") + " of " + size_text(made.problem.element_bytes);
    made.shape = header.shape;
    made.aligned = true;
    const auto shuffle = std::make_shared<const file::RecordShuffle>(made.count, seed);
    const bool inverse = options.inverse;
    // Each rank computes where its own records go.
    made.plan = [shuffle, inverse, &communicator](const ShardProblem& problem) {
      const detail::Spread spread(problem.shards.in, {shuffle->count()}, communicator.ranks(), "in");
      std::vector<std::uint64_t> mine(spread.elements(communicator.rank()));
      for (std::uint64_t i = 0; i < mine.size(); ++i) {
        const std::uint64_t x = spread.index({.rank = communicator.rank(), .element = i});
        mine[i] = inverse ? shuffle->inverse(x) : (*shuffle)(x);
      }
      return ShardPlan(problem, shuffle->count(), mine, Direction::scatter, communicator);
    };
    made.source_of = [shuffle, inverse](std::uint64_t y) {
      return inverse ? (*shuffle)(y) : shuffle->inverse(y);
    };
    return made;
  };
  with_ranks("shuffle", options.common.json, [&](const std::shared_ptr<Communicator>& communicator) {
    PermutedShards(options, communicator, of_file).run();
  });
}

}  // namespace faro::cli
