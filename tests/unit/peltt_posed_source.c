// SPDX-License-Identifier: MIT
// The source that most tests of the posed-file writer start from: two crates of one mesh, one of them with a camera and
// a lamp on it, a camera on an animated turret, a skinned and morphed snake, and nodes that must not survive.
#include "peltt_posed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const uint8_t peltt_png[PELTT_PNG_SIZE] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00,
    0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x38, 0xD0, 0xE0, 0x00, 0x00, 0x03, 0x84, 0x01, 0x81, 0x66,
    0x5E, 0xE1, 0x61, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};

static const char stage_scene[] =
    "{'asset':{'version':'2.0','generator':'hand','copyright':'CC0','extras':{'a':0.1}},"
    "'extensionsUsed':['KHR_lights_punctual','KHR_texture_transform','KHR_mesh_quantization','KHR_materials_variants',"
    "'KHR_materials_clearcoat','VRM','VRMC_materials_mtoon','KHR_texture_basisu'],"
    "'extensionsRequired':['KHR_mesh_quantization','KHR_texture_transform'],"
    "'extensions':{'KHR_lights_punctual':{'lights':[{'type':'point','name':'bulb'},{'type':'directional'}]},"
    "'KHR_materials_variants':{'variants':[{'name':'red'},{'name':'blue'}]},'VRM':{'humanoid':{'bone':6}}},"
    "'extras':{'root':[1,2.5,null]},"
    "'scene':1,'scenes':[{'name':'other','nodes':[8]},{'name':'stage','nodes':[0,5,6],'extras':{'s':1}}],"
    "'nodes':["
    "{'name':'root','translation':[1,2,3],'rotation':[0,0.6,0,0.8],'children':[1,2,3,7]},"
    "{'name':'turret','rotation':[0.28,0,0,0.96],'scale':[2,3,0.5],'children':[4]},"
    "{'name':'crate a','mesh':0,'translation':[5,0,0],'extras':{'tag':'a'}},"
    "{'name':'crate b','mesh':0,'matrix':[0,2,0,0,-2,0,0,0,0,0,2,0,7,8,9,1],'camera':1,'children':[9],"
    "'extras':{'tag':'b'},'extensions':{'KHR_lights_punctual':{'light':1}}},"
    "{'name':'eye','camera':0,'translation':[0,1,0]},"
    "{'name':'snake','mesh':1,'skin':0,'weights':[0.25],'translation':[9,9,9]},"
    "{'name':'bone','children':[10]},"
    "{'name':'empty'},"
    "{'name':'outside','mesh':0,'camera':0},"
    "{'name':'lamp','translation':[0,0,-1],'extensions':{'KHR_lights_punctual':{'light':0}}},"
    "{'name':'tip','translation':[0,1,0]}],"
    "'cameras':[{'type':'perspective','name':'p','perspective':{'yfov':0.7,'znear':0.01}},"
    "{'type':'orthographic','orthographic':{'xmag':1,'ymag':1,'znear':0.1,'zfar':10}}],"
    "'skins':[{'joints':[6,10]}],";

