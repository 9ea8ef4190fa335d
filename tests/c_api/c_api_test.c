/* faro.h from C: every group of functions held against an obvious loop, and with wrong input.
 *
 *     c_api_test FOLDER      plan files are written there
 */
#include <faro/faro.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                   \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      printf("%s:%d: not so: %s   (last: %s)\n", __FILE__, __LINE__, #condition, faro_last_message()); \
      ++failures;                                                                           \
    }                                                                                       \
  } while (0)

enum { kCount = 1024, kBits = 10 };

static uint64_t reversed(uint64_t x, int bits) {
  uint64_t y = 0;
  for (int i = 0; i < bits; ++i) y |= (x >> i & 1) << (bits - 1 - i);
  return y;
}

static void fill(uint32_t* array, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) array[i] = (uint32_t)(i * 2654435761u + 17);
}

static void test_maps(void) {
  faro_map *map = NULL, *inverse = NULL, *both = NULL, *cubed = NULL, *of_matrix = NULL, *form = NULL;
  uint64_t count = 0, image = 0, columns[64], complement = 7;
  int bits = 0, equal = 0;
  char* text = NULL;
  EXPECT(faro_map_parse("compose(gray(10), xor(10, 5))", 0, NULL, &map) == FARO_OK);
  EXPECT(faro_map_count(map, &count) == FARO_OK && count == kCount);
  for (uint64_t x = 0; x < kCount; ++x) {
    const uint64_t flipped = x ^ 5;
    EXPECT(faro_map_apply(map, x, &image) == FARO_OK && image == (flipped ^ flipped >> 1));
  }
  EXPECT(faro_map_inverse(map, &inverse) == FARO_OK);
  EXPECT(faro_map_compose(inverse, map, &both) == FARO_OK);
  for (uint64_t x = 0; x < kCount; ++x) EXPECT(faro_map_apply(both, x, &image) == FARO_OK && image == x);
  EXPECT(faro_map_power(map, 3, &cubed) == FARO_OK);
  uint64_t thrice = 9;
  for (int i = 0; i < 3; ++i) thrice = (thrice ^ 5) ^ (thrice ^ 5) >> 1;
  EXPECT(faro_map_apply(cubed, 9, &image) == FARO_OK && image == thrice);
  EXPECT(faro_map_matrix(map, &bits, columns, &complement) == FARO_OK && bits == kBits && complement == (5 ^ 5 >> 1));
  EXPECT(columns[0] == 1 && columns[1] == 3 && columns[9] == 0x300);
  EXPECT(faro_map_from_matrix(bits, columns, complement, &of_matrix) == FARO_OK);
  EXPECT(faro_map_equal(map, of_matrix, &equal) == FARO_OK && equal == 1);
  EXPECT(faro_map_equal(map, inverse, &equal) == FARO_OK && equal == 0);

  uint64_t* images = malloc(kCount * sizeof *images);
  EXPECT(faro_map_images(map, images) == FARO_OK && images[1] == ((1 ^ 5) ^ (1 ^ 5) >> 1));
  faro_map* indexed = NULL;
  EXPECT(faro_map_from_indices(images, kCount, 8, 0, 0, &indexed) == FARO_OK);
  EXPECT(faro_map_normal_form(indexed, &form) == FARO_OK);
  EXPECT(faro_map_text(form, &text) == FARO_OK && strncmp(text, "affine(10;", 10) == 0);
  faro_free(text);
  free(images);

  const uint64_t shape[2] = {3, 5};
  const int order[2] = {1, 0};
  faro_map* axes = NULL;
  EXPECT(faro_map_from_axes(2, shape, order, &axes) == FARO_OK);
  EXPECT(faro_map_text(axes, &text) == FARO_OK && strcmp(text, "transpose(3, 5)") == 0);
  faro_free(text);
  EXPECT(faro_map_catalogue(&text) == FARO_OK && strstr(text, "\"bit_reversal\"") != NULL);
  faro_free(text);
  faro_map* of_shape = NULL;
  EXPECT(faro_map_parse("transpose", 2, shape, &of_shape) == FARO_OK);
  EXPECT(faro_map_equal(axes, of_shape, &equal) == FARO_OK && equal == 1);

  /* Wrong input. */
  faro_map* none = (faro_map*)1;
  EXPECT(faro_map_parse("bit_reversl(4)", 0, NULL, &none) == FARO_SPEC && none == (faro_map*)1);
  EXPECT(strstr(faro_last_message(), "bit_reversal") != NULL);
  EXPECT(strlen(faro_last_operation()) > 0 && strlen(faro_last_got()) > 0 && strlen(faro_last_wanted()) > 0 &&
         strlen(faro_last_remedy()) > 0);
  EXPECT(faro_map_parse(NULL, 0, NULL, &none) == FARO_VALUE);
  EXPECT(faro_map_parse("gray(4)", 0, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_map_parse("transpose", -1, NULL, &none) == FARO_VALUE);
  EXPECT(faro_map_parse("@nowhere.npy", 0, NULL, &none) == FARO_FILE);
  EXPECT(faro_map_apply(map, kCount, &image) == FARO_VALUE);
  EXPECT(faro_map_apply(NULL, 0, &image) == FARO_VALUE);
  EXPECT(faro_map_compose(map, axes, &none) == FARO_VALUE);
  EXPECT(faro_map_matrix(axes, &bits, columns, &complement) == FARO_UNSUPPORTED);
  const uint64_t singular[2] = {1, 1}, wide[2] = {1, 4};
  EXPECT(faro_map_from_matrix(2, singular, 0, &none) == FARO_VALUE);
  EXPECT(faro_map_from_matrix(2, wide, 0, &none) == FARO_VALUE);
  EXPECT(faro_map_from_matrix(65, columns, 0, &none) == FARO_VALUE);
  const int32_t twice[3] = {0, 1, 1};
  EXPECT(faro_map_from_indices(twice, 3, 4, 1, 0, &none) == FARO_VALUE);
  EXPECT(faro_map_from_indices(twice, 3, 2, 1, 0, &none) == FARO_VALUE);
  EXPECT(faro_map_from_device_indices(twice, 3, 2, 1, 0, 0, NULL, &none) == FARO_VALUE);
  EXPECT(faro_map_from_device_indices(NULL, 3, 4, 1, 0, 0, NULL, &none) == FARO_VALUE);
  /* Memory of the host is no device's; without a device there is none at all. */
  const faro_status refused = faro_map_from_device_indices(twice, 3, 4, 1, 0, 0, NULL, &none);
  EXPECT(refused == FARO_VALUE || refused == FARO_DEVICE);

  faro_map_destroy(map);
  faro_map_destroy(inverse);
  faro_map_destroy(both);
  faro_map_destroy(cubed);
  faro_map_destroy(of_matrix);
  faro_map_destroy(form);
  faro_map_destroy(indexed);
  faro_map_destroy(axes);
  faro_map_destroy(of_shape);
  faro_map_destroy(NULL);
}

static void test_plans(const char* folder) {
  uint32_t in[kCount], out[kCount + 2], back[kCount];
  fill(in, kCount);
  memset(out, 0xa5, sizeof out);
  faro_plan *plan = NULL, *inverse = NULL, *loaded = NULL, *of_bytes = NULL;
  EXPECT(faro_plan_text("bit_reversal(10)", 0, NULL, 4, NULL, &plan) == FARO_OK);
  EXPECT(faro_plan_run(plan, in, out + 1, NULL) == FARO_OK);
  for (uint64_t x = 0; x < kCount; ++x) EXPECT(out[1 + reversed(x, kBits)] == in[x]);
  EXPECT(out[0] == 0xa5a5a5a5u && out[kCount + 1] == 0xa5a5a5a5u);
  EXPECT(faro_plan_inverse(plan, &inverse) == FARO_OK);
  EXPECT(faro_plan_run(inverse, out + 1, back, NULL) == FARO_OK && memcmp(in, back, sizeof in) == 0);

  char* text = NULL;
  uint64_t bytes = 0, shape[64];
  int rank = 0, on_gpu = 1, in_place = 1;
  double microseconds = 0;
  EXPECT(faro_plan_explain(plan, &text) == FARO_OK && strstr(text, "bit_reversal(10)") != NULL);
  faro_free(text);
  EXPECT(faro_plan_explain_json(plan, &text) == FARO_OK && text[0] == '{');
  const char* told = strstr(text, "\"predicted_ms\": ");
  const double told_ms = told == NULL ? 0 : strtod(told + strlen("\"predicted_ms\": "), NULL);
  faro_free(text);
  EXPECT(faro_plan_svg(plan, &text) == FARO_OK && strstr(text, "<svg") != NULL);
  faro_free(text);
  EXPECT(faro_plan_out_bytes(plan, &bytes) == FARO_OK && bytes == sizeof in);
  EXPECT(faro_plan_workspace_bytes(plan, &bytes) == FARO_OK && bytes == 0);
  EXPECT(faro_plan_out_shape(plan, &rank, shape) == FARO_OK && rank == 1 && shape[0] == kCount);
  EXPECT(faro_plan_facts(plan, &on_gpu, &in_place) == FARO_OK && on_gpu == 0 && in_place == 0);
  EXPECT(faro_plan_predicted_us(plan, &microseconds) == FARO_OK && microseconds > 0);
  EXPECT(fabs(microseconds - 1e3 * told_ms) <= 1e-9 * microseconds);

  /* Saved and loaded; as bytes. */
  char path[4096];
  snprintf(path, sizeof path, "%s/reversal.faroplan", folder);
  EXPECT(faro_plan_save(plan, path) == FARO_OK);
  EXPECT(faro_plan_load(path, NULL, &loaded) == FARO_OK);
  memset(out, 0, sizeof out);
  EXPECT(faro_plan_run(loaded, in, out, NULL) == FARO_OK && out[reversed(3, kBits)] == in[3]);
  void* data = NULL;
  EXPECT(faro_plan_to_bytes(plan, &data, &bytes) == FARO_OK);
  EXPECT(faro_plan_from_bytes(data, bytes, NULL, &of_bytes) == FARO_OK);
  faro_plan* none = NULL;
  EXPECT(faro_plan_from_bytes(data, bytes - 2, NULL, &none) == FARO_FILE);
  EXPECT(faro_plan_from_bytes("{}\n", 3, NULL, &none) == FARO_FILE);
  EXPECT(faro_plan_from_bytes(data, UINT64_MAX, NULL, &none) == FARO_FILE);
  /* No flipped bit goes unnoticed. */
  for (uint64_t bit = 0; bit < 8 * bytes; ++bit) {
    ((unsigned char*)data)[bit / 8] ^= (unsigned char)(1U << bit % 8);
    EXPECT(faro_plan_from_bytes(data, bytes, NULL, &none) == FARO_FILE);
    ((unsigned char*)data)[bit / 8] ^= (unsigned char)(1U << bit % 8);
  }
  EXPECT(faro_plan_from_bytes(data, bytes, NULL, &none) == FARO_OK);
  faro_plan_destroy(none);
  none = NULL;
  const char no_permutation[] =
      "{\"faro_plan\":1,\"element_bytes\":4,\"out_shape\":[1],\"views\":[],\"indices\":{\"count\":1,\"entry_bytes\":4,\"direction\":\"scatter\"},"
      "\"batch\":1,\"in_place\":false}\n\1\0\0";
  EXPECT(faro_plan_from_bytes(no_permutation, sizeof no_permutation, NULL, &none) == FARO_VALUE);
  const char* const version_1 = "{\"faro_plan\":1,\"element_bytes\":4,\"out_shape\":[8],\"views\":[],\"map\":\"gray(3)\",\"batch\":1,\"in_place\":false}\n";
  EXPECT(faro_plan_from_bytes(version_1, strlen(version_1), NULL, &none) == FARO_OK);
  faro_plan_destroy(none);
  none = NULL;
  const char* const with_file = "{\"faro_plan\":1,\"element_bytes\":4,\"out_shape\":[4],\"views\":[],\"map\":\"@x.npy\",\"batch\":1,\"in_place\":false}\n";
  EXPECT(faro_plan_from_bytes(with_file, strlen(with_file), NULL, &none) == FARO_FILE);
  snprintf(path, sizeof path, "%s/no such folder/plan", folder);
  EXPECT(faro_plan_save(plan, path) == FARO_FILE);
  EXPECT(faro_plan_load(path, NULL, &none) == FARO_FILE);
  faro_free(data);

  /* An index array, kept with its entries. */
  uint32_t indices[kCount];
  for (uint64_t i = 0; i < kCount; ++i) indices[i] = (uint32_t)(i * 389 % kCount);
  faro_map* map = NULL;
  faro_plan *by_index = NULL, *again = NULL;
  EXPECT(faro_map_from_indices(indices, kCount, 4, 0, 0, &map) == FARO_OK);
  EXPECT(faro_plan_map(map, 4, NULL, &by_index) == FARO_OK);
  EXPECT(faro_plan_to_bytes(by_index, &data, &bytes) == FARO_OK);
  EXPECT(faro_plan_from_bytes(data, bytes, NULL, &again) == FARO_OK);
  EXPECT(faro_plan_run(again, in, out, NULL) == FARO_OK);
  for (uint64_t i = 0; i < kCount; ++i) EXPECT(out[indices[i]] == in[i]);
  /* In memory that is lent, of too little of which nothing is written. */
  uint64_t lent_bytes = 0;
  EXPECT(faro_plan_workspace_bytes(again, &lent_bytes) == FARO_OK);
  void* room = malloc(lent_bytes + 256);
  void* lent = (char*)room + (256 - (uintptr_t)room % 256) % 256;
  memset(out, 0, kCount * sizeof *out);
  EXPECT(faro_plan_run_in_workspace(again, in, out, lent, lent_bytes, NULL) == FARO_OK);
  for (uint64_t i = 0; i < kCount; ++i) EXPECT(out[indices[i]] == in[i]);
  EXPECT(faro_plan_run_in_workspace(again, in, out, NULL, 0, NULL) == FARO_OK);
  if (lent_bytes > 0) EXPECT(faro_plan_run_in_workspace(again, in, out, lent, lent_bytes - 1, NULL) == FARO_VALUE);
  free(room);
  ((char*)data)[bytes - 1] ^= 1; /* damaged now */
  EXPECT(faro_plan_from_bytes(data, bytes, NULL, &none) == FARO_FILE);
  faro_free(data);

  /* In place, and a batch. */
  faro_options options = {.engine = FARO_CPU, .in_place = 1, .batch = 4};
  faro_plan* placed = NULL;
  memcpy(back, in, sizeof in);
  EXPECT(faro_plan_text("reverse(8)", 0, NULL, 4, &options, &placed) == FARO_OK);
  EXPECT(faro_plan_run_in_place(placed, back, NULL) == FARO_OK);
  for (uint64_t i = 0; i < kCount; ++i) EXPECT(back[i] == in[(i & ~(uint64_t)255) + 255 - (i & 255)]);
  EXPECT(faro_plan_run(placed, in, out, NULL) == FARO_VALUE);
  EXPECT(faro_plan_run_in_place(plan, back, NULL) == FARO_VALUE);

  /* Wrong input: nothing is written. */
  memset(out, 0xa5, sizeof out);
  EXPECT(faro_plan_run(plan, in, in, NULL) == FARO_VALUE);
  EXPECT(faro_plan_run(plan, NULL, out, NULL) == FARO_VALUE);
  EXPECT(faro_plan_run(plan, out, out + 1, NULL) == FARO_VALUE && out[0] == 0xa5a5a5a5u);
  EXPECT(faro_plan_run(NULL, in, out, NULL) == FARO_VALUE);
  EXPECT(faro_plan_run(plan, in, out, out) == FARO_VALUE); /* a stream on the CPU */
  EXPECT(faro_plan_text("bit_reversal(10)", 0, NULL, 0, NULL, &none) == FARO_VALUE);
  /* A view as text: what its output must have, and an input that it leaves. */
  const uint64_t six = 6;
  faro_plan* padded = NULL;
  EXPECT(faro_plan_text("strided(2 3; 3 1; 5 1)", 1, &six, 4, NULL, &padded) == FARO_OK);
  EXPECT(faro_plan_out_shape(padded, &rank, shape) == FARO_OK && rank == 1 && shape[0] == 8);
  faro_plan_destroy(padded);
  EXPECT(faro_plan_text("strided(2 3; -3 1; 3 1; 3 0)", 1, &six, 4, NULL, &padded) == FARO_OK);
  EXPECT(faro_plan_out_shape(padded, &rank, shape) == FARO_OK && rank == 2 && shape[0] == 2 && shape[1] == 3);
  faro_plan_destroy(padded);
  EXPECT(faro_plan_text("strided(7; 1; 1)", 1, &six, 4, NULL, &none) == FARO_VALUE);
  EXPECT(faro_plan_text("bit_reversal(10)", 0, NULL, 5000, NULL, &none) == FARO_VALUE);
  options.engine = (faro_engine)9;
  EXPECT(faro_plan_text("bit_reversal(10)", 0, NULL, 4, &options, &none) == FARO_VALUE);
  int available = 0;
  EXPECT(faro_cuda_status(&available, &text) == FARO_OK && strlen(text) > 0);
  faro_free(text);
  if (!available) {
    options = (faro_options){.engine = FARO_CUDA};
    EXPECT(faro_plan_text("bit_reversal(10)", 0, NULL, 4, &options, &none) == FARO_DEVICE);
  }
  faro_map_destroy(map);
  faro_plan_destroy(plan);
  faro_plan_destroy(inverse);
  faro_plan_destroy(loaded);
  faro_plan_destroy(of_bytes);
  faro_plan_destroy(by_index);
  faro_plan_destroy(again);
  faro_plan_destroy(placed);
  faro_plan_destroy(NULL);
}

static void test_views(void) {
  /* a[::-1, ::2] of 6 x 8, transposed to 4 x 6. */
  uint32_t in[48], out[24];
  fill(in, 48);
  const uint64_t extents[2] = {4, 6};
  const int64_t in_strides[2] = {2, -8}, out_strides[2] = {6, 1};
  const faro_view view = {2, extents, in_strides, out_strides, 40, 0};
  faro_plan *plan = NULL, *inverse = NULL, *none = NULL;
  EXPECT(faro_plan_view(&view, 4, NULL, &plan) == FARO_OK);
  EXPECT(faro_plan_run(plan, in, out, NULL) == FARO_OK);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) EXPECT(out[6 * i + j] == in[(5 - j) * 8 + 2 * i]);
  uint32_t back[48];
  memset(back, 0, sizeof back);
  EXPECT(faro_plan_inverse(plan, &inverse) == FARO_OK);
  EXPECT(faro_plan_run(inverse, out, back, NULL) == FARO_OK);
  for (int i = 0; i < 48; ++i) EXPECT(back[i] == (i % 2 == 0 ? in[i] : 0));

  /* Texts on arrays with strides: of axes, of a pattern, of any map. */
  const uint64_t shape[2] = {6, 4};
  const int64_t strides[2] = {8, 2};
  const char* const texts[5] = {"transpose", "a (b c) -> c a b, b=2", "roll(5)", "axes(6 4; 1 0; 1 2)",
                                "compose(flip, transpose)"};
  faro_plan* other = NULL;
  EXPECT(faro_plan_array("transpose(4, 6)", 2, shape, strides, 4, NULL, &other) == FARO_VALUE);
  EXPECT(faro_plan_text("compose(flip, transpose(4, 6))", 2, shape, 4, NULL, &other) == FARO_VALUE);
  for (int t = 0; t < 5; ++t) {
    faro_plan* made = NULL;
    EXPECT(faro_plan_array(texts[t], 2, shape, strides, 4, NULL, &made) == FARO_OK);
    EXPECT(faro_plan_run(made, in, out, NULL) == FARO_OK);
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 4; ++j) {
        const int flat = 4 * i + j;
        const int place[5] = {6 * j + i, j % 2 * 12 + i * 2 + j / 2, (flat + 5) % 24,
                              (j + 2) % 4 * 6 + (i + 1) % 6, 23 - (6 * j + i)};
        EXPECT(out[place[t]] == in[8 * i + 2 * j]);
      }
    }
    void* data = NULL;
    uint64_t bytes = 0;
    faro_plan* again = NULL;
    uint32_t same[24];
    EXPECT(faro_plan_to_bytes(made, &data, &bytes) == FARO_OK);
    EXPECT(faro_plan_from_bytes(data, bytes, NULL, &again) == FARO_OK);
    EXPECT(faro_plan_run(again, in, same, NULL) == FARO_OK && memcmp(same, out, sizeof same) == 0);
    faro_free(data);
    faro_plan_destroy(made);
    faro_plan_destroy(again);
  }
  faro_plan* rolled = NULL;
  const int64_t shifts[2] = {-1, 6};
  EXPECT(faro_plan_roll(2, shape, strides, shifts, 4, NULL, &rolled) == FARO_OK);
  EXPECT(faro_plan_run(rolled, in, out, NULL) == FARO_OK);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j) EXPECT(out[(i + 5) % 6 * 4 + (j + 6) % 4] == in[8 * i + 2 * j]);

  const int64_t meeting[2] = {1, 1};
  const faro_view wrong = {2, extents, in_strides, meeting, 0, 0};
  EXPECT(faro_plan_view(&wrong, 4, NULL, &none) == FARO_VALUE);
  EXPECT(faro_plan_view(NULL, 4, NULL, &none) == FARO_VALUE);
  const uint64_t empty[1] = {0};
  faro_plan* nothing = NULL;
  const faro_view of_none = {1, empty, meeting, meeting, 0, 0};
  EXPECT(faro_plan_view(&of_none, 4, NULL, &nothing) == FARO_OK && faro_plan_run(nothing, NULL, NULL, NULL) == FARO_OK);
  faro_plan_destroy(plan);
  faro_plan_destroy(inverse);
  faro_plan_destroy(rolled);
  faro_plan_destroy(nothing);
}

