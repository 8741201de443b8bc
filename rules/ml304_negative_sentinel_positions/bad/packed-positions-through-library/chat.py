from shelf import DecoderForCausalLM

from packing import Packing


class Chat(DecoderForCausalLM, Packing):
    def forward(self, embeds, labels=None, mask=None, position_ids=None, cache=None):
        lengths = mask.sum(-1)
        if self.training:
            _, position_ids, mask, _, embeds, labels, lengths = self.repack(embeds, labels, mask, cache)
        return super().forward(mask=mask, position_ids=position_ids, embeds=embeds, labels=labels, lengths=lengths)
