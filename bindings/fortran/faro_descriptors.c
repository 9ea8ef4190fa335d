/* What the Fortran module cannot say in Fortran: strides of arrays that are passed by descriptor. Compiled beside faro.f90.
 *
 * A Fortran array's first dimension moves fastest. Where a shape goes to faro it is turned around, so that a text means the array
 * as it lies in memory; strides need no turning, since a view's axes have no order.
 */
#include <ISO_Fortran_binding.h>
#include <stdio.h>
#include <stdlib.h>

#include "faro/faro.h"

static _Thread_local char message[1024];

/* Of the calling thread's last failure. */
const char* faro_fortran_message(void) { return message; }

/* A refusal of the binding's own, in the words that faro's have. */
static faro_status refused(faro_status status, const char* got, const char* wanted) {
  snprintf(message, sizeof message, "Fortran: got %s; wanted %s", got, wanted);
  return status;
}

static faro_status told(faro_status status) {
  if (status != FARO_OK) snprintf(message, sizeof message, "%s", faro_last_message());
  return status;
}

static uint64_t element_count(const CFI_cdesc_t* array) {
  uint64_t count = 1;
  for (int i = 0; i < array->rank; ++i) count *= (uint64_t)array->dim[i].extent;
  return count;
}

static faro_status need_dense(const CFI_cdesc_t* array, uint64_t bytes) {
  char got[96], wanted[96];
  if (!CFI_is_contiguous(array)) {
    return refused(FARO_VALUE, "a section of an array whose elements lie apart",
                   "a contiguous array; faro_permute_dims takes sections");
  }
  if (element_count(array) * array->elem_len != bytes) {
    snprintf(got, sizeof got, "an array of %llu bytes", (unsigned long long)(element_count(array) * array->elem_len));
    snprintf(wanted, sizeof wanted, "one of %llu", (unsigned long long)bytes);
    return refused(FARO_VALUE, got, wanted);
  }
  return FARO_OK;
}

/* b(i_order(1), i_order(2), ...) = a(i_1, i_2, ...), for any sections; order counts from 1. */
int faro_fortran_permute_dims(const CFI_cdesc_t* a, const int* order, int orders, CFI_cdesc_t* b,
                              int threads) {
  uint64_t extents[CFI_MAX_RANK];
  int64_t in_strides[CFI_MAX_RANK], out_strides[CFI_MAX_RANK];
  char got[96], wanted[96];
  int seen[CFI_MAX_RANK] = {0};
  if (orders != a->rank)
    return refused(FARO_VALUE, "an order of another length than the array's rank", "an entry for each dimension");
  if (a->rank != b->rank || a->elem_len != b->elem_len) {
    snprintf(got, sizeof got, "rank %d of %zu bytes, and rank %d of %zu", (int)a->rank, a->elem_len, (int)b->rank, b->elem_len);
    return refused(FARO_VALUE, got, "two arrays of one rank and one type");
  }
  for (int i = 0; i < b->rank; ++i) {
    if (order[i] < 1 || order[i] > a->rank || seen[order[i] - 1]++) {
      snprintf(got, sizeof got, "dimension %d in the order", order[i]);
      snprintf(wanted, sizeof wanted, "each of 1 to %d once", (int)a->rank);
      return refused(FARO_VALUE, got, wanted);
    }
  }
  for (int i = 0; i < b->rank; ++i) {
    const int from = order[i] - 1;
    if (a->dim[from].extent != b->dim[i].extent) {
      snprintf(got, sizeof got, "%lld along dimension %d of the result", (long long)b->dim[i].extent, i + 1);
      snprintf(wanted, sizeof wanted, "%lld, as dimension %d of the array has", (long long)a->dim[from].extent, from + 1);
      return refused(FARO_VALUE, got, wanted);
    }
    const CFI_index_t element = (CFI_index_t)a->elem_len;
    if (a->dim[from].sm % element != 0 || b->dim[i].sm % element != 0) {
      return refused(FARO_UNSUPPORTED, "components of a derived type", "arrays whose elements lie whole elements apart");
    }
    extents[i] = (uint64_t)a->dim[from].extent;
    in_strides[i] = a->dim[from].sm / element;
    out_strides[i] = b->dim[i].sm / element;
  }
  const faro_view view = {b->rank, extents, in_strides, out_strides, 0, 0};
  const faro_options options = {.threads = threads};
  faro_plan* plan = NULL;
  faro_status status = faro_plan_view(&view, a->elem_len, &options, &plan);
  if (status == FARO_OK) status = faro_plan_run(plan, a->base_addr, b->base_addr, NULL);
  told(status);
  faro_plan_destroy(plan);
  return status;
}

