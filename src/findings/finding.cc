// SPDX-License-Identifier: Apache-2.0
#include "findings/finding.h"

#include <array>

#include <fmt/format.h>

namespace railbed::findings {
namespace {

struct KindWords {
  Subject::Kind kind;
  std::string_view name;  // in JSON
  std::string_view noun;  // before the subject's name in texts; empty: the name says it
};

constexpr std::array<KindWords, 14> kKinds = {{
    {Subject::Kind::kPci, "pci", "PCI function"},
    {Subject::Kind::kCardModel, "card-model", "card model"},
    {Subject::Kind::kInterface, "interface", "interface"},
    {Subject::Kind::kRdmaDevice, "rdma-device", "RDMA device"},
    {Subject::Kind::kRdmaPort, "rdma-port", "RDMA port"},
    {Subject::Kind::kLink, "link", "link"},
    {Subject::Kind::kRail, "rail", "rail"},
    {Subject::Kind::kNode, "node", "node"},
    {Subject::Kind::kNodes, "nodes", "nodes"},
    {Subject::Kind::kNodePath, "node-path", "node"},
    {Subject::Kind::kPod, "pod", "pod"},
    {Subject::Kind::kObject, "object", ""},
    {Subject::Kind::kApiServer, "api-server", "API server"},
    {Subject::Kind::kRequest, "request", ""},
}};

constexpr bool is_in_order() {
  for (size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i].kind != static_cast<Subject::Kind>(i)) return false;
  return true;
}
static_assert(is_in_order() && static_cast<size_t>(Subject::Kind::kRequest) + 1 == kKinds.size());

const KindWords& words_of(Subject::Kind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

}  // namespace

std::string_view kind_name(Subject::Kind kind) {
  return words_of(kind).name;
}

std::string Subject::to_string() const {
  const std::string_view noun = words_of(kind).noun;
  return fmt::format("{}{}{}", noun, noun.empty() || name.empty() ? "" : " ", name);
}

}  // namespace railbed::findings
