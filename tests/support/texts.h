/* Models that several tests take apart, without what each adds (frame, symmetry, run). */
#ifndef TEST_SUPPORT_TEXTS_H
#define TEST_SUPPORT_TEXTS_H

/* The Chaplygin sleigh. */
#define SLEIGH                                                                                 \
    "param m = 2, J = 0.5, a = 0.4\n"                                                          \
    "coordinate theta, x, y\n"                                                                 \
    "let c = [x + a*cos(theta), y + a*sin(theta)]\n"                                           \
    "lagrangian m/2*dot(c', c') + J/2*theta'^2\n"                                              \
    "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"                                    \
    "start { theta = 0.3; x = 0; y = 0\n"                                                      \
    "  theta' = 0.5; x' = -0.8*cos(0.3); y' = -0.8*sin(0.3) }\n"

/* A sleigh with a mass on a spring along its blade; to be given a start. */
#define OSCILLATOR                                                                             \
    "param M = 1.5, m = 0.7, J = 1, k = 1\n"                                                   \
    "coordinate theta, x, y, r\n"                                                              \
    "let c = [x + r*cos(theta), y + r*sin(theta)]\n"                                           \
    "lagrangian M/2*(x'^2 + y'^2) + J/2*theta'^2 + m/2*dot(c', c') - k/2*r^2\n"                \
    "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"

/* The falling disk of Bloch, Marsden and Zenkov, 6.5: theta is the lean, phi the heading. */
#define FALLING                                                                                \
    "param m = 1, R = 0.3, g = 9.81, A = m*R^2/4, B = m*R^2/2\n"                               \
    "coordinate theta, psi, phi, x, y\n"                                                       \
    "let zeta1 = x'*cos(phi) + y'*sin(phi) + R*psi', zeta2 = -x'*sin(phi) + y'*cos(phi)\n"     \
    "let spin = phi'*sin(theta) + psi'\n"                                                      \
    "lagrangian m/2*((zeta1 - R*spin)^2 + zeta2^2*sin(theta)^2 +\n"                            \
    "  (zeta2*cos(theta) + R*theta')^2) +\n"                                                   \
    "  (A*(theta'^2 + phi'^2*cos(theta)^2) + B*spin^2)/2 - m*g*R*cos(theta)\n"                 \
    "constraint rx: x' = -psi'*R*cos(phi)\n"                                                   \
    "constraint ry: y' = -psi'*R*sin(phi)\n"                                                   \
    "start { theta = 0.2; psi = 0; phi = 0; x = 0; y = 0; theta' = 0; psi' = 6; phi' = 1 }\n"

/* The roller racer, with a spring at the handlebar. */
#define RACER                                                                                  \
    "param m = 30, I1 = 1.5, I2 = 0.6, d1 = 0.4, d2 = 0.1\n"                                   \
    "coordinate x, y, theta, phi\n"                                                            \
    "lagrangian m/2*(x'^2 + y'^2) + I1/2*theta'^2 + I2/2*(theta' + phi')^2 - 2*phi^2\n"        \
    "let v = x'*cos(theta) + y'*sin(theta), D = d1*cos(phi) + d2\n"                            \
    "constraint seat: y'*cos(theta) - x'*sin(theta) = 0\n"                                     \
    "constraint handlebar: D*theta' + d2*phi' = v*sin(phi)\n"                                  \
    "start { x = 0; y = 0; theta = 0; phi = 0.2; x' = 0.1; phi' = 0.1 }\n"

/* The rattleback of Kane and Levinson, spinning about the vertical; %s: more about the body. */
#define STONE                                                                                  \
    "param spin = -5\nground plane\nbody ellipsoid(0.2, 0.03, 0.02) {\n"                       \
    "    %s mass 1; com [0, 0, -0.01]\n"                                                       \
    "    inertia [[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]]\n}\n"                  \
    "start { omega [0, 0, spin] }\n"

#endif
