// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/register_message.h"

#include <algorithm>

#include "doc/fields.h"
#include "doc/text.h"
#include "perf/json_writer.h"

namespace railbed::perf::mesh {

void write_body(JsonWriter& writer, const Register& message) {
  writer.text("name", message.name).integer("port", message.port).integer("rail_count", message.rail_count);
  write_own_rails(writer, message.rails);
}

void write_body(JsonWriter& writer, const Registered& message) {
  writer.integer("registered", message.registered).integer("wanted", message.wanted);
}

void read_body(doc::Fields& fields, Register& message) {
  fields.need("name", message.name, {.bytes = kMaxNameBytes});
  fields.need("port", message.port, {.min = 1, .max = 65535});
  fields.need("rail_count", message.rail_count, {.min = 1, .max = kMaxRails});
  message.rails = read_own_rails(fields);
  if (message.name.empty()) fields.wrong("name", "a host of a mesh has a name");
  if (message.rails.empty()) fields.wrong("rails", "a host of a mesh has a NIC");
  for (const OwnRail& own : message.rails)
    if (own.rail >= message.rail_count) {
      fields.wrong("rails", fmt::format("rail {} of {}, counted from 0", own.rail, message.rail_count));
      break;
    }
}

void read_body(doc::Fields& fields, Registered& message) {
  fields.need("registered", message.registered, {.min = 1, .max = kMaxHosts});
  fields.need("wanted", message.wanted, {.min = 0, .max = kMaxHosts});
}

Error unexpected(const Envelope& message) {
  return {.code = Code::kInvalid,
          .message = fmt::format("it sent \"{}\" when no message was expected", doc::printable(message.type))};
}

}  // namespace railbed::perf::mesh
