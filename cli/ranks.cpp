#include "cli/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <numeric>

#ifdef FARO_HAVE_MPI
#include <mpi.h>

#include "faro/mpi.hpp"
#endif

#include "cli/arguments.hpp"
#include "cli/host_run.hpp"
#include "faro/engines/cuda.hpp"
#include "io/output_file.hpp"
#include "shard/methods.hpp"

namespace faro::cli {
namespace {

// Whether a launcher of MPI started this process: OpenMPI's, MPICH's and Slurm's say so.
bool is_launched() {
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [](const char* sign) { return std::getenv(sign) != nullptr; });
}

#ifdef FARO_HAVE_MPI

// What all ranks refuse, reported once: before MPI ends, which waits for all, for the launcher kills the
// others as soon as one has ended with an error.
void tell_once(const std::shared_ptr<Communicator>& communicator, bool as_json, const RankWork& work) {
  try {
    work(communicator);
  } catch (const Error& error) {
    throw Told{communicator->rank() == 0 ? report_error(error, as_json) : exit_status(error.code())};
  }
}

class MpiSession {
 public:
  MpiSession() {
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
      fail(ErrorCode::device, "start MPI", "a failure", "MPI_Init to succeed");
  }
  ~MpiSession() { MPI_Finalize(); }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};
#endif

}  // namespace

void with_ranks(const std::string& verb, bool as_json, const RankWork& work) {
  if (!is_launched()) return work(in_memory_communicators(1).front());
#ifdef FARO_HAVE_MPI
  static_cast<void>(verb);
  const MpiSession session;
  tell_once(mpi_communicator(MPI_COMM_WORLD), as_json, work);
#else
  static_cast<void>(as_json);
  fail(
      ErrorCode::unsupported, verb + " --shards", "a launcher of MPI, and a faro without it",
      "a faro that was built where an MPI is installed with its headers",
      "`make build` finds an MPI that came later, Debian's libopenmpi-dev; without mpirun there is one rank");
#endif
}

void require_one_process(const std::string& verb, bool as_json) {
  if (!is_launched()) return;
  with_ranks(verb, as_json, [&](const std::shared_ptr<Communicator>& communicator) {
    if (communicator->ranks() == 1) return;
    fail(ErrorCode::unsupported, verb + " --devices",
         std::to_string(communicator->ranks()) + " processes, started by a launcher of MPI",
         "one process, which uses all the devices", "leave the launcher out");
  });
}

int report_before_ranks(const Error& error, std::span<const std::string> arguments, bool as_json) {
#ifdef FARO_HAVE_MPI
  constexpr std::array kVerbs{"permute", "shuffle", "bench"};
  const auto has = [&](const char* word) {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
  };
  int initialized = 0;
  const bool is_of_ranks = has("--shards") || has("--mesh") || has("--from") || has("--to");
  if (is_launched() && is_of_ranks && !has("--devices") &&
      std::find(kVerbs.begin(), kVerbs.end(), arguments.front()) != kVerbs.end() &&
      MPI_Initialized(&initialized) == MPI_SUCCESS && initialized == 0) {
    try {
      with_ranks("", as_json, [&](const std::shared_ptr<Communicator>& communicator) {
        detail::agree(*communicator, error.report().operation, [&]() -> std::string { throw error; });
      });
    } catch (const Told& told) {
      return told.exit_status;
    } catch (const Error&) {
      // Without MPI each tells by itself.
    }
  }
#else
  static_cast<void>(arguments);
#endif
  return report_error(error, as_json);
}

void CutOptions::add(CLI::App& command) {
  add_meshes(command);
  add_text(command, "--shard-in", in, "CUT",
           "How the input is cut: axis(K), axis(K; 3 1 2) with an extent for each rank, or bits(B …)");
  add_text(command, "--shard-out", out, "CUT", "How the output is cut, in the same form");
}

void CutOptions::add_meshes(CLI::App& command) {
  add_text(command, "--mesh", mesh, "MESH",
           "Ranks as a grid, such as 2x3 or data=2,model=3, which --from and --to cut axes over");
  add_text(command, "--from", from, "DIST",
           "What each rank holds of the input, such as 'axis 0 over 0; axis 1 over 1 in blocks of 64'");
  add_text(command, "--to", to, "DIST", "What each rank holds of the output, in the same form");
}

bool CutOptions::is_given() const {
  return !in.empty() || !out.empty() || !mesh.empty() || !from.empty() || !to.empty();
}

