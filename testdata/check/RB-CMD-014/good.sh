#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -eu
kubectl label node "${1:?node}" rail=1
sort < "$1" > "$2"
