// SPDX-License-Identifier: Apache-2.0
#include "api/compare.h"

#include "api/load.h"

namespace railbed::api {
namespace {

void check_networks(const doc::Value& text, doc::Diagnostics& out) {
  parse_networks_annotation(text, "default", out);
}

}  // namespace

bool compare(const doc::Value& object, const schema::Schema& schema, StatusPart status, NetworksAnnotation networks,
             doc::Diagnostics& out) {
  return schema::check_schema(object, schema, "", out,
                              {.networks = networks == NetworksAnnotation::kRead ? check_networks : nullptr,
                               .status = status == StatusPart::kCompared});
}

bool compare(const doc::Value& object, std::string_view kind, StatusPart status, NetworksAnnotation networks,
             doc::Diagnostics& out) {
  return compare(object, *schema::find_schema("", kind), status, networks, out);
}

doc::Diagnostic& wrong_value(const doc::Span& span, std::string message, doc::Diagnostics& out) {
  return out.error("RB-API-005", span, std::move(message)).of(doc::Layer::kObject);
}

}  // namespace railbed::api
