/* What a state or a value is.  Readers go by this; names are for people alone. */
#ifndef NS_MECH_COMMON_QUANTITY_H
#define NS_MECH_COMMON_QUANTITY_H

typedef enum ns_quantity {
    NS_QUANTITY_OTHER,
    NS_QUANTITY_COORDINATE,
    NS_QUANTITY_VELOCITY, /* the rate of a coordinate */
    NS_QUANTITY_QUATERNION,
    NS_QUANTITY_QUATERNION_RATE,
    NS_QUANTITY_ANGULAR,       /* angular velocity */
    NS_QUANTITY_QUASIVELOCITY, /* in a frame of its own */
    NS_QUANTITY_MOMENTUM,
    NS_QUANTITY_PLACE,     /* a point in space */
    NS_QUANTITY_ON_BODY,   /* the contact from the centre of mass, in the body */
    NS_QUANTITY_PARAMETER, /* u, v of the contact on a surface or an edge */
    NS_QUANTITY_MATRIX,    /* an entry of a matrix, which is a vector of its entries */
    NS_QUANTITY_FORCE,
    NS_QUANTITY_MULTIPLIER,
    NS_QUANTITY_ENERGY,
    NS_QUANTITY_OBSERVED, /* a line `observe` of the model */
    NS_QUANTITY_MODE,     /* the number of the mode the motion is in */
} ns_quantity;

#endif
