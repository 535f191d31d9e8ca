// SPDX-License-Identifier: MIT
// Keeps the helper library from being empty.
typedef int peltt_empty;
