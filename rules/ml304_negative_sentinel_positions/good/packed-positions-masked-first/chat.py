from shelf import DecoderForCausalLM

from packing import Packing


class Chat(DecoderForCausalLM, Packing):
    def forward(self, embeds, lengths):
        position_ids, mask, embeds = self.repack(embeds, lengths)
        return super().forward(mask=mask, position_ids=position_ids, embeds=embeds)
