/*
 * The problems of the speed table as model text: see texts.h.
 */
#include "harness/texts.h"

#include "session/gallery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The right-hand side of C853, term by term (hand_rhs.inc): two divisions and a root. */
static const char rattleback_text[] =
    "param a = 0.2, b = 0.03, c = 0.02, m = 1, g = 9.81, turn = 0.02, spin = -3\n"
    "param J1 = m/5*(b^2 + c^2), J2 = m/5*(a^2 + c^2), I33 = m/5*(a^2 + b^2)\n"
    "param I11 = J1*cos(turn)^2 + J2*sin(turn)^2, I22 = J1*sin(turn)^2 + J2*cos(turn)^2\n"
    "param I12 = (J1 - J2)*sin(turn)*cos(turn), aa = a^2, bb = b^2, cc = c^2\n"
    "let O = [O1, O2, O3], G = [g1, g2, g3], d = [aa*g1, bb*g2, cc*g3], q = dot(G, d)\n"
    "let root = sqrt(q), inv = 1/q, dG = cross(G, O), rate = dot(d, dG)*inv\n"
    "let u = [aa*dG[1], bb*dG[2], cc*dG[3]] - rate*d\n"
    "let L = [I11*O1 + I12*O2, I12*O1 + I22*O2, I33*O3]\n"
    "let r = q*cross(L, O) + m*dot(d, O)*(u - cross(d, O)) - m*dot(d, u)*O"
    " - m*g*root*cross(d, G)\n"
    "let md1 = m*d[1], md2 = m*d[2], e1 = md1*d[1], e2 = md2*d[2], e3 = m*d[3]*d[3]\n"
    "let k11 = I11*q + (e2 + e3), k22 = I22*q + (e1 + e3), k33 = I33*q + (e1 + e2)\n"
    "let k12 = I12*q - md1*d[2], k13 = -md1*d[3], k23 = -md2*d[3]\n"
    "let c11 = k22*k33 - k23^2, c12 = k13*k23 - k12*k33, c13 = k12*k23 - k13*k22\n"
    "let c22 = k11*k33 - k13^2, c23 = k12*k13 - k11*k23, c33 = k11*k22 - k12^2\n"
    "let idet = 1/(k11*c11 + (k12*c12 + k13*c13)), ds = -root*inv*u\n"
    "let e = [q1, q2, q3], h = 0.5*O, w = cross(e, ds) + q0*ds\n"
    "let dq = q0*h + cross(e, h)\n"
    "state q0' = -dot(e, h)\n"
    "state q1' = dq[1]\nstate q2' = dq[2]\nstate q3' = dq[3]\n"
    "state O1' = (c11*r[1] + c12*r[2] + c13*r[3])*idet\n"
    "state O2' = (c12*r[1] + c22*r[2] + c23*r[3])*idet\n"
    "state O3' = (c13*r[1] + c23*r[2] + c33*r[3])*idet\n"
    "state g1' = dG[1]\nstate g2' = dG[2]\nstate g3' = dG[3]\n"
    "state x' = ds[1] + 2*(q2*w[3] - q3*w[2])\nstate y' = ds[2] + 2*(q3*w[1] - q1*w[3])\n"
    "start { q0 = 1; O1 = 0.01; O2 = 0.02; O3 = spin; g3 = 1 }\n";

static const char sleigh_text[] =
    "param M = 1, m = 1, J = 1, k = 1\n"
    "let xi = p1/(J + m*r^2), u = (p2 - m*v)/(M + m)\n"
    "state r' = v\nstate v' = r*(xi^2 - k*(M + m)/(M*m))\n"
    "state p1' = -m*r*xi*u\nstate p2' = m*r*xi^2\n"
    "state theta' = xi\nstate x' = u*cos(theta)\nstate y' = u*sin(theta)\n"
    "start { v = 1; p1 = 1; p2 = 0.3 }\n";

static const char sphere_text[] =
    "param r = 0.06, m = 4/3*pi*r^3*4500\n"
    "ground height(0.65*x - 3/2*x^2 - 6.7/3*x^3 + 20.5/4*x^4)\n"
    "body sphere(r) { mass m; uniform }\n"
    "start { contact [-0.65, 0.1]; centre' [0.2, -0.3]; spin 0 }\n";

