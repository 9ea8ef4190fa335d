/* A program in C of someone who installed faro. */
#include <faro/faro.h>
#include <stdio.h>

int main(void) {
  int in[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int out[8];
  faro_plan* plan = NULL;
  if (faro_plan_text("bit_reversal(3)", 0, NULL, sizeof(int), NULL, &plan) != FARO_OK ||
      faro_plan_run(plan, in, out, NULL) != FARO_OK) {
    fprintf(stderr, "%s\n", faro_last_message());
    return 1;
  }
  faro_plan_destroy(plan);
  return out[4] == 1 && out[1] == 4 ? 0 : 1;
}
