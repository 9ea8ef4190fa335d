// The verbs of the command line: each adds its subcommand to the parser and returns what runs it.
//
//     faro permute SPEC IN.npy OUT.npy     faro explain SPEC     faro bench SPEC…
//     faro maps [NAME]                     faro info             faro new SHAPE DTYPE OUT.npy
//     faro layout --rows R --columns C --access A…
//     faro layout convert FROM TO          faro layout check LAYOUT INDEX…
//     faro simulate PROGRAM [FILE]
//     faro network ACTION [PROGRAM [IN.npy OUT.npy]]
//     faro emit SPEC                       faro tune
//     faro synth EXAMPLE
//     faro take|put|add INDEX.npy IN.npy OUT.npy
//     faro shuffle IN.npy OUT.npy --seed SEED
//     faro convert IN OUT
//     faro checkpoint RULES IN OUT
//     faro recover FILE
//     faro route KEYS.npy --buckets N --out-places P.npy --out-offsets O.npy
//
// Those of extras/ join them where they are built (faro_extra_verb in cmake/FaroTargets.cmake).
//
// A verb throws faro::Error, writes data to standard output and everything else to standard error. main()
// turns errors into one line, JSON and an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

// What the command of `make demo` runs in the place of a function that it was built without
// (cmake/FaroDemo.cmake): it refuses.
extern "C" [[noreturn]] void faro_left_out();

namespace faro::cli {

struct Verb {
  CLI::App* command = nullptr;
  std::function<void()> run;
};

Verb permute_verb(CLI::App& app);
Verb explain_verb(CLI::App& app);
Verb bench_verb(CLI::App& app);
Verb maps_verb(CLI::App& app);
Verb info_verb(CLI::App& app);
Verb new_verb(CLI::App& app);
Verb layout_verb(CLI::App& app);
Verb emit_verb(CLI::App& app);
Verb tune_verb(CLI::App& app);
Verb wisdom_verb(CLI::App& app);
Verb take_verb(CLI::App& app);
Verb put_verb(CLI::App& app);
Verb add_verb(CLI::App& app);
Verb route_verb(CLI::App& app);
Verb shuffle_verb(CLI::App& app);
Verb recover_verb(CLI::App& app);
Verb convert_verb(CLI::App& app);
Verb checkpoint_verb(CLI::App& app);

}  // namespace faro::cli
