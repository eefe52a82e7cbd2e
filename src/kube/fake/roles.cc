// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/roles.h"

#include <algorithm>
#include <optional>

#include "doc/members.h"
#include "doc/yaml.h"
#include "kube/object.h"

namespace railbed::kube::fake {

using doc::Value;

namespace {

constexpr std::string_view kPoolsNamespace = "kube-system";
constexpr const char* kRbac = "rbac.authorization.k8s.io";

// As RBAC names them, in the order in which rules list them.
std::vector<std::string> verbs_of(const Right& right) {
  std::vector<std::string> out;
  const auto add_if = [&](bool is_needed, std::string_view verb) {
    if (is_needed) out.emplace_back(verb);
  };
  const bool applies = right.verbs.has(Verb::kApply);
  add_if(right.verbs.has(Verb::kGet), "get");
  add_if(right.verbs.has(Verb::kList), "list");
  add_if(right.verbs.has(Verb::kWatch), "watch");
  add_if(right.verbs.has(Verb::kCreate) || (applies && right.part == Part::kObject), "create");
  add_if(right.verbs.has(Verb::kUpdate), "update");
  add_if(right.verbs.has(Verb::kPatch) || applies, "patch");
  add_if(right.verbs.has(Verb::kDelete), "delete");
  add_if(!right.also.empty(), right.also);
  return out;
}

std::string resource_name(const Right& right) {
  return fmt::format("{}{}", right.kind.plural, path_of(right.part));
}

std::string grant(std::string_view role, std::string_view verb, std::string_view resource, std::string_view group,
                  std::string_view name) {
  return fmt::format("{}: {} {}{}{}{}{}", role, verb, resource, group.empty() ? "" : ".", group,
                     name.empty() ? "" : " named ", name);
}

// What one line of a role says.
struct Rule {
  std::string group, resource, name;
  std::vector<std::string> verbs;
  std::vector<std::string> reasons;
};

std::vector<Rule> rules_of(const std::vector<Right>& rights, Where where) {
  const std::vector<std::string> order{"get", "list", "watch", "create", "update", "patch", "delete"};
  std::vector<Rule> out;
  for (const Right& right : rights) {
    if (right.where != where || right.granted_by != GrantedBy::kRbac) continue;
    const std::string resource = resource_name(right);
    auto rule = std::ranges::find_if(out, [&](const Rule& one) {
      return one.group == right.kind.group && one.resource == resource && one.name == right.name;
    });
    if (rule == out.end())
      rule = out.insert(out.end(), Rule{std::string(right.kind.group), resource, std::string(right.name), {}, {}});
    for (std::string& verb : verbs_of(right))
      if (std::ranges::find(rule->verbs, verb) == rule->verbs.end()) rule->verbs.push_back(std::move(verb));
    if (!right.why.empty() && std::ranges::find(rule->reasons, right.why) == rule->reasons.end())
      rule->reasons.emplace_back(right.why);
    std::ranges::stable_sort(rule->verbs, {}, [&](const std::string& verb) { return std::ranges::find(order, verb); });
  }
  return out;
}

std::string text_of(const Rule& rule) {
  std::string out =
      fmt::format("- {{apiGroups: [{}], resources: [{}]", rule.group.empty() ? "\"\"" : rule.group, rule.resource);
  if (!rule.name.empty()) out += fmt::format(", resourceNames: [{}]", rule.name);
  out += fmt::format(", verbs: [{}]}}", fmt::join(rule.verbs, ", "));
  if (!rule.reasons.empty()) out += fmt::format("  # {}", fmt::join(rule.reasons, "; "));
  return out + "\n";
}

std::string head(std::string_view kind, const std::string& metadata) {
  return fmt::format("apiVersion: {}/v1\nkind: {}\nmetadata: {{{}}}\n", kRbac, kind, metadata);
}

constexpr std::string_view role_kind(Where where) {
  return where == Where::kEverywhere ? "ClusterRole" : "Role";
}

// As the files of deploy name railbed's namespace.
std::string metadata_of(const std::string& name, Where where) {
  return where == Where::kEverywhere ? "name: " + name : fmt::format("name: {}, namespace: railbed", name);
}

std::string path_part(std::string_view& rest) {
  const size_t slash = rest.find('/');
  const std::string out(rest.substr(0, slash));
  rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  return out;
}

// What the authorizer is asked about a request.
struct Asked {
  std::vector<std::string> verbs;
  std::string group, resource, ns, name;
};

std::optional<Asked> asked_by(const std::string& request) {
  const size_t space = request.find(' ');
  const std::string method = request.substr(0, space), target = request.substr(space + 1);
  const size_t query = target.find('?');
  std::string_view rest = std::string_view(target).substr(1, query == std::string::npos ? query : query - 1);
  Asked out;
  if (const std::string root = path_part(rest); root == "apis")
    out.group = path_part(rest);
  else if (root != "api")
    return std::nullopt;  // what is no kind: /version
  (void)path_part(rest);  // the version
  out.resource = path_part(rest);
  out.name = path_part(rest);
  if (out.resource == "namespaces" && !rest.empty()) {
    out.ns = out.name;
    out.resource = path_part(rest);
    out.name = path_part(rest);
  }
  const std::string part = path_part(rest);
  if (!part.empty()) out.resource += "/" + part;
  if (method == "GET") out.verbs = {out.name.empty() ? "list" : "get"};
  if (method == "WATCH") out.verbs = {"watch"};
  if (method == "POST") out.verbs = {"create"};
  if (method == "PUT") out.verbs = {"update"};
  if (method == "DELETE") out.verbs = {"delete"};
  if (method == "PATCH") out.verbs = {"patch"};
  if (method == "PATCH" && part.empty() && target.contains("fieldManager=")) out.verbs.emplace_back("create");
  return out;
}

bool covers(const Right& right, const Asked& asked, const std::string& verb, const std::string& own_ns) {
  if (right.kind.group != asked.group || resource_name(right) != asked.resource) return false;
  if (!right.name.empty() && right.name != asked.name) return false;
  if (right.where == Where::kOwnNamespace && asked.ns != own_ns) return false;
  if (right.where == Where::kPoolsNamespace && asked.ns != kPoolsNamespace) return false;
  const std::vector<std::string> verbs = verbs_of(right);
  return std::ranges::find(verbs, verb) != verbs.end();
}

}  // namespace

std::string role_file(const Account& account) {
  std::string out =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Made of the rights that components declare (src/kube/right.h) by a test: RAILBED_UPDATE=1 writes it.\n";
  for (std::string_view rest = account.comment; !rest.empty();) {
    const size_t end = std::min(rest.size(), rest.find('\n'));
    out += fmt::format("# {}\n", rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  std::string bindings, between;
  for (const Where where : {Where::kEverywhere, Where::kOwnNamespace}) {
    const std::vector<Rule> rules = rules_of(account.rights, where);
    if (rules.empty()) continue;
    out += between + head(role_kind(where), metadata_of(account.name, where)) + "rules:\n";
    for (const Rule& rule : rules) out += text_of(rule);
    between = "---\n";
    bindings += between + head(fmt::format("{}Binding", role_kind(where)), metadata_of(account.name, where)) +
                fmt::format("roleRef: {{apiGroup: {}, kind: {}, name: {}}}\n", kRbac, role_kind(where), account.name) +
                fmt::format("subjects:\n- {{kind: ServiceAccount, name: {}, namespace: railbed}}\n", account.name);
  }
  return out + bindings;
}

Grants grants_of(std::string_view role, const std::vector<Right>& rights, GrantedBy granted_by, Where where) {
  Grants out;
  for (const Right& right : rights)
    if (right.granted_by == granted_by && right.where == where)
      for (const std::string& verb : verbs_of(right))
        out.insert(grant(role, verb, resource_name(right), right.kind.group, right.name));
  return out;
}

Grants grants_of(const Account& account) {
  Grants out;
  for (const Where where : {Where::kEverywhere, Where::kOwnNamespace})
    out.merge(grants_of(fmt::format("{} {}", role_kind(where), account.name), account.rights, GrantedBy::kRbac, where));
  return out;
}

Grants grants_in(const std::string& yaml) {
  Grants out;
  doc::Diagnostics problems;
  for (const Value& one : doc::parse_yaml(std::make_shared<doc::Source>("roles", yaml), problems)) {
    const std::string kind = doc::text_in(one, "kind");
    const Value::Array* rules = doc::list_in(one, "rules");
    if ((kind != "ClusterRole" && kind != "Role") || rules == nullptr) continue;
    for (const Value& rule : *rules) {
      std::vector<std::string> names = doc::texts_in(rule, "resourceNames");
      if (names.empty()) names.emplace_back();
      for (const std::string& group : doc::texts_in(rule, "apiGroups"))
        for (const std::string& resource : doc::texts_in(rule, "resources"))
          for (const std::string& name : names)
            for (const std::string& verb : doc::texts_in(rule, "verbs"))
              out.insert(grant(fmt::format("{} {}", kind, key_of(one).name), verb, resource, group, name));
    }
  }
  return out;
}

std::string difference(const Grants& granted, const Grants& declared) {
  std::string out;
  for (const std::string& one : declared)
    if (!granted.contains(one)) out += fmt::format("not granted, though declared: {}\n", one);
  for (const std::string& one : granted)
    if (!declared.contains(one)) out += fmt::format("granted, though not declared: {}\n", one);
  return out;
}

std::string beyond(const std::vector<Right>& rights, const std::vector<std::string>& requests,
                   const std::string& own_ns) {
  std::set<std::string> out;
  for (const std::string& request : requests) {
    const std::optional<Asked> asked = asked_by(request);
    if (!asked) continue;
    for (const std::string& verb : asked->verbs)
      if (std::ranges::none_of(rights, [&](const Right& right) { return covers(right, *asked, verb, own_ns); }))
        out.insert(fmt::format("{} {}: no component declares this right: {}", verb, asked->resource, request));
  }
  return fmt::format("{}", fmt::join(out, "\n"));
}

}  // namespace railbed::kube::fake
