// SPDX-License-Identifier: Apache-2.0
#include "api/load.h"

#include <algorithm>
#include <set>

#include "api/compare.h"
#include "api/kinds.h"
#include "api/names.h"
#include "api/pod.h"
#include "doc/members.h"
#include "doc/yaml.h"
#include "schema/schema.h"

namespace railbed::api {

using doc::Value;

namespace {

class Loader {
 public:
  explicit Loader(doc::Diagnostics& out, Compared compared = Compared::kReadKinds) : out_(out), compared_(compared) {}

  void read(const Value& document) {
    if (!document.is_object()) {
      out_.error("RB-API-010", document.span,
                 fmt::format("a manifest is an object with apiVersion and kind, found {}", kind_name(document.kind())))
          .of(doc::Layer::kObject);
      return;
    }
    const Value* kind = document.find("kind");
    const std::string* name = kind ? kind->as_string() : nullptr;
    if (name == nullptr || name->empty()) return refuse_without_kind(document);
    if (const Value::Array* items = list_items(document, *name)) {
      for (const Value& item : *items) read(item);
      return;
    }
    const Kind* known = find_kind(*name);
    if (known == nullptr) return unknown(document, *kind, *name);
    const Parse parse = parser_of(*known);
    if (parse == nullptr) return leave_alone(document, *name);
    if (is_of_another_group(document, *known)) return leave_alone(document, *name);
    // An object that appears twice is reported and counts once.
    if (is_given_before(document, *name)) return only_compare(document, *name);
    parse(*known, document, compared_ == Compared::kAllKinds ? StatusPart::kCompared : StatusPart::kSkipped, out_,
          objects_);
  }

  Objects take() { return std::move(objects_); }

 private:
  // A kind that is there and names nothing.
  void refuse_kind(const Value::Member& kind) {
    const bool empty = kind.value.is_null() || kind.value.is_string();
    out_.error("RB-API-010", kind.key_span, empty ? "'kind' is empty" : "'kind' is not a text")
        .with_fix("name the kind of the object, as in 'kind: Pod'")
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kWithoutKind);
  }

  void refuse_without_kind(const Value& document) {
    const Value::Object& members = *document.as_object();
    const auto kind = std::ranges::find(members, std::string_view("kind"), &Value::Member::key);
    if (kind != members.end()) return refuse_kind(*kind);
    for (const Value::Member& member : members)
      if (doc::nearest(member.key, {"kind"}) == "kind") {
        out_.error("RB-API-010", member.key_span, fmt::format("no kind; '{}' is not a field", member.key))
            .with_fix("did you mean 'kind'?")
            .of(doc::Layer::kObject)
            .that_says(doc::Says::kWithoutKind);
        return;
      }
    out_.error("RB-API-010", document.span, "a manifest without 'kind'")
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kWithoutKind);
  }

  static const Value::Array* list_items(const Value& document, const std::string& kind) {
    if (!kind.ends_with("List") || find_kind(kind) != nullptr) return nullptr;
    const Value* items = document.find("items");
    return items ? items->as_array() : nullptr;
  }

  // For an object that is not read.
  void only_compare(const Value& document, const std::string& kind) {
    if (compared_ != Compared::kAllKinds) return;
    const schema::Schema* schema = schema::find_schema(doc::text_in(document, "apiVersion"), kind);
    if (schema != nullptr) compare(document, *schema, StatusPart::kCompared, NetworksAnnotation::kRead, out_);
  }

  void unknown(const Value& document, const Value& kind, const std::string& name) {
    leave_alone(document, name);
    if (!reported_.insert(name).second) return;
    const std::string meant = nearest_kind(name);
    auto& reported =
        out_.warning("RB-API-001", kind.span, fmt::format("unknown kind '{}'; its objects are skipped", name))
            .of(doc::Layer::kObject)
            .that_says(doc::Says::kUnknownKind);
    if (meant.empty()) return;
    reported.with_fix(fmt::format("did you mean '{}'?", meant));
  }

  void leave_alone(const Value& document, const std::string& name) {
    ++objects_.others[name];
    report_networks(document, name);
    only_compare(document, name);
    // What railbed knows nothing of may have names of any form.
    const bool known =
        find_kind(name) != nullptr || schema::find_schema(doc::text_in(document, "apiVersion"), name) != nullptr;
    if (compared_ == Compared::kAllKinds && known) check_object_name(document, name, out_);
  }

