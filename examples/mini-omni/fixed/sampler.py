"""Drawing ids from logits."""

import torch


def sample(logits: torch.Tensor, top_k: int = 50, temperature: float = 1.0) -> torch.Tensor:
    """One id per row of `logits`."""
    if temperature == 0.0:
        return logits.argmax(dim=-1)
    values, _ = torch.topk(logits, top_k, dim=-1)
    logits = logits.masked_fill(logits < values[..., -1:], float("-inf"))
    probs = torch.softmax(logits / temperature, dim=-1)
    return torch.multinomial(probs, num_samples=1).squeeze(-1)
