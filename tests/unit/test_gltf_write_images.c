// SPDX-License-Identifier: MIT
// Posed files of sources with images outside the file.
#include "peltt_parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void write_file(const char *folder, const char *name, const void *data, size_t size)
{
    char *path = peltt_format("%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    free(path);
}

static void write_images(const char *folder)
{
    write_file(folder, "a b.png", peltt_png, PELTT_PNG_SIZE);
    write_file(folder, "liar.jpg", peltt_png, PELTT_PNG_SIZE);
    write_file(folder, "photo.bin", "\xFF\xD8\xFF\xE0", 4);
    write_file(folder, "x.webp", "RIFF\x04\0\0\0WEBP", 12);
    write_file(folder, "x.ktx2", "\xABKTX 20\xBB\r\n\x1A\n", 12);
    write_file(folder, "x.avif",
               "\0\0\0\x18"
               "ftypmif1\0\0\0\0mif1avif",
               24);
    write_file(folder, "short.jpeg", "?", 1);
    write_file(folder, "picture.gif", "GIF89a", 6);
    write_file(folder, "empty.png", "", 0);
}

static void remove_images(const char *folder)
{
    static const char *const names[] = {"a b.png", "liar.jpg",   "photo.bin",   "x.webp",   "x.ktx2",
                                        "x.avif",  "short.jpeg", "picture.gif", "empty.png"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = peltt_format("%s/%s", folder, names[i]);
        unlink(path);
        free(path);
    }
}

static void images_outside_come_in_and_others_keep_their_uri(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        const char *type; // NULL: stays outside
    } images[] = {{"a%20b.png", "image/png"},
                  {"liar.jpg", "image/png"},
                  {"photo.bin", "image/jpeg"},
                  {"x.webp", "image/webp"},
                  {"x.ktx2", "image/ktx2"},
                  {"x.avif", "image/avif"},
                  {"short.jpeg", "image/jpeg"},
                  {"data:image/png;base64,iVBORw0KGgo=", "image/png"},
                  {"data:image/gif;base64,R0lGODlh", "image/gif"},
                  {"data:;base64,R0lGODlh", NULL},
                  {"picture.gif", NULL},
                  {"empty.png", NULL},
                  {"missing.png", NULL},
                  {"../outside.png", NULL}};
    char folder[] = "/tmp/pelt_images_XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_images(folder);
    size_t count = sizeof images / sizeof images[0];
    char list[4096];
    int length = 0;
    for (size_t i = 0; i < count; i++) {
        length += snprintf(list + length, sizeof list - (size_t)length, "%s{'uri':'%s','name':'i%zu'}", i ? "," : "",
                           images[i].uri, i);
    }
    peltt_blob none = {0};
    peltt_parsed b = peltt_parsed_open(peltt_format("{'asset':{'version':'2.0'},'images':[%s]}", list), &none, folder);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    for (size_t i = 0; i < count; i++) {
        const json_t *image = peltt_json_item(b.json, "images", i);
        char *name = peltt_format("i%zu", i);
        assert_string_equal(json_string_value(json_object_get(image, "name")), name);
        if (images[i].type) {
            assert_null(json_object_get(image, "uri"));
            assert_string_equal(json_string_value(json_object_get(image, "mimeType")), images[i].type);
        } else {
            assert_null(json_object_get(image, "bufferView"));
            assert_string_equal(json_string_value(json_object_get(image, "uri")), images[i].uri);
            assert_non_null(strstr(b.warnings->text, name));
        }
        free(name);
    }
    assert_int_equal(b.warnings->count, 5);
    assert_memory_equal(b.bin, peltt_png, PELTT_PNG_SIZE);
    peltt_parsed_close(&b);
    remove_images(folder);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_outside_come_in_and_others_keep_their_uri),
    };
    return cmocka_run_group_tests_name("gltf_write_edges", tests, NULL, NULL);
}
