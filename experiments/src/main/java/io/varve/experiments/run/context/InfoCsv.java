package io.varve.experiments.run.context;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.varve.experiments.result.InfoTable;
import io.varve.experiments.wire.ServerInfo;

/**
 * Writes {@code info.csv}: a row per sample, a column per number of INFO. Confined to one thread.
 *
 * <p>A field that the server reports for the first time becomes the last column, with empty cells in earlier rows: the
 * file is then replaced. A field that is missing in a sample has an empty cell.
 */
final class InfoCsv implements Closeable {
    private final Path file;
    private final Set<String> fields = new LinkedHashSet<>();
    private final List<String> rows = new ArrayList<>();
    private Writer out = Writer.nullWriter();

    InfoCsv(Path file) {
        this.file = file;
    }

    void add(long elapsedMillis, ServerInfo info) throws IOException {
        Map<String, String> numbers = info.numbers();
        int known = fields.size();
        if (fields.addAll(numbers.keySet())) {
            String empty = ",".repeat(fields.size() - known);
            rows.replaceAll(row -> row + empty);
            replace();
        }
        String row = elapsedMillis + "," + fields.stream().map(field -> numbers.getOrDefault(field, ""))
                .collect(Collectors.joining(","));
        rows.add(row);
        out.write(row + "\n");
        out.flush();
    }

    /** Writes the header and the rows so far anew; a reader sees the earlier file or the whole new one. */
    private void replace() throws IOException {
        out.close();
        Path next = file.resolveSibling(file.getFileName() + ".next");
        try (BufferedWriter whole = Files.newBufferedWriter(next)) {
            whole.write(InfoTable.ELAPSED + "," + String.join(",", fields) + "\n");
            for (String row : rows) {
                whole.write(row + "\n");
            }
        }
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
        out = Files.newBufferedWriter(file, StandardOpenOption.APPEND);
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
