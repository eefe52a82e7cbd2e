// SPDX-License-Identifier: Apache-2.0
// Any YAML as an object of every kind in turn: no crash, and every edit changes what its finding points at,
// inside of the text, so that a repaired text is no longer than it may be.
#include "doc/edits.h"
#include "doc/yaml.h"
#include "schema/schema.h"

using namespace railbed;

namespace {
void check_as(const doc::Value& value, const schema::Schema& schema, const doc::SourcePtr& source) {
  doc::Diagnostics findings;
  schema::check_schema(value, schema, "", findings);
  doc::render(findings);
  std::vector<doc::Edit> edits;
  for (const doc::Diagnostic& finding : findings.all()) {
    for (const doc::Edit& edit : finding.edits)
      if (edit.source != source || edit.offset + edit.length > source->text.size()) __builtin_trap();
    edits.insert(edits.end(), finding.edits.begin(), finding.edits.end());
  }
  doc::EditedText(source, std::move(edits));
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::string> kKinds = schema::schema_kinds();
  const auto source =
      std::make_shared<doc::Source>(doc::Source{"a", std::string(reinterpret_cast<const char*>(data), size)});
  doc::Diagnostics problems;
  for (const doc::Value& value : doc::parse_yaml(source, problems)) {
    const doc::Value* kind = value.find("kind");
    const schema::Schema* schema = kind && kind->as_string() ? schema::find_schema("", *kind->as_string()) : nullptr;
    if (schema == nullptr) schema = schema::find_schema("", kKinds[size % kKinds.size()]);
    check_as(value, *schema, source);
    for (const char* type : {"sriov", "whereabouts"}) check_as(value, *schema::find_plugin_schema(type), source);
  }
  return 0;
}
