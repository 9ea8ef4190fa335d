// A planned sweep from file to file, and the same of whole .npy files.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/file_run.hpp"
#include "file/sweep.hpp"
#include "io/npy.hpp"

namespace faro::file {
namespace {

// What tells a sweep from another, for its journal.
std::string work_text(const Sweep::State& sweep) {
  const Facts& facts = sweep.facts;
  std::string text = fmt::format("{}; {} bytes; batch {}; {} tiles of {} in {} and {}", sweep.text,
                                 sweep.element_bytes, sweep.to_run.batch, facts.tiles, facts.tile_bytes,
                                 facts.read_run_bytes, facts.write_run_bytes);
  const auto* const indexed = sweep.problem ? std::get_if<Indexed>(&sweep.problem->permutation) : nullptr;
  if (indexed != nullptr) text += fmt::format("; indices {:016x}", schedule::fingerprint(*indexed));
  if (sweep.numbers != nullptr) text += "; " + sweep.numbers->identity();
  return text;
}

}  // namespace

Report run(const Sweep& sweep, const Input& in, const Output& out, const Options& options) {
  const Sweep::State& state = sweep.state();
  std::optional<Checksums> sums;
  if (options.verify) sums.emplace(checksums_of(state, options.threads));
  const ChangedNumbers* const numbers = state.numbers.get();
  std::optional<SourceFile> added;
  if (numbers != nullptr && numbers->added_width() > 0)
    added.emplace(numbers->addend(), state.out_bytes / numbers->out_width() * numbers->added_width());
  FileRun work(
      in, out, options,
      {.in_bytes = state.in_bytes, .out_bytes = state.out_bytes, .told_bytes = state.told_bytes()},
      work_text(state) +
          (added ? fmt::format("; added {} of {}", numbers->addend().offset, added->identity()) : ""));
  if (sums) work.verify_by(*std::move(sums));
  return work.run(state.facts, [&] {
    if (state.facts.tiles == 0) return true;
    const std::unique_ptr<Tiles> tiles = state.tiles();
    const io::TransferFile from = work.input(tiles->read_run_bytes);
    const io::TransferFile to = work.output(tiles->write_run_bytes);
    std::optional<io::TransferFile> other;
    if (added) other.emplace(work.choice().input(*added, tiles->write_run_bytes));
    const bool finished = work.sweep(
        {.tiles = *tiles,
         .in = from,
         .out = to,
         .in_offset = work.in_offset(),
         .out_offset = work.out_offset(),
         .added = {.file = other ? &*other : nullptr, .offset = added ? numbers->addend().offset : 0},
         .permute = [](TileWork& tile, std::byte* x, std::byte* y) { tile.move->run(x, y); }});
    work.told_engine(state.budget.moves->engine(), state.budget.moves->engine_text());
    if (added) added->require_unchanged();
    return finished;
  });
}

Report run(const Problem& problem, const Input& in, const Output& out, const Options& options) {
  Problem known = problem;
  if (std::holds_alternative<Indexed>(problem.permutation))
    known.permutation = normal_form(problem.permutation, options.threads);
  return is_distributed(known, options) ? permute_indexed(known, in, out, options)
                                        : run(Sweep(known, options), in, out, options);
}

namespace {

// Some consecutive tiles of others.
class ShareOfTiles : public Tiles {
 public:
  ShareOfTiles(std::unique_ptr<Tiles> all, const Share& share)
      : all_(std::move(all)),
        first_(all_->count() * share.process / share.processes),
        end_(all_->count() * (share.process + 1) / share.processes) {
    tile_bytes = all_->tile_bytes;
    read_run_bytes = all_->read_run_bytes;
    write_run_bytes = all_->write_run_bytes;
    placement = all_->placement;
  }
  std::uint64_t count() const override { return end_ - first_; }
  TileWork tile(std::uint64_t number) override { return all_->tile(first_ + number); }

 private:
  std::unique_ptr<Tiles> all_;
  std::uint64_t first_;
  std::uint64_t end_;
};

}  // namespace

Report run_share(const Sweep& sweep, const Input& in, const SharedOutput& out, const Share& share,
                 const Options& options) {
  const Sweep::State& state = sweep.state();
  FARO_CHECK(share.process < share.processes);
  if (state.numbers != nullptr)
    fail(ErrorCode::unsupported, "share a sweep", state.numbers->text(), "a sweep that changes no numbers");
  const auto begin = std::chrono::steady_clock::now();
  Report report;
  report.facts = state.facts;
  report.io = "buffered";
  const SourceFile source(in, state.in_bytes);
  const io::Descriptor target(open(out.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!target.is_open()) {
    fail(ErrorCode::file, "write `" + out.path.string() + "`", io::error_text(errno),
         "the output that all processes write");
  }
  if (state.facts.tiles > 0) {
    ShareOfTiles tiles(state.tiles(), share);
    constexpr auto kBuffered = io::TransferMode::buffered;
    const io::TransferFile from(source.descriptor(), io::TransferFile::Use::read, kBuffered, source.path());
    const io::TransferFile to(target.get(), io::TransferFile::Use::update, kBuffered, out.path.string());
    Machinery machinery(options, kBuffered, tiles.tile_bytes, tiles.placement);
    Teller teller(options, state.told_bytes() / share.processes);
    Pipeline pipeline(machinery, teller, {.file = &from, .offset = in.offset},
                      {.file = &to, .offset = out.offset},
                      {.permute = [](TileWork& tile, std::byte* x, std::byte* y) { tile.move->run(x, y); }});
    report.finished = tiles.count() == 0 || pipeline.run(tiles);
    report.read_bytes = pipeline.read_bytes();
    report.written_bytes = pipeline.written_bytes();
  } else {
    report.finished = true;
  }
  source.require_unchanged();
  if (const int error = io::sync_file(target.get()); error != 0) {
    fail(ErrorCode::file, "write `" + out.path.string() + "`", io::error_text(error),
         "a disk that takes what is written");
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

Report permute(const Problem& problem, const std::filesystem::path& in, const std::filesystem::path& out,
               const Options& options, const std::optional<std::vector<std::uint64_t>>& shape) {
  const io::NpyHeader header = io::read_npy_header(in);
  const std::string operation = "permute `" + in.string() + "`";
  if (header.fortran_order)
    fail(ErrorCode::unsupported, operation, "data in Fortran order", "data in C order");
  if (header.data_bytes() != total_bytes(problem)) {
    fail(ErrorCode::value, operation, fmt::format("a file of {} bytes of data", header.data_bytes()),
         fmt::format("the {} of the problem", total_bytes(problem)));
  }
  const std::vector<std::uint64_t>& result = shape ? *shape : header.shape;
  return run(problem, {.path = in, .offset = header.data_offset},
             {.path = out,
              .header = io::npy_header_bytes(header.descr, result, io::MemoryOrder::c, io::kTransferBlock)},
             options);
}

}  // namespace faro::file
