// A program of C++ that throws, once there is a line to read.
#include <cstdio>
#include <stdexcept>

__attribute__((noinline)) int price_of(int order) {
    if (order > 0) throw std::runtime_error("an order without lines");
    return order;
}

int main() {
    puts("ready");
    fflush(stdout);
    return price_of(getchar());
}
