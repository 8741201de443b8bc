import speechbrain as sb


class Model(sb.Brain):
    def init_optimizers(self):
        self.opt_g = self.hparams.opt_g(self.modules.generator.parameters())
        self.opt_d = self.hparams.opt_d(self.modules.discriminator.parameters())
        if self.checkpointer is not None:
            self.checkpointer.add_recoverable("generator_opt", self.opt_g)
            self.checkpointer.add_recoverable("optimizer", self.opt_d)


class Swapped(sb.Brain):
    def init_optimizers(self):
        self.first = self.hparams.opt_g(self.modules.generator.parameters())
        self.second = self.hparams.opt_d(self.modules.discriminator.parameters())
        if self.checkpointer is not None:
            self.checkpointer.add_recoverable("first", self.second)
            self.checkpointer.add_recoverable("second", self.first)
