// SPDX-License-Identifier: Apache-2.0
#include "api/metadata.h"

#include "api/names.h"

namespace railbed::api {

std::map<std::string, std::string> read_string_map(doc::Fields& reader, std::string_view key) {
  std::map<std::string, std::string> out;
  const doc::Value* map = reader.object(key);
  if (map == nullptr) return out;
  for (const doc::Value::Member& member : *map->as_object()) {
    const std::string name = fmt::format("{}[{}]", reader.path_of(key), member.key);
    out[member.key] = reader.text_of(member.value, name).value;
  }
  return out;
}

std::vector<Elsewhere> top_level(std::vector<Elsewhere> others) {
  for (std::string_view key : {"name", "namespace", "labels", "annotations"})
    others.push_back({key, "is a field of metadata", "indent it below 'metadata:'"});
  others.push_back({"k8s.v1.cni.cncf.io/networks", "is an annotation", "put it below 'metadata: annotations:'"});
  return others;
}

Metadata read_metadata(doc::Fields& reader, doc::Diagnostics& out) {
  Metadata meta;
  meta.span = reader.span();
  meta.ns = {.value = "default", .span = reader.span()};
  reader.require("metadata");
  const doc::Value* object = reader.object("metadata");
  if (object == nullptr) return meta;
  doc::Fields fields(*object, "metadata", "RB-API", out);
  if (const auto made = fields.text("generateName"); made.present && object->find("name") == nullptr)
    fields.error(9, made.span, "metadata.generateName: only an API server makes names; railbed needs metadata.name")
        .for_one_machine();
  else
    fields.require("name");
  meta.name = fields.text("name");
  check_subdomain(meta.name, "metadata.name", out);
  if (auto ns = fields.text("namespace"); ns.present) meta.ns = ns;
  check_label(meta.ns, "metadata.namespace", out);
  meta.labels = read_string_map(fields, "labels");
  if (const doc::Value* annotations = fields.object("annotations"))
    for (const doc::Value::Member& member : *annotations->as_object()) {
      fields.text_of(member.value, fmt::format("metadata.annotations[{}]", member.key));
      meta.annotations[member.key] = {.value = member.value, .present = true, .span = member.value.span};
    }
  fields.ignore({"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
                 "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields", "selfLink",
                 "clusterName"});
  fields.finish({{"resourceName", "is a field of spec, not of metadata", ""},
                 {"nodeSelector", "is a field of spec, not of metadata", ""}});
  return meta;
}

}  // namespace railbed::api
