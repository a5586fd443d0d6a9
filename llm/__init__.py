"""Language models: weights of GGUF files in, text out.

::

    model = xrelax.llm.load("SmolLM2-135M-Instruct.Q4_1.gguf")
    for text in model.chat([{"role": "user", "content": "Hello!"}]):
        print(text, end="")
"""

from .language_model import LanguageModel as LanguageModel
from .language_model import load as load
from .sampling import Sampling as Sampling
