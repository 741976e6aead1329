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


def tiny_model(name, seed=0, **changes):
    """A model of transformers whose weights are all drawn, gates included."""
    torch.manual_seed(seed)
    config = configurations()[name]
    for key, value in changes.items():
        setattr(config, key, value)
    model = tf.AutoModelForCausalLM.from_config(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for label, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.add_(0.3 * noise)
            if name == "qwen3_next" and label.endswith("A_log"):
                parameter.sub_(4.0)  # else nothing is left after a few tokens
    return model


def tokens(count=64, seed=1):
    return np.random.default_rng(seed).integers(0, 32, count)


def logits(model, sequence):
    """Of a whole sequence at once, from an empty cache."""
    with torch.no_grad():
        found = model(torch.as_tensor(sequence)[None], use_cache=False)
    return found.logits[0].double().numpy()


def step(model, cache, token):
    """One token with the cache that came back before; None is the empty one."""
    kind = model.config.model_type
    word = {"rwkv": "state", "qwen3_next": "past_key_values"}.get(kind, "cache_params")
    if kind == "recurrent_gemma":  # it does not hand its cache back
        word, cache = "past_key_values", cache or tf.DynamicCache(config=model.config)
    more = {word: cache}
    if kind == "qwen3_next":  # without attention it has no positions to count
        masks = {"full_attention": None, "linear_attention": None}
        more |= {"position_ids": torch.tensor([[0]]), "attention_mask": masks}
    with torch.no_grad():
        out = model(torch.tensor([[int(token)]]), use_cache=True, **more)
    return cache if kind == "recurrent_gemma" else getattr(out, word)


def _raw(model, cache, layer):
    """The tensors that hold a layer's recurrent state, and the logarithm of their gauge."""
    kind = model.config.model_type
    if kind == "rwkv":
        num, den, top = (part[0, :, layer] for part in cache[2:])
        return [num, den], top
    if kind == "recurrent_gemma":
        return [model.model.layers[layer].temporal_block.rg_lru.recurrent_states], None
    if kind == "xlstm":
        C, n, m = cache.rnn_state[layer]
        return [C[0], n[0]], m[0]
    return [cache.layers[layer].recurrent_states[0]], None


def recurrent_state(model, cache, layer):
    """A layer's recurrent state in our shape and without a gauge, in double."""
    parts, gauge = _raw(model, cache, layer)
    parts = [part.double().numpy().copy() for part in parts]
    if model.config.model_type == "rwkv":
        return np.stack(parts, axis=1) * np.exp(gauge.double().numpy())[:, None]
    if model.config.model_type == "xlstm":
        whole = np.concatenate([parts[0], parts[1][:, :, None]], axis=2)
        return whole * np.exp(gauge.double().numpy())[:, :, None]
    return parts[0][0]


def perturb(model, cache, layer, size, seed=0):
    """Add noise to a layer's recurrent state, in place."""
    generator = torch.Generator().manual_seed(seed)
    for part in _raw(model, cache, layer)[0]:
        part.add_(size * torch.randn(part.shape, generator=generator))
