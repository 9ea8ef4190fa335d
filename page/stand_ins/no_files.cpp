// Where the page has no files: index arrays are refused, in one sentence, and a machine's measured curves are
// those that come with faro.
#include <memory>

#include "faro/error.hpp"
#include "faro/problem/target.hpp"
#include "permutation/index_file.hpp"

namespace faro {

std::shared_ptr<const IndexCalibration> calibration_for(const std::string& /*machine*/,
                                                        const IndexCalibration& built_in) {
  return std::make_shared<const IndexCalibration>(built_in);
}

namespace detail {

Indexed read_index_file(const std::string& path, Direction) {
  fail(ErrorCode::unsupported, "read `" + path + "`", "an index array's file in a page", "a map or a circuit",
       "the command `faro explain` reads index arrays");
}

}  // namespace detail
}  // namespace faro
