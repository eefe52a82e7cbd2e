// SPDX-License-Identifier: Apache-2.0
#include "check/read/rendered.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "check/read/alternatives.h"

namespace railbed::check {
namespace {

doc::SourcePtr file(std::string name, std::string text) {
  return std::make_shared<const doc::Source>(doc::Source{.name = std::move(name), .text = std::move(text)});
}

// "helm charts/rails: charts/rails/Chart.yaml …", a line for each.
std::string reported_renderables(const std::vector<doc::SourcePtr>& sources) {
  std::string out;
  for (const Renderable& one : renderables(sources))
    out += fmt::format("{} {}: {}\n", one.by == Renderer::kHelm ? "helm" : "kustomize", one.folder,
                       fmt::join(one.files, " "));
  return out;
}

TEST(Rendered, AChartIsItsFolderWithTheChartsInItAndWithoutItsPages) {
  EXPECT_EQ(reported_renderables(
                {file("c/Chart.yaml", "name: c\n"), file("c/values.yaml", "vfs: 8\n"), file("c/README.md", "# c\n"),
                 file("c/templates/policy.yaml", "{{ .Values.vfs }}\n"), file("c/charts/sub/Chart.yaml", "name: sub\n"),
                 file("c/charts/sub/templates/a.yaml", "a: b\n"), file("c/files/part.yaml", "{{ .Values.vfs }}\n"),
                 file("c/examples/pod.yaml", "kind: Pod\n"), file("cc/pod.yaml", "kind: Pod\n")}),
            "helm c: c/Chart.yaml c/charts/sub/Chart.yaml c/charts/sub/templates/a.yaml c/files/part.yaml "
            "c/templates/policy.yaml c/values.yaml\n");
  EXPECT_EQ(reported_renderables({file("Chart.yaml", "name: here\n"), file("templates/a.yaml", "a: b\n"),
                                  file("other/b.yaml", "a: b\n")}),
            "helm .: Chart.yaml templates/a.yaml\n");
}

TEST(Rendered, ALibraryOfTemplatesIsNotRenderedByItself) {
  EXPECT_EQ(reported_renderables(
                {file("lib/Chart.yaml", "name: lib\ntype: library\n"), file("lib/templates/_a.yaml", "a: b\n")}),
            "");
  EXPECT_EQ(reported_renderables({file("app/Chart.yaml", "name: app\ntype: application\n")}),
            "helm app: app/Chart.yaml\n");
}

TEST(Rendered, AnOverlayIsItsFilesAndThoseOfItsBasesAndComponents) {
  EXPECT_EQ(
      reported_renderables(
          {file("k/base/kustomization.yaml", "resources: [policy.yaml]\n"), file("k/base/policy.yaml", "a: b\n"),
           file("k/base/beside.yaml", "a: b\n"),
           file("k/comp/kustomization.yml", "kind: Component\npatches: [{path: mtu.yaml}]\n"),
           file("k/comp/mtu.yaml", "a: b\n"),
           file("k/prod/kustomization.yaml", "resources: [../base, net.yaml]\ncomponents: [../comp]\n"),
           file("k/prod/net.yaml", "a: b\n"),
           file("k/test/kustomization.yaml", "bases: [../base/]\npatchesStrategicMerge: [vfs.yaml]\n"),
           file("k/test/vfs.yaml", "a: b\n")}),
      "kustomize k/prod: k/base/kustomization.yaml k/base/policy.yaml k/comp/kustomization.yml k/comp/mtu.yaml "
      "k/prod/kustomization.yaml k/prod/net.yaml\n"
      "kustomize k/test: k/base/kustomization.yaml k/base/policy.yaml k/test/kustomization.yaml k/test/vfs.yaml\n");
}

TEST(Rendered, AKustomizationThatListsItselfOrIsNoObjectEnds) {
  EXPECT_EQ(reported_renderables({file("k/kustomization.yaml", "resources: [., ../k, ../l]\n"),
                                  file("l/kustomization.yaml", "resources: [../k]\n"),
                                  file("m/kustomization.yaml", "- a\n")}),
            "")
      << "each of two is the other's part";
  EXPECT_EQ(reported_renderables({file("k/kustomization.yaml", "resources: [., {path: 7}, 3]\n")}),
            "kustomize k: k/kustomization.yaml\n");
}

TEST(Rendered, EachDocumentIsASource) {
  const auto documents =
      rendered_documents("charts/rails", "# Source: a\na: b\n---\n\n---\r\nc: |\n  ---\n  d\n--- \ne: f");
  std::string out;
  for (const auto& one : documents) out += fmt::format("{}: {:?}\n", one->name, one->text);
  EXPECT_EQ(out,
            "rendered from charts/rails (document 1): \"# Source: a\\na: b\\n\"\n"
            "rendered from charts/rails (document 2): \"c: |\\n  ---\\n  d\\n\"\n"
            "rendered from charts/rails (document 3): \"e: f\\n\"\n");
  EXPECT_TRUE(is_rendered(documents[0]->name));
  EXPECT_EQ(rendered_folder(documents[0]->name), "charts/rails");
  EXPECT_FALSE(is_rendered("charts/rails/rendered from here.yaml"));
  EXPECT_FALSE(is_rendered("rendered from x"));
}

TEST(Rendered, TwoRenderingsOfOneObjectAreCheckedBesideEachOther) {
  const auto policy = [](int vfs) {
    return fmt::format(
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
        "metadata: {{name: a, namespace: s}}\nspec: {{numVfs: {}}}\n",
        vfs);
  };
  std::vector<doc::SourcePtr> sources = rendered_documents("k/prod", policy(8));
  sources.push_back(rendered_documents("k/test", policy(2))[0]);
  const FileGroups groups = group_alternatives(sources, {});
  EXPECT_EQ(groups.groups.size(), 2U);
  EXPECT_EQ(groups.why,
            "SriovNetworkNodePolicy s/a is given in what is rendered from k/prod and differently in what is rendered "
            "from k/test");
}

}  // namespace
}  // namespace railbed::check
