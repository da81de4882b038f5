// The weights in the caller's layout and in the kernel's.
#pragma once
#include "products.hpp"

struct Shape {
  int64_t units, channels, gate_width;  // a gate is `units` wide, or 1 and shared
  bool resets, bounded;                 // has reset gates; candidate through tanh

  int64_t near() const { return 3 * units + channels; }
  int64_t reset_rows() const { return resets ? 3 * gate_width : 0; }
  int64_t gate_rows() const { return reset_rows() + 4 * gate_width; }
  int64_t weight_count() const { return (gate_rows() + units) * (near() + 1); }
  // The row of gate number `which` that acts on `unit`.
  int64_t row(int64_t which, int64_t unit) const {
    return which * gate_width + (gate_width == 1 ? 0 : unit);
  }
};

// The first axis of each is the direction; columns of `reset` and `gate` are top, left,
// diagonal, input.
extern "C" struct GivenWeights {
  void *reset;       // 3, gate_width, near; null, like its bias, without reset gates
  void *reset_bias;  // 3, gate_width
  void *gate;        // 4, gate_width, near
  void *gate_bias;   // 4, gate_width
  void *input;       // units, channels
  void *state;       // units, 3 * units
  void *bias;        // units
};

// Call use(i, weight) for every weight of a direction in the kernel's own order: all gates
// stacked (reset, then z), their biases, the candidate, its biases. Its columns are everywhere
// left, top, diagonal, input.
template <typename T, typename Use>
void each_weight(const Shape &shape, const GivenWeights &given, int64_t direction,
                 const Use &use) {
  const int64_t near = shape.near(), units = shape.units, resets = shape.reset_rows();
  const int64_t gates = shape.gate_rows() - resets;
  const auto start = [&](void *base, int64_t size) {
    return static_cast<T *>(base) + direction * size;
  };
  int64_t i = 0;
  const auto stack = [&](T *rows, int64_t count) {
    for (T *row = rows; row < rows + count * near; row += near) {
      for (int64_t k = 0; k < units; ++k) use(i++, row[units + k]);
      for (int64_t k = 0; k < units; ++k) use(i++, row[k]);
      for (int64_t k = 2 * units; k < near; ++k) use(i++, row[k]);
    }
  };
  const auto list = [&](T *values, int64_t count) {
    for (int64_t k = 0; k < count; ++k) use(i++, values[k]);
  };
  stack(start(given.reset, resets * near), resets);
  stack(start(given.gate, gates * near), gates);
  list(start(given.reset_bias, resets), resets);
  list(start(given.gate_bias, gates), gates);
  for (int64_t unit = 0; unit < units; ++unit) {
    list(start(given.state, 3 * units * units) + unit * 3 * units, 3 * units);
    list(start(given.input, units * shape.channels) + unit * shape.channels, shape.channels);
  }
  list(start(given.bias, units), units);
}

// The weights of one direction, ready for both sweeps.
template <typename T> class Weights {
 public:
  Weights(const Shape &shape, const GivenWeights &given, int64_t direction)
      : Weights(shape, in_order(shape, given, direction)) {}

  Packed<T> gates, candidate, gates_back, candidate_back;
  std::vector<T> gate_bias, candidate_bias;

 private:
  Weights(const Shape &shape, const std::vector<T> &flat)
      : Weights(shape.gate_rows(), shape.units, shape.near(), flat.data(),
                flat.data() + shape.gate_rows() * (shape.near() + 1)) {}

  Weights(int64_t rows, int64_t units, int64_t near, const T *gate, const T *candidate)
      : gates(gate, rows, near, near, 1), candidate(candidate, units, near, near, 1),
        gates_back(gate, near, rows, 1, near), candidate_back(candidate, near, units, 1, near),
        gate_bias(gate + rows * near, gate + rows * (near + 1)),
        candidate_bias(candidate + units * near, candidate + units * (near + 1)) {}

  static std::vector<T> in_order(const Shape &shape, const GivenWeights &given,
                                 int64_t direction) {
    std::vector<T> flat(size_t(shape.weight_count()));
    T *next = flat.data();
    each_weight<T>(shape, given, direction, [&](int64_t, T &weight) { *next++ = weight; });
    return flat;
  }
};
