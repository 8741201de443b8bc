"""Ways to break a model folder, and changes that do no harm, each a function that changes the files of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import published
import torch
from published import changed, write
from safetensors.torch import load_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Change(NamedTuple):
    """A change of a folder, and the code and file of the finding; both are empty if the change does no harm."""

    folder: str
    make: Callable[[Path], object]
    code: str = ""
    file: str = ""

    def __str__(self) -> str:
        return f"{self.folder}-{self.make.__name__}"


CHANGES: list[Change] = []
CONFIG, GENERATION = "config.json", "generation_config.json"


def change(folder: str, code: str = "", file: str = "") -> Callable[[Callable[[Path], object]], object]:
    """Register a change of a folder of `published.py`."""

    def register(make: Callable[[Path], object]) -> object:
        CHANGES.append(Change(folder, make, code, file))
        return make

    return register


def add_token(folder: Path, *contents: str, stated: int | None = None) -> None:
    """Add tokens at the end of a `tokenizer.json`."""
    with changed(folder / "tokenizer.json") as document:
        vocabulary = document["model"]["vocab"]
        known = {entry if isinstance(entry, str) else entry[0] for entry in vocabulary}
        count = len({*known, *(one["content"] for one in document["added_tokens"])})
        for number, content in enumerate(contents, count):
            flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            entry = {"id": stated or number, "content": content, **flags, "special": True}
            document["added_tokens"].append(entry)


# -- ML601 -------------------------------------------------------------------------------------------------------------


@change("gpt2", "ML601", "tokenizer.json")
def a_padding_token_more(folder: Path) -> None:
    add_token(folder, "[PAD]")


@change("gpt2", "ML601", "tokenizer_config.json")
def a_padding_token_in_the_settings(folder: Path) -> None:
    with changed(folder / "tokenizer_config.json") as settings:
        settings["pad_token"] = "[PAD]"


@change("bert", "ML601", "tokenizer_config.json")
def two_listed_tokens(folder: Path) -> None:
    with changed(folder / "tokenizer_config.json") as settings:
        settings["additional_special_tokens"] = ["[CLS]", "<gull>"]


@change("llama_chat", "ML601", "tokenizer.json")
def more_tokens_than_rounding_leaves(folder: Path) -> None:
    add_token(folder, *(f"<more_{number}>" for number in range(9)))


@change("llama_chat")
def tokens_that_rounding_leaves(folder: Path) -> None:
    add_token(folder, *(f"<more_{number}>" for number in range(3)))


@change("bert")
def an_id_that_leaves_a_gap(folder: Path) -> None:
    with changed(folder / "tokenizer.json") as document:
        document["added_tokens"][-1]["id"] = 4000


@change("t5")
def an_added_id_far_above_the_rows(folder: Path) -> None:
    """tokenizers ignores it, and gives the next free one."""
    add_token(folder, "<far>", stated=5000)


@change("llama_pieces", "ML601", "tokenizer_config.json")
def a_stated_id_above_the_rows(folder: Path) -> None:
    with changed(folder / "tokenizer_config.json") as settings:
        settings["added_tokens_decoder"]["49"] = {"content": "<turn>", "special": True}


@change("llama_pieces", "ML601", "added_tokens.json")
def an_older_file_of_added_tokens(folder: Path) -> None:
    with changed(folder / "tokenizer_config.json") as settings:
        decoder = settings.pop("added_tokens_decoder")
        settings["pad_token"] = "<pad>"
    added = {entry["content"]: int(number) for number, entry in decoder.items()}
    write(folder / "added_tokens.json", {**added, "<turn>": 49})


@change("llama_pieces", "ML601", "tokenizer.model")
def more_pieces_than_rows(folder: Path) -> None:
    (folder / "tokenizer.model").write_bytes(published.pieces(control_symbols="<x>,<y>"))
    write(folder / "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer"})
    smaller(folder, 40)


@change("marian", "ML601", "vocab.json")
def a_word_more_in_the_vocabulary(folder: Path) -> None:
    with changed(folder / "vocab.json") as vocabulary:
        vocabulary["▁more"] = len(vocabulary)


@change("pipeline", "ML601", "tokenizer/tokenizer.json")
def a_token_of_textual_inversion(folder: Path) -> None:
    add_token(folder / "tokenizer", "<my-cat>")


@change("sentences", "ML601", "tokenizer.json")
def a_token_of_sentences(folder: Path) -> None:
    add_token(folder, "[DOC]")


@change("clip", "ML601", "tokenizer.json")
def a_token_more_than_a_part_has(folder: Path) -> None:
    add_token(folder, "<new>")


@change("wav2vec2", "ML601", "vocab.json")
def a_letter_that_is_no_class(folder: Path) -> None:
    with changed(folder / "vocab.json") as letters:
        letters["ä"] = len(letters)


@change("llava", "ML603", CONFIG)
def an_image_token_that_is_a_word(folder: Path) -> None:
    with changed(folder / "tokenizer_config.json") as settings:
        del settings["image_token"]
    with changed(folder / CONFIG) as config:
        config["image_token_index"] = 60


@change("adapter", "ML601", "tokenizer.json")
def a_table_that_an_adapter_saves(folder: Path) -> None:
    tensors = load_file(folder / "adapter_model.safetensors")
    table = {"base_model.model.model.embed_tokens.weight": torch.zeros(110, 8)}
    published.save({**tensors, **table}, folder / "adapter_model.safetensors")


@change("bert", "ML601", "special_tokens_map.json")
def an_older_file_of_special_tokens(folder: Path) -> None:
    write(folder / "special_tokens_map.json", {"bos_token": "<start>"})


@change("llava", "ML601", "tokenizer.json")
def a_token_beside_the_image(folder: Path) -> None:
    add_token(folder, "<audio>")


@change("llava")
def an_image_token_above_the_rows(folder: Path) -> None:
    """The model replaces the id of the image before it looks any up."""
    add_token(folder, "<picture>")
    with changed(folder / CONFIG) as config:
        config["image_token_index"] = config["text_config"]["vocab_size"]
    with changed(folder / "tokenizer_config.json") as settings:
        settings["image_token"] = "<picture>"


@change("roberta_tagger", "ML601", "tokenizer.json")
def fewer_rows_in_the_weights(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        del config["vocab_size"]
    smaller(folder, 100, "config")


def smaller(folder: Path, rows: int, only: str = "") -> None:
    """Cut the table of a model, and its output, to a number of rows; in `config.json`, too, without `only`."""
    tensors = load_file(folder / "model.safetensors")
    old = max(tensor.shape[0] for name, tensor in tensors.items() if "word" in name or "embed_tokens" in name)
    cut = {name: tensor[:rows].clone() if tensor.shape[0] == old else tensor for name, tensor in tensors.items()}
    published.save(cut, folder / "model.safetensors")
    if not only:
        for file in (CONFIG, GENERATION):
            with changed(folder / file) as settings:
                settings["pad_token_id"] = 0
        with changed(folder / CONFIG) as config:
            config["vocab_size"] = rows


# -- ML602 -------------------------------------------------------------------------------------------------------------


def setting(file: str, key: str, value: object) -> Callable[[Path], None]:
    """A change that sets a key of a JSON file; dots lead into parts."""

    def make(folder: Path) -> None:
        with changed(folder / file) as document:
            part = document
            *above, last = key.split(".")
            for name in above:
                part = part[name]
            part[last] = value

    shown = json.dumps(value).replace(" ", "")
    make.__name__ = f"{key.replace('.', '_')}_is_{shown}_in_{file.partition('.')[0]}"
    return make


for _folder, _file, _key, _value in (
    ("gpt2", GENERATION, "eos_token_id", 50256),
    ("gpt2", CONFIG, "pad_token_id", 50256),
    ("gpt2", GENERATION, "bos_token_id", 500),
    ("bert", CONFIG, "pad_token_id", 90),
    ("t5", CONFIG, "decoder_start_token_id", 128),
    ("llama_chat", GENERATION, "eos_token_id", [1, 999]),
    ("whisper", GENERATION, "suppress_tokens", [3, 50000]),
    ("whisper", GENERATION, "begin_suppress_tokens", [50256]),
    ("whisper", GENERATION, "forced_decoder_ids", [[1, 50259], [2, 50359]]),
    ("marian", CONFIG, "forced_eos_token_id", 65000),
    ("marian", GENERATION, "bad_words_ids", [[65000]]),
    ("llava", CONFIG, "text_config.pad_token_id", 32001),
    ("clip", CONFIG, "image_token_id", 5000),
    ("wav2vec2", CONFIG, "pad_token_id", 32),
    ("llama_chat", GENERATION, "eos_token_id", 126),
    ("gpt2", GENERATION, "eos_token_id", "0"),
    ("bert", CONFIG, "pad_token_id", "[PAD]"),
    ("llama_chat", GENERATION, "eos_token_id", [1, "<|im_end|>"]),
):
    CHANGES.append(Change(_folder, setting(_file, _key, _value), "ML602", _file))
for _folder, _file, _key, _value in (
    ("gpt2", CONFIG, "pad_token_id", -1),
    ("gpt2", GENERATION, "eos_token_id", -1),
    ("gpt2", GENERATION, "pad_token_id", None),
    ("bert", CONFIG, "eos_token_id", 50256),
    ("llava", CONFIG, "image_token_index", 3),
    ("llama_chat", CONFIG, "eos_token_id", [1]),
    ("whisper", GENERATION, "suppress_tokens", []),
    ("whisper", GENERATION, "suppress_tokens", [-1]),
    ("vit", CONFIG, "pad_token_id", 7),
    ("t5", GENERATION, "decoder_start_token_id", 60),
    ("wav2vec2", CONFIG, "bos_token_id", 50),
):
    CHANGES.append(Change(_folder, setting(_file, _key, _value)))


# -- ML603 -------------------------------------------------------------------------------------------------------------

for _folder, _file, _key, _value in (
    ("gpt2", GENERATION, "eos_token_id", 40),
    ("gpt2", GENERATION, "bos_token_id", 41),
    ("llama_chat", GENERATION, "eos_token_id", 0),
    ("llama_chat", GENERATION, "pad_token_id", 77),
    ("t5", CONFIG, "pad_token_id", 2),
    ("marian", CONFIG, "pad_token_id", 5),
    ("llama_classifier", CONFIG, "pad_token_id", 1),
    ("llava", CONFIG, "image_token_index", 50),
    ("gpt2", GENERATION, "suppress_tokens", [7, 0]),
    ("llama_chat", GENERATION, "bos_token_id", 1),
    ("roberta_tagger", CONFIG, "pad_token_id", 0),
):
    CHANGES.append(Change(_folder, setting(_file, _key, _value), "ML603", _file))
for _folder, _file, _key, _value in (
    ("llama_chat", CONFIG, "bos_token_id", 1),
    ("gpt2", GENERATION, "pad_token_id", 0),
    ("llama_classifier", CONFIG, "eos_token_id", 2),
):
    CHANGES.append(Change(_folder, setting(_file, _key, _value)))


@change("llama_chat")
def generation_stops_at_the_end_of_a_turn(folder: Path) -> None:
    with changed(folder / GENERATION) as generation:
        generation["eos_token_id"] = [number for number in generation["eos_token_id"] if number != 1]


@change("gpt2")
def generation_stops_at_the_end_of_a_line(folder: Path) -> None:
    document = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    with changed(folder / GENERATION) as generation:
        generation["eos_token_id"] = document["model"]["vocab"]["Ċ"]


@change("gpt2", "ML603", GENERATION)
def tokens_in_another_order(folder: Path) -> None:
    with changed(folder / "tokenizer.json") as document:
        vocabulary = document["model"]["vocab"]
        other = next(token for token, number in vocabulary.items() if number == 9)
        vocabulary["<|endoftext|>"], vocabulary[other] = 9, 0


# -- ML606 -------------------------------------------------------------------------------------------------------------


def labels(count: int, *, start: int = 0) -> dict[str, dict[str, object]]:
    names = [f"sea_{number}" for number in range(count)]
    return {
        "id2label": {str(number): name for number, name in enumerate(names, start)},
        "label2id": {name: number for number, name in enumerate(names, start)},
    }


def with_labels(count: int, *, start: int = 0, **more: object) -> Callable[[Path], None]:
    """A change that writes labels."""

    def make(folder: Path) -> None:
        with changed(folder / CONFIG) as config:
            config.update(labels(count, start=start), **more)

    make.__name__ = "_".join((f"{count}_labels_from_{start}", *(f"{key}_{value}" for key, value in more.items())))
    return make


CHANGES += [
    Change("bert_classifier", with_labels(4), "ML606", CONFIG),
    Change("bert_classifier", with_labels(2), "ML606", CONFIG),
    Change("bert_classifier", with_labels(3, start=1), "ML606", CONFIG),
    Change("bert_classifier", with_labels(3, num_labels=5), "ML606", CONFIG),
    Change("bert_classifier", with_labels(3)),
    Change("bert_classifier", with_labels(3, num_labels=3)),
    Change("llama_classifier", with_labels(3), "ML606", CONFIG),
    Change("vit", with_labels(10), "ML606", CONFIG),
    Change("roberta_tagger", with_labels(7), "ML606", CONFIG),
    Change("gpt2", with_labels(9)),
]


@change("bert_classifier", "ML606", CONFIG)
def no_labels(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        del config["id2label"], config["label2id"]


@change("bert_classifier", "ML606", CONFIG)
def labels_that_are_no_inverse(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["label2id"] = {"calm": 2, "rough": 1, "storm": 0}


@change("bert_classifier", "ML606", CONFIG)
def labels_as_keys(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["id2label"] = {"calm": 0, "rough": 1, "storm": 2}


@change("bert_classifier", "ML606", CONFIG)
def a_problem_that_there_is_not(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["problem_type"] = "classification"


@change("segformer", "ML606", CONFIG)
def labels_of_another_data_set(folder: Path) -> None:
    with_labels(150)(folder)


@change("yolos", "ML606", CONFIG)
def objects_of_another_data_set(folder: Path) -> None:
    with_labels(91)(folder)


@change("bert_classifier", "ML606", CONFIG)
def labels_in_a_list(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["id2label"] = ["calm", "rough", "storm"]


@change("bert_classifier")
def equal_labels(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["id2label"] = {"0": "calm", "1": "crane", "2": "crane"}
        config["label2id"] = {"calm": 0, "crane": 2}


@change("bert_classifier", "ML606", CONFIG)
def a_gap(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["id2label"] = {"0": "calm", "1": "rough", "5": "storm"}
        config["label2id"] = {"calm": 0, "rough": 1, "storm": 5}


@change("timm", "ML606", CONFIG)
def another_number_of_classes(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["num_classes"] = 1000


@change("bert_classifier", "ML606", CONFIG)
def one_class_of_several(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    one = {"classifier.weight": torch.zeros(1, 8), "classifier.bias": torch.zeros(1)}
    published.save({**tensors, **one}, folder / "model.safetensors")
    with changed(folder / CONFIG) as config:
        config.update(id2label={"0": "all"}, label2id={"all": 0}, problem_type="single_label_classification")


# -- ML607 -------------------------------------------------------------------------------------------------------------

TEMPLATE = "chat_template.jinja"


def template(text: str, name: str) -> Callable[[Path], None]:
    """A change that writes a chat template."""

    def make(folder: Path) -> None:
        (folder / TEMPLATE).write_text(text, "utf-8")

    make.__name__ = name
    return make


CHANGES += [
    Change("llama_chat", template(published.CHAT.replace("im_end", "im_edn"), "a_misspelt_end"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT + "<|tool|>", "another_marker"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT.replace("{% endfor %}", ""), "no_endfor"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT.replace("['role']", "['role'"), "a_bracket"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT.replace("%}{% if", "%}{% iff"), "a_tag"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT.replace("\n' }}{% e", "\n }}{% e"), "a_quote"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT + "{{ x | tojsn }}", "a_filter"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT + "{{ x is strng }}", "a_test"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT.replace("in messages", "in mesages"), "a_list"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT.replace("message['r", "mesage['r"), "a_variable"), "ML607", TEMPLATE),
    Change("llama_chat", template(published.CHAT + "{{ enable_thinking }}", "a_name_of_a_program")),
    Change("llama_chat", template(published.CHAT.replace("<|im", "<|xy"), "markers_that_are_text")),
    Change("llama_chat", template(published.CHAT + "[INST] <tools> </tools> <<SYS>>", "brackets_of_text")),
    Change("llama_chat", template("{{ '<|' + role + '|>' }}" + published.CHAT, "markers_that_are_put_together")),
    Change("llama_chat", template("{% generation %}x{% endgeneration %}" + published.CHAT, "the_tag_of_transformers")),
]


@change("llama_chat", "ML607", "tokenizer_config.json")
def a_template_in_the_settings(folder: Path) -> None:
    (folder / TEMPLATE).unlink()
    with changed(folder / "tokenizer_config.json") as settings:
        settings["chat_template"] = published.CHAT.replace("|im_start|", "|im_strat|")


@change("llama_chat")
def a_template_that_another_file_replaces(folder: Path) -> None:
    with changed(folder / "tokenizer_config.json") as settings:
        settings["chat_template"] = "{% if %}"


@change("gpt2", "ML607", CONFIG)
def own_code_that_is_not_there(folder: Path) -> None:
    with changed(folder / CONFIG) as config:
        config["auto_map"] = {"AutoModelForCausalLM": "modeling_sea.SeaModel", "AutoConfig": "other/repo--a.B"}


@change("gpt2", "ML607", CONFIG)
def own_code_without_the_class(folder: Path) -> None:
    own_code_that_is_not_there(folder)
    (folder / "modeling_sea.py").write_text("class SeeModel:\n    pass\n", "utf-8")


@change("gpt2")
def own_code(folder: Path) -> None:
    own_code_that_is_not_there(folder)
    text = "try:\n    from .sea import SeaModel\nexcept ImportError:\n    pass\n"
    (folder / "modeling_sea.py").write_text(text, "utf-8")
