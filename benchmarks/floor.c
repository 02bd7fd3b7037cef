/* The floor of any YAML reader built on libyaml: read each file, run the parser over it, count the events, build nothing.
 *
 * The paths come from standard input, one on a line. A file that cannot be read or parsed is counted and left.
 * Build: cc -O2 -o floor floor.c -lyaml
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct totals {
    unsigned long files, bytes, events, unreadable, malformed;
};

/* The whole file in a new buffer; NULL when it cannot be read. */
static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long length;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        data = malloc((size_t)length + 1);
        *size = (size_t)length;
        if (data != NULL && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    fclose(file);
    return data;
}

static void count_events(const unsigned char *data, size_t size, struct totals *totals)
{
    yaml_parser_t parser;
    yaml_event_t event;
    int at_end = 0;

    if (!yaml_parser_initialize(&parser)) {
        fputs("floor: out of memory\n", stderr);
        exit(1);
    }
    yaml_parser_set_input_string(&parser, data, size);
    while (!at_end) {
        if (!yaml_parser_parse(&parser, &event)) {
            totals->malformed++;
            break;
        }
        totals->events++;
        at_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

int main(void)
{
    struct totals totals = {0, 0, 0, 0, 0};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    while ((length = getline(&line, &capacity, stdin)) > 0) {
        size_t size = 0;
        unsigned char *data;

        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        data = read_file(line, &size);
        if (data == NULL) {
            totals.unreadable++;
            continue;
        }
        totals.files++;
        totals.bytes += size;
        count_events(data, size, &totals);
        free(data);
    }
    free(line);
    printf("files %lu bytes %lu events %lu unreadable %lu malformed %lu\n", totals.files, totals.bytes, totals.events,
           totals.unreadable, totals.malformed);
    return 0;
}
