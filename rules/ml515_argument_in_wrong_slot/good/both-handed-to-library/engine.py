import lightning


class Engine:
    def __init__(self):
        self.trainer = lightning.Trainer()

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None):
        self.trainer.fit(model, train_dataloaders, val_dataloaders, datamodule, ckpt_path)


class Job:
    def __init__(self, model, datamodule):
        self.model = model
        self.datamodule = datamodule

    def run(self):
        engine = Engine()
        engine.fit(self.model, self.datamodule)
