// SPDX-License-Identifier: Apache-2.0
#include "controller/crds.h"

#include <string_view>

#include "api/address_cell.h"
#include "base/format.h"
#include "base/kinds.h"
#include "base/text.h"
#include "controller/structural_schema.h"
#include "schema/schema.h"

namespace railbed::controller {

using doc::Value;

namespace {

struct Column {  // of `kubectl get`
  std::string_view name;
  std::string_view type;
  std::string_view path;
  int priority = 0;  // above 0: with `-o wide` only
};

// What an absent field means to every reader. isRdma has none: absent, it follows from linkType.
struct Default {
  std::string_view path;
  Value value;
};

// A rule of check about one object alone, as a CEL expression.
struct Rule {
  std::string_view path;  // of the object that is `self`
  std::string expression;
  std::string message;
};

struct Pattern {
  std::string_view path;
  std::string_view pattern;
  int max_length;
};

struct MaxItems {
  std::string_view path;
  size_t count;
};

// What a kind has beyond its row and the fields that check knows.
struct Definition {
  const Kind& kind;
  std::vector<std::string_view> short_names;
  std::vector<Column> columns;
  std::vector<Default> defaults;
  std::vector<Rule> rules;
  std::vector<Pattern> patterns;
  std::vector<MaxItems> max_items = {};
  std::vector<std::string_view> kept_whole;  // objects of which other programs may store more than check knows
};

constexpr Column kWhere{"Nodes", "string", ".status.summary"};
constexpr Column kReady{"Ready", "string", R"(.status.conditions[?(@.type=="Ready")].status)"};
constexpr Column kWhy{"Why", "string", R"(.status.conditions[?(@.type=="Ready")].message)"};
constexpr Column kAge{"Age", "date", ".metadata.creationTimestamp"};
constexpr Column kResource{"Resource", "string", ".spec.resourceName"};

// That one of these fields is there.
std::string has_one_of(const std::vector<std::string>& fields) {
  std::string rule;
  for (const std::string& field : fields) rule += fmt::format("{}has(self.{})", rule.empty() ? "" : " || ", field);
  return rule;
}

Definition policy() {
  constexpr const Kind& kind = kind_named("SriovNetworkNodePolicy");
  const schema::Schema& spec = *schema::find_schema(kind.api_version(), kind.name)->fields.at("spec");
  return {
      .kind = kind,
      .columns = {kResource,
                  {"VFs", "integer", ".spec.numVfs"},
                  {"Priority", "integer", ".spec.priority", 1},
                  kWhere,
                  kReady,
                  kWhy,
                  kAge},
      .defaults = {{"spec.deviceType", "netdevice"}, {"spec.priority", 99}},
      .rules =
          {{"spec.nicSelector", has_one_of(spec.fields.at("nicSelector")->one_of.front()),
            "an empty nicSelector matches no NIC: set vendor, deviceID, rootDevices, pfNames or netFilter"},
           {"spec", "!(has(self.isRdma) && self.isRdma && self.deviceType == 'vfio-pci')",
            "isRdma needs deviceType netdevice: a VF of vfio-pci has no RDMA device on the node"},
           {"spec",
            "!has(self.vdpaType) || (self.deviceType == 'netdevice' && has(self.eSwitchMode) && self.eSwitchMode == 'switchdev')",
            "vdpaType needs deviceType netdevice and eSwitchMode switchdev"}},
      .patterns = {{"spec.resourceName", "^[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?$", 63}},
      .kept_whole = {},
  };
}

std::vector<Rule> network_rules() {
  return {
      {"spec",
       "!has(self.minTxRate) || !has(self.maxTxRate) || self.maxTxRate == 0 || self.minTxRate <= self.maxTxRate",
       "minTxRate is above maxTxRate"},
      {"spec", "!has(self.vlanQoS) || self.vlanQoS == 0 || (has(self.vlan) && self.vlan > 0)", "vlanQoS needs a vlan"}};
}

Definition network(const Kind& kind, std::vector<Rule> rules) {
  return {.kind = kind,
          .columns = {kResource, {"Namespace", "string", ".spec.networkNamespace"}, kReady, kWhy, kAge},
          .defaults = {},
          .rules = std::move(rules),
          .patterns = {},
          .kept_whole = {}};
}

Definition node_state() {
  return {.kind = kind_named("SriovNetworkNodeState"),
          .columns = {{"Sync", "string", ".status.syncStatus"}, {"Why", "string", ".status.lastSyncError"}, kAge},
          .defaults = {},
          .rules = {},
          .patterns = {},
          // Written by programs, of several versions; who wrote a field that this version does not know wants it back.
          .kept_whole = {"spec", "status"}};
}

Definition attachment() {
  return {.kind = kind_named("NetworkAttachmentDefinition"),
          .short_names = {"net-attach-def"},
          .columns = {kAge},
          .defaults = {},
          .rules = {},
          .patterns = {},
          .kept_whole = {}};
}

// Every agent writes these objects, and agents and operator read all of them: nothing of them may be large, or of a
// form that the others cannot read, and admission policies compare leases with each other.
Definition address_cell() {
  constexpr std::string_view kText = "^[ -~]+$";
  constexpr int kLongest = int{api::kLongestHolderText};
  return {.kind = kind_named("AddressCell"),
          .columns = {{"Network-Name", "string", ".spec.networkName"},
                      {"Base", "string", ".spec.base"},
                      {"Node", "string", ".spec.leases[*].node"},
                      kAge},
          .defaults = {},
          .rules = {},
          .patterns = {{"spec.base", "^[0-9a-fA-F.:]+$", 45},
                       {"spec.leases.node", kText, kLongest},
                       {"spec.leases.systemUUID", kText, kLongest},
                       {"spec.leases.bootID", kText, kLongest},
                       {"spec.leases.claim", kText, kLongest}},
          .max_items = {{"spec.leases", api::kMostCellLeases}, {"spec.leases.offsets", api::kCellSize}},
          .kept_whole = {}};
}

// What people write about the operator itself: no field has a default, so that an absent one stays absent.
Definition configuration(const Kind& kind) {
  return {.kind = kind, .columns = {kReady, kWhy, kAge}, .defaults = {}, .rules = {}, .patterns = {}, .kept_whole = {}};
}

std::vector<Definition> definitions() {
  return {policy(),
          network(kind_named("SriovNetwork"), network_rules()),
          network(kind_named("SriovIBNetwork"), {}),
          node_state(),
          attachment(),
          address_cell(),
          configuration(kind_named("SriovOperatorConfig")),
          configuration(kind_named("SriovNetworkPoolConfig"))};
}

void add_rules(Value& schema, const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    Value& at = *schema_at(schema, rule.path);
    Value* list = at.find("x-kubernetes-validations");
    if (!list) list = &at.set("x-kubernetes-validations", Value::array());
    Value one = Value::object();
    one.set("rule", rule.expression);
    one.set("message", rule.message);
    list->push(std::move(one));
  }
}

Value schema_of(const Definition& of) {
  Value schema = structural_schema(*schema::find_schema(of.kind.api_version(), of.kind.name));
  Value& properties = *schema.find("properties");
  // The API server has its own rules for these three.
  for (std::string_view name : {"apiVersion", "kind"}) properties.set(name, Value::object()).set("type", "string");
  properties.set("metadata", Value::object()).set("type", "object");
  for (const Default& one : of.defaults) schema_at(schema, one.path)->set("default", one.value);
  for (const Pattern& one : of.patterns) {
    schema_at(schema, one.path)->set("pattern", one.pattern);
    schema_at(schema, one.path)->set("maxLength", one.max_length);
  }
  for (const MaxItems& one : of.max_items)
    schema_at(schema, one.path)->set("maxItems", static_cast<int64_t>(one.count));
  for (std::string_view path : of.kept_whole)
    schema_at(schema, path)->set("x-kubernetes-preserve-unknown-fields", true);
  add_rules(schema, of.rules);
  if (Value* conditions = schema_at(schema, "status.conditions")) {
    conditions->set("x-kubernetes-list-type", "map");
    conditions->set("x-kubernetes-list-map-keys", Value::array()).push("type");
  }
  // A node state has no spec before its node has reported what it has, and the operator's own definitions require none
  // of any kind.
  Value::Object& members = *schema.as_object();
  std::erase_if(members, [](const Value::Member& member) { return member.key == "required"; });
  return schema;
}

Value names_of(const Definition& of) {
  Value names = Value::object();
  names.set("kind", of.kind.name);
  names.set("listKind", std::string(of.kind.name) + "List");
  names.set("plural", of.kind.plural);
  const bool hyphens = of.kind.name == "NetworkAttachmentDefinition";
  names.set("singular", hyphens ? "network-attachment-definition" : lower(of.kind.name));
  if (!of.short_names.empty()) {
    Value& list = names.set("shortNames", Value::array());
    for (std::string_view one : of.short_names) list.push(one);
  }
  return names;
}

Value version_of(const Definition& of) {
  Value version = Value::object();
  version.set("name", of.kind.version);
  version.set("served", true);
  version.set("storage", true);
  version.set("schema", Value::object()).set("openAPIV3Schema", schema_of(of));
  if (of.kind.group == kind_named("SriovNetworkNodePolicy").group)
    version.set("subresources", Value::object()).set("status", Value::object());
  Value& columns = version.set("additionalPrinterColumns", Value::array());
  for (const Column& column : of.columns) {
    Value one = Value::object();
    one.set("name", column.name);
    one.set("type", column.type);
    one.set("jsonPath", column.path);
    if (column.priority > 0) one.set("priority", column.priority);
    columns.push(std::move(one));
  }
  return version;
}

CustomResource make(const Definition& of) {
  CustomResource out{.group = std::string(of.kind.group),
                     .kind = std::string(of.kind.name),
                     .plural = std::string(of.kind.plural),
                     .definition = Value::object()};
  Value& definition = out.definition;
  definition.set("apiVersion", "apiextensions.k8s.io/v1");
  definition.set("kind", "CustomResourceDefinition");
  definition.set("metadata", Value::object()).set("name", out.name());
  Value& spec = definition.set("spec", Value::object());
  spec.set("group", of.kind.group);
  spec.set("names", names_of(of));
  spec.set("scope", of.kind.scope == KindScope::kCluster ? "Cluster" : "Namespaced");
  spec.set("versions", Value::array()).push(version_of(of));
  return out;
}

}  // namespace

std::vector<CustomResource> custom_resources() {
  std::vector<CustomResource> out;
  for (const Definition& one : definitions()) out.push_back(make(one));
  return out;
}

}  // namespace railbed::controller
