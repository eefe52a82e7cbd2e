// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/register_message.h"

#include <algorithm>

#include "doc/fields.h"
#include "perf/json_writer.h"

namespace railbed::perf::mesh {

void write(JsonWriter& writer, const Register& message) {
  writer.text("name", message.name).integer("port", message.port).integer("rail_count", message.rail_count);
  write_own_rails(writer, message.rails);
}

void write(JsonWriter& writer, const Registered& message) {
  writer.integer("registered", message.registered).integer("wanted", message.wanted);
}

Register read_register(doc::Fields& fields) {
  Register m;
  fields.need("name", m.name, {.bytes = kMaxNameBytes});
  fields.need("port", m.port, {.min = 1, .max = 65535});
  fields.need("rail_count", m.rail_count, {.min = 1, .max = kMaxRails});
  m.rails = read_own_rails(fields);
  if (m.name.empty()) fields.wrong("name", "a host of a mesh has a name");
  if (m.rails.empty()) fields.wrong("rails", "a host of a mesh has a NIC");
  for (const OwnRail& own : m.rails)
    if (own.rail >= m.rail_count) {
      fields.wrong("rails", fmt::format("rail {} of {}, counted from 0", own.rail, m.rail_count));
      break;
    }
  return m;
}

Registered read_registered(doc::Fields& fields) {
  Registered m;
  fields.need("registered", m.registered, {.min = 1, .max = kMaxHosts});
  fields.need("wanted", m.wanted, {.min = 0, .max = kMaxHosts});
  return m;
}

}  // namespace railbed::perf::mesh
