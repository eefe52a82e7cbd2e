// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <algorithm>
#include <array>

#include "doc/fields.h"
#include "doc/yaml.h"

namespace railbed::kube {
namespace {

using doc::Field;
using doc::Fields;
using doc::Value;

struct Context {
  std::string cluster;
  std::string user;
  std::string ns;
};

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Reads the chosen entries of one kubeconfig; complaints are collected by the readers.
class Kubeconfig {
 public:
  Kubeconfig(const std::string& name, const KubeconfigChoice& choice) : folder_(folder_of(name)), choice_(choice) {}

  // visit(Fields&) with the object `key` of the entry that is called `name` in the list; false where there is none.
  template <typename Visit>
  static bool entry(Fields& top, std::string_view list, std::string_view key, std::string_view name,
                    const Visit& visit) {
    bool found = false;
    top.each(list, [&](Fields& one) {
      const Field<std::string> its_name = one.text("name");
      if (found || its_name.value != name) return;
      found = true;
      one.require(key);
      one.inside(key, visit);
    });
    return found;
  }

  static void read_context(Fields& context, Context& out) {
    context.need("cluster", out.cluster);
    context.read("user", out.user);
    context.read("namespace", out.ns);
  }

  void read_cluster(Fields& cluster, ClusterAccess& out) const {
    const Field<std::string> server = cluster.text("server");
    out.server = server.value.substr(0, server.value.find_last_not_of('/') + 1);
    if (!out.server.starts_with("https://") && !out.server.starts_with("http://"))
      cluster.wrong("server", "must be a URL as \"https://10.0.0.1:6443\"");
    cluster.read("tls-server-name", out.tls_server_name);
    cluster.read("proxy-url", out.proxy);
    out.ca = secret(cluster, "certificate-authority-data", "certificate-authority", Encoding::kBase64);
    bool insecure = false;
    cluster.read("insecure-skip-tls-verify", insecure);
    if (!insecure) return;
    out.tls_check = TlsCheck::kNone;
    if (choice_.least_tls_check == TlsCheck::kVerify)
      cluster.wrong("insecure-skip-tls-verify", "allows any server to impersonate the API server and is not supported")
          .with_fix("set the server's CA in certificate-authority");
  }

  void read_user(Fields& user, ClusterAccess& out) const {
    out.client_certificate = secret(user, "client-certificate-data", "client-certificate", Encoding::kBase64);
    out.client_key = secret(user, "client-key-data", "client-key", Encoding::kBase64);
    out.token = secret(user, "token", "tokenFile", Encoding::kPlain);
    if (out.client_certificate.given() != out.client_key.given())
      user.wrong(out.client_key.given() ? "client-key" : "client-certificate", "requires both certificate and key");
    for (const auto& [key, why] : kRefused)
      if (user.has(key)) user.wrong(key, why);
  }

 private:
  enum class Encoding : uint8_t { kPlain, kBase64 };
  static constexpr std::string_view kImpersonation =
      "is not supported: it impersonates another user. Use credentials of that user";
  static constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
      {"exec", "is a credential plugin, which railbed does not run. Use a client certificate, token or tokenFile"},
      {"auth-provider",
       "is a plugin of kubectl that Kubernetes 1.26 removed. Use a client certificate, token or tokenFile"},
      {"username",
       "is basic authentication, which Kubernetes 1.19 removed. Use a client certificate, token or tokenFile"},
      {"as", kImpersonation},
      {"as-groups", kImpersonation},
      {"as-uid", kImpersonation},
      {"as-user-extra", kImpersonation},
  };

  // Text in the file has precedence, as client-go has it.
  Secret secret(Fields& fields, std::string_view data_key, std::string_view file_key, Encoding encoding) const {
    Secret out;
    fields.read(file_key, out.file);
    if (!out.file.empty() && out.file[0] != '/') out.file = fmt::format("{}{}", folder_, out.file);
    fields.read(data_key, out.data);
    if (out.data.empty()) return out;
    out.file.clear();
    if (encoding == Encoding::kPlain) return out;
    if (Result<std::string> decoded = decode_base64(out.data))
      out.data = std::move(*decoded);
    else
      fields.wrong(data_key, decoded.error().message);
    return out;
  }

  std::string folder_;
  const KubeconfigChoice& choice_;
};

Result<void> read_entries(Fields& top, const std::string& name, const KubeconfigChoice& choice, ClusterAccess& out) {
  std::string wanted = choice.context;
  if (wanted.empty()) top.read("current-context", wanted);
  if (wanted.empty())
    return fail(Error{.code = Code::kNotFound, .message = name + " has no current-context", .hint = "name a context"});
  const Kubeconfig reader(name, choice);
  Context context;
  if (!reader.entry(top, "contexts", "context", wanted, [&](Fields& one) { reader.read_context(one, context); }))
    return fail(Code::kNotFound, "{} has no context \"{}\"", name, wanted);
  if (!context.ns.empty()) out.ns = context.ns;
  if (!context.cluster.empty() &&
      !reader.entry(top, "clusters", "cluster", context.cluster, [&](Fields& one) { reader.read_cluster(one, out); }))
    return fail(Code::kNotFound, "{} has no cluster \"{}\", which context \"{}\" names", name, context.cluster, wanted);
  if (!context.user.empty() &&
      !reader.entry(top, "users", "user", context.user, [&](Fields& one) { reader.read_user(one, out); }))
    return fail(Code::kNotFound, "{} has no user \"{}\", which context \"{}\" names", name, context.user, wanted);
  return {};
}

}  // namespace

Result<ClusterAccess> read_kubeconfig(const std::string& name, std::string text, const KubeconfigChoice& choice) {
  doc::Diagnostics found;
  const std::vector<Value> documents =
      doc::parse_yaml(std::make_shared<const doc::Source>(doc::Source{name, std::move(text)}), found);
  TRY(doc::first_error(found));
  if (documents.size() != 1)
    return fail(Code::kInvalid, "{} is not a kubeconfig: it has {} documents", name, documents.size());
  Fields top(documents[0], "", doc::kNoFamily, found);
  TRY(doc::first_error(found));
  ClusterAccess out;
  const Result<void> read = read_entries(top, name, choice, out);
  TRY(doc::first_error(found));  // a mistake in the file explains what is not found
  if (!read) return fail(read.error());
  if (out.server.starts_with("http://") && (out.token.given() || out.client_certificate.given()))
    return fail(Code::kInvalid, "{}: {} is not encrypted and would expose this user's credentials", name, out.server);
  return out;
}

Result<ClusterAccess> in_cluster(const PodEnvironment& environment, const ReadFile& read) {
  if (environment.host.empty() || environment.port.empty())
    return fail(
        Error{.code = Code::kNotFound,
              .message = "not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
              .hint = "use a kubeconfig"});
  const bool v6 = environment.host.find(':') != std::string::npos;
  ClusterAccess out;
  out.server = fmt::format("https://{}{}{}:{}", v6 ? "[" : "", environment.host, v6 ? "]" : "", environment.port);
  out.ca.file = environment.folder + "/ca.crt";
  out.token.file = environment.folder + "/token";
  for (const std::string& file : {out.ca.file, out.token.file})
    TRY(read(file).context("reading the pod's service account").hint("check automountServiceAccountToken"));
  if (Result<std::string> ns = read(environment.folder + "/namespace"); ns && !ns->empty()) out.ns = std::move(*ns);
  return out;
}

Result<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return fail(Code::kInvalid, "is not base64: its length is not a multiple of 4");
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return fail(Code::kInvalid, "is not base64: it has an invalid character");
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

}  // namespace railbed::kube
