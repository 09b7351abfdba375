/* Simplified Newton iteration for the stages of `gauss`.
 *
 *     Z = h (A x I) F(Z),     (I - h A x J) dZ = h (A x I) F(Z) - Z =: R
 *
 * A^-1 = T Lambda T^-1 has four pairs of complex eigenvalues.  With W = T^-1 dZ the 8 n
 * equations fall apart into four complex systems of n equations (and their conjugates),
 *
 *     (lambda_k / h - J) W_k = (lambda_k / h) (T^-1 R)_k,    dZ = 2 Re sum_k T_k W_k
 *
 * (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8).  The derivatives are
 * taken from the increments, F = A^-1 Z / h: evaluating f would amplify what is left of the
 * error in Z by the stiffness. */
#include "ode/gauss/gauss_newton.h"

#include "base/check.h"
#include "ode/gauss/gauss_table.h"

enum { PAIRS = 4 };

/* Eigenvalues, eigenvectors T[k][i] and rows of the inverse, as (real, imaginary). */
static const double eigenvalue[PAIRS][2] = {
    {11.17577208652617, 1.7352288907055728},
    {10.409681581273764, 5.232350305285055},
    {8.736578434404805, 8.828885000943078},
    {5.677967897795261, 12.707822597209754},
};

static const double T[PAIRS][8][2] = {
    {{-0.0005177580791377412, -0.0005997349236965451},
     {0.0006512927867909518, 0.0005906956134204618},
     {-0.0005916104014099465, -0.0008919300057136331},
     {0.0016712466524110643, -0.0009644263832842456},
     {0.010640530514136859, -0.009677837936722465},
     {0.0915865600711089, -0.03583846020970468},
     {0.44054267004444897, -0.06529310916264072},
     {1.112749423816394, -0.003745159189507505}},
    {{-0.000657220805499964, 0.0009969506537496424},
     {0.0005011694841177112, -0.0015023780755203803},
     {-0.00019139420715344037, 0.0009641993971958289},
     {0.0032617775872142, -0.002241403212798801},
     {0.01562640462146651, 0.014428451458894443},
     {-0.0007752786517418295, 0.12099070879845335},
     {-0.330793759058107, 0.37860749591093495},
     {-1.0710972621407562, 0.4825655487944624}},
    {{-0.0008808940682724303, -0.002512819922789009},
     {0.002329857553701156, 0.003610355705605181},
     {-0.004901932596280855, -0.0022809507684784054},
     {0.001405476559997884, -0.005762806608741904},
     {0.03718359881615221, -0.009088824848888464},
     {0.043829847972741774, 0.17927670936095605},
     {-0.49088160852217383, 0.3343885548174275},
     {-1.203573470820848, -0.14258052778366354}},
    {{-0.003051581243784282, 0.0006762241557125724},
     {0.005462010189308749, -0.0017675860320056915},
     {-0.009005012827194537, 0.005080513550911042},
     {0.013099376298171489, -0.015759100397169525},
     {-0.0035150726867926294, 0.04494599679492025},
     {-0.08156685385580952, -0.06430409654854545},
     {0.15279545037073194, -0.15894829543030212},
     {0.3497707565444782, 0.08229492634977292}},
};

static const double T_inverse[PAIRS][8][2] = {
    {{-237.89016434609223, 1134.7675074295526},
     {-64.04935904734263, 1017.3927886425631},
     {51.528079892547176, 313.35948688508023},
     {27.053772067471286, 46.38132860884339},
     {2.2205734469071903, 6.852442034874515},
     {3.215001116253476, -1.2679314819281542},
     {-1.6331676273653826, 1.1761682856229043},
     {0.7236286899881791, -0.3973526215792865}},
    {{-487.8841379273593, 273.9890426575141},
     {-309.8023061888568, 425.1676540582169},
     {14.62641972095334, 177.9935492920314},
     {28.736225843992393, 22.171984240628312},
     {5.206848360607586, -4.30144669380967},
     {-0.15576180011755916, 1.442602043329192},
     {0.3835718480391775, -1.612176937806021},
     {-0.2698934971404035, 0.500632785615518}},
    {{109.01930027611165, -62.805245520572846},
     {44.17778891797036, -128.0449258989101},
     {-45.774174793555915, -37.813581405492506},
     {-9.067755144839158, 10.975651763193024},
     {0.8618794884349563, 2.030874220744646},
     {1.7029045412346375, -0.35416175918516973},
     {-0.9180689371869452, -0.3425731106474184},
     {0.22921732162232486, 0.15448925992526522}},
    {{30.681766794689892, 5.534671738887732},
     {27.49084553435416, -31.786695751568782},
     {-22.81122417904251, -16.113358415472128},
     {-0.35647856007674406, 14.010391641194065},
     {3.8089258257549155, -5.106354051060572},
     {-2.3461532275138577, 1.4915249545946918},
     {1.021955525375673, -0.39120014205268416},
     {-0.2613224039585137, 0.07251538011784187}},
};

