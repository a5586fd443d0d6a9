"""The reference evaluator: runs modules of every stage with NumPy, and checks passes against it."""

from .check import CheckError as CheckError
from .check import check_pipeline as check_pipeline
from .compare import close as close
from .evaluate import evaluate as evaluate
from .evaluate import run as run
from .values import EvaluationError as EvaluationError
