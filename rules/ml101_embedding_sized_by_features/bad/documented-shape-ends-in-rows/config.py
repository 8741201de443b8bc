class EncoderConfig:
    input_dim: int = 1583
    d_model: int = 256