  // Whether the document's group is known to have a kind of this name, which is another one than railbed's.
  static bool is_kind_of_others(std::string_view version, std::string_view kind) {
    struct OtherGroup {
      std::string_view group;
      std::string_view kinds;  // with blanks around each
    };
    static constexpr OtherGroup kGroups[] = {
        {"config.openshift.io",
         " APIServer Authentication Build ClusterOperator ClusterVersion Console DNS FeatureGate Image Infrastructure "
         "Ingress Network Node OAuth OperatorHub Project Proxy Scheduler "},
        {"operator.openshift.io", " Authentication Config Console DNS Etcd Network Storage IngressController "},
        {"build.openshift.io", " Build BuildConfig "},
        {"image.openshift.io", " Image ImageStream "},
        {"project.openshift.io", " Project ProjectRequest "},
        {"networking.internal.knative.dev", " Ingress Certificate "},
        {"serving.knative.dev", " Service Configuration Route Revision "},
        {"management.cattle.io", " Node Cluster Project Setting User "},
        {"longhorn.io", " Node Volume Engine Replica Setting "},
        {"crd.projectcalico.org", " NetworkPolicy IPPool "},
        {"projectcalico.org", " Node NetworkPolicy IPPool "},
        {"k8s.ovn.org", " EgressFirewall EgressIP UserDefinedNetwork "}};
    const std::string_view group = version.substr(0, version.find('/'));
    const std::string word = fmt::format(" {} ", kind);
    return std::ranges::any_of(kGroups, [&](const OtherGroup& one) {
      return one.group == group && one.kinds.find(word) != std::string_view::npos;
    });
  }

  // A kind of another API group that only shares its name with one of ours. A wrong version or a typing error is
  // reported, and the object is read.
  bool is_of_another_group(const Value& document, const Kind& known) {
    const Value* value = document.find("apiVersion");
    const std::string* version = value ? value->as_string() : nullptr;
    const std::string right = known.api_version();
    if (version != nullptr && *version == right) return false;
    if (version != nullptr && is_kind_of_others(*version, known.name)) return true;
    const auto group = [](std::string_view text) { return text.substr(0, text.rfind('/')); };
    const bool meant =
        version == nullptr || group(*version) == group(right) || !doc::nearest(*version, {right}).empty();
    const std::string found = version ? fmt::format("apiVersion '{}'", *version) : "no apiVersion";
    auto& reported = out_.warning(
        "RB-API-011", value ? value->span : document.span,
        fmt::format("{} with kind {}; {}", found, known.name, meant ? "it is read anyway" : "it is skipped"));
    reported.with_fix(fmt::format("apiVersion: {}", right)).of(doc::Layer::kObject).about_field("apiVersion");
    if (version != nullptr && (meant || is_of_kubernetes(*version))) reported.that_says(doc::Says::kWrongVersion);
    return !meant;
  }

  // Kubernetes itself has in these groups what railbed knows of it, and nothing of others.
  static bool is_of_kubernetes(std::string_view version) {
    return version.find('/') == std::string_view::npos || version.starts_with("apps/") || version.starts_with("batch/");
  }

  bool is_given_before(const Value& document, const std::string& kind) {
    const Value* meta = document.find("metadata");
    const Value* name = meta ? meta->find("name") : nullptr;
    const Value* ns = meta ? meta->find("namespace") : nullptr;
    if (name == nullptr || name->as_string() == nullptr) return false;
    const std::string key =
        fmt::format("{}/{}/{}", kind, ns && ns->as_string() ? *ns->as_string() : "default", *name->as_string());
    const auto [first, is_new] = given_.emplace(key, name->span);
    if (is_new) return false;
    out_.error("RB-API-012", name->span, fmt::format("{} '{}' is given twice", kind, *name->as_string()))
        .note(first->second, "the first one is here; it is used")
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kGivenTwice);
    return true;
  }

  // For a workload whose pods have networks: railbed does not make its pods, so a finding says so.
  void report_networks(const Value& value, const std::string& kind) {
    if (const Value::Object* members = value.as_object())
      for (const Value::Member& member : *members) {
        if (member.key == kNetworksAnnotation)
          out_.note("RB-API-009", member.key_span,
                    fmt::format("railbed does not create the pods of this {}; use Pod objects to attach them", kind))
              .of(doc::Layer::kObject)
              .for_one_machine();
        report_networks(member.value, kind);
      }
    if (const Value::Array* items = value.as_array())
      for (const Value& item : *items) report_networks(item, kind);
  }

  doc::Diagnostics& out_;
  const Compared compared_;
  Objects objects_;
  std::set<std::string> reported_;
  std::map<std::string, doc::Span> given_;
};

}  // namespace

Objects load(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& diagnostics) {
  Loader loader(diagnostics);
  for (const doc::SourcePtr& source : sources)
    for (const Value& document : doc::parse_yaml(source, diagnostics)) loader.read(document);
  return loader.take();
}

Objects load_documents(std::span<const Value* const> documents, doc::Diagnostics& diagnostics, Compared compared) {
  Loader loader(diagnostics, compared);
  for (const Value* document : documents) loader.read(*document);
  return loader.take();
}

}  // namespace railbed::api
