tune run lora_finetune_single_device --config small.yaml \
    model.lora_attn_modules=[q_proj] checkpointer.checkpoint_dir=/models/small
