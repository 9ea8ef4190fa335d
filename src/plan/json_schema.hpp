// The number of the schema of docs/guide/json.md.
#pragma once

namespace faro::detail {

/// It grows when a key changes its meaning or goes away.
inline constexpr int kJsonSchema = 1;

}  // namespace faro::detail
