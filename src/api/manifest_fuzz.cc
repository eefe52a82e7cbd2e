// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of manifests: no crash, no hang; an object that was taken has a name.
#include "api/attachment.h"
#include "api/load.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{"in", std::string(reinterpret_cast<const char*>(data), size)});
  doc::Diagnostics diagnostics;
  const api::Objects objects = api::load({source}, diagnostics);
  diagnostics.sort();
  doc::render(diagnostics);
  for (const api::SriovNetwork& network : objects.networks)
    if (api::config_text(render(network).config).empty()) __builtin_trap();
  for (const api::SriovNetworkNodePolicy& policy : objects.policies)
    if (policy.meta.name->empty()) __builtin_trap();
  for (const api::Pod& pod : objects.pods)
    if (pod.meta.name->empty()) __builtin_trap();
  return 0;
}
