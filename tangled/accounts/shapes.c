/* shapes.c -- made from chapters/06-memory.w; change it there */

#include "accounts/accounts.h"
#include "accounts/switched.h"

static const struct named_shape shapes[] = {
  {"gpt2", "gpt2", "Radford and others 2019", 50257, 1024, 768, 3072,
    12, 12, 12, 64, 0, true, 0, 0, 0},
  {"gpt2-medium", "gpt2", "Radford and others 2019", 50257, 1024, 1024, 4096,
    24, 16, 16, 64, 0, true, 0, 0, 0},
  {"gpt2-large", "gpt2", "Radford and others 2019", 50257, 1024, 1280, 5120,
    36, 20, 20, 64, 0, true, 0, 0, 0},
  {"gpt2-xl", "gpt2", "Radford and others 2019", 50257, 1024, 1600, 6400,
    48, 25, 25, 64, 0, true, 0, 0, 0},
  {"gpt3", "gpt2", "Brown and others 2020", 50257, 2048, 12288, 49152,
    96, 96, 96, 128, 0, true, 0, 0, 0},
  {"llama-7b", "llama", "Touvron and others 2023", 32000, 2048, 4096, 11008,
    32, 32, 32, 128, 0, false, 0, 0, 0},
  {"llama-13b", "llama", "Touvron and others 2023", 32000, 2048, 5120, 13824,
    40, 40, 40, 128, 0, false, 0, 0, 0},
  {"llama2-70b", "llama", "Touvron and others 2023b", 32000, 4096, 8192, 28672,
    80, 64, 8, 128, 0, false, 0, 0, 0},
  {"llama3-8b", "llama", "Grattafiori and others 2024", 128256, 8192, 4096,
    14336, 32, 32, 8, 128, 0, false, 0, 0, 0},
  {"llama3-70b", "llama", "Grattafiori and others 2024", 128256, 8192, 8192,
    28672, 80, 64, 8, 128, 0, false, 0, 0, 0},
  {"mistral-7b", "mistral", "Jiang and others 2023", 32000, 32768, 4096, 14336,
    32, 32, 8, 128, 4096, false, 0, 0, 0},
  {"qwen2-7b", "qwen2", "Yang and others 2024", 152064, 131072, 3584, 18944,
    28, 28, 4, 128, 0, false, 0, 0, 0},
  {"mixtral-8x7b", "mixtral", "Jiang and others 2024", 32000, 32768, 4096, 14336,
    32, 32, 8, 128, 0, false, 8, 2, 14336},
  {"olmoe-1b-7b", "olmoe", "Muennighoff and others 2024", 50304, 4096, 2048, 1024,
    16, 16, 16, 128, 0, false, 64, 8, 1024},
  {"qwen3-30b-a3b", "qwen3_moe", "Yang and others 2025", 151936, 40960, 2048, 6144,
    48, 32, 4, 128, 0, false, 128, 8, 768},
  {"gpt-oss-20b", "gpt_oss", "OpenAI 2025", 201088, 131072, 2880, 2880,
    24, 64, 8, 64, 128, false, 32, 4, 2880},
  {"gpt-oss-120b", "gpt_oss", "OpenAI 2025", 201088, 131072, 2880, 2880,
    36, 64, 8, 64, 128, false, 128, 4, 2880} };

const struct named_shape *named_shape_at(size_t i)
{
  const size_t n = sizeof shapes / sizeof *shapes;
  return i < n ? &shapes[i] : later_shape_at(i - n);
}
