/* faro in C: plans and runs fast permutations of large arrays, on CPUs and GPUs.
 *
 *     faro_plan* plan = NULL;
 *     if (faro_plan_text("bit_reversal(20)", 0, NULL, 4, NULL, &plan) != FARO_OK) {
 *       fprintf(stderr, "%s\n", faro_last_message());
 *       return 1;
 *     }
 *     faro_plan_run(plan, in, out, NULL);                       out[pi(x)] = in[x]
 *     faro_plan_destroy(plan);
 *
 * This is the interface for other languages: C99, opaque objects, no C++ type, no exception. libfaro.so exports
 * these functions and nothing else; they are in the C++ library, too. What the functions mean, cost and refuse is told
 * beside those of C++ that they call: faro.hpp (plans), permutation/permutation.hpp (maps and their text),
 * permutation/strided.hpp (views), rows.hpp (rows), network/network.hpp (networks).
 *
 * Every function that can fail returns a status and gives its result through its last argument, which stays as it was
 * on failure. What went wrong is kept for the calling thread until its next failure: faro_last_message() and the parts
 * of it. Null is taken only where that is said, and refused with FARO_VALUE elsewhere; faro_..._destroy(NULL) does
 * nothing. Texts that are given away are freed with faro_free().
 *
 * Objects do not change after they are made: any number of threads may use one at once. Sizes and strides are in
 * elements unless a name says bytes.
 */
#ifndef FARO_FARO_H
#define FARO_FARO_H

#include <stdint.h>

#if defined(__GNUC__)
#define FARO_API __attribute__((visibility("default")))
#else
#define FARO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions are added, without taking any away: a program may ask for at least what it was made with. */
#define FARO_ABI_VERSION 15

/* --- what went wrong */

/* FARO_OK, or what kind of fault it was, as faro::ErrorCode has them. */
typedef enum faro_status {
  FARO_OK = 0,
  FARO_INTERNAL = 1,     /* a bug in faro */
  FARO_USAGE = 2,        /* a request that cannot be understood */
  FARO_SPEC = 3,         /* a text that cannot be understood */
  FARO_VALUE = 4,        /* a value outside what is accepted */
  FARO_UNSUPPORTED = 5,  /* understood, but not possible (yet) */
  FARO_DEVICE = 6,       /* no such device, or a device call failed */
  FARO_VERIFICATION = 7, /* a result differs from what it should be */
  FARO_FILE = 8,         /* missing, malformed, unwritable, or the disk is full */
  FARO_MEMORY = 9,       /* not enough memory */
  FARO_ENDED = 10        /* by the caller's keep_on; the output is partly written */
} faro_status;

/* Of the calling thread's last failure, valid until its next: the whole in one line, and its parts. Empty texts
 * before any failure. The remedy may be empty. */
FARO_API const char* faro_last_message(void);
FARO_API const char* faro_last_operation(void);
FARO_API const char* faro_last_got(void);
FARO_API const char* faro_last_wanted(void);
FARO_API const char* faro_last_remedy(void);

/* "0.2.0"; and FARO_ABI_VERSION as the library has it. */
FARO_API const char* faro_version(void);
FARO_API int faro_abi_version(void);

/* Of memory that a function of this header gave away. */
FARO_API void faro_free(void* memory);

/* Long work on the CPU can be ended. While it is set, plans, rows and networks that the calling thread runs there, of
 * 64 MiB and more and not in place, ask `keep_on(context)` on this thread, at most ten times a second: 0 ends the run with
 * FARO_ENDED. Null: nobody is asked. */
FARO_API void faro_set_keep_on(int (*keep_on)(void* context), void* context);

/* While it is 1, the calling thread knows that its arrays lie in the memory that a plan's engine takes, as a library knows
 * its own arrays: nobody asks the CUDA driver, which takes a microsecond an array once a process uses it. Arrays elsewhere
 * then end the process. */
FARO_API void faro_set_memory_known(int known);

/* Whether plans can run on a GPU here, and one line that says why. `reason` may be null. */
FARO_API faro_status faro_cuda_status(int* available, char** reason);
/* The number of the calling thread's device. Errors: FARO_DEVICE without one. */
FARO_API faro_status faro_cuda_device(int* device);
/* The number of the device whose memory it is; -1 for the host's, and where the process uses no CUDA driver. */
FARO_API int faro_cuda_device_of(const void* memory);

/* --- arrays as they lie in memory */

/* Every function that writes an array refuses one that overlaps what it reads, before anything is written. This is the same
 * check for whoever copies arrays with strides before or after. */
typedef struct faro_laid_array {
  const char* name;            /* as an error calls it */
  const void* address;         /* of index 0: negative strides reach before it. Nothing is read: it may be a device's */
  int rank;
  const uint64_t* extents;
  const int64_t* stride_bytes; /* null: those of a dense array */
  uint64_t element_bytes;
  int is_output;
} faro_laid_array;
/* Errors: FARO_VALUE where an output has a byte in common with another of the arrays, or two of its own elements have one. Arrays
 * whose ranges meet are told apart element by element, but for strides that would take some ten thousand steps, which count as
 * overlapping. */
FARO_API faro_status faro_check_disjoint(const char* operation, const faro_laid_array* arrays, uint64_t count);

/* --- maps: permutations as values, out[pi(x)] = in[x] */

typedef struct faro_map faro_map;

/* Reads the text form. `shape` of `rank` axes is the array's that the text is for, which completes `bit_reversal`,
 * `transpose` or 'b s d -> s b d'; rank 0 and null: there is none. */
FARO_API faro_status faro_map_parse(const char* text, int rank, const uint64_t* shape, faro_map** map);

/* pi(x) = A x ^ complement on `bits` bits; columns[j] is the image of bit j. */
FARO_API faro_status faro_map_from_matrix(int bits, const uint64_t* columns, uint64_t complement, faro_map** map);

/* out.shape[a] = shape[order[a]], as numpy.transpose. */
FARO_API faro_status faro_map_from_axes(int rank, const uint64_t* shape, const int* order, faro_map** map);

/* `count` entries of 4 or 8 bytes: out[entries[i]] = in[i], or with gather != 0 out[i] = in[entries[i]]. Copied. */
FARO_API faro_status faro_map_from_indices(const void* entries, uint64_t count, int entry_bytes, int is_signed,
                                           int gather, faro_map** map);
/* The same of entries in the memory of the device `device` - 1 (0: the calling thread's), aligned to themselves; copied there.
 * What `stream` still writes is waited for. Such a map is composed and inverted as all others, on its device, so that
 * faro_plan_map() of a composition moves by both at once, and planned for engine cuda there; what asks for its single images
 * is refused. Errors: also FARO_VALUE for memory that is not the device's; FARO_DEVICE. */
FARO_API faro_status faro_map_from_device_indices(const void* entries, uint64_t count, int entry_bytes, int is_signed,
                                                  int gather, int device, void* stream, faro_map** map);
FARO_API void faro_map_destroy(faro_map* map);

/* out[a(b(x))] = in[x]. */
FARO_API faro_status faro_map_compose(const faro_map* a, const faro_map* b, faro_map** composed);
FARO_API faro_status faro_map_inverse(const faro_map* map, faro_map** inverse);
/* The k-fold composition; k < 0 composes inverses. */
FARO_API faro_status faro_map_power(const faro_map* map, int64_t k, faro_map** power);
/* The form with the most to offer: an index array is recognised. */
FARO_API faro_status faro_map_normal_form(const faro_map* map, faro_map** form);

FARO_API faro_status faro_map_count(const faro_map* map, uint64_t* elements);
/* pi(x). Errors: FARO_VALUE for an x that is no index. */
FARO_API faro_status faro_map_apply(const faro_map* map, uint64_t x, uint64_t* image);
/* pi(0), pi(1), ... to `images`, which has room for all. */
FARO_API faro_status faro_map_images(const faro_map* map, uint64_t* images);
/* Whether two maps are the same permutation, whatever their forms. */
FARO_API faro_status faro_map_equal(const faro_map* a, const faro_map* b, int* equal);
/* A and the complement: `columns` has room for 64. Errors: FARO_UNSUPPORTED for a map that is not affine. */
FARO_API faro_status faro_map_matrix(const faro_map* map, int* bits, uint64_t* columns, uint64_t* complement);
FARO_API faro_status faro_map_text(const faro_map* map, char** text);
/* A picture of the index bits in letters. Errors: FARO_UNSUPPORTED for what is neither affine nor of at most 26
 * elements. */
