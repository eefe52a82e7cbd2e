// SPDX-License-Identifier: Apache-2.0
// How to reach an API server and with which identity: from a kubeconfig, or from a pod's service account.
//
// Why: both produce the same value, so that all later code is independent of where it runs. Settings that need another
// program (exec plugins) or another identity (impersonation) are refused with the reason, never ignored: acting with an
// identity other than the configured one is worse than not acting. Relative paths of a kubeconfig are relative to its
// folder.
// Threading: pure, except for what `ReadFile` does.
// Failure: Invalid with file:line:column, NotFound if there is no such context or this is not a pod.
// Source: client-go's clientcmd/api/v1 types; "Accessing the API from a Pod".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed::kube {

// The whole content of a file.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// A credential by itself or by the file that has it, which is read again when it changes.
struct Secret {
  std::string data;
  std::string file;  // where `data` is empty

  bool given() const { return !data.empty() || !file.empty(); }
  friend bool operator==(const Secret&, const Secret&) = default;
};

enum class TlsCheck : uint8_t { kVerify, kNone };

struct ClusterAccess {
  std::string server;           // "https://10.0.0.1:6443", without a '/' at its end
  std::string tls_server_name;  // in the server's certificate, where it is not the host of `server`
  std::string proxy;
  TlsCheck tls_check = TlsCheck::kVerify;
  Secret ca;  // PEM; the machine's own CAs where none is given
  Secret client_certificate;
  Secret client_key;
  Secret token;
  std::string ns = "default";

  friend bool operator==(const ClusterAccess&, const ClusterAccess&) = default;
};

struct KubeconfigChoice {
  std::string context;                           // current-context where empty
  TlsCheck least_tls_check = TlsCheck::kVerify;  // kNone allows insecure-skip-tls-verify
};

// `name` is the file's path.
Result<ClusterAccess> read_kubeconfig(const std::string& name, std::string text, const KubeconfigChoice& choice);

// What the kubelet gives to each pod.
struct PodEnvironment {
  std::string host;  // $KUBERNETES_SERVICE_HOST
  std::string port;  // $KUBERNETES_SERVICE_PORT
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
Result<ClusterAccess> in_cluster(const PodEnvironment& environment, const ReadFile& read);

// RFC 4648, with padding, without line breaks. Failure: Invalid.
Result<std::string> decode_base64(std::string_view text);

}  // namespace railbed::kube
