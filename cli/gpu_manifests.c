// SPDX-License-Identifier: MIT
// Which Vulkan drivers are installed, whether they load or not: the manifests in the folders that the loader searches,
// as "Driver Discovery on Linux" of its interface documentation lists them.
#include "gpu.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_CAPACITY = 1024
};

static const char below_folder[] = "/vulkan/icd.d";

typedef struct text {
    char *at;
    size_t capacity;
    size_t used;
} text;

static void add_manifest(text *out, const char *path)
{
    size_t room = out->capacity - out->used;
    int length = snprintf(out->at + out->used, room, "%s%s", out->used ? ", " : "", path);
    if (length < 0 || (size_t)length >= room) {
        out->at[out->used] = '\0';
        return;
    }
    out->used += (size_t)length;
}

static bool is_json(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int is_manifest(const struct dirent *entry)
{
    return is_json(entry->d_name);
}

static void add_folder(text *out, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_manifest, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_CAPACITY];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length > 0 && (size_t)length < sizeof path) {
            add_manifest(out, path);
        }
        free(entries[i]);
    }
    free(entries);
}

// list: manifests, or folders of them once below is appended, with colons between.
static void add_list(text *out, const char *list, const char *below)
{
    while (*list) {
        char path[PATH_CAPACITY];
        size_t size = strcspn(list, ":");
        int length =
            snprintf(path, sizeof path, "%.*s%s", (int)(size < PATH_CAPACITY ? size : PATH_CAPACITY), list, below);
        bool fits = size > 0 && length > 0 && (size_t)length < sizeof path;
        if (fits && !is_json(path)) {
            add_folder(out, path);
        } else if (fits && access(path, F_OK) == 0) {
            add_manifest(out, path);
        }
        list += size + (list[size] == ':');
    }
}

static const char *variable(const char *name, const char *fallback)
{
    const char *value = getenv(name);
    return value && value[0] ? value : fallback;
}

static void add_home(text *out, const char *name, const char *below_home)
{
    const char *folder = variable(name, NULL);
    add_list(out, folder ? folder : variable("HOME", ""), folder ? below_folder : below_home);
}

void gpu_list_manifests(char *out, size_t capacity)
{
    text list = {out, capacity, 0};
    const char *instead = variable("VK_DRIVER_FILES", variable("VK_ICD_FILENAMES", NULL));
    out[0] = '\0';
    if (instead) {
        add_list(&list, instead, "");
        return;
    }
    add_list(&list, variable("VK_ADD_DRIVER_FILES", ""), "");
    add_home(&list, "XDG_CONFIG_HOME", "/.config/vulkan/icd.d");
    add_list(&list, variable("XDG_CONFIG_DIRS", "/etc/xdg"), below_folder);
    add_list(&list, "/etc", below_folder);
    add_home(&list, "XDG_DATA_HOME", "/.local/share/vulkan/icd.d");
    add_list(&list, variable("XDG_DATA_DIRS", "/usr/local/share:/usr/share"), below_folder);
}
