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

// a * b - c * d as high + low, within 2^-47 of the larger product.
void difference_of_products(vec4 a, vec4 b, vec4 c, vec4 d, out vec4 high, out vec4 low)
{
    vec4 plus;
    vec4 plus_error;
    vec4 minus;
    vec4 minus_error;
    two_product(a, b, plus, plus_error);
    two_product(c, d, minus, minus_error);
    vec4 difference;
    vec4 error;
    two_sum(plus, -minus, difference, error);
    precise vec4 rest = error + (plus_error - minus_error);
    two_sum(difference, rest, high, low);
}

// (high + low) . b, as one float: within a rounding of it and 2^-45 of its terms.
float dot_compensated(vec3 high, vec3 low, vec3 b)
{
    vec4 product;
    vec4 error;
    two_product(vec4(high, 0.0), vec4(b, 0.0), product, error);
    precise vec3 rest = error.xyz + low * b;
    vec4 xy;
    vec4 xy_error;
    two_sum(vec4(product.x), vec4(product.y), xy, xy_error);
    vec4 xyz;
    vec4 xyz_error;
    two_sum(xy, vec4(product.z), xyz, xyz_error);
    precise float result = xyz.x + (((rest.x + rest.y) + rest.z) + (xy_error.x + xyz_error.x));
    return result;
}

#endif
