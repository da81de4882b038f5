// Grouping of batch items into lanes, and loading and storing of their rows.
#pragma once
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "simd.hpp"

struct Rectangle {
  int64_t rows, columns;
};

// One grid of a batch in memory: (batch, rows, columns, width), without gaps.
struct Grid {
  int64_t rows, columns;
};

// Items that share a sweep. It goes as far as its longest item, and in each row only as far as
// the widest item that still has that row.
struct Group {
  std::vector<int64_t> items;         // at most as many as there are lanes
  std::vector<Rectangle> true_sizes;  // of the items
  std::vector<int64_t> widths;        // columns to visit in each row, never growing

  int64_t rows() const { return int64_t(widths.size()); }
  int64_t columns() const { return widths.empty() ? 0 : widths[0]; }
  int64_t cells() const { return std::accumulate(widths.begin(), widths.end(), int64_t(0)); }
  bool inside(int64_t lane, int64_t row) const { return row < true_sizes[size_t(lane)].rows; }

  void close() {
    int64_t rows = 0;
    for (const Rectangle &size : true_sizes)
      if (size.columns > 0) rows = std::max(rows, size.rows);
    widths.assign(size_t(rows), 0);
    for (const Rectangle &size : true_sizes)
      for (int64_t row = 0; row < size.rows && size.columns > 0; ++row)
        widths[size_t(row)] = std::max(widths[size_t(row)], size.columns);
  }
};

// Sort items into groups of similar size: halves them by rows or by columns, whichever leaves the
// smaller rectangles, until each part fits the lanes.
class Sorter {
 public:
  Sorter(const Rectangle *sizes, int64_t batch, int64_t lanes) : sizes_(sizes), lanes_(lanes) {
    Items items(static_cast<size_t>(batch));
    std::iota(items.begin(), items.end(), int64_t(0));
    if (batch > 0) split(items);
  }

  std::vector<Group> groups;

 private:
  using Items = std::vector<int64_t>;

  void split(Items items) {
    const int64_t count = (int64_t(items.size()) + lanes_ - 1) / lanes_;
    if (count == 1) return close(items);
    const auto half = size_t(count / 2 * lanes_);
    const Items by_rows = sorted(items, &Rectangle::rows);
    const Items by_columns = sorted(items, &Rectangle::columns);
    const Items &best = area(by_rows, half) <= area(by_columns, half) ? by_rows : by_columns;
    split(Items(best.begin(), best.begin() + int64_t(half)));
    split(Items(best.begin() + int64_t(half), best.end()));
  }

  Items sorted(Items items, int64_t Rectangle::*side) const {
    std::stable_sort(items.begin(), items.end(), [&](int64_t a, int64_t b) {
      return sizes_[a].*side < sizes_[b].*side;
    });
    return items;
  }

  // Cells to visit if each of the two parts swept its own bounding rectangle.
  int64_t area(const Items &items, size_t half) const {
    int64_t total = 0;
    for (const auto &[first, last] : {std::pair{size_t(0), half}, std::pair{half, items.size()}}) {
      Rectangle most = {0, 0};
      for (size_t i = first; i < last; ++i) {
        most.rows = std::max(most.rows, sizes_[items[i]].rows);
        most.columns = std::max(most.columns, sizes_[items[i]].columns);
      }
      total += int64_t(last - first) * most.rows * most.columns;
    }
    return total;
  }

  void close(const Items &items) {
    Group group;
    group.items = items;
    for (const int64_t item : items) group.true_sizes.push_back(sizes_[item]);
    group.close();
    groups.push_back(std::move(group));
  }

  const Rectangle *sizes_;
  int64_t lanes_;
};

// Address of each lane's row, and its number of real values.
template <typename T, typename Pointer> struct RowEnds {
  Pointer start[kLanes<T>];
  int64_t real[kLanes<T>];

  RowEnds(Pointer base, const Grid &grid, int64_t width, const Group &group, int64_t row) {
    for (int64_t lane = 0; lane < kLanes<T>; ++lane) {
      const bool used = lane < int64_t(group.items.size()) && group.inside(lane, row);
      const int64_t item = used ? group.items[size_t(lane)] : 0;
      start[lane] = base + (item * grid.rows + row) * grid.columns * width;
      real[lane] = used ? group.true_sizes[size_t(lane)].columns * width : 0;
    }
  }
};

// Row `row` of every item into `out` (a lane group for each value), zeros where an item ends.
template <typename T>
void load_row(const T *base, const Grid &grid, int64_t width, const Group &group, int64_t row,
              Vec<T> *out) {
  constexpr int square = kWidth<T>;
  const RowEnds<T, const T *> ends(base, grid, width, group, row);
  const int64_t span = group.widths[size_t(row)] * width;
  for (int half = 0; half < kHalves; ++half)
    for (int64_t k = 0; k < span; k += square) {
      Vec<T> values[square];
      for (int i = 0; i < square; ++i) {
        const int lane = half * square + i;
        const int64_t left = std::min<int64_t>(ends.real[lane] - k, square);
        values[i] = Vec<T>{};
        if (left == square)
          std::memcpy(&values[i], ends.start[lane] + k, sizeof(Vec<T>));
        else if (left > 0)
          std::memcpy(&values[i], ends.start[lane] + k, size_t(left) * sizeof(T));
      }
      transpose<T>(values);
      const int64_t rows = std::min<int64_t>(span - k, square);
      for (int64_t i = 0; i < rows; ++i) out[kHalves * (k + i) + half] = values[i];
    }
}

// Store a row; its padding becomes zero.
template <typename T>
void store_row(const Vec<T> *in, T *base, const Grid &grid, int64_t width, const Group &group,
               int64_t row) {
  constexpr int square = kWidth<T>;
  const RowEnds<T, T *> ends(base, grid, width, group, row);
  const int64_t span = group.widths[size_t(row)] * width;
  for (int half = 0; half < kHalves; ++half)
    for (int64_t k = 0; k < span; k += square) {
      Vec<T> values[square];
      for (int64_t i = 0; i < square; ++i)
        values[i] = k + i < span ? in[kHalves * (k + i) + half] : Vec<T>{};
      transpose<T>(values);
      for (int i = 0; i < square; ++i) {
        const int lane = half * square + i;
        const int64_t left = std::min<int64_t>(ends.real[lane] - k, square);
        if (left == square)
          std::memcpy(ends.start[lane] + k, &values[i], sizeof(Vec<T>));
        else if (left > 0)
          std::memcpy(ends.start[lane] + k, &values[i], size_t(left) * sizeof(T));
      }
    }
  for (int64_t lane = 0; lane < int64_t(group.items.size()); ++lane)
    if (group.inside(lane, row))
      std::fill(ends.start[lane] + ends.real[lane], ends.start[lane] + grid.columns * width, T(0));
}

// Fill the rows that no sweep visits with zeros.
template <typename T>
void clear_rest(T *base, const Grid &grid, int64_t width, const Group &group) {
  const int64_t row_size = grid.columns * width;
  for (size_t lane = 0; lane < group.items.size(); ++lane) {
    T *item = base + group.items[lane] * grid.rows * row_size;
    const Rectangle size = group.true_sizes[lane];
    const int64_t done = size.columns > 0 ? size.rows : 0;
    std::fill(item + done * row_size, item + grid.rows * row_size, T(0));
  }
}