FARO_API faro_status faro_map_picture(const faro_map* map, char** text);

/* The names of all maps with what they mean, as JSON: [{"name", "syntax", "meaning", "example"}, ...]. */
FARO_API faro_status faro_map_catalogue(char** json);

/* --- plans */

typedef enum faro_engine { FARO_AUTO = 0, FARO_CPU = 1, FARO_CUDA = 2 } faro_engine;

/* Zeros are the defaults; null options are zeros. */
typedef struct faro_options {
  faro_engine engine;
  int threads;       /* 0: as many as OpenMP would use */
  int device;        /* of engine cuda: its number plus one; 0: the calling thread's */
  int in_place;      /* one array, permuted where it is */
  uint64_t batch;    /* arrays that follow one another, each permuted alike; 0: one */
  uint64_t repeats;  /* of an index array: how often the plan will be run; 0: often */
  uint64_t measure;  /* of engine cpu, not 0: the fastest of some ways that are tried, remembered (faro_wisdom_export) */
  uint64_t memory_bytes; /* of plans over ranks: the most memory of each beside its parts; 0: no bound. Elsewhere 0 */
  uint64_t reserved[2]; /* zeros: for options to come */
} faro_options;

typedef struct faro_plan faro_plan;

/* What plans with `measure` have found and kept, as JSON; entries of such a text taken in, of the same problem the faster
 * stays; all forgotten. `changed` and `entries` may be null. Errors: FARO_FILE, nothing is changed then. */
FARO_API faro_status faro_wisdom_export(char** json);
FARO_API faro_status faro_wisdom_import(const char* json, uint64_t* changed);
FARO_API faro_status faro_wisdom_forget(uint64_t* entries);

/* Plans a map on elements of 1 to 4096 bytes. Affine maps are moved entry by entry where that is no power of two and they
 * are no permutation of axes, roll or flip either. In place rolls, flips and equal axes take elements of any width. */
FARO_API faro_status faro_plan_map(const faro_map* map, uint64_t element_bytes, const faro_options* options,
                                   faro_plan** plan);
/* faro_map_parse and faro_plan_map; also views, `strided(3 4; -4 1; 4 1; 8 0)`, which a shape that is given has to hold. For all
 * others a shape of two axes or more is the one that the text names, where it names one. */
FARO_API faro_status faro_plan_text(const char* text, int rank, const uint64_t* shape, uint64_t element_bytes,
                                    const faro_options* options, faro_plan** plan);

/* The same where the input's elements lie apart, by strides that may be negative or 0: the output is dense, in the
 * order of the map. Permutations of axes and patterns are one sweep; other maps first collect the array. */
FARO_API faro_status faro_plan_array(const char* text, int rank, const uint64_t* shape, const int64_t* strides,
                                     uint64_t element_bytes, const faro_options* options, faro_plan** plan);

/* A view: out[out_corner + i . out_strides] = in[in_corner + i . in_strides] for all indices i below the extents,
 * counted from the addresses that faro_plan_run is given; negative strides may reach before these. */
typedef struct faro_view {
  int rank;
  const uint64_t* extents;
  const int64_t* in_strides;
  const int64_t* out_strides;
  int64_t in_corner;
  int64_t out_corner;
} faro_view;
FARO_API faro_status faro_plan_view(const faro_view* view, uint64_t element_bytes, const faro_options* options,
                                    faro_plan** plan);
/* As numpy.roll: every axis shifted by shifts[axis], any sign, from an input of these strides to a dense output. */
FARO_API faro_status faro_plan_roll(int rank, const uint64_t* shape, const int64_t* in_strides, const int64_t* shifts,
                                    uint64_t element_bytes, const faro_options* options, faro_plan** plan);
FARO_API void faro_plan_destroy(faro_plan* plan);

/* Two arrays that lie apart: memory of the host, or with engine cuda of the plan's device, where the work is queued on
 * `stream`, a cudaStream_t (null: the default one). */
FARO_API faro_status faro_plan_run(const faro_plan* plan, const void* in, void* out, void* stream);
/* The same in memory that is lent for the work that is queued, so that nothing is allocated: at least faro_plan_workspace_bytes()
 * of where the arrays lie, aligned to 256 bytes. Null: as faro_plan_run. A plan of a view takes none. */
FARO_API faro_status faro_plan_run_in_workspace(const faro_plan* plan, const void* in, void* out, void* workspace,
                                                uint64_t workspace_bytes, void* stream);
/* Of a plan with in_place, and only of such. */
FARO_API faro_status faro_plan_run_in_place(const faro_plan* plan, void* data, void* stream);

/* The way back, of what is a permutation. Errors: FARO_UNSUPPORTED for views that are none. */
FARO_API faro_status faro_plan_inverse(const faro_plan* plan, faro_plan** inverse);

/* Whether it runs by engine cuda, and whether in place. */
FARO_API faro_status faro_plan_facts(const faro_plan* plan, int* on_gpu, int* in_place);
/* Bytes that are written. A view whose output has holes needs a larger output: of a strided text
 * faro_plan_out_shape() tells its elements; of a faro_view it ends with the last element that out_corner and
 * out_strides reach. */
FARO_API faro_status faro_plan_out_bytes(const faro_plan* plan, uint64_t* bytes);
/* The result's axes where the text or the view names any, else one axis of all elements; of a strided text whose output has
 * holes as many as the output must have. `shape` has room for 64. */
FARO_API faro_status faro_plan_out_shape(const faro_plan* plan, int* rank, uint64_t* shape);
/* Beside the arrays, allocated for each run. */
FARO_API faro_status faro_plan_workspace_bytes(const faro_plan* plan, uint64_t* bytes);
FARO_API faro_status faro_plan_explain(const faro_plan* plan, char** text);
/* As `faro explain --json`; of several sweeps an object {"steps": [...]}. */
FARO_API faro_status faro_plan_explain_json(const faro_plan* plan, char** json);
/* The drawing. Errors: FARO_UNSUPPORTED for a plan without one. */
FARO_API faro_status faro_plan_svg(const faro_plan* plan, char** svg);
/* Microseconds of a run, as faro_plan_explain tells them: of all passes together, on the CPU by measured curves (`faro tune`,
 * else those of a machine with two cores), on a GPU by counts (docs/guide/prediction.md). NaN where nothing is known. */
FARO_API faro_status faro_plan_predicted_us(const faro_plan* plan, double* microseconds);

/* What was asked for, as bytes that make the plan again on any machine: a header in words and, of an index array, its
 * entries. Reading refuses, with FARO_FILE, what was not written so. faro_plan_save writes the file whole or not at
 * all. */
FARO_API faro_status faro_plan_to_bytes(const faro_plan* plan, void** data, uint64_t* size);
FARO_API faro_status faro_plan_from_bytes(const void* data, uint64_t size, const faro_options* options, faro_plan** plan);
FARO_API faro_status faro_plan_save(const faro_plan* plan, const char* path);
FARO_API faro_status faro_plan_load(const char* path, const faro_options* options, faro_plan** plan);

/* --- families of shapes: planned once, and run with other extents at each call */

typedef struct faro_family faro_family;

/* Axis a of the input, slowest first, is flipped, then rolled, and becomes the output's axis p where order[p] = a. At most 16 axes.
 * Zeros are the defaults. */
typedef struct faro_family_map {
  const uint64_t* extents;    /* of the input; of a free one the most that it may be */
  const int* is_free;         /* one a axis: not 0 where its extent comes with each call; null: all do */
  const int* order;           /* null: as they are */
  const int* flipped;         /* one a axis: not 0 where it is; null: none */
  const int64_t* shifts;      /* null: none */
  const int64_t* in_strides;  /* in elements, of the input's axes; null: of a dense array of the call's extents */
  const int64_t* out_strides; /* of the output's */
  uint64_t element_bytes;
  int rank;
  int padding; /* 0 */
  uint64_t reserved[2];
} faro_family_map;

