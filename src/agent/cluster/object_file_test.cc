// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/object_file.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "kube/fake/api_server.h"

namespace railbed::agent {
namespace {

TEST(ObjectFile, ComesBackAsItWasWritten) {
  rc::check([](const std::vector<std::string>& names, uint32_t as_of) {
    KeptObjects kept{.of = "pods of https://a",
                     .as_of = std::chrono::system_clock::time_point(std::chrono::seconds(as_of))};
    for (size_t i = 0; i < names.size(); ++i) {
      doc::Value pod = kube::fake::object("Pod", "ai", fmt::format("p{}", i));
      std::string plain;
      for (const char c : names[i])
        if (static_cast<unsigned char>(c) < 0x80) plain += c;
      pod.set("text", plain);
      kept.objects.push_back(std::move(pod));
    }
    const auto read = read_object_file(object_file_text(kept), kept.of);
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->objects == kept.objects);
    RC_ASSERT(read->as_of == kept.as_of);
  });
}

// A power failure may leave any beginning of the file: never half of the objects.
TEST(ObjectFile, ABeginningIsNoFile) {
  KeptObjects kept{.of = "pods"};
  for (int i = 0; i < 3; ++i) kept.objects.push_back(kube::fake::object("Pod", "ai", fmt::format("p{}", i)));
  const std::string whole = object_file_text(kept);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_object_file(whole.substr(0, size), "pods").has_value()) << size;
  EXPECT_TRUE(read_object_file(whole, "pods").has_value());
}

TEST(ObjectFile, SaysWhyItIsOfNoUse) {
  struct Case {
    const char* text;
    Code code;
    const char* message;
  };
  const Case cases[] = {
      {R"([])", Code::kInvalid, "expected a JSON object, found a list"},
      {R"({"version":2,"of":"pods","asOf":1,"objects":[]})", Code::kInvalid,
       "it was written by another version of railbed, or is not a railbed file"},
      {R"({"version":1,"of":"pods of \u001b[2J","asOf":1,"objects":[]})", Code::kConflict,
       "it has objects of pods of \\x1b[2J, not of pods"},
      {R"({"version":1,"of":"pods","objects":[]})", Code::kInvalid, "it has no time"},
      {R"({"version":1,"of":"pods","asOf":9223372036854775807,"objects":[]})", Code::kInvalid, "its time is invalid"},
      {R"({"version":1,"of":"pods","asOf":-1,"objects":[]})", Code::kInvalid, "its time is invalid"},
      {R"({"version":1,"of":"pods","asOf":1,"objects":{}})", Code::kInvalid, "it has no list of objects"},
      {R"({"version":1,"of":"pods","asOf":1,"objects":[{"metadata":{"namespace":"a"}}]})", Code::kInvalid,
       "it has an object without a name"},
      {R"({"version":1,"of":"pods","asOf":1,"objects":[7]})", Code::kInvalid, "it has an object without a name"},
  };
  for (const Case& one : cases) {
    const auto read = read_object_file(one.text, "pods");
    ASSERT_FALSE(read.has_value()) << one.text;
    EXPECT_EQ(read.error().message, one.message) << one.text;
    EXPECT_EQ(read.error().code, one.code) << one.text;
  }
}

}  // namespace
}  // namespace railbed::agent
