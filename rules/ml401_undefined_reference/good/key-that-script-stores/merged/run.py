cfg = OmegaConf.merge(OmegaConf.load(first), OmegaConf.load(second))
