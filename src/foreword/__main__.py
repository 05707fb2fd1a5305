import sys

from foreword.cli import main

sys.exit(main())
