// One cell of the grid for a lane group: gates and state, and their derivatives.
//
// Neighbours and input come as one column `near` = left, top, diagonal, input; the candidate
// reads `reset` = the same column with the neighbours multiplied by their reset gates.
#pragma once
#include "weights.hpp"

template <typename T> class Cell {
  using V = Vec<T>;

 public:
  Cell(const Shape &shape, const Weights<T> &weights, V *room)
      : shape_(shape), weights_(weights), gates_(room), near_(gates_ + kHalves * shape.gate_rows()),
        reset_(near_ + kHalves * shape.near()), candidate_(reset_ + kHalves * shape.near()),
        grad_near_(candidate_ + kHalves * shape.units),
        grad_reset_(grad_near_ + kHalves * shape.near()),
        grad_gates_(grad_reset_ + kHalves * shape.near()),
        grad_candidate_(grad_gates_ + kHalves * shape.gate_rows()) {}

  // Number of vectors of working memory per cell.
  static int64_t room(const Shape &shape) {
    return kHalves * (2 * shape.gate_rows() + 4 * shape.near() + 2 * shape.units);
  }

  V *near() { return near_; }
  const V *reset() const { return reset_; }
  const V *grad_near() const { return grad_near_; }
  const V *grad_gates() const { return grad_gates_; }
  const V *grad_candidate() const { return grad_candidate_; }

  // Compute all gates and the candidate from `near`.
  void open() {
    weights_.gates.times(near_, weights_.gate_bias.data(), gates_);
    open_resets();
    normalise_gates();
    weights_.candidate.times(reset_, weights_.candidate_bias.data(), candidate_);
    if (shape_.bounded)
      for (int64_t unit = 0; unit < shape_.units; ++unit)
        hyperbolic_tangents<T, kHalves>(candidate_ + kHalves * unit);
  }

  void state(V *out) const {
    for (int64_t unit = 0; unit < shape_.units; ++unit) {
      const V *input = gate(0, unit), *left = gate(1, unit), *top = gate(2, unit),
              *diagonal = gate(3, unit);
      for (int half = 0; half < kHalves; ++half)
        out[kHalves * unit + half] = input[half] * candidate_[kHalves * unit + half] +
                                     left[half] * neighbour(0, unit)[half] +
                                     top[half] * neighbour(1, unit)[half] +
                                     diagonal[half] * neighbour(2, unit)[half];
    }
  }

  // Propagate the gradient of this cell's state to `near` and to all logits.
  void back(const V *grad_state) {
    shape_.gate_width == shape_.units ? back_gates(grad_state) : back_shared_gates(grad_state);
    std::memset(grad_reset_, 0, size_t(kHalves * shape_.near()) * sizeof(V));
    weights_.candidate_back.add_times(grad_candidate_, grad_reset_);
    back_resets();
    const int64_t input = 3 * shape_.units * kHalves;
    for (int64_t i = input; i < kHalves * shape_.near(); ++i) grad_near_[i] = grad_reset_[i];
    weights_.gates_back.add_times(grad_gates_, grad_near_);
  }

 private:
  const V *gate(int64_t which, int64_t unit) const {
    return gates_ + kHalves * (shape_.reset_rows() + shape_.row(which, unit));
  }
  const V *neighbour(int64_t which, int64_t unit) const {
    return near_ + kHalves * (which * shape_.units + unit);
  }

  void open_resets() {
    if (!shape_.resets) {
      std::memcpy(reset_, near_, size_t(kHalves * shape_.near()) * sizeof(V));
      return;
    }
    for (int64_t unit = 0; unit < shape_.gate_width; ++unit)  // three gates each
      sigmoids<T, 3 * kHalves>(gates_ + 3 * kHalves * unit);
    for (int64_t which = 0; which < 3; ++which)
      for (int64_t unit = 0; unit < shape_.units; ++unit)
        for (int half = 0; half < kHalves; ++half)
          reset_[kHalves * (which * shape_.units + unit) + half] =
              gates_[kHalves * shape_.row(which, unit) + half] * neighbour(which, unit)[half];
    const int64_t input = 3 * shape_.units * kHalves;
    std::memcpy(reset_ + input, near_ + input, size_t(kHalves * shape_.channels) * sizeof(V));
  }

  void normalise_gates() {
    const int64_t step = kHalves * shape_.gate_width;
    V *logits = gates_ + kHalves * shape_.reset_rows();
    for (int64_t i = 0; i < step; ++i) {
      V *a = logits + i, *b = a + step, *c = b + step, *d = c + step;
      const V most = larger<T>(larger<T>(*a, *b), larger<T>(*c, *d));
      V powers[4] = {*a - most, *b - most, *c - most, *d - most};
      exponentials<T>(powers);
      const V scale = T(1) / ((powers[0] + powers[1]) + (powers[2] + powers[3]));
      *a = powers[0] * scale, *b = powers[1] * scale;
      *c = powers[2] * scale, *d = powers[3] * scale;
    }
  }

  V slope(V value) const { return shape_.bounded ? T(1) - value * value : all(T(1)); }

  // With a gate for each unit the softmax derivative is z dh (value - h).
  void back_gates(const V *grad_state) {
    const int64_t units = shape_.units;
    V *grad_logits = grad_gates_ + kHalves * shape_.reset_rows();
    for (int64_t i = 0; i < kHalves * units; ++i) {
      const V *z = gates_ + kHalves * shape_.reset_rows() + i, *x = near_ + i;
      const int64_t step = kHalves * units;
      const V values[4] = {candidate_[i], x[0], x[step], x[2 * step]};
      const V gates[4] = {z[0], z[step], z[2 * step], z[3 * step]};
      const V grad = grad_state[i];
      const V state = gates[0] * values[0] + gates[1] * values[1] + gates[2] * values[2] +
                      gates[3] * values[3];
      for (int which = 0; which < 4; ++which) {
        const V share = gates[which] * grad;
        grad_logits[which * step + i] = share * (values[which] - state);
        if (which > 0) grad_near_[(which - 1) * step + i] = share;
      }
      grad_candidate_[i] = gates[0] * grad * slope(values[0]);
    }
  }

  void back_shared_gates(const V *grad_state) {
    const int64_t step = kHalves * shape_.units;
    V *grad_logits = grad_gates_ + kHalves * shape_.reset_rows();
    for (int half = 0; half < kHalves; ++half) {
      const V *z = gates_ + kHalves * shape_.reset_rows() + half;
      V grads[4] = {};
      for (int64_t i = half; i < step; i += kHalves) {
        const V grad = grad_state[i];
        const V values[4] = {candidate_[i], near_[i], near_[step + i], near_[2 * step + i]};
        for (int which = 0; which < 4; ++which) {
          grads[which] += grad * values[which];
          if (which > 0) grad_near_[(which - 1) * step + i] = z[kHalves * which] * grad;
        }
        grad_candidate_[i] = z[0] * grad * slope(values[0]);
      }
      V mean = {};
      for (int which = 0; which < 4; ++which) mean += z[kHalves * which] * grads[which];
      for (int which = 0; which < 4; ++which)
        grad_logits[kHalves * which + half] = z[kHalves * which] * (grads[which] - mean);
    }
  }

  void back_resets() {
    const int64_t step = kHalves * shape_.units;
    if (!shape_.resets) {
      for (int64_t i = 0; i < 3 * step; ++i) grad_near_[i] += grad_reset_[i];
      return;
    }
    std::memset(grad_gates_, 0, size_t(kHalves * shape_.reset_rows()) * sizeof(V));
    for (int64_t which = 0; which < 3; ++which)
      for (int64_t unit = 0; unit < shape_.units; ++unit) {
        const int64_t row = kHalves * shape_.row(which, unit);
        for (int half = 0; half < kHalves; ++half) {
          const int64_t i = which * step + kHalves * unit + half;
          const V open = gates_[row + half];
          grad_near_[i] += grad_reset_[i] * open;
          grad_gates_[row + half] += grad_reset_[i] * near_[i] * open * (T(1) - open);
        }
      }
  }

  const Shape &shape_;
  const Weights<T> &weights_;
  V *gates_, *near_, *reset_, *candidate_, *grad_near_, *grad_reset_, *grad_gates_,
      *grad_candidate_;
};