/* Of the options engine, threads and device count. Errors: FARO_VALUE for what is no order, axis or shift, and for outputs whose
 * strides let two elements meet; FARO_UNSUPPORTED for arrays of more than 2^40 elements at most. */
FARO_API faro_status faro_family_make(const faro_family_map* map, const faro_options* options, faro_family** family);
FARO_API void faro_family_destroy(faro_family* family);

/* A call's arrays: the extents that are free, in the order of the axes, and strides in elements instead of the family's; null: the
 * family's. */
typedef struct faro_family_call {
  const uint64_t* extents;
  const int64_t* in_strides;
  const int64_t* out_strides;
  int count; /* of the extents */
  int padding; /* 0 */
} faro_family_call;

/* Moves one array, planned in one or two microseconds. Both addresses are those of the lowest element that strides reach. On a GPU the
 * work is queued on `stream`, as faro_plan_run has it. Errors: FARO_VALUE for an extent past its most and arrays that overlap. */
FARO_API faro_status faro_family_run(const faro_family* family, const faro_family_call* call, const void* in, void* out,
                                     void* stream);
/* The same with extents that the kernel reads, `extent_bytes` each, 4 or 8, signed, in memory of the device; one below 0 or past its
 * most moves nothing. Of engine cuda. */
FARO_API faro_status faro_family_run_on_device(const faro_family* family, const void* extents, int extent_bytes, const void* in,
                                               void* out, void* stream);
/* Bytes that a call reaches on each side, and the output's shape; each may be null. */
FARO_API faro_status faro_family_sizes(const faro_family* family, const faro_family_call* call, uint64_t* in_bytes,
                                       uint64_t* out_bytes, uint64_t* out_shape);
/* What a call is moved by, in a line. */
FARO_API faro_status faro_family_explain(const faro_family* family, const faro_family_call* call, char** text);

/* --- rows, on the host: entries of 1, 2, 4 or 8 bytes; -1 of signed ones names no row */

/* Added to is_signed of entries and keys whose byte order is that of big-endian machines. */
#define FARO_BIG_ENDIAN 2

typedef struct faro_rows {
  const void* entries;
  uint64_t count;      /* of entries */
  int entry_bytes;     /* 1, 2, 4 or 8 */
  int is_signed;       /* 0 or 1, and perhaps FARO_BIG_ENDIAN */
  uint64_t rows;       /* that the entries number */
  uint64_t outer;      /* the arrays are so many of rows, one after another */
  uint64_t row_bytes;
  int threads;         /* 0: as many as OpenMP would use */
} faro_rows;

/* out[i] = in[entries[i]]. `fill`: what a row whose entry names none becomes, again and again along it; with `fill_bytes`
 * of 0, whatever `fill` points to, it stays as it was; null: such an entry is refused. */
FARO_API faro_status faro_take(const faro_rows* rows, const void* fill, uint64_t fill_bytes, const void* in, void* out);
/* The same into memory that nobody reads where this fails: entries are checked while rows are moved, not before, which
 * saves elements of 1, 2, 4 and 8 bytes a sweep of their entries. Errors: those of faro_take, when rows may have been
 * written. */
FARO_API faro_status faro_take_new(const faro_rows* rows, const void* fill, uint64_t fill_bytes, const void* in,
                                   void* out);
/* out[entries[i]] = in[i]; no two may go to one row. */
FARO_API faro_status faro_put(const faro_rows* rows, const void* in, void* out);

typedef enum faro_number {
  FARO_I8, FARO_U8, FARO_I16, FARO_U16, FARO_I32, FARO_U32, FARO_I64, FARO_U64, FARO_F16, FARO_BF16, FARO_F32, FARO_F64,
  /* of faro_arithmetic alone */
  FARO_BOOL, FARO_C64, FARO_C128, FARO_F8_E4M3FN, FARO_F8_E5M2, FARO_F8_E4M3FNUZ, FARO_F8_E5M2FNUZ
} faro_number;
typedef enum faro_sums { FARO_SUMS_USUAL, FARO_SUMS_F32, FARO_SUMS_F64, FARO_SUMS_COMPENSATED } faro_sums;

/* out[entries[i]] += in[i], in the order of i. */
FARO_API faro_status faro_add(const faro_rows* rows, faro_number number, faro_sums sums, const void* in, void* out);

/* Numbers that are changed while a view is moved (faro/arithmetic.hpp says in which type that is computed, and what is rounded,
 * saturated and taken for NaN):
 *     out[i] = to( scale[c] f(in[i]) + offset[c] + beta addend[i] )
 * With all zeros but the types nothing but these changes. */
typedef enum faro_function {
  FARO_IDENTITY, FARO_CONJUGATE, FARO_NEGATE, FARO_ABSOLUTE, FARO_RECIPROCAL, FARO_SQUARE_ROOT, FARO_EXP, FARO_LOG, FARO_TANH,
  FARO_SIGMOID, FARO_RELU, FARO_GELU
} faro_function;
/* One value, or one for each index along an axis of the view; real and imaginary parts by turns. Null: 1 of a scale, 0 of an
 * offset. */
typedef struct faro_coefficient {
  const double* values;
  uint64_t count;
  int axis;    /* of several */
  int padding; /* 0 */
} faro_coefficient;
typedef struct faro_arithmetic {
  faro_number from;
  faro_number to;
  faro_function function;
  int to_nearest;  /* floats to integers; 0: toward 0 */
  int saturated;   /* floats of 16 and 8 bits take their largest finite number for what is beyond it */
  int in_swapped;  /* the bytes of the numbers are in the other order than this machine's */
  int out_swapped;
  int adds; /* whether there is an addend, of the next five */
  faro_coefficient scale;
  faro_coefficient offset;
  faro_number addend;
  int addend_swapped;
  const int64_t* addend_strides; /* one an axis of the view; null: as the output lies */
  double beta[2];
  uint64_t reserved[4];
} faro_arithmetic;
typedef struct faro_arithmetic_plan faro_arithmetic_plan;
/* Everything that is pointed to is copied. Of `options` the engine, which is FARO_AUTO or FARO_CPU, and threads count. */
FARO_API faro_status faro_arithmetic_plan_make(const faro_view* view, const faro_arithmetic* arithmetic,
                                               const faro_options* options, faro_arithmetic_plan** plan);
/* The same of a map, by which as many arrays as `options` say are permuted, one after another, in place where they say so: `in`
 * of a run is `out` then. Coefficients are along axes of the output's shape, all arrays together: `rank` extents, 0 and null one
 * axis. `addend_strides` is null. */
FARO_API faro_status faro_arithmetic_plan_make_map(const faro_map* map, int rank, const uint64_t* out_shape,
                                                   const faro_arithmetic* arithmetic, const faro_options* options,
                                                   faro_arithmetic_plan** plan);
/* The same of rows, converted after they are taken, and before they are put or added, by sums of the type `to`; `row_bytes` are
 * the input's. The entries are the caller's until the plan is destroyed; on a GPU every run reads those that are there then, rows
 * that are taken or put take one sweep, those that are added two. `fill`: as faro_take's, of the output's numbers. An addend
 * is for rows that are taken. */
typedef enum faro_row_move { FARO_TAKE, FARO_PUT, FARO_ADD } faro_row_move;
typedef struct faro_moved_rows {
  const faro_rows* rows;
  faro_row_move move;
  faro_sums sums;   /* of FARO_ADD */
  const void* fill; /* of FARO_TAKE */
  uint64_t fill_bytes;
  const uint64_t* out_shape; /* as above */
  int rank;
  int device; /* one more than that of engine cuda; 0: the engine for the memory that the entries lie in */
  uint64_t reserved[2];
} faro_moved_rows;
FARO_API faro_status faro_arithmetic_plan_make_rows(const faro_moved_rows* rows, const faro_arithmetic* arithmetic,
                                                    faro_arithmetic_plan** plan);
FARO_API void faro_arithmetic_plan_destroy(faro_arithmetic_plan* plan);
/* `addend` may be `out`, which accumulates; without one it is null. Of engine cuda arrays are the device's, and the work is queued on
 * `stream`, as faro_plan_run has it. In words, as faro_plan_explain. */
