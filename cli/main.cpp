// The command `faro`: finds the verb, runs it, and turns every error into one line and an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/help.hpp"
#include "cli/process.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "faro/suggest.hpp"
#include "faro_build_info.hpp"
#include "faro_extra_verbs.hpp"
#include "faro_processor.hpp"

namespace faro::cli {
namespace {

// "permute, explain or bench"
std::string list_of(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

constexpr const char* kQuickStart =
    R"(faro plans and runs fast permutations of large arrays, on CPUs and GPUs.

  faro new 2^24 u4 in.npy                        an array to try it on
  faro permute bit_reversal in.npy out.npy       out[pi(x)] = in[x], written beside and renamed
  faro explain 'transpose(4096, 4096)'           how a permutation is run, and why
  faro bench 'bit_reversal(24)'                  timed against a plain copy and the obvious loop
  faro maps                                      every permutation that has a name
  faro take index.npy in.npy out.npy             rows by an index array: out[i] = in[index[i]]
  faro info                                      version, processor, engines

`faro help` lists the verbs, `faro help VERB` the options of one.)";

class Command {
 public:
  Command() {
    app_.set_version_flag("--version", "faro " FARO_VERSION " (" FARO_COMMIT ")",
                          "The version and the commit");
    app_.require_subcommand(0, 1);
    for (const auto make : {permute_verb, explain_verb, bench_verb, maps_verb, info_verb, new_verb})
      verbs_.push_back(make(app_));
#ifndef FARO_DEMO
    for (const auto make : {layout_verb, emit_verb, tune_verb, wisdom_verb, take_verb, put_verb, add_verb,
                            route_verb, shuffle_verb, recover_verb, convert_verb, checkpoint_verb})
      verbs_.push_back(make(app_));
#endif
    for (const auto make : extra_verbs()) verbs_.push_back(make(app_));
    verbs_.push_back(help_verb());
    add_groups_and_examples(app_);
  }

  void run(std::span<const std::string> arguments) {
    if (arguments.empty()) return print(std::string(kQuickStart));
    check_verb(arguments.front());
    try {
      // CLI11 takes its arguments from the back.
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
      return print_page(app_.help());  // of the verb, where one was read
    } catch (const CLI::CallForVersion& version) {
      return print(std::string(version.what()));
    } catch (const CLI::ParseError& error) {
      fail_to_parse(error);
    }
    chosen()->run();
  }

 private:
  // From the last: a project's verb within another, `layout convert`, is behind that.
  const Verb* chosen() const {
    const auto found =
        std::find_if(verbs_.rbegin(), verbs_.rend(), [](const Verb& verb) { return verb.command->parsed(); });
    return found == verbs_.rend() ? nullptr : &*found;
  }

  // "permute", "layout convert"
  std::string name_of(const CLI::App& command) const {
    const CLI::App* const parent = command.get_parent();
    const bool is_within = parent != nullptr && parent != &app_;
    return (is_within ? parent->get_name() + " " : "") + command.get_name();
  }

  // faro help [VERB]
  Verb help_verb() {
    CLI::App* const command = app_.add_subcommand("help", "Print this page, or that of a verb");
    command->add_option("VERB", verb_to_help_, "A verb; without it all verbs are listed");
    return {command, [this] {
              if (verb_to_help_.empty()) {
                // app_.help() would be the page of the verb that was read: this one.
                return print_page(
                    app_.get_formatter()->make_help(&app_, app_.get_name(), CLI::AppFormatMode::Normal));
              }
              check_verb(verb_to_help_);
              print_page(app_.get_subcommand(verb_to_help_)->help(app_.get_name()));
            }};
  }

  static void print_page(std::string page) {
    while (page.ends_with('\n')) page.pop_back();
    print(page);
  }

  // Before CLI11, which would call a misspelt verb an unexpected argument.
  void check_verb(const std::string& word) const {
    std::vector<std::string> names;
    for (const Verb& verb : verbs_)
      if (verb.command->get_parent() == &app_) names.push_back(verb.command->get_name());
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    std::vector<std::string_view> candidates(names.begin(), names.end());
    for (const MissingVerb& missing : missing_verbs()) {
      if (word != missing.verb) continue;
      fail(ErrorCode::unsupported, "find the verb",
           "`" + word + "` of " + missing.project + ", which this build leaves out", list_of(names),
           "`make build` builds all verbs");
    }
    if (!word.starts_with('-')) {
      const std::string suggestion = did_you_mean(word, candidates);
      fail(ErrorCode::usage, "find the verb", "`" + word + "`", list_of(names),
           suggestion.empty() ? "`faro --help` lists them" : suggestion);
    }
    constexpr std::array<std::string_view, 3> flags{"--help", "--version", "-h"};
    if (std::find(flags.begin(), flags.end(), word) != flags.end()) return;
    const std::string suggestion = did_you_mean(word, flags);
    fail(ErrorCode::usage, "find the verb", "`" + word + "`", "a verb first, --help or --version",
         suggestion.empty() ? "options of a verb come after it" : suggestion);
  }

