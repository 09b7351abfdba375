/* A controller of one's own around a simulation: a cart on a track that balances a pole.  The
 * model is the text below; every 10 ms the loop looks at the state and sets the force, which is
 * a parameter.      cc control.c $(pkg-config --cflags --libs noslip) -o control */
#include <noslip/noslip.h>
#include <stdio.h>

static const char text[] = "param M = 1 kg, m = 0.2 kg, l = 0.5 m, u = 0 N\n"
                           "coordinate x in m, phi in rad\n"
                           "let vx = x' + l*cos(phi)*phi', vy = -l*sin(phi)*phi'\n"
                           "lagrangian M/2*x'^2 + m/2*(vx^2 + vy^2) - m*9.81*l*cos(phi)\n"
                           "force x = u\n"
                           "start { x = 0; phi = 0.2; x' = 0; phi' = 0 }\n";

int main(void)
{
    ns_model *model = ns_model_open_text("pole", text, NULL, NULL, 0);
    if (ns_model_verdict(model) != NS_DONE) {
        fputs(ns_model_messages(model), stderr);
        return 2;
    }
    ns_simulation *s = ns_simulation_new(model, NULL);
    for (int i = 1; i <= 1000; i++) {
        const double force = 40 * ns_simulation_value(s, "phi") +
                             9 * ns_simulation_value(s, "phi'") +
                             2 * ns_simulation_value(s, "x") + 4 * ns_simulation_value(s, "x'");
        ns_simulation_set_parameter(s, "u", force);
        if (ns_simulation_advance(s, 0.01 * i) != NS_DONE)
            break;
        if (i % 100 == 0)
            printf("t = %4.1f s  phi = % .5f  x = % .5f  u = % .4f\n", ns_simulation_time(s),
                   ns_simulation_value(s, "phi"), ns_simulation_value(s, "x"), force);
    }
    const ns_verdict verdict = ns_simulation_verdict(s);
    ns_simulation_close(s);
    ns_model_close(model);
    return (int)verdict;
}
