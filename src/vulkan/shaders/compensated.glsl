// SPDX-License-Identifier: MIT
// Sums and products with their rounding errors, in floats only. No fma: Vulkan lets it round twice, and even where its
// product is exact, "precise" does not keep compilers from reordering it. Everything else is "precise": errors would be
// folded to zero. Source: T. Ogita, S. Rump, S. Oishi, "Accurate Sum and Dot Product", SIAM J. Sci. Comput. 2005.
#ifndef COMPENSATED_GLSL
#define COMPENSATED_GLSL

// Of vec4 and of float:
//   two_sum      a + b = sum + error, exactly (Knuth)
//   split        a = high + low: 12 bits and 11 with a sign, as Veltkamp's does; NaN from 2^128 - 2^115 on
//   two_product  a * b = product + error, exactly unless the error is too small for a float (Dekker)
#define COMPENSATED(type, bits)                                                                                        \
    void two_sum(type a, type b, out type sum, out type error)                                                         \
    {                                                                                                                  \
        precise type s = a + b;                                                                                        \
        precise type b_part = s - a;                                                                                   \
        precise type a_part = s - b_part;                                                                              \
        precise type e = (a - a_part) + (b - b_part);                                                                  \
        sum = s;                                                                                                       \
        error = e;                                                                                                     \
    }                                                                                                                  \
                                                                                                                       \
    void split(type a, out type high, out type low)                                                                    \
    {                                                                                                                  \
        type h = uintBitsToFloat((floatBitsToUint(a) + bits(0x800u)) & bits(0xFFFFF000u));                             \
        precise type l = a - h;                                                                                        \
        high = h;                                                                                                      \
        low = l;                                                                                                       \
    }                                                                                                                  \
                                                                                                                       \
    void two_product(type a, type b, out type product, out type error)                                                 \
    {                                                                                                                  \
        type a_high;                                                                                                   \
        type a_low;                                                                                                    \
        type b_high;                                                                                                   \
        type b_low;                                                                                                    \
        split(a, a_high, a_low);                                                                                       \
        split(b, b_high, b_low);                                                                                       \
        precise type p = a * b;                                                                                        \
        precise type e = a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low);                  \
        product = p;                                                                                                   \
        error = e;                                                                                                     \
    }

COMPENSATED(vec4, uvec4)
COMPENSATED(float, uint)

// a * b - c * d as high + low, within 2^-47 of the larger product.
void difference_of_products(float a, float b, float c, float d, out float high, out float low)
{
    float plus;
    float plus_error;
    float minus;
    float minus_error;
    two_product(a, b, plus, plus_error);
    two_product(c, d, minus, minus_error);
    float difference;
    float error;
    two_sum(plus, -minus, difference, error);
    precise float rest = error + (plus_error - minus_error);
    two_sum(difference, rest, high, low);
}

// A sum of products and its rounding errors.
struct compensated_sum {
    float sum;
    float rest;
};

// Adds (high + low) * b: after a few, sum + rest is within a rounding of the exact one and 2^-45 of its terms.
void add_product(inout compensated_sum s, float high, float low, float b)
{
    float product;
    float product_error;
    float sum_error;
    two_product(high, b, product, product_error);
    two_sum(s.sum, product, s.sum, sum_error);
    precise float rest = s.rest + ((product_error + low * b) + sum_error);
    s.rest = rest;
}

#endif