namespace {

struct CutTexts {
  const char* cut_option;
  const std::string& cut;
  const char* distribution_option;
  const std::string& distribution;
};

ShardCut cut_of(const CutTexts& texts, const std::string& mesh) {
  const std::string operation = std::string("read ") + texts.distribution_option;
  if (texts.distribution.empty()) return faro::parse_cut(texts.cut, std::string("read ") + texts.cut_option);
  if (!texts.cut.empty()) {
    fail(ErrorCode::value, operation, std::string(texts.distribution_option) + " and " + texts.cut_option,
         "one of them");
  }
  const bool names_mesh = texts.distribution.starts_with("mesh") || texts.distribution.starts_with('{');
  if (names_mesh) return parse_distribution(texts.distribution, operation);
  if (mesh.empty()) {
    fail(ErrorCode::value, operation, "`" + texts.distribution + "` without --mesh",
         "--mesh 2x3, or `mesh 2x3; ` before it");
  }
  parse_mesh(mesh, "read --mesh");
  const bool is_nothing = texts.distribution == "replicated";
  return parse_distribution("mesh " + mesh + (is_nothing ? "" : "; " + texts.distribution), operation);
}

void require_use_of_mesh(const CutOptions& options) {
  if (options.mesh.empty() || !options.from.empty() || !options.to.empty()) return;
  fail(ErrorCode::value, "read --mesh", "--mesh without --from and --to", "how axes are cut over it");
}

}  // namespace

ShardCut CutOptions::in_cut() const {
  require_use_of_mesh(*this);
  return cut_of(
      {.cut_option = "--shard-in", .cut = in, .distribution_option = "--from", .distribution = from}, mesh);
}
ShardCut CutOptions::out_cut() const {
  require_use_of_mesh(*this);
  return cut_of({.cut_option = "--shard-out", .cut = out, .distribution_option = "--to", .distribution = to},
                mesh);
}

void DeviceOptions::add(CLI::App& command) {
  add_text(command, "--devices", devices, "N,N",
           "With --engine cuda: use several GPUs, such as 0,1; each holds a part of the array");
  add_text(command, "--backend", backend, "NAME",
           "With --devices: peers, kernels and copies between the GPUs' memories (the default), or nccl, "
           "messages by NCCL");
}

std::vector<int> DeviceOptions::ordinals() const {
  constexpr std::uint64_t most_ordinal = 1023;
  std::vector<int> made;
  for (const std::string& word : split(devices, ','))
    made.push_back(static_cast<int>(parse_number("--devices", word, 0, most_ordinal)));
  if (made.empty()) fail(ErrorCode::value, "read --devices", "`" + devices + "`", "numbers such as 0,1");
  return made;
}

std::vector<std::shared_ptr<Communicator>> DeviceOptions::communicators() const {
  if (devices.empty())
    fail(ErrorCode::value, "read --backend", "--backend without --devices", "both, or neither");
  if (!backend.empty() && backend != "peers" && backend != "nccl")
    fail(ErrorCode::value, "read --backend", "`" + backend + "`", "peers or nccl");
  const std::vector<int> all = ordinals();
  if (const cuda::Status status = cuda::status(); !status.available)
    fail(ErrorCode::device, "use --devices", status.reason, "GPUs and their driver");
  return backend == "nccl" ? nccl_communicators(all) : peer_communicators(all);
}

ShardProblem shard_problem(const AskedShards& asked, const CutOptions& cuts) {
  const Problem& problem = asked.problem;
  ShardProblem made{.permutation = problem.permutation,
                    .element_bytes = problem.element_bytes,
                    .shards = {.ranks = asked.ranks, .rank = 0, .in = cuts.in_cut(), .out = cuts.out_cut()}};
  faro::detail::count_axes(made, asked.read);
  const std::vector<std::uint64_t> counted = made.in_shape();
  const std::uint64_t named =
      std::accumulate(counted.begin(), counted.end(), std::uint64_t{1}, std::multiplies<>());
  if (named != element_count(problem.permutation)) {  // of wider elements, which were taken apart
    made.axes.reset();
    made.shapes.reset();
  }
  const auto map = affine_form(problem.permutation);
  if (problem.batch != 1) {
    if (made.shapes) {
      for (auto* const side : {&made.shapes->before, &made.shapes->after})
        side->insert(side->begin(), problem.batch);
    }
    if (made.axes) {
      made.axes->shape.insert(made.axes->shape.begin(), problem.batch);
      for (int& axis : made.axes->order) ++axis;
      made.axes->order.insert(made.axes->order.begin(), 0);
      made.permutation = Axes(made.axes->shape, made.axes->order);
    } else if (map && std::has_single_bit(problem.batch)) {
      made.permutation = direct_sum(*map, Affine(std::countr_zero(problem.batch)));
    } else if (const auto* const cyclic = std::get_if<Cyclic>(&problem.permutation)) {
      made.permutation =
          CyclicAxes({problem.batch, cyclic->count}, {0, 1}, {{.count = problem.batch}, *cyclic});
    } else {
      fail(ErrorCode::unsupported, "permute shards", fmt::format("a batch of {} arrays", problem.batch),
           "permutations of axes, rolls and flips, or affine maps in 2^k arrays",
           "without --shards one process takes it");
    }
  }
  const std::uint64_t count = element_count(made.permutation);
  const auto ranks = static_cast<std::uint64_t>(asked.ranks);
  // As blocks an affine map has messages of one size, and boxes are not looked for.
  if (!cuts.is_given() && map && std::has_single_bit(count) && std::has_single_bit(ranks) && ranks <= count) {
    made.axes.reset();
    made.shapes.reset();
  }
  return made;
}

