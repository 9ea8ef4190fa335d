// The figures of the swizzle paper: that the synthesised programs go through every grid that is drawn there.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "reproduce/reproduce.hpp"

namespace faro::reproduce {
namespace reproduce_swizzle_test {

TEST(ReproduceSwizzle, EveryGridIsReproduced) {
  const Table table = reproduce("swizzle-grids");
  EXPECT_EQ(table.rows.size(), 4U * 7U + 5U);
  std::set<std::string> seen;
  for (const Row& row : table.rows) {
    SCOPED_TRACE(row.subject + ", " + row.quantity);
    EXPECT_EQ(row.agrees, true) << std::get<std::string>(row.here);
    EXPECT_EQ(row.criterion, "equal");
    EXPECT_TRUE(seen.insert(row.subject + "; " + row.quantity).second);
  }
  EXPECT_EQ(table.notes.size(), 2U);  // both exchanges had a solution that goes through the drawn steps
}

}  // namespace reproduce_swizzle_test
}  // namespace faro::reproduce
