from transformers import PreTrainedModel


class SeaModel(PreTrainedModel):
    pass
