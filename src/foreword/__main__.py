import os
import sys

from foreword.cli import main

# As in the daemon: where all cores are busy, threads of numpy's own wait ten times as long as they work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.exit(main())
