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
import java.util.zip.GZIPInputStream;

import com.github.luben.zstd.ZstdInputStream;
import io.varve.server.config.ByteOrderMark;
import org.tukaani.xz.XZInputStream;

/**
 * A trace in a file, plain or compressed (gzip, xz or zstd, recognized by the first bytes). Immutable. A block request
 * is a request for each block that it touches.
 *
 * @param columns the columns of {@link TraceFormat#CSV}
 * @param blockBytes block size of block requests, 512 or more
 */
public record TraceFile(Path path, TraceFormat format, TraceColumns columns, int blockBytes) implements KeySource {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int SIGNATURE_BYTES = 4;
    private static final int GZIP = 0x1F8B;
    private static final int XZ = 0xFD37_7A58;
    private static final int ZSTD = 0x28B5_2FFD;

    /** @throws InvalidTraceException if the file is missing or unreadable, or lacks a column */
    @Override
    public KeyStream open() {
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            throw new InvalidTraceException(path + ": the file does not exist or cannot be read");
        }
        return new TraceLines(this,
                new BufferedReader(new InputStreamReader(readable(), StandardCharsets.UTF_8), BUFFER_BYTES));
    }

    private InputStream readable() {
        try {
            return ByteOrderMark.skip(content());
        } catch (IOException broken) {
            throw new InvalidTraceException(path + ": the file cannot be read: "
                    + (broken.getMessage() == null ? broken : broken.getMessage()));
        }
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
    public boolean hasSizes() {
        return switch (format) {
            case KEYS -> false;
            case CSV -> !columns.bytes().isEmpty();
            case SPC, MSR -> true;
        };
    }

    @Override
    public String describe() {
        return path.getFileName() + " (" + format.optionName() + ")";
    }
}
