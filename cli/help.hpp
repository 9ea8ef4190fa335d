// What `faro --help` and `faro VERB --help` say beyond the options: the groups that verbs stand in, and two
// examples of each.
//
//     faro help            as faro --help
//     faro help VERB       as faro VERB --help
#pragma once

#include <CLI/CLI.hpp>

namespace faro::cli {

/// Puts each verb of `app` into its group, and its examples below its options. A verb that the table does not
/// know has none, and tests/cli/help.sh says so.
void add_groups_and_examples(CLI::App& app);

}  // namespace faro::cli
