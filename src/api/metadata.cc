// SPDX-License-Identifier: Apache-2.0
#include "api/metadata.h"

#include "api/names.h"
#include "doc/members.h"

namespace railbed::api {

Metadata read_metadata(const doc::Value& object, doc::Diagnostics& out) {
  Metadata meta;
  meta.span = object.span;
  meta.ns = {.value = "default", .span = object.span};
  const doc::Value* found = doc::object_in(object, "metadata");
  if (found == nullptr) return meta;
  meta.name = doc::text_field(*found, "name");
  if (const doc::Value* name = found->find("name"); name == nullptr || name->is_null())
    if (const auto made = doc::text_field(*found, "generateName"); made.present)
      out.error("RB-API-009", made.span,
                "metadata.generateName: only an API server makes names; railbed needs metadata.name")
          .of(doc::Layer::kObject)
          .for_one_machine();
  check_subdomain(meta.name, "metadata.name", out);
  if (auto ns = doc::text_field(*found, "namespace"); ns.present) meta.ns = std::move(ns);
  check_label(meta.ns, "metadata.namespace", out);
  meta.labels = doc::text_map_at(*found, "labels");
  if (const doc::Value* annotations = doc::object_in(*found, "annotations"))
    for (const doc::Value::Member& member : *annotations->as_object())
      meta.annotations[member.key] = {.value = member.value, .present = true, .span = member.value.span};
  return meta;
}

}  // namespace railbed::api