FARO_API faro_status faro_arithmetic_plan_run(const faro_arithmetic_plan* plan, const void* in, const void* addend, void* out,
                                              void* stream);
/* The same of rows, by as many entries elsewhere; what runs on a GPU found wrong of entries, as faro_row_plan_check. */
FARO_API faro_status faro_arithmetic_plan_run_by(const faro_arithmetic_plan* plan, const void* entries, const void* in,
                                                 const void* addend, void* out, void* stream);
FARO_API faro_status faro_arithmetic_plan_check(const faro_arithmetic_plan* plan, void* stream);
FARO_API faro_status faro_arithmetic_plan_explain(const faro_arithmetic_plan* plan, char** text);
/* The same of arrays of the host, by engine cuda through at most so many bytes of the device's memory, 0: half of what is free.
 * Views, axes, rolls and flips travel in pieces, whatever their size, other maps whole. Returns when the result is there. With engine
 * cpu as faro_arithmetic_plan_run. */
FARO_API faro_status faro_arithmetic_plan_run_staged(const faro_arithmetic_plan* plan, const void* in, const void* addend, void* out,
                                                     uint64_t device_bytes);

/* --- numbers of 8 and 4 bits with a scale for each block of 32 or 16, made and undone while they are moved.
 * faro/block_scales.hpp says what formats are, and how scales lie. Of `options` the engine, threads and device count; of engine
 * cuda arrays are the device's, and the work is queued on `stream`. */
typedef enum faro_block_format { FARO_MXFP8_E4M3, FARO_MXFP8_E5M2, FARO_MXFP4, FARO_NVFP4 } faro_block_format;
typedef struct faro_blocks {
  faro_block_format format;
  faro_number wide; /* FARO_F32, FARO_F16 or FARO_BF16 */
  int rank;
  int axis;                /* along which blocks are */
  const uint64_t* extents; /* of the data, which is dense, row-major */
  const int64_t* strides;  /* of the wide array, in numbers, from its index 0; null: as the data */
  int ceil;                /* scales that are powers of two: rounded up; 0: down */
  int tiled;               /* scales in tiles of 128 x 4, filled up with zeros */
  const int64_t* scale_strides; /* of scales that are not; null: row-major */
  double global_scale;          /* of FARO_NVFP4; 0: 1 */
  uint64_t reserved[4];
} faro_blocks;
typedef struct faro_block_plan faro_block_plan;
/* Everything that is pointed to is copied. */
FARO_API faro_status faro_block_plan_make(const faro_blocks* blocks, const faro_options* options, faro_block_plan** plan);
FARO_API void faro_block_plan_destroy(faro_block_plan* plan);
/* Bytes that the data and the scales have at least. */
FARO_API faro_status faro_block_plan_sizes(const faro_block_plan* plan, uint64_t* data_bytes, uint64_t* scale_bytes);
FARO_API faro_status faro_block_plan_quantize(const faro_block_plan* plan, const void* wide, void* data, void* scales,
                                              void* stream);
FARO_API faro_status faro_block_plan_dequantize(const faro_block_plan* plan, const void* data, const void* scales, void* wide,
                                                void* stream);
FARO_API faro_status faro_block_plan_explain(const faro_block_plan* plan, char** text);

/* Ragged rows: segment s of the input has elements offsets[s] to offsets[s + 1] - 1. Of `offsets` the entries, their count (one
 * more than there are segments), widths and `threads` count; of `from`, which names the segments that are taken, the entries, their
 * count and widths; `element_bytes` has any width. The first writes from->count + 1 offsets, where the taken segments begin when they
 * lie one after another; the second moves them to `out`, of as many elements as the last of those says. Errors: FARO_VALUE for
 * offsets that go down, segments that there are none of, and arrays of other sizes or such that overlap, before anything is
 * written. */
FARO_API faro_status faro_taken_offsets(const faro_rows* offsets, const faro_rows* from, uint64_t element_bytes,
                                        int64_t* out_offsets);
FARO_API faro_status faro_take_segments(const faro_rows* offsets, const faro_rows* from, uint64_t element_bytes,
                                        const void* in, uint64_t in_bytes, void* out, uint64_t out_bytes);

/* The same as plans, for GPUs too (faro::plan_segments). On the host both lists are read when the plan is made, and not again; with
 * engine cuda (which FARO_AUTO is for lists in a device's memory) they lie there, every run reads them, is queued on `stream`, and
 * waits for nothing. Of `options` the engine, threads and device count. */
typedef struct faro_segments_plan faro_segments_plan;
FARO_API faro_status faro_segments_plan_make(const faro_rows* offsets, const faro_rows* from, uint64_t element_bytes,
                                             const faro_options* options, faro_segments_plan** plan);
FARO_API void faro_segments_plan_destroy(faro_segments_plan* plan);
/* How many elements are taken. Errors: FARO_UNSUPPORTED on a GPU, where the host does not know. */
FARO_API faro_status faro_segments_plan_elements(const faro_segments_plan* plan, uint64_t* elements);
/* Where they begin in the output, one more than are taken, of an input of so many bytes; on a GPU written there. */
FARO_API faro_status faro_segments_plan_offsets(const faro_segments_plan* plan, uint64_t in_bytes, int64_t* out_offsets,
                                                void* stream);
/* `out` has room for as many elements as there may be, and what they leave of it stays as it was. `out_offsets`: as above, or
 * null. On a GPU a segment that is wrong is taken as an empty one, elements that have no room are left out, and a check
 * tells of both. `workspace`: of faro_segments_plan_workspace_bytes() of the device, aligned to 16 bytes, so that nothing is allocated; or
 * null. */
FARO_API faro_status faro_segments_plan_run(const faro_segments_plan* plan, const void* in, uint64_t in_bytes, void* out,
                                            uint64_t out_bytes, int64_t* out_offsets, void* workspace,
                                            uint64_t workspace_bytes, void* stream);
FARO_API faro_status faro_segments_plan_workspace_bytes(const faro_segments_plan* plan, uint64_t* bytes);
/* Waits for the stream. Errors: FARO_VALUE for what runs since the last check found wrong. */
FARO_API faro_status faro_segments_plan_check(const faro_segments_plan* plan, void* stream);

/* Rows that are taken, put and added as plans, for GPUs too: with engine cuda entries and arrays lie on the device, every run reads the entries that
 * are there then, is queued on `stream` and waits for nothing, and may be captured into a graph. With `repeats` of at
 * least 2 the entries stay as they are, and elements of 4 or 8 bytes go by a schedule that is made once. */
typedef struct faro_row_plan faro_row_plan;
FARO_API faro_status faro_row_plan_take(const faro_rows* rows, const void* fill, uint64_t fill_bytes,
                                        const faro_options* options, faro_row_plan** plan);
FARO_API faro_status faro_row_plan_put(const faro_rows* rows, const faro_options* options, faro_row_plan** plan);
FARO_API faro_status faro_row_plan_add(const faro_rows* rows, faro_number number, faro_sums sums,
                                       const faro_options* options, faro_row_plan** plan);
FARO_API void faro_row_plan_destroy(faro_row_plan* plan);
/* `entries` null: those that it was made with; engine cuda takes as many elsewhere. On a GPU an entry that names no row
 * leaves its row as it was, and of a put everything. */
FARO_API faro_status faro_row_plan_run(const faro_row_plan* plan, const void* entries, const void* in, void* out,
                                       void* stream);
/* The same in memory that is lent for the work that is queued, so that nothing is allocated: at least
 * faro_row_plan_workspace_bytes() of the device, aligned to 256 bytes. Null: as faro_row_plan_run. */
FARO_API faro_status faro_row_plan_run_in_workspace(const faro_row_plan* plan, const void* entries, const void* in, void* out,
                                                    void* workspace, uint64_t workspace_bytes, void* stream);
/* The same of several arrays by one plan, in one call: the columns of a table, whose rows have any widths, or the blocks of all
 * layers of a cache by one block table. `outer` is the plan's. On a GPU one launch serves up to 128 arrays of one width. Workspace:
 * as above, or null. Errors: before anything is written, also FARO_VALUE for a width that the plan's fill or numbers do not fit, and for
 * an output that overlaps another column's array. */
