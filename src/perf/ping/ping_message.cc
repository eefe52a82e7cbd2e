// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/ping_message.h"

#include "perf/ping/rping_wire.h"

namespace railbed::perf {

void write_body(JsonWriter& writer, const OpenPing& message) {
  writer.integer("size_bytes", message.size_bytes);
}

void read_body(doc::Fields& fields, OpenPing& message) {
  fields.need("size_bytes", message.size_bytes, {.min = 1, .max = kMostPing_bytes});
}

void write_body(JsonWriter& writer, const PingOffer& message) {
  writer.integer("port", message.port).hex("cookie", message.cookie);
}

void read_body(doc::Fields& fields, PingOffer& message) {
  fields.need("port", message.port, {.min = 1, .max = 65535});
  fields.require("cookie");
  fields.hex("cookie", message.cookie);
}

}  // namespace railbed::perf
