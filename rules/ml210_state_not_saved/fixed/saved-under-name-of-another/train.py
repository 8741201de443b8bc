import speechbrain as sb


class Model(sb.Brain):
    def init_optimizers(self):
        self.optimizer_g = self.hparams.opt_g(self.modules.generator.parameters())
        self.optimizer_d = self.hparams.opt_d(self.modules.discriminator.parameters())
        self.scheduler_g = self.hparams.sch_g(self.optimizer_g)
        self.scheduler_d = self.hparams.sch_d(self.optimizer_d)
        if self.checkpointer is not None:
            self.checkpointer.add_recoverable("optimizer_g", self.optimizer_g)
            self.checkpointer.add_recoverable("optimizer_d", self.optimizer_d)
            self.checkpointer.add_recoverable("scheduler_g", self.scheduler_g)  # expect: ML210
            self.checkpointer.add_recoverable("scheduler_d", self.scheduler_d)
