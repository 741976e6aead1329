"""Tiny random language models of transformers, saved as folders."""

import numpy as np
import torch
import transformers as tf


def configurations():
    mamba = {"hidden_size": 8, "state_size": 4, "num_hidden_layers": 2}
    mamba |= {"vocab_size": 32, "time_step_rank": 2, "expand": 2}
    return {
        "mamba": tf.MambaConfig(**mamba),
        "falcon_mamba": tf.FalconMambaConfig(**mamba),
        "mamba2": tf.Mamba2Config(
            vocab_size=32,
            hidden_size=8,
            num_heads=4,
            head_dim=4,
            state_size=4,
            n_groups=2,
            num_hidden_layers=2,
            chunk_size=16,
        ),
        "rwkv": tf.RwkvConfig(vocab_size=32, hidden_size=8, num_hidden_layers=3, rescale_every=2),
        "recurrent_gemma": tf.RecurrentGemmaConfig(
            vocab_size=32,
            hidden_size=16,
            lru_width=16,
            intermediate_size=24,
            num_attention_heads=4,
            num_key_value_heads=2,
            num_hidden_layers=3,
            attention_window_size=8,
            w_init_variance_scale=1.0,
        ),
        "xlstm": tf.xLSTMConfig(
            vocab_size=32,
            hidden_size=128,
            num_hidden_layers=2,
            num_heads=2,
            autocast_kernel_dtype="float32",
        ),
        "qwen3_next": tf.Qwen3NextConfig(
            vocab_size=32,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            layer_types=["linear_attention"] * 2,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            linear_key_head_dim=4,
            linear_value_head_dim=6,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            num_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=8,
            shared_expert_intermediate_size=8,
        ),
    }


def tiny_model(name, seed=0):
    """A model of transformers whose weights are all drawn, gates included."""
    torch.manual_seed(seed)
    model = tf.AutoModelForCausalLM.from_config(configurations()[name]).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.add_(0.3 * noise)
    return model


def tokens(count=64, seed=1):
    return np.random.default_rng(seed).integers(0, 32, count)


def logits(model, sequence):
    """Of a whole sequence at once, from an empty cache."""
    with torch.no_grad():
        found = model(torch.as_tensor(sequence)[None], use_cache=False)
    return found.logits[0].double().numpy()
