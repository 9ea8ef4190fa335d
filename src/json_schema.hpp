// The number of the schema of docs/guide/json.md: it grows when a key changes its meaning or goes away.
#pragma once

namespace faro {

inline constexpr int kJsonSchema = 1;

}  // namespace faro
