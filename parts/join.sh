#!/bin/sh
# temporary: kernels' sections with our opening before and our sections behind
K=${K:-/work/h-kernels/chapters/02-model.w}
awk '/^% ==== the opening/{skip=1; while ((getline l < "parts/00-temp.part") > 0) print l} skip && /^@\* /{print ""; print} !skip && !/^% ==== end/{print} /^% ==== end of the opening/{skip=0}' $K > chapters/02-model.w
cat parts/[2-9]*.part >> chapters/02-model.w