/* Rows of 3, as many as a call has, transposed and flipped; into every second column. */
static void test_families(void) {
  const uint64_t extents[2] = {10, 3};
  const int is_free[2] = {1, 0}, order[2] = {1, 0}, flipped[2] = {0, 1};
  faro_family_map map = {.extents = extents, .is_free = is_free, .order = order, .flipped = flipped, .element_bytes = 4, .rank = 2};
  faro_family *family = NULL, *none = NULL;
  EXPECT(faro_family_make(&map, NULL, &family) == FARO_OK);
  uint32_t in[30], out[60];
  fill(in, 30);
  for (uint64_t rows = 0; rows <= 10; rows += 5) {
    const int64_t strides[2] = {20, 2};
    faro_family_call call = {.extents = &rows, .count = 1};
    uint64_t in_bytes = 0, out_bytes = 0, shape[2] = {0, 0};
    EXPECT(faro_family_sizes(family, &call, &in_bytes, &out_bytes, shape) == FARO_OK);
    EXPECT(in_bytes == 12 * rows && out_bytes == 12 * rows && shape[0] == 3 && shape[1] == rows);
    EXPECT(faro_family_run(family, &call, in, out, NULL) == FARO_OK);
    for (uint64_t i = 0; i < rows; ++i)
      for (uint64_t j = 0; j < 3; ++j) EXPECT(out[rows * j + i] == in[3 * i + 2 - j]);
    call.out_strides = strides;
    EXPECT(faro_family_run(family, &call, in, out, NULL) == FARO_OK);
    for (uint64_t i = 0; i < rows; ++i)
      for (uint64_t j = 0; j < 3; ++j) EXPECT(out[20 * j + 2 * i] == in[3 * i + 2 - j]);
    char* text = NULL;
    EXPECT(faro_family_explain(family, &call, &text) == FARO_OK && strlen(text) > 0);
    faro_free(text);
  }
  const uint64_t many = 11;
  const faro_family_call large = {.extents = &many, .count = 1};
  EXPECT(faro_family_run(family, &large, in, out, NULL) == FARO_VALUE);
  EXPECT(strcmp(faro_last_got(), "an extent of 11 for axis 0") == 0 && strcmp(faro_last_wanted(), "at most 10") == 0);
  EXPECT(faro_family_run(family, NULL, in, out, NULL) == FARO_VALUE);
  EXPECT(faro_family_run_on_device(family, in, 8, in, out, NULL) == FARO_UNSUPPORTED);
  const faro_options in_place = {.in_place = 1};
  EXPECT(faro_family_make(&map, &in_place, &none) == FARO_VALUE);
  map.rank = -1;
  EXPECT(faro_family_make(&map, NULL, &none) == FARO_VALUE && none == NULL);
  EXPECT(faro_family_make(NULL, NULL, &none) == FARO_VALUE);
  faro_family_destroy(family);
  faro_family_destroy(NULL);
}

static void test_blocks(void) {
  /* 32 x 2, transposed: a block of numbers 1 to 32, and one of their tenths. */
  float wide[64];
  for (int i = 0; i < 32; ++i) {
    wide[2 * i] = (float)(i + 1);
    wide[2 * i + 1] = (float)(i + 1) / 10;
  }
  const uint64_t extents[2] = {2, 32};
  const int64_t strides[2] = {1, 2};
  faro_blocks blocks;
  memset(&blocks, 0, sizeof blocks);
  blocks.format = FARO_MXFP8_E4M3;
  blocks.wide = FARO_F32;
  blocks.rank = 2;
  blocks.axis = 1;
  blocks.extents = extents;
  blocks.strides = strides;
  faro_block_plan* plan = NULL;
  EXPECT(faro_block_plan_make(&blocks, NULL, &plan) == FARO_OK);
  uint64_t data_bytes = 0;
  uint64_t scale_bytes = 0;
  EXPECT(faro_block_plan_sizes(plan, &data_bytes, &scale_bytes) == FARO_OK && data_bytes == 64 &&
         scale_bytes == 2);
  uint8_t data[64];
  uint8_t scales[2];
  EXPECT(faro_block_plan_quantize(plan, wide, data, scales, NULL) == FARO_OK);
  EXPECT(scales[0] == 127 + 5 - 8 &&
         scales[1] == 127 + 1 - 8); /* 32 is 2^5, 3.2 nearly 2^2; e4m3fn has 2^8 */
  EXPECT(data[31] == 0x78);         /* 2^8 */
  float back[64];
  EXPECT(faro_block_plan_dequantize(plan, data, scales, back, NULL) == FARO_OK && back[62] == 32 &&
         back[0] == 1);
  EXPECT(back[63] > 3.0F && back[63] < 3.4F);
  EXPECT(faro_block_plan_quantize(plan, wide, data, data, NULL) == FARO_VALUE);
  char* text = NULL;
  EXPECT(faro_block_plan_explain(plan, &text) == FARO_OK && strstr(text, "mxfp8_e4m3") != NULL);
  faro_free(text);
  faro_block_plan_destroy(plan);
  blocks.axis = 0;
  EXPECT(faro_block_plan_make(&blocks, NULL, &plan) == FARO_VALUE);
  blocks.axis = 1;
  blocks.wide = FARO_F64;
  EXPECT(faro_block_plan_make(&blocks, NULL, &plan) == FARO_UNSUPPORTED);
}

