// SPDX-License-Identifier: Apache-2.0
#include "check/rules/missing_resources.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "check/read/objects.h"

namespace railbed::check {
namespace {

// A resource that was probably meant: with the same name after its prefix, or nearly the same one.
std::string meant_resource(const Views& views, const std::string& wanted) {
  std::vector<std::string_view> made;
  for (const Producer& producer : views.producers) {
    if (base_name(producer.resource) == base_name(wanted)) return producer.resource;
    made.push_back(producer.resource);
  }
  const std::string near = doc::nearest(wanted, made);
  return differ_in_numbers(near, wanted) ? "" : near;
}

void weigh_missing_resource(const Document& network, const Views& views, const World& world, doc::Diagnostic& finding) {
  std::vector<const Document*> makers;
  for (const Producer& producer : views.producers) makers.push_back(producer.document);
  const bool near = !meant_resource(views, finding.missing).empty();
  const Absence absence = absence_of(world, network, makers, near);
  if (absence.why.empty()) {
    // A resource that resembles none may come from a plugin that is set up elsewhere.
    finding.severity = near ? doc::Severity::kError : doc::Severity::kWarning;
    return;
  }
  finding.severity = absence.severity;
  if (!near) finding.message += ": " + absence.why;
}

}  // namespace

void weigh_missing_resources(const Bundle& bundle, const Views& views, const World& world, doc::Diagnostics& findings) {
  const ObjectIndex objects(bundle);
  const auto is_missing_resource = [](const doc::Diagnostic& finding) {
    return finding.says == doc::Says::kMissingResource;
  };
  std::erase_if(findings.mutable_all(), [&](const doc::Diagnostic& finding) {
    return is_missing_resource(finding) && views.producer(finding.missing) != nullptr;
  });
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    const Document* network = is_missing_resource(finding) ? objects.at(finding.span) : nullptr;
    if (network != nullptr) weigh_missing_resource(*network, views, world, finding);
  }
}

}  // namespace railbed::check
