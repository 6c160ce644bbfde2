NAME          plant
ROWS
 N  cost
 L  machine
 G  demand_bolts
 G  demand_nuts
COLUMNS
    bolts     cost               2.0   machine            2.0
    bolts     demand_bolts       1.0
    nuts      cost               1.0   machine            1.0
    nuts      demand_nuts        1.0
RHS
    rhs       machine           10.0   demand_bolts       3.0
    rhs       demand_nuts        4.0
ENDATA
