// SPDX-License-Identifier: Apache-2.0
// Any bytes as a watch, in any pieces: no crash, and the same events as in one piece.
#include <vector>

#include "doc/json.h"
#include "kube/api_error.h"
#include "kube/object.h"
#include "kube/watch_decoder.h"

using namespace railbed::kube;

namespace {

// All events as text, then how it ended. `cut` is the length of the pieces, 0 for one.
std::vector<std::string> events_of(std::string_view bytes, size_t cut) {
  std::vector<std::string> out;
  WatchDecoder decoder({.text_bytes = 1000, .memory_bytes = 20'000});
  const size_t step = cut == 0 ? bytes.size() + 1 : cut;
  for (size_t at = 0; at < bytes.size(); at += step) {
    decoder.push(bytes.substr(at, step));
    while (true) {
      auto event = decoder.next();
      if (!event) {
        out.push_back(event.error().message);
        return out;
      }
      if (!*event) break;
      if ((*event)->type == WatchType::kError) static_cast<void>(refused("watch", (*event)->object));
      trim_metadata((*event)->object);
      pod_trim()((*event)->object);
      out.push_back(fmt::format("{} {} {}", static_cast<int>((*event)->type), describe((*event)->object),
                                railbed::doc::to_json((*event)->object)));
    }
  }
  if (decoder.in_line()) out.emplace_back("cut");
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (events_of(bytes, 0) != events_of(bytes, 1 + data[0] % 64)) __builtin_trap();
  return 0;
}
