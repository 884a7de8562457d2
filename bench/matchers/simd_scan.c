/* The yardstick: the least code that does the CEEM workload fast, and can do nothing else.
 *
 *     simd_scan WORKLOAD
 *
 * Subscriptions are filed under the tuple of their equality values. A partition is a set of packed
 * 16-bit columns, two per range, which AVX2 compares sixteen at a time:
 *
 *     partition (2, 5):   lower 0 | 17  903 88 ...   upper 0 | 540 2001 91 ...
 *                         lower 1 |  4  ...          upper 1 | ...              ids | 7 31 52 ...
 *
 * The process stays resident, so that its rounds can take turns with another process's: it answers
 * every line on standard input with "nanoseconds matches sum": the processor time of one batch, how many matches it has, and the
 * sum of their ids, so that no compiler can leave out the writing of them.
 *
 * The file, little-endian: four uint32 (equalities, ranges, subscriptions, events), then uint16
 * columns: equality values, lower bounds and upper bounds of the subscriptions, attribute by
 * attribute (lower 0, upper 0, lower 1, ...), then the events' equality values and range values.
 * Bounds are strict: lower < value < upper.
 */
#ifndef __AVX2__
#error "this processor has no AVX2"
#endif
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 16, MOST_RANGES = 8, EQUALITY_VALUES = 6 };

typedef struct {
    size_t count;
    uint16_t *lower[MOST_RANGES], *upper[MOST_RANGES]; /* padded to whole vectors */
    uint32_t *ids;
} Partition;

typedef struct {
    uint32_t equalities, ranges, subscriptions, events;
} Header;

static Header header;
static Partition *partitions;
static uint16_t *event_equalities, *event_values; /* column by column */
static uint32_t *found;                           /* the ids that one event matches */

static void fail(const char *why) {
    fprintf(stderr, "simd_scan: %s\n", why);
    exit(1);
}

static void *allocated(size_t bytes) {
    size_t whole = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, whole ? whole : 64);
    if (!memory) fail("out of memory");
    return memory;
}

static uint16_t *read_columns(FILE *file, size_t columns, size_t rows) {
    uint16_t *values = allocated(columns * rows * sizeof *values);
    if (fread(values, sizeof *values, columns * rows, file) != columns * rows)
        fail("the file is too short");
    return values;
}

/* AVX2 compares signed numbers only; with the highest bit turned they have the same order. */
static uint16_t as_signed(uint16_t value) { return value ^ 0x8000; }

static size_t partition_of(const uint16_t *equalities, size_t row, size_t rows) {
    size_t number = 0;
    for (size_t i = 0; i < header.equalities; i++)
        number = number * EQUALITY_VALUES + equalities[i * rows + row];
    return number;
}

static void make_partitions(const uint16_t *equalities, const uint16_t *bounds) {
    size_t rows = header.subscriptions, number = 1;
    for (size_t i = 0; i < header.equalities; i++) number *= EQUALITY_VALUES;
    partitions = calloc(number, sizeof *partitions);
    if (!partitions) fail("out of memory");
    for (size_t row = 0; row < rows; row++) partitions[partition_of(equalities, row, rows)].count++;
    for (Partition *each = partitions; each < partitions + number; each++) {
        size_t padded = (each->count + LANES - 1) / LANES * LANES;
        for (size_t j = 0; j < header.ranges; j++) {
            each->lower[j] = allocated(padded * sizeof(uint16_t));
            each->upper[j] = allocated(padded * sizeof(uint16_t));
            for (size_t k = each->count; k < padded; k++) { /* what no value lies between */
                each->lower[j][k] = as_signed(UINT16_MAX);
                each->upper[j][k] = as_signed(0);
            }
        }
        each->ids = allocated(padded * sizeof(uint32_t));
        each->count = 0;
    }
    for (size_t row = 0; row < rows; row++) {
        Partition *home = &partitions[partition_of(equalities, row, rows)];
        for (size_t j = 0; j < header.ranges; j++) {
            home->lower[j][home->count] = as_signed(bounds[2 * j * rows + row]);
            home->upper[j][home->count] = as_signed(bounds[(2 * j + 1) * rows + row]);
        }
        home->ids[home->count++] = (uint32_t)row;
    }
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fread(&header, sizeof header, 1, file) != 1) fail("cannot read the file");
    if (header.ranges > MOST_RANGES) fail("too many ranges");
    uint16_t *equalities = read_columns(file, header.equalities, header.subscriptions);
    uint16_t *bounds = read_columns(file, 2 * header.ranges, header.subscriptions);
    event_equalities = read_columns(file, header.equalities, header.events);
    event_values = read_columns(file, header.ranges, header.events);
    fclose(file);
    make_partitions(equalities, bounds);
    found = allocated(header.subscriptions * sizeof *found);
    free(equalities);
    free(bounds);
}

static __m256i column(const uint16_t *values, size_t at) {
    return _mm256_load_si256((const __m256i *)(values + at));
}

/* Write the ids that the event matches, and say how many they are. */
static size_t match(size_t event) {
    const Partition *home = &partitions[partition_of(event_equalities, event, header.events)];
    __m256i values[MOST_RANGES];
    size_t matches = 0;
    for (size_t j = 0; j < header.ranges; j++)
        values[j] = _mm256_set1_epi16((short)as_signed(event_values[j * header.events + event]));
    for (size_t at = 0; at < home->count; at += LANES) {
        __m256i holds = _mm256_set1_epi16(-1);
        for (size_t j = 0; j < header.ranges && !_mm256_testz_si256(holds, holds); j++) {
            __m256i above = _mm256_cmpgt_epi16(values[j], column(home->lower[j], at));
            __m256i below = _mm256_cmpgt_epi16(column(home->upper[j], at), values[j]);
            holds = _mm256_and_si256(holds, _mm256_and_si256(above, below));
        }
        /* Two bits of the mask for each lane, of which one will do. */
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(holds) & 0x55555555u;
        for (; mask; mask &= mask - 1)
            found[matches++] = home->ids[at + (size_t)__builtin_ctz(mask) / 2];
    }
    return matches;
}

static uint64_t processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int count, char **arguments) {
    char line[64];
    if (count != 2) fail("usage: simd_scan WORKLOAD");
    load(arguments[1]);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        uint64_t start = processor_time(), ids = 0;
        size_t matches = 0;
        for (size_t event = 0; event < header.events; event++) {
            size_t more = match(event);
            for (size_t i = 0; i < more; i++) ids += found[i]; /* somebody reads them */
            matches += more;
        }
        uint64_t taken = processor_time() - start;
        printf("%llu %zu %llu\n", (unsigned long long)taken, matches, (unsigned long long)ids);
        fflush(stdout);
    }
    return 0;
}
