#!/usr/bin/env python3
"""wrappers.py -- small random models that see, as Hugging Face's library makes and saves them, and the logits that it computes of a text.
usage: wrappers.py (in this folder; with torch and transformers 5). Writes wrappers/NAME: config.json, model.safetensors, forward.jsonl."""
import copy, json, os, random
import torch, transformers as T
HERE = os.path.dirname(os.path.abspath(__file__))
see = dict(hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1, image_size=4, patch_size=2)
text = dict(vocab_size=24, hidden_size=8, intermediate_size=12, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=2, max_position_embeddings=32)
models = {
    "gemma3": (T.Gemma3ForConditionalGeneration, lambda: T.Gemma3Config(text_config=dict(text, head_dim=6, num_hidden_layers=7, sliding_window=4, query_pre_attn_scalar=6),
        vision_config=dict(see), mm_tokens_per_image=4, image_token_index=23, boi_token_index=21, eoi_token_index=22)),
    "mistral3": (T.Mistral3ForConditionalGeneration, lambda: T.Mistral3Config(text_config=dict(text, model_type="mistral", head_dim=6, sliding_window=None),
        vision_config=dict(see, model_type="pixtral", head_dim=4), image_token_index=23)),
    "llava": (T.LlavaForConditionalGeneration, lambda: T.LlavaConfig(text_config=dict(text, model_type="llama"),
        vision_config=dict(see, model_type="clip_vision_model", projection_dim=4), image_token_index=23)),
    "smolvlm": (T.SmolVLMForConditionalGeneration, lambda: T.SmolVLMConfig(text_config=dict(text, model_type="llama", pad_token_id=0),
        vision_config=dict(see), image_token_id=23, scale_factor=2)),
}
for name, (kind, config) in models.items():
    torch.manual_seed(7)
    m = kind(config()).eval().double()
    with torch.no_grad():
        for p in m.parameters(): p.copy_((torch.randn(p.shape) * 0.4).bfloat16().double())
    d = os.path.join(HERE, "wrappers", name)
    copy.deepcopy(m).to(torch.bfloat16).save_pretrained(d) # a copy: its frequencies are rounded with it
    draw = random.Random(name)
    with open(os.path.join(d, "forward.jsonl"), "w") as f:
        for n in (1, 5, 12):
            ids = [draw.randrange(20) for _ in range(n)]
            with torch.no_grad(): rows = m(input_ids=torch.tensor([ids])).logits[0]
            f.write(json.dumps({"ids": ids, "tol": 2e-4, "logits": [[round(x, 6) for x in r] for r in rows.tolist()]}) + "\n")
    for extra in os.listdir(d):
        if extra not in ("config.json", "model.safetensors", "forward.jsonl"): os.remove(os.path.join(d, extra))
