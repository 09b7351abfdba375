// Many rattlebacks from C++: which of them reverse their spin within 10 s, and when.
//     c++ sweep.cpp $(pkg-config --cflags --libs noslip) -o sweep
#include <noslip/noslip.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

int main()
{
    const std::unique_ptr<ns_model, decltype(&ns_model_close)> model(
        ns_model_open_gallery("rattleback", nullptr, nullptr, 0), ns_model_close);
    const std::unique_ptr<ns_batch, decltype(&ns_batch_close)> batch(ns_batch_new(model.get()),
                                                                     ns_batch_close);
    std::vector<double> spin;
    for (int i = 0; i < 40; i++)
        spin.push_back(-8 + 0.4 * i);
    ns_batch_vary(batch.get(), "omega.z", spin.data(), spin.size());
    ns_batch_get(batch.get(), "turned=reversal(omega.z)");
    ns_batch_set_number(batch.get(), "until", 10);
    if (ns_batch_run(batch.get()) != NS_DONE) {
        std::fprintf(stderr, "%s\n", ns_batch_reason(batch.get()));
        return 1;
    }
    const double *turned = ns_batch_column(batch.get(), "turned");
    for (std::size_t i = 0; i < spin.size(); i++)
        if (!std::isnan(turned[i]))
            std::printf("spin % .1f rad/s turns at %.3f s\n", spin[i], turned[i]);
    return 0;
}
