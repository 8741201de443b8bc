import torch


class Logger:
    def log(self, value):
        print(value)

    def info(self, value):
        return self.log(value)


def report(x):
    logger = Logger()
    result = logger.log(x)
    if result is not None:
        result.close()
    return logger.info(torch.exp(x))