/* A^-1 by columns: inverse[j][i] */
static const double inverse[8][8] = {
    {25.692611296309824, -19.49249456998672, 10.23940120319752, -7.937981368275349,
     7.814155748651835, -9.633178632040007, 16.040218923407206, -51.40631755826197},
    {7.66481813729873, 5.474614538917796, -10.295672430974822, 6.305836182582979,
     -5.71807461470441, 6.78823557067877, -11.09128684254554, 35.23749930369194},
    {-2.066766305200644, 5.284903919706359, 2.7631343701600883, -8.098569741480341,
     5.663512202529704, -6.1180832503648315, 9.575972238554758, -29.85316461685423},
    {0.8349678360326501, -1.6868168175551064, 4.2203763916360435, 2.069639794612294,
     -7.900816392771287, 6.547722401847212, -9.325673567435354, 27.996725772061342},
    {-0.39132273505636167, 0.7282297254202682, -1.4051479207849815, 3.761536803546699,
     2.069639794612294, -9.362950872698274, 10.284260659570192, -28.440370873037633},
    {0.18808607902639343, -0.33706178120493807, 0.5918145100446552, -1.215395508135759,
     3.6504530470863963, 2.7631343701600883, -14.523814377056178, 31.73184484302848},
    {-0.08078444839581887, 0.14205776470994907, -0.23893707246555548, 0.44651701311307607,
     -1.0342785809916455, 3.746373932761608, 5.474614538917796, -42.82153299259485},
    {0.021094965642320808, -0.03677333135100941, 0.06069262072263903, -0.10922194347348796,
     0.23304756309700156, -0.6669151918801526, 3.489048977930523, 25.692611296309824},
};

/* Its memory: work block of the Jacobian's program, J, four complex matrices, their pivots,
 * four complex vectors. */
typedef struct newton {
    double *work, *J;
    double *lu;    /* [PAIRS][n][n][2] */
    double *w;     /* [PAIRS][n][2] */
    uint32_t *row; /* [PAIRS][n] */
} newton;

static newton place(const ns_problem *problem, ns_layout *l)
{
    const size_t n = problem->n;
    newton y;
    y.work = ns_layout_doubles(l, ns_program_work1(problem->jacobian));
    y.J = ns_layout_doubles(l, n * n);
    y.lu = ns_layout_doubles(l, PAIRS * 2 * n * n);
    y.w = ns_layout_doubles(l, PAIRS * 2 * n);
    y.row = ns_layout_take(l, PAIRS * n, sizeof *y.row);
    return y;
}

static newton view(const ns_problem *problem, double *memory)
{
    NS_CHECK(memory);
    return place(problem, &(ns_layout){.base = memory});
}

size_t ns_newton_memory(const ns_problem *problem)
{
    ns_layout l = {0};
    if (problem->jacobian)
        place(problem, &l);
    return l.used / sizeof(double);
}

double ns_newton_price(const ns_problem *problem)
{
    /* nanoseconds, roughly: interpreted operations on 8 lanes 1.5 and on one 2, others 0.5;
     * eight sweeps or six corrections in a step */
    const double n = problem->n, rhs = ns_program_operations(problem->rhs, NULL);
    const double jacobian = ns_program_operations(problem->jacobian, NULL);
    const double sweeps = 8 * (1.5 * rhs + 20 * n);
    return (5.5 * n * n * n + 2 * jacobian + 6 * (1.5 * rhs + 8 * n * n + 65 * n)) / sweeps;
}

void ns_newton_bind(ns_stepper *s, double *memory)
{
    ns_program_bind1(s->problem->jacobian, memory, s->p);
}

double ns_newton_jacobian(ns_stepper *s, double *memory, double t, const double *x)
{
    const newton y = view(s->problem, memory);
    const uint32_t n = s->n;
    ns_program_eval1(s->problem->jacobian, y.work, t, x, y.J);
    double norm = 0;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += fabs(y.J[(size_t)i * n + j]) * s->size[j];
        sum /= s->size[i];
        norm = sum <= norm ? norm : sum; /* keeps a nan */
    }
    return norm;
}

static double size2(const double *z)
{
    return z[0] * z[0] + z[1] * z[1];
}

