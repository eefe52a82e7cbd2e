// SPDX-License-Identifier: Apache-2.0
// What the meta plugin reads from outside: its configuration, Multus' files, device information, answers of plugins.
// The first byte says which.
#include <cstdint>
#include <cstdlib>

#include "agent/leftovers/written_addresses.h"
#include "agent/pod/device_info.h"
#include "agent/pod/meta_config.h"
#include "agent/pod/meta_multus.h"
#include "agent/pod/network_status.h"
#include "agent/records/exec_records.h"

using namespace railbed;  // NOLINT

namespace {

void configuration(const std::string& text) {
  auto plugin = cni::read_plugin_config(text);
  if (!plugin.has_value()) return;
  auto config = agent::read_meta_config(*plugin);
  if (config.has_value() && (config->conf_dir.empty() || config->conf_dir.front() != '/')) std::abort();
}

void multus(const std::string& text) {
  for (const auto& one : agent::read_multus_delegates(text, "eth0"))
    if (one.ifname.empty() || one.ifname.find('/') != std::string::npos) std::abort();
  (void)agent::read_library_cache(text);
  (void)agent::addresses_of_status(text);
}

// An answer is the same after writing and reading.
void answer(const std::string& text) {
  auto result = cni::read_result(text, "1.0.0");
  if (!result.has_value()) return;
  (void)agent::annotation_text(agent::to_value(std::vector<agent::NetworkStatus>{{"ns/net", true, *result, {}}}));
  state::Attachment record = agent::program_record(
      "ns/a@c1", "net", 0, {.type = "x", .container_id = "c1", .ifname = "eth0", .config = "{}"}, "1.0.0");
  agent::conclude(record, *result);
  if (!agent::execution_of(record, cni::Command::kDel)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
      configuration(text);
      break;
    case 1:
      multus(text);
      break;
    case 2:
      (void)agent::read_device_info(text);
      break;
    default:
      answer(text);
  }
  return 0;
}
