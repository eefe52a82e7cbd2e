// SPDX-License-Identifier: Apache-2.0
#include "check/findings/subjects.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "check/read/objects.h"

namespace railbed::check {
bool another_object_begins(const doc::Span& object, const doc::Span& place) {
  if (!object.known() || object.source != place.source || place.offset <= object.offset) return false;
  const std::string_view text = object.source->text;
  const auto indent = static_cast<size_t>(std::max(object.column - 1, 0));
  bool own = false;  // the apiVersion of the object itself
  size_t column = indent;
  for (size_t at = object.offset; at < place.offset && at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const size_t first = line.find_first_not_of(' ');
    column += first == std::string_view::npos ? 0 : first;
    if (first != std::string_view::npos && column <= indent) {
      const std::string_view content = line.substr(first);
      if (content.starts_with("---") || content.starts_with("```") || content.starts_with("~~~")) return true;
      if (content.starts_with("apiVersion:") && std::exchange(own, true)) return true;
    }
    column = 0;
    at = end + 1;
  }
  return false;
}

void name_subjects(const Bundle& bundle, doc::Diagnostics& findings) {
  const auto is_open = [](const doc::Diagnostic& finding) { return finding.subject.kind.empty(); };
  if (std::ranges::none_of(findings.all(), is_open)) return;
  const ObjectIndex objects(bundle);
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    doc::Subject& subject = finding.subject;
    if (!is_open(finding)) continue;
    const Document* document = objects.at(finding.span);
    if (document == nullptr) continue;
    if (finding.layer == doc::Layer::kText && another_object_begins(document->value.span, finding.span)) continue;
    subject.kind = document->kind;
    subject.object = document->ns == "default" || document->name.empty()
                         ? document->name
                         : fmt::format("{}/{}", document->ns, document->name);
    if (subject.field.empty()) subject.field = field_at(document->value, finding.span);
  }
}

}  // namespace railbed::check