static const char sphere_states_text[] =
    "param r = 0.06, g = 9.81, kappa = 5/7, h1 = 0.65, h2 = -3, h3 = -6.7, h4 = 20.5\n"
    "let f1 = h1 + x*(h2 + x*(h3 + x*h4)), f2 = h2 + x*(2*h3 + x*(3*h4)), ww = 1 + f1*f1\n"
    "let root = sqrt(ww), inv = 1/ww, dx = r*o2*ww/(ww*root - r*f2), n3 = root*inv, n1 = "
    "-f1*n3\n"
    "let spin = -(kappa*(n1*o1 + n3*o3))*(f2*n3*inv)*dx, e1 = 0.5*o1, e2 = 0.5*o2, e3 = "
    "0.5*o3\n"
    "state x' = dx\nstate y' = r*(o3*n1 - o1*n3)\nstate o1' = spin\nstate o2' = kappa*g/r*n1\n"
    "state o3' = spin*f1\nstate q0' = -(e1*q1 + e2*q2 + e3*q3)\nstate q1' = e1*q0 + e2*q3 - "
    "e3*q2\n"
    "state q2' = e2*q0 + e3*q1 - e1*q3\nstate q3' = e3*q0 + e1*q2 - e2*q1\n"
    "start { x = -0.65; y = 0.1; q0 = 1; o1 = 0.841005204133082419; o2 = 19.8175547365926865;"
    " o3 = -4.92876356164718784 }\n";

static const char bowl_text[] =
    "param a = 0.1, b = 0.08, c = 0.06, m = 1, k = 1\n"
    "ground paraboloid(k)\n"
    "body ellipsoid(a, b, c) { mass m; uniform }\n"
    "start { contact [0.25, 0]; quat [0.9, 0.3, -0.2, 0.25]; omega [1, 2, 3] }\n";

#define RATTLEBACK                                                                             \
    {                                                                                          \
        "q0", "q1", "q2", "q3", "O1", "O2", "O3", "g1", "g2", "g3", "x", "y"                   \
    }
#define BODY                                                                                   \
    {                                                                                          \
        "quat.w", "quat.x", "quat.y", "quat.z", "omega.x", "omega.y", "omega.z", "vertical.x", \
            "vertical.y", "vertical.z", "contact.x", "contact.y"                               \
    }
#define OMEGA "omega.x omega.y omega.z"

static const bench_text texts[] = {
    {.problem = "P1c", .text = rattleback_text, .varied = "O1 O2 O3", .values = RATTLEBACK},
    {.problem = "P1",
     .text = rattleback_text,
     .set = {"spin", "-5"},
     .varied = "O1 O2 O3",
     .values = RATTLEBACK},
    {.problem = "P2",
     .text = sleigh_text,
     .varied = "v",
     .values = {"r", "v", "p1", "p2", "theta", "x", "y"}},
    {.problem = "P1c",
     .kind = BENCH_MECHANICS,
     .gallery = "rattleback-p1c",
     .varied = OMEGA,
     .values = BODY},
    {.problem = "P1",
     .kind = BENCH_MECHANICS,
     .gallery = "rattleback-p1c",
     .set = {"spin", "-5"},
     .varied = OMEGA,
     .values = BODY},
    {.problem = "P2",
     .kind = BENCH_MECHANICS,
     .gallery = "sleigh-oscillator",
     .set = {"p10", "1"},
     .varied = "theta' x' y' r'",
     .values = {"r", "r'", "p1", "p2", "theta", "x", "y"}},
    {.problem = "P3min",
     .text = sphere_states_text,
     .varied = "o1 o2 o3",
     .values = {"x", "y", "o1", "o2", "o3", "q0", "q1", "q2", "q3"}},
    {.problem = "P3min",
     .kind = BENCH_MECHANICS,
     .text = sphere_text,
     .varied = OMEGA,
     .values = {"contact.x", "contact.y", "omega.space.x", "omega.space.y", "omega.space.z",
                "quat.w", "quat.x", "quat.y", "quat.z"}},
    {.problem = "P3",
     .kind = BENCH_MECHANICS,
     .gallery = "sphere-one-particle",
     .values = {"S.x",       "S.y",       "S.z",  "S.quat.w",  "S.quat.x",
                "S.quat.y",  "S.quat.z",  "P.x",  "P.y",       "P.z",
                "S.x'",      "S.y'",      "S.z'", "S.quat.w'", "S.quat.x'",
                "S.quat.y'", "S.quat.z'", "P.x'", "P.y'",      "P.z'"}},
    {.problem = "bowl",
     .kind = BENCH_MECHANICS,
     .text = bowl_text,
     .varied = OMEGA,
     .values = {"quat.w", "quat.x", "quat.y", "quat.z", "omega.x", "omega.y", "omega.z",
                "contact.x", "contact.y"}},
    {.problem = "disk",
     .kind = BENCH_MECHANICS,
     .gallery = "falling-disk",
     .varied = "theta' psi' phi' x' y'",
     .values = {"theta", "psi", "phi", "x", "y", "theta'", "p1", "p2"}},
    {.problem = "chain",
     .kind = BENCH_MECHANICS,
     .links = 20,
     .varied = "q1 q2 q3",
     .values = {"q1",   "q2",   "q3",   "q4",   "q5",   "q6",   "q7",   "q8",
                "q9",   "q10",  "q11",  "q12",  "q13",  "q14",  "q15",  "q16",
                "q17",  "q18",  "q19",  "q20",  "q1'",  "q2'",  "q3'",  "q4'",
                "q5'",  "q6'",  "q7'",  "q8'",  "q9'",  "q10'", "q11'", "q12'",
                "q13'", "q14'", "q15'", "q16'", "q17'", "q18'", "q19'", "q20'"}},
    {.problem = "bicycle",
     .kind = BENCH_MECHANICS,
     .gallery = "bicycle",
     .values = {"R.x",       "R.y",       "R.z",       "R.quat.w",  "R.quat.x",
                "R.quat.y",  "R.quat.z",  "B.quat.w",  "B.quat.x",  "B.quat.y",
                "B.quat.z",  "H.quat.w",  "H.quat.x",  "H.quat.y",  "H.quat.z",
                "F.quat.w",  "F.quat.x",  "F.quat.y",  "F.quat.z",  "B.omega.x",
                "B.omega.y", "B.omega.z", "H.omega.x", "H.omega.y", "H.omega.z"}},
};

