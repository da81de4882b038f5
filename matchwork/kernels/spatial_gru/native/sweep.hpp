// The forward and backward sweeps of one lane group over its grid.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "cell.hpp"
#include "lanes.hpp"

// Zeroed, aligned vectors.
template <typename T> class Room {
 public:
  explicit Room(int64_t count) {
    const size_t bytes = (size_t(count) * sizeof(Vec<T>) + 127) / 64 * 64;
    values_ = static_cast<Vec<T> *>(std::aligned_alloc(64, bytes));
    if (values_ == nullptr) throw std::bad_alloc();
    std::memset(static_cast<void *>(values_), 0, bytes);
  }
  ~Room() { std::free(values_); }
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  Vec<T> *get() { return values_; }

 private:
  Vec<T> *values_;
};

template <typename T> void copy(const Vec<T> *from, int64_t count, Vec<T> *to) {
  std::memcpy(static_cast<void *>(to), from, size_t(count) * sizeof(Vec<T>));
}

template <typename T> void clear(Vec<T> *values, int64_t count) {
  std::memset(static_cast<void *>(values), 0, size_t(count) * sizeof(Vec<T>));
}

template <typename T> void add(const Vec<T> *from, int64_t count, Vec<T> *to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

// Left, top, diagonal, input of column `column`; `above` and `here` start with the border.
template <typename T>
void gather(const Shape &shape, const Vec<T> *above, const Vec<T> *here, const Vec<T> *inputs,
            int64_t column, Vec<T> *near) {
  const int64_t state = kHalves * shape.units, input = kHalves * shape.channels;
  copy<T>(here + column * state, state, near);
  copy<T>(above + (column + 1) * state, state, near + state);
  copy<T>(above + column * state, state, near + 2 * state);
  copy<T>(inputs + column * input, input, near + 3 * state);
}

template <typename T>
void sweep_forward(const Shape &shape, const Weights<T> &weights, const Grid &grid,
                   const Group &group, const T *inputs, T *states) {
  const int64_t state = kHalves * shape.units, columns = group.columns();
  Room<T> work(Cell<T>::room(shape)), input_row(columns * kHalves * shape.channels);
  Room<T> first((columns + 1) * state), second((columns + 1) * state);
  Vec<T> *above = first.get(), *here = second.get();
  Cell<T> cell(shape, weights, work.get());
  for (int64_t row = 0; row < group.rows(); ++row) {
    load_row(inputs, grid, shape.channels, group, row, input_row.get());
    for (int64_t column = 0; column < group.widths[size_t(row)]; ++column) {
      gather<T>(shape, above, here, input_row.get(), column, cell.near());
      cell.open();
      cell.state(here + (column + 1) * state);
    }
    store_row(here + state, states, grid, shape.units, group, row);
    std::swap(above, here);
  }
  clear_rest(states, grid, shape.units, group);
}

// Gradients of the weights of one direction, in the order of `each_weight`.
//
// Products are summed in T along a row and then added to a double, which keeps long sums
// accurate.
template <typename T> class WeightGradient {
  using V = Vec<T>;

 public:
  WeightGradient(const Shape &shape, double *sums)
      : shape_(shape), width_(vectors(shape.near())), unit_width_(vectors(shape.units)),
        gates_(shape.gate_rows() * width_), candidate_(shape.near() * unit_width_),
        biases_(shape.gate_rows() + shape.units), near_(kLanes<T> * width_),
        grads_(kLanes<T> * unit_width_), sums_(sums) {}

  void add_cell(const Cell<T> &cell, const V *near) {
    turn(near, shape_.near(), width_, near_.get());
    turn(cell.grad_candidate(), shape_.units, unit_width_, grads_.get());
    add_outer<T>(cell.grad_gates(), shape_.gate_rows(), near_.get(), gates_.get(), width_);
    add_outer<T>(cell.reset(), shape_.near(), grads_.get(), candidate_.get(), unit_width_);
    V *bias = biases_.get();
    for (int64_t row = 0; row < shape_.gate_rows(); ++row)
      *bias++ += cell.grad_gates()[kHalves * row] + cell.grad_gates()[kHalves * row + 1];
    for (int64_t row = 0; row < shape_.units; ++row)
      *bias++ += cell.grad_candidate()[kHalves * row] + cell.grad_candidate()[kHalves * row + 1];
  }

  void end_row() {
    const int64_t gates = shape_.gate_rows(), near = shape_.near(), units = shape_.units;
    double *out = sums_;
    const T *gate = reinterpret_cast<const T *>(gates_.get());
    for (int64_t row = 0; row < gates; ++row)
      for (int64_t k = 0; k < near; ++k) *out++ += double(gate[row * width_ * kWidth<T> + k]);
    for (int64_t row = 0; row < gates; ++row) *out++ += sum<T>(biases_.get()[row]);
    const T *candidate = reinterpret_cast<const T *>(candidate_.get());
    for (int64_t unit = 0; unit < units; ++unit)
      for (int64_t k = 0; k < near; ++k)
        *out++ += double(candidate[k * unit_width_ * kWidth<T> + unit]);
    for (int64_t unit = 0; unit < units; ++unit) *out++ += sum<T>(biases_.get()[gates + unit]);
    clear<T>(gates_.get(), gates * width_);
    clear<T>(candidate_.get(), near * unit_width_);
    clear<T>(biases_.get(), gates + units);
  }

 private:
  static int64_t vectors(int64_t count) { return (count + kWidth<T> - 1) / kWidth<T>; }

  // From one row per value to one row per lane.
  static void turn(const V *by_value, int64_t count, int64_t width, V *by_lane) {
    constexpr int square = kWidth<T>;
    for (int64_t column = 0; column < width; ++column)
      for (int half = 0; half < kHalves; ++half) {
        V values[square];
        for (int64_t i = 0; i < square; ++i) {
          const int64_t k = column * square + i;
          values[i] = k < count ? by_value[kHalves * k + half] : V{};
        }
        transpose<T>(values);
        for (int i = 0; i < square; ++i) by_lane[(half * square + i) * width + column] = values[i];
      }
  }

  const Shape &shape_;
  int64_t width_, unit_width_;
  Room<T> gates_, candidate_, biases_, near_, grads_;
  double *sums_;
};

template <typename T>
void sweep_back(const Shape &shape, const Weights<T> &weights, const Grid &grid,
                const Group &group, const T *inputs, const T *states, const T *grad_states,
                T *grad_inputs, double *grad_weights) {
  const int64_t state = kHalves * shape.units, input = kHalves * shape.channels;
  const int64_t columns = group.columns(), border = (columns + 1) * state;
  Room<T> work(Cell<T>::room(shape)), input_row(columns * input), grad_input_row(columns * input);
  Room<T> first(border), second(border), grad_first(border), grad_second(border), fresh(border);
  Vec<T> *here = first.get(), *above = second.get();
  Vec<T> *grad_here = grad_first.get(), *grad_above = grad_second.get();
  Cell<T> cell(shape, weights, work.get());
  WeightGradient<T> gradient(shape, grad_weights);
  if (group.rows() > 0)
    load_row(states, grid, shape.units, group, group.rows() - 1, here + state);
  for (int64_t row = group.rows() - 1; row >= 0; --row) {
    const int64_t width = group.widths[size_t(row)];
    load_row(inputs, grid, shape.channels, group, row, input_row.get());
    load_row(grad_states, grid, shape.units, group, row, fresh.get());
    add<T>(fresh.get(), width * state, grad_here + state);
    row > 0 ? load_row(states, grid, shape.units, group, row - 1, above + state)
            : clear<T>(above, border);
    clear<T>(grad_above, border);
    for (int64_t column = width - 1; column >= 0; --column) {
      gather<T>(shape, above, here, input_row.get(), column, cell.near());
      cell.open();
      cell.back(grad_here + (column + 1) * state);
      gradient.add_cell(cell, cell.near());
      const Vec<T> *grads = cell.grad_near();
      add<T>(grads, state, grad_here + column * state);
      add<T>(grads + state, state, grad_above + (column + 1) * state);
      add<T>(grads + 2 * state, state, grad_above + column * state);
      copy<T>(grads + 3 * state, input, grad_input_row.get() + column * input);
    }
    gradient.end_row();
    store_row(grad_input_row.get(), grad_inputs, grid, shape.channels, group, row);
    std::swap(here, above);
    std::swap(grad_here, grad_above);
  }
  clear_rest(grad_inputs, grid, shape.channels, group);
}
