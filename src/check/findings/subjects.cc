// SPDX-License-Identifier: Apache-2.0
#include "check/findings/subjects.h"

#include <algorithm>

#include "check/read/objects.h"

namespace railbed::check {

void name_subjects(const Bundle& bundle, doc::Diagnostics& findings) {
  const auto is_open = [](const doc::Diagnostic& finding) { return finding.subject.kind.empty(); };
  if (std::ranges::none_of(findings.all(), is_open)) return;
  const ObjectIndex objects(bundle);
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    doc::Subject& subject = finding.subject;
    if (!is_open(finding)) continue;
    const Document* document = objects.at(finding.span);
    if (document == nullptr) continue;
    subject.kind = document->kind;
    subject.object = document->ns == "default" || document->name.empty()
                         ? document->name
                         : fmt::format("{}/{}", document->ns, document->name);
    if (subject.field.empty()) subject.field = field_at(document->value, finding.span);
  }
}

}  // namespace railbed::check
