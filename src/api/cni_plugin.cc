// SPDX-License-Identifier: Apache-2.0
#include "api/cni_plugin.h"

#include "api/ipam_parse.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "schema/cni_values.h"

namespace railbed::api {

using doc::Value;

namespace {

void check_infiniband(const Plugin& plugin, doc::Fields& fields) {
  const Value* ipam = plugin.config.find("ipam");
  if (ipam != nullptr && doc::text_in(*ipam, "type") == "dhcp")
    fields.error(7, ipam->find("type")->span, "dhcp does not work with ib-sriov")
        .with_fix("use whereabouts, host-local or static");
  // Which partitions a port is in is set by the subnet manager; the kernel has no call that sets a VF's.
  if (const std::string pkey = doc::text_in(plugin.config, "pkey"); !pkey.empty())
    fields
        .warning(8, plugin.config.find("pkey")->span,
                 fmt::format("pkey {} is not set here: a port's partitions come from the subnet manager", pkey))
        .with_fix("add the VFs' GUIDs to that partition there (partitions.conf of opensm, or UFM)")
        .for_one_machine();
}

// Of a plugin of others, whose keys are not known: its ipam is one of ours. Calico fills in the subnet ("usePodCidr").
void check_ipam_of_others(const Plugin& plugin, doc::Diagnostics& out) {
  const Value* ipam = plugin.config.find("ipam");
  if (ipam != nullptr && plugin.type != "calico" && ipam_type(doc::text_in(*ipam, "type"))) check_ipam(*ipam, out);
}

}  // namespace

void check_plugin(const Plugin& plugin, const std::string& path, doc::Diagnostics& out) {
  const schema::CniType* type = schema::find_cni_type(plugin.type);
  if (type == nullptr || !type->makes_or_changes_interfaces()) return check_ipam_of_others(plugin, out);
  doc::Fields fields(plugin.config, path, doc::Family("RB-CNI").after_schema(), out);
  for (const schema::CniKey& key : schema::cni_common_keys())
    if (key.name != "type" && key.name != "name" && schema::find_cni_key(*type, key.name) == &key)
      schema::check_key(fields, key);
  if (const Value* ipam = plugin.config.find("ipam"); ipam && ipam->is_object() && !ipam->as_object()->empty())
    check_ipam(*ipam, out);
  for (const schema::CniKey& key : type->keys) schema::check_key(fields, key);
  schema::check_pairs(plugin.type, plugin.config, fields);
  if (plugin.type == "ib-sriov") check_infiniband(plugin, fields);
}

}  // namespace railbed::api