/* b(.., i) = a(.., rows(i)): the last dimension's rows, which are contiguous; rows(i) counts from 1. */
int faro_fortran_take(const CFI_cdesc_t* a, const CFI_cdesc_t* rows, CFI_cdesc_t* b, int threads) {
  if (rows->type != CFI_type_int32_t && rows->type != CFI_type_int64_t)
    return refused(FARO_VALUE, "rows of another type", "integers of 4 or 8 bytes");
  if (a->rank < 1 || a->rank != b->rank || a->elem_len != b->elem_len || rows->rank != 1 ||
      b->dim[b->rank - 1].extent != rows->dim[0].extent) {
    return refused(FARO_VALUE, "arrays that do not fit", "a and b of one rank and type, and rows of as many entries as b's last dimension");
  }
  const uint64_t count = (uint64_t)rows->dim[0].extent, all = (uint64_t)a->dim[a->rank - 1].extent;
  uint64_t row_bytes = a->elem_len;
  for (int i = 0; i + 1 < a->rank; ++i) {
    if (a->dim[i].extent != b->dim[i].extent) {
      return refused(FARO_VALUE, "rows of different shapes", "b's rows as a's");
    }
    row_bytes *= (uint64_t)a->dim[i].extent;
  }
  faro_status status = need_dense(a, all * row_bytes);
  if (status == FARO_OK) status = need_dense(b, count * row_bytes);
  if (status != FARO_OK) return status;
  int64_t* entries = malloc((count + 1) * sizeof *entries);
  if (entries == NULL) {
    return refused(FARO_MEMORY, "no memory", "8 bytes for each entry");
  }
  for (uint64_t i = 0; i < count; ++i) {
    const char* entry = (const char*)rows->base_addr + (CFI_index_t)i * rows->dim[0].sm;
    entries[i] = (rows->elem_len == 4 ? *(const int32_t*)entry : *(const int64_t*)entry) - 1;
  }
  const faro_rows taken = {entries, count, 8, 1, all, 1, row_bytes, threads};
  status = row_bytes == 0 ? FARO_OK : told(faro_take(&taken, NULL, 0, a->base_addr, b->base_addr));
  free(entries);
  return status;
}

/* A text for an array of this shape and type. */
int faro_fortran_plan(const char* text, const CFI_cdesc_t* like, int in_place, int threads, faro_plan** plan) {
  uint64_t shape[CFI_MAX_RANK];
  for (int i = 0; i < like->rank; ++i) shape[i] = (uint64_t)like->dim[like->rank - 1 - i].extent;
  const faro_options options = {.threads = threads, .in_place = in_place};
  return told(faro_plan_text(text, like->rank, shape, like->elem_len, &options, plan));
}

int faro_fortran_run(const faro_plan* plan, const CFI_cdesc_t* a, CFI_cdesc_t* b) {
  uint64_t bytes = 0;
  faro_status status = told(faro_plan_out_bytes(plan, &bytes));
  if (status == FARO_OK) status = need_dense(a, bytes);
  if (status == FARO_OK) status = need_dense(b, bytes);
  return status != FARO_OK ? status : told(faro_plan_run(plan, a->base_addr, b->base_addr, NULL));
}

int faro_fortran_run_in_place(const faro_plan* plan, CFI_cdesc_t* a) {
  uint64_t bytes = 0;
  faro_status status = told(faro_plan_out_bytes(plan, &bytes));
  if (status == FARO_OK) status = need_dense(a, bytes);
  return status != FARO_OK ? status : told(faro_plan_run_in_place(plan, a->base_addr, NULL));
}

int faro_fortran_explain(const faro_plan* plan, char** text) {
  return told(faro_plan_explain(plan, text));
}