bool ns_newton_factor(ns_stepper *s, double *memory, double h)
{
    const newton y = view(s->problem, memory);
    const uint32_t n = s->n;
    for (int p = 0; p < PAIRS; p++) {
        double *M = y.lu + (size_t)p * 2 * n * n;
        uint32_t *row = y.row + (size_t)p * n;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                double *m = M + 2 * ((size_t)i * n + j);
                m[0] = -y.J[(size_t)i * n + j] + (i == j ? eigenvalue[p][0] / h : 0);
                m[1] = i == j ? eigenvalue[p][1] / h : 0;
            }
        for (uint32_t k = 0; k < n; k++) {
            uint32_t best = k;
            for (uint32_t i = k + 1; i < n; i++)
                if (size2(M + 2 * ((size_t)i * n + k)) > size2(M + 2 * ((size_t)best * n + k)))
                    best = i;
            row[k] = best;
            for (uint32_t j = 0; j < 2 * n && best != k; j++) {
                const double swap = M[2 * (size_t)k * n + j];
                M[2 * (size_t)k * n + j] = M[2 * (size_t)best * n + j];
                M[2 * (size_t)best * n + j] = swap;
            }
            double *pivot = M + 2 * ((size_t)k * n + k);
            const double d = size2(pivot);
            if (!(d > 0) || !isfinite(d))
                return false;
            pivot[0] /= d; /* the diagonal is kept inverted */
            pivot[1] /= -d;
            for (uint32_t i = k + 1; i < n; i++) {
                double *m = M + 2 * ((size_t)i * n + k);
                const double re = m[0] * pivot[0] - m[1] * pivot[1];
                const double im = m[0] * pivot[1] + m[1] * pivot[0];
                m[0] = re;
                m[1] = im;
                const double *a = M + 2 * ((size_t)k * n);
                double *b = M + 2 * ((size_t)i * n);
                for (uint32_t j = k + 1; j < n; j++) {
                    b[2 * j] -= re * a[2 * j] - im * a[2 * j + 1];
                    b[2 * j + 1] -= re * a[2 * j + 1] + im * a[2 * j];
                }
            }
        }
    }
    return true;
}

static void solve(uint32_t n, const double *M, const uint32_t *row, double *w)
{
    for (uint32_t k = 0; k < n; k++)
        for (int c = 0; c < 2; c++) {
            const double swap = w[2 * k + (uint32_t)c];
            w[2 * k + (uint32_t)c] = w[2 * row[k] + (uint32_t)c];
            w[2 * row[k] + (uint32_t)c] = swap;
        }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const double *m = M + 2 * ((size_t)i * n + j);
            w[2 * i] -= m[0] * w[2 * j] - m[1] * w[2 * j + 1];
            w[2 * i + 1] -= m[0] * w[2 * j + 1] + m[1] * w[2 * j];
        }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t j = i + 1; j < n; j++) {
            const double *m = M + 2 * ((size_t)i * n + j);
            w[2 * i] -= m[0] * w[2 * j] - m[1] * w[2 * j + 1];
            w[2 * i + 1] -= m[0] * w[2 * j + 1] + m[1] * w[2 * j];
        }
        const double *d = M + 2 * ((size_t)i * n + i);
        const double re = d[0] * w[2 * i] - d[1] * w[2 * i + 1];
        w[2 * i + 1] = d[0] * w[2 * i + 1] + d[1] * w[2 * i];
        w[2 * i] = re;
    }
}

double ns_newton_correct(ns_stepper *s, double *memory, double h, const double *F,
                         const double *weight, double *Z)
{
    const newton y = view(s->problem, memory);
    const uint32_t n = s->n;
    for (uint32_t i = 0; i < n; i++) {
        double R[8];
        for (uint32_t j = 0; j < 8; j++)
            R[j] = -Z[8 * i + j];
        for (uint32_t k = 0; k < 8; k++)
            for (uint32_t j = 0; j < 8; j++)
                R[j] += h * gauss_b[k] * gauss_mu[k][j] * F[8 * i + k];
        for (int p = 0; p < PAIRS; p++) {
            double re = 0, im = 0;
            for (uint32_t j = 0; j < 8; j++) {
                re += T_inverse[p][j][0] * R[j];
                im += T_inverse[p][j][1] * R[j];
            }
            double *w = y.w + 2 * ((size_t)p * n + i);
            const double a = eigenvalue[p][0] / h, b = eigenvalue[p][1] / h;
            w[0] = a * re - b * im;
            w[1] = a * im + b * re;
        }
    }
    for (int p = 0; p < PAIRS; p++)
        solve(n, y.lu + (size_t)p * 2 * n * n, y.row + (size_t)p * n, y.w + (size_t)p * 2 * n);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < 8; j++) {
            double d = 0;
            for (int p = 0; p < PAIRS; p++) {
                const double *w = y.w + 2 * ((size_t)p * n + i);
                d += 2 * (T[p][j][0] * w[0] - T[p][j][1] * w[1]);
            }
            Z[8 * i + j] += d;
            sum += (d * weight[i]) * (d * weight[i]);
        }
    return sqrt(sum);
}

void ns_newton_derivatives(uint32_t n, double h, const double *Z, double *F)
{
    for (uint32_t i = 0; i < n; i++) {
        double f[8] = {0};
        for (uint32_t k = 0; k < 8; k++)
            for (uint32_t j = 0; j < 8; j++)
                f[j] += inverse[k][j] * Z[8 * i + k];
        for (uint32_t j = 0; j < 8; j++)
            F[8 * i + j] = f[j] / h;
    }
}
