#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The server of the test.
ib_write_lat -F -d "$DEVICE"