  [[noreturn]] void fail_to_parse(const CLI::ParseError& error) const {
    const Verb* const verb = chosen();
    if (verb == nullptr)
      fail(ErrorCode::usage, "read the command line", error.what(), "a verb", "`faro --help` lists them");
    const std::string operation = name_of(*verb->command);
    const std::string help = "`faro " + operation + " --help` shows how";
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      const std::vector<std::string> extras = app_.remaining(true);
      const std::string extra = extras.empty() ? "" : extras.front();
      const bool is_flag = extra.starts_with('-') && extra.size() > 1;
      fail(ErrorCode::usage, operation,
           (is_flag ? "unknown option `" : "one argument too many, `") + extra + "`",
           is_flag ? "an option of this verb" : verb_usage(*verb->command),
           is_flag ? suggest_flag(*verb->command, extra) : help);
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      const std::string text = error.what();
      const std::string name = text.substr(0, text.find(" is required"));
      fail(ErrorCode::usage, operation, "no " + name, verb_usage(*verb->command), help);
    }
    // Whatever else goes wrong is an option's value: missing, empty, given twice.
    std::string what = error.what();
    if (const std::size_t at = what.find(": At Most 1 required"); at != std::string::npos)
      what = what.substr(0, at) + " more than once";
    fail(ErrorCode::usage, operation, what, "each option at most once, with its value", help);
  }

  // "SPEC IN.npy OUT.npy", and with options that have to be there "IN.npy OUT.npy --seed SEED"
  static std::string verb_usage(const CLI::App& command) {
    std::string usage;
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_positional()) usage += (usage.empty() ? "" : " ") + option->get_name(true);
    }
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_positional() || !option->get_required()) continue;
      usage += (usage.empty() ? "" : " ") + option->get_name() + " " + option->get_type_name();
    }
    return usage.empty() ? "no arguments" : usage;
  }

  CLI::App app_{"Plans and runs fast permutations of large arrays, on CPUs and GPUs.", "faro"};
  std::vector<Verb> verbs_;
  std::string verb_to_help_;
};

// Where standard input, output or error is closed, the next file opened would take its number, and what is
// printed would land in that file.
void fill_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Takes the lowest free number, this one. Read-only, so that writing to it fails as it did.
    [[maybe_unused]] const int taken = open("/dev/null", O_RDONLY);
  }
}

int run_command(std::span<const std::string> arguments) {
  const bool as_json = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--json" || argument == "--json=true";
  });
  const auto internal = [](const std::string& got) {
    return Error({.code = ErrorCode::internal,
                  .operation = "run",
                  .got = got,
                  .wanted = "no such failure",
                  .remedy = "this is a bug in faro; please report it with the command"});
  };
  try {
    if (!processor_suffices()) {
      fail(ErrorCode::unsupported, "start", std::string("a processor without ") + kInstructionSet,
           "the processor that faro was built for", "`make build` builds it for every processor");
    }
    Command().run(arguments);
    tell_notes();
    return 0;
  } catch (const Told& told) {
    return told.exit_status;
  } catch (const Verdict& verdict) {
    tell_notes();
    note("faro: " + verdict.line);
    return verdict.exit_status;
  } catch (const Error& error) {
    return report_before_ranks(error, arguments, as_json);
  } catch (const std::bad_alloc&) {
    // The report itself needs a little.
    return report_error(Error({.code = ErrorCode::value,
                               .operation = "allocate",
                               .got = "no memory",
                               .wanted = "a smaller problem or more memory",
                               .remedy = {}}),
                        as_json);
  } catch (const std::exception& error) {
    return report_error(internal(error.what()), as_json);
  }
}

}  // namespace
}  // namespace faro::cli

int main(int argc, char** argv) {
  faro::cli::fill_standard_descriptors();
  faro::cli::install_signal_handlers();
  faro::cli::share_heap_under_limit();
  faro::cli::prepare_thread_stacks(argv);
  return faro::cli::with_enough_stack([&] {
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    return faro::cli::run_command(arguments);
  });
}
