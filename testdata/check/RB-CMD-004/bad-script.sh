#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The server in the first pod, the client in the second one.
ib_write_bw -d mlx5_0 -s 65536
ib_write_bw -d mlx5_0 -s 4096 10.60.0.1