typedef struct faro_row_column {
  const void* in;
  void* out;
  uint64_t row_bytes;
} faro_row_column;
FARO_API faro_status faro_row_plan_run_columns(const faro_row_plan* plan, const void* entries,
                                               const faro_row_column* columns, uint64_t count, void* workspace,
                                               uint64_t workspace_bytes, void* stream);
FARO_API faro_status faro_row_plan_workspace_bytes(const faro_row_plan* plan, uint64_t* bytes);
/* Waits for the stream. Errors: FARO_VALUE for entries that runs since the last check found wrong; engine cpu has told
 * of them when it ran. */
FARO_API faro_status faro_row_plan_check(const faro_row_plan* plan, void* stream);
FARO_API faro_status faro_row_plan_explain(const faro_row_plan* plan, char** text);

/* Items sent to buckets by their keys. Free with faro_route_destroy. */
typedef struct faro_routing faro_routing;
typedef struct faro_route_options {
  uint64_t buckets;
  uint64_t keys_per_row; /* 0: 1 */
  uint64_t multiple;     /* of a bucket's places; 0: 1 */
  int64_t capacity;      /* of a bucket; negative: no limit */
  int threads;
  uint64_t reserved[4]; /* zeros: for options to come */
} faro_route_options;
FARO_API faro_status faro_route(const void* keys, uint64_t count, int key_bytes, int is_signed,
                                const faro_route_options* options, faro_routing** routing);
FARO_API void faro_route_destroy(faro_routing* routing);
/* Which of a routing's lists. */
typedef enum faro_route_list {
  FARO_ROUTE_PLACES,  /* of each item; -1: it goes nowhere */
  FARO_ROUTE_INVERSE, /* of each place; -1: padding */
  FARO_ROUTE_OFFSETS, /* one more than buckets */
  FARO_ROUTE_COUNTS,  /* of each bucket */
  FARO_ROUTE_ROWS     /* the row at each place, -1 for padding: what faro_take is given */
} faro_route_list;
/* Valid as long as the routing. */
FARO_API faro_status faro_route_get(const faro_routing* routing, faro_route_list list, const int64_t** entries,
                                    uint64_t* count);
FARO_API faro_status faro_route_lost(const faro_routing* routing, uint64_t* dropped, uint64_t* absent);

/* out[t] = sum over j of weights[t k + j] in[places[t k + j]], k keys a row. `weights` null: all 1. `rows->rows` are
 * the input's, `rows->outer` is not used. Numbers: FARO_F16, FARO_BF16, FARO_F32 or FARO_F64. */
FARO_API faro_status faro_combine(const faro_rows* rows, uint64_t keys_per_row, const float* weights,
                                  faro_number number, faro_sums sums, const void* in, void* out);

/* The same on a GPU, as plans: keys, places, weights and arrays lie on the device `device` - 1 (0: the calling thread's), every
 * run reads what is there then, is queued on `stream` and waits for nothing. A check waits for the stream. Errors:
 * FARO_VALUE for keys, or places, that runs since the last check found wrong: such items go nowhere, or are left out. */
typedef struct faro_route_plan faro_route_plan;
typedef struct faro_device_route { /* null ones are not wanted; `most` as faro_route_plan_most_places says */
  int64_t* places;                 /* [keys] */
  int64_t* inverse;                /* [most] */
  int64_t* rows;                   /* [most] */
  int64_t* offsets;                /* [buckets + 1] */
  int64_t* counts;                 /* [buckets] */
} faro_device_route;
FARO_API faro_status faro_route_plan_make(const void* keys, uint64_t count, int key_bytes, int is_signed,
                                          const faro_route_options* options, int device, faro_route_plan** plan);
FARO_API void faro_route_plan_destroy(faro_route_plan* plan);
FARO_API faro_status faro_route_plan_most_places(const faro_route_plan* plan, uint64_t* places);
FARO_API faro_status faro_route_plan_run(const faro_route_plan* plan, const faro_device_route* to, void* stream);
/* The same in memory that is lent for the work that is queued, so that nothing is allocated: at least
 * faro_route_plan_workspace_bytes() of the device, aligned to 16 bytes. Null: as faro_route_plan_run. */
FARO_API faro_status faro_route_plan_run_in_workspace(const faro_route_plan* plan, const faro_device_route* to,
                                                      void* workspace, uint64_t workspace_bytes, void* stream);
/* Routes, and sends rows of `row_bytes` bytes to their places as faro_dispatch_plan_run does: `in` has a row for each keys_per_row
 * keys, `out` has faro_route_plan_most_places() rows; those that no item has become zeros. Few keys are one launch. `to` has places
 * and rows. */
FARO_API faro_status faro_route_plan_send(const faro_route_plan* plan, const faro_device_route* to, uint64_t row_bytes,
                                          const void* in, void* out, void* stream);
FARO_API faro_status faro_route_plan_workspace_bytes(const faro_route_plan* plan, uint64_t* bytes);
FARO_API faro_status faro_route_plan_check(const faro_route_plan* plan, void* stream);

typedef struct faro_combine_plan faro_combine_plan;
FARO_API faro_status faro_combine_plan_make(const faro_rows* rows, uint64_t keys_per_row, const float* weights,
                                            faro_number number, faro_sums sums, int device, faro_combine_plan** plan);
FARO_API void faro_combine_plan_destroy(faro_combine_plan* plan);
FARO_API faro_status faro_combine_plan_run(const faro_combine_plan* plan, const void* in, void* out, void* stream);
FARO_API faro_status faro_combine_plan_check(const faro_combine_plan* plan, void* stream);

/* out[places[t k + j]] = in[t], k keys a row: what faro_take does by a routing's rows, but that each row is read once. Of `places` the
 * entries, their count and widths, `rows` of the output, `row_bytes` and `threads` count. `taken`: a routing's rows, for which the
 * output's padding becomes zeros; null: rows without an item stay as they are. */
FARO_API faro_status faro_dispatch(const faro_rows* places, uint64_t keys_per_row, const faro_rows* taken, const void* in,
                                   void* out);
/* The same on a GPU, as the plans above. */
typedef struct faro_dispatch_plan faro_dispatch_plan;
FARO_API faro_status faro_dispatch_plan_make(const faro_rows* places, uint64_t keys_per_row, const faro_rows* taken,
                                             int device, faro_dispatch_plan** plan);
FARO_API void faro_dispatch_plan_destroy(faro_dispatch_plan* plan);
FARO_API faro_status faro_dispatch_plan_run(const faro_dispatch_plan* plan, const void* in, void* out, void* stream);
FARO_API faro_status faro_dispatch_plan_check(const faro_dispatch_plan* plan, void* stream);

/* --- paged caches of keys and values, from one engine's layout to another's (faro/caches.hpp)
 *
 * Number (block, token t, head h, place w) of an array lies at block * block_stride + t * token_stride + h * head_stride
 * + w / part * part_stride + w % part * element_stride, all in numbers. */

typedef struct faro_cache_layout {
  faro_number number;
  uint64_t blocks; /* that tables number */
  uint64_t block_tokens;
  uint64_t block_stride;
  uint64_t token_stride;
  uint64_t head_stride;
  uint64_t part; /* divides a head's width; 0: all of it */
  uint64_t part_stride;
  uint64_t element_stride; /* 0: 1 */
} faro_cache_layout;

/* One layer's keys, or values. A stored number q stands for q times the scale of its side; 0: 1. */
typedef struct faro_cache_arrays {
  const void* in;
  void* out;
  float in_scale;
  float out_scale;
} faro_cache_arrays;

/* For arrays of `heads` heads of `width` numbers, whose addresses are kept. Numbers of one type move as they are; f32, f16, bf16 and
 * 8-bit floats are converted, 8-bit ones saturate. Of `options` the engine (FARO_AUTO: cuda for arrays in a device's memory), threads
 * and device count. Errors: FARO_VALUE for layouts and scales that make no sense, for arrays that overlap or are not the engine's;
 * FARO_UNSUPPORTED for other numbers. */
