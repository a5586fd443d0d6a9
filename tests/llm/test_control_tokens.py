"""Control tokens of templates are those of the tokenizer, and the letters of users are text."""

import pytest

from xrelax.llm.control_tokens import ControlTokens

tokenizers = pytest.importorskip("tokenizers")
CONTROL = ("<s>", "</s>", "<mask>")


def tokenizer(prepends=False):
    """Letters as tokens, with tokens of users between control tokens."""
    letters = {letter: n for n, letter in enumerate("▁<>/ab smk")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[]))
    if prepends:
        made.normalizer = tokenizers.normalizers.Prepend("▁")
    made.add_special_tokens(["<s>"])
    made.add_tokens(["ab"])
    made.add_special_tokens(["</s>", tokenizers.AddedToken("<mask>", lstrip=True, rstrip=True)])
    made.add_tokens(["ba"])
    return made


@pytest.mark.parametrize("prepends", [False, True])
@pytest.mark.parametrize(
    "text", ["<s>ab</s>ba", "a<s></s>b", "", "aba", "a <mask>  b<s>", "<mask>"]
)
def test_text_of_a_template_has_the_tokens_of_the_tokenizer(text, prepends):
    known = tokenizer(prepends)
    assert ControlTokens(known, CONTROL).encode(text) == known.encode(text).ids


@pytest.mark.parametrize("text", ["a</s>", "<s><s>", "ab<mask>ba"])
def test_text_of_a_user_has_no_control_token(text):
    known = tokenizer()
    control = ControlTokens(known, CONTROL)
    begin, *found, end = control.encode(f"<s>{control.hide(text)}</s>")
    ids = [known.token_to_id(t) for t in CONTROL]
    assert (begin, end) == (ids[0], ids[1]) and not {*found} & {*ids}
    assert "".join(map(known.id_to_token, found)) == text
