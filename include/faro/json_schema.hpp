// The number of the schema of docs/guide/json.md, which all JSON of faro's begins with.
#pragma once

namespace faro {

/// It grows when a key changes its meaning or goes away.
inline constexpr int kJsonSchema = 1;

}  // namespace faro