typedef struct faro_cache_plan faro_cache_plan;
FARO_API faro_status faro_cache_plan_make(uint64_t heads, uint64_t width, const faro_cache_layout* from, const faro_cache_layout* to,
                                          const faro_cache_arrays* arrays, uint64_t count, const faro_options* options,
                                          faro_cache_plan** plan);
FARO_API void faro_cache_plan_destroy(faro_cache_plan* plan);
/* The first `tokens` tokens of each of `sequences` sequences, of all arrays: token i is in block from[i / block_tokens] of the
 * sequence's row of the table, at i % block_tokens, and likewise on the other side. Of tables and `lengths` the entries, their count
 * and widths count; `lengths`: of each sequence its own number of tokens, at most `tokens`; or null. On a GPU they lie there, and the
 * run is one launch, queued on `stream`. Errors: FARO_VALUE for tables too short for the tokens; on the host, before anything is
 * written, for entries that are no block and a block of the target that is named twice. */
FARO_API faro_status faro_cache_plan_run(const faro_cache_plan* plan, const faro_rows* from, const faro_rows* to,
                                         uint64_t sequences, uint64_t tokens, const faro_rows* lengths, void* stream);
/* Waits for the stream. Errors: FARO_VALUE for entries and lengths that runs since the last check found wrong: their tokens were left
 * out. */
FARO_API faro_status faro_cache_plan_check(const faro_cache_plan* plan, void* stream);
FARO_API faro_status faro_cache_plan_explain(const faro_cache_plan* plan, char** text);

/* --- groups: many arrays at once (faro/group.hpp)
 *
 * Each member has an array and a map of its own. On a GPU one launch for each family of kernels, on the CPU one team over all. */

/* What is done to one array: one of plan, view, text and rows is given. Everything that is pointed to is copied, but `plan` and
 * `rows`, which are used as long as the group lives. Zeros are the defaults. */
typedef struct faro_group_member {
  const faro_plan* plan;             /* of the group's engine; members may share one */
  const faro_view* view;
  const char* text;                  /* as faro_plan_text has it, with `shape` of `rank` axes */
  const faro_row_plan* rows;
  const faro_arithmetic* arithmetic; /* of a view or a text, without an addend: members may share it; null: elements stay as they are */
  const uint64_t* shape;
  int rank;
  int in_place;                      /* of a text; plans say so themselves */
  uint64_t element_bytes;            /* of a view or a text without arithmetic */
  uint64_t batch;                    /* of a text; 0: 1 */
  const void* in;                    /* null where pointers come with each run; in place null or `out` */
  void* out;
  uint64_t reserved[4];
} faro_group_member;

typedef struct faro_group faro_group;
/* Of `options` the engine (FARO_AUTO: that of the first plan or rows, else the CPU's), threads and device count. Equal problems are
 * planned once. Errors: those of faro_plan_text and faro_plan_view, with the member's number; FARO_VALUE for outputs that overlap an
 * output or an input of members that have pointers. */
FARO_API faro_status faro_group_create(const faro_group_member* members, uint64_t count, const faro_options* options,
                                       faro_group** group);
FARO_API void faro_group_destroy(faro_group* group);
/* By the pointers that it was made with: nothing is checked, copied or allocated but faro_group_workspace_bytes(). */
FARO_API faro_status faro_group_run(const faro_group* group, void* stream);
/* By others, one of each for every member, which are checked as those of faro_group_create, and on a GPU brought to the device in the
 * stream's order; there each array lies as far past a multiple of 32 bytes as the one that the member was made with, or at one.
 * Errors: before anything is written. */
FARO_API faro_status faro_group_run_arrays(const faro_group* group, const void* const* ins, void* const* outs, void* stream);
/* The same in memory that is lent for the work that is queued: at least faro_group_workspace_bytes() of where the arrays lie, aligned
 * to 256 bytes. Null `ins` and `outs`: the pointers that it was made with. */
FARO_API faro_status faro_group_run_in_workspace(const faro_group* group, const void* const* ins, void* const* outs,
                                                 void* workspace, uint64_t workspace_bytes, void* stream);
/* By 2 count addresses that lie on the device, inputs, then outputs, and are read when the launches run: a captured graph is replayed
 * with others. Nobody checks them. Errors: FARO_UNSUPPORTED on the CPU, and for members with launches of their own
 * (faro_group_explain tells which). */
FARO_API faro_status faro_group_run_table(const faro_group* group, const void* const* device_pointers, void* stream);
/* What a run allocates where nothing is lent. */
FARO_API faro_status faro_group_workspace_bytes(const faro_group* group, uint64_t* bytes);
/* Members; launches of a run; bytes that it reads and writes; whether it runs by engine cuda. Any may be null. */
FARO_API faro_status faro_group_facts(const faro_group* group, uint64_t* members, uint64_t* launches, uint64_t* moved_bytes,
                                      int* on_gpu);
/* Microseconds of a run; NaN where nothing is known. */
FARO_API faro_status faro_group_predicted_us(const faro_group* group, double* microseconds);
FARO_API faro_status faro_group_explain(const faro_group* group, char** text);

/* --- automorphisms X -> X^k of polynomials modulo X^n + 1, as many as `bytes` hold (faro/faro.hpp)
 *
 * On the host, or on the device whose memory `in` is, queued on `stream`; of `options` the engine, threads and device count. */

/* On the coefficients: i goes to k i mod n, and is negated where k i mod 2 n is n or more. `modulus`: of unsigned numbers below it;
 * 0: none. Errors: FARO_VALUE for a k that has a divisor with 2 n. */
FARO_API faro_status faro_permute_negacyclic(uint64_t n, int64_t k, faro_number number, uint64_t modulus, const void* in,
                                             void* out, uint64_t bytes, const faro_options* options, void* stream);
/* The same with a modulus for each polynomial, as the residues of a ciphertext have them: polynomial b has moduli[b mod
 * moduli_count], and `bytes` hold a multiple of moduli_count polynomials. The moduli lie on the host and are read before the call
 * returns. Errors: FARO_VALUE also for another number of polynomials. */
FARO_API faro_status faro_permute_negacyclic_moduli(uint64_t n, int64_t k, faro_number number, const uint64_t* moduli,
                                                    uint64_t moduli_count, const void* in, void* out, uint64_t bytes,
                                                    const faro_options* options, void* stream);
/* On the values in bit-reversed order, which need no signs; n is a power of two, elements have any width. */
FARO_API faro_status faro_permute_evaluations(uint64_t n, int64_t k, uint64_t element_bytes, const void* in, void* out,
                                              uint64_t bytes, const faro_options* options, void* stream);

/* --- networks: `sort`, `wht`, `fft`, 'parm(3; pairs(min_max))', ... on arrays of 2^bits elements */

/* On the host. `element`: "u32", "f64", "c64", "u32+value", ... `batch` arrays, one after another. */
FARO_API faro_status faro_network_run(const char* program, int bits, const char* element, uint64_t batch, int threads,
                                      const void* in, void* out);
FARO_API faro_status faro_network_explain(const char* program, int bits, const char* element, char** text);

/* Made once, which takes milliseconds, on a GPU half a second, and run often: of the options `engine`, `threads`,
 * `device` and `batch` count. On a GPU the arrays lie there, and a run is queued on `stream`. */
typedef struct faro_network_plan faro_network_plan;
FARO_API faro_status faro_network_plan_make(const char* program, int bits, const char* element,
                                            const faro_options* options, faro_network_plan** plan);
FARO_API void faro_network_plan_destroy(faro_network_plan* plan);
FARO_API faro_status faro_network_plan_run(const faro_network_plan* plan, const void* in, void* out, void* stream);
FARO_API faro_status faro_network_plan_explain(const faro_network_plan* plan, char** text);

/* --- files larger than memory (faro/file.hpp): raw data from an offset on, in sweeps within a budget of memory */

typedef enum faro_io { FARO_IO_AUTO = 0, FARO_IO_URING = 1, FARO_IO_THREADS = 2, FARO_IO_BUFFERED = 3 } faro_io;