// Compilers need not take longer literals than 4,095 bytes.
static const char stage_model[] =
    "'animations':[{'name':'turn','channels':[{'sampler':0,'target':{'node':1,'path':'translation'}}],"
    "'samplers':[{'input':11,'output':12}]}],"
    "'meshes':[{'name':'crate','extras':{'m':true},'primitives':["
    "{'attributes':{'POSITION':0,'NORMAL':1,'TANGENT':2,'TEXCOORD_0':3,'TEXCOORD_1':4,'COLOR_0':5,'_TEAM':9},"
    "'indices':8,'material':0,'extras':{'p':0},"
    "'extensions':{'KHR_materials_variants':{'mappings':[{'material':1,'variants':[1]}]}}},"
    "{'attributes':{'POSITION':0},'mode':0}]},"
    "{'name':'snake skin','weights':[0.5],'extras':{'targetNames':['bend'],'keep':7},'primitives':["
    "{'attributes':{'POSITION':0,'TEXCOORD_0':3,'JOINTS_0':6,'WEIGHTS_0':7},'material':1,"
    "'targets':[{'POSITION':10}]}]}],"
    "'materials':[{'name':'wood','pbrMetallicRoughness':{'baseColorFactor':[0.8,0.1,0.3,1],'baseColorTexture':"
    "{'index':0,'texCoord':1,'extensions':{'KHR_texture_transform':{'offset':[0.25,0.5]}}}},"
    "'extensions':{'KHR_materials_clearcoat':{'clearcoatTexture':{'index':0,"
    "'extensions':{'KHR_texture_transform':{'scale':[2,2]}}}},'VRMC_materials_mtoon':{'x':1}},"
    "'extras':{'extensions':{'NOT_ONE':{}}}},{'name':'plain','doubleSided':true}],"
    "'textures':[{'sampler':0,'source':0,'name':'t'}],"
    "'samplers':[{'wrapS':33071,'wrapT':33648}],"
    "'images':[{'name':'pixel','bufferView':11,'mimeType':'image/png','extras':{'i':1}}],"
    "'accessors':["
    "{'bufferView':0,'componentType':5126,'count':4,'type':'VEC3','min':[0,0,0],'max':[1,1,0]},"
    "{'bufferView':1,'componentType':5126,'count':4,'type':'VEC3'},"
    "{'bufferView':2,'componentType':5126,'count':4,'type':'VEC4'},"
    "{'bufferView':3,'componentType':5126,'count':4,'type':'VEC2','sparse':{'count':1,"
    "'indices':{'bufferView':4,'componentType':5123},'values':{'bufferView':5}}},"
    "{'bufferView':6,'componentType':5123,'count':4,'type':'VEC2'},"
    "{'bufferView':7,'componentType':5121,'normalized':true,'count':4,'type':'VEC3'},"
    "{'bufferView':8,'componentType':5121,'count':4,'type':'VEC4'},"
    "{'bufferView':9,'componentType':5126,'count':4,'type':'VEC4'},"
    "{'bufferView':10,'componentType':5121,'count':6,'type':'SCALAR'},"
    "{'bufferView':12,'componentType':5123,'count':4,'type':'SCALAR'},"
    "{'bufferView':13,'componentType':5126,'count':4,'type':'VEC3','min':[0,0,0],'max':[0,0,1]},"
    "{'bufferView':14,'componentType':5126,'count':2,'type':'SCALAR','min':[0],'max':[1]},"
    "{'bufferView':15,'componentType':5126,'count':2,'type':'VEC3'}],";

peltt_blob peltt_stage(void)
{
    static const float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    static const float normals[] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
    static const float tangents[] = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, -1};
    static const float texcoords[] = {0, 0, 1, 0, 0, 1, 0, 0};
    static const uint16_t sparse_index[] = {3};
    static const float sparse_value[] = {0.75F, 0.625F};
    static const uint16_t wide_texcoords[] = {0, 1, 2, 3, 4, 500, 65535, 7};
    static const uint8_t colors[] = {255, 0, 0, 99, 0, 255, 0, 99, 0, 0, 255, 99, 1, 2, 3, 99};
    static const uint8_t joints[] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
    static const float weights[] = {1, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0.25F, 0.75F, 0, 0, 0, 1, 0, 0};
    static const uint8_t indices[] = {0, 1, 2, 2, 1, 3};
    static const uint16_t teams[] = {7, 0, 8, 0, 9, 0, 10, 0};
    static const float bend[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1};
    static const float times[] = {0, 1};
    static const float moves[] = {0, 0, 0, 3, 5, 7};
    static const struct {
        const void *data;
        size_t size;
        uint32_t stride;
    } views[] = {{positions, sizeof positions, 0},
                 {normals, sizeof normals, 0},
                 {tangents, sizeof tangents, 0},
                 {texcoords, sizeof texcoords, 0},
                 {sparse_index, sizeof sparse_index, 0},
                 {sparse_value, sizeof sparse_value, 0},
                 {wide_texcoords, sizeof wide_texcoords, 0},
                 {colors, sizeof colors, 4},
                 {joints, sizeof joints, 0},
                 {weights, sizeof weights, 0},
                 {indices, sizeof indices, 0},
                 {peltt_png, PELTT_PNG_SIZE, 0},
                 {teams, sizeof teams, 4},
                 {bend, sizeof bend, 0},
                 {times, sizeof times, 0},
                 {moves, sizeof moves, 0}};
    peltt_blob bin = {0};
    char json[16384];
    int length = snprintf(json, sizeof json, "%s%s'bufferViews':[", stage_scene, stage_model);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        size_t offset = peltt_blob_add(&bin, views[i].data, views[i].size);
        length += snprintf(json + length, sizeof json - (size_t)length,
                           "%s{'buffer':0,'byteOffset':%zu,'byteLength':%zu", i ? "," : "", offset, views[i].size);
        if (views[i].stride) {
            length += snprintf(json + length, sizeof json - (size_t)length, ",'byteStride':%u", views[i].stride);
        }
        length += snprintf(json + length, sizeof json - (size_t)length, "}");
    }
    length += snprintf(json + length, sizeof json - (size_t)length, "],'buffers':[{'byteLength':%zu}]}", bin.size);
    assert_true((size_t)length < sizeof json);
    peltt_blob glb = peltt_blob_glb(json, &bin);
    peltt_blob_free(&bin);
    return glb;
}
