from transformers import PreTrainedTokenizer


class SeaTokenizer(PreTrainedTokenizer):
    pass
