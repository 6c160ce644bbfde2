NAME m
OBJSENSE
 MAX
ROWS
 N o
 E e
 L l
 G g
COLUMNS
 x o 1 e 1
 x l 2
 y o 1 g 1
RHS
 s e 1 l 4
RANGES
 s l 2
BOUNDS
 UP s x 4
 FR s y
QUADOBJ
 x x -2
 y x -1
 y y -2
ENDATA
