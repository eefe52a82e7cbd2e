#!/bin/bash
# The server of the test.
ib_write_lat -F -d
