#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -eu
kubectl label node <node-name> rail=1
