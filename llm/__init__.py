"""Language models: weights of files in, text out.

::

    model = xrelax.llm.load("SmolLM2-135M-Instruct.Q4_1.gguf")
    for text in model.chat([{"role": "user", "content": "Hello!"}]):
        print(text, end="")
"""

from .drafts import DraftModel as DraftModel
from .drafts import PromptLookup as PromptLookup
from .language_model import LanguageModel as LanguageModel
from .loading import load as load
from .sampling import Sampling as Sampling