/* All zero is usual. */
typedef struct faro_file_options {
  uint64_t memory_bytes; /* of the buffers; 0: 60% of what is free */
  int threads;           /* that permute; 0: as OpenMP */
  int io_threads;        /* that read and write; 0: 8 */
  int queue_depth;       /* requests of each by io_uring; 0: 32 */
  faro_io io;
  int verify;            /* compares sums of what is read and written */
  int keep_unfinished;   /* beside the output, for `resume` */
  int resume;
  double checkpoint_seconds; /* between records of the journal; 0: 5, below 0: after each tile */
  /* Called by any thread, but by one at a time; other than 0 ends the run. May be null. */
  int (*progress)(void* context, uint64_t done_bytes, uint64_t total_bytes);
  void* context;
  uint64_t reserved[4]; /* zeros: for options to come */
} faro_file_options;

typedef struct faro_file {
  const char* path;
  uint64_t offset; /* where the data begins */
  const void* header; /* of an output: what stands before the data, `offset` bytes; null: zeros */
} faro_file;

/* `batch` arrays of the map's elements, each permuted: out[b][pi(x)] = in[b][x]. The output appears whole or not
 * at all. `finished`: 0 where progress ended it. `options` may be null here and below. */
FARO_API faro_status faro_file_permute(const faro_map* map, uint64_t element_bytes, uint64_t batch, const faro_file* in,
                                       const faro_file* out, const faro_file_options* options, int* finished);
/* The same by index arrays in .npy files of any size, which are read as they are needed: `index` is a text such as
 * "@index.npy", "gather(@index.npy)" or "compose(@a.npy, bit_reversal(30))". */
FARO_API faro_status faro_file_permute_by_index(const char* index, uint64_t record_bytes, uint64_t batch,
                                                const faro_file* in, const faro_file* out,
                                                const faro_file_options* options, int* finished);
/* The same in the file itself, beside a journal. Who finds it interrupted (FARO_FILE, or not finished) calls
 * faro_file_recover, which finishes it, or with `undo` takes it back. A header is not written. */
FARO_API faro_status faro_file_permute_in_place(const faro_map* map, uint64_t element_bytes, uint64_t batch,
                                                const faro_file* file, const faro_file_options* options, int* finished);
FARO_API faro_status faro_file_is_permuted_in_part(const char* path, int* in_part);
FARO_API faro_status faro_file_recover(const char* path, int undo, const faro_file_options* options, int* finished);
/* A random permutation of records by a seed, undone with `inverse`. */
FARO_API faro_status faro_file_shuffle(uint64_t records, uint64_t record_bytes, uint64_t seed, int inverse,
                                       const faro_file* in, const faro_file* out, const faro_file_options* options,
                                       int* finished);

/* --- shards: arrays that are spread over ranks (faro/shards.hpp, docs/guide/shards.md)
 *
 * What one rank does, made without talking to the others: it packs its part (faro_shard_plan_pass with unpack 0),
 * exchanges the messages by whatever carries them, MPI_Alltoallv or another, and unpacks what it received. */

typedef struct faro_shard_plan faro_shard_plan;

/* To or from a rank, itself among them: `offset_bytes` into what is packed, or into what is received. The k-th message
 * to a rank arrives as its k-th from this one. */
typedef struct faro_shard_message {
  int peer;
  uint64_t offset_bytes;
  uint64_t bytes;
} faro_shard_message;

/* A map by its text, of an array of `shape` (`axes` of them; 0 and null: none), whose input and output are cut among
 * `ranks` as the texts say: "axis(1)", "axis(0; 3 1 2)" with an extent for each rank, "bits(28 29)", or a mesh's,
 * "mesh 2x3; axis 0 over 0; axis 1 over 1" (faro/distribution.hpp); null: axis(0).
 * Axes are those that the text has, or there is one, of all elements. */
FARO_API faro_status faro_shard_plan_text(const char* text, int axes, const uint64_t* shape, uint64_t element_bytes,
                                          int ranks, int rank, const char* cut_in, const char* cut_out,
                                          faro_shard_plan** plan);
/* The same of a map; its elements are one axis. */
FARO_API faro_status faro_shard_plan_map(const faro_map* map, uint64_t element_bytes, int ranks, int rank,
                                         const char* cut_in, const char* cut_out, faro_shard_plan** plan);
FARO_API void faro_shard_plan_destroy(faro_shard_plan* plan);
/* Of the rank's parts. */
FARO_API faro_status faro_shard_plan_bytes(const faro_shard_plan* plan, uint64_t* in_bytes, uint64_t* out_bytes);
/* Those it sends, or with received != 0 those it receives; they are the plan's. */
FARO_API faro_status faro_shard_plan_messages(const faro_shard_plan* plan, int received,
                                              const faro_shard_message** messages, uint64_t* count);
/* From the part to what is packed, or with unpack != 0 from what is received to the output, each of as many bytes: a
 * plan, or null where there is nothing to do, and messages lie in the part, or belong into the output, as they are. */
FARO_API faro_status faro_shard_plan_pass(const faro_shard_plan* plan, int unpack, const faro_options* options,
                                          faro_plan** pass);
/* The same as a map, for those who carry it out themselves; null where there is nothing to do. Errors:
 * FARO_UNSUPPORTED for passes of boxes. */
FARO_API faro_status faro_shard_plan_pass_map(const faro_shard_plan* plan, int unpack, faro_map** map);
FARO_API faro_status faro_shard_plan_explain(const faro_shard_plan* plan, char** text);
/* docs/guide/json.md, "explain, of shards". */
FARO_API faro_status faro_shard_plan_explain_json(const faro_shard_plan* plan, char** json);

/* Ranks on GPUs: arrays go by NCCL, in slices that are packed and unpacked meanwhile, or straight into the memory of
 * ranks on the same machine (docs/guide/shards.md); words, by which ranks agree and refuse together, by a function of
 * the caller's. Every call but the destroying ones is collective. */

typedef struct faro_words {
  void* context;
  int ranks;
  int rank;
  /* Gives `bytes` bytes at `mine` to all ranks, and calls take(taker, text, bytes) once for each rank, in order, with
   * what it gave. Other than 0: failed, and no word comes after it. Called by the thread that is in a call, which waits
   * for it. */
  int (*all_gather)(void* context, const char* mine, uint64_t bytes, void* taker,
                    void (*take)(void* taker, const char* text, uint64_t bytes));
  uint64_t reserved[4]; /* zeros */
} faro_words;

/* libnccl.so.2 is opened here, or is the one that the process has. `seconds`: how long faro_sharded_plan_wait waits for a
 * rank, 0: five minutes. `words` is copied; its context lives as long as the communicator. Errors: FARO_DEVICE without
 * that library or the device, and where two ranks have one device; FARO_VALUE for words of no rank. */
typedef struct faro_communicator faro_communicator;
FARO_API faro_status faro_communicator_nccl(const faro_words* words, int device, double seconds,
                                            faro_communicator** communicator);
/* After its plans. */
FARO_API void faro_communicator_destroy(faro_communicator* communicator);

/* The plan of this rank, which is copied, with its kernels and workspace. `options` are for the local passes, but for their
 * `memory_bytes`, within which messages go in rounds; `without_stores` other than 0: by messages alone. Errors, alike on all
 * ranks: FARO_VALUE for ranks with different problems; those of a bound that the plan's passes cannot keep. */
typedef struct faro_sharded_plan faro_sharded_plan;
FARO_API faro_status faro_sharded_plan_create(const faro_shard_plan* plan, faro_communicator* communicator,
                                              const faro_options* options, int without_stores,
                                              faro_sharded_plan** sharded);
FARO_API void faro_sharded_plan_destroy(faro_sharded_plan* sharded);
/* This rank's parts, arrays of cudaMalloc's memory that do not overlap. Queued on `stream`, behind all that is there; the
 * output is complete when that is. Errors, alike on all ranks and before anything is written: FARO_VALUE for other sizes. */
FARO_API faro_status faro_sharded_plan_run(faro_sharded_plan* sharded, const void* in, uint64_t in_bytes, void* out,
                                           uint64_t out_bytes, void* stream);
/* Several arrays, as the weights of a model: as faro_sharded_plan_run() one after the other, but that the ranks meet once for
 * all, stores of all go on at the same time, and messages of many go together. The same plans in the same order on all ranks,
 * of one communicator. Errors: also FARO_VALUE for plans of several, and for an output that overlaps any other array. */
