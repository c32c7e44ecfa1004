package io.varve.experiments.simulate;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import com.github.luben.zstd.ZstdInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * A trace in a file, plain or compressed (gzip, xz or zstd, told by its first bytes). A block request asks
 * for each block that it touches. Immutable.
 *
 * @param column     the key's, of {@link TraceFormat#CSV}
 * @param blockBytes of block requests, 512 or more
 */
public record TraceFile(Path path, TraceFormat format, @Nullable String column, int blockBytes) implements KeySource {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int SECTOR_BYTES = 512;
    private static final int SIGNATURE_BYTES = 4;
    private static final int GZIP = 0x1F8B;
    private static final int XZ = 0xFD37_7A58;
    private static final int ZSTD = 0x28B5_2FFD;
    private static final Hasher64 HASHER = Hashing.komihash5_0();

    /** @throws InvalidTraceException if the file is not there or cannot be read, or has no such column */
    @Override
    public KeyStream open() throws IOException {
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            throw new InvalidTraceException(path + ": there is no such file, or it cannot be read");
        }
        return new Lines(new BufferedReader(new InputStreamReader(content(), StandardCharsets.UTF_8), BUFFER_BYTES));
    }

    private InputStream content() throws IOException {
        InputStream file = new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES);
        try {
            file.mark(SIGNATURE_BYTES);
            int signature = ByteBuffer.wrap(Arrays.copyOf(file.readNBytes(SIGNATURE_BYTES), SIGNATURE_BYTES)).getInt();
            file.reset();
            if (signature >>> Short.SIZE == GZIP) {
                return new GZIPInputStream(file, BUFFER_BYTES);
            }
            return switch (signature) {
                case XZ -> new BufferedInputStream(new XZInputStream(file), BUFFER_BYTES);
                case ZSTD -> new BufferedInputStream(new ZstdInputStream(file).setContinuous(false), BUFFER_BYTES);
                default -> file;
            };
        } catch (IOException | RuntimeException broken) {
            file.close();
            throw broken;
        }
    }

    @Override
    public long distinctKeys() throws IOException {
        KeySet keys = new KeySet();
        try (KeyStream stream = open()) {
            while (stream.next()) {
                keys.add(stream.key());
            }
        }
        return keys.size();
    }

    @Override
    public String describe() {
        return path.getFileName() + " (" + format.optionName() + ")";
    }

    private final class Lines implements KeyStream {
        private final BufferedReader reader;
        private final int keyColumn;
        private long line;
        private long key;
        /** Blocks of a request that are still to come: the next, and the last. */
        private long block;
        private long lastBlock = -1;
        private long device;

        Lines(BufferedReader reader) throws IOException {
            this.reader = reader;
            keyColumn = format == TraceFormat.CSV ? keyColumn() : 0;
        }

        private int keyColumn() throws IOException {
            String names = reader.readLine();
            line++;
            List<String> columns = names == null ? List.of() : List.of(names.split(",", -1));
            int at = columns.stream().map(String::strip).toList().indexOf(column == null ? "key" : column);
            if (at < 0) {
                throw new InvalidTraceException(path + ": no column '" + (column == null ? "key" : column)
                        + "'; there are " + String.join(", ", columns) + " (choose one with --column)");
            }
            return at;
        }

        @Override
        public boolean next() throws IOException {
            if (block <= lastBlock) {
                key = Mixing.mix(device + block++);
                return true;
            }
            String text = reader.readLine();
            line++;
            while (text != null && text.isBlank()) {
                text = reader.readLine();
                line++;
            }
            if (text == null) {
                return false;
            }
            switch (format) {
                case KEYS -> key = HASHER.hashCharsToLong(text.strip());
                case CSV -> key = HASHER.hashCharsToLong(field(text.split(",", -1), keyColumn).strip());
                case SPC -> {
                    String[] fields = text.split(",", -1);
                    request(field(fields, 0), number(field(fields, 1)) * SECTOR_BYTES, number(field(fields, 2)));
                }
                case MSR -> {
                    String[] fields = text.split(",", -1);
                    request(field(fields, 1) + "/" + field(fields, 2), number(field(fields, 4)),
                            number(field(fields, 5)));
                }
            }
            return true;
        }

        /** The first of its blocks is the key, the others follow. */
        private void request(String unit, long offset, long bytes) {
            device = HASHER.hashCharsToLong(unit);
            block = offset / blockBytes;
            lastBlock = (offset + Math.max(1, bytes) - 1) / blockBytes;
            key = Mixing.mix(device + block++);
        }

        private String field(String[] fields, int at) {
            if (at >= fields.length) {
                throw new InvalidTraceException(
                        String.format(Locale.ROOT, "%s, line %d: %d fields, and number %d is asked for"
                                + " (is it %s?)", path, line, fields.length, at + 1, format.optionName()));
            }
            return fields[at];
        }

        private long number(String field) {
            try {
                return Long.parseLong(field.strip());
            } catch (NumberFormatException none) {
                throw new InvalidTraceException(
                        String.format(Locale.ROOT, "%s, line %d: '%s' is not a whole number (is it %s?)",
                                path, line, field, format.optionName()));
            }
        }

        @Override
        public long key() {
            return key;
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