static void test_arithmetic(void) {
  const uint64_t extents[2] = {3, 2};
  const int64_t in_strides[2] = {1, -3};
  const int64_t out_strides[2] = {2, 1};
  const faro_view view = {2, extents, in_strides, out_strides, 3, 0}; /* 2 x 3 transposed, its rows upside down */
  const uint8_t in[6] = {1, 2, 3, 10, 20, 255};
  const double offsets[4] = {0.5, 0, -1, 0};
  float out[6];
  faro_arithmetic to_floats;
  memset(&to_floats, 0, sizeof to_floats);
  to_floats.from = FARO_U8;
  to_floats.to = FARO_F32;
  to_floats.offset.values = offsets;
  to_floats.offset.count = 2;
  to_floats.offset.axis = 1;
  faro_arithmetic_plan* plan = NULL;
  EXPECT(faro_arithmetic_plan_make(&view, &to_floats, NULL, &plan) == FARO_OK);
  EXPECT(faro_arithmetic_plan_run(plan, in, NULL, out, NULL) == FARO_OK);
  const float wanted[6] = {10.5F, 0, 20.5F, 1, 255.5F, 2};
  EXPECT(memcmp(out, wanted, sizeof out) == 0);
  memset(out, 0, sizeof out);
  EXPECT(faro_arithmetic_plan_run_staged(plan, in, NULL, out, 0) == FARO_OK && memcmp(out, wanted, sizeof out) == 0);
  char* text = NULL;
  EXPECT(faro_arithmetic_plan_explain(plan, &text) == FARO_OK && strstr(text, "u8 to f32") != NULL);
  faro_free(text);
  faro_arithmetic_plan_destroy(plan);

  faro_arithmetic sums = to_floats;
  memset(&sums.offset, 0, sizeof sums.offset);
  sums.adds = 1;
  sums.addend = FARO_F32;
  sums.beta[0] = 2;
  EXPECT(faro_arithmetic_plan_make(&view, &sums, NULL, &plan) == FARO_OK);
  EXPECT(faro_arithmetic_plan_run(plan, in, out, out, NULL) == FARO_OK && out[0] == 31 && out[5] == 7);
  EXPECT(faro_arithmetic_plan_run(plan, in, NULL, out, NULL) == FARO_VALUE);
  EXPECT(faro_arithmetic_plan_run_staged(plan, in, NULL, out, 0) == FARO_VALUE);
  EXPECT(faro_arithmetic_plan_run(plan, in, (const char*)out + 4, out, NULL) == FARO_VALUE && out[0] == 31);
  faro_arithmetic_plan_destroy(plan);

  /* The same numbers, reversed by a map, and as rows. */
  to_floats.offset.axis = 0;
  faro_map* map = NULL;
  const uint64_t shape[2] = {2, 3};
  EXPECT(faro_map_parse("flip(6)", 0, NULL, &map) == FARO_OK);
  EXPECT(faro_arithmetic_plan_make_map(map, 2, shape, &to_floats, NULL, &plan) == FARO_OK);
  EXPECT(faro_arithmetic_plan_run(plan, in, NULL, out, NULL) == FARO_OK);
  EXPECT(out[0] == 255.5F && out[2] == 10.5F && out[3] == 2 && out[5] == 0);
  faro_arithmetic_plan_destroy(plan);
  EXPECT(faro_arithmetic_plan_make_map(map, 1, shape, &to_floats, NULL, &plan) == FARO_VALUE);
  faro_map_destroy(map);
  const int32_t entries[2] = {1, -1};
  const float zero = 0;
  const faro_rows rows = {entries, 2, 4, 1, 2, 1, 3, 1};
  faro_moved_rows taken;
  memset(&taken, 0, sizeof taken);
  taken.rows = &rows;
  taken.fill = &zero;
  taken.fill_bytes = sizeof zero;
  memset(&to_floats.offset, 0, sizeof to_floats.offset);
  EXPECT(faro_arithmetic_plan_make_rows(&taken, &to_floats, &plan) == FARO_OK);
  EXPECT(faro_arithmetic_plan_run(plan, in, NULL, out, NULL) == FARO_OK && out[0] == 10 && out[2] == 255 && out[5] == 0);
  /* Entries elsewhere are checked anew. */
  const int32_t others[2] = {-1, 1};
  const int32_t wrong[2] = {0, 2};
  EXPECT(faro_arithmetic_plan_run_by(plan, others, in, NULL, out, NULL) == FARO_OK && out[2] == 0 && out[3] == 10 && out[5] == 255);
  EXPECT(faro_arithmetic_plan_run_by(plan, wrong, in, NULL, out, NULL) == FARO_VALUE && out[2] == 0 && out[3] == 10);
  EXPECT(faro_arithmetic_plan_run_by(plan, entries, in, NULL, out, NULL) == FARO_OK && out[0] == 10 && out[5] == 0);
  EXPECT(faro_arithmetic_plan_run_by(plan, NULL, in, NULL, out, NULL) == FARO_VALUE);
  EXPECT(faro_arithmetic_plan_check(plan, NULL) == FARO_OK && faro_arithmetic_plan_check(NULL, NULL) == FARO_VALUE);
  faro_arithmetic_plan_destroy(plan);
  taken.fill = NULL;
  taken.move = FARO_ADD;
  EXPECT(faro_arithmetic_plan_make_rows(&taken, &to_floats, &plan) == FARO_OK);
  EXPECT(faro_arithmetic_plan_run(plan, in, NULL, out, NULL) == FARO_OK && out[3] == 1 && out[5] == 3 && out[0] == 10);
  faro_arithmetic_plan_destroy(plan);
  taken.move = (faro_row_move)7;
  EXPECT(faro_arithmetic_plan_make_rows(&taken, &to_floats, &plan) == FARO_VALUE);
  EXPECT(faro_arithmetic_plan_make_rows(NULL, &to_floats, &plan) == FARO_VALUE);
  to_floats.from = (faro_number)99;
  EXPECT(faro_arithmetic_plan_make(&view, &to_floats, NULL, &plan) == FARO_VALUE && strstr(faro_last_message(), "99") != NULL);
}

static void test_rows(void) {
  const int32_t from[4] = {2, 0, 2, -1};
  const float in[6] = {1, 2, 3, 4, 5, 6};
  float out[8];
  faro_rows rows = {from, 4, 4, 1, 3, 1, 2 * sizeof(float), 0};
  const float fill_value = 9;
  EXPECT(faro_take(&rows, &fill_value, sizeof fill_value, in, out) == FARO_OK);
  const float taken[8] = {5, 6, 1, 2, 5, 6, 9, 9};
  EXPECT(memcmp(out, taken, sizeof taken) == 0);
  EXPECT(faro_take(&rows, NULL, 0, in, out) == FARO_VALUE); /* the absent row has no fill */
  EXPECT(faro_take(&rows, &fill_value, UINT64_MAX, in, out) == FARO_VALUE); /* not read */
  const int no_threads[2] = {-1, 2000000000};
  for (int i = 0; i < 2; ++i) {
    faro_rows wrong_team = rows;
    wrong_team.threads = no_threads[i];
    EXPECT(faro_take(&wrong_team, &fill_value, sizeof fill_value, in, out) == FARO_VALUE);
    EXPECT(strstr(faro_last_message(), "threads") != NULL);
  }
  const int32_t past[1] = {3};
  faro_rows wrong = rows;
  wrong.entries = past;
  wrong.count = 1;
  EXPECT(faro_take(&wrong, NULL, 0, in, out) == FARO_VALUE && strstr(faro_last_message(), "3") != NULL);

  const int64_t to[3] = {1, 0, 1};
  float sums[4] = {10, 20, 30, 40};
  faro_rows added = {to, 3, 8, 1, 2, 1, 2 * sizeof(float), 0};
  EXPECT(faro_put(&added, in, sums) == FARO_VALUE); /* two go to row 1 */
  EXPECT(faro_add(&added, FARO_F32, FARO_SUMS_USUAL, in, sums) == FARO_OK);
  const float wanted[4] = {13, 24, 36, 48};
  EXPECT(memcmp(sums, wanted, sizeof wanted) == 0);
  EXPECT(faro_add(&added, (faro_number)77, FARO_SUMS_USUAL, in, sums) == FARO_VALUE);
  added.count = 2;
  EXPECT(faro_put(&added, in, sums) == FARO_OK && sums[2] == 1 && sums[0] == 3);

  const uint16_t cuts[4] = {0, 1, 4, 6};
  const int64_t which[3] = {2, 0, 2};
  const faro_rows of = {cuts, 4, 2, 0, 0, 0, 0, 0}, by = {which, 3, 8, 1, 0, 0, 0, 0};
  const float elements[6] = {0, 1, 2, 3, 4, 5};
  const float whole[5] = {4, 5, 0, 4, 5};
  const int64_t wanted_begins[4] = {0, 2, 3, 5};
  int64_t begins[4];
  float segments[5];
  EXPECT(faro_taken_offsets(&of, &by, sizeof(float), begins) == FARO_OK && memcmp(begins, wanted_begins, sizeof begins) == 0);
  EXPECT(faro_take_segments(&of, &by, sizeof(float), elements, sizeof elements, segments, sizeof segments) == FARO_OK);
  EXPECT(memcmp(segments, whole, sizeof whole) == 0);
  EXPECT(faro_take_segments(&of, &by, sizeof(float), elements, 20, segments, sizeof segments) == FARO_VALUE);
  EXPECT(faro_take_segments(&of, &by, sizeof(float), elements, sizeof elements, segments, 16) == FARO_VALUE);
  EXPECT(faro_taken_offsets(NULL, &by, sizeof(float), begins) == FARO_VALUE);

  const int32_t keys[5] = {2, 0, 2, 1, 0};
  const faro_route_options options = {.buckets = 3, .keys_per_row = 1, .multiple = 1, .capacity = -1};
  faro_routing* routing = NULL;
  const int64_t* list = NULL;
  uint64_t count = 0, dropped = 9, absent = 9;
  EXPECT(faro_route(keys, 5, 4, 1, &options, &routing) == FARO_OK);
  EXPECT(faro_route_get(routing, FARO_ROUTE_PLACES, &list, &count) == FARO_OK && count == 5);
  const int64_t places[5] = {3, 0, 4, 2, 1};
  EXPECT(memcmp(list, places, sizeof places) == 0);
  EXPECT(faro_route_get(routing, FARO_ROUTE_OFFSETS, &list, &count) == FARO_OK && count == 4 && list[3] == 5);
  EXPECT(faro_route_lost(routing, &dropped, &absent) == FARO_OK && dropped == 0 && absent == 0);
  const float routed[5] = {1, 2, 3, 4, 5};
  const float weights[5] = {1, 2, 1, 1, 1};
  float combined[5];
  const faro_rows back = {places, 5, 8, 1, 5, 1, sizeof(float), 0};
  EXPECT(faro_combine(&back, 1, weights, FARO_F32, FARO_SUMS_USUAL, routed, combined) == FARO_OK);
  const float expected[5] = {4, 2, 5, 3, 2};
  EXPECT(memcmp(combined, expected, sizeof expected) == 0);
  EXPECT(faro_combine(&back, 2, NULL, FARO_F32, FARO_SUMS_USUAL, routed, combined) == FARO_VALUE);
  const faro_route_options none = {.buckets = 1, .keys_per_row = 1, .multiple = 1, .capacity = -1};
  faro_routing* refused = NULL;
  EXPECT(faro_route(keys, 5, 4, 1, &none, &refused) == FARO_VALUE && refused == NULL);
  faro_route_destroy(routing);
}

