// SPDX-License-Identifier: Apache-2.0
// The expressions and the function decide alike, and no expression fails: that would refuse the pod.
#include "admission/match.h"

#include <gtest/gtest.h>

#include "admission/test_patches.h"
#include "doc/members.h"

namespace railbed::admission {
namespace {

enum class Truth : uint8_t { kFalse, kTrue, kFails };

// As much of CEL as the expressions have: ||, &&, !, has(), 'key' in map, parentheses, fields that are flags.
class TinyCel {
 public:
  TinyCel(std::string_view text, const doc::Value& object) : rest_(text), object_(object) {}
  Truth whole() {
    const Truth result = any();
    return rest_.empty() ? result : Truth::kFails;
  }

 private:
  bool take(std::string_view word) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // One side that decides is enough, also where the other one fails.
  static Truth joined(Truth a, Truth b, Truth decides) {
    if (a == decides || b == decides) return decides;
    return a == Truth::kFails || b == Truth::kFails ? Truth::kFails : a;
  }
  Truth any() {
    Truth result = all();
    while (take("||")) result = joined(result, all(), Truth::kTrue);
    return result;
  }
  Truth all() {
    Truth result = one();
    while (take("&&")) result = joined(result, one(), Truth::kFalse);
    return result;
  }
  Truth one() {
    if (take("!")) return negated(one());
    if (take("(")) {
      const Truth inner = any();
      return take(")") ? inner : Truth::kFails;
    }
    if (take("has(")) {
      const std::string path = word();
      return take(")") ? has(path) : Truth::kFails;
    }
    if (take("'")) {
      const size_t end = std::min(rest_.find('\''), rest_.size());
      const std::string key(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (!take("in ")) return Truth::kFails;
      const doc::Value* map = at(word());
      if (map == nullptr || !map->is_object()) return Truth::kFails;
      return map->find(key) != nullptr ? Truth::kTrue : Truth::kFalse;
    }
    const doc::Value* flag = at(word());
    if (flag == nullptr || flag->as_bool() == nullptr) return Truth::kFails;
    return *flag->as_bool() ? Truth::kTrue : Truth::kFalse;
  }
  static Truth negated(Truth truth) {
    if (truth == Truth::kFails) return truth;
    return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
  }
  std::string word() {
    size_t end = 0;
    while (end < rest_.size() && (isalpha(static_cast<unsigned char>(rest_[end])) != 0 || rest_[end] == '.')) ++end;
    std::string out(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return out;
  }
  const doc::Value* at(std::string_view path) const {
    return path.starts_with("object.") ? doc::at(object_, path.substr(7)) : nullptr;
  }
  Truth has(const std::string& path) const {
    if (const size_t dot = path.rfind('.'); dot == std::string::npos || at(path.substr(0, dot)) == nullptr)
      return Truth::kFails;
    return at(path) != nullptr ? Truth::kTrue : Truth::kFalse;
  }

  std::string_view rest_;
  const doc::Value& object_;
};

Truth holds(const std::vector<MatchCondition>& conditions, const doc::Value& pod) {
  Truth result = Truth::kTrue;
  for (const MatchCondition& one : conditions) {
    const Truth here = TinyCel(one.expression, pod).whole();
    if (here == Truth::kFails) return here;
    if (here == Truth::kFalse) result = here;
  }
  return result;
}

TEST(MatchConditions, AreWhatTheConfigurationGets) {
  const std::vector<MatchCondition> expected{
      {"asks-for-networks",
       "(has(object.metadata.annotations) && ('k8s.v1.cni.cncf.io/networks' in object.metadata.annotations || "
       "'v1.multus-cni.io/default-network' in object.metadata.annotations)) || (has(object.metadata.labels) && "
       "('a.b/c' in object.metadata.labels || 'd' in object.metadata.labels))"},
      {"has-its-own-network", "!(has(object.spec.hostNetwork) && object.spec.hostNetwork)"}};
  // What is no label would end the text in quotes.
  EXPECT_TRUE(match_conditions({"a.b/c", "' in object || true || '", "d"}) == expected);
  EXPECT_TRUE(match_conditions({"'"}) == match_conditions({}));
}

TEST(MatchConditions, DecideAsTheFunction) {
  const struct {
    std::string_view pod;
    bool called;
    bool called_with_labels;
  } kCases[] = {
      {R"({"metadata":{},"spec":{}})", false, false},
      {R"({"metadata":{"annotations":{}},"spec":{}})", false, false},
      {R"({"metadata":{"annotations":{"other":"x"}},"spec":{}})", false, false},
      {R"({"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"rail0"}},"spec":{}})", true, true},
      {R"({"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":""}},"spec":{}})", true, true},
      {R"({"metadata":{"annotations":{"k8s.v1.cni.cncf.io/network-status":"[]"}},"spec":{}})", false, false},
      {R"({"metadata":{"annotations":{"v1.multus-cni.io/default-network":"a"}},"spec":{}})", true, true},
      {R"({"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"a"}},"spec":{"hostNetwork":true}})", false, false},
      {R"({"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"a"}},"spec":{"hostNetwork":false}})", true, true},
      {R"({"metadata":{"labels":{"team.example.com/rdma":"1"}},"spec":{}})", false, true},
      {R"({"metadata":{"labels":{"team.example.com/rdma":""},"annotations":{"x":"y"}},"spec":{}})", false, true},
      {R"({"metadata":{"labels":{"team.example.com/rdma":"1"}},"spec":{"hostNetwork":true}})", false, false},
      {R"({"metadata":{"labels":{"app":"x"}},"spec":{}})", false, false},
  };
  const std::vector<std::string> labels{"team.example.com/rdma", "no label"};
  const auto truth = [](bool yes) { return yes ? Truth::kTrue : Truth::kFalse; };
  for (const auto& one : kCases) {
    const doc::Value pod = json_of(one.pod);
    EXPECT_EQ(must_call(pod, {}), one.called) << one.pod;
    EXPECT_EQ(must_call(pod, labels), one.called_with_labels) << one.pod;
    EXPECT_EQ(holds(match_conditions({}), pod), truth(one.called)) << one.pod;
    EXPECT_EQ(holds(match_conditions(labels), pod), truth(one.called_with_labels)) << one.pod;
  }
}

// A pod without annotations was refused by an expression without has(): the reader above sees that.
TEST(MatchConditions, AnUnguardedExpressionFails) {
  const doc::Value pod = json_of(R"({"metadata":{},"spec":{}})");
  EXPECT_EQ(TinyCel("'a' in object.metadata.annotations", pod).whole(), Truth::kFails);
}

}  // namespace
}  // namespace railbed::admission
