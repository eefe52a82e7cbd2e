// SPDX-License-Identifier: Apache-2.0
// Any JSON as each of the objects of a cluster: it is shown, or named as unreadable, without escaping from its place in
// the page.
#include <cstdlib>

#include "doc/json.h"
#include "report/html_cluster.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  doc::Diagnostics diagnostics;
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)});
  const auto object = doc::parse_json(source, diagnostics);
  if (!object) return 0;
  report::ClusterObjects objects;
  for (std::vector<doc::Value>* list :
       {&objects.nodes, &objects.node_states, &objects.policies, &objects.definitions, &objects.pods})
    list->push_back(*object);
  const std::string html = report::cluster_html(report::cluster_of(objects)).text();
  for (const std::string_view markup : {"<script", "<img", "<style", "<a "})
    if (html.find(markup) != std::string::npos) std::abort();
  return 0;
}
