// The C interface of the spatial GRU kernel: every (direction, lane group) is a job of its own.
#include "sweep.hpp"
#include "threads.hpp"
#include "weights.hpp"

// All arrays are contiguous, of the type in the function's name.
extern "C" struct Problem {
  int64_t directions, batch, rows, columns, channels, units, gate_width, bounded, threads;
  const Rectangle *lengths;  // batch
  const void *inputs;        // directions, batch, rows, columns, channels
  GivenWeights weights;
};

namespace {

template <typename T> struct Call {
  const Problem &problem;
  Shape shape;
  Grid grid;
  std::vector<Group> groups;
  std::vector<Weights<T>> weights;
  std::vector<int64_t> order;  // jobs, the longest first

  explicit Call(const Problem &p)
      : problem(p),
        shape{p.units, p.channels, p.gate_width, p.weights.reset != nullptr, p.bounded != 0},
        grid{p.rows, p.columns}, groups(Sorter(p.lengths, p.batch, kLanes<T>).groups) {
    for (int64_t d = 0; d < p.directions; ++d) weights.emplace_back(shape, p.weights, d);
    order.resize(groups.size() * weights.size());
    std::iota(order.begin(), order.end(), int64_t(0));
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return group_of(a).cells() > group_of(b).cells();
    });
  }

  static const T *part(const void *base, int64_t offset) {
    return static_cast<const T *>(base) + offset;
  }
  const Group &group_of(int64_t job) const { return groups[size_t(job) % groups.size()]; }
  const Weights<T> &weights_of(int64_t job) const { return weights[size_t(direction_of(job))]; }
  int64_t direction_of(int64_t job) const { return job / int64_t(groups.size()); }
  // Offset of the job's direction in a grid of `width` values per cell.
  int64_t offset(int64_t job, int64_t width) const {
    return direction_of(job) * problem.batch * grid.rows * grid.columns * width;
  }

  void forward(T *states) const {
    share(int64_t(order.size()), problem.threads, [&](int64_t turn) {
      const int64_t job = order[size_t(turn)];
      sweep_forward(shape, weights_of(job), grid, group_of(job),
                    part(problem.inputs, offset(job, shape.channels)),
                    states + offset(job, shape.units));
    });
  }

  void backward(const T *states, const T *grad_states, T *grad_inputs,
                const GivenWeights &grad_weights) const {
    const int64_t count = shape.weight_count(), jobs = int64_t(order.size());
    std::vector<double> sums(size_t(count * jobs));
    share(jobs, problem.threads, [&](int64_t turn) {
      const int64_t job = order[size_t(turn)];
      const int64_t here = offset(job, shape.units), input = offset(job, shape.channels);
      sweep_back(shape, weights_of(job), grid, group_of(job), part(problem.inputs, input),
                 states + here, grad_states + here, grad_inputs + input,
                 sums.data() + job * count);
    });
    // In the order of the jobs, so that the result does not depend on thread timing.
    const auto parts = int64_t(groups.size());
    for (int64_t d = 0; d < problem.directions; ++d)
      each_weight<T>(shape, grad_weights, d, [&](int64_t i, T &grad) {
        double total = 0;
        for (int64_t group = 0; group < parts; ++group)
          total += sums[size_t((d * parts + group) * count + i)];
        grad = T(total);
      });
  }
};

// Return 0, or 1 if out of memory: exceptions must not cross the C interface.
template <typename Work> int guarded(const Work &work) {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc &) {
    return 1;
  }
}

template <typename T> int forward(const Problem *problem, T *states) {
  return guarded([&] { Call<T>(*problem).forward(states); });
}

template <typename T>
int backward(const Problem *problem, const T *states, const T *grad_states, T *grad_inputs,
             const GivenWeights *grad_weights) {
  return guarded(
      [&] { Call<T>(*problem).backward(states, grad_states, grad_inputs, *grad_weights); });
}

}  // namespace

extern "C" {
int forward_float32(const Problem *p, float *states) { return forward(p, states); }
int forward_float64(const Problem *p, double *states) { return forward(p, states); }
int backward_float32(const Problem *p, const float *states, const float *grad_states,
                     float *grad_inputs, const GivenWeights *grad_weights) {
  return backward(p, states, grad_states, grad_inputs, grad_weights);
}
int backward_float64(const Problem *p, const double *states, const double *grad_states,
                     double *grad_inputs, const GivenWeights *grad_weights) {
  return backward(p, states, grad_states, grad_inputs, grad_weights);
}
}
