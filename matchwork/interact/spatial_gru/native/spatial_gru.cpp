// The C interface of the spatial GRU kernel: every (direction, lane group) is a job of its own.
#include <atomic>
#include <system_error>
#include <thread>

#include "sweep.hpp"

extern "C" struct Problem {
  int64_t directions, batch, rows, columns, channels, units, gate_width, resets, bounded, threads;
  const Rectangle *lengths;  // batch
  // All without gaps, of the type of the function called; `near` = left, top, diagonal, input:
  const void *inputs;          // directions, batch, rows, columns, channels
  const void *gate;            // directions, gates, near
  const void *gate_bias;       // directions, gates
  const void *candidate;       // directions, units, near
  const void *candidate_bias;  // directions, units
};

namespace {

// Runs work(0) ... work(count - 1) on `threads` threads, the caller being one of them.
template <typename Work> void share(int64_t count, int64_t threads, const Work &work) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  const auto loop = [&] {
    try {
      for (int64_t job = next++; job < count; job = next++) work(job);
    } catch (const std::bad_alloc &) {
      failed = true;
    }
  };
  std::vector<std::thread> others;
  others.reserve(size_t(std::max<int64_t>(0, threads)));
  try {
    for (int64_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(loop);
  } catch (const std::system_error &) {
    // The system gives no more threads: those there are do the work.
  }
  loop();
  for (std::thread &other : others) other.join();
  if (failed) throw std::bad_alloc();
}

template <typename T> struct Call {
  const Problem &problem;
  Shape shape;
  Grid grid;
  std::vector<Group> groups;
  std::vector<Weights<T>> weights;
  std::vector<int64_t> order;  // jobs, the longest first

  explicit Call(const Problem &p)
      : problem(p), shape{p.units, p.channels, p.gate_width, p.resets != 0, p.bounded != 0},
        grid{p.rows, p.columns}, groups(Sorter(p.lengths, p.batch, kLanes<T>).groups) {
    const int64_t gates = shape.gate_rows(), near = shape.near(), units = shape.units;
    for (int64_t d = 0; d < p.directions; ++d)
      weights.emplace_back(shape, part(p.gate, d * gates * near), part(p.gate_bias, d * gates),
                           part(p.candidate, d * units * near), part(p.candidate_bias, d * units));
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
  // Where the job's direction begins in a grid of `width` values a cell.
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

  // `grad_weights` are (directions, count): gate, gate bias, candidate, candidate bias.
  void backward(const T *states, const T *grad_states, T *grad_inputs, T *grad_weights) const {
    const int64_t count = WeightGradient<T>::count(shape), jobs = int64_t(order.size());
    std::vector<double> sums(size_t(count * jobs));
    share(jobs, problem.threads, [&](int64_t turn) {
      const int64_t job = order[size_t(turn)];
      const int64_t here = offset(job, shape.units), input = offset(job, shape.channels);
      sweep_back(shape, weights_of(job), grid, group_of(job), part(problem.inputs, input),
                 states + here, grad_states + here, grad_inputs + input,
                 sums.data() + job * count);
    });
    // In the order of the jobs: the result must not depend on which thread came first.
    for (int64_t d = 0; d < problem.directions; ++d)
      for (int64_t i = 0; i < count; ++i) {
        double total = 0;
        for (int64_t group = 0; group < int64_t(groups.size()); ++group)
          total += sums[size_t((d * int64_t(groups.size()) + group) * count + i)];
        grad_weights[d * count + i] = T(total);
      }
  }
};

// 0, or 1 when memory ran out: no exception may cross into C.
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
             T *grad_weights) {
  return guarded(
      [&] { Call<T>(*problem).backward(states, grad_states, grad_inputs, grad_weights); });
}

}  // namespace

extern "C" {
int forward_float32(const Problem *p, float *states) { return forward(p, states); }
int forward_float64(const Problem *p, double *states) { return forward(p, states); }
int backward_float32(const Problem *p, const float *states, const float *grad_states,
                     float *grad_inputs, float *grad_weights) {
  return backward(p, states, grad_states, grad_inputs, grad_weights);
}
int backward_float64(const Problem *p, const double *states, const double *grad_states,
                     double *grad_inputs, double *grad_weights) {
  return backward(p, states, grad_states, grad_inputs, grad_weights);
}
}
