"""Small model folders, which the real libraries write: tokenizers trained on a few lines, models of a few rows."""

from __future__ import annotations

import io
import json
import os
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers, trainers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

transformers.utils.logging.disable_progress_bar()

TEXT = [
    "the waves came in and the boats went out with them",
    "a gull stood on the pier and looked at nets, ropes and baskets",
    "eleven children counted twelve shells, and lost one on the way home",
]
CHAT = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SMALL = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 32,
}


def word_piece() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(TEXT, trainers.WordPieceTrainer(vocab_size=90, special_tokens=specials))
    return made


def byte_pairs(*specials: str) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    made.train_from_iterator([*TEXT, "\n"], trainers.BpeTrainer(vocab_size=300, special_tokens=list(specials)))
    return made


def unigram() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>")
    made.train_from_iterator(TEXT, trainer)
    return made


def fast(made: tokenizers.Tokenizer, **roles: Any) -> transformers.PreTrainedTokenizerFast:
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **roles)


@cache
def pieces(**options: Any) -> bytes:
    """A SentencePiece model of a few dozen pieces."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_writer=written, vocab_size=48, minloglevel=2, **options
    )
    return written.getvalue()


BERT_ROLES = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def bert(folder: Path) -> None:
    tokenizer = fast(word_piece(), **BERT_ROLES)
    transformers.BertModel(transformers.BertConfig(vocab_size=len(tokenizer), **SMALL)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def bert_classifier(folder: Path) -> None:
    tokenizer = fast(word_piece(), **BERT_ROLES)
    names = {0: "calm", 1: "rough", 2: "storm"}
    ids = {name: number for number, name in names.items()}
    config = transformers.BertConfig(vocab_size=len(tokenizer), id2label=names, label2id=ids, **SMALL)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def roberta_tagger(folder: Path) -> None:
    tokenizer = fast(
        byte_pairs("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
        unk_token="<unk>",
    )
    ids = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config = transformers.RobertaConfig(vocab_size=len(tokenizer), **ids, **SMALL)
    transformers.RobertaForTokenClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def gpt2(folder: Path) -> None:
    tokenizer = fast(byte_pairs("<|endoftext|>"), bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_embd=8, n_layer=1, n_head=2, n_positions=32, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def llama_chat(folder: Path) -> None:
    tokenizer = fast(byte_pairs("<s>", "</s>", "<unk>"), bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    tokenizer.add_special_tokens({"pad_token": "<pad>", "additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = CHAT
    # A table of rows in eights, as many train it.
    rows = -(-len(tokenizer) // 8) * 8
    ids = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": tokenizer.pad_token_id}
    config = transformers.LlamaConfig(vocab_size=rows, **ids, **SMALL)
    model = transformers.LlamaForCausalLM(config)
    model.generation_config.eos_token_id = [1, tokenizer.convert_tokens_to_ids("<|im_end|>")]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def llama_classifier(folder: Path) -> None:
    tokenizer = fast(byte_pairs("<s>", "</s>", "<pad>"), bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=1, pad_token_id=2, num_labels=4, **SMALL
    )
    transformers.LlamaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def t5(folder: Path) -> None:
    tokenizer = fast(unigram(), pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    tokenizer.add_special_tokens({"additional_special_tokens": [f"<extra_id_{n}>" for n in range(5)]})
    config = transformers.T5Config(
        vocab_size=128, d_model=8, d_kv=4, d_ff=12, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def llama_pieces(folder: Path) -> None:
    """The files of older releases: SentencePiece, and the special tokens by id."""
    config = transformers.LlamaConfig(vocab_size=49, bos_token_id=1, eos_token_id=2, pad_token_id=48, **SMALL)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "tokenizer.model").write_bytes(pieces())
    names = {0: "<unk>", 1: "<s>", 2: "</s>", 48: "<pad>"}
    write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "LlamaTokenizer",
            "added_tokens_decoder": {str(n): {"content": text, "special": True} for n, text in names.items()},
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "<pad>",
        },
    )


def whisper(folder: Path) -> None:
    tokenizer = fast(byte_pairs("<|endoftext|>", "<|startoftranscript|>", "<|en|>"), eos_token="<|endoftext|>")
    config = transformers.WhisperConfig(
        vocab_size=len(tokenizer), d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8, num_mel_bins=4, max_source_positions=8,
        max_target_positions=8, pad_token_id=0, bos_token_id=0, eos_token_id=0, decoder_start_token_id=1,
    )  # fmt: skip
    config.begin_suppress_tokens = [5, 0]
    model = transformers.WhisperForConditionalGeneration(config)
    model.generation_config.suppress_tokens = [3, 4]
    model.generation_config.begin_suppress_tokens = [5, 0]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def clip(folder: Path) -> None:
    tokenizer = fast(
        byte_pairs("<|startoftext|>", "<|endoftext|>"), bos_token="<|startoftext|>", eos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
    )  # fmt: skip
    text = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1, **SMALL}
    vision = {"image_size": 8, "patch_size": 4, **{key: SMALL[key] for key in SMALL if not key.startswith("max")}}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=4)
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def vit(folder: Path) -> None:
    sizes = {key: SMALL[key] for key in SMALL if not key.startswith("max")}
    config = transformers.ViTConfig(image_size=8, patch_size=4, num_labels=5, **sizes)
    transformers.ViTForImageClassification(config).save_pretrained(folder)


def segformer(folder: Path) -> None:
    config = transformers.SegformerConfig(
        num_encoder_blocks=2, depths=[1, 1], sr_ratios=[1, 1], hidden_sizes=[4, 8], patch_sizes=[3, 3], strides=[2, 2],
        num_attention_heads=[1, 1], mlp_ratios=[2, 2], decoder_hidden_size=6, num_labels=7,
    )  # fmt: skip
    transformers.SegformerForSemanticSegmentation(config).save_pretrained(folder)


def yolos(folder: Path) -> None:
    sizes = {key: SMALL[key] for key in SMALL if not key.startswith("max")}
    config = transformers.YolosConfig(image_size=[8, 8], patch_size=4, num_detection_tokens=3, num_labels=6, **sizes)
    transformers.YolosForObjectDetection(config).save_pretrained(folder)


def wav2vec2(folder: Path) -> None:
    letters = ["<pad>", "<unk>", "|", *sorted({letter for line in TEXT for letter in line if letter.isalpha()})]
    config = transformers.Wav2Vec2Config(
        vocab_size=len(letters), conv_dim=(8,), conv_stride=(5,), conv_kernel=(10,), num_feat_extract_layers=1,
        num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, pad_token_id=0,
        **{key: SMALL[key] for key in SMALL if not key.startswith("max")},
    )  # fmt: skip
    transformers.Wav2Vec2ForCTC(config).save_pretrained(folder)
    write(folder / "vocab.json", {letter: number for number, letter in enumerate(letters)})
    roles = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    write(folder / "tokenizer_config.json", {"tokenizer_class": "Wav2Vec2CTCTokenizer", **roles})


def marian(folder: Path) -> None:
    import sentencepiece

    model = pieces()
    own = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocabulary = {own.id_to_piece(number): number for number in range(3, len(own))}
    vocabulary = {"</s>": 0, "<unk>": 1, **{text: number for number, text in enumerate(vocabulary, 2)}}
    vocabulary["<pad>"] = len(vocabulary)
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary), d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8, pad_token_id=vocabulary["<pad>"],
        eos_token_id=0, decoder_start_token_id=vocabulary["<pad>"], forced_eos_token_id=0,
    )  # fmt: skip
    transformers.MarianMTModel(config).save_pretrained(folder)
    write(folder / "vocab.json", vocabulary)
    (folder / "source.spm").write_bytes(model)
    (folder / "target.spm").write_bytes(model)
    roles = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    write(folder / "tokenizer_config.json", {"tokenizer_class": "MarianTokenizer", **roles})


def llava(folder: Path) -> None:
    made = byte_pairs("<s>", "</s>", "<pad>", "<image>")
    tokenizer = fast(made, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    text = transformers.LlamaConfig(
        vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=1, pad_token_id=2, **SMALL
    ).to_dict()
    vision = transformers.CLIPVisionConfig(
        image_size=8, patch_size=4, **{key: SMALL[key] for key in SMALL if not key.startswith("max")}
    ).to_dict()
    config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_id=3)
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    write(folder / "tokenizer_config.json", {**settings, "image_token": "<image>"})


def sentences(folder: Path) -> None:
    bert(folder)
    kind = "sentence_transformers.models."
    rows = [{"idx": 0, "name": "0", "path": "", "type": f"{kind}Transformer"}]
    rows.append({"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kind}Pooling"})
    write(folder / "modules.json", rows)
    (folder / "1_Pooling").mkdir()
    write(folder / "1_Pooling/config.json", {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True})


def adapter(folder: Path) -> None:
    tokenizer = fast(byte_pairs("<s>", "</s>"), bos_token="<s>", eos_token="</s>")
    tokenizer.save_pretrained(folder)
    write(folder / "adapter_config.json", {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"]})
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_{}.weight"
    tensors = {name.format("A"): torch.zeros(2, 8), name.format("B"): torch.zeros(8, 2)}
    save(tensors, folder / "adapter_model.safetensors")


def pipeline(folder: Path) -> None:
    """A pipeline of diffusers: text encoder and tokenizer are parts."""
    write(
        folder / "model_index.json",
        {
            "_class_name": "StableDiffusionPipeline",
            "text_encoder": ["transformers", "CLIPTextModel"],
            "tokenizer": ["transformers", "CLIPTokenizer"],
        },
    )
    begin, end = "<|startoftext|>", "<|endoftext|>"
    tokenizer = fast(byte_pairs(begin, end), bos_token=begin, eos_token=end)
    tokenizer.save_pretrained(folder / "tokenizer")
    ids = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    config = transformers.CLIPTextConfig(vocab_size=len(tokenizer), **ids, **SMALL)
    transformers.CLIPTextModel(config).save_pretrained(folder / "text_encoder")


def timm(folder: Path) -> None:
    """The files that timm writes: a configuration with the name of the last layer."""
    config = {"architecture": "resnet10t", "num_classes": 6, "pretrained_cfg": {"classifier": "fc"}}
    write(folder / "config.json", {**config, "label_names": [f"n{number}" for number in range(6)]})
    save({"conv1.weight": torch.zeros(4, 3, 3, 3), "fc.weight": torch.zeros(6, 4)}, folder / "model.safetensors")


FOLDERS: dict[str, Callable[[Path], None]] = {
    made.__name__: made
    for made in (
        *(bert, bert_classifier, roberta_tagger, gpt2, llama_chat, llama_classifier, llama_pieces, t5, whisper, clip),
        *(vit, segformer, yolos, wav2vec2, marian, llava, sentences, adapter, pipeline, timm),
    )
}


def save(tensors: dict[str, torch.Tensor], path: Path) -> None:
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path)


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


@contextmanager
def changed(path: Path) -> Iterator[Any]:
    """The value of a JSON file, to be changed in place; the file is written when the block ends."""
    document = json.loads(path.read_text("utf-8"))
    yield document
    write(path, document)
