==== check
# fits() at every corner, against sums in 128 bits
wrapped
says_like_ours
==== head
#include <stdbool.h>
#include <stdint.h>
==== tail
bool ex_fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end) { return fits(size, header, begin, end); }
==== test
#include "exercise.h"
bool ex_fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end);
enum { SIZES = 100 };
static uint64_t at_a_corner(void)
{
  uint64_t near = draw(20) * (uint64_t) (draw(4) > 0), corner[] = { 0, 100, UINT64_MAX / 2, UINT64_MAX - near };
  return corner[draw(4)] + near;
}
static void test(unsigned number)
{
  for (int i = 0; i < 20; i++) {
    uint64_t header = at_a_corner(), begin = at_a_corner(), end = draw(3) == 0 ? begin + draw(3) - 1 : at_a_corner(), size = draw(2) == 0 ? 8 + header + end + draw(3) - 1 : at_a_corner();
    bool right = begin <= end && (unsigned __int128) 8 + header + end <= size;
    (void) right;
    say("size %llu, header %llu, begin %llu, end %llu: %d", (unsigned long long) size, (unsigned long long) header, (unsigned long long) begin, (unsigned long long) end,
      OF(ex_fits(size, header, begin, end), right));
  }
}
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
