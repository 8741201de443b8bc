"""Configurations of the project's two programs, by name: most are right, and each tries another way to write."""

ENCODER = """\
  encoder:
    class_path: parts.Stack
    init_args:
      blocks:
        - class_path: parts.Block
          init_args: {width: 4}
"""
MODEL = "model:\n  width: 3\n" + ENCODER

#: Configurations of `plain.py`, whose model and data have no class paths.
PLAIN = {
    "small": MODEL,
    "data": MODEL + "data:\n  batch_size: 4\n  folder: here\n",
    "trainer": MODEL + "trainer:\n  max_epochs: 3\n  precision: 32\n  devices: 1\n  accelerator: cpu\n",
    "callbacks": MODEL
    + "trainer:\n  callbacks:\n    - class_path: lightning.pytorch.callbacks.EarlyStopping\n"
    + "      init_args: {monitor: loss, patience: 3, mode: min}\n    - class_path: LearningRateMonitor\n",
    "one callback": MODEL
    + "trainer:\n  callbacks:\n    class_path: ModelCheckpoint\n    init_args: {save_top_k: -1}\n",
    "bare callback": MODEL + "trainer:\n  callbacks: [LearningRateMonitor]\n",
    "logger": MODEL + "trainer:\n  logger:\n    class_path: CSVLogger\n    init_args: {save_dir: logs}\n",
    "no logger": MODEL + "trainer: {logger: false}\n",
    "loggers": MODEL + "trainer:\n  logger:\n    - class_path: CSVLogger\n      init_args: {save_dir: logs, name: a}\n",
    "profiler": MODEL + "trainer: {profiler: simple, detect_anomaly: yes, limit_val_batches: 0.5}\n",
    "seed": MODEL + "seed_everything: 7\n",
    "no seed": MODEL + "seed_everything: false\n",
    "optimizer": MODEL + "optimizer:\n  class_path: torch.optim.Adam\n  init_args: {lr: 0.1, betas: [0.9, 0.99]}\n",
    "short optimizer": MODEL + "optimizer:\n  class_path: SGD\n  init_args: {lr: 0.1, momentum: 0.9}\n",
    "scheduler": MODEL
    + "optimizer: {class_path: SGD, init_args: {lr: 0.1}}\n"
    + "lr_scheduler:\n  class_path: torch.optim.lr_scheduler.StepLR\n  init_args: {step_size: 3, gamma: 0.5}\n",
    "plateau": MODEL
    + "optimizer: {class_path: SGD, init_args: {lr: 0.1}}\n"
    + "lr_scheduler:\n  class_path: ReduceLROnPlateau\n  init_args: {monitor: loss, factor: 0.5}\n",
    "text for numbers": MODEL + '  rate: "0.5"\n  warmup: "3"\n  flag: "true"\n',
    "words": MODEL + "  flag: on\n  name: 'off'\n",
    "default of another type": MODEL + "  untold: text\n  steps: null\n",
    "anything": MODEL + "  extra: [1, {a: 2}]\n  untold: 7\n",
    "class for anything": MODEL + "  extra:\n    class_path: parts.Block\n    init_args: {width: 3}\n",
    "parents": MODEL + "  rate: 1e-3\n  warmup: null\n",
    "tuple": MODEL + "  sizes: [3, 4]\n  grid: [3, 4]\n",
    "one of two": MODEL + "  grid: 5\n  ratio: half\n",
    "literal": MODEL + "  mode: exact\n",
    "window": MODEL + "  window: {length: 3, kind: rect, marks: [1, 2]}\n",
    "window by path": MODEL + "  window:\n    class_path: parts.Window\n    init_args: {length: 3}\n",
    "empty window": MODEL + "  window:\n    class_path: parts.Window\n    init_args: null\n",
    "block": MODEL + "  block:\n    class_path: parts.WideBlock\n    init_args: {width: 3, factor: 2, dropout: 0.2}\n",
    "blocks": MODEL
    + "  block:\n    - class_path: parts.Block\n      init_args: {width: 3}\n"
    + "    - class_path: parts.PooledBlock\n      init_args: {width: 3, stride: 2, size: [1, 2], dropout: 0}\n",
    "only arguments": MODEL + "  block:\n    init_args: {width: 3}\n",
    "neither": MODEL + "  block: {width: 3, bias: false}\n",
    "loose": MODEL + "  block:\n    class_path: parts.LooseBlock\n    dict_kwargs: {any: 3}\n",
    "empty arguments": MODEL + "  block:\n    class_path: parts.LooseBlock\n    init_args: {}\n",
    "callable": MODEL + "  weigh: builtins.len\n",
    "callable class": MODEL + "  optimizer:\n    class_path: torch.optim.Adam\n    init_args: {lr: 0.1}\n",
    "callable path": MODEL + "  optimizer: torch.optim.SGD\n",
    "function": "model:\n  width: 3\n  encoder:\n    class_path: parts.small_stack\n    init_args: {width: 5}\n",
    "bare path": "model:\n  width: 3\n  encoder: parts.small_stack\n",
    "stack": MODEL
    + "        names: [a, b]\n".replace("        ", "      ")
    + "      table: {a: 1}\n      activation: torch.nn.GELU\n      shade: light\n      place: data/here\n"
    + "      window: {length: 3, hop: 1}\n",
    "dotted": MODEL + "data.batch_size: 4\ntrainer.max_epochs: 3\n",
    "anchors": "shape: &shape {width: 3}\n".replace("shape: ", "data: ").replace("{width: 3}", "{batch_size: 3}")
    + MODEL,
    "merged": MODEL + "  window:\n    <<: {length: 3}\n    hop: 2\n",
    "appended": MODEL + "trainer:\n  callbacks+:\n    - class_path: LearningRateMonitor\n",
    "repeated": MODEL + "data: {batch_size: 3}\n",
}

HEAD = "model:\n  class_path: model.Counter\n  init_args:\n    total: 4\n"
#: Configurations of `linked.py`, whose model is any subclass, and which has arguments of its own.
LINKED = {
    "counter": HEAD,
    "short": "model: Counter\n",
    "short with arguments": "model:\n  class_path: Counter\n  init_args: {total: 3, shade: dark, verbose: true}\n",
    "base": "model:\n  class_path: model.Base\n  init_args: {rate: 0.5}\n",
    "implicit": "model: {rate: 0.5, warmup: 3}\n",
    "title": HEAD + "title: mine\nlog: {every: 3}\n",
    "stop": HEAD + "stop: {patience: 3, min_delta: 0.1}\n",
    "stop fully": HEAD + "stop:\n  monitor: error\n  mode: max\n  strict: false\n",
    "linked": "model:\n  class_path: model.Tagger\n  init_args:\n"
    + ENCODER.replace("  encoder", "    encoder").replace("\n  ", "\n    "),
    "target given": "model:\n  class_path: model.Tagger\n  init_args:\n    width: 5\n"
    + ENCODER.replace("  encoder", "    encoder").replace("\n  ", "\n    "),
    "with data": HEAD + "data: {folder: there, batch_size: 2, classes: 3}\n",
    "with trainer": HEAD + "trainer: {max_steps: 10, enable_checkpointing: false, gradient_clip_val: 1}\n",
}
