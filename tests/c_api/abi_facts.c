/* What faro.h promises to programs that were compiled before: sizes and places of structures, and numbers of enumerators,
 * a line each. abi.sh compares them with abi.txt. */
#include <faro/faro.h>
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("size " #type " %zu\n", sizeof(type))
#define MEMBER(type, name) printf("member " #type "." #name " %zu\n", offsetof(type, name))
#define NUMBER(name) printf("number " #name " %d\n", (int)(name))

int main(void) {
  NUMBER(FARO_OK);
  NUMBER(FARO_INTERNAL);
  NUMBER(FARO_USAGE);
  NUMBER(FARO_SPEC);
  NUMBER(FARO_VALUE);
  NUMBER(FARO_UNSUPPORTED);
  NUMBER(FARO_DEVICE);
  NUMBER(FARO_VERIFICATION);
  NUMBER(FARO_FILE);
  NUMBER(FARO_MEMORY);
  NUMBER(FARO_ENDED);
  NUMBER(FARO_AUTO);
  NUMBER(FARO_CPU);
  NUMBER(FARO_CUDA);
  NUMBER(FARO_I8);
  NUMBER(FARO_U8);
  NUMBER(FARO_I16);
  NUMBER(FARO_U16);
  NUMBER(FARO_I32);
  NUMBER(FARO_U32);
  NUMBER(FARO_I64);
  NUMBER(FARO_U64);
  NUMBER(FARO_F16);
  NUMBER(FARO_BF16);
  NUMBER(FARO_F32);
  NUMBER(FARO_F64);
  NUMBER(FARO_SUMS_USUAL);
  NUMBER(FARO_SUMS_F32);
  NUMBER(FARO_SUMS_F64);
  NUMBER(FARO_SUMS_COMPENSATED);
  NUMBER(FARO_ROUTE_PLACES);
  NUMBER(FARO_ROUTE_INVERSE);
  NUMBER(FARO_ROUTE_OFFSETS);
  NUMBER(FARO_ROUTE_COUNTS);
  NUMBER(FARO_ROUTE_ROWS);
  NUMBER(FARO_IO_AUTO);
  NUMBER(FARO_IO_URING);
  NUMBER(FARO_IO_THREADS);
  NUMBER(FARO_IO_BUFFERED);

  SIZE(faro_options);
  MEMBER(faro_options, engine);
  MEMBER(faro_options, threads);
  MEMBER(faro_options, device);
  MEMBER(faro_options, in_place);
  MEMBER(faro_options, batch);
  MEMBER(faro_options, repeats);
  MEMBER(faro_options, measure);
  MEMBER(faro_options, reserved);
  SIZE(faro_shard_message);
  MEMBER(faro_shard_message, peer);
  MEMBER(faro_shard_message, offset_bytes);
  MEMBER(faro_shard_message, bytes);
  SIZE(faro_view);
  MEMBER(faro_view, rank);
  MEMBER(faro_view, extents);
  MEMBER(faro_view, in_strides);
  MEMBER(faro_view, out_strides);
  MEMBER(faro_view, in_corner);
  MEMBER(faro_view, out_corner);
  SIZE(faro_rows);
  MEMBER(faro_rows, entries);
  MEMBER(faro_rows, count);
  MEMBER(faro_rows, entry_bytes);
  MEMBER(faro_rows, is_signed);
  MEMBER(faro_rows, rows);
  MEMBER(faro_rows, outer);
  MEMBER(faro_rows, row_bytes);
  MEMBER(faro_rows, threads);
  SIZE(faro_row_column);
  MEMBER(faro_row_column, in);
  MEMBER(faro_row_column, out);
  MEMBER(faro_row_column, row_bytes);
  SIZE(faro_route_options);
  MEMBER(faro_route_options, buckets);
  MEMBER(faro_route_options, keys_per_row);
  MEMBER(faro_route_options, multiple);
  MEMBER(faro_route_options, capacity);
  MEMBER(faro_route_options, threads);
  MEMBER(faro_route_options, reserved);
  SIZE(faro_device_route);
  MEMBER(faro_device_route, places);
  MEMBER(faro_device_route, inverse);
  MEMBER(faro_device_route, rows);
  MEMBER(faro_device_route, offsets);
  MEMBER(faro_device_route, counts);
  SIZE(faro_shard_message);
  MEMBER(faro_shard_message, peer);
  MEMBER(faro_shard_message, offset_bytes);
  MEMBER(faro_shard_message, bytes);
  SIZE(faro_file_options);
  MEMBER(faro_file_options, memory_bytes);
  MEMBER(faro_file_options, threads);
  MEMBER(faro_file_options, io_threads);
  MEMBER(faro_file_options, queue_depth);
  MEMBER(faro_file_options, io);
  MEMBER(faro_file_options, verify);
  MEMBER(faro_file_options, keep_unfinished);
  MEMBER(faro_file_options, resume);
  MEMBER(faro_file_options, checkpoint_seconds);
  MEMBER(faro_file_options, progress);
  MEMBER(faro_file_options, context);
  MEMBER(faro_file_options, reserved);
  SIZE(faro_file);
  MEMBER(faro_file, path);
  MEMBER(faro_file, offset);
  MEMBER(faro_file, header);
  SIZE(faro_laid_array);
  MEMBER(faro_laid_array, name);
  MEMBER(faro_laid_array, address);
  MEMBER(faro_laid_array, rank);
  MEMBER(faro_laid_array, extents);
  MEMBER(faro_laid_array, stride_bytes);
  MEMBER(faro_laid_array, element_bytes);
  MEMBER(faro_laid_array, is_output);
  return 0;
}
