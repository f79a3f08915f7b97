# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""The command line, as python -m euryale."""

import sys

from .program import main

sys.exit(main())
