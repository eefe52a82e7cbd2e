// SPDX-License-Identifier: Apache-2.0
#include "check/read/pinned_release.h"

#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

TEST(PinnedRelease, IsAWholeVersionBehindTheName) {
  const std::pair<const char*, int> cases[] = {{"k8s_version       = \"1.21.7\"\n", 21},
                                               {"Kubernetes v1.20.15 is installed\n", 20},
                                               {"kubernetes-version: v1.23.4\nkubernetesVersion: 1.19.16\n", 19},
                                               {"apt install kubelet=1.22.1-00\n", 22},
                                               {"kubeadm_version: '1.24.0'\n", 24}};
  for (const auto& [text, minor] : cases) EXPECT_EQ(pinned_minor(std::string_view(text)), minor) << text;
  for (const char* none :
       {"", "1.", "Kubernetes 1.21 or newer\n", "image: registry.k8s.io/ingress-nginx/controller:v1.12.1\n",
        "helm 1.21.7\n", "k8s 11.21.7\n", "k8s 1.2.7\n", "kubernetes\n1.21.7\n"})
    EXPECT_EQ(pinned_minor(std::string_view(none)), std::nullopt) << none;
}

TEST(PinnedRelease, AVersionThatItServesIsNoError) {
  const auto severity = [](const std::string& api_version, const std::string& page) {
    const std::string object =
        "apiVersion: " + api_version +
        "\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: \"1 * * * *\"\n  jobTemplate:\n"
        "    spec:\n      template:\n        spec:\n          restartPolicy: Never\n"
        "          containers:\n          - {name: c, image: i}\n";
    const Report report = check({std::make_shared<const doc::Source>(doc::Source{"a.yaml", object}),
                                 std::make_shared<const doc::Source>(doc::Source{"README.md", page})},
                                {}, {});
    for (const doc::Diagnostic& one : report.findings.all())
      if (one.id == "RB-ADM-005") return std::string(doc::severity_name(one.severity));
    return std::string();
  };
  EXPECT_EQ(severity("batch/v1beta1", "# A\n\nWe install Kubernetes 1.21.7.\n"), "warning");
  EXPECT_EQ(severity("batch/v1beta1", "# A\n\nWe install Kubernetes 1.26.1.\n"), "error");
  EXPECT_EQ(severity("batch/v1beta1", "# A\n\nKubernetes 1.21 or newer.\n"), "error");
}

}  // namespace
}  // namespace railbed::check
