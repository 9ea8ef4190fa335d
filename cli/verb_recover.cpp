// faro recover FILE: finishes what an interrupted `faro permute --in-place` left, or takes it back.

#include <filesystem>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/file_report.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "faro/file.hpp"

namespace faro::cli {
namespace {

struct RecoverOptions {
  PermuteOptions permute;
  bool undo = false;
};

void recover(const RecoverOptions& options) {
  const PermuteOptions& permute = options.permute;
  const file::Io io = io_of(permute.io);
  if (!std::filesystem::exists(permute.in))
    fail(ErrorCode::file, "recover `" + permute.in + "`", "no such file",
         "a file that was permuted in place");
  const auto tell_whole = [&](const char* why) {
    if (permute.common.json) {
      Json json = new_json();
      json["in"] = permute.in;
      json["recovered"] = false;
      return print(json);
    }
    if (!permute.quiet) note("`" + permute.in + "` is whole: " + why);
  };
  if (!file::is_permuted_in_part(permute.in)) return tell_whole("no run in place was interrupted");
  const InterruptNote interrupted("`" + permute.in + "` is permuted in part: `faro recover` goes on");
  FileWatch watch(permute);
  file::Options file_options{.threads = permute.common.plan_options(1).threads, .io = io};
  watch.watch(options.undo ? "taking back" : "finishing",
              {.label = std::string(options.undo ? "taken back: " : "finished: ") + permute.in,
               .spec = options.undo ? "undo" : "finish",
               .elements = "",
               .shape_before = {},
               .shape = {}},
              file_options);
  const file::Report report =
      file::recover(permute.in, options.undo ? file::Recovery::undo : file::Recovery::finish, file_options);
  if (report.finished && report.facts.tiles == 0) tell_whole("the run that was interrupted had not begun");
}

}  // namespace

Verb recover_verb(CLI::App& app) {
  const auto options = std::make_shared<RecoverOptions>();
  PermuteOptions& permute = options->permute;
  CLI::App* const command = app.add_subcommand("recover", "Finish or undo an interrupted run in place");
  add_argument(*command, "FILE", permute.in, "The file that was permuted with --in-place");
  command->add_flag("--undo", options->undo, "Undo what was done, so that the file is as it was before");
  add_text(*command, "--io", permute.io, "WAY",
           "How files are read and written: auto, uring, threads (both with O_DIRECT) or buffered");
  permute.common.add_run(*command, permute.quiet);
  return {command, [options] { recover(*options); }};
}

}  // namespace faro::cli