/* Ragged rows by a plan: what the functions above say, but that both lists are read once. */
/* Seven tokens of 2 heads of 3 numbers, blocks of 2 to blocks of 4 with the tokens of a head together, to halves. */
static void test_plans_of_caches(void) {
  enum { kHeads = 2, kWidth = 3, kTokens = 7 };
  static float in[5 * 2 * kHeads * kWidth];
  static uint16_t out[3 * 4 * kHeads * kWidth];
  for (int i = 0; i < 60; ++i) in[i] = (float)i;
  memset(out, 0xff, sizeof out);
  const int32_t from[] = {4, 0, 3, 1};
  const uint16_t to[] = {2, 0};
  const uint8_t lengths[] = {kTokens};
  const faro_cache_layout nhd = {FARO_F32, 5, 2, 12, 6, 3, 0, 0, 0};
  faro_cache_layout hnd = {FARO_F16, 3, 4, 24, 3, 12, 0, 0, 1};
  const faro_cache_arrays arrays = {in, out, 2, 0};
  const faro_rows of = {from, 4, 4, 1, 0, 0, 0, 0}, by = {to, 2, 2, 0, 0, 0, 0, 0}, some = {lengths, 1, 1, 0, 0, 0, 0, 0};
  faro_cache_plan* plan = NULL;
  EXPECT(faro_cache_plan_make(kHeads, kWidth, &nhd, &hnd, &arrays, 1, NULL, &plan) == FARO_OK);
  EXPECT(faro_cache_plan_run(plan, &of, &by, 1, 8, &some, NULL) == FARO_OK);
  EXPECT(faro_cache_plan_check(plan, NULL) == FARO_OK);
  char* text = NULL;
  EXPECT(faro_cache_plan_explain(plan, &text) == FARO_OK && strstr(text, "5 blocks of 2 tokens, NHD, f32") != NULL);
  faro_free(text);
  for (int t = 0; t < 8; ++t) {
    for (int h = 0; h < kHeads; ++h) {
      for (int w = 0; w < kWidth; ++w) {
        const float x = 2 * in[((from[t / 2] * 2 + t % 2) * kHeads + h) * kWidth + w];
        const uint16_t half = out[((to[t / 4] * kHeads + h) * 4 + t % 4) * kWidth + w];
        int exponent = 0;
        const float mantissa = frexpf(x, &exponent); /* of whole numbers below 2^11 a half has all bits */
        const uint16_t wanted = x == 0 ? 0 : (uint16_t)(((exponent + 14) << 10) + (int)((mantissa * 2 - 1) * 1024));
        EXPECT(half == (t < kTokens ? wanted : 0xffff));
      }
    }
  }
  EXPECT(faro_cache_plan_run(plan, &of, &by, 1, 9, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_cache_plan_run(plan, &of, NULL, 1, 8, NULL, NULL) == FARO_VALUE);
  faro_cache_plan_destroy(plan);
  hnd.number = FARO_I16;
  plan = NULL;
  EXPECT(faro_cache_plan_make(kHeads, kWidth, &nhd, &hnd, &arrays, 1, NULL, &plan) == FARO_UNSUPPORTED && plan == NULL);
  hnd.number = (faro_number)99;
  EXPECT(faro_cache_plan_make(kHeads, kWidth, &nhd, &hnd, &arrays, 1, NULL, &plan) == FARO_VALUE);
  EXPECT(faro_cache_plan_make(kHeads, kWidth, NULL, &hnd, &arrays, 1, NULL, &plan) == FARO_VALUE);
  EXPECT(faro_cache_plan_make(kHeads, kWidth, &nhd, &nhd, &arrays, UINT64_MAX, NULL, &plan) == FARO_VALUE);
  EXPECT(faro_cache_plan_run(NULL, &of, &by, 1, 8, NULL, NULL) == FARO_VALUE);
}

static void test_plans_of_segments(void) {
  enum { kSegments = 200, kTaken = 700 };
  static int32_t cuts[kSegments + 1];
  static uint16_t which[kTaken];
  static float in[kSegments * 40], out[kTaken * 40 + 3], expected[kTaken * 40];
  static int64_t wanted_begins[kTaken + 1], begins[kTaken + 1];
  for (int s = 0; s < kSegments; ++s) cuts[s + 1] = cuts[s] + (s * 7919 + 3) % 41 % (s % 5 == 0 ? 1 : 41);
  for (int i = 0; i < kSegments * 40; ++i) in[i] = (float)i;
  for (int i = 0; i < kTaken; ++i) {
    which[i] = (uint16_t)(i * 31 % kSegments);
    const int32_t begin = cuts[which[i]], end = cuts[which[i] + 1];
    for (int32_t e = begin; e < end; ++e) expected[wanted_begins[i] + e - begin] = in[e];
    wanted_begins[i + 1] = wanted_begins[i] + end - begin;
  }
  const uint64_t all = (uint64_t)wanted_begins[kTaken], bytes = all * sizeof(float);
  const faro_rows of = {cuts, kSegments + 1, 4, 1, 0, 0, 0, 0}, by = {which, kTaken, 2, 0, 0, 0, 0, 0};
  const uint64_t in_bytes = (uint64_t)cuts[kSegments] * sizeof(float);
  faro_segments_plan* plan = NULL;
  EXPECT(faro_segments_plan_make(&of, &by, sizeof(float), NULL, &plan) == FARO_OK);
  uint64_t elements = 0, workspace = 9;
  EXPECT(faro_segments_plan_elements(plan, &elements) == FARO_OK && elements == all);
  EXPECT(faro_segments_plan_workspace_bytes(plan, &workspace) == FARO_OK && workspace == 0);
  EXPECT(faro_segments_plan_offsets(plan, in_bytes, begins, NULL) == FARO_OK);
  EXPECT(memcmp(begins, wanted_begins, sizeof begins) == 0);
  memset(begins, 0, sizeof begins);
  for (uint64_t i = 0; i < all + 3; ++i) out[i] = -1;
  which[0] = 60000; /* not read again */
  EXPECT(faro_segments_plan_run(plan, in, in_bytes, out, bytes + 3 * sizeof(float), begins, NULL, 0, NULL) == FARO_OK);
  EXPECT(memcmp(out, expected, bytes) == 0 && out[all] == -1 && out[all + 2] == -1);
  EXPECT(memcmp(begins, wanted_begins, sizeof begins) == 0);
  EXPECT(faro_segments_plan_check(plan, NULL) == FARO_OK);
  for (uint64_t i = 0; i < all; ++i) out[i] = -1;
  EXPECT(faro_segments_plan_run(plan, in, in_bytes, out, bytes - sizeof(float), NULL, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_segments_plan_run(plan, in, in_bytes - sizeof(float), out, bytes, NULL, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_segments_plan_run(plan, in, in_bytes, out, bytes + 1, NULL, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_segments_plan_run(plan, in, in_bytes, in, in_bytes + bytes, NULL, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_segments_plan_run(plan, NULL, in_bytes, out, bytes, NULL, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_segments_plan_run(plan, in, in_bytes, out, bytes, NULL, out, 64, NULL) == FARO_VALUE);
  EXPECT(out[0] == -1);
  EXPECT(faro_segments_plan_offsets(plan, in_bytes - sizeof(float), begins, NULL) == FARO_VALUE);
  EXPECT(faro_segments_plan_offsets(plan, in_bytes, NULL, NULL) == FARO_VALUE);
  faro_segments_plan_destroy(plan);
  faro_segments_plan* refused = NULL;
  EXPECT(faro_segments_plan_make(&of, &by, sizeof(float), NULL, &refused) == FARO_VALUE && refused == NULL);
  EXPECT(strstr(faro_last_message(), "60000") != NULL);
  EXPECT(faro_segments_plan_make(NULL, &by, sizeof(float), NULL, &refused) == FARO_VALUE);
  EXPECT(faro_segments_plan_make(&of, &by, 0, NULL, &refused) == FARO_VALUE && refused == NULL);
  EXPECT(faro_segments_plan_elements(NULL, &elements) == FARO_VALUE);
  faro_segments_plan_destroy(NULL);
}

/* A table's columns, of rows of different widths, by one plan; and what is refused before anything is written. */
static void test_columns(void) {
  enum { kRows = 100, kTaken = 250 };
  static unsigned char bytes_in[kRows], bytes_out[kTaken];
  static double numbers_in[kRows * 3], numbers_out[kTaken * 3];
  static int16_t shorts_in[kRows], shorts_out[kTaken];
  static int32_t from[kTaken];
  for (int i = 0; i < kRows; ++i) {
    bytes_in[i] = (unsigned char)(i * 37);
    shorts_in[i] = (int16_t)(i * 321);
    for (int k = 0; k < 3; ++k) numbers_in[3 * i + k] = 10.0 * i + k;
  }
  for (int i = 0; i < kTaken; ++i) from[i] = i % 11 == 5 ? -1 : i * 71 % kRows;
  const faro_rows rows = {from, kTaken, 4, 1, kRows, 1, 1, 0};
  const unsigned char zero = 0;
  faro_row_plan* plan = NULL;
  EXPECT(faro_row_plan_take(&rows, &zero, 1, NULL, &plan) == FARO_OK);
  const faro_row_column columns[3] = {
      {bytes_in, bytes_out, 1}, {numbers_in, numbers_out, 3 * sizeof(double)}, {shorts_in, shorts_out, 2}};
  memset(bytes_out, 7, sizeof bytes_out);
  EXPECT(faro_row_plan_run_columns(plan, NULL, columns, 3, NULL, 0, NULL) == FARO_OK);
  for (int i = 0; i < kTaken; ++i) {
    const int row = from[i];
    EXPECT(bytes_out[i] == (row < 0 ? 0 : bytes_in[row]) && shorts_out[i] == (row < 0 ? 0 : shorts_in[row]));
    for (int k = 0; k < 3; ++k) EXPECT(numbers_out[3 * i + k] == (row < 0 ? 0 : numbers_in[3 * row + k]));
  }
  EXPECT(faro_row_plan_run_columns(plan, NULL, NULL, 0, NULL, 0, NULL) == FARO_OK);
  EXPECT(faro_row_plan_run_columns(plan, NULL, NULL, 1, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_row_plan_run_columns(NULL, NULL, columns, 3, NULL, 0, NULL) == FARO_VALUE);
  memset(bytes_out, 7, sizeof bytes_out);
  const faro_row_column wrong[6] = {{shorts_in, NULL, 2},      {NULL, shorts_out, 2},        {shorts_in, shorts_out, 0},
                                    {shorts_in, bytes_out, 1}, {shorts_in, numbers_in, 2}, {shorts_in, shorts_out, ~(uint64_t)0}};
  for (int w = 0; w < 6; ++w) {
    const faro_row_column both[3] = {columns[0], wrong[w], columns[1]};
    EXPECT(faro_row_plan_run_columns(plan, NULL, both, 3, NULL, 0, NULL) == FARO_VALUE);
    EXPECT(bytes_out[0] == 7 && bytes_out[kTaken - 1] == 7);
  }
  EXPECT(faro_row_plan_run_columns(plan, NULL, columns, 3, shorts_out, 64, NULL) == FARO_VALUE);
  EXPECT(faro_row_plan_run_columns(plan, from + 1, columns, 3, NULL, 0, NULL) == FARO_UNSUPPORTED);
  faro_row_plan_destroy(plan);

  /* Sums: columns of one and of two numbers a row. */
  const uint8_t to[4] = {2, 0, 2, 1};
  const float one[4] = {1, 2, 3, 4}, two[8] = {1, 10, 2, 20, 3, 30, 4, 40};
  float sums[3] = {0}, pairs[6] = {0};
  const faro_rows added = {to, 4, 1, 0, 3, 1, sizeof(float), 0};
  const faro_row_column sum[2] = {{one, sums, sizeof(float)}, {two, pairs, 2 * sizeof(float)}};
  EXPECT(faro_row_plan_add(&added, FARO_F32, FARO_SUMS_USUAL, NULL, &plan) == FARO_OK);
  EXPECT(faro_row_plan_run_columns(plan, NULL, sum, 2, NULL, 0, NULL) == FARO_OK);
  EXPECT(sums[0] == 2 && sums[1] == 4 && sums[2] == 4);
  EXPECT(pairs[0] == 2 && pairs[1] == 20 && pairs[2] == 4 && pairs[3] == 40 && pairs[4] == 4 && pairs[5] == 40);
  const faro_row_column halves[2] = {sum[0], {two, pairs, 6}};
  EXPECT(faro_row_plan_run_columns(plan, NULL, halves, 2, NULL, 0, NULL) == FARO_VALUE && sums[0] == 2);
  faro_row_plan_destroy(plan);
}

/* Rows sent to their places, and automorphisms of polynomials modulo X^n + 1, on the host. */
static void test_dispatches_and_automorphisms(void) {
  const int64_t places[4] = {0, 3, 4, -1}, taken[6] = {0, -1, -1, 0, 1, -1};
  const float rows_in[2] = {1, 10};
  float sent[6] = {7, 7, 7, 7, 7, 7};
  const faro_rows to = {places, 4, 8, 1, 6, 1, sizeof(float), 0}, from = {taken, 6, 8, 1, 0, 0, 0, 0};
  EXPECT(faro_dispatch(&to, 2, NULL, rows_in, sent) == FARO_OK);
  const float kept[6] = {1, 7, 7, 1, 10, 7}, zeros[6] = {1, 0, 0, 1, 10, 0};
  EXPECT(memcmp(sent, kept, sizeof kept) == 0);
  EXPECT(faro_dispatch(&to, 2, &from, rows_in, sent) == FARO_OK && memcmp(sent, zeros, sizeof zeros) == 0);
  EXPECT(faro_dispatch(&to, 3, NULL, rows_in, sent) == FARO_VALUE && faro_dispatch(&to, 0, NULL, rows_in, sent) == FARO_VALUE);
  EXPECT(faro_dispatch(NULL, 2, NULL, rows_in, sent) == FARO_VALUE && faro_dispatch(&to, 2, NULL, NULL, sent) == FARO_VALUE);
  const int64_t twice[4] = {0, 3, 3, -1};
  const faro_rows wrong = {twice, 4, 8, 1, 6, 1, sizeof(float), 0};
  EXPECT(faro_dispatch(&wrong, 2, NULL, rows_in, sent) == FARO_VALUE && memcmp(sent, zeros, sizeof zeros) == 0);
  faro_dispatch_plan* plan = NULL;
  EXPECT(faro_dispatch_plan_make(&to, 3, NULL, 0, &plan) == FARO_VALUE && plan == NULL);
  EXPECT(faro_dispatch_plan_run(NULL, rows_in, sent, NULL) == FARO_VALUE);
  faro_dispatch_plan_destroy(NULL);
  uint64_t bytes = 0;
  const faro_device_route nowhere = {0};
  EXPECT(faro_route_plan_run_in_workspace(NULL, &nowhere, NULL, 0, NULL) == FARO_VALUE);
  EXPECT(faro_route_plan_workspace_bytes(NULL, &bytes) == FARO_VALUE && bytes == 0);

  enum { kTerms = 12 };
  int32_t in[2 * kTerms], out[2 * kTerms];
  for (int i = 0; i < 2 * kTerms; ++i) in[i] = i + 1;
  EXPECT(faro_permute_negacyclic(kTerms, 7, FARO_I32, 0, in, out, sizeof in, NULL, NULL) == FARO_OK);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < kTerms; ++i)
      EXPECT(out[b * kTerms + 7 * i % kTerms] == (7 * i % (2 * kTerms) < kTerms ? 1 : -1) * in[b * kTerms + i]);
  EXPECT(faro_permute_negacyclic(kTerms, 3, FARO_I32, 0, in, out, sizeof in, NULL, NULL) == FARO_VALUE);
  EXPECT(strstr(faro_last_message(), "3") != NULL);
  EXPECT(faro_permute_negacyclic(kTerms, 7, FARO_I32, 5, in, out, sizeof in, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_permute_negacyclic(kTerms, 7, (faro_number)99, 0, in, out, sizeof in, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_permute_negacyclic(kTerms, 7, FARO_I32, 0, in, out, 20, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_permute_negacyclic(kTerms, 7, FARO_I32, 0, in, in, sizeof in, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_permute_negacyclic(kTerms, 7, FARO_I32, 0, NULL, out, sizeof in, NULL, NULL) == FARO_VALUE);
  const uint64_t primes[3] = {97, 193, 257};
  uint32_t residues[2 * kTerms], turned[2 * kTerms];
  for (int i = 0; i < 2 * kTerms; ++i) residues[i] = (uint32_t)i;
  EXPECT(faro_permute_negacyclic_moduli(kTerms, 7, FARO_U32, primes, 2, residues, turned, sizeof turned, NULL, NULL) == FARO_OK);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < kTerms; ++i) {
      const uint32_t x = residues[b * kTerms + i];
      EXPECT(turned[b * kTerms + 7 * i % kTerms] == (7 * i % (2 * kTerms) < kTerms || x == 0 ? x : primes[b] - x));
    }
  EXPECT(faro_permute_negacyclic_moduli(kTerms, 7, FARO_U32, primes, 3, residues, turned, sizeof turned, NULL, NULL) == FARO_VALUE);
  EXPECT(strstr(faro_last_message(), "3 moduli") != NULL);
  EXPECT(faro_permute_negacyclic_moduli(kTerms, 7, FARO_U32, NULL, 2, residues, turned, sizeof turned, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_permute_negacyclic_moduli(kTerms, 7, FARO_I32, primes, 2, residues, turned, sizeof turned, NULL, NULL) == FARO_VALUE);
  /* Values at odd powers: place p has that at 2 rev(p) + 1. */
  const int at[4] = {1, 5, 3, 7};
  EXPECT(faro_permute_evaluations(4, 3, sizeof(int32_t), in, out, 4 * sizeof(int32_t), NULL, NULL) == FARO_OK);
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q)
      if (at[q] == 3 * at[p] % 8) EXPECT(out[p] == in[q]);
  EXPECT(faro_permute_evaluations(6, 5, 4, in, out, 24, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_permute_evaluations(4, 2, 4, in, out, 16, NULL, NULL) == FARO_VALUE);
}

/* Entries of every width and byte order, few and many; and rows that stay as they were. */
static void test_entries_of_rows(void) {
  enum { kRows = 100, kTaken = 3000 };
  static double in[kRows], out[kTaken], sums[kRows];
  static unsigned char entries[8 * kTaken];
  for (int i = 0; i < kRows; ++i) in[i] = i + 0.5;
  for (int bytes = 1; bytes <= 8; bytes *= 2) {
    for (int kind = 0; kind < 4; ++kind) {
      const int is_signed = kind & 1;
      const int is_big = kind >> 1;
      for (uint64_t count = 40; count <= kTaken; count += kTaken - 40) {
        for (uint64_t i = 0; i < count; ++i) {
          const uint64_t entry = is_signed && i % 9 == 4 ? ~(uint64_t)0 : i * 37 % kRows;
          for (int b = 0; b < bytes; ++b)
            entries[i * (uint64_t)bytes + (uint64_t)(is_big ? bytes - 1 - b : b)] =
                (unsigned char)(entry >> 8 * b);
        }
        const faro_rows rows = {entries, count, bytes,          is_signed | (is_big ? FARO_BIG_ENDIAN : 0),
                                kRows,   1,     sizeof(double), 0};
        for (int i = 0; i < kTaken; ++i) out[i] = -1;
        const double seven = 7;
        EXPECT(faro_take(&rows, NULL, 0, in, out) == (is_signed ? FARO_VALUE : FARO_OK));
        EXPECT(faro_take(&rows, &seven, 0, in, out) == FARO_OK);
        for (uint64_t i = 0; i < count; ++i)
          EXPECT(out[i] == (is_signed && i % 9 == 4 ? -1 : in[i * 37 % kRows]));
        EXPECT(faro_take(&rows, &seven, sizeof seven, in, out) == FARO_OK);
        for (uint64_t i = 0; i < count; ++i)
          EXPECT(out[i] == (is_signed && i % 9 == 4 ? 7 : in[i * 37 % kRows]));
        double expected[kRows] = {0};
        for (int i = 0; i < kRows; ++i) sums[i] = 0;
        for (uint64_t i = 0; i < count; ++i)
          if (!is_signed || i % 9 != 4) expected[i * 37 % kRows] += out[i];
        EXPECT(faro_add(&rows, FARO_F64, FARO_SUMS_USUAL, out, sums) == FARO_OK);
        EXPECT(memcmp(sums, expected, sizeof sums) == 0);
        const faro_route_options options = {.buckets = kRows, .capacity = -1};
        faro_routing* routing = NULL;
        const int64_t* list = NULL;
        uint64_t number = 0;
        EXPECT(faro_route(entries, count, bytes, rows.is_signed, &options, &routing) == FARO_OK);
        EXPECT(faro_route_get(routing, FARO_ROUTE_INVERSE, &list, &number) == FARO_OK);
        for (uint64_t p = 1; p < number; ++p) EXPECT(list[p - 1] * 37 % kRows <= list[p] * 37 % kRows);
        faro_route_destroy(routing);
      }
    }
  }
}

/* Few rows go without a plan, many and all plans of rows with one: both say the same. */
static void test_plans_of_rows(void) {
  enum { kRows = 300, kTaken = 5000 };
  static uint32_t in[kRows], out[kTaken], again[kTaken];
  static uint64_t from[kTaken];
  for (uint32_t i = 0; i < kRows; ++i) in[i] = i * 2654435761u;
  for (uint64_t i = 0; i < kTaken; ++i) from[i] = (i * 7919) % kRows;
  for (uint64_t count = 0; count <= kTaken; count = count * 3 + 1) {
    const faro_rows rows = {from, count, 8, 0, kRows, 1, sizeof(uint32_t), 0};
    memset(out, 0x55, sizeof out);
    memset(again, 0x55, sizeof again);
    EXPECT(faro_take(&rows, NULL, 0, in, out) == FARO_OK);
    for (uint64_t i = 0; i < count; ++i) EXPECT(out[i] == in[from[i]]);
    EXPECT(count == kTaken || out[count] == 0x55555555u);
    EXPECT(faro_take_new(&rows, NULL, 0, in, again) == FARO_OK && memcmp(out, again, sizeof out) == 0);
    memset(again, 0x55, sizeof again);
    faro_row_plan* plan = NULL;
    EXPECT(faro_row_plan_take(&rows, NULL, 0, NULL, &plan) == FARO_OK);
    EXPECT(faro_row_plan_run(plan, NULL, in, again, NULL) == FARO_OK);
    EXPECT(memcmp(out, again, sizeof out) == 0);
    EXPECT(faro_row_plan_check(plan, NULL) == FARO_OK);
    faro_row_plan_destroy(plan);
  }
  /* What a plan refuses is refused of few rows, too, and nothing is written. */
  const int32_t wrong[3] = {0, 300, 1};
  const int32_t absent[2] = {0, -1};
  faro_rows few = {wrong, 3, 4, 1, kRows, 1, sizeof(uint32_t), 0};
  memset(out, 0x55, sizeof out);
  EXPECT(faro_take(&few, NULL, 0, in, out) == FARO_VALUE && strstr(faro_last_message(), "300") != NULL);
  EXPECT(out[0] == 0x55555555u);
  few.entries = absent;
  few.count = 2;
  EXPECT(faro_take(&few, NULL, 0, in, out) == FARO_VALUE && out[0] == 0x55555555u);
  const int32_t fine[2] = {1, 0};
  few.entries = fine;
  EXPECT(faro_take(&few, NULL, 0, in, in) == FARO_VALUE); /* overlapping */
  EXPECT(faro_take(&few, NULL, 0, NULL, out) == FARO_VALUE);
  EXPECT(faro_take_new(&few, NULL, 0, in, in) == FARO_VALUE);
  from[kTaken - 1] = kRows;
  const faro_rows late = {from, kTaken, 8, 0, kRows, 1, sizeof(uint32_t), 0};
  EXPECT(faro_take_new(&late, NULL, 0, in, again) == FARO_VALUE && strstr(faro_last_message(), "at position") != NULL);
  few.entry_bytes = 3;
  EXPECT(faro_take(&few, NULL, 0, in, out) == FARO_VALUE);

  const int64_t to[4] = {2, 0, 2, 1};
  const float values[4] = {1, 2, 3, 4};
  float sums[3] = {10, 20, 30};
  const faro_rows added = {to, 4, 8, 1, 3, 1, sizeof(float), 0};
  faro_row_plan* plan = NULL;
  EXPECT(faro_row_plan_put(&added, NULL, &plan) == FARO_VALUE && plan == NULL); /* two go to row 2 */
  EXPECT(faro_row_plan_add(&added, FARO_F32, FARO_SUMS_USUAL, NULL, &plan) == FARO_OK);
  EXPECT(faro_row_plan_run(plan, NULL, values, sums, NULL) == FARO_OK);
  EXPECT(sums[0] == 12 && sums[1] == 24 && sums[2] == 34);
  /* On the host nothing is lent. */
  uint64_t lent_bytes = 7;
  EXPECT(faro_row_plan_workspace_bytes(plan, &lent_bytes) == FARO_OK && lent_bytes == 0);
  EXPECT(faro_row_plan_run_in_workspace(plan, NULL, values, sums, NULL, 0, NULL) == FARO_OK);
  EXPECT(faro_row_plan_run_in_workspace(plan, NULL, values, sums, &lent_bytes, 8, NULL) == FARO_VALUE);
  EXPECT(faro_row_plan_run_in_workspace(NULL, NULL, values, sums, NULL, 0, NULL) == FARO_VALUE);
  /* Entries elsewhere are a GPU's. */
  const int64_t other[4] = {0, 0, 0, 0};
  EXPECT(faro_row_plan_run(plan, other, values, sums, NULL) == FARO_UNSUPPORTED);
  char* text = NULL;
  EXPECT(faro_row_plan_explain(plan, &text) == FARO_OK && strlen(text) > 0);
  faro_free(text);
  faro_row_plan_destroy(plan);
  faro_row_plan_destroy(NULL);
  EXPECT(faro_row_plan_run(NULL, NULL, values, sums, NULL) == FARO_VALUE);
  int available = 0, device = 7;
  EXPECT(faro_cuda_status(&available, NULL) == FARO_OK);
  EXPECT(faro_cuda_device(&device) == (available ? FARO_OK : FARO_DEVICE));

  /* Routings of a device refuse what is the host's, with a GPU or without. */
  const int32_t keys[3] = {0, 1, 0};
  const faro_route_options two = {.buckets = 2, .keys_per_row = 1, .multiple = 1, .capacity = -1};
  faro_route_plan* route = NULL;
  EXPECT(faro_route_plan_make(keys, 3, 4, 1, &two, 0, &route) == (available ? FARO_VALUE : FARO_DEVICE) && route == NULL);
  EXPECT(faro_route_plan_make(keys, 3, 3, 1, &two, 0, &route) == FARO_VALUE);
  EXPECT(faro_route_plan_run(route, NULL, NULL) == FARO_VALUE);
  faro_route_plan_destroy(NULL);
  faro_combine_plan* combine = NULL;
  EXPECT(faro_combine_plan_make(&added, 2, NULL, FARO_F32, FARO_SUMS_USUAL, 0, &combine) ==
             (available ? FARO_VALUE : FARO_DEVICE) && combine == NULL);
  EXPECT(faro_combine_plan_make(&added, 3, NULL, FARO_F32, FARO_SUMS_USUAL, 0, &combine) == FARO_VALUE);
  faro_combine_plan_destroy(NULL);
}

static int told = 0;
static int stop_at_once(void* context, uint64_t done_bytes, uint64_t total_bytes) {
  ++told;
  return *(int*)context && total_bytes >= done_bytes;
}

static void write_numbers(const char* path) {
  FILE* const file = fopen(path, "wb");
  for (uint32_t i = 0; i < kCount; ++i) fwrite(&i, sizeof i, 1, file);
  fclose(file);
}

/* An index array: entry i is kCount - 1 - i. */
static void write_index(const char* path) {
  char header[128];
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  const char* const dictionary = "{'descr': '<u4', 'fortran_order': False, 'shape': (1024,), }";
  memcpy(header + 10, dictionary, strlen(dictionary));
  header[127] = '\n';
  FILE* const file = fopen(path, "wb");
  fwrite(header, sizeof header, 1, file);
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t entry = kCount - 1 - i;
    fwrite(&entry, sizeof entry, 1, file);
  }
  fclose(file);
}

static uint32_t number_at(const char* path, uint64_t index) {
  uint32_t number = 77777;
  FILE* const file = fopen(path, "rb");
  if (file == NULL) return number;
  fseek(file, (long)(index * sizeof number), SEEK_SET);
  if (fread(&number, sizeof number, 1, file) != 1) number = 77777;
  fclose(file);
  return number;
}

static void test_files(const char* folder) {
  char in[512], out[512];
  snprintf(in, sizeof in, "%s/numbers", folder);
  snprintf(out, sizeof out, "%s/permuted", folder);
  write_numbers(in);
  const faro_file from = {in, 0, NULL}, to = {out, 0, NULL};
  faro_map* map = NULL;
  EXPECT(faro_map_parse("compose(gray(10), bit_reversal(10))", 0, NULL, &map) == FARO_OK);
  int stops = 0, finished = 0, in_part = 7;
  faro_file_options options;
  memset(&options, 0, sizeof options);
  options.memory_bytes = 1500;
  options.verify = 1;
  options.progress = stop_at_once;
  options.context = &stops;
  EXPECT(faro_file_permute(map, 4, 1, &from, &to, &options, &finished) == FARO_OK && finished == 1 && told > 0);
  for (uint32_t x = 0; x < kCount; ++x) {
    uint64_t image = 0;
    EXPECT(faro_map_apply(map, x, &image) == FARO_OK && number_at(out, image) == x);
  }
  EXPECT(faro_file_permute(map, 4, 2, &from, &to, &options, &finished) == FARO_FILE); /* too short */
  EXPECT(faro_file_permute(map, 4, 1, &from, NULL, &options, &finished) == FARO_VALUE);
  EXPECT(faro_file_permute(map, 4, 1, &from, &from, NULL, NULL) == FARO_VALUE);
  options.io = (faro_io)9;
  EXPECT(faro_file_permute(map, 4, 1, &from, &to, &options, &finished) == FARO_VALUE);
  options.io = FARO_IO_AUTO;
  EXPECT(faro_file_shuffle(kCount, 4, 5, 0, &from, &to, &options, &finished) == FARO_OK && finished == 1);
  EXPECT(number_at(out, 0) != 0 || number_at(out, 1) != 1);

  char index[512], text[600];
  snprintf(index, sizeof index, "%s/index.npy", folder);
  snprintf(text, sizeof text, "compose(gray(10), gather(@\"%s\"))", index);
  write_index(index);
  options.memory_bytes = 3000;
  EXPECT(faro_file_permute_by_index(text, 4, 1, &from, &to, &options, &finished) == FARO_OK && finished == 1);
  for (uint32_t x = 0; x < kCount; ++x) {
    const uint32_t place = kCount - 1 - x;
    EXPECT(number_at(out, place ^ place >> 1) == x);
  }
  EXPECT(faro_file_permute_by_index("gray(10)", 4, 1, &from, &to, &options, &finished) == FARO_VALUE);
  EXPECT(faro_file_permute_by_index(NULL, 4, 1, &from, &to, &options, &finished) == FARO_VALUE);

  uint64_t in_bytes = 0, out_bytes = 0;
  const uint8_t nibbles[4] = {0x10, 0x32, 0x54, 0x76};
  uint8_t packed[4] = {0};
  faro_map* eight = NULL;
  EXPECT(faro_map_parse("reverse(3)", 0, NULL, &eight) == FARO_OK);
  EXPECT(faro_packed_bytes(eight, "{\"bits\": 2, \"out_row\": 2, \"out_pitch_bits\": 32}", &in_bytes, &out_bytes) == FARO_OK);
  EXPECT(in_bytes == 2 && out_bytes == 16);
  EXPECT(faro_packed_permute(eight, NULL, nibbles, 4, packed, 4, NULL) == FARO_OK && packed[0] == 0x67 && packed[3] == 0x01);
  EXPECT(faro_packed_permute(eight, NULL, packed, 4, packed, 4, NULL) == FARO_OK && memcmp(packed, nibbles, 4) == 0);
  EXPECT(faro_packed_permute(eight, NULL, nibbles, 4, packed, 3, NULL) == FARO_VALUE);
  EXPECT(faro_packed_permute(eight, "{\"in_order\": \"up\"}", nibbles, 4, packed, 4, NULL) == FARO_VALUE);
  EXPECT(faro_packed_permute(eight, "{\"engine\": \"gpu\"}", nibbles, 4, packed, 4, NULL) == FARO_VALUE);
  EXPECT(faro_packed_permute(eight, "{\"engine\": \"cpu\"}", nibbles, 4, packed, 4, packed) == FARO_VALUE); /* a stream */
  EXPECT(faro_packed_bytes(eight, "{\"bit\": 2}", &in_bytes, &out_bytes) == FARO_SPEC);
  EXPECT(faro_transpose_bed("none.bed", "out.bed", 1, 1, NULL) == FARO_FILE);
  faro_map_destroy(eight);

  char store[512], back[512], *json = NULL;
  snprintf(store, sizeof store, "%s/index.zarr", folder);
  snprintf(back, sizeof back, "%s/back.npy", folder);
  EXPECT(faro_store_arrays(index, &json) == FARO_OK && strstr(json, "\"shape\":[1024]") != NULL);
  faro_free(json);
  EXPECT(faro_store_relayout(index, store, "{\"chunks\": [100], \"codec\": \"none\"}", NULL, NULL, &json) == FARO_OK);
  EXPECT(strstr(json, "\"finished\":true") != NULL);
  faro_free(json);
  EXPECT(faro_store_relayout(store, back, NULL, NULL, NULL, &json) == FARO_OK);
  faro_free(json);
  EXPECT(faro_store_relayout(index, store, "{\"chunk\": [100]}", NULL, NULL, &json) == FARO_SPEC);
  EXPECT(faro_store_relayout(index, store, NULL, NULL, NULL, &json) == FARO_FILE); /* there already */
  snprintf(store, sizeof store, "%s/nested.zarr", folder);
  EXPECT(faro_store_relayout(index, store, "{\"chunks\": [10], \"shards\": [200], \"inner_shards\": [[100], [50]]}", NULL, NULL, &json) == FARO_OK);
  EXPECT(strstr(json, "\"shards\":[200]") != NULL && strstr(json, "\"chunks\":[10]") != NULL);
  faro_free(json);
  EXPECT(faro_store_relayout(store, back, NULL, NULL, NULL, &json) == FARO_OK);
  faro_free(json);
  EXPECT(faro_store_relayout(index, store, "{\"inner_shards\": [100]}", NULL, NULL, &json) == FARO_VALUE);
  EXPECT(faro_store_relayout(back, store, "{\"raw_dtype\": \"u1\", \"raw_shape\": [8], \"raw_offset\": 100000}", NULL, NULL, &json) == FARO_FILE);
  EXPECT(faro_checkpoint("{\"rules\": []}", "none", "out", NULL, NULL, NULL, &json) == FARO_FILE);
  EXPECT(faro_checkpoint("[]", "none", "out", NULL, NULL, NULL, &json) == FARO_FILE);
  EXPECT(faro_checkpoint(NULL, "none", "out", NULL, NULL, NULL, &json) == FARO_VALUE);
  EXPECT(faro_store_arrays("none.zarr", &json) == FARO_FILE && faro_store_arrays(NULL, &json) == FARO_VALUE);
  options.memory_bytes = 1500;

  options.verify = 0;
  EXPECT(faro_file_permute_in_place(map, 4, 1, &from, &options, &finished) == FARO_OK && finished == 1);
  EXPECT(number_at(in, reversed(1, kBits) ^ reversed(1, kBits) >> 1) == 1);
  write_numbers(in);
  stops = 1;
  EXPECT(faro_file_permute_in_place(map, 4, 1, &from, &options, &finished) == FARO_OK && finished == 0);
  EXPECT(faro_file_is_permuted_in_part(in, &in_part) == FARO_OK);
  if (in_part) EXPECT(faro_file_recover(in, 1, NULL, &finished) == FARO_OK && finished == 1);
  EXPECT(faro_file_is_permuted_in_part(in, &in_part) == FARO_OK && in_part == 0);
  for (uint32_t x = 0; x < kCount; ++x) EXPECT(number_at(in, x) == x);
  EXPECT(faro_file_recover(in, 1, NULL, &finished) == FARO_FILE);
  faro_map_destroy(map);
}

static void test_the_rest(void) {
  char* text = NULL;
  EXPECT(faro_layout(32, 32, 4, "row,column", 0, &text) == FARO_OK && strstr(text, "\"worst\": 1") != NULL);
  faro_free(text);
  EXPECT(faro_layout(32, 32, 4, "rwo", 0, &text) != FARO_OK);
  faro_map* map = NULL;
  EXPECT(faro_map_parse("bit_reversal(15)", 0, NULL, &map) == FARO_OK);
  EXPECT(faro_emit(map, "{\"kernel\": \"banks\", \"name\": \"turn\"}", &text) == FARO_OK);
  EXPECT(strstr(text, "__global__") != NULL && strstr(text, "turn(") != NULL);
  faro_free(text);
  EXPECT(faro_emit(map, "{\"kernl\": \"banks\"}", &text) == FARO_SPEC && strstr(faro_last_message(), "kernel") != NULL);
  EXPECT(faro_emit(map, "[", &text) == FARO_SPEC);
  EXPECT(faro_emit(map, "{\"n_tile\": -1}", &text) == FARO_VALUE);
  faro_map_destroy(map);
}

static int go_on(void* asked) {
  ++*(int*)asked;
  return 1;
}
static int stop(void* asked) {
  ++*(int*)asked;
  return 0;
}

#ifndef FARO_WITHOUT_PAPERS
static void test_simulate(void) {
  char* text = NULL;
  EXPECT(faro_simulate("{\"program\": \"transpose-diagonal\", \"width\": 4, \"latency\": 5, \"threads\": 16, \"n\": 16}",
                       &text) == FARO_OK);
  EXPECT(strstr(text, "\"time\": 16") != NULL);
  faro_free(text);
  EXPECT(faro_simulate("{\"program\": \"copy\", \"machine\": \"pmm\"}", &text) == FARO_VALUE);
  EXPECT(faro_simulate(NULL, &text) == FARO_VALUE);
}
#endif

#ifndef FARO_WITHOUT_SWIZZLE
static void test_synth(void) {
  char* text = NULL;
  int asked = 0;
  EXPECT(faro_synth("{\"example\": \"aos-crc\", \"struct\": 3, \"warp\": 8, \"all\": true,"
                    " \"emit\": {\"name\": \"crc\", \"element\": \"float\", \"batch\": 0, \"image\": false,"
                    " \"device_function\": false}}", go_on, &asked, &text) == FARO_OK);
  EXPECT(text != NULL && strstr(text, "\"outcome\":\"found\"") != NULL && strstr(text, "crc(") != NULL);
  faro_free(text);
  /* A copy of four elements by a sketch of one's own: one way, for there is no hole. */
  const char* const copy =
      "{\"name\": \"copy\", \"specification\": {\"arrays\": [{\"name\": \"I\", \"kind\": \"input\", \"size\": 4},"
      " {\"name\": \"O\", \"kind\": \"output\", \"size\": 4}], \"wanted\": {\"O\": [[0, [\"I\", 0]], [1, [\"I\", 1]],"
      " [2, [\"I\", 2]], [3, [\"I\", 3]]]}}, \"sketch\": {\"warp\": 4, \"warps\": 1, \"blocks\": 1, \"declarations\":"
      " [{\"kind\": \"registers\", \"name\": \"x\", \"size\": 1}], \"statements\": [[\"load\", [0, 0], 0, [\"lane\"], 1],"
      " [\"store\", 1, [\"lane\"], [0, 0], 1]]}}";
  EXPECT(faro_synth(copy, NULL, NULL, &text) == FARO_OK && strstr(text, "\"outcome\":\"found\"") != NULL);
  faro_free(text);
  text = NULL;
  EXPECT(faro_synth("{\"example\": \"aos-crk\"}", NULL, NULL, &text) == FARO_VALUE && text == NULL);
  EXPECT(faro_synth("{\"exmple\": \"aos-crc\"}", NULL, NULL, &text) == FARO_SPEC);
  EXPECT(faro_synth("{", NULL, NULL, &text) == FARO_SPEC);
  EXPECT(faro_synth(NULL, NULL, NULL, &text) == FARO_VALUE && text == NULL);
  EXPECT(faro_synth("{\"example\": \"poly-64\", \"space\": \"extra\"}", stop, &asked, &text) == FARO_USAGE);
  EXPECT(asked > 0 && strstr(faro_last_message(), "stopped") != NULL && text == NULL);
}

static void test_layouts(void) {
  char* text = NULL;
  EXPECT(faro_layout_convert("mma.m16n8.C", "mma.m16n8k8.A", NULL, &text) == FARO_OK);
  EXPECT(text != NULL && strstr(text, "\"shuffles\":4") != NULL && strstr(text, "\"code\":null") != NULL);
  faro_free(text);
  EXPECT(faro_layout_convert("ldmatrix.x4", "ldmatrix.x4.trans", "{\"element\": 16, \"name\": \"turn\", \"way\": \"shared\"}",
                             &text) == FARO_OK);
  EXPECT(text != NULL && strstr(text, "void turn(") != NULL && strstr(text, "stmatrix") != NULL);
  faro_free(text);
  text = NULL;
  EXPECT(faro_layout_convert("mma.m16n8.C", "mma.m16n8k4.A", NULL, &text) == FARO_VALUE && text == NULL);
  EXPECT(faro_layout_convert("mma.m16n8.C", "mma.m16n8.C", "{\"elemnt\": 16}", &text) == FARO_SPEC);
  EXPECT(faro_layout_convert("mma.m16n8.C", "mma.m16n8.C", "{\"element\": 12}", &text) == FARO_VALUE);
  EXPECT(faro_layout_convert("mma.m16n8.C", "mma.m16n8.C", "{\"name\": \"1\"}", &text) == FARO_VALUE);
  EXPECT(faro_layout_convert("mma.m16n8.C", "mma.m16n8.C", "{\"way\": \"air\"}", &text) == FARO_VALUE);
  EXPECT(faro_layout_convert(NULL, "mma.m16n8.C", NULL, &text) == FARO_VALUE && text == NULL);
  EXPECT(faro_layout_check("contiguous(4)", "[\"4 * lane + i\"]", 32, &text) == FARO_OK);
  EXPECT(text != NULL && strstr(text, "\"agrees\": true") != NULL);
  faro_free(text);
  EXPECT(faro_layout_check("contiguous(4)", "[\"4 * lane + i / 2\"]", 32, &text) == FARO_OK);
  EXPECT(text != NULL && strstr(text, "\"agrees\": false") != NULL);
  faro_free(text);
  text = NULL;
  EXPECT(faro_layout_check("contiguous(4)", "[4]", 32, &text) == FARO_SPEC && text == NULL);
  EXPECT(faro_layout_check("contiguous(4)", "[\"lane +\"]", 32, &text) == FARO_SPEC);
}

#endif

/* A failure is its thread's own. */
static void test_ending(void) {
  enum { kBytes = 1 << 28 };
  unsigned char* const in = calloc(kBytes, 1);
  unsigned char* const out = calloc(kBytes, 1);
  in[1] = 7;
  faro_options options;
  memset(&options, 0, sizeof options);
  options.engine = FARO_CPU;
  options.threads = 1;
  faro_plan* plan = NULL;
  const uint64_t count = kBytes;
  EXPECT(faro_plan_text("bit_reversal(28)", 1, &count, 1, &options, &plan) == FARO_OK);
  int asked = 0;
  faro_set_keep_on(stop, &asked);
  EXPECT(faro_plan_run(plan, in, out, NULL) == FARO_ENDED || asked == 0);
  faro_set_keep_on(go_on, &asked);
  EXPECT(faro_plan_run(plan, in, out, NULL) == FARO_OK && out[1 << 27] == 7);
  faro_set_keep_on(NULL, NULL);
  memset(out, 0, kBytes);
  faro_set_memory_known(1);
  EXPECT(faro_plan_run(plan, in, out, NULL) == FARO_OK && out[1 << 27] == 7);
  EXPECT(faro_plan_run(plan, in, in, NULL) == FARO_VALUE);
  faro_set_memory_known(0);
  EXPECT(faro_cuda_device_of(out) == -1);
  faro_plan_destroy(plan);
  options.reserved[1] = 1; /* of a newer version */
  EXPECT(faro_plan_text("bit_reversal(28)", 1, &count, 1, &options, &plan) == FARO_VALUE);
  EXPECT(strstr(faro_last_got(), "reserved") != NULL);
  free(in);
  free(out);
}

#ifndef FARO_WITHOUT_NETWORK
static void test_networks(void) {
  const uint32_t keys[8] = {5, 3, 7, 1, 0, 6, 2, 4};
  uint32_t sorted[8];
  const uint32_t in[2][4] = {{3, 1, 2, 0}, {7, 9, 8, 6}};
  uint32_t out[2][4] = {{0}};
  faro_options options;
  memset(&options, 0, sizeof options);
  options.engine = FARO_CPU;
  options.batch = 2;
  faro_network_plan* plan = NULL;
  char* text = NULL;
  EXPECT(faro_network_run("sort", 3, "u32", 1, 0, keys, sorted) == FARO_OK);
  for (uint32_t i = 0; i < 8; ++i) EXPECT(sorted[i] == i);
  EXPECT(faro_network_run("srot", 3, "u32", 1, 0, keys, sorted) == FARO_SPEC);
  EXPECT(faro_network_run("sort", 3, "u31", 1, 0, keys, sorted) == FARO_VALUE);
  EXPECT(faro_network_explain("sort", 3, "u32", &text) == FARO_OK && strlen(text) > 0);
  faro_free(text);
  text = NULL;
  EXPECT(faro_network_plan_make("sort", 2, "u32", &options, &plan) == FARO_OK);
  EXPECT(faro_network_plan_run(plan, in, out, NULL) == FARO_OK);
  for (uint32_t i = 0; i < 4; ++i) EXPECT(out[0][i] == i && out[1][i] == 6 + i);
  EXPECT(faro_network_plan_explain(plan, &text) == FARO_OK && strlen(text) > 0);
  faro_free(text);
  EXPECT(faro_network_plan_run(plan, in, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_network_plan_run(NULL, in, out, NULL) == FARO_VALUE);
  faro_network_plan_destroy(plan);
  plan = NULL;
  EXPECT(faro_network_plan_make("sart", 2, "u32", &options, &plan) == FARO_SPEC && plan == NULL);
}
#endif

#if defined(FARO_WITHOUT_NETWORK) && defined(FARO_WITHOUT_PAPERS) && defined(FARO_WITHOUT_SWIZZLE)
/* Of a build without extras/: what is lacking is said. */
static void test_without_extras(void) {
  char* text = NULL;
  faro_network_plan* plan = NULL;
  EXPECT(faro_network_explain("sort", 3, "u32", &text) == FARO_UNSUPPORTED && text == NULL);
  EXPECT(faro_network_plan_make("sort", 2, "u32", NULL, &plan) == FARO_UNSUPPORTED && plan == NULL);
  EXPECT(faro_simulate("{}", &text) == FARO_UNSUPPORTED && strstr(faro_last_message(), "extras/papers") != NULL);
  EXPECT(faro_synth("{}", NULL, NULL, &text) == FARO_UNSUPPORTED);
  EXPECT(faro_layout_convert("", "", NULL, &text) == FARO_UNSUPPORTED);
  EXPECT(faro_layout_check("", "", 32, &text) == FARO_UNSUPPORTED);
}
#endif

static void* other_thread(void* seen) {
  *(int*)seen = strlen(faro_last_message()) == 0;
  faro_map* none = NULL;
  EXPECT(faro_map_parse("shufle(4)", 0, NULL, &none) == FARO_SPEC);
  return NULL;
}

static void test_threads(void) {
  faro_map* none = NULL;
  EXPECT(faro_map_parse("gary(4)", 0, NULL, &none) == FARO_SPEC);
  pthread_t thread;
  int is_empty = 0;
  EXPECT(pthread_create(&thread, NULL, other_thread, &is_empty) == 0);
  pthread_join(thread, NULL);
  EXPECT(is_empty && strstr(faro_last_message(), "gary") != NULL);
}

/* Two ranks of a transposition, one after the other in this process: pack, copy the messages, unpack. */
/* Words of one rank. */
static int alone(void* context, const char* mine, uint64_t bytes, void* taker,
                 void (*take)(void* taker, const char* text, uint64_t bytes)) {
  ++*(int*)context;
  take(taker, mine, bytes);
  return 0;
}
static int broken(void* context, const char* mine, uint64_t bytes, void* taker,
                  void (*take)(void* taker, const char* text, uint64_t bytes)) {
  (void)context, (void)mine, (void)bytes, (void)taker, (void)take;
  return 1;
}

/* Without a GPU or libnccl there is no communicator; what is asked wrongly is refused before. */
static void test_sharded(void) {
  int calls = 0;
  faro_words words = {.context = &calls, .ranks = 1, .rank = 0, .all_gather = alone};
  faro_communicator* communicator = NULL;
  EXPECT(faro_communicator_nccl(NULL, 0, 0, &communicator) == FARO_VALUE);
  EXPECT(faro_communicator_nccl(&words, 0, 0, NULL) == FARO_VALUE);
  EXPECT(faro_communicator_nccl(&words, 0, -1, &communicator) == FARO_VALUE);
  words.rank = 1;
  EXPECT(faro_communicator_nccl(&words, 0, 0, &communicator) == FARO_VALUE &&
         strstr(faro_last_message(), "rank 1 of 1") != NULL);
  words.rank = 0;
  words.reserved[2] = 1;
  EXPECT(faro_communicator_nccl(&words, 0, 0, &communicator) == FARO_VALUE);
  words.reserved[2] = 0;
  words.all_gather = NULL;
  EXPECT(faro_communicator_nccl(&words, 0, 0, &communicator) == FARO_VALUE);
  words.all_gather = broken;
  EXPECT(faro_communicator_nccl(&words, 0, 0, &communicator) == FARO_DEVICE && communicator == NULL &&
         strstr(faro_last_message(), "all_gather") != NULL);
  words.all_gather = alone;
  faro_shard_plan* plan = NULL;
  const uint64_t shape[] = {40, 60};
  EXPECT(faro_shard_plan_text("transpose", 2, shape, 4, 1, 0, NULL, NULL, &plan) == FARO_OK);
  const faro_options bound = {.memory_bytes = 1 << 20};
  faro_plan* local = NULL;
  EXPECT(faro_plan_text("transpose", 2, shape, 4, &bound, &local) == FARO_VALUE && local == NULL &&
         strstr(faro_last_message(), "memory_bytes of 1048576") != NULL);
  faro_sharded_plan* sharded = NULL;
  EXPECT(faro_sharded_plan_create(plan, NULL, NULL, 0, &sharded) == FARO_VALUE);
  const faro_status made = faro_communicator_nccl(&words, 0, 5, &communicator);
  EXPECT(calls > 0 && (made == FARO_OK || made == FARO_DEVICE));
  if (made == FARO_OK) {
    EXPECT(faro_sharded_plan_create(plan, communicator, NULL, 0, NULL) == FARO_VALUE);
    EXPECT(faro_sharded_plan_create(plan, communicator, &bound, 0, &sharded) == FARO_OK);
    EXPECT(faro_sharded_plan_run(sharded, NULL, 9600, NULL, 9600, NULL) == FARO_VALUE);
    const faro_sharded_run run = {sharded, NULL, 9600, NULL, 9600};
    EXPECT(faro_sharded_plans_run(&run, 1, NULL) == FARO_VALUE);
    char* text = NULL;
    EXPECT(faro_sharded_plan_explain(sharded, &text) == FARO_OK && strstr(text, "exchange by") != NULL);
    faro_free(text);
  }
  EXPECT(faro_sharded_plan_run(NULL, NULL, 0, NULL, 0, NULL) == FARO_VALUE);
  const faro_arithmetic narrow = {.from = FARO_F32, .to = FARO_BF16};
  faro_sharded_arithmetic* changed = NULL;
  uint64_t numbers[2] = {0, 0};
  EXPECT(faro_sharded_arithmetic_create(plan, &narrow, NULL, NULL, 0, &changed) == FARO_VALUE && changed == NULL);
  if (made == FARO_OK) {
    EXPECT(faro_sharded_arithmetic_create(plan, NULL, communicator, NULL, 0, &changed) == FARO_VALUE);
    EXPECT(faro_sharded_arithmetic_create(plan, &narrow, communicator, &bound, 0, &changed) == FARO_OK);
    EXPECT(faro_sharded_arithmetic_counts(changed, &numbers[0], &numbers[1]) == FARO_OK && numbers[0] == numbers[1] &&
           numbers[0] > 0);
    EXPECT(faro_sharded_arithmetic_run(changed, NULL, NULL, NULL, NULL) == FARO_VALUE);
    faro_sharded_arithmetic_destroy(changed);
  }
  EXPECT(faro_sharded_arithmetic_run(NULL, NULL, NULL, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_sharded_arithmetic_counts(NULL, &numbers[0], &numbers[1]) == FARO_VALUE);
  EXPECT(faro_sharded_arithmetic_wait(NULL, NULL) == FARO_VALUE);
  const faro_sharded_run no_plan = {NULL, NULL, 0, NULL, 0};
  EXPECT(faro_sharded_plans_run(&no_plan, 1, NULL) == FARO_VALUE);
  EXPECT(faro_sharded_plans_run(NULL, 1, NULL) == FARO_VALUE);
  EXPECT(faro_sharded_plans_run(NULL, 0, NULL) == FARO_OK);
  EXPECT(faro_sharded_plan_wait(NULL, NULL) == FARO_VALUE);
  faro_sharded_plan_destroy(sharded);
  faro_communicator_destroy(communicator);
  faro_shard_plan_destroy(plan);
}

static void test_shards(void) {
  enum { kRanks = 2, kRows = 6, kColumns = 10, kPart = kRows * kColumns / kRanks };
  const uint64_t shape[2] = {kRows, kColumns};
  uint16_t in[kRows * kColumns], packed[kRanks][kPart], received[kRanks][kPart], out[kRanks][kPart];
  for (int i = 0; i < kRows * kColumns; ++i) in[i] = (uint16_t)(i * 7 + 1);
  faro_shard_plan* plans[kRanks];
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT(faro_shard_plan_text("transpose", 2, shape, 2, kRanks, rank, "axis(0)", NULL, &plans[rank]) == FARO_OK);
    uint64_t in_bytes = 0, out_bytes = 0;
    EXPECT(faro_shard_plan_bytes(plans[rank], &in_bytes, &out_bytes) == FARO_OK && in_bytes == sizeof packed[0] &&
           out_bytes == sizeof out[0]);
    faro_plan* pass = NULL;
    EXPECT(faro_shard_plan_pass(plans[rank], 0, NULL, &pass) == FARO_OK);
    if (pass == NULL) memcpy(packed[rank], in + rank * kPart, sizeof packed[0]);
    if (pass != NULL) EXPECT(faro_plan_run(pass, in + rank * kPart, packed[rank], NULL) == FARO_OK);
    faro_plan_destroy(pass);
  }
  for (int to = 0; to < kRanks; ++to) {
    const faro_shard_message *wanted = NULL, *theirs = NULL;
    uint64_t count = 0, sent = 0;
    EXPECT(faro_shard_plan_messages(plans[to], 1, &wanted, &count) == FARO_OK && count == kRanks);
    for (uint64_t k = 0; k < count; ++k) {
      EXPECT(faro_shard_plan_messages(plans[wanted[k].peer], 0, &theirs, &sent) == FARO_OK);
      for (uint64_t j = 0; j < sent; ++j) {
        if (theirs[j].peer != to) continue;
        EXPECT(theirs[j].bytes == wanted[k].bytes);
        memcpy((char*)received[to] + wanted[k].offset_bytes, (char*)packed[wanted[k].peer] + theirs[j].offset_bytes,
               wanted[k].bytes);
      }
    }
    faro_plan* pass = NULL;
    EXPECT(faro_shard_plan_pass(plans[to], 1, NULL, &pass) == FARO_OK);
    if (pass == NULL) memcpy(out[to], received[to], sizeof out[0]);
    if (pass != NULL) EXPECT(faro_plan_run(pass, received[to], out[to], NULL) == FARO_OK);
    faro_plan_destroy(pass);
    for (int y = 0; y < kPart; ++y) {
      const int row = (to * kPart + y) / kRows, column = (to * kPart + y) % kRows;
      EXPECT(out[to][y] == in[column * kColumns + row]);
    }
  }
  char* text = NULL;
  EXPECT(faro_shard_plan_explain(plans[1], &text) == FARO_OK && strstr(text, "rank 1 of 2") != NULL);
  faro_free(text);
  EXPECT(faro_shard_plan_explain_json(plans[1], &text) == FARO_OK && strstr(text, "\"method\":\"slabs\"") != NULL);
  faro_free(text);
  faro_map* pass_map = (faro_map*)1;
  EXPECT(faro_shard_plan_pass_map(plans[0], 1, &pass_map) == FARO_UNSUPPORTED && pass_map == (faro_map*)1);
  for (int rank = 0; rank < kRanks; ++rank) faro_shard_plan_destroy(plans[rank]);

  faro_map* map = NULL;
  EXPECT(faro_map_parse("bit_reversal(10)", 0, NULL, &map) == FARO_OK);
  EXPECT(faro_shard_plan_map(map, 4, 4, 3, "bits(2 7)", "axis(0)", &plans[0]) == FARO_OK);
  EXPECT(faro_shard_plan_pass_map(plans[0], 0, &pass_map) == FARO_OK);
  faro_map_destroy(pass_map);
  faro_shard_plan_destroy(plans[0]);
  EXPECT(faro_shard_plan_map(map, 4, 4, 4, NULL, NULL, &plans[0]) == FARO_VALUE);
  EXPECT(faro_shard_plan_map(map, 4, 4, 0, "rows", NULL, &plans[0]) == FARO_VALUE);
  EXPECT(strstr(faro_last_message(), "rows") != NULL);
  EXPECT(faro_shard_plan_text(NULL, 0, NULL, 4, 4, 0, NULL, NULL, &plans[0]) == FARO_VALUE);
  faro_shard_plan_destroy(NULL);
  faro_map_destroy(map);

  /* A roll of an axis: the text of the whole array that is named instead does it. Of other maps there is none. */
  const uint64_t sides[3] = {4, 5, 8};
  static const struct {
    const char* text;
    uint64_t image; /* of 2, 3, 7 */
  } asked[] = {{"roll(8, 3)", 106}, {"flip(8)", 104}, {"compose(roll(8, 3), flip(8))", 107}, {"xor(3, 0x7)", 104},
               {"roll(5, -2)", 95}, {"flip(4)", 71}, {"flip(1)", 95}};
  for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); ++i) {
    EXPECT(faro_shard_plan_text(asked[i].text, 3, sides, 4, 2, 0, NULL, NULL, &plans[0]) == FARO_VALUE);
    char remedy[64] = "";
    const char* named = strstr(faro_last_message(), "axes(");
    EXPECT(named != NULL && sscanf(named, "%63[^`]", remedy) == 1);
    EXPECT(faro_shard_plan_text(remedy, 3, sides, 4, 2, 0, NULL, NULL, &plans[0]) == FARO_OK);
    faro_shard_plan_destroy(plans[0]);
    EXPECT(faro_map_parse(remedy, 3, sides, &map) == FARO_OK);
    uint64_t image = 0;
    EXPECT(faro_map_apply(map, 111, &image) == FARO_OK && image == asked[i].image);
    faro_map_destroy(map);
  }
  EXPECT(faro_shard_plan_text("bit_reversal(3)", 3, sides, 4, 2, 0, NULL, NULL, &plans[0]) == FARO_VALUE);
  EXPECT(strstr(faro_last_message(), "axes(") == NULL);
}

/* Outputs that overlap what is read, itself, or by a view's strides: refused before anything is written. */
static void test_disjoint(void) {
  int32_t memory[24];
  for (int i = 0; i < 24; ++i) memory[i] = i;
  const uint64_t extents[2] = {4, 3};
  const int64_t strides[2] = {24, 8};
  const int64_t windows[2] = {4, 4};
  faro_laid_array arrays[3] = {
      {"the output", memory, 2, extents, strides, 4, 1},
      {"the input", memory + 1, 2, extents, strides, 4, 0},
      {"indices", memory + 1, 2, extents, NULL, 4, 0},
  };
  EXPECT(faro_check_disjoint("copy", arrays, 2) == FARO_OK);
  EXPECT(faro_check_disjoint("copy", NULL, 0) == FARO_OK);
  EXPECT(faro_check_disjoint("copy", arrays, UINT64_MAX) == FARO_VALUE); /* an int's -1 */
  EXPECT(faro_check_disjoint("copy", arrays, 3) == FARO_VALUE);
  EXPECT(strcmp(faro_last_message(),
                "copy: got overlapping arrays, the output and indices, wanted two disjoint arrays") == 0);
  arrays[0].stride_bytes = windows;
  EXPECT(faro_check_disjoint("copy", arrays, 1) == FARO_VALUE &&
         strstr(faro_last_got(), "own elements") != NULL);
  arrays[0].is_output = 0;
  EXPECT(faro_check_disjoint("copy", arrays, 3) == FARO_OK); /* all are read */
  const int64_t far[2] = {INT64_MAX, 4};
  arrays[0].stride_bytes = far;
  EXPECT(faro_check_disjoint("copy", arrays, 1) == FARO_VALUE && strstr(faro_last_message(), "2^62") != NULL);
  arrays[0].name = NULL;
  EXPECT(faro_check_disjoint("copy", arrays, 1) == FARO_VALUE);
  EXPECT(faro_check_disjoint(NULL, arrays, 1) == FARO_VALUE);

  /* A roll goes box by box: none of them is moved where one overlaps. */
  const uint64_t shape[2] = {4, 3};
  const int64_t rows[2] = {6, 2};
  const int64_t shifts[2] = {1, 1};
  faro_plan* plan = NULL;
  EXPECT(faro_plan_roll(2, shape, rows, shifts, 4, NULL, &plan) == FARO_OK);
  for (int first = 1; first < 12; ++first)
    EXPECT(faro_plan_run(plan, memory, memory + first, NULL) == FARO_VALUE);
  for (int i = 0; i < 24; ++i) EXPECT(memory[i] == i);
  faro_plan_destroy(plan);
}

/* Members by a plan that is kept, a roll of several views, a text, a view that is read backwards, rows and changed numbers. */
static void test_groups(void) {
  enum { kMembers = 6 };
  static float in[60], transposed[60], rolled[60], by_text[60], backwards[60], taken[8], out[60];
  static uint16_t narrow[60];
  for (int i = 0; i < 60; ++i) in[i] = (float)i;
  const uint64_t shape[2] = {6, 10};
  const int order[2] = {1, 0};
  const int64_t strides[2] = {10, 1}, shifts[2] = {2, 3};
  faro_map* map = NULL;
  faro_plan *plan = NULL, *roll = NULL;
  EXPECT(faro_map_from_axes(2, shape, order, &map) == FARO_OK);
  EXPECT(faro_plan_map(map, 4, NULL, &plan) == FARO_OK);
  EXPECT(faro_plan_roll(2, shape, strides, shifts, 4, NULL, &roll) == FARO_OK);
  const uint64_t all = 60;
  const int64_t down = -1, up = 1;
  const faro_view view = {1, &all, &down, &up, 59, 0};
  faro_arithmetic arithmetic;
  memset(&arithmetic, 0, sizeof arithmetic);
  arithmetic.from = FARO_F32;
  arithmetic.to = FARO_U16;
  const int32_t entries[2] = {14, 3};
  const faro_rows rows = {entries, 2, 4, 1, 15, 1, 16, 0};
  faro_row_plan* of_rows = NULL;
  EXPECT(faro_row_plan_take(&rows, NULL, 0, NULL, &of_rows) == FARO_OK);
  faro_group_member members[kMembers];
  memset(members, 0, sizeof members);
  members[0].plan = plan;
  members[1].plan = roll;
  members[2].text = "b s -> s b";
  members[2].shape = shape;
  members[2].rank = 2;
  members[3].view = &view;
  members[4].rows = of_rows;
  members[5].view = &view;
  members[5].arithmetic = &arithmetic;
  float* const outs_of[kMembers] = {transposed, rolled, by_text, backwards, taken, (float*)narrow};
  for (int i = 0; i < kMembers; ++i) {
    members[i].element_bytes = 4;
    members[i].in = in;
    members[i].out = outs_of[i];
  }
  faro_group* group = NULL;
  EXPECT(faro_group_create(members, kMembers, NULL, &group) == FARO_OK);
  EXPECT(faro_group_run(group, NULL) == FARO_OK);
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c < 10; ++c) {
      const int at = 10 * r + c;
      EXPECT(transposed[6 * c + r] == in[at] && by_text[6 * c + r] == in[at]);
      EXPECT(rolled[10 * ((r + 2) % 6) + (c + 3) % 10] == in[at]);
      EXPECT(backwards[59 - at] == in[at] && narrow[59 - at] == (uint16_t)at);
    }
  }
  EXPECT(taken[0] == 56 && taken[3] == 59 && taken[4] == 12);
  uint64_t count = 0, launches = 0, moved = 0, workspace = 9;
  int on_gpu = 7;
  EXPECT(faro_group_facts(group, &count, &launches, &moved, &on_gpu) == FARO_OK);
  EXPECT(count == kMembers && launches > 0 && moved == 4 * 480 + 240 + 120 + (240 + 32) && on_gpu == 0);
  EXPECT(faro_group_facts(group, NULL, NULL, NULL, NULL) == FARO_OK);
  EXPECT(faro_group_workspace_bytes(group, &workspace) == FARO_OK && workspace == 0);
  double us = 0;
  EXPECT(faro_group_predicted_us(group, &us) == FARO_OK && us > 0);
  char* text = NULL;
  EXPECT(faro_group_explain(group, &text) == FARO_OK && strstr(text, "6 arrays") != NULL);
  faro_free(text);
  /* Other arrays; those of a member go to all of its parts. */
  const void* ins[kMembers];
  void* outs[kMembers];
  for (int i = 0; i < kMembers; ++i) {
    ins[i] = in;
    outs[i] = outs_of[i];
  }
  outs[1] = out;
  EXPECT(faro_group_run_arrays(group, ins, outs, NULL) == FARO_OK && memcmp(out, rolled, sizeof out) == 0);
  memset(out, 0, sizeof out);
  EXPECT(faro_group_run_in_workspace(group, ins, outs, NULL, 0, NULL) == FARO_OK && memcmp(out, rolled, sizeof out) == 0);
  outs[3] = out;
  EXPECT(faro_group_run_arrays(group, ins, outs, NULL) == FARO_VALUE);
  EXPECT(strstr(faro_last_message(), "member 3") != NULL || strstr(faro_last_message(), "member 1") != NULL);
  EXPECT(faro_group_run_arrays(group, NULL, outs, NULL) == FARO_VALUE);
  EXPECT(faro_group_run_table(group, ins, NULL) == FARO_UNSUPPORTED);
  faro_group_destroy(group);

  faro_group* refused = NULL;
  members[2].text = "b s -> t b";
  EXPECT(faro_group_create(members, kMembers, NULL, &refused) != FARO_OK && refused == NULL);
  EXPECT(strstr(faro_last_message(), "member 2") != NULL);
  members[2].view = &view;
  EXPECT(faro_group_create(members, kMembers, NULL, &refused) == FARO_VALUE);
  EXPECT(strstr(faro_last_message(), "one of them") != NULL);
  members[2].text = NULL;
  members[2].reserved[0] = 1;
  EXPECT(faro_group_create(members, kMembers, NULL, &refused) == FARO_VALUE);
  EXPECT(faro_group_create(NULL, 1, NULL, &refused) == FARO_VALUE);
  EXPECT(faro_group_create(members, UINT64_MAX, NULL, &refused) == FARO_VALUE);
  EXPECT(faro_group_create(members, kMembers, NULL, NULL) == FARO_VALUE);
  EXPECT(faro_group_run(NULL, NULL) == FARO_VALUE);
  EXPECT(faro_group_create(NULL, 0, NULL, &group) == FARO_OK);
  EXPECT(faro_group_run(group, NULL) == FARO_OK && faro_group_run_arrays(group, NULL, NULL, NULL) == FARO_OK);
  faro_group_destroy(group);
  faro_group_destroy(NULL);
  faro_row_plan_destroy(of_rows);
  faro_plan_destroy(roll);
  faro_plan_destroy(plan);
  faro_map_destroy(map);
}

int main(int argc, char** argv) {
  EXPECT(faro_abi_version() == FARO_ABI_VERSION);
  EXPECT(strlen(faro_version()) >= 5);
  test_maps();
  test_plans(argc > 1 ? argv[1] : ".");
  test_views();
  test_families();
  test_disjoint();
  test_arithmetic();
  test_blocks();
  test_rows();
  test_entries_of_rows();
  test_plans_of_rows();
  test_plans_of_caches();
  test_plans_of_segments();
  test_columns();
  test_groups();
  test_dispatches_and_automorphisms();
  test_files(argv[1]);
  test_shards();
  test_sharded();
  test_the_rest();
#ifndef FARO_WITHOUT_PAPERS
  test_simulate();
#endif
#ifndef FARO_WITHOUT_SWIZZLE
  test_synth();
  test_layouts();
#endif
  test_threads();
  test_ending();
#ifndef FARO_WITHOUT_NETWORK
  test_networks();
#endif
#if defined(FARO_WITHOUT_NETWORK) && defined(FARO_WITHOUT_PAPERS) && defined(FARO_WITHOUT_SWIZZLE)
  test_without_extras();
#endif
  printf("faro.h: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