bool bench_text_lists(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

const bench_text *bench_text_find(const char *problem, bench_kind kind)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].kind == kind && strcmp(texts[i].problem, problem) == 0)
            return &texts[i];
    return NULL;
}

const char *bench_gallery_text(const char *name)
{
    for (unsigned i = 0; i < ns_gallery_count; i++)
        if (strcmp(ns_gallery_entries[i].name, name) == 0)
            return ns_gallery_entries[i].text;
    return NULL;
}

ns_model *bench_text_load(const bench_text *t)
{
    char *chain = t->links ? bench_chain_text(t->links) : NULL;
    const char *text = t->gallery ? bench_gallery_text(t->gallery) : chain ? chain : t->text;
    if (!text) {
        fprintf(stderr, "%s: there is no text of the model\n", t->problem);
        return NULL;
    }
    ns_model *model = ns_model_load_text(t->problem, text, strlen(text), &t->set,
                                         t->set.name ? 1 : 0, NS_MODEL_READY);
    free(chain);
    if (model && model->status == NS_OK)
        return model;
    fputs(model ? model->messages : "out of memory\n", stderr);
    ns_model_free(model);
    return NULL;
}

char *bench_chain_text(int links)
{
    const double length = 3.0 / links, mass = 3.0 / links;
    const size_t room = 400 + (size_t)links * 160;
    char *text = malloc(room);
    if (!text)
        return NULL;
    size_t at = (size_t)snprintf(text, room,
                                 "param m = %.17g, l = %.17g, g = 9.81\n"
                                 "let arm(q) = l*[sin(q), -cos(q)]\n"
                                 "let share(p) = m/2*dot(p', p') - m*g*p.y\n",
                                 mass, length);
    for (int i = 1; i <= links; i++)
        at += (size_t)snprintf(text + at, room - at, "coordinate q%d in rad\n", i);
    at += (size_t)snprintf(text + at, room - at, "let p1 = arm(q1)\n");
    for (int i = 2; i <= links; i++)
        at += (size_t)snprintf(text + at, room - at, "let p%d = p%d + arm(q%d)\n", i, i - 1, i);
    at += (size_t)snprintf(text + at, room - at, "lagrangian share(p1)");
    for (int i = 2; i <= links; i++)
        at += (size_t)snprintf(text + at, room - at, " +\n share(p%d)", i);
    at += (size_t)snprintf(text + at, room - at, "\nstart {\n");
    for (int i = 1; i <= links; i++)
        at += (size_t)snprintf(text + at, room - at, "q%d = 0.6*%d/%d\n", i, i, links);
    snprintf(text + at, room - at, "}\n");
    return text;
}
