#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
kubectl label node "<node>" rail=1
kubectl label node <node> <x> rail=<y>
kubectl label node <> x
cat <in >out
