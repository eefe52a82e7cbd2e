// SPDX-License-Identifier: Apache-2.0
#include "api/kinds.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/attachment.h"
#include "api/network.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/policy.h"

namespace railbed::api {

namespace {

template <auto read, auto list>
void keep_parsed(const Kind& kind, const doc::Value& document, StatusPart status, doc::Diagnostics& out,
                 Objects& objects) {
  if (auto object = parsed<read>(kind.name, document, status, out)) (objects.*list).push_back(*std::move(object));
}

struct KindParser {
  const Kind& kind;
  Parse parse;
};

constexpr KindParser kParsers[] = {
    {kind_named("SriovNetworkNodePolicy"), keep_parsed<read_policy, &Objects::policies>},
    {kind_named("SriovNetwork"), keep_parsed<read_sriov_network, &Objects::networks>},
    {kind_named("SriovIBNetwork"), keep_parsed<read_sriov_ib_network, &Objects::networks>},
    {kind_named("NetworkAttachmentDefinition"), keep_parsed<read_attachment, &Objects::attachments>},
    {kind_named("Pod"), keep_parsed<read_pod, &Objects::pods>},
    {kind_named("Node"), keep_parsed<read_node, &Objects::nodes>},
};

// Whether `whole` has all letters of `part` in their order, and few others.
bool is_shortened(std::string_view part, std::string_view whole) {
  if (part.size() < 5 || whole.size() < part.size() || whole.size() - part.size() > 6) return false;
  size_t found = 0;
  for (char c : whole)
    if (found < part.size() && c == part[found]) ++found;
  return found == part.size();
}

}  // namespace

Parse parser_of(const Kind& kind) {
  const auto found = std::ranges::find(kParsers, kind.name, [](const KindParser& one) { return one.kind.name; });
  return found != std::end(kParsers) ? found->parse : nullptr;
}

std::string nearest_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  if (name.ends_with("ies"))  // a plural
    if (const std::string singular = std::string(name.substr(0, name.size() - 3)) + "y"; find_kind(singular))
      return singular;
  if (std::string near = doc::nearest(name, names); !near.empty()) return near;
  for (std::string_view known : names)
    if (is_shortened(name, known)) return std::string(known);
  return "";
}

}  // namespace railbed::api
