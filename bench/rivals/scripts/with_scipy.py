"""SciPy's DOP853 on the problems of the speed table, right-hand sides in plain floats, the
fastest way in Python for so few states.  Run by noslip bench:

    python3 with_scipy.py PROBLEM TOLERANCE

Prints the CPU seconds of the integration, steps, and the final state in the problem's
components."""
import sys
import time
from math import cos, sin, sqrt

from scipy.integrate import solve_ivp


def rattleback(t, y):
    w, x, yy, z, O1, O2, O3, g1, g2, g3 = y[:10]
    aa, bb, cc = 0.04, 0.0009, 0.0004
    J1, J2, I33 = (bb + cc)/5, (aa + cc)/5, (aa + bb)/5
    c, s = cos(0.02), sin(0.02)
    I11, I22, I12 = c*c*J1 + s*s*J2, s*s*J1 + c*c*J2, c*s*(J1 - J2)
    d1, d2, d3 = aa*g1, bb*g2, cc*g3
    q = g1*d1 + g2*d2 + g3*d3
    root = sqrt(q)
    e1, e2, e3 = g2*O3 - g3*O2, g3*O1 - g1*O3, g1*O2 - g2*O1
    rate = (d1*e1 + d2*e2 + d3*e3)/q
    u1, u2, u3 = aa*e1 - rate*d1, bb*e2 - rate*d2, cc*e3 - rate*d3
    L1, L2, L3 = I11*O1 + I12*O2, I12*O1 + I22*O2, I33*O3
    dO, du, mg = d1*O1 + d2*O2 + d3*O3, d1*u1 + d2*u2 + d3*u3, 9.81*root
    r1 = q*(L2*O3 - L3*O2) + dO*(u1 - (d2*O3 - d3*O2)) - du*O1 - mg*(d2*g3 - d3*g2)
    r2 = q*(L3*O1 - L1*O3) + dO*(u2 - (d3*O1 - d1*O3)) - du*O2 - mg*(d3*g1 - d1*g3)
    r3 = q*(L1*O2 - L2*O1) + dO*(u3 - (d1*O2 - d2*O1)) - du*O3 - mg*(d1*g2 - d2*g1)
    k11, k22 = I11*q + d2*d2 + d3*d3, I22*q + d1*d1 + d3*d3
    k33, k12, k13, k23 = I33*q + d1*d1 + d2*d2, I12*q - d1*d2, -d1*d3, -d2*d3
    c11, c12, c13 = k22*k33 - k23*k23, k13*k23 - k12*k33, k12*k23 - k13*k22
    c22, c23, c33 = k11*k33 - k13*k13, k12*k13 - k11*k23, k11*k22 - k12*k12
    det = k11*c11 + k12*c12 + k13*c13
    f = -root/q
    s1, s2, s3 = f*u1, f*u2, f*u3
    h1, h2, h3 = O1/2, O2/2, O3/2
    t1, t2, t3 = yy*s3 - z*s2 + w*s1, z*s1 - x*s3 + w*s2, x*s2 - yy*s1 + w*s3
    return (-(x*h1 + yy*h2 + z*h3), w*h1 + yy*h3 - z*h2, w*h2 + z*h1 - x*h3,
            w*h3 + x*h2 - yy*h1, (c11*r1 + c12*r2 + c13*r3)/det, (c12*r1 + c22*r2 + c23*r3)/det,
            (c13*r1 + c23*r2 + c33*r3)/det, e1, e2, e3, s1 + 2*(yy*t3 - z*t2),
            s2 + 2*(z*t1 - x*t3))


def sleigh(t, y):
    r, v, p1, p2, theta = y[:5]
    xi, u = p1/(1 + r*r), (p2 - v)/2
    return v, r*(xi*xi - 2), -r*xi*u, r*xi*xi, xi, u*cos(theta), u*sin(theta)


def sphere(t, y):
    x, _, o1, o2, o3, w, a, b, c = y
    r = 0.06
    slope, bend = 0.65 + x*(-3 + x*(-6.7 + x*20.5)), -3 + x*(-13.4 + x*61.5)
    ww = 1 + slope*slope
    root = sqrt(ww)
    dx = r*o2*ww/(ww*root - r*bend)
    n3 = 1/root
    n1 = -slope*n3
    spin = -5/7*(n1*o1 + n3*o3)*bend*n3/ww*dx
    e1, e2, e3 = o1/2, o2/2, o3/2
    return (dx, r*(o3*n1 - o1*n3), spin, 5/7*9.81/r*n1, spin*slope, -(e1*a + e2*b + e3*c),
            e1*w + e2*c - e3*b, e2*w + e3*a - e1*c, e3*w + e1*b - e2*a)


def disk(t, y):
    theta, _, phi, _, _, dt, p1, p2 = y
    R, A, B = 0.3, 0.0225, 0.045
    st, mRR = sin(theta), R*R
    turn = p1/A/cos(theta)
    tilt = st*turn
    roll = p2/(mRR + B) - tilt
    return (dt, roll, turn, -R*roll*cos(phi), -R*roll*sin(phi),
            (9.81*R*st + p1*(p2/A - tilt))/(A + mRR), (tilt*A - B/(mRR + B)*p2)*dt,
            -mRR/A*p1*dt)


def top(spin):
    return rattleback, 20, [1, 0, 0, 0, 0.01, 0.02, spin, 0, 0, 1, 0, 0]


problems = {
    'P1c': top(-3),
    'P1': top(-5),
    'P2': (sleigh, 100, [0, 1, 1, 0.3, 0, 0, 0]),
    'P3min': (sphere, 10, [-0.65, 0.1, 0.841005204133082419, 19.8175547365926865,
                           -4.92876356164718784, 1, 0, 0, 0]),
    'disk': (disk, 20, [0.2, 0, 0, 0, 0, 0, 0.0225*cos(0.2), 0.135*(6 + sin(0.2))]),
}

if sys.argv[1] not in problems:
    sys.exit(4)
rhs, until, start = problems[sys.argv[1]]
tolerance = float(sys.argv[2])
# SciPy raises smaller relative tolerances to 100 units of rounding, with a warning
begin = time.process_time()
s = solve_ivp(rhs, (0, until), start, 'DOP853', rtol=max(tolerance, 2.3e-14), atol=tolerance)
seconds = time.process_time() - begin
if s.status != 0:
    sys.exit(1)
print('%.6e %d' % (seconds, len(s.t) - 1), *('%.17g' % v for v in s.y[:, -1]))
