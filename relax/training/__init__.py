"""Training: losses and optimizers as graph functions, and a trainer; TVM's ``relax.training``."""

from . import loss as loss
from . import optimizer as optimizer
from . import trainer as trainer
from . import utils as utils
from .setup_trainer import SetupTrainer as SetupTrainer
from .trainer import Trainer as Trainer
from .utils import AppendLoss as AppendLoss
