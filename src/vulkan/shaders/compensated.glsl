// SPDX-License-Identifier: MIT
// Sums and products with their rounding errors, in floats only: no fma, which Vulkan lets round twice. Source:
// T. Ogita, S. Rump, S. Oishi, "Accurate Sum and Dot Product", SIAM J. Sci. Comput. 2005. Everything is "precise", else
// compilers would fold the errors to zero. Values of 2^115 and more overflow in split.
#ifndef COMPENSATED_GLSL
#define COMPENSATED_GLSL

// a + b = sum + error, exactly (Knuth).
void two_sum(vec4 a, vec4 b, out vec4 sum, out vec4 error)
{
    precise vec4 s = a + b;
    precise vec4 b_part = s - a;
    precise vec4 a_part = s - b_part;
    precise vec4 e = (a - a_part) + (b - b_part);
    sum = s;
    error = e;
}

// a = high + low, each of 12 bits (Veltkamp).
void split(vec4 a, out vec4 high, out vec4 low)
{
    precise vec4 c = a * 4097.0;
    precise vec4 h = c - (c - a);
    precise vec4 l = a - h;
    high = h;
    low = l;
}

// a * b = product + error, exactly unless the error is too small for a float (Dekker).
void two_product(vec4 a, vec4 b, out vec4 product, out vec4 error)
{
    vec4 a_high;
    vec4 a_low;
    vec4 b_high;
    vec4 b_low;
    split(a, a_high, a_low);
    split(b, b_high, b_low);
    precise vec4 p = a * b;
    precise vec4 e = a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low);
    product = p;
    error = e;
}

// The same of single floats.
void two_sum(float a, float b, out float sum, out float error)
{
    precise float s = a + b;
    precise float b_part = s - a;
    precise float a_part = s - b_part;
    precise float e = (a - a_part) + (b - b_part);
    sum = s;
    error = e;
}

void split(float a, out float high, out float low)
{
    precise float c = a * 4097.0;
    precise float h = c - (c - a);
    precise float l = a - h;
    high = h;
    low = l;
}

void two_product(float a, float b, out float product, out float error)
{
    float a_high;
    float a_low;
    float b_high;
    float b_low;
    split(a, a_high, a_low);
    split(b, b_high, b_low);
    precise float p = a * b;
    precise float e = a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low);
    product = p;
    error = e;
}

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
