// Words for a POSIX shell, for the commands that faro writes into what it makes.
#pragma once

#include <string>
#include <string_view>

namespace faro {

/// One word of a command line that the shell gives back as `text`: as it is, or in single quotes.
///
///     shell_word("out.npy")     ->  out.npy
///     shell_word("it's.npy")    ->  'it'\''s.npy'
///     shell_word("")            ->  ''
std::string shell_word(std::string_view text);

}  // namespace faro