typedef struct faro_sharded_run {
  faro_sharded_plan* sharded;
  const void* in;
  uint64_t in_bytes;
  void* out;
  uint64_t out_bytes;
} faro_sharded_run;
FARO_API faro_status faro_sharded_plans_run(const faro_sharded_run* runs, uint64_t count, void* stream);
/* Waits for what is queued. Errors: FARO_DEVICE where a rank was lost; the communicator is given up then. */
FARO_API faro_status faro_sharded_plan_wait(faro_sharded_plan* sharded, void* stream);
/* The plan, and how it is carried out and why. */
FARO_API faro_status faro_sharded_plan_explain(const faro_sharded_plan* sharded, char** text);

/* The same of parts whose numbers are changed on their way (faro_arithmetic), where links carry the narrower type. Of `plan` the
 * width of elements is not read. Coefficients are along axes of the output, whose parts are slabs then; `addend_strides` is null.
 * Errors, alike on all ranks: also FARO_VALUE for ranks with different arithmetic. */
typedef struct faro_sharded_arithmetic faro_sharded_arithmetic;
FARO_API faro_status faro_sharded_arithmetic_create(const faro_shard_plan* plan, const faro_arithmetic* arithmetic,
                                                    faro_communicator* communicator, const faro_options* options,
                                                    int without_stores, faro_sharded_arithmetic** sharded);
FARO_API void faro_sharded_arithmetic_destroy(faro_sharded_arithmetic* sharded);
/* Numbers of this rank's parts. */
FARO_API faro_status faro_sharded_arithmetic_counts(const faro_sharded_arithmetic* sharded, uint64_t* in_count, uint64_t* out_count);
/* As faro_sharded_plan_run; `addend` is the rank's part of the added array, cut as the output, or `out`, and null without one. */
FARO_API faro_status faro_sharded_arithmetic_run(faro_sharded_arithmetic* sharded, const void* in, const void* addend, void* out,
                                                 void* stream);
FARO_API faro_status faro_sharded_arithmetic_wait(faro_sharded_arithmetic* sharded, void* stream);
FARO_API faro_status faro_sharded_arithmetic_explain(const faro_sharded_arithmetic* sharded, char** text);

/* --- stores: Zarr, HDF5, safetensors, .npy, .npz, GGUF, NIfTI, FITS, TIFF (faro/store.hpp, docs/guide/stores.md)
 *
 * A path may name an array behind a colon, "in.h5:/t". */

/* What a store says of its arrays: JSON, a list of objects with "name", "format", "shape", "dtype", "big_endian", "bytes",
 * "chunks", "shards", "codec", "dimensions", "attributes" and "refusal". */
FARO_API faro_status faro_store_arrays(const char* path, char** json);
/* From one store to another, whole or not at all. `options`: JSON, an object with any of "axes", "map" (a permutation's
 * text), "chunks", "shards", "inner_shards" (lists of extents, outermost first), "codec", "dtype", "fortran_order", "format",
 * "memory_bytes", "threads", "verify", "resume" (go on where the same call was ended), "raw_dtype", "raw_shape", "raw_offset"
 * (bytes before such an array in its file), "explain" (nothing is written); null: none. `progress` is called by any thread, but
 * by one at a time; other than 0 ends the run; null: nobody is told. `json`: what was done, or would be (docs/guide/json.md,
 * "convert"). */
FARO_API faro_status faro_store_relayout(const char* in, const char* out, const char* options,
                                         int (*progress)(void* context, uint64_t done_bytes, uint64_t total_bytes),
                                         void* context, char** json);

/* Rules applied to all tensors of a safetensors checkpoint, a file or a folder with its index (faro/checkpoint.hpp,
 * docs/guide/checkpoints.md). `rules`: JSON. `options`: JSON, an object with any of "memory_bytes", "threads", "shard_bytes",
 * "verify", "resume", "explain" (nothing is written); null: none. `progress`, `context` and `json`: as of a relayout. */
FARO_API faro_status faro_checkpoint(const char* rules, const char* in, const char* out, const char* options,
                                     int (*progress)(void* context, uint64_t done_bytes, uint64_t total_bytes),
                                     void* context, char** json);

/* --- elements of any number of bits (faro/packed.hpp, docs/guide/bits.md)
 *
 * `options`: JSON, an object with any of "bits" (4), "batch", "in_row", "in_pitch_bits", "in_first_bit", "in_order" ("low" or
 * "high"), the same of "out_…", "zero_pads", "threads", "engine" ("auto": where `in` is; "cpu", "cuda"), "device"; null: none. */

/* Bytes of both arrays. */
FARO_API faro_status faro_packed_bytes(const faro_map* map, const char* options, uint64_t* in_bytes, uint64_t* out_bytes);
/* out[map(x)] = in[x]; in place where `out` is `in`, of affine maps. Arrays of a device: queued on `stream`, a cudaStream_t
 * (null: the default one). Errors: FARO_UNSUPPORTED for other maps in place. */
FARO_API faro_status faro_packed_permute(const faro_map* map, const char* options, const void* in, uint64_t in_bytes,
                                         void* out, uint64_t out_bytes, void* stream);
/* A PLINK 1 .bed file in the other of its two orders, whole or not at all; 0 samples or variants are counted in the .fam or
 * .bim beside it. `options`: JSON with any of "memory_bytes", "threads", "verify"; null: none. */
FARO_API faro_status faro_transpose_bed(const char* in, const char* out, uint64_t samples, uint64_t variants,
                                        const char* options);

/* --- for the authors of kernels: JSON, as the command prints it with --json (docs/guide/json.md) */

/* The layout of a rows x columns array in shared memory with the fewest bank conflicts for accesses such as
 * "row, column(8), stride(3)". */
FARO_API faro_status faro_layout(uint64_t rows, uint64_t columns, uint64_t element_bytes, const char* accesses,
                                 uint64_t seed, char** json);
/* An affine map as a file of source code. `options`: JSON, an object with any of "kernel", "target", "element",
 * "name", "n_tile", "n_iter", "map", "plain_rows", "factors", "launcher"; and, for numbers that are changed, "from",
 * their type as NumPy names it, with "to", "op", "scale", "offset", "add", a type, "beta", "to_nearest", "saturate";
 * null: none. */
FARO_API faro_status faro_emit(const faro_map* map, const char* options, char** json);
/* A program of the memory machines. `request`: JSON with "program" and any of "machine", "width", "latency",
 * "threads", "n", "registers", "dmms", "shared_latency", "spec", "seed", "layout", "direct", "overlap", "timeline". */
FARO_API faro_status faro_simulate(const char* request, char** json);
/* The swizzles that complete a kernel's sketch, or a proof that there are none (docs/guide/swizzle.md). `request`: JSON
 * with "example" and its "struct" and "warp", or with "name", "specification" and "sketch" as extras/swizzle/capi/
 * sketch_json.hpp has them; and any of "space", "time_limit" in seconds (600), "all", "emit": an object with "name",
 * "element", "batch", "image", "device_function". `keep_on(context)` is asked at most ten times a second, and ends the search
 * by 0; null: nobody is asked. Simulations and swizzles are in libfaro.so and the Python package, not in
 * libfaro.a: in faro_papers and faro_swizzle. */
FARO_API faro_status faro_synth(const char* request, int (*keep_on)(void*), void* context, char** json);
/* The registers of one layout made those of another, or loaded from or stored to one in shared memory (docs/guide/exchange.md),
 * and "explanation", the same in words. `options`: JSON, an object with any of "element" (32 bits), "capability" (90), "name" of
 * a function, whose header is then "code", and "way" ("registers", "shared" or "cheapest"); null: none. As faro_synth, in
 * libfaro.so. Errors: FARO_SPEC for a text that is no layout, FARO_VALUE for layouts that do not fit each other. */
FARO_API faro_status faro_layout_convert(const char* from, const char* to, const char* options, char** json);
/* Whether expressions of C give the elements of a layout of so many bits each. `indices`: JSON, a list of texts. */
FARO_API faro_status faro_layout_check(const char* layout, const char* indices, uint64_t element_bits, char** json);

#ifdef __cplusplus
}
#endif

#endif
