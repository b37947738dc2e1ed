#!/bin/sh
# Installs the clients in Python that tests run as their pages say, into node_modules/, which git, Biome and the tests leave out.
# Run it again at any time.
set -eu
cd "$(dirname "$0")"
python3 -m venv node_modules/python
node_modules/python/bin/pip install --quiet --disable-pip-version-check --requirement requirements.txt
