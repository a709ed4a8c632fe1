==== check
set -e
# fits() at every corner, against sums in 128 bits
{ printf '#include <stdbool.h>\n#include <stdint.h>\n'; cat "$1"; cat <<'C'
int main(void)
{
  static const uint64_t at[] = {0, 1, 7, 8, 9, 16, 17, 100, 108, 109, UINT64_MAX / 2, UINT64_MAX - 108, UINT64_MAX - 16, UINT64_MAX - 9, UINT64_MAX - 8, UINT64_MAX - 7, UINT64_MAX - 1, UINT64_MAX};
  enum { N = sizeof at / sizeof *at };
  for (int i = 0; i < N * N * N * N; i++) {
    uint64_t size = at[i % N], header = at[i / N % N], begin = at[i / N / N % N], end = at[i / N / N / N];
    bool want = begin <= end && (unsigned __int128) 8 + header + end <= size;
    if (fits(size, header, begin, end) != want) return 1;
  }
  return 0;
}
C
} > $BUILD/ex.c
${CC:-cc} -std=gnu11 -w $BUILD/ex.c -o $BUILD/ex
$BUILD/ex
==== answer
bool fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end)
{
  return size >= 8 && header <= size - 8 && begin <= end && end <= size - 8 - header;
}
==== wrong
bool fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end)
{
  return begin <= end && end <= size && 8 + header + end <= size;
}
==== skeleton
bool fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end)
{
  return true;
}
