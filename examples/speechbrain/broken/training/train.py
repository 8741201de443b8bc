"""Trains a small joint CTC and attention speech recogniser.

    python train.py hparams.yaml --data_folder=/path/to/data
"""

import sys

import torch
from hyperpyyaml import load_hyperpyyaml

import speechbrain as sb


class ASR(sb.Brain):
    def compute_forward(self, batch, stage):
        """From waveforms to the probabilities of both outputs."""
        batch = batch.to(self.device)
        wavs, wav_lens = batch.sig
        tokens_bos, _ = batch.tokens_bos

        feats = self.hparams.compute_features(wavs)
        feats = self.modules.normalize(feats, wav_lens)
        encoded = self.modules.enc(feats)
        embedded = self.modules.emb(tokens_bos)
        decoded, _ = self.modules.dec(embedded, encoded, wav_lens)

        p_ctc = self.hparams.log_softmax(self.hparams.ctc_lin(encoded))
        p_seq = self.hparams.log_softmax(self.modules.seq_lin(decoded))
        return p_seq, p_ctc, wav_lens

    def compute_objectives(self, predictions, batch, stage):
        p_seq, p_ctc, wav_lens = predictions
        tokens, tokens_lens = batch.tokens
        tokens_eos, tokens_eos_lens = batch.tokens_eos
        seq_loss = self.hparams.seq_cost(p_seq, tokens_eos, length=tokens_eos_lens)
        ctc_loss = self.hparams.ctc_cost(p_ctc, tokens, wav_lens, tokens_lens)
        weight = self.hparams.ctc_weight
        return weight * ctc_loss + (1 - weight) * seq_loss

    def on_stage_end(self, stage, stage_loss, epoch):
        if stage == sb.Stage.VALID:
            self.checkpointer.save_and_keep_only(meta={"loss": stage_loss}, min_keys=["loss"])


def dataio_prepare(hparams):
    """Training and validation data, read from CSV files with the columns wav and chars."""

    @sb.utils.data_pipeline.takes("wav")
    @sb.utils.data_pipeline.provides("sig")
    def audio_pipeline(wav):
        return sb.dataio.dataio.read_audio(wav)

    @sb.utils.data_pipeline.takes("chars")
    @sb.utils.data_pipeline.provides("tokens_bos", "tokens_eos", "tokens")
    def text_pipeline(chars):
        tokens = [hparams["first_token"] + hparams["alphabet"].index(char) for char in chars]
        yield torch.LongTensor([hparams["bos_index"], *tokens])
        yield torch.LongTensor([*tokens, hparams["eos_index"]])
        yield torch.LongTensor(tokens)

    return [
        sb.dataio.dataset.DynamicItemDataset.from_csv(
            csv_path=hparams[key],
            replacements={"data_root": hparams["data_folder"]},
            dynamic_items=[audio_pipeline, text_pipeline],
            output_keys=["id", "sig", "tokens_bos", "tokens_eos", "tokens"],
        )
        for key in ("train_csv", "valid_csv")
    ]


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file, encoding="utf-8") as fin:
        hparams = load_hyperpyyaml(fin, overrides)

    train_data, valid_data = dataio_prepare(hparams)
    brain = ASR(
        modules=hparams["modules"],
        opt_class=hparams["opt_class"],
        hparams=hparams,
        run_opts=run_opts,
        checkpointer=hparams["checkpointer"],
    )
    brain.fit(
        hparams["epoch_counter"],
        train_data,
        valid_data,
        train_loader_kwargs=hparams["dataloader_options"],
        valid_loader_kwargs=hparams["dataloader_options"],
    )
