// SPDX-License-Identifier: Apache-2.0
#include "findings/printers.h"

#include "base/format.h"
#include "doc/members.h"
#include "doc/text.h"

namespace railbed::findings {
namespace {

using doc::Value;

std::string evidence_text(const Evidence& one) {
  const std::string time = one.at ? fmt::format(", {}", utc_text(*one.at)) : "";
  return fmt::format("{} in {} ({}{})", one.value, one.what, one.source, time);
}

Value evidence_value(const Evidence& one) {
  Value out = Value::object();
  out.set("source", one.source);
  out.set("what", one.what);
  out.set("value", one.value);
  if (one.at) out.set("at", utc_text(*one.at));
  return out;
}

}  // namespace

std::string to_line(const Finding& finding) {
  if (finding.fix.empty()) return doc::printable(finding.message);
  return doc::printable(fmt::format("{} ({})", finding.message, finding.fix));
}

std::string to_text(const Finding& finding, std::string_view severity, Detail detail) {
  const bool is_full = detail == Detail::kFull;
  const std::string id = is_full ? fmt::format(" [{}]", finding.id) : "";
  std::string out = fmt::format("{:<8} {}{}\n", severity, doc::printable(finding.message), id);
  out += fmt::format("         where: {}\n", doc::printable(finding.subject.to_string()));
  if (is_full)
    for (const Evidence& one : finding.evidence)
      out += fmt::format("         seen:  {}\n", doc::printable(evidence_text(one)));
  if (!finding.fix.empty()) out += fmt::format("         do:    {}\n", doc::printable(finding.fix));
  return out;
}

Value to_value(const Finding& finding) {
  Value subject = Value::object();
  subject.set("kind", kind_name(finding.subject.kind));
  subject.set("name", finding.subject.name);
  Value evidence = Value::array();
  for (const Evidence& one : finding.evidence) evidence.push(evidence_value(one));
  Value out = Value::object();
  out.set("id", finding.id);
  out.set("severity", doc::severity_name(finding.severity));
  out.set("subject", std::move(subject));
  out.set("message", finding.message);
  doc::put_text(out, "fix", finding.fix);
  out.set("evidence", std::move(evidence));
  return out;
}

}  // namespace railbed::findings