void tell_ranks(const PermuteOptions& options, const RanksTold& told, const std::function<Json()>& facts) {
  const double rate = gb_per_s(told.bytes, told.milliseconds);
  if (options.common.json) {
    Json json = facts();
    json["ms"] = told.milliseconds;
    json["gb_per_s"] = rate;
    json["verified"] = options.verify;
    return print(json);
  }
  if (options.quiet) return;
  const std::string took = fmt::format("{}, {:.3g} GB/s{}", time_text(told.milliseconds), rate,
                                       options.verify ? ", verified" : "");
  const std::string compact = compacted(told.elements) + ", " + took;
  const std::string label = options.label();
  note(fitted_line({label + ": " + told.elements + " in " + took, label + ": " + compact,
                    short_label(label) + ": " + compact, compact},
                   {{told.ranks + (told.by.empty() ? "" : " " + told.by), told.ranks},
                    {"each sends " + size_text(told.plan.sent_bytes())},
                    {"method " + std::string(name(told.plan.method()))},
                    {time_text(told.total_ms) + " with its files"}}));
}

Json ranks_json(const PermuteOptions& options, const PermutedArray& array, const Communicator& communicator,
                const ShardedPlan* sharded) {
  Json json = new_json();
  json["spec"] = array.spec;
  json["in"] = options.in;
  json["out"] = options.out;
  json["shape"] = array.shape;
  json["elements"] = array.elements;
  json["element_bytes"] = array.element_bytes;
  json["bytes"] = array.bytes;
  json["communicator"] = communicator.name();
  if (sharded == nullptr) return json;
  json["backend"] = sharded->backend();
  json["backend_reason"] = sharded->backend_reason();
  json["plan"] = Json::parse(sharded->plan().explain_json());
  return json;
}

void require_two_files(const PermuteOptions& options) {
  const std::string operation = "permute `" + options.in + "`";
  if (!options.has_out)
    fail(ErrorCode::usage, "permute", "no OUT.npy", "SPEC IN.npy OUT.npy", "`faro permute --help` shows how");
  require_npy_name(operation, options.out);
  if (io::same_target(options.in, options.out))
    fail(ErrorCode::value, operation, "the same file as OUT", "two files");
  check_spec_file(options, options.out, "OUT");
}

void RankedRun::together(const std::function<void()>& work) const {
  faro::detail::agree(*communicator_, operation_, [&] {
    work();
    return std::string();
  });
}

void RankedRun::finishing(const std::function<void()>& work) {
  try {
    together(work);
  } catch (...) {
    discard();
    throw;
  }
}

double RankedRun::slowest(double milliseconds) const {
  double most = milliseconds;
  for (const std::string& theirs : communicator_->all_gather(fmt::format("{}", milliseconds)))
    most = std::max(most, std::stod(theirs));
  return most;
}

void RankedRun::tell(const std::string& elements, const ShardPlan& plan, std::uint64_t bytes,
                     double milliseconds, Moment start, const std::function<Json()>& facts) const {
  tell_ranks(options_,
             {.elements = elements,
              .ranks = count_text(static_cast<std::uint64_t>(ranks()), "rank"),
              .by = "by " + std::string(communicator_->name()),
              .plan = plan,
              .bytes = bytes,
              .milliseconds = milliseconds,
              .total_ms = milliseconds_since(start)},
             facts);
}

}  // namespace faro::cli
