// The kernel's two matrix products, on operands that stay in the L1 cache.
#pragma once
#include <vector>

#include "simd.hpp"

constexpr int kBlock = 6;  // rows of weights multiplied with one lane group in registers

// Blocks of nearly equal height, at most kBlock.
inline int64_t block_count(int64_t rows) { return (rows + kBlock - 1) / kBlock; }

// A matrix cut into blocks of rows, each stored column by column.
template <typename T> class Packed {
 public:
  Packed(const T *matrix, int64_t rows, int64_t columns, int64_t row_step, int64_t column_step)
      : rows_(rows), columns_(columns), blocks_(block_count(rows)),
        values_(size_t(rows * columns)) {
    T *next = values_.data();
    for (int64_t block = 0; block < blocks_; ++block)
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t row = start(block); row < start(block + 1); ++row)
          *next++ = matrix[row * row_step + k * column_step];
  }

  // out[row] = bias[row] + sum of this[row, k] * in[k], for every lane.
  void times(const Vec<T> *in, const T *bias, Vec<T> *out) const { run<false>(in, bias, out); }

  // Like above, but added to `out`.
  void add_times(const Vec<T> *in, Vec<T> *out) const { run<true>(in, nullptr, out); }

 private:
  int64_t start(int64_t block) const { return block * rows_ / blocks_; }

  template <bool kAdd> void run(const Vec<T> *in, const T *bias, Vec<T> *out) const {
    for (int64_t block = 0; block < blocks_; ++block) {
      const int64_t first = start(block);
      const T *weights = values_.data() + first * columns_;
      const T *biases = kAdd ? nullptr : bias + first;
      Vec<T> *rows = out + first * kHalves;
      switch (start(block + 1) - first) {
        case 1: one<kAdd, 1>(weights, in, biases, rows); break;
        case 2: one<kAdd, 2>(weights, in, biases, rows); break;
        case 3: one<kAdd, 3>(weights, in, biases, rows); break;
        case 4: one<kAdd, 4>(weights, in, biases, rows); break;
        case 5: one<kAdd, 5>(weights, in, biases, rows); break;
        default: one<kAdd, kBlock>(weights, in, biases, rows);
      }
    }
  }

  template <bool kAdd, int kRows>
  void one(const T *weights, const Vec<T> *in, const T *bias, Vec<T> *out) const {
    Vec<T> low[kRows], high[kRows];
    for (int row = 0; row < kRows; ++row) {
      low[row] = kAdd ? out[kHalves * row] : all(bias[row]);
      high[row] = kAdd ? out[kHalves * row + 1] : low[row];
    }
    for (int64_t k = 0; k < columns_; ++k) {
      const Vec<T> first = in[kHalves * k], second = in[kHalves * k + 1];
      for (int row = 0; row < kRows; ++row) {
        const Vec<T> weight = all(weights[k * kRows + row]);
        low[row] += weight * first;
        high[row] += weight * second;
      }
    }
    for (int row = 0; row < kRows; ++row) {
      out[kHalves * row] = low[row];
      out[kHalves * row + 1] = high[row];
    }
  }

  int64_t rows_, columns_, blocks_;
  std::vector<T> values_;
};

// sums[row, :] += sum over lanes of by_row[row][lane] * by_lane[lane, :]; `width` in vectors.
template <typename T, int kRows, int kColumns>
void add_outer_tile(const T *by_row, const Vec<T> *by_lane, Vec<T> *sums, int64_t width) {
  Vec<T> tile[kRows][kColumns];
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kColumns; ++i) tile[row][i] = sums[row * width + i];
  for (int lane = 0; lane < kLanes<T>; ++lane) {
    Vec<T> values[kColumns];
    for (int i = 0; i < kColumns; ++i) values[i] = by_lane[lane * width + i];
    for (int row = 0; row < kRows; ++row) {
      const Vec<T> factor = all(by_row[row * kLanes<T> + lane]);
      for (int i = 0; i < kColumns; ++i) tile[row][i] += factor * values[i];
    }
  }
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kColumns; ++i) sums[row * width + i] = tile[row][i];
}

template <typename T, int kColumns>
void add_outer_columns(const T *by_row, int64_t rows, const Vec<T> *by_lane, Vec<T> *sums,
                       int64_t width) {
  const int64_t blocks = block_count(rows);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = block * rows / blocks;
    const T *factors = by_row + first * kLanes<T>;
    Vec<T> *tile = sums + first * width;
    switch ((block + 1) * rows / blocks - first) {
      case 1: add_outer_tile<T, 1, kColumns>(factors, by_lane, tile, width); break;
      case 2: add_outer_tile<T, 2, kColumns>(factors, by_lane, tile, width); break;
      case 3: add_outer_tile<T, 3, kColumns>(factors, by_lane, tile, width); break;
      case 4: add_outer_tile<T, 4, kColumns>(factors, by_lane, tile, width); break;
      case 5: add_outer_tile<T, 5, kColumns>(factors, by_lane, tile, width); break;
      default: add_outer_tile<T, kBlock, kColumns>(factors, by_lane, tile, width);
    }
  }
}

template <typename T>
void add_outer(const Vec<T> *by_row, int64_t rows, const Vec<T> *by_lane, Vec<T> *sums,
               int64_t width) {
  const T *factors = reinterpret_cast<const T *>(by_row);
  int64_t column = 0;
  for (; column + 2 <= width; column += 2)
    add_outer_columns<T, 2>(factors, rows, by_lane + column, sums + column, width);
  if (column < width)
    add_outer_columns<T, 1>(factors, rows, by_lane + column, sums + column, width);
}
