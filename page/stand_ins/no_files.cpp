// Where the page has no files: index arrays are refused, in one sentence.
#include "faro/error.hpp"
#include "permutation/index_file.hpp"

namespace faro::detail {

Indexed read_index_file(const std::string& path, Direction) {
  fail(ErrorCode::unsupported, "read `" + path + "`", "an index array's file in a page", "a map or a circuit",
       "the command `faro explain` reads index arrays");
}

}  // namespace faro::detail
