from speechbrain.inference.interfaces import Pretrained


class CustomInterface(Pretrained):
    def encode(self, wavs):
        if hasattr(self.hparams, "normalize"):
            wavs = self.hparams.normalize(wavs)
        x = self.mods.encoder(wavs * self.hparams.n_mels)
        return self.hparams.softmax(x)  # expect: ML405
