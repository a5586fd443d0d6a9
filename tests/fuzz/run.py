"""``make fuzz``: runs drawn programs; see `fuzzer.main`."""

import sys

from fuzzer.main import main

if __name__ == "__main__":
    sys.exit(main())
