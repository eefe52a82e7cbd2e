// SPDX-License-Identifier: Apache-2.0
#include "api/names.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "doc/members.h"

namespace railbed::api {

namespace {
bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

// The forms that an API server has for names of objects.
enum class NameForm : uint8_t {
  kSubdomain,
  kLabel,
  kServiceLabel,  // RFC 1035: it begins with a letter
  kAny,           // a segment of a path, or no name at all
};

struct KindOfName {
  std::string_view kind;
  std::string_view group;  // of kinds whose name others have, too; empty: the core group
  NameForm form;
};

// The kinds whose names are no subdomains.
constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr KindOfName kKindsOfNames[] = {
    {"Namespace", "", NameForm::kLabel},
    {"Service", "", NameForm::kServiceLabel},
    {"Role", kRbacGroup, NameForm::kAny},
    {"RoleBinding", kRbacGroup, NameForm::kAny},
    {"ClusterRole", kRbacGroup, NameForm::kAny},
    {"ClusterRoleBinding", kRbacGroup, NameForm::kAny},
    {"APIService", "apiregistration.k8s.io", NameForm::kAny},
    {"Kustomization", "kustomize.config.k8s.io", NameForm::kAny},
};

NameForm name_form(std::string_view kind, std::string_view api_version) {
  const size_t slash = api_version.rfind('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  for (const KindOfName& row : kKindsOfNames)
    if (row.kind == kind && (row.group == group || api_version.empty())) return row.form;
  // Another group, or an old version, of a kind whose names are free.
  return kind.ends_with("Role") || kind.ends_with("RoleBinding") ? NameForm::kAny : NameForm::kSubdomain;
}

bool refuse_placeholder(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!has_placeholder(name.value)) return false;
  out.error("RB-API-008", name.span, fmt::format("{}: \"{}\" is a placeholder", what, name.value))
      .with_fix("write the real name")
      .of(doc::Layer::kObject)
      .that_says(doc::Says::kPlaceholder);
  return true;
}

// "_", "*": a kustomization sets the name; "JOB_NAME_PLACEHOLDER": a script does.
bool is_set_later(std::string_view name) {
  return std::ranges::none_of(name, is_letter_or_digit) || name.find("PLACEHOLDER") != std::string_view::npos;
}
}  // namespace

bool has_placeholder(std::string_view text) {
  for (const auto& [open, close] : {std::pair('<', '>'), std::pair('{', '}')}) {
    const size_t start = text.find(open);
    const size_t end = start == std::string_view::npos ? start : text.find(close, start);
    if (end != std::string_view::npos && end > start + 1) return true;
  }
  return false;
}

void check_label(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!name.present || is_dns_label(name.value) || refuse_placeholder(name, what, out)) return;
  out.error("RB-API-007", name.span,
            fmt::format("{}: \"{}\" is not a name: lower-case letters, digits and '-', at most 63, with a "
                        "letter or digit at both ends",
                        what, name.value))
      .of(doc::Layer::kObject)
      .that_says(doc::Says::kBadName);
}

void check_subdomain(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!name.present || is_dns_subdomain(name.value) || refuse_placeholder(name, what, out)) return;
  out.error("RB-API-007", name.span,
            fmt::format("{}: \"{}\" is not a name: lower-case letters, digits, '-' and '.', at most 253, with a "
                        "letter or digit at both ends",
                        what, name.value))
      .of(doc::Layer::kObject)
      .that_says(doc::Says::kBadName);
}

namespace {

void check_namespace(const doc::Value& metadata, doc::Diagnostics& out) {
  const Field<std::string> ns = doc::text_field(metadata, "namespace");
  if (!ns.present || ns.value.empty() || is_set_later(ns.value) || is_filled_in_later(ns.value)) return;
  doc::Diagnostics found;
  check_label(ns, "metadata.namespace", found);
  for (doc::Diagnostic& finding : found.mutable_all()) finding.about_field("metadata.namespace");
  out.append(std::move(found));
}

}  // namespace

void check_object_name(const doc::Value& object, std::string_view kind, doc::Diagnostics& out) {
  const doc::Value* metadata = doc::object_in(object, "metadata");
  if (metadata == nullptr) return;
  check_namespace(*metadata, out);
  const Field<std::string> name = doc::text_field(*metadata, "name");
  if (!name.present || is_set_later(name.value) || is_filled_in_later(name.value)) return;
  const NameForm form = name_form(kind, doc::text_in(object, "apiVersion"));
  doc::Diagnostics found;
  if (form == NameForm::kSubdomain) check_subdomain(name, "metadata.name", found);
  if (form == NameForm::kLabel) check_label(name, "metadata.name", found);
  if (form == NameForm::kServiceLabel && !(is_dns_label(name.value) && name.value.front() > '9'))
    found
        .error("RB-API-007", name.span,
               fmt::format("metadata.name: \"{}\" is not a name of a Service: lower-case letters, digits and '-', at "
                           "most 63, with a letter at the beginning and a letter or digit at the end",
                           name.value))
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kBadName);
  for (doc::Diagnostic& finding : found.mutable_all()) finding.about_field("metadata.name");
  out.append(std::move(found));
}

void check_resource_name(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!name.present || refuse_placeholder(name, what, out)) return;
  const std::string_view text = name.value;
  const auto inner = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  const bool right = !text.empty() && text.size() <= 63 && is_letter_or_digit(text.front()) &&
                     is_letter_or_digit(text.back()) && std::ranges::all_of(text, inner);
  if (right) return;
  auto& reported = out.error("RB-API-007", name.span,
                             fmt::format("{}: \"{}\" is not a resource name: letters, digits, '-' and '_', at most 63, "
                                         "with a letter or digit at both ends",
                                         what, text))
                       .of(doc::Layer::kObject)
                       .that_says(doc::Says::kBadName);
  if (text.find('/') != std::string_view::npos)
    reported.with_fix("write it without the prefix; the operator adds \"openshift.io/\"");
}

}  // namespace railbed::api
