from speechbrain.inference.interfaces import Pretrained


class CustomInterface(Pretrained):
    def enhance(self, wavs):
        return self.apply_mask(wavs)

    def apply_mask(self, wavs):
        if self.training:
            wavs = self.mods.augment(wavs)
        return self.mods.masker(wavs)  # expect: ML202
